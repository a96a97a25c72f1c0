"""Newton's method for few features, and the choice of a solver.

Coordinate ascent is fast where rows are many or the prior is strong. With few rows of large,
correlated features it creeps; scikit-learn's Newton-Cholesky solver takes over there.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from relatum.array_types import Flags, Floats
from relatum.measures.fit.lbfgs import certified, solve_lbfgs
from relatum.measures.fit.rows import FIT, Rows, threads_for
from relatum.measures.fit.sdca import Controls, Solution, Task, solve_rows


def solve_auto(task: Task, controls: Controls, start: Floats | None = None) -> Solution:
    """Fit by dual ascent; where that creeps, finish with Newton (few features) or L-BFGS."""
    patient = replace(controls, stop_if_slow=True)
    found = solve_rows(task, patient, start)
    if found.reason != "slow":
        return found
    finish = solve_newton if task.rows.width <= FIT.newton_width else solve_lbfgs
    better = finish(task, controls, found.w)
    better.epochs += found.epochs
    return better if better.gap <= found.gap else replace(found, reason=better.reason)


def solve_newton(task: Task, controls: Controls, start: Floats | None = None) -> Solution:
    """Fit label by label from the coefficients `start` (natural) or from zero."""
    x = _table(task.rows)
    w = np.zeros((len(task.related), task.rows.width)) if start is None else start.copy()
    iterations, reason = 0, "epochs"
    try:
        for k, y in enumerate(task.related):
            if controls.late():
                reason = "time"
                break
            with threads_for(task.rows.n * task.rows.width**2):
                w[k], steps = _fit_label(x, y, task.weights, task.lam, w[k])
            iterations = max(iterations, steps)
    except KeyboardInterrupt:
        reason = "interrupted"
    found = certified(replace(task, rows=Rows(x, np.float64)), w)
    found.epochs = iterations
    found.reason = "converged" if found.gap <= controls.tol else reason
    return found


def _table(rows: Rows) -> Any:
    x = rows.x.astype(np.float64)
    if not rows.constant:
        return x
    one: Any = np.ones((rows.n, 1))
    if sparse.issparse(x):
        parts: list[Any] = [x, sparse.csr_matrix(one)]
        return sparse.hstack(parts).tocsr()
    return np.hstack([x, one])


def _fit_label(x: Any, y: Flags, weights: Floats, lam: float, w: Floats) -> tuple[Floats, int]:
    from sklearn.linear_model import LogisticRegression  # many models: only where it is used

    model = LogisticRegression(
        C=1.0 / lam,
        solver="newton-cholesky",
        fit_intercept=False,
        tol=1e-12,
        max_iter=100,
        warm_start=True,
    )
    model.coef_, model.intercept_ = w[None, :].copy(), np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the duality gap is the judge of convergence
        model.fit(x, y, sample_weight=weights)
    return np.asarray(model.coef_[0], dtype=np.float64), int(np.max(model.n_iter_))


SOLVERS = {"auto": solve_auto, "sdca": solve_rows, "lbfgs": solve_lbfgs, "newton": solve_newton}
