"""The bound to report where a solver has proved none: as good as time allows."""

from __future__ import annotations

import math

from relatum.bounds import trivial_bound
from relatum.certificate import Leaf, Proof
from relatum.feasible import EQUIVALENCES
from relatum.packing import packing_bound
from relatum.problem import Problem
from relatum.relation import Relation
from relatum.scores import SparseScores
from relatum.solvers.control import Control
from relatum.solvers.path_relaxation import QUICK, THOROUGH, PathRelaxation

__all__ = ["affordable_bound"]

SECONDS_A_PAIR = 3e-7  # of packing conflicts, on a slow machine
LONGER = 5.0  # how much longer the thorough packing takes
MOST_COLUMNS = 2_000_000  # listed pairs up to which paths are separated, if proofs are wanted
MOST_QUICK = 300_000  # and if they are not


def affordable_bound(
    problem: Problem, control: Control, relation: Relation | None = None
) -> tuple[float, Proof]:
    """Return a bound and its proof.

    Clusterings get the packing bound if it takes no more than the time left, or a quarter
    of the time limit where a heuristic has used it up; everything else is bounded pair by
    pair. In what time is left the packing bound is improved: for about as long as a
    heuristic takes, or, where proofs are wanted, until that does not pay any more.

    Parameters
    ----------
    problem : Problem
    control : Control
    relation : Relation, optional
        The best relation that is known.
    """
    if not problem.feasible <= EQUIVALENCES:
        return trivial_bound(problem)
    seconds = SECONDS_A_PAIR * problem.log_odds.size
    left = control.remaining()
    if seconds > max(left, 0.25 * control.time_limit):
        return trivial_bound(problem)
    value = -math.inf if relation is None else problem.value(relation)
    bound, proof = packing_bound(problem, control.prove and LONGER * seconds <= left, control.seed)
    if control.expired() or bound <= value:
        return bound, proof
    if isinstance(problem.scores, SparseScores) and problem.background <= 0:
        return _with_paths(problem, proof, value, control) or (bound, proof)
    return bound, proof


def _with_paths(
    problem: Problem, proof: Proof, value: float, control: Control
) -> tuple[float, Proof] | None:
    """Improve the packing bound of a sparse problem by separating paths."""
    most = MOST_COLUMNS if control.prove else MOST_QUICK
    if problem.log_odds.size > most or not isinstance(proof, Leaf):
        return None
    relaxation = PathRelaxation(problem, proof.cuts)
    relaxation.improve(THOROUGH if control.prove else QUICK, value, control)
    return relaxation.proved()
