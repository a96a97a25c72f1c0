"""Components: the same as inference on the whole, deterministic, never larger than allowed."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Component, Settings, batch_of, solve_batch, solve_component


def random_component(seed, n, density=0.7, scale=2.0):
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(n, 1)
    keep = rng.random(len(a)) < density
    return a[keep], b[keep], rng.normal(size=int(keep.sum())) * scale


@pytest.mark.parametrize("seed", range(24))
def test_small_components_are_solved_exactly_under_all_rules(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    i, j, w = random_component(seed, n)
    background = float(rng.choice([0.0, -1.5]))
    feasible, rules, cap = rt.EQUIVALENCES, {}, None
    if seed % 2 and n > 3:
        rules = {"related": [[0, 1]], "unrelated": [[1, 3]]}
        feasible = feasible & rt.evidence(rules["related"], rules["unrelated"])
    if seed % 3 == 1:
        groups = rng.integers(0, n, n)
        groups[:2] = n, n + 1
        rules["groups"] = groups
        feasible = feasible & rt.one_per_group(groups)
    if seed % 4 == 1:
        cap = 3
        feasible = feasible & rt.at_most(3)
    found = solve_component(Component(n, i, j, w, **rules), Settings(background, cap))
    problem = rt.Problem.from_pairs(i, j, w, n=n, background=background, feasible=feasible)
    best = rt.infer(problem, prove=True)
    assert feasible.first_violation(rt.Partition(found.labels)) is None
    assert found.value == pytest.approx(problem.value(rt.Partition(found.labels)))
    assert found.value == pytest.approx(best.value)
    assert found.gap == 0


@pytest.mark.parametrize("n", [20, 40, 90])
@pytest.mark.parametrize("prove", [False, True])
def test_larger_components_hold_the_optimum_between_value_and_bound(n, prove):
    i, j, w = random_component(n, n, 0.4)
    w = w + np.where((i % 5) == (j % 5), 3.0, -3.0)
    found = solve_component(Component(n, i, j, w), Settings(-0.5, prove=prove))
    problem = rt.Problem.from_pairs(i, j, w, n=n, background=-0.5, feasible=rt.EQUIVALENCES)
    best = rt.infer(problem, prove=True)
    assert found.value <= best.value + 1e-6 <= found.bound + 2e-6
    if prove:
        assert found.gap <= 1e-5 + 1e-8 * best.value


def test_rows_in_any_order_and_direction_give_the_same():
    for n in (8, 30, 80):
        i, j, w = random_component(n, n)
        settings = Settings(-0.3)
        first = solve_component(Component(n, i, j, w), settings)
        order = np.random.default_rng(0).permutation(len(i))
        second = solve_component(Component(n, j[order], i[order], w[order]), settings)
        assert first.labels.tolist() == second.labels.tolist()
        assert first.value == second.value


def test_facts_are_counted():
    # 0-1-2 is a chain, 3 hangs on by a weak pair that disagrees with two others
    i, j, w = [0, 1, 2, 1, 0], [1, 2, 3, 3, 3], [5.0, 5.0, 1.0, -4.0, -4.0]
    found = solve_component(Component(4, i, j, w), Settings())
    assert found.labels.tolist() == [0, 0, 0, 1]
    assert (found.value, found.cut, found.added) == (10.0, 1, 1)


def test_a_start_is_kept_among_equals_and_never_made_worse():
    i, j, w = [0, 1], [1, 2], [2.0, 2.0]  # either end may be cut
    for start in ([0, 0, 1], [0, 1, 1]):
        found = solve_component(Component(3, i, j, w, start=start), Settings(-3.0))
        assert found.labels.tolist() == start


def test_a_batch_is_its_components_one_by_one():
    rng = np.random.default_rng(5)
    sizes = [2, 3, 70, 12, 5]
    component = np.repeat(np.arange(5), sizes)
    first = np.cumsum([0, *sizes])
    parts = [random_component(k, n) for k, n in enumerate(sizes)]
    i = np.concatenate([p[0] + f for p, f in zip(parts, first, strict=False)])
    j = np.concatenate([p[1] + f for p, f in zip(parts, first, strict=False)])
    w = np.concatenate([p[2] for p in parts])
    order = rng.permutation(len(i))
    batch, elements = batch_of(component, (i[order], j[order], w[order]))
    assert elements.tolist() == list(range(len(component)))
    found = solve_batch(batch, Settings(-0.5))
    for k, n in enumerate(sizes):
        alone = solve_component(Component(n, *parts[k]), Settings(-0.5))
        assert found.labels[first[k] : first[k + 1]].tolist() == alone.labels.tolist()
        assert (found.value[k], found.bound[k]) == (alone.value, alone.bound)
        assert (found.cut[k], found.added[k]) == (alone.cut, alone.added)


@pytest.mark.slow
def test_giant_components_are_split_and_bounded():
    rng = np.random.default_rng(1)
    n, size = 900, 6
    truth = np.arange(n) // size
    a, b = np.triu_indices(n, 1)
    inside = truth[a] == truth[b]
    keep = inside | (rng.random(len(a)) < 0.004)
    i, j = a[keep], b[keep]
    w = np.where(truth[i] == truth[j], 4.0, 0.5) + rng.random(len(i))
    settings = Settings(-2.0, most_elements=100)
    found = solve_component(Component(n, i, j, w), settings)
    whole = solve_component(Component(n, i, j, w), Settings(-2.0))
    assert whole.pieces == 1
    assert found.pieces >= 9
    assert found.value <= whole.value + 1e-6
    assert found.bound >= whole.value - 1e-6
    assert np.array_equal(rt.Partition(truth).labels, found.labels)


@pytest.mark.parametrize(
    "rules",
    [
        {"related": [[0, 1]], "unrelated": [[0, 1]]},
        {"related": [[0, 1], [1, 2]], "groups": [0, 1, 0]},
    ],
)
@pytest.mark.parametrize("n", [3, 70])
def test_contradictions_are_named(rules, n):
    rules = {
        k: v if k != "groups" else np.arange(n) * (np.arange(n) != 2) for k, v in rules.items()
    }
    with pytest.raises(rt.errors.EvidenceError, match="cannot be clustered"):
        solve_component(Component(n, [0], [1], [1.0], **rules), Settings())


def test_components_that_are_kept_stay_as_they_start():
    sizes = [4, 5, 6]
    parts = [random_component(k, n) for k, n in enumerate(sizes)]
    first = np.cumsum([0, *sizes])
    pairs = [np.concatenate([p[x] + (x < 2) * f for p, f in zip(parts, first, strict=False)])
             for x in range(3)]  # fmt: skip
    start = np.array([9, 9, 4, 4] + [2, 7, 2, 7, 2] + [-1] * 6)
    component = np.repeat(np.arange(3), sizes)
    batch, _ = batch_of(
        component, (pairs[0].astype(int), pairs[1].astype(int), pairs[2]), start=start
    )
    settings = Settings(-0.5)
    found = solve_batch(batch, settings, np.array([-1.0, 0.25, -1.0]))
    for k, n in enumerate(sizes):
        own = found.labels[first[k] : first[k + 1]]
        problem = rt.Problem.from_pairs(*parts[k], n=n, background=-0.5, feasible=rt.EQUIVALENCES)
        assert found.value[k] == pytest.approx(problem.value(rt.Partition(own)))
        if k != 1:
            assert found.value[k] == pytest.approx(rt.infer(problem, prove=True).value)
    assert found.labels[4:9].tolist() == [0, 1, 0, 1, 0]
    assert found.gap.tolist() == pytest.approx([0.0, 0.25, 0.0])


@pytest.mark.parametrize("background", [-1e9, -1e16, -1e200])
@pytest.mark.parametrize("n", [6, 40, 300])
def test_a_huge_background_costs_no_digits_of_the_scores(n, background):
    # a chain of strong and weak pairs, of which every other one is joined
    w = np.where(np.arange(n - 1) % 2 == 0, 1.5, 0.25)
    chain = Component(n, np.arange(n - 1), np.arange(1, n), w)
    found = solve_component(chain, Settings(background=background))
    assert found.value == pytest.approx(1.5 * (n // 2))
    assert found.bound >= found.value
    assert (found.labels[::2] == found.labels[1::2]).all()
    listed = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.5, -1.7, -2.3])
    triangle = Component(3, *listed, start=np.array([0, 1, 1]))
    found = solve_component(triangle, Settings(background=background))
    assert (found.value, found.labels.tolist()) == (1.5, [0, 0, 1])


@pytest.mark.parametrize("seed", range(4))
def test_a_search_with_a_huge_background_ends(seed):
    i, j, w = random_component(seed, 40, density=0.08, scale=3.0)
    far, near = (solve_component(Component(40, i, j, w), Settings(b)) for b in (-1e9, -1e4))
    assert far.value == pytest.approx(near.value)
    assert far.labels.tolist() == near.labels.tolist()
