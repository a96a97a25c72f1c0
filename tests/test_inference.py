"""Inference against brute force, and its promises: limits, monitors, interrupts, parallel runs."""

from __future__ import annotations

import itertools
import math
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import joblib
import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import ProblemError, SolverError
from relatum.inference import infer_many
from relatum.problem.relation import LinearOrder, Map, PartialMap, Partition, WeakOrder
from relatum.proof.estimate import Status
from relatum.solvers import SOLVERS, Control, trivial_bound

NAMES = list(naive.NAMED)


def random_case(rng, name):
    """A problem, and the list of its feasible relations by brute force."""
    names = naive.NAMED[name]
    on_one = bool(set(names) & set(naive.ON_ONE_SET))
    largest = 4 if "symmetric" in names or rng.random() < 0.1 else 3
    n = int(rng.integers(1, largest + 1))
    shape = (n, n) if on_one or rng.random() < 0.3 else (n, int(rng.integers(1, 4)))
    style = rng.integers(4)
    c = rng.integers(-2, 3, shape).astype(float) if style < 2 else rng.normal(size=shape)
    if style == 3:
        c = (c * 10.0 ** rng.integers(0, 5, shape)).astype(np.float32)
    feasible, related, unrelated, cap, groups = getattr(rt, name), [], [], None, None

    def pair():
        return int(rng.integers(shape[0])), int(rng.integers(shape[1]))

    if rng.random() < 0.5:
        related = [pair() for _ in range(rng.integers(0, 2))]
        unrelated = [pair() for _ in range(rng.integers(0, 3))]
        feasible = feasible & rt.evidence(related, unrelated)
    if rng.random() < 0.2:
        p = pair()
        c[p] = rng.choice([math.inf, -math.inf])
        (related if c[p] > 0 else unrelated).append(p)
    if rng.random() < 0.2:
        cap = int(rng.integers(1, 4))
        feasible = feasible & rt.at_most(cap)
    if rng.random() < 0.2 and shape[0] == shape[1]:
        groups = rng.integers(0, 2, n).tolist()
        feasible = feasible & rt.one_per_group(groups)
    return rt.Problem(c, feasible), naive.feasible(names, shape, related, unrelated, cap, groups)


@pytest.mark.parametrize("name", NAMES)
def test_inference_equals_brute_force_and_verifies(name):
    """On 110 problems for each of 19 sets: ties, evidence, caps and groups included."""
    rng = np.random.default_rng(NAMES.index(name))
    infeasible = 0
    for number in range(110):
        problem, ys = random_case(rng, name)
        c = np.where(np.isfinite(problem.dense()), problem.dense(), 0.0)
        best = naive.best_value(c, ys)
        e = rt.infer(problem, prove=True)
        shown = f"{number}: {problem} {problem.log_odds.tolist()} {e}"
        report = rt.verify(problem, e)
        assert report, f"{report.reason} {shown}"
        if len(ys) == 0:
            infeasible += 1
            assert e.status is Status.INFEASIBLE, shown
            assert e.relation is None
            continue
        scale = 1 + float(np.abs(c).sum())
        # bounds in floats carry a margin that grows with the log-odds
        assert e.status is Status.OPTIMAL or e.gap <= 1e-8 * scale, shown
        assert e.value == pytest.approx(best, abs=1e-9 * scale), shown
        assert any(np.array_equal(e.relation.matrix(), y) for y in ys), shown
        assert e.bound >= best - 1e-12 * scale, shown
        below = replace(e.certificate, bound=best - 1e-3 * scale)
        lie = replace(e, bound=below.bound, certificate=below)
        assert not rt.verify(problem, lie), shown
    assert infeasible < 80


@pytest.mark.parametrize(
    ("feasible", "n"),
    [
        (rt.PREORDERS, 12),
        (rt.PARTIAL_ORDERS, 12),
        (rt.WEAK_ORDERS, 12),
        (rt.EQUIVALENCES, 20),
        (rt.LINEAR_ORDERS, 20),
    ],
    ids=str,
)
def test_medium_problems_are_proved(feasible, n):
    rng = np.random.default_rng(1)
    problem = rt.Problem(rng.integers(-9, 10, (n, n)).astype(float), feasible)
    e = rt.infer(problem, prove=True)
    assert e.status is Status.OPTIMAL
    assert e.gap == 0.0 or e.gap < 1e-6
    assert rt.verify(problem, e)


