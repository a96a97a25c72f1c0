"""Bernoulli, exactly: against every relation of small sets."""

from itertools import permutations

import numpy as np
import pytest

import relatum as rt
from instances.joint import SETS, random_problem
from relatum.errors import DegenerateWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{DegenerateWarning.__module__}.DegenerateWarning")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(SETS))
def test_exact_equals_brute_force(kind):
    rng = np.random.default_rng(1)
    for number in range(30):
        (given, feasible, arguments), _, best = random_problem(kind, "bernoulli", rng)
        result = rt.joint_estimate(given, feasible, exact=True, **arguments)
        assert result.objective == pytest.approx(best.min(), abs=1e-6), number
        assert result.bound <= best.min() + 1e-9, number
        assert result.optimal, number
        assert feasible.contains(result.estimate.relation)


def test_exact_over_other_sets_is_not_worse_than_alternation_and_its_bound_holds():
    rng = np.random.default_rng(2)
    n = 5
    for feasible in (rt.PARTIAL_ORDERS, rt.PREORDERS, rt.EQUIVALENCES & rt.at_most(3)):
        classes = rng.integers(0, 4, (n, n))
        known = rt.evidence(related=[(0, 1)], unrelated=[(2, 3), (3, 2)])
        exact = rt.joint_estimate(classes, feasible, evidence=known, exact=True)
        found = rt.joint_estimate(classes, feasible, evidence=known, n_starts=5)
        assert exact.objective <= found.objective + 1e-9
        assert exact.bound <= found.objective + 1e-9
        assert exact.optimal


def test_rows_are_separated_where_elements_are_many():
    rng = np.random.default_rng(3)
    n = 16
    labels = rng.integers(0, 3, n)
    a, b = np.triu_indices(n, 1)
    same = labels[a] == labels[b]
    classes = np.where(rng.random(len(a)) < 0.8, same, ~same).astype(int)
    known = rt.partial_evidence(np.where(rng.random(n) < 0.5, labels, -1), rt.EQUIVALENCES)
    result = rt.joint_estimate(classes, rt.EQUIVALENCES, evidence=known, exact=True)
    every_row = n * (n - 1) * (n - 2) // 2
    assert 0 < result.stats["rows"] < every_row
    assert result.optimal
    assert rt.verify(result.problem, result.estimate)


def test_counts_learned_elsewhere_are_kept():
    # counts say as much as the pairs that were counted do, as known pairs of the problem
    rng = np.random.default_rng(12)
    classes = rng.integers(0, 4, (5, 5))
    np.fill_diagonal(classes, -1)
    before = rng.integers(0, 4, 30)
    said = rng.integers(0, 2, 30)
    known = rt.evidence(related=[(0, 1), (3, 2)])
    base = rt.BernoulliMeasure(1.5).fit(before, said)
    one = rt.joint_estimate(classes, rt.LINEAR_ORDERS, measure=base, evidence=known, exact=True)
    assert base.related_.sum() == said.sum()  # the given measure is left as it was
    y = one.estimate.relation.matrix()
    off = classes >= 0
    whole = rt.BernoulliMeasure(1.5).fit(
        np.concatenate([before, classes[off]]), np.concatenate([said, y[off]])
    )
    assert one.objective == pytest.approx(whole.objective_)
    assert one.measure.theta(range(4)) == pytest.approx(whole.theta(range(4)))
    costs = []
    for order in permutations(range(5)):
        y = rt.LinearOrder.from_order(order).matrix()
        if y[0, 1] and y[3, 2]:
            trial = rt.BernoulliMeasure(1.5).fit(
                np.concatenate([before, classes[off]]), np.concatenate([said, y[off]])
            )
            costs.append(trial.objective_)
    assert one.objective == pytest.approx(min(costs))
    assert one.optimal
