"""A measure of pairs learned without labels: whether random walks mix between two elements."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.features import checked_input, of_different_units, shown
from relatum.measures import validation as checks
from relatum.measures.beta_mixture import BINS, BetaMixture, fitted_mixture
from relatum.measures.element_pairs import ElementPairMeasure
from relatum.measures.walks import neighbour_sets, similarities, slow_modes

_NEIGHBOURS = 15  # at most, by default; the root of half of the elements if that is less
_COMPARED = 2000  # elements, all pairs of which make the histogram of similarities


@dataclass(eq=False, repr=False)
class DiffusionPairMeasure(ElementPairMeasure, BaseEstimator):  # type: ignore[misc]
    """Log2-odds that two elements belong together, from neighbours alone; no labels.

    Elements are similar if they have near neighbours in common. A random walk goes from an element
    to similar ones. For a long time it stays within a cluster, in which it mixes quickly: the
    number of slow modes is where their times have a gap, and the time at which walks are looked at
    is within the gap. Two elements are the more probably related the more the walks that began at
    them look alike at that time. How much that says, in bits, is learned from all pairs by
    expectation maximisation: a mixture of two Beta distributions, of related and unrelated pairs.

    Only ranks of distances matter: neither density nor dimension nor the shape of clusters is
    supposed. Elements that are further apart than neighbours of neighbours are compared by
    the chains between them.

    Parameters
    ----------
    n_neighbors : int, optional
        Nearest elements of each. By default 15, or the root of half of their number if that is
        less. A cluster has more elements than this.
    max_clusters : int, default=100
        At most so many slow modes are looked for, and about as many clusters can be told apart.
    standardize : bool or "auto", default="auto"
        Whether to scale columns to variance 1; "auto" does if a few vary far more than most.

    Attributes
    ----------
    separation_ : float
        How much slower walks leave the clusters than they mix in them. Above 4, no set without
        gaps looks like this. Below, clusters shade into each other, or there are none: this
        measure finds clusters wherever it looks.
    n_modes_ : int
        Slow modes: about the number of clusters.
    time_ : float
        Steps after which walks are compared.
    share_ : float
        Share of pairs that are related, as estimated.
    shape_ : float
        c of the Beta distributions (c, 1) of related and (1, c) of unrelated pairs.
    elements_, sets_, modes_, values_ : ndarray
        The distinct elements, scaled, their neighbours, and the slow modes of walks between them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> measure = DiffusionPairMeasure().fit(X)
    >>> measure.n_modes_
    2
    >>> measure.all_log_odds(X).shape
    (19900,)
    """

    n_neighbors: int | None = None
    _: KW_ONLY
    max_clusters: int = 100
    standardize: bool | str = "auto"

    def fit(self, X: Any, y: Any = None) -> DiffusionPairMeasure:
        """Learn from elements which pairs of them are related.

        Parameters
        ----------
        X : array_like of shape (elements, features)
        y : ignored
        """
        whole = ["max_clusters"] + ["n_neighbors"] * (self.n_neighbors is not None)
        checks.require_parameters(self, [], whole)
        chosen = self.standardize
        if not isinstance(chosen, bool | np.bool_) and not (
            isinstance(chosen, str) and chosen == "auto"
        ):
            raise DataError(f'standardize is True, False or "auto", got {shown(chosen)}.')
        with checks.all_or_nothing(self):
            table = checked_input(self, X, reset=True, dtype=np.float64)
            checks.require_sizes(table)
            self.scale_ = np.ones(table.shape[1])
            if chosen is True or (chosen == "auto" and of_different_units(table)):
                spread = table.std(axis=0)
                self.scale_ = np.where(spread > 0, spread, 1.0)
            self.elements_ = np.unique(table / self.scale_, axis=0)
            self._learn()
        return self

    def _learn(self) -> None:
        n = len(self.elements_)
        wanted = (
            min(_NEIGHBOURS, round((n / 2) ** 0.5))
            if self.n_neighbors is None
            else self.n_neighbors
        )
        self.sets_ = neighbour_sets(self.elements_, self.elements_, min(1 + wanted, n))
        modes = slow_modes(similarities(self.sets_, self.sets_, n), min(self.max_clusters, n))
        self.values_, self.modes_ = modes.values, modes.vectors
        self.time_, self.separation_, self.n_modes_ = (
            modes.time,
            modes.separation,
            len(modes.values),
        )
        some = np.unique(np.linspace(0, n - 1, min(n, _COMPARED)).astype(np.int64))
        z = self._features(self.sets_[some])
        mixture = fitted_mixture(_histogram(z))
        self.share_, self.shape_ = mixture

    def features(self, v: Any) -> Floats:
        """Return where walks from elements are after `time_` steps, as unit vectors of modes."""
        checks.check_fitted(self, "shape_")
        table = self._checked_width(v, self.n_features_in_) / self.scale_
        return self._features(neighbour_sets(table, self.elements_, self.sets_.shape[1]))

    def _features(self, sets: Index) -> Floats:
        """Return features of elements whose neighbours are given, seen in fit or not.

        One step leads to elements that were seen, whose modes are known; there are `time_` of them
        in all, half of them from each side.
        """
        left = np.maximum(self.values_, 1e-9) ** (self.time_ / 2.0 - 1.0)
        z = similarities(sets, self.sets_, len(self.elements_)) @ (self.modes_ * left)
        return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))

    def _bits(self, products: NDArray[Any]) -> NDArray[Any]:
        return BetaMixture(self.share_, self.shape_).log_odds(products)

    def __sklearn_tags__(self) -> Any:
        """Say that pairs are scored: the checks of scikit-learn give elements only."""
        tags = super().__sklearn_tags__()
        tags._skip_test = True
        return tags


def _histogram(z: Floats) -> Floats:
    """Return how many pairs of rows have an inner product in each bin of [0, 1]."""
    counts = np.zeros(BINS)
    for k in range(0, len(z), 256):
        block = z[k : k + 256] @ z[k:].T
        above = np.triu(np.ones(block.shape, dtype=np.bool_), 1)
        counts += np.histogram(np.clip(block[above], 0.0, 1.0), BINS, (0.0, 1.0))[0]
    counts[-1] += len(z) == 1  # an element is related to itself
    return counts