def test_results_are_of_the_compact_kind():
    c = np.random.default_rng(0).normal(size=(4, 4))
    kinds = {
        rt.EQUIVALENCES: Partition, rt.LINEAR_ORDERS: LinearOrder, rt.WEAK_ORDERS: WeakOrder,
        rt.MAPS: Map, rt.BIJECTIONS: Map, rt.PARTIAL_MAPS: PartialMap,
        rt.PREORDERS: rt.Relation, rt.RELATIONS: rt.Relation,
    }  # fmt: skip
    for feasible, kind in kinds.items():
        assert type(rt.infer(rt.Problem(c, feasible)).relation) is kind


# --- starts, limits, monitors, interrupts -------------------------------------------------------


def hard(n=26, seed=0):
    rng = np.random.default_rng(seed)
    return rt.Problem(rng.normal(size=(n, n)), rt.PARTIAL_ORDERS)


def test_a_start_is_never_lost():
    rng = np.random.default_rng(5)
    for _ in range(20):
        problem = rt.Problem(rng.normal(size=(4, 4)), rt.EQUIVALENCES)
        best = rt.infer(problem, prove=True)
        for solver in ("auto", "branch_and_cut"):
            e = rt.infer(problem, solver=solver, start=best.relation, time_limit=1e-9)
            assert e.value == best.value
            assert rt.verify(problem, e)
            plain = rt.infer(problem, solver=solver, start=rt.Relation(best.relation.matrix()))
            assert plain.value == pytest.approx(best.value)


def test_out_of_time_is_told_truthfully():
    for limit in (1e-9, 0.05, 0.3):
        problem = hard()
        e = rt.infer(problem, time_limit=limit, prove=True)
        assert rt.verify(problem, e), rt.verify(problem, e).reason
        assert e.status in (Status.FEASIBLE, Status.OPTIMAL)
        if e.status is Status.FEASIBLE:
            assert e.gap > 1e-6
            assert e.stats["stopped"]
    tiny = rt.infer(hard(), time_limit=1e-9)
    assert tiny.bound >= rt.infer(hard(), time_limit=1.0).value


def test_a_monitor_hears_of_progress_and_can_stop():
    heard = []

    def stop_at_third(progress):
        heard.append(progress)
        return len(heard) == 3

    problem = hard()
    e = rt.infer(problem, solver="branch_and_cut", monitor=stop_at_third)
    assert 3 <= len(heard) <= 4  # the last one tells of the result
    assert e.status is Status.FEASIBLE
    assert rt.verify(problem, e)
    for p, q in pairwise(heard[:3]):
        assert p.seconds <= q.seconds
        assert p.value <= q.value
        assert p.nodes <= q.nodes
        assert q.bound <= p.bound + 1e-9
    assert heard[-1].bound >= e.value
    assert heard[-1].value <= e.value


def test_only_true_stops():
    calls = []
    e = rt.infer(
        hard(10), solver="branch_and_cut", monitor=lambda p: calls.append(p) or 1, time_limit=20
    )
    assert e.status is Status.OPTIMAL
    assert calls


def two_blocks():
    """Must-links and two components: contraction, components and a solver, nested."""
    rng = np.random.default_rng(3)
    c = np.full((40, 40), -1.0)
    for s in (slice(0, 20), slice(20, 40)):
        c[s, s] = rng.normal(size=(20, 20))
    return rt.Problem(c, rt.EQUIVALENCES & rt.evidence(related=[(0, 1), (20, 21)]))


def test_stopping_reaches_nested_parts():
    problem = two_blocks()
    calls = []

    def stop(progress):
        calls.append(progress)
        return True

    e = rt.infer(problem, solver="branch_and_cut", monitor=stop, time_limit=30)
    assert len(calls) <= 3  # nothing is worked on after the first report
    assert rt.verify(problem, e)
    assert e.relation is not None


def test_an_interrupt_returns_the_best_so_far():
    problem = hard()
    calls = []

    def interrupt(progress):
        calls.append(progress)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    e = rt.infer(problem, solver="branch_and_cut", monitor=interrupt)
    assert len(calls) <= 4
    assert signal.getsignal(signal.SIGINT) is before
    assert e.status is Status.FEASIBLE
    assert rt.verify(problem, e)


