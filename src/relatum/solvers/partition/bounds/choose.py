"""The bound to report where a solver has proved none: as good as time allows."""

from __future__ import annotations

import math

import numpy as np

from relatum.array_types import Index
from relatum.problem import EQUIVALENCES, Partition, Problem, Relation, SparseScores
from relatum.proof import Cuts, Leaf, Proof
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.capped import capped_bound
from relatum.solvers.partition.bounds.guided import guided_bound
from relatum.solvers.partition.bounds.packing import MOST_DENSE, packing_bound
from relatum.solvers.partition.bounds.paths import QUICK, THOROUGH, PathRelaxation
from relatum.solvers.partition.bounds.triangles import triangle_bound
from relatum.solvers.trivial_bound import trivial_bound

__all__ = ["affordable_bound"]

SECONDS_A_PAIR = 3e-7  # of packing conflicts, on a slow machine
SECONDS_A_LISTED_PAIR = 5e-5  # of packing paths between listed pairs without a partition
LONGER = 5.0  # how much longer the thorough packing takes
MOST_COLUMNS = 2_000_000  # listed pairs up to which paths are separated, if proofs are wanted
MOST_QUICK = 300_000  # and if they are not
MOST_CUT = 2500  # elements up to which dense problems are cut, if proofs are wanted
QUICK_CUT = 500  # and if they are not
QUICK_EFFORT = (16, 1e8)  # rounds, and rows and triangles gone through: about a second


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
    bound, proof = _bound(problem, control, relation)
    cap = problem.feasible.cap
    if cap is not None and cap < problem.n and problem.background <= 0:
        return min((bound, proof), capped_bound(problem, proof), key=lambda found: found[0])
    return bound, proof


def _bound(problem: Problem, control: Control, relation: Relation | None) -> tuple[float, Proof]:
    """Bound a clustering; where there is a cap, most ways do not know of it."""
    seconds = SECONDS_A_PAIR * problem.log_odds.size
    left = control.remaining()
    if seconds > max(left, 0.25 * control.time_limit):
        return trivial_bound(problem)
    thorough = control.prove and LONGER * seconds <= left
    if isinstance(problem.scores, SparseScores) and problem.background <= 0:
        return _sparse_bound(problem, relation, thorough, control)
    return _dense_bound(problem, relation, thorough, control)


def _sparse_bound(
    problem: Problem, relation: Relation | None, thorough: bool, control: Control
) -> tuple[float, Proof]:
    """Bound a sparse problem by packing; improve that by separating paths."""
    value = -math.inf if relation is None else problem.value(relation)
    size = problem.log_odds.size
    if size > (MOST_COLUMNS if control.prove else MOST_QUICK):
        return _large_bound(problem, relation, thorough, control)
    # unlisted pairs make packing without a partition slow, and no better than along one
    plain = problem.background == 0 and _affords_paths(problem, control)
    guide = None if plain else _guide(relation)
    bound, proof = packing_bound(problem, thorough, control.seed, guide)
    if bound <= value or control.expired():
        return bound, proof
    relaxation = PathRelaxation(problem, _cuts(proof))
    relaxation.improve(THOROUGH if control.prove else QUICK, value, control)
    return relaxation.proved()


def _large_bound(
    problem: Problem, relation: Relation | None, thorough: bool, control: Control
) -> tuple[float, Proof]:
    """Bound a large sparse problem by packing, along a partition if there is one.

    The packing without it is tried as well where that costs little or where the other has
    closed less than half of the gap.
    """
    if relation is None:
        return packing_bound(problem, thorough, control.seed)
    value = problem.value(relation)
    bound, proof = packing_bound(problem, thorough, control.seed, _guide(relation))
    few = problem.log_odds.size <= MOST_COLUMNS and problem.background == 0
    if not _affords_paths(problem, control):
        return bound, proof
    if few or bound - value > 0.5 * (trivial_bound(problem)[0] - value):
        other = packing_bound(problem, thorough, control.seed)
        bound, proof = other if other[0] < bound else (bound, proof)
    return bound, proof


def _affords_paths(problem: Problem, control: Control) -> bool:
    """Say whether there is time for the packing of paths that no partition guides."""
    seconds = SECONDS_A_LISTED_PAIR * problem.log_odds.size
    return seconds <= max(control.remaining(), 0.25 * control.time_limit)


def _guide(relation: Relation | None) -> Index | None:
    return None if relation is None else relation.to(Partition).labels.astype(np.int64)


def _dense_bound(
    problem: Problem, relation: Relation | None, thorough: bool, control: Control
) -> tuple[float, Proof]:
    """Bound a dense problem by packing, along a partition if there is one; then cut."""
    n = problem.n
    if relation is None or not 3 <= n <= MOST_DENSE:
        return packing_bound(problem, thorough, control.seed)
    bound, proof = guided_bound(problem, relation.to(Partition), thorough, control)
    if control.expired() or n > (MOST_CUT if control.prove else QUICK_CUT):
        return bound, proof
    value = problem.value(relation)
    effort = (math.inf, math.inf) if control.prove else QUICK_EFFORT
    return triangle_bound(problem, _cuts(proof), value, effort, control)


def _cuts(proof: Proof) -> tuple[Cuts, ...]:
    return proof.cuts if isinstance(proof, Leaf) else ()
