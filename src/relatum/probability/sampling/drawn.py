"""Probabilities of pairs from draws of several chains, with standard errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index

Draws = NDArray[np.uint16]
BATCHES = 4  # of consecutive draws, per chain
VISIT = 5  # draws of one more visit to where chains rarely are; they come in a row, not alone
AT_ONCE = 1 << 23  # comparisons, so that they fit into some megabytes


def spread(means: Floats, chains: int) -> Floats:
    """Return standard errors of the means over all batches, which are the last axis.

    The larger of what batches say, and what whole chains say: batches that are shorter than the
    memory of a chain are too much alike.

    Examples
    --------
    >>> float(spread(np.array([0.0, 1.0, 0.0, 1.0]), 2).round(3))
    0.289
    """
    count = means.shape[-1]
    by_batch = means.var(axis=-1, ddof=1) / count
    of_chains = means.reshape(*means.shape[:-1], chains, -1).mean(axis=-1)
    by_chain = of_chains.var(axis=-1, ddof=1) / chains
    return np.asarray(np.sqrt(np.maximum(by_batch, by_chain)))


class DrawnMarginals:
    """How often pairs were related in draws.

    Parameters
    ----------
    draws : (chains, draws of each, n) array
        Of a clustering the labels, of an order the places. The number of draws of each chain is
        a multiple of `BATCHES`.
    related : callable (array, array) -> bool array
        Whether elements with such numbers are related.
    certain : callable (i, j) -> bool array
        Which pairs are known, so that what was drawn has no error.
    """

    def __init__(
        self,
        draws: Draws,
        related: Callable[[Draws, Draws], Flags],
        certain: Callable[[Index, Index], Flags],
    ) -> None:
        self.chains, self.each, n = draws.shape
        self.by_element = np.ascontiguousarray(draws.reshape(-1, n).T)
        self.related, self.certain = related, certain

    def batch_means(self, i: Index, j: Index) -> Floats:
        """Return the means of the batches of all chains, a row for each pair."""
        x = self.related(self.by_element[i], self.by_element[j])
        batches = self.chains * BATCHES
        each = self.each // BATCHES
        return np.asarray(x.reshape(len(i), batches, each).mean(axis=2))

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        total = self.chains * self.each
        p, error = np.empty(len(i)), np.empty(len(i))
        step = max(1, AT_ONCE // total)
        for begin in range(0, len(i), step):
            some = slice(begin, begin + step)
            means = self.batch_means(i[some], j[some])
            p[some], error[some] = means.mean(axis=1), spread(means, self.chains)
        # what was never, or always, seen is not certain: the error of one more draw of each kind
        near = (p * total + 1) / (total + 2)
        error = np.maximum(error, np.sqrt(near * (1 - near) / total))
        error = np.hypot(error, VISIT / total)
        return p, np.where(self.certain(i, j), 0.0, error)
