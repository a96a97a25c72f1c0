"""Inference: choose a solver, reduce, run, invert, and say how sure the result is."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from numbers import Integral, Real
from typing import Any

from relatum.errors import ProblemError, RelatumError, SolverError
from relatum.live import Line, line, silence
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    NAMED_SETS,
    PARTIAL_MAPS,
    PREORDERS,
    WEAK_ORDERS,
    Evidence,
    FeasibleSet,
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Problem,
    Relation,
    SparseScores,
    WeakOrder,
    float_up,
    nearest_float,
    require_memory,
    shown,
    switch,
)
from relatum.proof import (
    Certificate,
    Estimate,
    Proof,
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
    choose,
    polite_interrupts,
    trivial_bound,
)
from relatum.solvers.order import order_many
from relatum.solvers.partition import affordable_bound
from relatum.solvers.reductions import Bound, Reduced, checkable, first_reduction

__all__ = ["infer", "infer_many"]

LARGEST_SUM = 1e303  # bits, so that penalties above all log-odds together are floats, too
FEW_ELEMENTS = 40  # up to which parts are proved without being asked to, or searched in no time
REASONING_LIMIT = 250_000  # pairs up to which evidence is checked step by step beforehand
# per ordered pair, measured: what each solver makes besides the problem, without proving
BYTES = {"argmax": 8, "assignment": 34, "threshold": 44, "orders": 120, "others": 28}
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
    chosen = _choose(problem, solver, prove)
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
        outcome = _solve(problem, control, solver, frozenset())
        outcome = _better_start(problem, control.start, outcome)
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


def _choose(problem: Problem, name: str, prove: bool) -> Solver:
    """Choose a registered solver; failing that, one that starts from smaller sets."""
    try:
        return choose(problem, name, prove)
    except SolverError as error:
        if not isinstance(name, str) or name != "auto" or not _smaller_problems(problem):
            raise
        return Solver(
            "neighbours",
            "Starts from smaller feasible sets.",
            proves=False,
            refuses=lambda problem: None,
            run=partial(_from_neighbours, str(error)),
            rank=lambda problem, prove: math.inf,
        )


def _solve(problem: Problem, control: Control, name: str, done: frozenset[str]) -> Outcome:
    """Reduce as far as the solver wants, solve the parts, put them together."""
    solver = _choose(problem, name, control.prove)
    reduction = None if solver.exact else first_reduction(problem, done, solver.decompose)
    if reduction is None:
        _require_memory(problem, solver)
        return solver.run(problem, control)
    reduced, done = reduction.apply(problem), done | {reduction.name}
    if reduction.always and name != "auto" and solver.refuses(reduced.parts[0]) is not None:
        return _solve(problem, control, name, done)
    starts: Sequence[Relation | None] = [None] * len(reduced.parts)
    if control.start is not None:
        starts = reduced.divide(control.start)
    several = sum(max(part.shape) > FEW_ELEMENTS for part in reduced.parts) > 1
    first = control
    if several and control.prove and name == "auto":
        # what is found without a proof comes first, of all parts: a proof of one takes no time
        # from the search of another
        first = control.child(control.start, control.remaining())
        first.prove = False
    outcomes = _solve_parts(reduced, starts, first, name, done)
    if first is not control and not any(o.bound == -math.inf for o in outcomes):
        outcomes = _prove_parts(reduced, outcomes, control, name, done)
    if outcomes and outcomes[-1].bound == -math.inf:
        return _part_infeasible(problem, reduced, outcomes[-1])
    return _better_start(problem, reduced.start, _put_together(reduced, outcomes, control))


def _solve_parts(
    reduced: Reduced,
    starts: Sequence[Relation | None],
    control: Control,
    name: str,
    done: frozenset[str],
) -> list[Outcome]:
    """Solve the parts of a problem, the smallest first; end with one that is infeasible."""
    outcomes: list[Outcome] = []
    tally = _Tally(reduced, outcomes)
    left = sum(part.n_pairs for part in reduced.parts)
    gap = Fraction(control.gap)  # that is left for the parts still to be solved
    for number, (part, start) in enumerate(zip(reduced.parts, starts, strict=True)):
        # parts come smallest first and most take no time at all: a part may use half of what
        # is left even if it is small
        share = max(0.5, part.n_pairs / max(1, left))
        if start is not None and not part.feasible.contains(start):
            start = None  # what the reduction has decided does not agree with it
        others = cache(partial(tally.others, number))
        child = control.child(start, control.remaining() * share, others)
        child.gap = float(max(gap, Fraction(0)) / (len(reduced.parts) - number))
        outcomes.append(_solve(part, child, name, done | reduced.without))
        left -= part.n_pairs
        tally.update(number)
        if outcomes[-1].bound == -math.inf:
            break
        if number + 1 < len(reduced.parts):
            gap -= _gap_of(part, outcomes[-1], child.gap)
    return outcomes


def _prove_parts(
    reduced: Reduced, found: list[Outcome], control: Control, name: str, done: frozenset[str]
) -> list[Outcome]:
    """Prove what was found of the parts, and improve it; those that are proved stay as they are."""
    outcomes, gap, waiting = list(found), Fraction(control.gap), []
    for k, (part, outcome) in enumerate(zip(reduced.parts, found, strict=True)):
        allowed = max(gap, Fraction(0)) / (len(found) - k)
        own = _gap(part, outcome)
        if own is not None and own <= allowed:
            gap -= own
        else:
            waiting.append(k)
    left, tally = sum(reduced.parts[k].n_pairs for k in waiting), _Tally(reduced, outcomes)
    for number, k in enumerate(waiting):
        part, count = reduced.parts[k], len(waiting) - number
        share = max(1 / count, part.n_pairs / max(1, left))
        others = cache(partial(tally.others, k))
        child = control.child(outcomes[k].relation, control.remaining() * share, others)
        child.gap, child.searched = float(max(gap, Fraction(0)) / count), True
        outcomes[k] = _solve(part, child, name, done | reduced.without)
        tally.update(k)
        left -= part.n_pairs
        if outcomes[k].bound == -math.inf:
            return outcomes[: k + 1]
        gap -= _gap_of(part, outcomes[k], child.gap)
    return outcomes


def _gap(part: Problem, outcome: Outcome) -> Fraction | None:
    """Return what is between value and bound of a part; None if it lacks either."""
    if outcome.relation is None or math.isinf(outcome.bound):
        return None
    return Fraction(outcome.bound) - part.exact_value(outcome.relation)


def _gap_of(part: Problem, outcome: Outcome, allowed: float) -> Fraction:
    """Return what a part leaves of the gap between value and bound, if it is solved."""
    gap = _gap(part, outcome)
    return gap if gap is not None and gap <= Fraction(allowed) else Fraction(0)


def _better_start(problem: Problem, start: Relation | None, outcome: Outcome) -> Outcome:
    """Return the outcome with a relation that is known, if that is better."""
    if start is None or outcome.bound == -math.inf:
        return outcome
    found = outcome.relation
    if found is not None and problem.exact_value(found) >= problem.exact_value(start):
        return outcome
    return replace(outcome, relation=start)


def _require_memory(problem: Problem, solver: Solver) -> None:
    """Refuse a problem that its solver cannot hold in memory, before anything is made."""
    if isinstance(problem.scores, SparseScores) and problem.feasible <= EQUIVALENCES:
        return  # lists of pairs are checked where they are made
    order = problem.feasible <= PREORDERS and not problem.feasible.has("symmetric")
    needed = BYTES.get(solver.name, BYTES["orders" if order else "others"])
    require_memory(
        needed * problem.shape[0] * problem.shape[1],
        f"The solver {solver.name}, for {problem.shape[0]} x {problem.shape[1]} pairs of "
        f"{problem.feasible.structure},",
        "equivalences can be given as listed pairs (Problem.from_pairs) and tables of pairs go to "
        "cluster_pairs, on DuckDB; of other relations, solve parts one by one",
    )


class _Tally:
    """Value and bound of all parts but one, for reports of that one; summed up when asked for.

    Parameters
    ----------
    reduced : Reduced
    outcomes : list of Outcome
        Of the parts, from the first on; it may grow, and `update` tells of new ones.
    """

    def __init__(self, reduced: Reduced, outcomes: list[Outcome]) -> None:
        self.reduced, self.outcomes = reduced, outcomes
        self.known: list[tuple[float, float]] | None = None  # value and bound of each part
        self.value, self.bound, self.missing = 0.0, 0.0, 0  # of all, and how many have no value

    def update(self, k: int) -> None:
        """Note that a part has an outcome, or another one."""
        if self.known is not None:
            self._count(k, -1)
            self.known[k] = self._of(k)
            self._count(k, 1)

    def others(self, k: int) -> tuple[float, float]:
        """Return value and bound of all parts but one; -inf while some have no value."""
        constant = nearest_float(self.reduced.constant)
        if len(self.reduced.parts) == 1:
            return constant, constant
        if self.known is None:
            self.known = [self._of(j) for j in range(len(self.reduced.parts))]
            for j in range(len(self.known)):
                self._count(j, 1)
        value, bound = self.known[k]
        missing = self.missing - (value == -math.inf)
        known = 0.0 if value == -math.inf else value
        return (
            -math.inf if missing else constant + self.value - known,
            constant + self.bound - bound,
        )

    def _of(self, k: int) -> tuple[float, float]:
        part = self.reduced.parts[k]
        outcome = self.outcomes[k] if k < len(self.outcomes) else Outcome(None)
        found, bound = outcome.relation, min(outcome.bound, trivial_bound(part)[0])
        return -math.inf if found is None else part.value(found), float_up(bound)

    def _count(self, k: int, sign: int) -> None:
        assert self.known is not None
        value, bound = self.known[k]
        self.bound += sign * bound
        if value == -math.inf:
            self.missing += sign
        else:
            self.value += sign * value


def _part_infeasible(problem: Problem, reduced: Reduced, outcome: Outcome) -> Outcome:
    """Restate, for the whole problem, that one part of it is infeasible."""
    if len(reduced.parts) == 1 and outcome.proof is not None:
        proof = reduced.prove([-math.inf], [outcome.proof])[1]
        return Outcome(None, -math.inf, proof, outcome.stats)
    whole = find_conflict(problem)
    known = whole.certificate.proof if whole is not None else None
    return Outcome(None, -math.inf, known, outcome.stats)


def _put_together(reduced: Reduced, outcomes: Sequence[Outcome], control: Control) -> Outcome:
    stats: dict[str, Any] = {}
    for outcome in outcomes:
        for key, value in outcome.stats.items():
            if isinstance(value, int | float):
                stats[key] = stats.get(key, 0) + value
            elif len(outcomes) == 1:
                stats[key] = value
    stats.setdefault("parts", len(outcomes))
    relations = [o.relation for o in outcomes]
    relation = None
    if all(r is not None for r in relations):
        relation = reduced.invert([r for r in relations if r is not None])
    proofs: list[Proof] = []
    bounds: list[Bound] = []
    for part, outcome in zip(reduced.parts, outcomes, strict=True):
        bound, proof = outcome.bound, outcome.proof
        if proof is None:
            bound, proof = affordable_bound(part, control, outcome.relation)
        bounds.append(bound)
        proofs.append(proof)
    total, proof = reduced.prove(bounds, proofs)
    return Outcome(relation, total, proof, stats)


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


def _smaller_problems(problem: Problem) -> list[Problem]:
    """Return the problem over the named sets within its set, where these can be asked."""
    extras = FeasibleSet(
        p for p in problem.feasible.properties if p.name in ("evidence", "one_per_group", "at_most")
    )
    smaller = [s & extras for s in NAMED_SETS.values() if s & extras < problem.feasible]
    problems = []
    for feasible in smaller:
        try:
            trial = problem.with_feasible(feasible)
            choose(trial, "auto", False)
            problems.append(trial)
        except RelatumError:
            continue  # no solver for this one either
    return problems


def _from_neighbours(otherwise: str, problem: Problem, control: Control) -> Outcome:
    """Take the best relation that solvers of smaller sets find; it is feasible here too."""
    best: Relation | None = None
    value: Bound = -math.inf
    trials = _smaller_problems(problem)
    for number, trial in enumerate(trials):
        child = control.child(None, control.remaining() / (len(trials) - number))
        relation = _solve(trial, child, "auto", frozenset()).relation
        if relation is not None and trial.exact_value(relation) > value:
            best, value = relation, trial.exact_value(relation)
    if best is None:
        raise SolverError(otherwise)
    return Outcome(best)
