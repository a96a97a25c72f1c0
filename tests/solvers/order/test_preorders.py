"""Preorders, partial, weak and linear orders against all of them, for up to 6 elements."""

from functools import cache

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.control import Control
from relatum.solvers.order.branch_and_cut import Settings
from relatum.solvers.order.preorder_search import PreorderSearch
from relatum.solvers.order.preorders import distances, solve
from relatum.testing import check_solver

SETS = {
    "PREORDERS": rt.PREORDERS,
    "PARTIAL_ORDERS": rt.PARTIAL_ORDERS,
    "WEAK_ORDERS": rt.WEAK_ORDERS,
    "LINEAR_ORDERS": rt.LINEAR_ORDERS,
}
COUNTS = {  # of preorders, partial orders (posets), weak orders and linear orders
    "PREORDERS": [1, 4, 29, 355, 6942, 209527],
    "PARTIAL_ORDERS": [1, 3, 19, 219, 4231, 130023],
    "WEAK_ORDERS": [1, 3, 13, 75, 541, 4683],
    "LINEAR_ORDERS": [1, 2, 6, 24, 120, 720],
}


def _with_one_more(y):
    """All preorders of one more element, from all (t, n, n) of n; sets of elements are bits.

    As in `naive.all_preorders`: those before the new element are closed downwards, those after
    it upwards, and the former precede the latter.
    """
    n = y.shape[1]
    bit = 1 << np.arange(n)
    sets = np.arange(1 << n)
    holds = (sets[:, None] & bit) > 0  # (set, element)
    after, before = y @ bit, y.transpose(0, 2, 1) @ bit  # (t, element)
    closed = [
        np.bitwise_or.reduce(np.where(holds, m[:, None], 0), axis=2) == sets
        for m in (before, after)
    ]
    common = np.bitwise_and.reduce(np.where(holds, after[:, None], (1 << n) - 1), axis=2)
    fits = (sets & ~common[:, :, None]) == 0  # (t, before the new one, after it)
    t, d, u = np.nonzero(fits & closed[0][:, :, None] & closed[1][:, None, :])
    larger = np.ones((len(t), n + 1, n + 1), dtype=bool)
    larger[:, :-1, :-1] = y[t]
    larger[:, :-1, -1], larger[:, -1, :-1] = holds[d], holds[u]
    return larger


@cache
def _preorders(n):
    return np.ones((1, 1, 1), dtype=bool) if n == 1 else _with_one_more(_preorders(n - 1))


@cache
def _members(name, n):
    y = _preorders(n)
    mirror = y & y.transpose(0, 2, 1) & ~np.eye(n, dtype=bool)
    either = y | y.transpose(0, 2, 1)
    keep = np.ones(len(y), dtype=bool)
    if name in ("PARTIAL_ORDERS", "LINEAR_ORDERS"):
        keep &= ~mirror.any(axis=(1, 2))
    if name in ("WEAK_ORDERS", "LINEAR_ORDERS"):
        keep &= either.all(axis=(1, 2))
    return y[keep].reshape(-1, n * n).astype(np.float64)


@pytest.mark.parametrize("name", SETS)
def test_there_are_as_many_as_known(name):
    assert [len(_members(name, n)) for n in range(1, 7)] == COUNTS[name]


def test_they_are_those_of_the_plain_enumeration():
    for n in (2, 3, 4):
        plain = {y.tobytes() for y in naive.all_preorders(n)}
        assert {y.tobytes() for y in _preorders(n)} == plain


def _problem(rng, feasible, n):
    c = rng.normal(size=(n, n)) if rng.random() < 0.5 else rng.integers(-3, 4, (n, n)).astype(float)
    if rng.random() < 0.5 and n > 1:
        pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(3)]
        feasible = feasible & rt.evidence(related=pairs[:2], unrelated=pairs[2:])
    return rt.Problem(c, feasible)


