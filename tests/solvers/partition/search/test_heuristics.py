"""The registered heuristics: conformance, brute force, starts, limits, determinism."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

import naive
import relatum as rt
from instances.partitions import random_problem
from relatum.io import read_cplib
from relatum.solvers.control import Control
from relatum.solvers.partition.search import heuristics as partition_heuristics
from relatum.solvers.partition.search.effort import QUICK
from relatum.solvers.registry import solver_named
from relatum.testing import check_solver
from relatum.threads import Threads

SOLVERS = ["partition_local_search", "partition_memetic", "kernighan_lin", "greedy_contraction"]
SEARCHES = SOLVERS[:2]


@pytest.fixture
def sparse_at_any_size(monkeypatch):
    """Small sparse problems are solved as dense ones; here they are not."""
    monkeypatch.setattr("relatum.solvers.partition.arrays.MATRIX_ELEMENTS", 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_conformance(name):
    assert check_solver(name, count=15) >= 15


def compare_with_brute_force(name, count, seed):
    """Check feasibility and values; return the share of problems solved to optimality."""
    rng = np.random.default_rng(seed)
    reached = feasible = 0
    for number in range(count):
        problem, weights, allowed = random_problem(rng, 2 + number % 7 if number % 8 else 9)
        optimum = naive.best_partition(weights, allowed)
        e = rt.infer(problem, solver=name, seed=number)
        if optimum == -np.inf:
            assert e.relation is None
            continue
        feasible += 1
        inside = np.equal.outer(e.relation.labels, e.relation.labels)
        diagonal = np.trace(problem.log_odds) if problem.log_odds.ndim == 2 else 0.0
        assert allowed(e.relation.labels)
        assert e.value == pytest.approx((weights * inside).sum() + diagonal)
        assert e.value - diagonal <= optimum + 1e-9
        assert e.bound - diagonal >= optimum - 1e-9
        reached += e.value - diagonal >= optimum - 1e-9
    return reached / feasible


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "share"),
    [
        ("partition_local_search", 300, 0.99),
        ("partition_memetic", 60, 0.99),
        ("kernighan_lin", 120, 0.7),
        ("greedy_contraction", 120, 0.5),
    ],
)
def test_brute_force(name, count, share):
    assert compare_with_brute_force(name, count, seed=1) >= share


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "share"),
    [(SOLVERS[0], 120, 0.85), (SOLVERS[2], 80, 0.6), (SOLVERS[3], 80, 0.5)],
)
@pytest.mark.usefixtures("sparse_at_any_size")
def test_brute_force_by_the_sparse_search(name, count, share):
    # sparse searches never look at sets without listed pairs in common, so less is asked
    assert compare_with_brute_force(name, count, seed=2) >= share


def planted(rng, n, k, noise, kind=np.float64):
    truth = rng.integers(0, k, n)
    c = np.where(np.equal.outer(truth, truth), 1.0, -1.0) + noise * rng.normal(size=(n, n))
    c = np.triu(c, 1)
    return truth, (c + c.T).astype(kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_planted_sets_are_found(name, kind):
    truth, c = planted(np.random.default_rng(0), 120, 5, 0.5, kind)
    e = rt.infer(rt.Problem(c, rt.EQUIVALENCES), solver=name)
    assert e.relation == rt.Partition(truth)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_planted_sets_are_found_in_listed_pairs(name):
    rng = np.random.default_rng(1)
    n = 3000
    truth = np.repeat(np.arange(n // 6), 6)
    a = rng.integers(0, n, 30_000)
    b = np.where(
        rng.random(30_000) < 0.5,
        rng.integers(0, n, 30_000),
        a // 6 * 6 + rng.integers(0, 6, 30_000),
    )
    a, b = np.minimum(a, b)[a != b], np.maximum(a, b)[a != b]
    a, b = np.unique(np.column_stack([a, b]), axis=0).T
    scores = np.where(truth[a] == truth[b], 3.0, -3.0) + 0.8 * rng.normal(size=len(a))
    p = rt.Problem.from_pairs(a, b, scores, n=n, background=-0.5, feasible=rt.EQUIVALENCES)
    e = rt.infer(p, solver=name)
    assert e.value >= 0.99 * p.value(rt.Partition(truth))
    assert (e.relation.labels[a] == e.relation.labels[b]).mean() == pytest.approx(
        (truth[a] == truth[b]).mean(), abs=0.02
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.usefixtures("sparse_at_any_size")
def test_rules_hold_on_larger_problems(name):
    rng = np.random.default_rng(3)
    n = 150
    truth, c = planted(rng, n, 4, 2.0)
    pairs = rng.integers(0, n, (60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    known = rt.evidence(related=pairs[same][:5], unrelated=pairs[~same])
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.4
    for rule in (rt.at_most(7), rt.one_per_group(np.arange(n) // 2)):
        feasible = rt.EQUIVALENCES & known & rule
        dense = rt.Problem(c, feasible)
        sparse = rt.Problem.from_pairs(
            i[keep], j[keep], c[i, j][keep], n=n, background=-0.2, feasible=feasible
        )
        for p in (dense, sparse):
            e = rt.infer(p, solver=name, time_limit=1.0)
            if e.relation is None:  # the links may need a set that the rule forbids
                assert rt.infer(p, solver="partition_branch_and_cut", time_limit=5).relation is None
                continue
            assert feasible.contains(e.relation)
            assert rt.verify(p, e)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_never_worse_than_the_start(name):
    rng = np.random.default_rng(4)
    _, c = planted(rng, 80, 4, 3.0)
    p = rt.Problem(c, rt.EQUIVALENCES)
    best = rt.infer(p, solver="partition_memetic", time_limit=2)
    for start in (best.relation, rt.Partition(rng.integers(0, 6, 80))):
        # the solver itself, without the guard of `infer`
        outcome = solver_named(name).run(p, Control(start=start, time_limit=2.0))
        assert p.value(outcome.relation) >= p.value(start) - 1e-9


@pytest.mark.parametrize("name", SOLVERS)
def test_monitors_stop_the_search_and_hear_the_truth(name):
    _, c = planted(np.random.default_rng(5), 200, 10, 6.0)
    p = rt.Problem(c + np.eye(200), rt.EQUIVALENCES & rt.evidence(related=[(0, 1), (1, 2)]))
    seen = []
    e = rt.infer(p, solver=name, monitor=lambda progress: seen.append(progress.value) or True)
    assert e.stats["stopped"]
    assert e.value >= seen[0] - 1e-6  # in the problem's terms: constants and both directions
    assert e.value == pytest.approx(seen[-1])


def test_a_time_limit_stops_the_memetic_search():
    _, c = planted(np.random.default_rng(5), 300, 10, 6.0)
    e = rt.infer(rt.Problem(c, rt.EQUIVALENCES), solver="partition_memetic", time_limit=0.5)
    assert e.stats["stopped"]
    assert e.relation is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_the_answer_does_not_depend_on_threads(name, monkeypatch):
    _, c = planted(np.random.default_rng(6), 150, 5, 6.0)
    p = rt.Problem(c, rt.EQUIVALENCES)
    monkeypatch.setattr(partition_heuristics, "long_effort", lambda n, sets: QUICK)  # it ends
    found = []
    for cores in (1, 2):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(rt.infer(p, solver=name, seed=3).relation)
    assert found[0] == found[1]
    assert rt.infer(p, solver=name, seed=3).relation == found[0]


@pytest.mark.slow
def test_many_starts_do_not_depend_on_threads(monkeypatch):
    _, c = planted(np.random.default_rng(8), 150, 6, 6.0)
    p = rt.Problem(c, rt.EQUIVALENCES)
    settings = replace(partition_heuristics.SETTINGS, evolved=100)
    monkeypatch.setattr(partition_heuristics, "SETTINGS", settings)
    found = []
    for threads in (1, 2, 3):
        executor = partial(Threads, threads)
        monkeypatch.setattr(
            partition_heuristics, "Threads", lambda _, executor=executor: executor()
        )
        e = rt.infer(p, solver="partition_local_search", seed=4)
        assert "starts" in e.stats
        found.append(e.relation)
    assert found[0] == found[1] == found[2]


def test_contradicting_evidence_is_infeasible():
    no_way = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(0, 2)])
    p = rt.Problem(np.zeros((700, 700)), rt.EQUIVALENCES & no_way)
    e = rt.infer(p, solver="partition_local_search")
    assert e.relation is None
    assert e.status is rt.Status.INFEASIBLE


def test_auto_uses_local_search_where_no_proof_is_asked():
    _, c = planted(np.random.default_rng(7), 90, 4, 1.0)
    assert rt.infer(rt.Problem(c, rt.EQUIVALENCES)).solver == "partition_local_search"


@pytest.mark.parametrize(
    "name",
    ["ABR/cars", "ABR/soybean-35", "ABR/zoo", "MCF/boc_3", "MCF/lee_97", "Artificial/am-75-3"],
)
def test_known_optima_are_reached(data_folder, name):
    table = (data_folder / "cplib" / "values.tsv").read_text().splitlines()[1:]
    known = {r[1]: float(r[3]) for r in (line.split("\t") for line in table) if r[3]}
    p = rt.Problem(read_cplib(data_folder / "cplib" / f"{name}.txt"), rt.EQUIVALENCES)
    e = rt.infer(p, solver="partition_memetic", time_limit=5)
    assert e.value == known[name.split("/")[1]]


@pytest.mark.parametrize("name", SOLVERS)
def test_where_there_is_no_time_for_a_matrix_what_is_known_is_returned(name, monkeypatch):
    settings = replace(partition_heuristics.SETTINGS, arrays=1e9, listed_arrays=1e9)
    monkeypatch.setattr(partition_heuristics, "SETTINGS", settings)
    c = np.random.default_rng(0).normal(size=(30, 30))
    facts = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(2, 3)])
    problem = rt.Problem(c, rt.EQUIVALENCES & facts)
    e = rt.infer(problem, solver=name, time_limit=5.0)
    assert e.relation == rt.Partition([0, 0, 0, *range(1, 28)])
    assert e.stats["stopped"]
    start = rt.Partition([0] * 3 + [1] * 27)
    assert rt.infer(problem, solver=name, start=start, time_limit=5.0).relation == start
    capped = rt.Problem(c, rt.EQUIVALENCES & facts & rt.at_most(2))
    assert rt.infer(capped, solver=name, time_limit=5.0).relation is None


def test_all_pairs_are_written_down_while_there_is_time():
    n = 1500
    half = np.triu(np.random.default_rng(0).normal(size=(n, n)), 1)
    weights = half + half.T
    graph = partition_heuristics._graph_of_all_pairs(weights, lambda: False)
    written = csr_array((graph.excess, graph.indices, graph.indptr), shape=(n, n))
    assert written.nnz == n * (n - 1)
    assert np.array_equal(written.toarray(), weights)
    for looks in range(3):  # three blocks
        answers = iter([False] * looks + [True])
        assert partition_heuristics._graph_of_all_pairs(weights, lambda a=answers: next(a)) is None


@pytest.mark.parametrize("last", [1, 2, 3])
def test_greedy_contraction_looks_at_the_clock_while_it_prepares(monkeypatch, last):
    """Twice while all pairs are written down, and then before they are all in its heap."""
    n = 1100
    problem = rt.Problem(planted(np.random.default_rng(0), n, 5, 0.5)[1], rt.EQUIVALENCES)
    control, count = Control(), itertools.count(1)

    def expired(self):
        if next(count) == last:
            control.stop()
        return self.told_to_stop()

    monkeypatch.setattr("relatum.solvers.control._Child.expired", expired)
    found = partition_heuristics.greedy_contraction(problem, control).relation
    assert found == rt.Partition(np.arange(n))
