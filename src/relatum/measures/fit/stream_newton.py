"""Newton's method on a stream of batches: few features, any number of rows, any order of them.

Every reading adds up objective, gradient and Hessian at one point. Nothing is kept per row, and
the rows may come in another order at the next reading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from relatum.array_types import Flags, Floats
from relatum.errors import DataError
from relatum.measures.fit.rows import FIT, Rows
from relatum.measures.fit.sdca import Controls, Solution, gap_of, prior
from relatum.measures.fit.streams import Stream
from relatum.measures.objective import LN2


class _Sums:
    """Objective in bits, gradient and Hessian of every label at w, in natural units."""

    def __init__(self, w: Floats, lam: float) -> None:
        labels, width = w.shape
        self.w, self.lam, self.count = w, lam, 0
        self.primal = prior(w, lam)
        self.gradient = lam * w
        self.hessian = np.tile(lam * np.eye(width), (labels, 1, 1))

    def add(self, rows: Rows, related: Flags) -> None:
        for begin in range(0, rows.n, 4096):
            part = slice(begin, begin + 4096)
            block, columns = rows.take(part)
            x = np.asarray(block, dtype=np.float64)
            at = slice(None) if columns is None else columns
            scores = (x @ self.w[:, at].T).T
            sign = np.where(related[:, part], 1.0, -1.0)
            self.primal += np.logaddexp(0.0, -sign * scores).sum(axis=1) / LN2
            small = np.exp(-np.abs(scores))
            p = np.where(scores >= 0, 1.0, small) / (1.0 + small)
            self.gradient[:, at] += (p - related[:, part]) @ x
            curvature = small / (1.0 + small) ** 2
            for k in range(len(self.w)):
                square = (x * curvature[k][:, None]).T @ x
                if columns is None:
                    self.hessian[k] += square
                else:
                    self.hessian[k][np.ix_(columns, columns)] += square
        self.count += rows.n

    def solution(self, epochs: int, reason: str) -> Solution:
        dual = self.primal - gap_of(self.gradient, self.lam)
        return Solution(self.w, [], self.primal, dual, True, epochs, reason)

    def step(self) -> Floats:
        pairs = zip(self.hessian, self.gradient, strict=True)
        return np.array([-cho_solve(cho_factor(h), g) for h, g in pairs])


def solve_stream_newton(stream: Stream, controls: Controls) -> Solution:
    """Fit all labels to a stream that can be read again, `max_epochs` times at most."""
    best: _Sums | None = None
    trial: Floats | None = None
    step: Any = 0.0
    lam, reason, epochs = 0.0, "epochs", 0
    try:
        while epochs < controls.max_epochs:
            sums = None
            for rows, related in stream.epoch():
                if sums is None:
                    if trial is None:
                        lam = stream.choose_lambda(rows)
                        trial = np.zeros((len(related), rows.width))
                    sums = _Sums(trial, lam)
                sums.add(rows, related)
                if best is not None and controls.late():
                    return best.solution(epochs, "time")
            if sums is None:
                raise DataError("The stream of batches is empty: it must yield (x, y).")
            epochs += 1
            best, step = _accepted(best, sums, step)
            found = best.solution(epochs, "converged")
            controls.tell(epochs, float(found.dual.sum()), found.gap)
            if found.gap <= controls.tol:
                return found
            if controls.late():
                reason = "time"
                break
            trial = best.w + step
    except KeyboardInterrupt:
        if best is None:
            raise
        reason = "interrupted"
    assert best is not None
    return best.solution(epochs, reason)


def _accepted(best: _Sums | None, new: _Sums, step: Any) -> tuple[_Sums, Floats]:
    """Return the better point and the next step from it, label by label."""
    if best is None:
        return new, new.step()
    if new.count != best.count:
        raise DataError(
            "A stream that is read several times must yield the same batches every time; it had "
            f"{best.count} rows and now has {new.count}."
        )
    slope = np.einsum("km,km->k", best.gradient, step) / LN2
    slack = 1e-12 * np.abs(best.primal)  # sums of many rows are no more exact than this
    good = new.primal <= best.primal + FIT.sufficient * slope + slack
    fresh = new.step()
    for name in ("w", "primal", "gradient", "hessian"):
        old, now = getattr(best, name), getattr(new, name)
        keep = good.reshape(-1, *[1] * (now.ndim - 1))
        setattr(new, name, np.where(keep, now, old))
    return new, np.where(good[:, None], fresh, 0.5 * step)
