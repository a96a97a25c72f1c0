"""What measures of pairs of elements share: all pairs of a set are scored by matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.features import checked_pairs, refuse_masked, shown, told_of_input
from relatum.kernels.learning.pair_products import pair_products
from relatum.measures import validation as checks
from relatum.measures.objective import sigmoid2


class ElementPairMeasure:
    """Log2-odds of a pair from an inner product of features of its two elements.

    A measure of this kind says what the features are (`features`), what stands between them
    (`_left`) and how many bits a product means (`_bits`).
    """

    def features(self, v: Any) -> Floats:
        """Return the features of elements, a row for each."""
        raise NotImplementedError

    def _left(self, z: Floats) -> Floats:
        return z

    def _bits(self, products: NDArray[Any]) -> NDArray[Any]:
        return products

    def log_odds(self, v: Any, i: ArrayLike, j: ArrayLike) -> Floats:
        """Log2-odds of the pairs (i[k], j[k]) of rows of v."""
        z = np.ascontiguousarray(self.features(v))
        first, second = checked_pairs(i, j, len(z))
        products = pair_products(np.ascontiguousarray(self._left(z)), z, first, second)
        return np.asarray(self._bits(np.asarray(products)))

    def predict_proba(self, v: Any, i: ArrayLike, j: ArrayLike) -> Floats:
        """Probabilities of being unrelated and related, of shape (pairs, 2)."""
        p = sigmoid2(self.log_odds(v, i, j))
        return np.column_stack([1.0 - p, p])

    def predict(self, v: Any, i: ArrayLike, j: ArrayLike) -> Index:
        """1 where related is more probable than not, else 0."""
        return np.asarray(self.log_odds(v, i, j) > 0, dtype=np.int64)

    def all_log_odds(
        self, v: Any, *, condensed: bool = True, dtype: Any = np.float32, rows: int = 1024
    ) -> NDArray[Any]:
        """Log2-odds of all pairs of rows of v, by matrix products.

        Parameters
        ----------
        v : array_like of shape (elements, features)
        condensed : bool, default=True
            Return the upper triangle row by row, of length n (n - 1) / 2, instead of a symmetric
            matrix.
        dtype : floating point type, default=float32
            Of the result and of the products.
        rows : int, default=1024
            Rows per block.
        """
        z64 = self.features(v)
        with told_of_input():
            dtype = np.dtype(dtype)
        if dtype.kind != "f" or not checks.is_whole(rows):
            raise DataError(
                f"dtype is a floating point type, rows a whole number; got {dtype}, {shown(rows)}."
            )
        with np.errstate(over="ignore"):
            z, left = z64.astype(dtype), self._left(z64).astype(dtype)
        if not (np.isfinite(z).all() and np.isfinite(left).all()):
            raise DataError(f"The elements' features are beyond {dtype}; give dtype=np.float64.")
        n = len(z)
        out = np.empty(n * (n - 1) // 2 if condensed else (n, n), dtype)
        at = 0
        for begin in range(0, n, rows):
            end = min(begin + rows, n)
            block = self._bits(left[begin:end] @ z[begin:].T)
            if not condensed:
                out[begin:end, begin:] = block
                out[begin:, begin:end] = block.T
                corner = block[:, : end - begin]
                out[begin:end, begin:end] = np.triu(corner) + np.triu(corner, 1).T
                continue
            for k in range(end - begin):
                part = block[k, k + 1 :]
                out[at : at + len(part)] = part
                at += len(part)
        return out

    def _checked_width(self, v: Any, width: int) -> NDArray[Any]:
        """Return elements as an array of as many columns as in fit."""
        table = elements_of(v)
        if table.shape[1] != width:
            raise DataError(f"v must have {width} features, as in fit; got {table.shape[1]}.")
        return table


def elements_of(v: Any) -> NDArray[Any]:
    """Return elements as an array of numbers, a row for each."""
    refuse_masked(v, "v")
    with told_of_input():
        table = np.asarray(check_array(v, dtype="numeric"))
    checks.require_sizes(table)
    return table
