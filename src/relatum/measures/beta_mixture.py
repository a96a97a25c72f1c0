"""Two kinds of pairs told apart without labels: a mixture of two Beta distributions, by EM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.measures.objective import LN2

BINS = 512  # of similarities: EM then costs the same whatever the number of pairs
EDGE = 1.0 / 1024  # similarities are between this and 1 minus this
MOST_BITS = 10.0  # a pair says at most this: no count of pairs could show that it is surer
_ROUNDS, _CLOSE = 500, 1e-6
_LEAST_SHARE = 1e-6


class BetaMixture(NamedTuple):
    """Similarities x in [0, 1] of related and of unrelated pairs.

    Of related pairs, x has the density c x^(c - 1), of unrelated ones c (1 - x)^(c - 1), the same
    turned round: log-odds are linear in those of x. Two shapes would fit better, and fail where
    few unrelated pairs are fairly similar: a light tail would say that they are related.

    Attributes
    ----------
    share : float
        Of all pairs that are related.
    shape : float
        c, at least 1.
    """

    share: float
    shape: float

    def log_odds(self, similarity: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return log2-odds that pairs of these similarities are related, at most `MOST_BITS`."""
        x = np.clip(similarity, EDGE, 1.0 - EDGE)
        prior = np.log(self.share) - np.log1p(-self.share)
        bits = (prior + (self.shape - 1.0) * (np.log(x) - np.log1p(-x))) / LN2
        return np.asarray(np.clip(bits, -MOST_BITS, MOST_BITS).astype(x.dtype, copy=False))


def fitted_mixture(counts: Floats) -> BetaMixture:
    """Return the most probable mixture near similarities taken for probabilities, by EM.

    Parameters
    ----------
    counts : array of shape (BINS,)
        How many pairs are in each of equal bins of [0, 1].
    """
    x = np.clip((np.arange(BINS) + 0.5) / BINS, EDGE, 1.0 - EDGE)
    weights = np.asarray(counts, dtype=np.float64) / np.sum(counts)
    related = x
    for _ in range(_ROUNDS):
        share = float(np.clip(weights @ related, _LEAST_SHARE, 1.0 - _LEAST_SHARE))
        surprise = -weights @ (related * np.log(x) + (1.0 - related) * np.log1p(-x))
        mixture = BetaMixture(share, max(1.0, float(1.0 / surprise)))
        again = 1.0 / (1.0 + np.exp2(-mixture.log_odds(x)))
        change = float(np.abs(again - related).max())
        related = again
        if change < _CLOSE:
            break
    return mixture
