"""01-features of numbers: the bits of unsigned integers, and threshold codes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import checks
from relatum.features.checks import FeatureMap

_MOST_THRESHOLDS = 1 << 20
_MOST_BITS = 64


@dataclass(eq=False, repr=False)
class BinaryFeatures(FeatureMap):
    """01-features of numbers: their bits, or whether they reach given thresholds.

    Every column of the input gives k neighbouring columns of the output: column j, code c is
    output column j * k + c.

    Parameters
    ----------
    code : {"bits", "thermometer", "quantiles"}, default="bits"
        ``"bits"``: the binary digits of non-negative integers, least significant first; 8 of
        them for uint8, as in the paper's experiments on images.
        ``"thermometer"``: whether the number is at least each of k thresholds that divide the
        range seen in training evenly (the range of the type, for unsigned integers).
        ``"quantiles"``: the same, with thresholds at the quantiles of the training data,
        column by column.
    n_bits : int, default=None
        Digits per number, for ``"bits"``. None: all digits of an unsigned type; of other types,
        as many as the largest number seen in training needs.
    thresholds : int or array-like, default=8
        For the threshold codes: their number, or the thresholds themselves, common to all
        columns.
    sparse_output : bool, default=False
        Whether to return a CSR matrix instead of an array.
    dtype : dtype, default=numpy.uint8
        The type of the output.

    Attributes
    ----------
    n_codes_ : int
        Output columns per input column, k.
    thresholds_ : ndarray of shape (n_features_in_, n_codes_)
        For the threshold codes: the thresholds, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import BinaryFeatures
    >>> BinaryFeatures().fit_transform(np.array([[5], [130]], dtype=np.uint8))
    array([[1, 0, 1, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 1]], dtype=uint8)
    >>> BinaryFeatures(code="thermometer", thresholds=[1, 64]).fit_transform([[0], [9], [80]])
    array([[0, 0],
           [1, 0],
           [1, 1]], dtype=uint8)
    """

    code: str = "bits"
    _: KW_ONLY
    n_bits: int | None = None
    thresholds: int | ArrayLike = 8
    sparse_output: bool = False
    dtype: Any = np.uint8

    def fit(self, X: ArrayLike, y: Any = None) -> BinaryFeatures:
        """Learn the number of digits, or the thresholds, from `X`."""
        code = checks.checked(self, "code", ("bits", "thermometer", "quantiles"))
        checks.checked_switches(self, "sparse_output")
        self._number_type()
        x = checks.checked_input(self, X, reset=True)
        if code == "bits":
            self.n_codes_ = self._digits(x)
            _require_integers(x, self.n_codes_)
        else:
            with checks.told_of_room(self, "thresholds"):
                self.thresholds_ = self._learned_thresholds(x)
            self.n_codes_ = self.thresholds_.shape[1]
        self._n_features_out = self.n_features_in_ * self.n_codes_
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any] | sparse.csr_matrix[Any]:
        """Return the 01-features of `X`, of shape (rows, n_features_in_ * n_codes_)."""
        checks.checked_fitted(self)
        x = checks.checked_input(self, X, reset=False)
        if self.code == "bits":
            codes = self._bits(x)
        else:
            codes = np.empty((*x.shape, self.n_codes_), dtype=np.bool_)
            for c in range(self.n_codes_):
                np.greater_equal(x, self.thresholds_[:, c], out=codes[:, :, c])
        flat = codes.reshape(len(x), -1).astype(self._number_type(), copy=False)
        return sparse.csr_matrix(flat) if self.sparse_output else flat

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the output columns: ``x3[bit 0]``, or ``x3>=0.5``."""
        checks.checked_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.code == "bits":
            out = [f"{name}[bit {c}]" for name in names for c in range(self.n_codes_)]
        else:
            out = [
                f"{name}>={threshold}"
                for name, row in zip(names, self.thresholds_, strict=True)
                for threshold in _shortest(row)
            ]
        return checks.distinct(out)

    def _number_type(self) -> np.dtype[Any]:
        with checks.told_of_input():
            dtype: np.dtype[Any] = np.dtype(self.dtype)
        if dtype.kind not in "biuf":
            raise DataError(f"BinaryFeatures: dtype must be a type of numbers, got {dtype}")
        return dtype

    def _digits(self, x: NDArray[Any]) -> int:
        if self.n_bits is not None:
            digits = checks.checked_count(self, "n_bits")
            if digits > _MOST_BITS:
                raise DataError(
                    f"BinaryFeatures: n_bits must be at most {_MOST_BITS}, got {digits}; "
                    f"pass a smaller number"
                )
            return digits
        if x.dtype.kind == "u":
            return int(x.dtype.itemsize) * 8
        try:
            return max(1, int(x.max()).bit_length())
        except (TypeError, ValueError):  # objects of several kinds
            raise DataError(
                "BinaryFeatures: code='bits' encodes non-negative integers, got elements of dtype "
                f"{x.dtype}, not all of them numbers; pass an array of integers"
            ) from None

    def _bits(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        _require_integers(x, self.n_codes_)
        width = next(w for w in (8, 16, 32, 64) if w >= self.n_codes_)
        whole = np.ascontiguousarray(x, dtype=f"<u{width // 8}")
        # flat, because unpacking along an axis goes octet by octet
        bits = np.unpackbits(whole.view(np.uint8).ravel(), bitorder="little")
        return bits.reshape(*x.shape, width)[:, :, : self.n_codes_]

    def _learned_thresholds(self, x: NDArray[Any]) -> Floats:
        if not isinstance(self.thresholds, int | np.integer):
            with checks.told_of_input():
                given = np.asarray(self.thresholds, dtype=np.float64)
            if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
                raise DataError(
                    "BinaryFeatures: thresholds must be a positive integer or a non-empty list "
                    f"of finite numbers, got {checks.shown(self.thresholds)}; pass one of these"
                )
            return np.tile(np.unique(given), (x.shape[1], 1))
        count = checks.checked_count(self, "thresholds")
        if count > _MOST_THRESHOLDS:
            raise DataError(
                f"BinaryFeatures: thresholds must be at most {_MOST_THRESHOLDS}, got {count}; pass "
                "a smaller number"
            )
        inner = np.arange(1, count + 1) / (count + 1)
        if self.code == "quantiles":
            quantiles = np.quantile(x.astype(np.float64, copy=False), inner, axis=0)
            return np.ascontiguousarray(quantiles.T)
        if x.dtype.kind == "u":
            low, high = np.zeros(x.shape[1]), np.full(x.shape[1], float(np.iinfo(x.dtype).max))
        else:
            low, high = x.min(axis=0).astype(float), x.max(axis=0).astype(float)
        with np.errstate(over="ignore", invalid="ignore"):
            found = low[:, None] + (high - low)[:, None] * inner
        checks.require_finite(found, self)
        return np.asarray(found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.categorical = self.code == "bits"
        tags.input_tags.positive_only = self.code == "bits"
        return tags


def _shortest(thresholds: Floats) -> list[str]:
    """Write the thresholds of one column with six digits, or with all where that is too few."""
    short = [f"{threshold:.6g}" for threshold in thresholds]
    if len(set(short)) == len(np.unique(thresholds)):
        return short
    return [f"{threshold:.17g}" for threshold in thresholds]


def _require_integers(x: NDArray[Any], digits: int) -> None:
    way_out = "pass unsigned integers, or use code='thermometer' or code='quantiles'"
    if x.dtype.kind == "b":
        return
    if x.dtype.kind not in "iu" and not np.array_equal(x, np.floor(x)):
        culprit = x[x != np.floor(x)].flat[0]
        raise DataError(
            f"BinaryFeatures: code='bits' encodes non-negative integers, got {culprit}; {way_out}"
        )
    if x.min() < 0:
        raise DataError(
            "Negative values in data passed to BinaryFeatures: code='bits' encodes non-negative "
            f"integers, got {x.min()}; {way_out}"
        )
    if int(x.max()).bit_length() > digits:
        raise DataError(
            f"BinaryFeatures: {digits} bits hold numbers below 2^{digits}, got {x.max()}; "
            f"pass a larger n_bits and fit again"
        )
