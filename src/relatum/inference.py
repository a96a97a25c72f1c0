"""Inference: check what is asked, choose a solver, run it, and say how sure the result is."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from relatum.errors import ProblemError, SolverError
from relatum.live import Line, line, silence
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    PARTIAL_MAPS,
    WEAK_ORDERS,
    Evidence,
    FeasibleSet,
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Problem,
    Relation,
    WeakOrder,
    float_up,
    nearest_float,
    shown,
    switch,
)
from relatum.proof import (
    Certificate,
    Estimate,
    Status,
    closes,
    find_conflict,
    sentence_of,
    smallest,
)
from relatum.solvers import (
    Control,
    Monitor,
    Outcome,
    Progress,
    Solver,
    better_start,
    choose_any,
    polite_interrupts,
    solve_divided,
)
from relatum.solvers.order import order_many
from relatum.solvers.partition import affordable_bound
from relatum.solvers.reductions import checkable

__all__ = ["infer", "infer_many"]

LARGEST_SUM = 1e303  # bits, so that penalties above all log-odds together are floats, too
REASONING_LIMIT = 250_000  # pairs up to which evidence is checked step by step beforehand
KINDS: tuple[tuple[FeasibleSet, type[Relation]], ...] = (
    (EQUIVALENCES, Partition),
    (LINEAR_ORDERS, LinearOrder),
    (WEAK_ORDERS, WeakOrder),
    (MAPS, Map),
    (PARTIAL_MAPS, PartialMap),
)


def infer(
    problem: Problem,
    solver: str = "auto",
    prove: bool = False,
    time_limit: float = 60.0,
    start: Relation | Mapping[Any, Any] | None = None,
    seed: int = 0,
    monitor: Monitor | None = None,
    verbose: bool | None = None,
) -> Estimate:
    """Estimate a most probable feasible relation.

    Parameters
    ----------
    problem : Problem
    solver : str
        "auto", or the name of a registered solver.
    prove : bool
        Ask for proven optimality: prefer solvers that close the gap.
    time_limit : float
        Seconds after which the best relation and bound so far are returned, at most 0.2 s or
        5 % later. The first Ctrl-C does the same within half a second.
    start : Relation, mapping or pandas Series, optional
        A feasible relation to start from; the result is never worse. By names of elements: the
        label of each for clusterings, its rank for orders, its image for maps; see
        `Problem.relation_of`.
    seed : int
        The same seed gives the same result, whatever the number of threads.
    monitor : callable, optional
        Receives a `Progress` (seconds, value, bound, nodes, rows) now and then, and at the
        end; returning True stops.
    verbose : bool, optional
        By default, a call that takes longer than a second shows a line with value, bound, gap and
        seconds while it lasts, in terminals and notebooks and unless there is a monitor. False
        shows nothing, as ``RELATUM_PROGRESS=0`` in the environment does; True prints a line for
        each report to stderr instead.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from relatum.problem import EQUIVALENCES
    >>> e = infer(Problem([2.0, -1.0, 3.0], EQUIVALENCES), prove=True)
    >>> e.relation.labels.tolist(), e.value, e.status.name
    ([0, 0, 0], 4.0, 'OPTIMAL')
    """
    _require_problem(problem)
    first = start if start is None or isinstance(start, Relation) else problem.relation_of(start)
    _check_arguments(problem, time_limit, first)
    _check_seed_and_monitor(seed, monitor)
    switch(prove, "prove")
    heard = _monitor(monitor, verbose)
    control = Control(time_limit=time_limit, seed=seed, start=first, prove=prove, monitor=heard)
    control.whole = problem
    chosen = choose_any(problem, solver, prove)
    with silence(heard is not None or verbose is False), line("searching") as control.line:
        return _known_as(problem, _inferred(problem, solver, chosen, control))


def _monitor(monitor: Monitor | None, verbose: bool | None) -> Monitor | None:
    """Return what hears the reports: a monitor, stderr, or both."""
    if verbose is not None:
        switch(verbose, "verbose")
    if not verbose:
        return monitor

    def both(progress: Progress) -> Any:
        print(
            f"{progress.seconds:8.1f} s  value {progress.value:14.4f}  bound "
            f"{progress.bound:14.4f}  nodes {progress.nodes}",
            file=sys.stderr,
        )
        return None if monitor is None else monitor(progress)

    return both


def _known_as(problem: Problem, estimate: Estimate) -> Estimate:
    """Return an estimate that knows what the problem calls its elements, and a small problem."""
    named = estimate if problem.names is None else replace(estimate, names=problem.names)
    return named.drawn_with(problem)


def _inferred(problem: Problem, solver: str, chosen: Solver, control: Control) -> Estimate:
    with polite_interrupts(control):
        conflict = None
        if problem.shape[0] * problem.shape[1] <= REASONING_LIMIT and _has_facts(problem):
            conflict = find_conflict(problem, control.expired)
        if conflict is not None:
            return _infeasible(conflict.message, conflict.certificate, chosen, control, conflict)
        outcome = solve_divided(problem, control, solver)
        outcome = better_start(problem, control.start, outcome)
        estimate = _estimate(problem, outcome, chosen, control)
        control.report(
            estimate.value,
            estimate.bound,
            int(estimate.stats.get("nodes", 0)),
            int(estimate.stats.get("rows", 0)),
        )
        return estimate


def infer_many(
    problems: Iterable[Problem], *, n_jobs: int | None = -1, **arguments: Any
) -> list[Estimate]:
    """Infer many problems in parallel through joblib, in order.

    Small problems over LINEAR_ORDERS, with evidence or without, are not sent around one by
    one: one kernel orders all of them.

    Parameters
    ----------
    problems : iterable of Problem
    n_jobs : int
        As in joblib, whose backends (loky, threading, dask, ray) all work.
    **arguments
        Passed on to `infer`. A `time_limit` holds for each problem, not for all together.

    Examples
    --------
    >>> import relatum as rt
    >>> problems = [rt.Problem([4.0, 3.0, last], rt.EQUIVALENCES) for last in (-1.0, -9.0)]
    >>> [e.relation.labels.tolist() for e in rt.infer_many(problems, n_jobs=1)]
    [[0, 0, 0], [0, 0, 1]]
    """
    try:
        given = list(problems)
    except TypeError:
        raise ProblemError(f"infer_many takes a list of problems, got {shown(problems)}.") from None
    for problem in given:
        _require_problem(problem)
    quiet = arguments.get("verbose") is False
    named = {k: v for k, v in arguments.items() if k != "verbose" or v}
    with silence(quiet or arguments.get("monitor") is not None), line("solving", True) as own:
        return _infer_all(given, named, n_jobs, own)


def _infer_all(
    given: list[Problem], arguments: dict[str, Any], n_jobs: int | None, own: Line
) -> list[Estimate]:
    from joblib import Parallel, delayed

    class Told(Parallel):
        def print_progress(self) -> None:
            own.say("problem", getattr(self, "n_completed_tasks", 0), len(rest))
            super().print_progress()

    estimates = order_many(given, arguments)
    rest = [k for k, e in enumerate(estimates) if e is None]
    try:
        later = Told(n_jobs=n_jobs)(delayed(infer)(given[k], **arguments) for k in rest)
    except BrokenExecutor as error:
        raise SolverError(
            "A worker of infer_many was killed or ran out of memory, and its problems are lost; "
            "give fewer workers (n_jobs=1 needs none), or smaller problems."
        ) from error
    for k, e in zip(rest, later, strict=True):
        estimates[k] = e
    return [_known_as(p, e) for p, e in zip(given, estimates, strict=True) if e is not None]


def _require_problem(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise ProblemError(
            f"infer takes a relatum.Problem, got {type(problem).__name__}; build one with "
            "Problem(log_odds, feasible)."
        )


def _check_arguments(problem: Problem, time_limit: Any, start: Relation | None) -> None:
    _check_sizes(problem)
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if not number or not time_limit > 0:
        raise ProblemError(
            f"time_limit is a positive number of seconds, got {shown(time_limit)}; "
            "float('inf') sets no limit."
        )
    if start is None:
        return
    if start.shape != problem.shape:
        raise ProblemError(f"start has shape {start.shape}, the problem {problem.shape}.")
    lacking = problem.feasible.first_violation(start)
    if lacking is not None:
        raise ProblemError(
            f"start must be feasible, but it lacks {problem.told(lacking)}; repair it or leave it "
            "out."
        )


def _check_sizes(problem: Problem) -> None:
    """Refuse log-odds whose sums are no floats: solvers add them up, and would not end."""
    c = problem.log_odds
    most = max(abs(problem.background), float(c.max(initial=0)), -float(c.min(initial=0)))
    if not most * problem.shape[0] * problem.shape[1] <= LARGEST_SUM:
        raise ProblemError(
            f"Log-odds of up to {most:g} bits add up to more than solvers can hold; give smaller "
            "ones, or +inf and -inf for certainty."
        )


def _check_seed_and_monitor(seed: Any, monitor: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        raise ProblemError(f"seed is an integer from 0 on, got {shown(seed)}.")
    if monitor is not None and not callable(monitor):
        raise ProblemError(
            "monitor is a function that is called with a Progress, such as print, got "
            f"{type(monitor).__name__}."
        )


def _has_facts(problem: Problem) -> bool:
    return bool(len(problem.evidence) or problem.feasible.groups)


def _estimate(problem: Problem, outcome: Outcome, solver: Solver, control: Control) -> Estimate:
    if outcome.bound == -math.inf:
        message, certificate = _explain_infeasible(problem, outcome, solver)
        return _infeasible(message, certificate, solver, control, None)
    relation, bound, proof = outcome.relation, outcome.bound, outcome.proof
    if proof is None:
        bound, proof = affordable_bound(problem, control, relation)
    if not solver.exact:
        bound, proof = checkable(problem, bound, proof)
    stopped = control.expired() or control.ended
    stats = {"seconds": control.seconds(), "stopped": stopped, **outcome.stats}
    stats["reports"] = control.reports
    if control.told_to_stop():
        stats["interrupted"] = True
    if relation is None:
        claim, status = float_up(bound), Status.BOUND_ONLY
        certificate = Certificate(claim, proof)
        return Estimate(status, None, -math.inf, claim, certificate, solver.name, stats=stats)
    for feasible, kind in KINDS:
        if problem.feasible <= feasible:
            relation = relation.to(kind)
            break
    value = problem.exact_value(relation)
    rounded, claim = nearest_float(value), float_up(max(bound, value))
    closed = closes(value, bound) and (
        claim <= math.nextafter(rounded, math.inf) or closes(value, claim)
    )
    status = Status.OPTIMAL if closed else Status.FEASIBLE
    certificate = Certificate(claim, proof)
    return Estimate(status, relation, rounded, claim, certificate, solver.name, stats=stats)


def _infeasible(
    message: str, certificate: Certificate | None, solver: Solver, control: Control, conflict: Any
) -> Estimate:
    stats: dict[str, Any] = {"seconds": control.seconds()}
    if conflict is not None:
        stats["conflict"] = conflict.evidence
    return Estimate(
        Status.INFEASIBLE, None, -math.inf, -math.inf, certificate, solver.name, message, stats
    )


def _explain_infeasible(
    problem: Problem, outcome: Outcome, solver: Solver
) -> tuple[str, Certificate | None]:
    """Name conflicting evidence where reasoning finds it, else try dropping pairs."""
    certificate = None
    if outcome.proof is not None:
        certificate = Certificate(-math.inf, outcome.proof)
    evidence = problem.evidence
    if 0 < len(evidence) <= 40:
        evidence = _needed(problem, evidence, solver)
    families = {p.name for p in problem.feasible.complete.properties}
    return sentence_of(problem.feasible, evidence, families, problem.name_of), certificate


def _needed(problem: Problem, evidence: Evidence, solver: Solver) -> Evidence:
    """Drop evidence pair by pair while the problem stays infeasible, within seconds."""
    control = Control(time_limit=5.0)
    others = FeasibleSet(p for p in problem.feasible.properties if not isinstance(p, Evidence))

    def conflicts(less: Evidence) -> bool:
        trial = problem.with_feasible(others & FeasibleSet([less]))
        if control.expired() or solver.refuses(trial) is not None:
            return False
        return solver.run(trial, control.child(None, control.remaining())).bound == -math.inf

    return smallest(evidence, conflicts)
