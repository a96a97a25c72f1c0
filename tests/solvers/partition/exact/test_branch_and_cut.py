"""Exact equivalence relations against brute force, the checker and known optima."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from instances.partitions import check_exact, restrict
from relatum.proof.certificate import Branch
from relatum.solvers.control import Control
from relatum.solvers.partition.exact.branch_and_cut import Settings, run
from relatum.testing import check_solver

SOLVER = "partition_branch_and_cut"


def test_conformance():
    assert check_solver(SOLVER, count=30) >= 20


def random_problem(rng, n):
    """Ties, evidence, groups and caps, in every combination; and plain rules."""
    m = n * (n - 1) // 2
    kinds = [
        lambda: rng.normal(size=m) * 3,
        lambda: rng.integers(-2, 3, m).astype(float),
        lambda: rng.choice([-1.0, 1.0], m),
        lambda: rng.integers(-2, 3, m) * 0.5,
    ]
    c = kinds[rng.integers(4)]()
    feasible, rules = rt.EQUIVALENCES, []
    feasible = restrict(rng, n, feasible, rules)
    if rng.random() < 0.25:
        k = int(rng.integers(2, 5))
        feasible = feasible & rt.at_most(k)
        rules.append(lambda row: np.bincount(row).max() <= k)
    return rt.Problem(c, feasible), rules


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    for n in (2, 3, 4, 5, 6, 7, 8):
        for _ in range(4 if n < 8 else 1):
            check_exact(*random_problem(rng, n), SOLVER)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_brute_force_on_nine_elements(seed):
    check_exact(*random_problem(np.random.default_rng(1000 + seed), 9), SOLVER)


def hard_problem(n, seed):
    """Gaussian scores, which no relaxation closes."""
    c = np.random.default_rng(seed).normal(size=n * (n - 1) // 2)
    return rt.Problem(c.round(2), rt.EQUIVALENCES)


def test_branches_where_cuts_do_not_close_and_agrees_with_the_general_solver():
    problem = hard_problem(16, 3)
    few_cuts = Settings(least_threshold=0.6, patience=1, stall=0.5, priced=0)
    outcome = run(problem, Control(), few_cuts)
    nodes = [outcome.proof]
    branches = 0
    while nodes:
        node = nodes.pop()
        branches += isinstance(node, Branch)
        nodes += [getattr(node, k) for k in ("then", "unrelated", "related") if hasattr(node, k)]
    assert branches > 0
    other = rt.infer(problem, solver="branch_and_cut", prove=True)
    assert problem.value(outcome.relation) == pytest.approx(other.value, abs=1e-6)
    e = rt.Estimate(
        rt.Status.OPTIMAL,
        outcome.relation,
        problem.value(outcome.relation),
        outcome.bound,
        rt.Certificate(outcome.bound, outcome.proof),
    )
    report = rt.verify(problem, e)
    assert report, report.reason


def test_a_time_limit_leaves_a_valid_bound():
    problem = hard_problem(60, 1)
    full = rt.infer(problem, solver=SOLVER, time_limit=0.5)
    assert full.status is rt.Status.FEASIBLE
    assert rt.verify(problem, full)
    assert full.bound < np.maximum(problem.log_odds, 0).sum()


def test_the_monitor_sees_bounds_fall_and_can_stop():
    problem = hard_problem(40, 2)
    seen = []

    def monitor(progress):
        seen.append(progress)
        return len(seen) >= 5

    e = rt.infer(problem, solver=SOLVER, prove=True, monitor=monitor)
    assert 5 <= len(seen) <= 6  # the last one tells of the result
    assert seen[-1].bound <= seen[0].bound
    assert rt.verify(problem, e)
    assert e.bound <= seen[-1].bound + 1e-6


def stopped_at_the_root(problem, **arguments):
    """Prove until the linear relaxation of the root has been solved once; say what was heard."""
    heard = []

    def monitor(progress):
        heard.append(progress)
        return progress.rows > 0

    return rt.infer(problem, prove=True, monitor=monitor, **arguments), heard


@pytest.mark.parametrize("kind", ["normal", "nearly"])
def test_noise_is_bounded_by_squares_before_anything_is_cut(kind):
    scores = np.random.default_rng(7).normal(size=(70, 70))
    if kind == "nearly":  # so that only a packing tells that it is noise
        scores = scores + 0.5 * np.where(np.equal.outer(np.arange(70) % 9, np.arange(70) % 9), 1, 0)
    problem = rt.Problem(np.triu(scores, 1), rt.EQUIVALENCES)
    e, heard = stopped_at_the_root(problem)
    assert "square" in e.certificate.counts()
    assert rt.verify(problem, e)
    assert e.bound <= rt.infer(problem).bound
    assert heard[-1].bound <= e.bound * (1 + 1e-9)  # a worse one of the root is not told


def test_scores_that_tell_are_not_taken_for_noise():
    rng = np.random.default_rng(8)
    truth = np.equal.outer(np.arange(60) % 5, np.arange(60) % 5)
    scores = rng.normal(size=(60, 60)) + np.where(truth, 1.5, -1.5)
    e, _ = stopped_at_the_root(rt.Problem(np.triu(scores, 1), rt.EQUIVALENCES))
    assert "square" not in e.certificate.counts()


def test_a_start_is_never_lost():
    problem = hard_problem(30, 5)
    best = rt.infer(problem, solver=SOLVER, prove=True, time_limit=20)
    again = rt.infer(problem, solver=SOLVER, start=best.relation, time_limit=0.05)
    assert again.value >= best.value - 1e-9


def test_integer_scores_are_proved_without_any_gap():
    c = np.random.default_rng(0).choice([-1.0, 1.0], 20 * 19 // 2)
    e = rt.infer(rt.Problem(c, rt.EQUIVALENCES), solver=SOLVER, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.bound == e.value
    assert e.value == round(e.value)


def test_auto_takes_it_to_prove():
    problem = hard_problem(12, 0)
    assert rt.infer(problem, prove=True).solver == SOLVER


@pytest.mark.parametrize("name", ["karate", "dolphins", "lesmis"])
def test_modularity_optima(data_folder, name):
    lines = (data_folder / "modularity" / "values.tsv").read_text().splitlines()
    known = {row.split("\t")[0]: float(row.split("\t")[3]) for row in lines[1:]}
    numbers = (data_folder / "modularity" / f"{name}.txt").read_text().split()
    problem = rt.Problem(np.array(numbers[1:], dtype=float), rt.EQUIVALENCES)
    e = rt.infer(problem, solver=SOLVER, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.value == known[name]
    assert rt.verify(problem, e)


@pytest.mark.parametrize("name", ["strat_n100_0", "unstrat_n170_1"])
def test_learned_scores(data_folder, name):
    costs = np.load(data_folder / "mnist-clustering" / f"{name}.npz")["costs"]
    problem = rt.Problem(costs, rt.EQUIVALENCES)
    e = rt.infer(problem, solver=SOLVER, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert rt.verify(problem, e)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_caps_with_must_links_leave_no_open_end(seed):
    # all but a few pairs are decided by evidence: little is left to branch on
    rng = np.random.default_rng(seed)
    n = 9
    problem = rt.Problem(
        rng.normal(size=n * (n - 1) // 2) * 3,
        rt.EQUIVALENCES & rt.at_most(4) & rt.evidence(related=[(0, 1), (1, 2), (4, 5)]),
    )
    want = naive.best_partition(
        problem.scores.dense(), lambda row: problem.feasible.contains(rt.Partition(row))
    )
    settings = Settings(least_threshold=0.9, patience=1, stall=2.0, search=0)
    outcome = run(problem, Control(time_limit=20.0), settings)
    assert problem.value(outcome.relation) == pytest.approx(want, abs=1e-6)
    assert outcome.bound == pytest.approx(want, abs=1e-5)
