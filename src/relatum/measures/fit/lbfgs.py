"""Lockstep L-BFGS for L2-regularised logistic regression: the solver that checks the other.

All labels are one vector of unknowns, so that one matrix product per evaluation serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from relatum.array_types import Floats
from relatum.measures.fit.rows import threads_for
from relatum.measures.fit.sdca import Controls, Solution, Task, gap_of, prior
from relatum.measures.objective import LN2

ROWS = 512  # multiplied at a time: 8 MB of a thousand features


class _Objective:
    """Value and gradient in natural units, remembering the best point and its certificate."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.shape = (len(task.related), task.rows.width)
        self.best: Solution | None = None

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        task, w = self.task, flat.reshape(self.shape)
        loss, slope, duals = np.zeros(len(w)), np.zeros(self.shape), np.zeros(task.related.shape)
        for begin in range(0, task.rows.n, ROWS):
            part = slice(begin, begin + ROWS)
            x, columns = task.rows.take(part)
            at = (w if columns is None else w[:, columns]).astype(task.rows.dtype)
            sign = np.where(task.related[:, part], 1.0, -1.0)
            margin = sign * (x @ at.T).T
            loss += np.logaddexp(0.0, -margin) @ task.weights[part]
            small = np.exp(-np.abs(margin))
            tail = np.where(margin >= 0, small, 1.0) / (1.0 + small)
            duals[:, part] = sign * tail * task.weights[part]
            change = duals[:, part].astype(task.rows.dtype) @ x
            slope[:, slice(None) if columns is None else columns] += change
        gradient = task.lam * w - slope
        primal = loss / LN2 + prior(w, task.lam)
        if self.best is None or primal.sum() < self.best.primal.sum():
            dual = primal - gap_of(gradient, task.lam)
            self.best = Solution(w.copy(), duals, primal, dual, True, 0, "epochs")
        total = float(loss.sum()) + 0.5 * task.lam * float(np.vdot(w, w))
        return total, gradient.ravel()


def certified(task: Task, w: Floats) -> Solution:
    """Return `w` with its objective and a bound on the minimum."""
    objective = _Objective(task)
    objective(w.ravel())
    assert objective.best is not None
    return objective.best


def solve_lbfgs(task: Task, controls: Controls, start: Floats | None = None) -> Solution:
    """Fit all labels to rows in memory, from the coefficients `start` (natural) or from zero."""
    objective = _Objective(task)

    def reached() -> tuple[float, float]:
        best = objective.best
        return (-np.inf, np.inf) if best is None else (float(best.dual.sum()), best.gap)

    first = np.zeros(objective.shape) if start is None else start
    work = min(task.rows.n, ROWS) * first.size
    iterations, reason = run_lbfgs(objective, first, reached, controls, work)
    assert objective.best is not None
    objective.best.epochs, objective.best.reason = iterations, reason
    return objective.best


def run_lbfgs(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    reached: Callable[[], tuple[float, float]],
    controls: Controls,
    work: int,
) -> tuple[int, str]:
    """Minimise by L-BFGS until the gap is small enough or time is over.

    Parameters
    ----------
    objective : callable
        Gives value and gradient; remembers the best point.
    start : array
    reached : callable
        Gives a bound on the minimum, in bits, and the relative gap of the best point so far,
        infinite before there is one.
    controls : Controls
    work : int
        About how many multiplications a product of matrices takes.

    Returns
    -------
    iterations, reason
        The reason is one of `Solution`.
    """
    iterations, reason = 0, "epochs"

    def check(intermediate_result: Any) -> None:
        nonlocal iterations, reason
        iterations += 1
        bound, gap = reached()
        controls.tell(iterations, bound, gap)
        if gap > controls.tol:
            if not controls.late():
                return
            reason = "time"
        raise StopIteration

    options: Any = {"maxiter": controls.max_epochs, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0}
    try:
        with threads_for(work):
            minimize(
                objective,
                start.ravel(),
                method="L-BFGS-B",
                jac=True,
                callback=check,
                options=options,
            )
    except KeyboardInterrupt:
        if np.isinf(reached()[1]):
            raise
        reason = "interrupted"
    return iterations, "converged" if reached()[1] <= controls.tol else reason
