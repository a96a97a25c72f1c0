import numpy as np
import pytest

import naive
import relatum as rt
from relatum.solvers.order.batch import order_many


def _problems(rng, count):
    for number in range(count):
        n = int(rng.integers(1, 7))
        c = rng.normal(size=(n, n)) if number % 2 else rng.integers(-2, 3, (n, n)).astype(float)
        if number % 3 == 0:  # alike elements
            copy = rng.integers(0, n, n)
            c = c[np.ix_(copy, copy)]
        yield rt.Problem(c, rt.LINEAR_ORDERS)


def test_many_problems_are_ordered_best_and_certified():
    problems = list(_problems(np.random.default_rng(0), 400))
    for p, e in zip(problems, rt.infer_many(problems, n_jobs=1, prove=True), strict=True):
        c = p.dense()
        best = naive.best_linear_order((c - np.diag(np.diagonal(c))).tolist()) + np.trace(c)
        assert e.status is rt.Status.OPTIMAL
        assert e.solver == "order_dp"
        assert e.value == pytest.approx(best, abs=1e-9)
        assert rt.verify(p, e), rt.verify(p, e).reason


def test_larger_components_agree_with_branch_and_cut():
    rng = np.random.default_rng(1)
    problems = [rt.Problem(rng.normal(size=(18, 18)), rt.LINEAR_ORDERS) for _ in range(5)]
    for p, e in zip(problems, rt.infer_many(problems, n_jobs=1, prove=True), strict=True):
        exact = rt.infer(p, solver="order_branch_and_cut", prove=True)
        assert e.value == pytest.approx(exact.value, abs=1e-6)
        assert rt.verify(p, e)


def test_evidence_is_respected_and_certified():
    rng = np.random.default_rng(2)
    problems = []
    for p in _problems(rng, 300):
        pairs = [tuple(rng.integers(0, p.n, 2).tolist()) for _ in range(4)]
        known = rt.evidence(related=pairs[:2], unrelated=[(a, b) for a, b in pairs[2:] if a != b])
        problems.append(rt.Problem(p.dense(), rt.LINEAR_ORDERS & known))
    infeasible, batched = 0, 0
    for p, e in zip(problems, rt.infer_many(problems, n_jobs=1, prove=True), strict=True):
        c, state = p.dense(), p.state
        w = np.where((state == 0) | (state.T == 1), -np.inf, c)
        np.fill_diagonal(w, 0.0)
        best = -np.inf if p.contradicts_itself else naive.best_linear_order(w.tolist())
        assert rt.verify(p, e), rt.verify(p, e).reason
        if best == -np.inf:
            infeasible += 1
            assert e.status is rt.Status.INFEASIBLE
            continue
        batched += "batch" in e.stats
        assert e.status is rt.Status.OPTIMAL
        assert p.feasible.contains(e.relation)
        assert e.value == pytest.approx(best + np.trace(c), abs=1e-9)
    assert infeasible > 20
    assert batched == len(problems) - infeasible


def test_contradictory_precedence_is_named_in_a_batch():
    cycle = rt.evidence(related=[(0, 1), (1, 2), (2, 0)])
    order = rt.Problem(np.eye(3), rt.LINEAR_ORDERS)
    wrong = rt.Problem(np.eye(3), rt.LINEAR_ORDERS & cycle)
    good, bad, _ = rt.infer_many([order, wrong, order], n_jobs=1)
    assert good.status is rt.Status.OPTIMAL
    assert bad.status is rt.Status.INFEASIBLE
    assert all(pair in bad.message for pair in ("0<=1", "1<=2", "2<=0"))


def test_other_problems_take_the_usual_way_in_their_places():
    order = rt.Problem(np.array([[0.0, -1], [1, 0]]), rt.LINEAR_ORDERS)
    known = rt.Problem(np.array([[0.0, -1], [1, 0]]), rt.LINEAR_ORDERS & rt.evidence([(0, 1)]))
    partition = rt.Problem([1.0], rt.EQUIVALENCES)
    mixed = rt.infer_many([partition, order, known, order], n_jobs=1)
    assert mixed[0].relation.labels.tolist() == [0, 0]
    assert [e.relation.order.tolist() for e in mixed[1:]] == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("arguments", [{"solver": "order_local_search"}, {"monitor": print}])
def test_a_named_solver_or_a_monitor_is_respected(arguments):
    problems = [rt.Problem(np.eye(2), rt.LINEAR_ORDERS)] * 3
    assert order_many(problems, arguments) == [None] * 3
