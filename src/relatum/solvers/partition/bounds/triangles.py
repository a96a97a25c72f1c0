"""Bounds for dense clusterings of up to some thousand elements: rounds of cutting planes.

The relaxation is that of the branch and cut; it starts from the multipliers of a packing,
so that its bound is never worse, and the best multipliers seen are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relatum.problem import Problem
from relatum.proof import Cuts, gap_to_close
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import square_arrays
from relatum.solvers.partition.bounds.known import Known, Proved, cuts_of, is_closed, pays, raised
from relatum.solvers.partition.exact.node import Node, pool_cuts
from relatum.solvers.partition.exact.relaxation import Relaxation


@dataclass(frozen=True)
class TriangleSettings:
    """What rounds of cutting planes may spend; no field is a time: every machine does the same."""

    rounds: float = math.inf
    work: float = math.inf  # rows and triangles gone through, after which no round begins
    iterations: int = 100  # of the linear programming engine, per round
    patience: int = 5  # rounds in which a hundredth of the gap must be closed
    violation: float = 0.05  # of the rows looked for at first
    least_violation: float = 0.004  # of the rows looked for when all larger ones are found
    few_new: float = 0.01  # share of new rows at which smaller violations are looked for


QUICK = TriangleSettings(rounds=16, work=1e8)  # about a second
THOROUGH = TriangleSettings()


def triangle_bound(
    problem: Problem, known: Known, control: Control, settings: TriangleSettings = THOROUGH
) -> Proved:
    """Improve the bound of some triangles and multipliers.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, of few enough elements for a column per pair.
    known : Known
        A proof by triangles; the value of a partition.
    control : Control
    settings : TriangleSettings
    """
    relaxation = _relaxation(problem, cuts_of(known.proof))
    relaxation.stop_when(control.expired)
    node = Node(relaxation, np.arange(problem.n), contracts=False)
    rng = np.random.default_rng(control.seed)
    violation, bounds, done = settings.violation, [node.best_bound], 0.0
    while done < settings.work and len(bounds) <= settings.rounds:
        gap = gap_to_close(node.best_bound, known.value)
        if is_closed(gap) or control.expired():
            break
        node.run(settings.iterations)
        done += settings.iterations * relaxation.lp.n_rows + 0.25 * problem.n**3 + 1
        bounds.append(node.best_bound)
        control.report(known.value, max(known.value, node.best_bound), 0, relaxation.lp.n_rows)
        if not pays(bounds, settings.patience, gap) or control.expired():
            break
        relaxation.drop_idle()
        rows = relaxation.lp.n_rows
        if relaxation.separate(violation, rng) <= settings.few_new * rows:
            violation = max(0.4 * violation, settings.least_violation)
    return raised(node.best_bound, 0.0, pool_cuts(node.best_pool))


def _relaxation(problem: Problem, cuts: tuple[Cuts, ...]) -> Relaxation:
    arrays = square_arrays(problem)
    relaxation = Relaxation(arrays.weights, arrays.state, arrays.constant)
    cap = problem.feasible.cap
    if cap is not None and cap < problem.n:
        relaxation.add_caps(cap)
    for cut in cuts:
        relaxation.add_packed(cut.index, cut.multipliers)
    relaxation.lp.evaluate()
    return relaxation
