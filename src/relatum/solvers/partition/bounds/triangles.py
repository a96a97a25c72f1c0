"""Bounds for dense clusterings of up to some thousand elements: rounds of cutting planes.

The relaxation is that of the branch and cut; it starts from the multipliers of a packing,
so that its bound is never worse, and the best multipliers seen are kept.
"""

from __future__ import annotations

import numpy as np

from relatum.problem import Problem
from relatum.proof import Cuts, Proof, gap_to_close
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.packing import raised
from relatum.solvers.partition.exact.node import Node
from relatum.solvers.partition.exact.relaxation import Relaxation, square

__all__ = ["triangle_bound"]

ITERATIONS = 100  # of the linear programming engine, a round
PATIENCE = 5  # rounds in which a hundredth of the gap must be closed


def triangle_bound(
    problem: Problem,
    cuts: tuple[Cuts, ...],
    value: float,
    effort: tuple[float, float],
    control: Control,
) -> tuple[float, Proof]:
    """Improve the bound of some triangles and multipliers.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, of few enough elements for a column a pair.
    cuts : tuple of Cuts
        Triangles, with multipliers.
    value : float
        Of a partition; where the bound meets it there is nothing to do.
    effort : (float, float)
        The most rounds, and the rows passed over and triangles looked at until a last one.
        Neither is a time, so that the bound is the same on every machine.
    control : Control
    """
    relaxation = _relaxation(problem, cuts)
    node = Node(relaxation, np.arange(problem.n), contracts=False)
    magnitude = float(np.abs(relaxation.weights).sum()) / 2
    rng = np.random.default_rng(control.seed)
    threshold, history = 0.05, [node.best_bound]
    done = 0.0
    while done < effort[1] and len(history) <= effort[0]:
        gap = gap_to_close(node.best_bound, value)
        if gap <= 1e-9 * (1 + magnitude) or control.expired():
            break
        node.run(ITERATIONS)
        done += ITERATIONS * relaxation.lp.n_rows + 0.25 * problem.n**3 + 1
        history.append(node.best_bound)
        control.report(value, max(value, node.best_bound), 0, relaxation.lp.n_rows)
        before = history[-1 - PATIENCE] if len(history) > PATIENCE else np.inf
        if before - node.best_bound < 0.01 * gap or control.expired():
            break
        relaxation.drop_idle()
        if not _separated(relaxation, threshold, rng):
            threshold = max(0.4 * threshold, 0.004)
    best = (Cuts(k, b.index, b.multipliers).positive() for k, b in node.best_pool.items())
    return raised(node.best_bound, magnitude, list(best))


def _relaxation(problem: Problem, cuts: tuple[Cuts, ...]) -> Relaxation:
    n = problem.n
    condensed, constant = problem.folded()
    state = np.where(problem.state < 0, problem.state.T, problem.state).astype(np.int8)
    np.fill_diagonal(state, -1)
    weights = square(np.asarray(condensed, dtype=np.float64), n)
    relaxation = Relaxation(weights, state, constant)
    cap = problem.feasible.cap
    if cap is not None and cap < n:
        relaxation.add_caps(cap)
    for cut in cuts:
        relaxation.add_packed(cut.index, cut.multipliers)
    relaxation.lp.evaluate()
    return relaxation


def _separated(relaxation: Relaxation, threshold: float, rng: np.random.Generator) -> bool:
    """Add violated rows; say whether there were any to speak of."""
    before = relaxation.lp.n_rows
    top = relaxation.add_triangles(threshold)
    if top < 0.5 or relaxation.lp.n_rows - before < 0.01 * before:
        relaxation.add_wheels(threshold, rng)
        relaxation.add_two_partitions(threshold, rng)
    return relaxation.lp.n_rows - before > 0.01 * before
