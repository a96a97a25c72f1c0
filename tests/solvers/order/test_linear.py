"""Linear orders from the outside: brute force, evidence, forced methods, known optima."""

import csv

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.io import read_lolib
from relatum.solvers import trivial_bound
from relatum.solvers.control import Control
from relatum.solvers.order.branch_and_cut import Settings
from relatum.solvers.order.linear import SETTINGS, solve_plan
from relatum.solvers.reductions.orders import Plan, plan_of
from relatum.testing import check_solver

METHODS = {
    "dp": (SETTINGS.many_states, None),
    "lp": (0, Settings(states=0)),
    "outright": (0, Settings(root_rounds=1, max_nodes=1)),
    "branching": (
        0,
        Settings(
            root_rounds=1,
            half_rounds=0,
            node_rounds=1,
            iterations=20,
            node_iterations=20,
            states=0,
        ),
    ),
}


@pytest.mark.parametrize("name", ["order_dp", "order_branch_and_cut", "order_local_search"])
def test_conformance(name):
    assert check_solver(name) > 20


def _random_problem(rng, largest=6):
    n = int(rng.integers(1, largest + 1))
    kind = rng.integers(3)
    c = rng.normal(size=(n, n)) if kind == 0 else rng.integers(-3, 4, (n, n)).astype(float)
    if kind == 2:  # alike elements
        copy = rng.integers(0, n, n)
        c = c[np.ix_(copy, copy)]
    feasible = rt.LINEAR_ORDERS
    if n > 1 and rng.random() < 0.5:
        pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(3)]
        feasible = feasible & rt.evidence(related=pairs[:2], unrelated=pairs[2:])
    return rt.Problem(c, feasible)


def _best(problem):
    if problem.contradicts_itself:
        return -np.inf
    c, state = problem.dense(), problem.state
    w = np.where((state == 0) | (state.T == 1), -np.inf, c)
    np.fill_diagonal(w, 0.0)
    return naive.best_linear_order(w.tolist()) + np.trace(c)


def test_agrees_with_brute_force_on_many_problems():
    rng = np.random.default_rng(0)
    infeasible = 0
    for _ in range(300):
        problem = _random_problem(rng)
        best = _best(problem)
        e = rt.infer(problem, prove=True)
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        if best == -np.inf:
            infeasible += 1
            assert e.status is rt.Status.INFEASIBLE
            continue
        assert e.status is rt.Status.OPTIMAL
        assert e.value == pytest.approx(best, abs=1e-9)
    assert infeasible > 5


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_each_method_alone_proves_the_same_optimum(method):
    states, settings = METHODS[method]
    rng = np.random.default_rng(1)
    nodes = 0
    for _ in range(100):
        problem = _random_problem(rng)
        best = _best(problem)
        plan = plan_of(problem)
        if best == -np.inf:
            assert not isinstance(plan, Plan)
            continue
        order, bound, proof, stats = solve_plan(plan, Control(prove=True), None, states, settings)
        nodes += stats["nodes"]
        relation = rt.LinearOrder.from_order(order)
        e = rt.Estimate(
            rt.Status.OPTIMAL,
            relation,
            problem.value(relation),
            bound,
            rt.Certificate(bound, proof),
        )
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        assert e.value == pytest.approx(best, abs=1e-6)
    assert (nodes > 0) == (method != "dp")


