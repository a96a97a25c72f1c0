"""The list of solvers: what each solves, whether it proves, and when `auto` prefers it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from relatum.errors import SolverError
from relatum.problem import Problem, Relation, shown
from relatum.proof import Proof
from relatum.solvers.control import Control


@dataclass(frozen=True)
class Outcome:
    """What a solver returns.

    Attributes
    ----------
    relation : Relation or None
        The best feasible relation found, of the compact kind where there is one.
    bound : float or Fraction
        A valid upper bound on the value, +inf if none; -inf if nothing is feasible.
    proof : Proof or None
        Proves the bound, in the terms of the problem given to the solver; None only if
        the bound is infinite.
    stats : mapping
        Nodes, rows, rounds, whatever was counted.
    """

    relation: Relation | None
    bound: float | Fraction = math.inf
    proof: Proof | None = None
    stats: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Solver:
    """One algorithm.

    Attributes
    ----------
    name : str
    summary : str
        One sentence for the documentation.
    proves : bool
        Whether, given time, it closes the gap.
    refuses : callable (problem) -> str or None
        None if the problem is of a kind it solves, else the reason, as the end of the
        sentence "it ...".
    run : callable (problem, control) -> Outcome
    rank : callable (problem, prove) -> float
        `auto` takes the accepted solver of least rank; infinity means "only by name".
    decompose : bool
        Whether `infer` should first apply the lossless reductions (contraction of
        must-links, components) and call it on the parts.
    exact : bool
        Whether its bounds are not rounded, so that large log-odds do no harm.
    """

    name: str
    summary: str
    proves: bool
    refuses: Callable[[Problem], str | None]
    run: Callable[[Problem, Control], Outcome]
    rank: Callable[[Problem, bool], float]
    decompose: bool = False
    exact: bool = False


SOLVERS: dict[str, Solver] = {}


def register(solver: Solver) -> Solver:
    """Add a solver; a name can be taken once."""
    if solver.name in SOLVERS:
        raise SolverError(f"A solver named {solver.name!r} is registered already.")
    SOLVERS[solver.name] = solver
    return solver


def solver_named(name: str) -> Solver:
    """Return a solver by name."""
    if not isinstance(name, str) or name not in SOLVERS:
        known = ", ".join(sorted(SOLVERS))
        raise SolverError(f'There is no solver named {shown(name)}; there are "auto", {known}.')
    return SOLVERS[name]


def choose(problem: Problem, name: str, prove: bool) -> Solver:
    """Return the solver to use.

    Raises
    ------
    SolverError
        If the named solver refuses the problem, or if none accepts it; the message lists
        each solver and its reason.
    """
    if not (isinstance(name, str) and name == "auto"):
        solver = solver_named(name)
        reason = solver.refuses(problem)
        if reason is not None:
            raise SolverError(
                f'Solver {name!r} cannot take {problem}: it {reason}. Use solver="auto", or one '
                f"of: {', '.join(s.name for s in SOLVERS.values() if s.refuses(problem) is None)}."
            )
        return solver
    reasons = {s.name: s.refuses(problem) for s in SOLVERS.values()}
    accepted = [s for s in SOLVERS.values() if reasons[s.name] is None]
    ranked = sorted((s.rank(problem, prove), not s.proves, k) for k, s in enumerate(accepted))
    if not ranked or math.isinf(ranked[0][0]):
        each = "; ".join(f"{n}: it {r or 'runs only by name'}" for n, r in reasons.items())
        raise SolverError(f"No solver accepts {problem}: {each}.")
    return accepted[ranked[0][2]]
