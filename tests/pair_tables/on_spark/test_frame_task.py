import numpy as np
import pytest

from relatum.errors import DataError, EvidenceError
from relatum.pair_tables import Component, Settings, solve_component

pd = pytest.importorskip("pandas")

from relatum.pair_tables.on_spark.frame_task import (  # noqa: E402
    RELATED,
    SCORED,
    UNRELATED,
    solve_frame,
)

SETTINGS = Settings(background=-2.0)


def frame_of(rows, **columns):
    frame = pd.DataFrame(rows, columns=["a", "b", "bits", "kind", "component"])
    return frame.assign(**columns)


def sets_of(found, name="id", first="first"):
    return {frozenset(g) for g in found.groupby(first)[name].agg(list)}


def test_equals_each_component_alone():
    rng = np.random.default_rng(1)
    rows, expected, value = [], set(), 0.0
    for c, n in enumerate((3, 6, 9)):
        i, j = np.triu_indices(n, 1)
        bits = rng.normal(size=len(i)) * 3
        found = solve_component(Component(n, i, j, bits), SETTINGS)
        value += found.value
        names = [f"{c}-{k}" for k in range(n)]
        for label in np.unique(found.labels):
            expected.add(frozenset(np.array(names)[found.labels == label].tolist()))
        rows += [
            (names[q], names[p], x, SCORED, 77 * c) for p, q, x in zip(i, j, bits, strict=True)
        ]
    frame = frame_of(rows).sample(frac=1, random_state=0)
    found = solve_frame(frame, SETTINGS)
    assert sets_of(found) == expected
    assert found["value"].sum() == pytest.approx(value)
    assert found["elements"].sum() == 18
    assert found["elements"].count() == 3
    sizes = {k: len(s) for s in expected for k in s}
    assert all(sizes[k] == size for k, size in zip(found["id"], found["size"], strict=True))
    assert all(first <= k for k, first in zip(found["id"], found["first"], strict=True))


def test_evidence_and_groups():
    chain = [(0, 1, 3.0, SCORED, 5), (1, 2, 2.0, SCORED, 5)]
    assert sets_of(solve_frame(frame_of(chain), Settings())) == {frozenset([0, 1, 2])}
    apart = frame_of([*chain, (0, 1, 0.0, UNRELATED, 5)])
    assert sets_of(solve_frame(apart, Settings())) == {frozenset([0]), frozenset([1, 2])}
    known = frame_of([*chain, (0, 2, 0.0, RELATED, 5)])
    assert sets_of(solve_frame(known, Settings(background=-99.0))) == {frozenset([0, 1, 2])}
    grouped = frame_of(chain, group_a=[7.0, np.nan], group_b=[np.nan, 7.0])
    assert sets_of(solve_frame(grouped, Settings())) == {frozenset([0, 1]), frozenset([2])}


def test_sources_tell_equal_ids_apart():
    rows = [(1, 1, 3.0, SCORED, 5), (1, 2, -3.0, SCORED, 5), (1, 2, 3.0, SCORED, 5)]
    frame = frame_of(rows, source_a=["x", "x", "y"], source_b=["y", "x", "x"])
    found = solve_frame(frame, Settings())
    names = list(zip(found["source"], found["id"], strict=True))
    assert sorted(names) == [("x", 1), ("x", 2), ("y", 1)]
    clusters = dict(
        zip(names, zip(found["first_source"], found["first"], strict=True), strict=True)
    )
    assert len({clusters[name] for name in names}) == 2  # 3 + 3 - 3 bits or 3 bits: a tie
    assert clusters["y", 1] in (("x", 1), ("x", 2))


def test_missing_pairs_are_scored():
    chain = frame_of([("p", "q", 3.0, SCORED, 5), ("q", "r", 2.0, SCORED, 5)])
    asked = []

    def score(left, right):
        asked.extend(zip(left, right, strict=True))
        return [-4.0] * len(left)

    found = solve_frame(chain, Settings(), score)
    assert asked == [("p", "r")]
    assert sets_of(found) == {frozenset("pq"), frozenset("r")}
    assert found["scored"].sum() == 1
    sources = chain.assign(source_a="s", source_b="t").replace({"r": "p"})
    asked.clear()
    solve_frame(sources, Settings(), score)
    assert [(*x, *y) for x, y in asked] == [
        ("s", "p", "s", "q"), ("s", "p", "t", "p"), ("s", "q", "t", "q"), ("t", "p", "t", "q"),
    ]  # fmt: skip
    with pytest.raises(DataError, match="one finite number"):
        solve_frame(chain, Settings(), lambda left, right: [np.nan])


def test_contradictions_name_elements():
    rows = [("p", "q", 0.0, RELATED, 5), ("p", "q", 0.0, UNRELATED, 5)]
    with pytest.raises(EvidenceError, match="elements: p, q"):
        solve_frame(frame_of(rows), Settings())
