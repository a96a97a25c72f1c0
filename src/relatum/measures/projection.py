"""Features of elements that tell pairs apart: discriminants of a polynomial lifting."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import TransformerTags

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import PolynomialLifting, checked_pairs
from relatum.measures import validation as checks

_ROWS = 2048  # lifted, or added to moments, at a time
# Enough pairs to estimate a covariance of some two thousand features.
_MOST_PAIRS = 100_000


@dataclass(eq=False, repr=False)
class DiscriminantProjection(BaseEstimator):  # type: ignore[misc]
    """Quadratic monomials of the directions in which related elements differ least.

    Elements are lifted to all quadratic monomials of their principal components. Among linear
    functions of these, the discriminants maximise the variance over all elements for a given
    mean square difference over related pairs. The features are the discriminants, and their
    quadratic monomials.

    Parameters
    ----------
    n_components : int, default=60
        Principal components.
    n_discriminants : int, default=12
    ridge : float, default=1e-3
        Added to the covariance within related pairs, relative to its mean eigenvalue.
    random_state : int, default=0
        Choice of related pairs, where there are more than 100,000.

    Attributes
    ----------
    lifting_ : PolynomialLifting
    discriminants_ : ndarray of shape (lifted features, discriminants)

    Examples
    --------
    >>> import numpy as np
    >>> v = np.random.default_rng(0).normal(size=(50, 6))
    >>> projection = DiscriminantProjection(4, 2).fit(v, [0, 1, 2, 3], [4, 5, 6, 7])
    >>> projection.transform(v).shape
    (50, 5)
    """

    n_components: int = 60
    n_discriminants: int = 12
    _: KW_ONLY
    ridge: float = 1e-3
    random_state: int = 0

    def fit(self, v: Any, i: ArrayLike, j: ArrayLike) -> DiscriminantProjection:
        """Learn the projection.

        Parameters
        ----------
        v : array_like of shape (elements, features)
        i, j : array_like of int, of shape (pairs,)
            Pairs of related elements.
        """
        checks.require_parameters(self, ["ridge"], ["n_components", "n_discriminants"])
        table = np.asarray(v)
        first, second = checked_pairs(i, j, len(table))
        if not len(first):
            raise DataError("The projection is learned from related pairs; there are none.")
        with checks.all_or_nothing(self):
            self._fit(table, first, second)
        return self

    def _fit(self, v: NDArray[Any], i: NDArray[np.intp], j: NDArray[np.intp]) -> None:
        rng = np.random.default_rng(self.random_state)
        if len(i) > _MOST_PAIRS:
            some = rng.choice(len(i), _MOST_PAIRS, replace=False)
            i, j = i[some], j[some]
        lifting = PolynomialLifting(self.n_components, random_state=self.random_state)
        self.lifting_ = lifting.set_output(transform="default").fit(v)  # arrays between the steps
        lifted = self.lifting_.transform(v)[:, 1:].astype(np.float32, copy=False)  # no constant
        center = lifted.mean(axis=0, dtype=np.float64)
        lifted -= center.astype(np.float32)
        total = _second_moments(lifted[k : k + _ROWS] for k in range(0, len(lifted), _ROWS))
        within = _second_moments(
            lifted[i[k : k + _ROWS]] - lifted[j[k : k + _ROWS]] for k in range(0, len(i), _ROWS)
        )
        width = len(total)
        within[np.diag_indices(width)] += self.ridge * np.trace(within) / width + 1e-12
        count = min(self.n_discriminants, width)
        _, directions = eigh(total, within, subset_by_index=[width - count, width - 1])
        directions = directions[:, ::-1]
        scores = lifted @ directions.astype(np.float32)
        spread = np.sqrt((scores.astype(np.float64) ** 2).mean(axis=0))
        self.discriminants_ = directions / np.where(spread > 0, spread, 1.0)
        self.offset_ = center @ self.discriminants_
        self._list_monomials(count)

    def _list_monomials(self, count: int) -> None:
        monomials = PolynomialFeatures(2, include_bias=False).set_output(transform="default")
        self._monomials = monomials.fit(np.zeros((1, count)))

    def __sklearn_tags__(self) -> Any:
        """Say that pairs are learned from: the checks of scikit-learn give elements only."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags, tags._skip_test = TransformerTags(), True
        return tags

    def transform(self, v: Any) -> Floats:
        """Return the features of elements, of shape (elements, features)."""
        checks.check_fitted(self, "discriminants_")
        table = np.asarray(v)
        out = np.empty((len(table), self._monomials.n_output_features_))
        for k in range(0, len(table), _ROWS):
            lifted = self.lifting_.transform(table[k : k + _ROWS])[:, 1:]
            out[k : k + _ROWS] = self._monomials.transform(
                lifted @ self.discriminants_ - self.offset_
            )
        return out


def _second_moments(blocks: Any) -> Floats:
    total: Any = 0.0
    count = 0
    for block in blocks:
        total = total + (block.T @ block).astype(np.float64)
        count += len(block)
    return np.asarray(total / count)
