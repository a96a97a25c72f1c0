"""Exact partitions into small sets against brute force, the checker and the other solver."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from instances.partitions import check_exact, restrict
from relatum.proof.certificate import Branch, Decompose, Prices
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.partition.exact import capped
from relatum.solvers.partition.exact.prices import PriceSettings, SetPrices
from relatum.testing import check_solver

SOLVER = "capped_partitions"


def test_conformance():
    assert check_solver(SOLVER, count=30) >= 1


def random_problem(rng, n):
    """A cap with ties, evidence and groups now and then; and plain rules."""
    m = n * (n - 1) // 2
    kinds = [
        lambda: rng.normal(size=m) * 3,
        lambda: rng.integers(-2, 3, m).astype(float),
        lambda: rng.normal(size=m) + 1,
        lambda: rng.integers(-1, 4, m) * 0.5,
    ]
    c = kinds[rng.integers(4)]()
    cap = int(rng.integers(2, n))
    feasible, rules = rt.EQUIVALENCES & rt.at_most(cap), [lambda row: np.bincount(row).max() <= cap]
    feasible = restrict(rng, n, feasible, rules)
    return rt.Problem(c, feasible), rules


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    for n in (3, 4, 5, 6, 7, 8, 9)[: 7 if seed < 8 else 6]:
        for _ in range(3 if n < 8 else 1):
            check_exact(*random_problem(rng, n), "auto" if n == 6 else SOLVER)


def nodes_of(proof):
    todo, out = [proof], []
    while todo:
        node = todo.pop()
        out.append(node)
        if isinstance(node, Branch):
            todo += [node.unrelated, node.related]
        elif isinstance(node, Decompose):
            todo += [part[2] for part in node.parts]
    return out


def near_points(n, seed):
    """Scores that fall with distance: sets of any size would do, so that the cap decides."""
    i, j = np.triu_indices(n, 1)
    x = np.random.default_rng(seed).normal(size=(n, 2))
    distance = np.linalg.norm(x[i] - x[j], axis=1)
    return 3 * (np.median(distance) - distance)


@pytest.mark.parametrize(("n", "cap"), [(18, 2), (18, 3), (16, 4), (20, 5)])
def test_agrees_with_the_solver_of_pairs(n, cap):
    problem = rt.Problem(near_points(n, n + cap), rt.EQUIVALENCES & rt.at_most(cap))
    e = rt.infer(problem, solver=SOLVER)
    other = rt.infer(problem, solver="partition_branch_and_cut", prove=True)
    assert (e.status.name, other.status.name) == ("OPTIMAL", "OPTIMAL")
    assert e.value == pytest.approx(other.value, abs=1e-6)
    assert rt.verify(problem, e)
    kinds = {type(node) for node in nodes_of(e.certificate.proof)}
    assert Prices in kinds
    assert kinds <= {Prices, Branch, Decompose}


def test_branches_where_prices_do_not_close():
    no_rows = capped.Settings(root_rounds=0, node_rounds=0)
    i, j = np.triu_indices(9, 1)
    triangles = np.where(i // 3 == j // 3, 4.0, 0.25)  # half of each pair would be 18 bits
    problem = rt.Problem(triangles, rt.EQUIVALENCES & rt.at_most(2))
    found = capped.run(problem, Control(prove=True), no_rows)
    check_certificate(problem, rt.Certificate(found.bound, found.proof))
    assert any(isinstance(node, Branch) for node in nodes_of(found.proof))
    assert problem.value(found.relation) == found.bound == 12.25


def test_rows_about_sets_help():
    i, j = np.triu_indices(9, 1)
    triangles = np.where(i // 3 == j // 3, 4.0, 0.25)
    problem = rt.Problem(triangles, rt.EQUIVALENCES & rt.at_most(2))
    e = rt.infer(problem, solver=SOLVER)
    assert (e.status.name, e.value) == ("OPTIMAL", 12.25)
    counts = e.certificate.counts()
    assert counts["branches"] == 0
    assert counts["capped_set"] >= 3
    assert rt.verify(problem, e)


def test_auto_takes_it_where_sets_are_small():
    for cap, name in ((3, SOLVER), (10, "partition_branch_and_cut")):
        problem = rt.Problem(near_points(20, 1), rt.EQUIVALENCES & rt.at_most(cap))
        assert rt.infer(problem).solver == name


def test_a_start_and_a_limit_are_respected():
    problem = rt.Problem(near_points(60, 1), rt.EQUIVALENCES & rt.at_most(3))
    best = rt.infer(problem, prove=True)
    assert best.status is rt.Status.OPTIMAL
    short = rt.infer(problem, solver=SOLVER, time_limit=1e-3, start=best.relation)
    assert short.value == pytest.approx(best.value, abs=1e-9)
    assert short.bound >= best.value - 1e-9
    assert rt.verify(problem, short)


def test_the_monitor_stops_it_with_a_valid_bound():
    problem = rt.Problem(near_points(60, 2), rt.EQUIVALENCES & rt.at_most(5))
    seen = []

    def monitor(progress):
        seen.append((progress.value, progress.bound))
        return len(seen) == 2

    e = rt.infer(problem, solver=SOLVER, monitor=monitor)
    assert rt.verify(problem, e)
    assert all(value <= bound for value, bound in seen)


def test_pairs_take_over_where_too_many_sets_are_worth_something(monkeypatch):
    monkeypatch.setattr(SetPrices, "settings", PriceSettings(steps=1, most_steps=1))
    problem = rt.Problem(near_points(16, 3), rt.EQUIVALENCES & rt.at_most(4))
    e = rt.infer(problem, solver=SOLVER, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert rt.verify(problem, e)
    assert not any(isinstance(node, Prices) for node in nodes_of(e.certificate.proof))


def test_without_a_cap_that_matters_it_says_so():
    with pytest.raises(rt.errors.SolverError, match="at most k elements"):
        rt.infer(rt.Problem([1.0, 1.0, 1.0], rt.EQUIVALENCES), solver=SOLVER)
    whole = rt.infer(rt.Problem([1.0, 1.0, 1.0], rt.EQUIVALENCES & rt.at_most(3)), solver=SOLVER)
    assert (whole.status.name, whole.value) == ("OPTIMAL", 3.0)
    many = rt.Problem(np.zeros(200 * 199 // 2), rt.EQUIVALENCES & rt.at_most(50))
    with pytest.raises(rt.errors.SolverError, match="looks through sets"):
        rt.infer(many, solver=SOLVER)