def test_a_second_interrupt_is_not_swallowed():
    def interrupt(progress):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        rt.infer(hard(), solver="branch_and_cut", monitor=interrupt)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_ctrl_c_in_a_process_of_its_own():
    code = (
        "import os, signal, threading, numpy as np, relatum as rt\n"
        "p = rt.Problem(np.random.default_rng(0).normal(size=(30, 30)), rt.PARTIAL_ORDERS)\n"
        "rt.infer(p, time_limit=0.01)\n"  # imports and compiles
        "def later(progress):\n"
        "    if later.armed:\n"
        "        later.armed = False\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "later.armed = True\n"
        "e = rt.infer(p, time_limit=300, solver='branch_and_cut', monitor=later)\n"
        "assert e.status is rt.Status.FEASIBLE, e\n"
        "assert rt.verify(p, e)\n"
        "print('politely')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "politely"


# --- the same again -----------------------------------------------------------------------------


def same(one, two):
    return (
        one.status is two.status
        and one.relation == two.relation
        and one.value == two.value
        and one.bound == two.bound
    )


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_many_at_once_equal_one_by_one(backend):
    rng = np.random.default_rng(6)
    problems = [random_case(rng, name)[0] for name in NAMES]
    one_by_one = [rt.infer(p, prove=True, seed=3) for p in problems]
    with joblib.parallel_backend(backend, n_jobs=2):
        at_once = infer_many(problems, n_jobs=2, prove=True, seed=3)
    assert all(map(same, one_by_one, at_once))
    assert all(rt.verify(p, e) for p, e in zip(problems, at_once, strict=True))


def test_the_same_seed_gives_the_same_result():
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PREORDERS):
        problem = rt.Problem(np.random.default_rng(7).normal(size=(9, 9)), feasible)
        one, two = (rt.infer(problem, prove=True, seed=5) for _ in range(2))
        assert same(one, two)
        assert pickle.dumps(one.certificate) == pickle.dumps(two.certificate)
        assert same(pickle.loads(pickle.dumps(one)), one)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        ({"solver": "magic"}, SolverError, ["'magic'", '"auto"', "branch_and_cut", "threshold"]),
        ({"solver": "assignment"}, SolverError, ["'assignment'", "it solves", "branch_and_cut"]),
        ({"time_limit": 0}, ProblemError, ["time_limit", "positive", "0"]),
        ({"time_limit": -1.0}, ProblemError, ["-1.0"]),
        ({"time_limit": math.nan}, ProblemError, ["nan"]),
        ({"time_limit": None}, ProblemError, ["time_limit", "None", "float('inf')"]),
        ({"time_limit": "5"}, ProblemError, ["time_limit", "'5'"]),
        ({"seed": -1}, ProblemError, ["seed", "integer from 0 on", "-1"]),
        ({"seed": "x"}, ProblemError, ["seed", "'x'"]),
        ({"monitor": 3}, ProblemError, ["monitor", "function", "int"]),
        ({"start": rt.Partition([0, 0])}, ProblemError, ["(2, 2)", "(3, 3)"]),
        ({"start": rt.LinearOrder([0, 1, 2])}, ProblemError, ["SYMMETRIC", "leave it out"]),
        ({"start": [0, 0, 0]}, ProblemError, ["start", "Partition(labels)", "list"]),
    ],
)
def test_bad_arguments(arguments, error, parts):
    with pytest.raises(error) as caught:
        rt.infer(rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES), **arguments)
    for part in parts:
        assert part in str(caught.value)


def test_something_else_than_a_problem():
    with pytest.raises(ProblemError, match=r"got ndarray; build one with Problem"):
        rt.infer(np.zeros((3, 3)))
    with pytest.raises(ProblemError, match="must be feasible"):
        rt.infer(
            rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES & rt.evidence([(0, 1)])),
            start=rt.Partition([0, 1, 2]),
        )


@pytest.mark.parametrize("prove", ["yes", 1, None, [], 0.0])
def test_prove_is_a_switch(prove):
    with pytest.raises(rt.errors.ProblemError, match=r"^prove is True or False, got "):
        rt.infer(rt.Problem([1.0], rt.EQUIVALENCES), prove=prove)


