"""A problem is divided: reduce it as far as its solver wants, solve the parts, put them together.

Reductions are applied one after another, and each part is a problem of its own, so that the
function that solves them calls itself. Where a proof is asked for, all parts are searched first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from relatum.errors import RelatumError, SolverError
from relatum.problem import (
    EQUIVALENCES,
    NAMED_SETS,
    PREORDERS,
    FeasibleSet,
    Problem,
    Relation,
    SparseScores,
    float_up,
    nearest_float,
    require_memory,
)
from relatum.proof import Proof, find_conflict
from relatum.solvers.control import Control
from relatum.solvers.partition import affordable_bound
from relatum.solvers.reductions import Bound, Reduced, first_reduction
from relatum.solvers.registry import Outcome, Solver, choose
from relatum.solvers.trivial_bound import trivial_bound

FEW_ELEMENTS = 40  # up to which parts are proved without being asked to, or searched in no time
# per ordered pair, measured: what each solver makes besides the problem, without proving
BYTES = {"argmax": 8, "assignment": 34, "threshold": 44, "orders": 120, "others": 28}


def choose_any(problem: Problem, name: str, prove: bool) -> Solver:
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


def solve_divided(
    problem: Problem, control: Control, name: str = "auto", done: frozenset[str] = frozenset()
) -> Outcome:
    """Reduce as far as the solver wants, solve the parts, put them together.

    Parameters
    ----------
    problem : Problem
    control : Control
    name : str
        Of a solver, or "auto".
    done : frozenset of str
        Reductions not to be applied, by name: they have been.
    """
    solver = choose_any(problem, name, control.prove)
    reduction = None if solver.exact else first_reduction(problem, done, solver.decompose)
    if reduction is None:
        _require_memory(problem, solver)
        return solver.run(problem, control)
    reduced, done = reduction.apply(problem), done | {reduction.name}
    if reduction.always and name != "auto" and solver.refuses(reduced.parts[0]) is not None:
        return solve_divided(problem, control, name, done)
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
    return better_start(problem, reduced.start, _put_together(reduced, outcomes, control))


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
        outcomes.append(solve_divided(part, child, name, done | reduced.without))
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
        outcomes[k] = solve_divided(part, child, name, done | reduced.without)
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


def better_start(problem: Problem, start: Relation | None, outcome: Outcome) -> Outcome:
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
        relation = solve_divided(trial, child).relation
        if relation is not None and trial.exact_value(relation) > value:
            best, value = relation, trial.exact_value(relation)
    if best is None:
        raise SolverError(otherwise)
    return Outcome(best)
