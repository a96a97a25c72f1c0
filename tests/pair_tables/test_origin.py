"""What clusters were made of: components as problems that agree with the table, all by ids."""

from __future__ import annotations

import datetime
from collections import defaultdict

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables import Settings
from relatum.pair_tables.solve.batching import Component

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")

from relatum.pair_tables.origin import Origin, Part, bytes_of  # noqa: E402


def planted(seed, n=80, density=1.2, name="r{:03d}".format):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) // 4
    a, b = np.triu_indices(n, 1)
    same = truth[a] == truth[b]
    keep = rng.random(len(a)) < np.where(same, 0.9, density * 4 / n)
    a, b = a[keep], b[keep]
    bits = np.where(same[keep], 4.0, -4.0) + 3 * rng.normal(size=len(a))
    ids = [name(int(k)) for k in rng.permutation(n)]
    ends = [pa.array([ids[k] for k in side]) for side in (a, b)]
    return pa.table({"unique_id_l": ends[0], "unique_id_r": ends[1], "match_weight": bits})


def clusters_of(table, source=None):
    found = defaultdict(set)
    for row in table.to_pylist():
        own = row["unique_id"] if source is None else (row[source], row["unique_id"])
        found[row["cluster_id"]].add(own)
    return found


@pytest.mark.parametrize("density", [0.3, 2.5])
def test_components_add_up_to_the_table(density):
    found = rt.cluster_pairs(planted(0, density=density))
    left = set(found.table["unique_id"].to_pylist())
    clusters = {frozenset(s) for s in clusters_of(found.table).values()}
    value = bound = 0.0
    while left:
        problem, estimate = (ask(min(left)) for ask in (found.problem, found.estimate))
        inside = set(problem.ids)
        assert inside <= left
        left -= inside
        assert {frozenset(problem.ids[s]) for s in estimate.relation.sets()} <= clusters
        assert rt.infer(problem, prove=True).value <= estimate.bound + 1e-6
        value, bound = value + estimate.value, bound + estimate.bound
        if estimate.certificate is not None:
            assert rt.verify(problem, estimate)
    assert value == pytest.approx(found.summary.value)
    assert bound == pytest.approx(found.summary.bound)


def test_rules_are_part_of_the_problem():
    pairs = planted(1, density=1.5)
    names = sorted({*pairs["unique_id_l"].to_pylist(), *pairs["unique_id_r"].to_pylist()})
    groups = {name: k % 9 for k, name in enumerate(names)}
    first = rt.cluster_pairs(pairs)
    cluster = sorted(max(clusters_of(first.table).values(), key=len))
    facts = {"related": [(names[0], names[40])], "unrelated": [tuple(cluster[:2])]}
    found = rt.cluster_pairs(pairs, evidence=facts, one_per_group=groups, max_size=3, background=-2)
    total, left = 0.0, set(names)
    while left:
        problem, estimate = found.problem(min(left)), found.estimate(min(left))
        left -= set(problem.ids)
        assert problem.background == -2
        assert problem.feasible.contains(estimate.relation)
        total += estimate.value
    assert total == pytest.approx(found.summary.value)
    problem = found.problem(names[0])
    assert names[40] in problem.ids
    sets = found.estimate(cluster[0]).relation
    ids = list(found.problem(cluster[0]).ids)
    if cluster[1] in ids:
        assert (ids.index(cluster[0]), ids.index(cluster[1])) not in sets


def test_missing_pairs_are_scored_again():
    pairs = planted(2)
    asked = []

    def score(a, b):
        asked.extend(zip(a, b, strict=True))
        return np.array([-1.0 - (hash(frozenset(p)) % 3) for p in zip(a, b, strict=True)])

    found = rt.cluster_pairs(pairs, score_missing=score, offset=0.5)
    once = len(asked)
    assert once
    values = {}
    for name in found.table["unique_id"].to_pylist():
        ids = found.problem(name).ids
        values[ids[0]] = found.estimate(name).value
        n = len(ids)
        assert len(found.problem(name).log_odds) == n * (n - 1) // 2
    assert sum(values.values()) == pytest.approx(found.summary.value)
    assert {frozenset(p) for p in asked[once:]} == {frozenset(p) for p in asked[:once]}


@pytest.mark.parametrize(
    "name",
    [
        lambda k: k - 7,
        lambda k: k * 10**14,
        lambda k: datetime.date(2020, 1, 1) + datetime.timedelta(k),
        lambda k: f'it\'s a "name", {k}',
    ],
)
def test_ids_of_any_type_are_found(name):
    found = rt.cluster_pairs(planted(3, name=name))
    for own in found.table["unique_id"].to_pylist()[::17]:
        assert own in list(found.problem(own).ids)
    for wrong in ("nobody", 10**30, 0.5, None, object(), ("a", 1)):
        with pytest.raises(DataError, match="There is no element"):
            found.problem(wrong)


