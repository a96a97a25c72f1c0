"""The bound to report where a solver has proved none: as good as time allows.

- Too little time to begin a packing: every pair on its own.
- Sparse, few listed pairs: packing of paths, along the partition where unlisted pairs are scored
  or time is short; then cutting planes (`paths`).
- Sparse, many listed pairs: packing along the partition; without it where it helps little.
- Dense, no partition known: packing of triangles.
- Dense, a partition known: packing along it (`guided`); then cutting planes (`triangles`), up to
  some hundred elements, or, if proofs are wanted, some thousand, and above that block by block
  (`blocks`).
- Dense, a partition known that is worth next to nothing: packing without it, and along it.
- Dense, a partition known, and packing along it leaves far more than the value, or would: noise.
  Then a semidefinite relaxation (`noise`), and cutting planes only where that is not better.
- With a cap, also what elements have with their best partners (`capped`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from relatum.problem import EQUIVALENCES, Partition, Problem, Relation, SparseScores
from relatum.proof import Leaf
from relatum.solvers.control import Control
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.partition.bounds import paths, triangles
from relatum.solvers.partition.bounds.blocks import block_bound, block_plan
from relatum.solvers.partition.bounds.capped import capped_bound
from relatum.solvers.partition.bounds.guided import guided_bound
from relatum.solvers.partition.bounds.known import Known, Proved
from relatum.solvers.partition.bounds.packing import PACKING, packing_bound
from relatum.solvers.partition.bounds.paths import path_bound
from relatum.solvers.partition.bounds.triangles import triangle_bound
from relatum.solvers.partition.noise import (
    QUICK,
    effort_for,
    is_noise,
    is_worthless,
    least_of_triangles,
    semidefinite_bound,
)
from relatum.solvers.trivial_bound import trivial_bound


@dataclass(frozen=True)
class ChoiceSettings:
    """Which bound is affordable when; quick ones where no proofs are wanted."""

    array_seconds: float = 2e-8  # per pair, before anything can be packed, on a slow machine
    listed_seconds: float = 2e-7  # the same per listed pair, with numbers of pairs both ways
    cut_seconds: float = 4e-7  # per pair with a column, before rows can be cut
    pair_seconds: float = 3e-7  # of packing conflicts
    path_seconds: float = 5e-5  # of packing paths without a partition, per listed pair
    longer: float = 5.0  # how many times as long a thorough packing takes
    path_pairs: int = 2_000_000  # listed pairs up to which paths are separated
    quick_path_pairs: int = 300_000
    cut_elements: int = 2500  # elements up to which dense problems are cut
    quick_cut_elements: int = 500
    noise_left: float = 0.4  # share of what packing leaves, below which cuts would not be better
    nearly: float = 0.02  # share of the value from which on cuts may close the rest
    sharp_elements: int = 1000  # elements up to which a bound is computed without rounding,
    sharp_seconds: float = 1e-7  # and what that takes per ordered pair


CHOICE = ChoiceSettings()


def affordable_bound(
    problem: Problem,
    control: Control,
    relation: Relation | None = None,
    settings: ChoiceSettings = CHOICE,
) -> Proved:
    """Return a bound and its proof.

    Clusterings get a packing bound, of as many conflicts as there is time to pack; everything
    else is bounded pair by pair. In what time is left the packing bound is improved: for about
    as long as a heuristic takes, or, where proofs are wanted, until that does not pay any more.
    When time is up there is a last moment for a bound, see `Control.last_moment`.

    Parameters
    ----------
    problem : Problem
    control : Control
    relation : Relation, optional
        The best relation that is known.
    settings : ChoiceSettings
    """
    if not problem.feasible <= EQUIVALENCES:
        return trivial_bound(problem)
    control = control.last_moment()
    found = _uncapped(problem, control, relation, settings)
    if _affords(settings.sharp_seconds * problem.n**2, control):
        found = _sharpened(problem, found, settings)
    cap = problem.feasible.cap
    if cap is not None and cap < problem.n and problem.background <= 0:
        other = capped_bound(problem, Known(proof=found[1]), control)
        return min(found, other, key=lambda proved: proved[0])
    return found


def _sharpened(problem: Problem, found: Proved, settings: ChoiceSettings) -> Proved:
    """Return what a proof by rows proves to the last digit, where that takes no time."""
    if problem.n > settings.sharp_elements or not isinstance(found[1], Leaf):
        return found
    if isinstance(found[0], Fraction):
        return found  # it is computed without rounding already
    sharp = leaf_bound(problem, found[1].cuts)
    return sharp if sharp[0] < found[0] else found


def _uncapped(
    problem: Problem, control: Control, relation: Relation | None, settings: ChoiceSettings
) -> Proved:
    """Bound a clustering; where there is a cap, most ways do not know of it."""
    listed = isinstance(problem.scores, SparseScores) and problem.background <= 0
    first = settings.listed_seconds if listed else settings.array_seconds
    if not _affords(first * (problem.log_odds.size if listed else problem.n**2), control):
        return trivial_bound(problem)
    seconds = settings.pair_seconds * problem.log_odds.size
    partition = None if relation is None else relation.to(Partition)
    value = -math.inf if partition is None else problem.value(partition)
    thorough = control.prove and settings.longer * seconds <= control.remaining()
    known = Known(partition, value, thorough)
    if not listed:
        return _dense(problem, known, control, settings)
    most = settings.path_pairs if control.prove else settings.quick_path_pairs
    if problem.log_odds.size > most:
        return _large_sparse(problem, known, control, settings)
    return _sparse(problem, known, control, settings)


def _affords(seconds: float, control: Control) -> bool:
    return seconds <= control.remaining()


def _affords_cuts(columns: int, control: Control, settings: ChoiceSettings) -> bool:
    """Say whether there is time to write so many columns down, and some rows."""
    return _affords(10 * settings.cut_seconds * columns, control)


def _sparse(problem: Problem, known: Known, control: Control, settings: ChoiceSettings) -> Proved:
    """Bound a sparse problem by packing; improve that by separating paths."""
    # unlisted pairs make packing without a partition slow, and no better than along one
    plain = problem.background == 0 and _affords_paths(problem, control, settings)
    guide = replace(known, partition=None) if plain else known
    bound, proof = packing_bound(problem, guide, control)
    if bound <= known.value or not _affords_cuts(len(problem.log_odds), control, settings):
        return bound, proof
    effort = paths.THOROUGH if control.prove else paths.QUICK
    return path_bound(problem, replace(known, proof=proof), control, effort)


def _large_sparse(
    problem: Problem, known: Known, control: Control, settings: ChoiceSettings
) -> Proved:
    """Bound a large sparse problem by packing, along a partition if there is one.

    The packing without it is tried as well where that costs little or where the other has
    closed less than half of the gap.
    """
    found = packing_bound(problem, known, control)
    if known.partition is None or not _affords_paths(problem, control, settings):
        return found
    few = problem.log_odds.size <= settings.path_pairs and problem.background == 0
    if few or found[0] - known.value > 0.5 * (trivial_bound(problem)[0] - known.value):
        other = packing_bound(problem, replace(known, partition=None), control)
        return min(found, other, key=lambda proved: proved[0])
    return found


def _affords_paths(problem: Problem, control: Control, settings: ChoiceSettings) -> bool:
    """Say whether there is time for the packing of paths that no partition guides."""
    return _affords(settings.path_seconds * problem.log_odds.size, control)


def _dense(problem: Problem, known: Known, control: Control, settings: ChoiceSettings) -> Proved:
    """Bound a dense problem by packing, along a partition if there is one; then cut."""
    if known.partition is None or not 3 <= problem.n <= PACKING.most_elements:
        return packing_bound(problem, known, control)
    noise = _of_noise(problem, known, least_of_triangles(problem), control)
    if noise is not None:
        return noise
    if control.prove and problem.n > settings.cut_elements:
        return _large_dense(problem, known, control)
    bound, proof = _packed(problem, known, control)
    noise = _of_noise(problem, known, float(bound), control)
    if noise is not None:
        left = float(noise[0]) - known.value
        shrunk = left <= settings.noise_left * (float(bound) - known.value)
        if shrunk and left > settings.nearly * known.value and not control.prove:
            return noise
    most = settings.cut_elements if control.prove else settings.quick_cut_elements
    if problem.n > most or not _affords_cuts(problem.n**2, control, settings):
        return (bound, proof) if noise is None else noise
    effort = triangles.THOROUGH if control.prove else triangles.QUICK
    cut = triangle_bound(problem, replace(known, proof=proof), control, effort)
    return cut if noise is None else min(cut, noise, key=lambda proved: proved[0])


def _packed(problem: Problem, known: Known, control: Control) -> Proved:
    """Pack along a partition; first without it, if it is worth next to nothing and guides nowhere.

    Such a one is there where time was up before anything was searched.
    """
    if not is_worthless(problem, known.value):
        return guided_bound(problem, known, control)
    plain = packing_bound(problem, replace(known, partition=None), control)
    if control.expired():
        return plain
    return min(plain, guided_bound(problem, known, control), key=lambda proved: proved[0])


def _of_noise(problem: Problem, known: Known, bound: float, control: Control) -> Proved | None:
    """Bound a dense problem by its semidefinite relaxation, if it is one of noise.

    That is so if a bound by triangles, or what they prove at best, is far above the value.
    """
    if not is_noise(problem, known.value, bound):
        return None
    effort = effort_for(control.remaining()) if control.prove else QUICK
    found = semidefinite_bound(problem, known.value, control, effort)
    return found if found is not None and found[0] < bound else None


def _large_dense(problem: Problem, known: Known, control: Control) -> Proved:
    """Bound a large dense problem by a packing, quickly where there is time for blocks as well."""
    if block_plan(problem.n, control.remaining()) is None:
        return guided_bound(problem, known, control)
    found = guided_bound(problem, replace(known, thorough=False), control)
    plan = block_plan(problem.n, control.remaining())
    if plan is None or found[0] <= known.value:
        return found
    control.report(known.value, float(found[0]))
    other = block_bound(problem, known, control, plan)
    return min(found, other, key=lambda proved: proved[0])
