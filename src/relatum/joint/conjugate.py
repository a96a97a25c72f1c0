"""The logistic model seen from the class totals.

For fixed y, the logistic objective is G(theta) - <c, theta> with the class totals c = sum over
pairs of weight times y times x, and G(theta) = sum of weight times log2(1 + 2^<theta, x>) plus the
regulariser. So J(y) = min over theta = -G*(c): minus a convex conjugate, hence concave in y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Floats
from relatum.measures import LN2, sigmoid2


@dataclass(frozen=True, eq=False)
class Conjugate:
    """The convex function G, over distinct rows of features."""

    rows: Floats  # (distinct rows, features)
    weights: Floats  # (distinct rows,)
    curvature: float  # log2(e) / sigma^2: G is at least that strongly convex

    @classmethod
    def of_pairs(cls, x: Floats, weights: Floats, strength: float) -> Conjugate:
        """Collect equal rows; those of no weight are left out."""
        use = weights > 0
        if not use.any():
            return cls(np.zeros((0, x.shape[1])), np.zeros(0), strength / LN2)
        rows, position = np.unique(x[use], axis=0, return_inverse=True)
        total = np.bincount(position.ravel(), weights[use], len(rows)).astype(np.float64)
        return cls(rows, total, strength / LN2)

    def value(self, theta: Floats) -> float:
        """G(theta), in bits."""
        bits = float(self.weights @ np.logaddexp2(0.0, self.rows @ theta))
        return bits + 0.5 * self.curvature * float(theta @ theta)

    def slope(self, theta: Floats) -> Floats:
        """Gradient of G."""
        p = sigmoid2(self.rows @ theta)
        return np.asarray(self.rows.T @ (self.weights * p) + self.curvature * theta)

    def hessian(self, theta: Floats) -> Floats:
        """Second derivatives of G."""
        p = sigmoid2(self.rows @ theta)
        scaled = self.rows * (self.weights * p * (1.0 - p) * LN2)[:, None]
        return np.asarray(self.rows.T @ scaled + self.curvature * np.eye(self.rows.shape[1]))

    def minimize(self, c: Floats, start: Floats | None = None) -> tuple[Floats, float, float]:
        """Minimise G(theta) - <c, theta> by Newton's method with halved steps.

        Returns
        -------
        theta, value, bound
            No theta has a value below the bound: strong convexity turns the last gradient
            into one.
        """
        theta = np.zeros(len(c)) if start is None else np.array(start, dtype=np.float64)
        value = self.value(theta) - float(c @ theta)
        scale = float(self.weights.sum()) + float(np.abs(c).sum()) + 1.0
        gradient = self.slope(theta) - c
        for _ in range(200):
            if float(gradient @ gradient) <= 2.0 * self.curvature * 1e-13 * scale:
                break
            step = -np.linalg.solve(self.hessian(theta), gradient)
            t, decrease = 1.0, float(gradient @ step)
            while t > 1e-12:
                trial = theta + t * step
                new = self.value(trial) - float(c @ trial)
                if new <= value + 1e-4 * t * decrease:
                    break
                t *= 0.5
            else:
                break  # rounding is all that is left
            if new >= value - 1e-15 * scale and t == 1.0:
                theta, value = trial, min(new, value)
                gradient = self.slope(theta) - c
                break
            theta, value = trial, new
            gradient = self.slope(theta) - c
        value = self.value(theta) - float(c @ theta)
        bound = value - float(gradient @ gradient) / (2.0 * self.curvature) - 1e-14 * scale
        return theta, value, bound
