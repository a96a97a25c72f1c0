"""Lockstep L-BFGS for L2-regularised logistic regression: the solver that checks the other.

All labels are one vector of unknowns, so that one matrix product per evaluation serves them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from relatum.array_types import Flags, Floats
from relatum.measures.fit.rows import Rows
from relatum.measures.fit.sdca import Controls, Solution, prior
from relatum.measures.objective import LN2

__all__ = ["certified", "solve_lbfgs"]


class _Objective:
    """Value and gradient in natural units, remembering the best point and its certificate."""

    def __init__(self, rows: Rows, related: Flags, weights: Floats, lam: float) -> None:
        self.rows, self.related, self.weights, self.lam = rows, related, weights, lam
        self.shape = (len(related), rows.width)
        self.best: Solution | None = None

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(self.shape)
        loss, slope, duals = np.zeros(len(w)), np.zeros(self.shape), np.zeros(self.related.shape)
        for begin in range(0, self.rows.n, 512):
            part = slice(begin, begin + 512)
            x, columns = self.rows.take(part)
            at = (w if columns is None else w[:, columns]).astype(self.rows.dtype)
            sign = np.where(self.related[:, part], 1.0, -1.0)
            margin = sign * (x @ at.T).T
            loss += np.logaddexp(0.0, -margin) @ self.weights[part]
            small = np.exp(-np.abs(margin))
            tail = np.where(margin >= 0, small, 1.0) / (1.0 + small)
            duals[:, part] = sign * tail * self.weights[part]
            change = duals[:, part].astype(self.rows.dtype) @ x
            slope[:, slice(None) if columns is None else columns] += change
        gradient = self.lam * w - slope
        self._remember(w, duals, loss / LN2 + prior(w, self.lam), gradient)
        total = float(loss.sum()) + 0.5 * self.lam * float(np.vdot(w, w))
        return total, gradient.ravel()

    def _remember(
        self,
        w: Floats,
        duals: Floats,
        primal: Floats,
        gradient: Floats,
    ) -> None:
        # With the dual variables that belong to w, the duality gap is |gradient|^2 / (2 lambda).
        if self.best is None or primal.sum() < self.best.primal.sum():
            gap = np.einsum("km,km->k", gradient, gradient) / (2.0 * self.lam * LN2)
            self.best = Solution(w.copy(), duals, primal, primal - gap, True, 0, "epochs")


def certified(
    rows: Rows,
    related: Flags,
    weights: Floats,
    lam: float,
    w: Floats,
) -> Solution:
    """Return `w` with its objective and a bound on the minimum."""
    objective = _Objective(rows, related, weights, lam)
    objective(w.ravel())
    assert objective.best is not None
    return objective.best


def solve_lbfgs(
    rows: Rows,
    related: Flags,
    weights: Floats,
    lam: float,
    controls: Controls,
    start: Floats | None = None,
) -> Solution:
    """Fit all labels to rows in memory, from the coefficients `start` (natural) or from zero."""
    objective = _Objective(rows, related, weights, lam)
    iterations, reason = 0, "epochs"

    def check(intermediate_result: Any) -> None:
        nonlocal iterations, reason
        iterations += 1
        best = objective.best
        assert best is not None
        controls.tell(iterations, float(best.dual.sum()), best.gap)
        if best.gap <= controls.tol:
            reason = "converged"
        elif controls.late():
            reason = "time"
        else:
            return
        raise StopIteration

    first = np.zeros(objective.shape) if start is None else start
    options: Any = {"maxiter": controls.max_epochs, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0}
    try:
        minimize(
            objective, first.ravel(), method="L-BFGS-B", jac=True, callback=check, options=options
        )
    except KeyboardInterrupt:
        if objective.best is None:
            raise
        reason = "interrupted"
    best = objective.best
    assert best is not None
    best.epochs, best.reason = iterations, reason
    if best.gap <= controls.tol:
        best.reason = "converged"
    return best
