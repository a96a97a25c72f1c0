"""Dual coordinate ascent on a stream of batches that is never held as a whole.

Memory: one batch of rows, the coefficients, and one dual variable per row and label (8 bytes;
none at all if the stream is read once).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from relatum.array_types import Flags, Floats
from relatum.errors import DataError, RelatumError
from relatum.measures.fit import sdca
from relatum.measures.fit.rows import Rows, computing_type
from relatum.measures.objective import LN2, entropy
from relatum.measures.validation import Targets, checked_batch, encode_targets, split_batch


def guarded(batches: Iterable[Any]) -> Iterator[Any]:
    """Iterate over `batches`; a failure of the source becomes a DataError that says where."""
    count = 0
    try:
        for batch in batches:
            yield batch
            count += 1
    except (RelatumError, GeneratorExit):
        raise
    except Exception as error:
        raise DataError(
            f"The source of batches failed after {count} batches "
            f"({type(error).__name__}: {error}). Nothing was changed; mend it and fit again."
        ) from error


class Stream:
    """Batches that are checked and encoded when they are read, and related rows counted.

    Parameters
    ----------
    measure : LogisticMeasure
        Says which precision and which prior.
    batches : iterable of (x, y)
    classes : array-like
        All labels that y may hold.
    """

    def __init__(self, measure: Any, batches: Any, classes: Any) -> None:
        self.measure, self.batches, self.classes = measure, batches, classes
        self.targets: Targets | None = None
        self.width: int | None = None
        self.related: Any = 0
        self.count = 0
        self.used = 0.0

    def choose_lambda(self, rows: Rows) -> float:
        """Return the factor of the prior, which may depend on the first batch."""
        self.used = float(self.measure._strength(rows))
        return sdca.natural_lambda(self.used)

    def epoch(self) -> Iterator[tuple[Rows, Flags]]:
        self.related, self.count = 0, 0
        for batch in guarded(self.batches):
            x, y = split_batch(batch)
            if y is None:
                raise DataError("A batch to learn from is (x, y): rows and targets; y is missing.")
            table = checked_batch(x, self.width)
            self.width = table.shape[1]
            self.targets = encode_targets(y, table.shape[0], self.classes)
            self.related = self.related + self.targets.related.sum(axis=1)
            self.count += table.shape[0]
            dtype = computing_type(
                table, self.measure.tol, float(self.measure.inverse_sigma_squared)
            )
            yield Rows(table, dtype, bool(self.measure.fit_intercept)), self.targets.related


class _Progress:
    """What ascent on a stream has reached: w, dual variables, running gap of one epoch."""

    def __init__(self) -> None:
        self.at: sdca.Weights | None = None
        self.lam = 1.0
        self.duals: list[Floats] = []
        self.fingerprints: list[int] = []
        self.running = np.zeros(0)
        self.entropy = np.zeros(0)

    def begin_epoch(self) -> None:
        self.running = np.zeros_like(self.running)

    def ensure(self, rows: Rows, labels: int, stream: Stream) -> sdca.Weights:
        if self.at is None:
            self.lam = stream.choose_lambda(rows)
            self.at = sdca.Weights(np.zeros((labels, rows.width)), rows.dtype)
            self.entropy = np.zeros(labels)
            self.running = np.zeros(labels)
        return self.at

    def dual_variables(
        self, number: int, rows: Rows, related: Flags, first: bool, keep: bool
    ) -> Any:
        shape = (len(related), rows.n)
        if first:
            duals = np.zeros(shape)
            if keep:
                self.duals.append(duals)
                self.fingerprints.append(_fingerprint(rows, related))
            return duals
        if (
            number >= len(self.duals)
            or self.duals[number].shape != shape
            or self.fingerprints[number] != _fingerprint(rows, related)
        ):
            raise DataError(
                "A stream that is read several times must yield the same batches every time; "
                f"batch {number} is new, of another size or in another order. Fix the order (ORDER "
                "BY) and the batch size, set max_epochs=1, or, for few features, use "
                "solver='newton', which needs no order."
            )
        return self.duals[number]

    def solution(self, epochs: int, reason: str) -> sdca.Solution:
        if self.at is None:
            raise DataError("The stream of batches is empty: it must yield at least one (x, y).")
        dual = self.entropy - sdca.prior(self.at.w, self.lam)
        return sdca.Solution(
            self.at.w, self.duals, dual + self.running, dual, False, epochs, reason
        )


def _fingerprint(rows: Rows, related: Flags) -> int:
    """Tell batches apart by their targets and a few rows: dual variables belong to rows."""
    block, _ = rows.take(np.unique([0, rows.n // 3, rows.n // 2, rows.n - 1]))
    return zlib.crc32(np.packbits(related).tobytes(), zlib.crc32(block.tobytes()))


def _read_once(
    progress: _Progress,
    stream: Stream,
    controls: sdca.Controls,
    rng: np.random.Generator,
    first: bool,
) -> bool:
    """Visit every batch once; return False if the deadline passed before the end."""
    keep = controls.max_epochs > 1
    progress.begin_epoch()
    for number, (rows, related) in enumerate(stream.epoch()):
        at = progress.ensure(rows, len(related), stream)
        ones = np.ones(rows.n)
        duals = progress.dual_variables(number, rows, related, first, keep)
        task = sdca.Task(rows, related, ones, progress.lam)
        before = entropy(duals, ones)
        order = rng.permutation(rows.n)
        size = sdca.block_size(rows.width)
        for begin in range(0, rows.n, size):
            index = order[begin : begin + size]
            gaps, _ = task.visit(index, at, duals, rng.permutation(len(index)), None)
            progress.running += gaps / LN2
        progress.entropy += entropy(duals, ones) - before
        if controls.late():
            return False
    return True


def solve_stream(stream: Stream, controls: sdca.Controls, once: bool) -> sdca.Solution:
    """Fit all labels to a stream.

    `once` says that it cannot be read again: one epoch, and no exact value of the objective.
    """
    rng = np.random.default_rng(controls.seed)
    progress = _Progress()
    epochs, reason = 0, "epochs"
    try:
        while epochs < (1 if once else controls.max_epochs):
            first = epochs == 0
            epochs += 1
            if not _read_once(progress, stream, controls, rng, first):
                reason = "time"
                break
            found = progress.solution(epochs, "converged")
            controls.tell(epochs, float(found.dual.sum()), found.gap)
            if controls.max_epochs > 1 and not once and found.gap <= 4.0 * controls.tol:
                found = _exact(found, stream, progress.lam)
                if found.gap <= controls.tol:
                    return found
    except KeyboardInterrupt:
        if progress.at is None:
            raise
        reason = "interrupted"
    found = progress.solution(epochs, reason)
    if reason == "epochs" and controls.max_epochs > 1:
        if once:
            found.reason = "once"
        else:
            found = _exact(found, stream, progress.lam)
    return found


def _exact(found: sdca.Solution, stream: Stream, lam: float) -> sdca.Solution:
    """Replace the running estimate of the primal objective by its value, in one more reading."""
    total = np.zeros(len(found.w))
    for rows, related in stream.epoch():
        total += sdca.Task(rows, related, np.ones(rows.n), lam).divergence(found.w)
    primal = total + sdca.prior(found.w, lam)
    return sdca.Solution(found.w, found.duals, primal, found.dual, True, found.epochs, found.reason)
