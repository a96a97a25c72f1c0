"""Stochastic dual coordinate ascent for L2-regularised logistic regression, in blocks of rows.

Natural logarithms here: minimise sum_i c_i ln(1 + exp(-+<w, x_i>)) + lambda / 2 |w|^2 for all
labels at once. The dual has one variable per row and label, and w = sum_i duals_i x_i / lambda.

Rows are visited in small blocks. Scores of a block, its Gram matrix and the update of w are matrix
products; the coordinate steps themselves see only the Gram matrix. So this is sequential
coordinate ascent, number for number, at the speed of matrix multiplication.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.learning.dual_ascent import ascend_block
from relatum.measures.fit.rows import FIT, Block, Rows, threads_for
from relatum.measures.objective import LN2, logistic_dual

Monitor: TypeAlias = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Controls:
    """When to stop, and whom to tell: monitor(epoch, dual objective in bits, relative gap)."""

    tol: float = 1e-4
    max_epochs: int = 100
    deadline: float = float("inf")
    seed: int | np.random.Generator | None = 0
    monitor: Monitor | None = None
    stop_if_slow: bool = False

    def late(self) -> bool:
        """Say whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def tell(self, epoch: int, value: float, gap: float) -> None:
        """Inform the monitor, if any."""
        if self.monitor is not None:
            self.monitor(epoch, value, gap)


@dataclass
class Solution:
    """Coefficients w (natural logarithm) and how good they are (objectives in bits).

    `exact` says whether `primal` is the objective of `w` itself or an estimate collected during the
    last epoch. `reason` is "converged", "epochs", "time", "interrupted" or "slow" (at this pace,
    many more epochs would be needed).
    """

    w: Floats
    duals: Any
    primal: Floats
    dual: Floats
    exact: bool
    epochs: int
    reason: str

    @property
    def gap(self) -> float:
        """Relative duality gap over all labels."""
        total = float(self.primal.sum())
        return max(total - float(self.dual.sum()), 0.0) / max(total, np.finfo(float).tiny)


def natural_lambda(inverse_sigma_squared: float) -> float:
    """Factor of |w|^2 / 2 when D_x is measured in natural units and w = theta ln 2."""
    return inverse_sigma_squared / LN2**2


class Weights:
    """w in double precision with a working copy in the type of the blocks."""

    def __init__(self, w: Floats, dtype: type[np.floating[Any]]) -> None:
        self.w = w
        self.dtype = dtype
        self.copy: NDArray[Any] = w if dtype is np.float64 else w.astype(dtype)

    def scores(self, block: Block) -> Floats:
        """Return <w_k, x_i> as (labels, rows)."""
        x, columns = block
        w = self.copy if columns is None else self.copy[:, columns]
        return np.ascontiguousarray((x @ w.T).T, dtype=np.float64)

    def add(self, block: Block, change: Floats) -> None:
        """Add sum_i change_i x_i."""
        x, columns = block
        step = change.astype(self.dtype) @ x
        if columns is None:
            self.w += step
            if self.copy is not self.w:
                self.copy[...] = self.w
        else:
            self.w[:, columns] += step
            if self.copy is not self.w:
                self.copy[:, columns] = self.w[:, columns]


def prior(w: Floats, lam: float) -> Floats:
    """R_sigma of every label at w, in bits."""
    return np.asarray(np.einsum("km,km->k", w, w) * (lam / (2.0 * LN2)))


def gap_of(gradient: Floats, lam: float) -> Floats:
    """Duality gap of every label, in bits, with the dual variables that belong to w."""
    return np.asarray(np.einsum("km,km->k", gradient, gradient) / (2.0 * lam * LN2))