def _best(problem, members):
    n, e = problem.n, problem.evidence
    keep = (members[:, e.related @ (n, 1)] == 1).all(axis=1)
    keep &= (members[:, e.unrelated @ (n, 1)] == 0).all(axis=1)
    return (members @ problem.dense().ravel())[keep].max(initial=-np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_agrees_with_brute_force(name):
    rng = np.random.default_rng(0)
    sizes = [1, 2, 3, 4, 5, 5] * 34 + [6] * 60  # 264 problems of each of four families
    infeasible = 0
    for n in sizes:
        problem = _problem(rng, SETS[name], n)
        best = _best(problem, _members(name, n))
        e = rt.infer(problem, prove=True)
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        if best == -np.inf:
            infeasible += 1
            assert e.status is rt.Status.INFEASIBLE
        else:
            assert e.status is rt.Status.OPTIMAL
            assert e.value == pytest.approx(best, abs=1e-6)
    assert infeasible > 3


FORCED = {
    "lp": Settings(half_rounds=0),
    "branching": Settings(
        root_rounds=1, half_rounds=0, node_rounds=1, iterations=3, node_iterations=3
    ),
}


@pytest.mark.parametrize("method", FORCED)
@pytest.mark.parametrize("name", ["PREORDERS", "PARTIAL_ORDERS", "WEAK_ORDERS"])
def test_each_method_alone_proves_the_same(name, method):
    rng = np.random.default_rng(1)
    nodes = 0
    for n in [4, 5, 6] * 8:
        problem = _problem(rng, SETS[name], n)
        best = _best(problem, _members(name, n))
        outcome = solve(problem, Control(prove=True), True, FORCED[method])
        if best == -np.inf:
            assert outcome.bound == -np.inf
            continue
        value = problem.value(outcome.relation)
        nodes += outcome.stats["nodes"]
        assert value == pytest.approx(best, abs=1e-6)
        certificate = rt.Certificate(outcome.bound, outcome.proof)
        e = rt.Estimate(rt.Status.OPTIMAL, outcome.relation, value, outcome.bound, certificate)
        assert rt.verify(problem, e), rt.verify(problem, e).reason
    assert nodes > (35 if method == "branching" else 15)


@pytest.mark.parametrize("name", ["preorder_branch_and_cut", "preorder_local_search"])
def test_conformance(name):
    assert check_solver(name, count=20) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PREORDERS", "PARTIAL_ORDERS", "WEAK_ORDERS"])
def test_structured_problems_of_forty_elements_are_proved(name):
    rng = np.random.default_rng(2)
    n = 40
    level = np.sort(rng.integers(0, 12, n))
    truth = level[:, None] <= level[None, :]
    if name != "WEAK_ORDERS":
        branch = rng.integers(0, 2, n)
        truth &= branch[:, None] == branch[None, :]
    if name == "PARTIAL_ORDERS":
        truth &= level[:, None] < level[None, :]
    c = np.where(truth, 1.0, -1.0) * rng.integers(1, 6, (n, n))
    c[rng.random((n, n)) < 0.05] *= -1.0
    problem = rt.Problem(c, SETS[name])
    e = rt.infer(problem, prove=True, time_limit=120)
    assert e.status is rt.Status.OPTIMAL
    assert e.value >= (c * (truth | np.eye(n, dtype=bool))).sum()
    assert rt.verify(problem, e)


def test_preorders_tell_how_far_they_are_from_clusterings_and_orders():
    blocks = np.kron(np.eye(3), np.ones((2, 2))).astype(bool)
    problem = rt.Problem(np.where(blocks, 1.0, -1.0), rt.PREORDERS)
    e = rt.infer(problem, prove=True)
    assert (e.stats["tied"], e.stats["one_way"], e.stats["incomparable"]) == (3, 0, 12)
    assert e.stats["classes"] == 3
    assert e.stats["value_of"]["EQUIVALENCES"] == e.value
    assert e.stats["value_of"]["LINEAR_ORDERS"] < e.value
    order = rt.Problem(np.where(np.triu(np.ones((5, 5))), 1.0, -1.0), rt.PREORDERS)
    e = rt.infer(order, prove=True)
    assert (e.stats["tied"], e.stats["incomparable"]) == (0, 0)
    assert e.stats["value_of"]["LINEAR_ORDERS"] == e.value
    assert distances(order, np.eye(5, dtype=bool), Control())["incomparable"] == 10


@pytest.mark.parametrize("name", ["PREORDERS", "PARTIAL_ORDERS", "WEAK_ORDERS"])
def test_a_few_bits_count_beside_pairs_that_are_as_good_as_excluded(name):
    """People write cannot-links as huge negative scores; the rest is decided as exactly."""
    rng = np.random.default_rng(7)
    for _ in range(12):
        c = rng.normal(size=(4, 4))
        c[rng.random((4, 4)) < 0.15] = -1e9
        np.fill_diagonal(c, 0.0)
        problem = rt.Problem(c, SETS[name])
        e = rt.infer(problem, prove=True)
        best = naive.best_value(c, naive.members(naive.NAMED[name], 4, 4))
        assert e.value == pytest.approx(best, abs=1e-5)
        report = rt.verify(problem, e)
        assert report, report.reason


@pytest.mark.parametrize("feasible", [rt.WEAK_ORDERS, rt.PREORDERS, rt.PARTIAL_ORDERS])
def test_a_proof_in_little_time_is_not_worse(feasible, monkeypatch):
    """Time passes with every climb, and with nothing else: both ways climb from the same places."""
    now, offer = [0.0], PreorderSearch.offer

    def timed(search, y):
        now[0] += 1.0  # what a climb takes: one that begins in time may be cut
        return offer(search, y)

    monkeypatch.setattr(PreorderSearch, "offer", timed)
    rng, root = np.random.default_rng(5), Settings(half_rounds=0, root_rounds=9, max_nodes=1)
    for limit in (8.0, 30.5, 60.0, 100.0, 150.0):
        problem = rt.Problem(rng.normal(size=(18, 18)), feasible)
        values = []
        for prove in (False, True):
            control = Control(time_limit=limit, clock=lambda: now[0])
            values.append(problem.value(solve(problem, control, prove, root).relation))
        assert values[1] >= values[0] - 1e-9, limit
