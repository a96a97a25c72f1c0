"""The bound to report where a solver has proved none: as good as time allows."""

from __future__ import annotations

from relatum.bounds import trivial_bound
from relatum.certificate import Proof
from relatum.feasible import EQUIVALENCES
from relatum.packing import packing_bound
from relatum.problem import Problem
from relatum.solvers.control import Control

__all__ = ["affordable_bound"]

SECONDS_A_PAIR = 3e-7  # of packing conflicts, on a slow machine
LONGER = 5.0  # how much longer the thorough packing takes


def affordable_bound(problem: Problem, control: Control) -> tuple[float, Proof]:
    """Return a bound and its proof.

    Clusterings get the packing bound if it takes no more than the time left, or a quarter
    of the time limit where a heuristic has used it up; everything else is bounded pair by
    pair.
    """
    if not problem.feasible <= EQUIVALENCES:
        return trivial_bound(problem)
    seconds = SECONDS_A_PAIR * problem.log_odds.size
    left = control.remaining()
    if seconds > max(left, 0.25 * control.time_limit):
        return trivial_bound(problem)
    return packing_bound(problem, control.prove and LONGER * seconds <= left, control.seed)