def block_size(width: int) -> int:
    """Rows per block."""
    # A block of about 1 MB stays in the cache; fewer rows converge in fewer epochs.
    return int(min(64, max(32, 2**18 // max(width, 1))))


@dataclass(frozen=True, eq=False)
class Task:
    """What is minimised, over rows in memory (one table, or one batch of a stream).

    Attributes
    ----------
    rows : Rows
    related : bool array (labels, rows)
    weights : float64 array (rows,)
    lam : float
        The factor lambda of the prior.
    """

    rows: Rows
    related: Flags
    weights: Floats
    lam: float

    def divergence(self, w: Floats) -> Floats:
        """D_x of every label at w, in bits."""
        at = Weights(w, self.rows.dtype)
        total = np.zeros(len(w))
        for start in range(0, self.rows.n, 512):
            part = slice(start, start + 512)
            scores = at.scores(self.rows.take(part))
            np.negative(scores, out=scores, where=self.related[:, part])
            total += np.logaddexp(0.0, scores) @ self.weights[part]
        return total / LN2

    def dual(self, duals: Floats, w: Floats) -> Floats:
        """Dual objective of every label, in bits."""
        return logistic_dual(duals, w / LN2, self.lam * LN2**2, self.weights)

    def certified(self, at: Weights, duals: Floats) -> Solution:
        """Return the point with its exact primal and dual objectives."""
        primal = self.divergence(at.w) + prior(at.w, self.lam)
        return Solution(at.w, duals, primal, self.dual(duals, at.w), True, 0, "epochs")

    def visit(
        self,
        index: NDArray[np.intp],
        at: Weights,
        duals: Floats,
        order: Index,
        gram: NDArray[Any] | None,
    ) -> tuple[Floats, NDArray[Any]]:
        """Ascend on the rows of `index`; return their gaps before the visit and the Gram matrix."""
        block = self.rows.take(index)
        if gram is None:
            gram = block[0] @ block[0].T
        old = np.take(duals, index, axis=1)  # contiguous, unlike duals[:, index]
        new = old.copy()
        gaps = ascend_block(
            at.scores(block),
            gram.astype(np.float64),
            np.take(self.related, index, axis=1),
            self.weights[index],
            new,
            1.0 / self.lam,
            order,
        )
        at.add(block, (new - old) / self.lam)
        duals[:, index] = new
        return gaps, gram


def solve_rows(task: Task, controls: Controls, start: Floats | None = None) -> Solution:
    """Fit all labels to rows in memory, from the dual variables `start` or from zero.

    Starting at zero matters: most rows end there, and one half, the other natural choice, is far
    from the optimum of every easy row.
    """
    labels, width = len(task.related), task.rows.width
    with threads_for(block_size(width) * width * max(labels, block_size(width))):
        return _solve_rows(task, controls, start)


def _solve_rows(task: Task, controls: Controls, start: Floats | None) -> Solution:
    duals = np.zeros(task.related.shape) if start is None else start.copy()
    at = _synchronised(task, duals, trivial=start is None)
    sweeps = _Sweeps(task, controls)
    epoch, reason = 0, "epochs"
    estimates: list[float] = []
    try:
        while epoch < controls.max_epochs and reason == "epochs":
            epoch += 1
            running, complete = sweeps.run(at, duals)
            bound = float(task.dual(duals, at.w).sum())
            estimates.append(running / bound if bound > 0.0 else float("inf"))
            controls.tell(epoch, bound, estimates[-1])
            if not complete:
                reason = "time"
            elif estimates[-1] <= 4.0 * controls.tol:
                found = task.certified(at, duals)
                if found.gap <= controls.tol:
                    found.epochs, found.reason = epoch, "converged"
                    return found
            elif controls.stop_if_slow and _slow(estimates, controls.tol):
                reason = "slow"
    except KeyboardInterrupt:
        reason = "interrupted"
        at = _synchronised(task, duals)
    found = task.certified(at, duals)
    found.epochs = epoch
    found.reason = "converged" if found.gap <= controls.tol else reason
    return found


class _Sweeps:
    """Passes over rows in memory: fixed blocks of random rows, visited in random order.

    Gram matrices are kept from one pass to the next where that takes little memory.
    """

    def __init__(self, task: Task, controls: Controls) -> None:
        self.task, self.controls = task, controls
        self.rng = np.random.default_rng(controls.seed)
        n, size = task.rows.n, block_size(task.rows.width)
        order = self.rng.permutation(n)
        self.blocks = [order[i : i + size] for i in range(0, n, size)]
        self.keep = n * size * np.dtype(task.rows.dtype).itemsize <= FIT.gram_bytes
        self.grams: dict[int, NDArray[Any]] = {}

    def run(self, at: Weights, duals: Floats) -> tuple[float, bool]:
        """Visit every row once; return the running gap in bits, and whether time sufficed."""
        running = 0.0
        for b in self.rng.permutation(len(self.blocks)):
            if self.controls.late():
                return running, False
            inner = self.rng.permutation(len(self.blocks[b]))
            gaps, gram = self.task.visit(self.blocks[b], at, duals, inner, self.grams.get(b))
            if self.keep:
                self.grams[b] = gram
            running += float(gaps.sum()) / LN2
        return running, True


def _slow(estimates: list[float], tol: float) -> bool:
    """Say whether, at the pace of the last ten epochs, too many others are needed."""
    if len(estimates) < FIT.slow_after:
        return False
    before, now = estimates[-11], estimates[-1]
    pace = (now / before) ** 0.1 if 0.0 < before < float("inf") else 1.0
    return bool(now * min(pace, 1.0) ** FIT.slow_epochs > tol)


def _synchronised(task: Task, duals: Floats, trivial: bool = False) -> Weights:
    """Return w = sum_i duals_i x_i / lambda from scratch (`trivial`: all duals are zero)."""
    rows = task.rows
    at = Weights(np.zeros((len(duals), rows.width)), rows.dtype)
    if trivial:
        return at
    # Terms of a weak prior nearly cancel: single precision would leave little but rounding.
    total = np.zeros_like(at.w)
    for begin in range(0, rows.n, 256):
        part = slice(begin, begin + 256)
        x, columns = rows.take(part)
        total[:, slice(None) if columns is None else columns] += duals[:, part] @ x.astype(float)
    return Weights(total / task.lam, rows.dtype)