@pytest.mark.slow
def test_branching_on_a_hard_instance_is_proved():
    n = 11
    squares = {k * k % n for k in range(1, n)}  # the Paley tournament: a wide root gap
    c = np.array([[float((b - a) % n in squares) for b in range(n)] for a in range(n)])
    problem = rt.Problem(c, rt.LINEAR_ORDERS)
    plan = plan_of(problem)
    settings = Settings(root_rounds=4, half_rounds=0, node_rounds=2, states=0)
    order, bound, proof, stats = solve_plan(plan, Control(prove=True), None, 0, settings)
    assert stats["nodes"] > 1
    e = rt.infer(problem, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert bound == e.value == problem.value(rt.LinearOrder.from_order(order))
    found = rt.Estimate(rt.Status.OPTIMAL, e.relation, e.value, bound, rt.Certificate(bound, proof))
    assert rt.verify(problem, found)


@pytest.mark.parametrize("max_nodes", [1, 3, 6, 12])
def test_a_tree_cut_short_proves_the_bound_it_claims(max_nodes):
    # so few iterations that bounds below the root are worse than those they come from
    settings = Settings(
        root_rounds=12,
        half_rounds=0,
        node_rounds=1,
        node_iterations=1,
        max_nodes=max_nodes,
        states=0,
    )
    for n in (11, 19, 23):
        squares = {k * k % n for k in range(1, n)}
        c = np.array([[float((b - a) % n in squares) for b in range(n)] for a in range(n)])
        c += np.random.default_rng(n).integers(0, 2, (n, n)) * 0.25
        problem = rt.Problem(c, rt.LINEAR_ORDERS)
        order, bound, proof, _ = solve_plan(
            plan_of(problem), Control(prove=True), None, 0, settings
        )
        relation = rt.LinearOrder.from_order(order)
        value = problem.value(relation)
        assert bound > value
        certificate = rt.Certificate(bound, proof)
        e = rt.Estimate(rt.Status.FEASIBLE, relation, value, bound, certificate)
        assert rt.verify(problem, e), rt.verify(problem, e).reason


def test_a_false_certificate_is_refused():
    c = np.random.default_rng(2).integers(0, 9, (12, 12)).astype(float)
    problem = rt.Problem(c, rt.LINEAR_ORDERS)
    e = rt.infer(problem, prove=True)
    lower = e.bound - 1
    claimed = rt.Estimate(
        rt.Status.FEASIBLE, None, -np.inf, lower, rt.Certificate(lower, e.certificate.proof)
    )
    assert not rt.verify(problem, rt.Estimate(rt.Status.BOUND_ONLY, *_fields(claimed)))


def _fields(e):
    return e.relation, e.value, e.bound, e.certificate


def test_contradictory_precedence_names_the_cycle():
    feasible = rt.LINEAR_ORDERS & rt.evidence(related=[(0, 3), (3, 5)], unrelated=[(0, 5), (1, 2)])
    problem = rt.Problem(np.zeros((6, 6)), feasible)
    e = rt.infer(problem)
    assert e.status is rt.Status.INFEASIBLE
    assert rt.verify(problem, e)
    for pair in ("0<=3", "3<=5", "0<=5"):
        assert pair in e.message
    assert "1<=2" not in e.message


@pytest.mark.slow
def test_evidence_and_start_are_respected_by_the_heuristic():
    rng = np.random.default_rng(3)
    n = 40
    truth = rng.permutation(n)
    pairs = [(int(truth[a]), int(truth[b])) for a, b in ((0, 5), (3, 30), (8, 9), (20, 39))]
    problem = rt.Problem(
        rng.integers(-9, 10, (n, n)).astype(float), rt.LINEAR_ORDERS & rt.evidence(related=pairs)
    )
    start = rt.LinearOrder.from_order(truth)
    e = rt.infer(problem, solver="order_local_search", start=start, time_limit=2.0, seed=4)
    again = rt.infer(problem, solver="order_local_search", time_limit=2.0, seed=4)
    assert problem.feasible.contains(e.relation)
    assert problem.feasible.contains(again.relation)
    assert e.value >= problem.value(start)
    assert rt.verify(problem, e)


@pytest.mark.parametrize("solver", ["order_local_search", "order_branch_and_cut"])
def test_one_core_and_two_give_the_same_answer(solver, monkeypatch):
    w = np.random.default_rng(6).integers(0, 100, (64, 64)).astype(float)
    rank = np.random.default_rng(7).permutation(64)
    w += 60.0 * (rank[:, None] < rank[None, :])  # so much structure that a proof is quick
    problem = rt.Problem(w, rt.LINEAR_ORDERS)
    found = []
    for cores in (1, 2):
        monkeypatch.setattr("relatum.solvers.order.search.os.cpu_count", lambda cores=cores: cores)
        e = rt.infer(problem, solver=solver, prove=solver != "order_local_search", time_limit=600)
        found.append((e.relation.order.tolist(), e.value))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_time_limit_still_gives_a_valid_bound():
    c = np.random.default_rng(4).integers(0, 100, (45, 45)).astype(float)
    problem = rt.Problem(c, rt.LINEAR_ORDERS)
    e = rt.infer(problem, prove=True, time_limit=1.5)
    assert e.gap < 0.1 * e.value
    assert rt.verify(problem, e)


@pytest.mark.parametrize("instance", ["IO/be75eec", "IO/t59n11xx", "SGB/sgb75.07"])
def test_lolib_optima_are_certified(data_folder, instance):
    with (data_folder / "lolib" / "values.tsv").open() as file:
        rows = {f"{r['set']}/{r['instance']}": r for r in csv.DictReader(file, delimiter="\t")}
    problem = rt.Problem(read_lolib(data_folder / "lolib" / instance), rt.LINEAR_ORDERS)
    e = rt.infer(problem, prove=True, time_limit=120)
    assert e.status is rt.Status.OPTIMAL
    assert e.value == float(rows[instance]["best_known_value"])
    assert rt.verify(problem, e).exact


@pytest.mark.parametrize("solver", ["order_dp", "order_branch_and_cut"])
@pytest.mark.parametrize("scale", [1e-6, 1e4, 1e8])
def test_scores_of_any_size_are_proved_as_far_as_floats_go(solver, scale):
    rng = np.random.default_rng(5)
    for _ in range(25):
        n = int(rng.integers(2, 7))
        problem = rt.Problem(rng.normal(size=(n, n)) * scale, rt.LINEAR_ORDERS)
        e = rt.infer(problem, solver=solver, prove=True)
        if scale < 1e8:
            assert e.status is rt.Status.OPTIMAL
        assert e.gap <= 1e-12 * scale * n * n
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        assert e.value == pytest.approx(_best(problem), rel=1e-12)


@pytest.mark.parametrize(
    ("scores", "error", "words"),
    [
        (np.ones((2, 3)), rt.errors.FeasibleSetError, "|A| = 2 and |B| = 3"),
        ([[0.0, np.nan], [1.0, 0.0]], rt.errors.ProblemError, "pair (0, 1)"),
        ([1.0, 2.0, 3.0], rt.errors.ProblemError, "both directions"),
    ],
)
def test_scores_that_make_no_sense_are_refused(scores, error, words):
    with pytest.raises(error) as caught:
        rt.Problem(np.array(scores), rt.LINEAR_ORDERS)
    assert words in str(caught.value)


@pytest.mark.parametrize("prove", [False, True])
def test_without_time_there_is_an_order_and_a_bound_that_is_not_trivial(prove):
    problem = rt.Problem(np.random.default_rng(0).normal(size=(70, 70)), rt.LINEAR_ORDERS)
    e = rt.infer(problem, prove=prove, time_limit=1e-9)
    assert e.bound < 0.9 * trivial_bound(problem)[0]
    assert rt.verify(problem, e).ok