def test_sources_are_part_of_a_name():
    pairs = pa.table(
        {
            "source_dataset_l": ["x", "x", "y", "x"],
            "unique_id_l": [1, 2, 1, 3],
            "source_dataset_r": ["y", "y", "y", "y"],
            "unique_id_r": [1, 1, 2, 3],
            "match_probability": [0.99, 0.97, 0.4, 0.9],
        }
    )
    found = rt.cluster_pairs(pairs, one_per_group="source_dataset")
    assert set(found.problem(("x", 1)).ids) == {("x", 1), ("x", 2), ("y", 1)}
    why = found.explain(("x", 1), ("x", 2))
    assert not why.related
    assert "nothing else" in why.sentence
    with pytest.raises(DataError, match=r"\(source, id\)"):
        found.problem(1)
    with pytest.raises(DataError, match="no element"):
        found.problem(("z", 1))


@pytest.mark.parametrize("seed", range(3))
def test_explanations_are_those_of_the_whole_problem(seed):
    pairs = planted(10 + seed, n=24, density=2.0)
    found = rt.cluster_pairs(pairs, prove=True)
    whole = rt.Problem.from_table(pairs, feasible=rt.EQUIVALENCES)
    best = rt.infer(whole, prove=True)
    number = {name: k for k, name in enumerate(whole.ids)}
    names = sorted(number)
    for a, b in [(names[0], names[1]), (names[3], names[20]), (names[5], names[9])]:
        why = found.explain(a, b)
        own = rt.explain(whole, best, number[a], number[b])
        assert why.pair == (a, b)
        assert why.log_odds == own.log_odds
        for cost in ("together", "apart"):
            assert getattr(why, cost).high == pytest.approx(getattr(own, cost).high, abs=1e-5)
        assert a in why.sentence
        assert why.chain[0].a == a
        assert why.chain[-1].b == b


def test_fields_speak_for_and_against():
    from dataclasses import replace

    pairs = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [3.0]})
    found = rt.cluster_pairs(pairs)
    said = {("a", "b"): [("year", "differs", -2.0), ("title", "same words", 5.0)]}
    why = replace(found, contributions=lambda a, b: said[a, b]).explain("a", "b")
    assert why.chain[0].fields == (("title", "same words", 5.0), ("year", "differs", -2.0))
    assert str(why).endswith("a - b (3 bits): title same words +5, year differs -2")
    assert str(found.explain("a", "b")) == found.explain("a", "b").sentence


def test_changed_files_are_noticed(tmp_path):
    from pyarrow import csv

    path = tmp_path / "pairs.csv"
    csv.write_csv(planted(4), path)
    found = rt.cluster_pairs(path)
    own = found.table["unique_id"].to_pylist()[0]
    assert own in list(found.problem(own).ids)
    assert bytes_of(path) == bytes_of(str(tmp_path / "*.csv")) == path.stat().st_size
    path.write_text(path.read_text() + "x,y,3\n")
    other = found.table["unique_id"].to_pylist()[-1]
    with pytest.raises(DataError, match="are not those that"):
        found.explain(own, other)
    path.unlink()
    with pytest.raises(DataError, match="there are none now"):
        found.problem(other)


def test_few_components_are_kept():
    pairs = planted(5, density=0.05)
    found = rt.cluster_pairs(pairs)
    fetched = []
    origin = found.origin

    class Access:
        def component(self, origin, elements):
            fetched.append(len(elements))
            return Component(len(elements), [], [], [])

    other = Origin(origin.given, origin.plan, origin.columns, origin.settings, origin.whole,
                   origin.roots, origin.fixed, None, Access())  # fmt: skip
    roots = np.unique(origin.roots)
    assert len(roots) > 10
    for root in roots[:10]:
        part = other.part(int(root))
        assert part is other.part(int(part.elements[-1]))
    assert len(fetched) == 10
    other.part(int(roots[0]))
    assert len(fetched) == 11


def test_a_part_without_a_gap_is_optimal():
    component = Component(2, [0], [1], [3.0])
    ids, elements = ["a", "b"], np.array([4, 7])
    part = Part(elements, ids, component, np.zeros(2, np.int64), 0.0, Settings(-1.0))
    assert part.estimate.status is rt.Status.OPTIMAL
    assert part.estimate.value == 3.0
    assert part.place(7) == 1
    worse = Part(elements, ids, component, np.array([0, 1]), 3.0, Settings(-1.0))
    assert worse.estimate.status is rt.Status.FEASIBLE
    assert worse.estimate.gap == 3.0
