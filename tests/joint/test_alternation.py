"""Alternation never increases the objective, and is as deterministic as it says."""

import numpy as np
import pytest

import relatum as rt
from instances.joint import SETS, random_problem
from relatum.errors import DegenerateWarning
from relatum.joint.alternation import Alternation, Pair
from relatum.joint.inputs import read_joint_problem
from relatum.solvers.control import Control

pytestmark = pytest.mark.filterwarnings(f"ignore::{DegenerateWarning.__module__}.DegenerateWarning")


@pytest.mark.parametrize("model", ["bernoulli", "logistic"])
@pytest.mark.parametrize(("kind", "count"), [("equivalences", 50), ("maps", 100), ("orders", 100)])
def test_objective_never_increases(kind, count, model):
    rng = np.random.default_rng([len(kind), len(model)])
    several = 0
    for _ in range(count):
        (given, feasible, arguments), members, best = random_problem(kind, model, rng, largest=5)
        table, learner, supervised = read_joint_problem(given, feasible, **arguments)
        search = Alternation(table, learner, supervised, Control())
        pair = search.improve(rt.Relation(members[rng.integers(len(members))]))
        history = np.array(pair.history)
        assert (np.diff(history) <= 0).all()
        assert pair.objective == history[-1]
        assert search.supervised_bound() - 1e-9 <= best.min() <= pair.objective + 1e-6
        # the objective is that of the relation with its own best measure
        own = np.flatnonzero((members == pair.relation.matrix()).all(axis=(1, 2)))
        assert pair.objective == pytest.approx(best[own[0]], abs=1e-6)
        # under the measure that was learned, no relation is more probable
        scores = learner.log_odds(pair.theta)
        values = members[:, table.a, table.b] @ scores
        assert pair.estimate.value >= values.max() - 1e-5
        several += len(history) > 1
    assert several > count // 3


def test_the_same_seed_gives_the_same_result():
    rng = np.random.default_rng(8)
    (given, feasible, arguments), _, _ = random_problem("orders", "logistic", rng)
    one, two = (
        rt.joint_estimate(given, feasible, n_starts=6, random_state=3, **arguments)
        for _ in range(2)
    )
    assert one.estimate.relation == two.estimate.relation
    assert one.history == two.history
    assert np.array_equal(one.measure.coef_, two.measure.coef_)


@pytest.mark.slow
def test_more_starts_are_never_worse_and_mostly_find_the_optimum():
    rng = np.random.default_rng(9)
    hits, total = 0, 30
    for number in range(total):
        kind = sorted(SETS)[number % 3]
        (given, feasible, arguments), _, best = random_problem(kind, "bernoulli", rng, largest=5)
        one = rt.joint_estimate(given, feasible, **arguments)
        many = rt.joint_estimate(given, feasible, n_starts=12, **arguments)
        assert many.objective <= one.objective + 1e-9
        hits += many.objective <= best.min() + 1e-6
    assert hits >= 0.9 * total


def test_an_increase_is_noticed():
    rng = np.random.default_rng(10)
    (given, feasible, arguments), _, _ = random_problem("maps", "bernoulli", rng)
    table, learner, supervised = read_joint_problem(given, feasible, **arguments)
    search = Alternation(table, learner, supervised, Control())
    pair = Pair(search.first, rt.Map([0]), table.decided, 1.0)
    with pytest.raises(AssertionError, match="increased the objective"):
        search._record(pair, 2.0)
