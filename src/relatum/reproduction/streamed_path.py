"""Logistic measures of pairs for many strengths of the prior, in the same readings of a stream.

Features of pairs are costly to compute and too many to hold. So every batch of features is
computed once and visited for all strengths: dual coordinate ascent, as in `relatum.measures`,
with one prior per row of coefficients.

Dual ascent needs about 1 + |x|^2 / (4 lambda) readings, too many where the prior is weak. There,
every reading is one proximal step instead: the prior is strengthened, for this reading, by one
about the coefficients reached before. Its sum with the weak prior is a Gaussian again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats
from relatum.kernels.learning.dual_ascent import ascend_block
from relatum.measures import LN2, entropy
from relatum.measures.fit import natural_lambda, prior

_BLOCK = 64  # rows whose inner products with each other are computed at a time


class StreamedPath:
    """Dual ascent for many strengths at once.

    Parameters
    ----------
    inverse_sigma_squared : array-like of shape (strengths,)
    y : array-like of 0 and 1, of shape (rows,)
        The targets of all rows of the stream.
    width : int
        Features per row.
    mean_square : float
        Mean of |x|^2, about: priors weaker than a sixteenth of it are helped by proximal steps.
    seed : int

    Attributes
    ----------
    w : float64 array (strengths, width)
        Coefficients, in nats; `theta` in bits.
    duals : float64 array (strengths, rows)
    epochs : int
        Complete readings of the stream.
    gaps : float64 array (strengths,)
        Running duality gap of the last reading, relative to the objective of that reading.
    proximal : bool array (strengths,)
        Where that objective is not the one of the prior asked for but of a proximal step.
    """

    def __init__(
        self,
        inverse_sigma_squared: ArrayLike,
        y: ArrayLike,
        width: int,
        mean_square: float,
        seed: int = 0,
    ) -> None:
        self.strengths = np.asarray(inverse_sigma_squared, dtype=np.float64)
        least = mean_square / 16.0
        self.proximal = self.strengths < least
        self._added = np.where(self.proximal, least, 0.0) * natural_lambda(1.0)
        self.related = np.asarray(y).astype(np.bool_)
        self.w = np.zeros((len(self.strengths), width))
        self.centre = np.zeros((int(self.proximal.sum()), width))
        self.duals = np.zeros((len(self.strengths), len(self.related)))
        self.epochs = 0
        self.gaps = np.full(len(self.strengths), np.inf)
        self.seed = seed

    @property
    def theta(self) -> Floats:
        """Coefficients in bits."""
        return self.w / LN2

    def read(self, batches: Iterable[Any], tell: Callable[[int], None] | None = None) -> None:
        """Visit every row of a stream of (x, y) once, for all strengths.

        Parameters
        ----------
        batches : iterable of (x, y)
            The same rows, in the same order, in every reading.
        tell : callable, optional
            Told the number of rows seen.
        """
        rng = np.random.default_rng([self.seed, self.epochs])
        lam = natural_lambda(1.0) * self.strengths + self._added
        self._recentre(lam)
        copy = self.w.astype(np.float32)
        running = np.zeros(len(lam))
        seen = 0
        for x, _ in batches:
            for begin in range(0, len(x), _BLOCK):
                block = np.ascontiguousarray(x[begin : begin + _BLOCK], dtype=np.float32)
                running += self._visit(block, seen + begin, lam, copy, rng)
            seen += len(x)
            if tell is not None:
                tell(seen)
        self.epochs += 1
        ones = np.ones(len(self.related))
        moved = self.w.copy()
        moved[self.proximal] -= self.centre
        dual = np.array(
            [
                float(entropy(self.duals[k : k + 1], ones)[0] + prior(moved[k : k + 1], lam[k])[0])
                for k in range(len(lam))
            ]
        )
        # the dual objective is entropy - <w, sum_i duals_i x_i> + |...|^2 / 2 lambda
        dual -= lam * np.einsum("km,km->k", self.w, moved) / LN2
        self.gaps = running / LN2 / np.maximum(dual + running / LN2, np.finfo(float).tiny)

    def _recentre(self, lam: Floats) -> None:
        """Move the centres of the proximal priors to where the coefficients are.

        With w = centre + sum_i duals_i x_i / lambda, the coefficients move on by as much as they
        moved before: the dual variables of one step start the next.
        """
        near = self.proximal
        target = self.w[near] * (self._added[near] / lam[near])[:, None]
        self.w[near] += target - self.centre
        self.centre = target

    def _visit(
        self,
        block: NDArray[np.float32],
        first: int,
        lam: Floats,
        copy: NDArray[np.float32],
        rng: np.random.Generator,
    ) -> Floats:
        rows = slice(first, first + len(block))
        gram = (block @ block.T).astype(np.float64)
        scores = np.ascontiguousarray((block @ copy.T).T, dtype=np.float64)
        related = self.related[None, rows]
        new = self.duals[:, rows].copy()
        ones = np.ones(len(block))
        order = rng.permutation(len(block))
        gaps = np.zeros(len(lam))
        for k in range(len(lam)):
            one = slice(k, k + 1)
            gaps[k] = ascend_block(scores[one], gram, related, ones, new[one], 1.0 / lam[k], order)[
                0
            ]
        change = (new - self.duals[:, rows]) / lam[:, None]
        self.w += change.astype(np.float32) @ block
        copy[...] = self.w
        self.duals[:, rows] = new
        return gaps
