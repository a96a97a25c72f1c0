"""The plain twin of the first-order method for linear programs."""

from __future__ import annotations

import numpy as np


def halpern_pdhg(matrix, low, high, box, x, y, weight, scale, iterations):
    """Restarted reflected Halpern PDHG with a dense matrix, as the textbook writes it.

    ``box`` holds c, lower and upper; returns x, y and the final weight.
    """
    c, lower, upper = box
    degree = np.abs(matrix).sum(axis=0)
    length = np.abs(matrix).sum(axis=1)
    first_weight, total, k, first, last = weight, 0, 0, None, 0.0
    x_anchor, y_anchor = x.copy(), y.copy()
    for _ in range(iterations):
        tau, sigma = scale / weight / degree, scale * weight / length
        x_new = np.clip(x + tau * (c - matrix.T @ y), lower, upper)
        v = y + sigma * (matrix @ (2 * x_new - x))
        y_new = v - sigma * np.clip(v / sigma, low, high)
        dx, dy = x_new - x, y_new - y
        residual = np.sqrt(
            max((dx**2 / tau).sum() + (dy**2 / sigma).sum() - 2 * dx @ matrix.T @ dy, 0)
        )
        if first is None:
            first = residual
        share = (k + 1) / (k + 2)
        x = share * (2 * x_new - x) + (1 - share) * x_anchor
        y = share * (2 * y_new - y) + (1 - share) * y_anchor
        k, total = k + 1, total + 1
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            far_x = ((x_new - x_anchor) ** 2 * degree).sum()
            far_y = ((y_new - y_anchor) ** 2 * length).sum()
            if far_x >= 1e-20 and far_y >= 1e-20:
                weight = np.exp(0.5 * np.log(weight) + 0.5 * np.log(np.sqrt(far_y / far_x)))
                weight = np.clip(weight, 0.01 * first_weight, 100 * first_weight)
            x, y = x_new.copy(), y_new.copy()
            x_anchor, y_anchor = x.copy(), y.copy()
            k, first = 0, None
    return x_new, y_new, weight