def test_many_problems_are_a_list_of_problems():
    with pytest.raises(rt.errors.ProblemError, match="a list of problems, got 3"):
        rt.infer_many(3)
    with pytest.raises(rt.errors.ProblemError, match="got list"):
        rt.infer_many([[1.0]])


# --- time, interrupts, and proving ----------------------------------------------------------------


class _Ticks:
    """A clock on which every look takes a second."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return float(self.looks)


def _limited_problems():
    rng = np.random.default_rng(3)
    n = 60
    c, chain = rng.normal(size=(n, n)), np.column_stack([np.arange(9), np.arange(1, 10)])
    orders = rt.PREORDERS, rt.PARTIAL_ORDERS, rt.WEAK_ORDERS, rt.LINEAR_ORDERS
    return [
        *(rt.Problem(c, s & rt.evidence(related=chain)) for s in orders),
        rt.Problem(c, rt.EQUIVALENCES),
        rt.Problem(c, rt.EQUIVALENCES & rt.at_most(4)),
        rt.Problem(c[:30, :30], rt.TRANSITIVE),
    ]


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("prove", [False, True])
def test_little_is_done_when_time_is_up(number, prove):
    problem = _limited_problems()[number]
    for name, solver in SOLVERS.items():
        other_clock = name == "branch_and_cut_scip"  # SCIP counts its seconds by itself
        if solver.refuses(problem) is not None or solver.proves != prove or other_clock:
            continue
        for limit in (3.0, 12.0):
            clock = _Ticks()
            control = Control(time_limit=limit, prove=prove, clock=clock)
            outcome = solver.run(problem, control)
            # every kernel stops at its next look, and little begins after the end
            assert clock.looks < limit + 150, name
            assert outcome.relation is None or problem.feasible.contains(outcome.relation)


@pytest.mark.parametrize(
    "feasible", [rt.LINEAR_ORDERS, rt.PREORDERS, rt.PARTIAL_ORDERS, rt.WEAK_ORDERS, rt.EQUIVALENCES]
)
@pytest.mark.slow
def test_a_proof_is_not_worse_and_the_default_is_bounded(feasible):
    for seed in range(2):
        n = 45 if feasible != rt.LINEAR_ORDERS else 65
        problem = rt.Problem(np.random.default_rng(seed).normal(size=(n, n)), feasible)
        default = rt.infer(problem, seed=seed)
        assert default.bound < trivial_bound(problem)[0]
        assert rt.verify(problem, default).ok

        def after_the_root(progress):
            return progress.nodes > 1

        proof = rt.infer(problem, prove=True, seed=seed, monitor=after_the_root)
        assert proof.value >= default.value
        assert rt.verify(problem, proof).ok


def test_a_search_that_its_share_of_the_time_ends_says_so():
    problem = rt.Problem(np.random.default_rng(0).normal(size=(300, 300)), rt.EQUIVALENCES)
    e = rt.infer(problem, solver="partition_memetic", time_limit=0.5)
    assert e.stats["stopped"]
    assert "interrupted" not in e.stats
    told = rt.infer(problem, solver="partition_memetic", monitor=lambda progress: True)
    assert told.stats["stopped"]
    assert told.stats["interrupted"]


@pytest.mark.parametrize("size", [1.7e308, -1.7e308, 1e307])
def test_log_odds_whose_sums_are_no_floats_are_refused(size):
    """Penalties above them would be infinite, and local search would not come to an end."""
    rng = np.random.default_rng(0)
    with pytest.raises(ProblemError, match=r"add up to more|at most 2.*1000 bits"):
        rt.infer(rt.Problem(size * rng.random(10), rt.EQUIVALENCES & rt.at_most(3)), prove=True)
    large = rt.Problem(1e300 * rng.normal(size=10), rt.EQUIVALENCES & rt.at_most(3))
    found = rt.infer(large, prove=True, time_limit=10)
    best = max(
        large.exact_value(rt.Partition(labels))
        for labels in itertools.product(range(5), repeat=5)
        if np.bincount(labels).max() <= 3
    )
    assert large.exact_value(found.relation) == best
