"""The exact multilinear polynomial lifting."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in

from relatum.errors import DataError
from relatum.features import checks
from relatum.features.checks import FeatureMap


@dataclass(eq=False, repr=False)
class MultilinearLifting(FeatureMap):
    """The multilinear polynomial lifting l(v): the product of v over every set of features.

    The sets are those of at most `degree` features, smallest first, beginning with the empty
    set, whose product is 1. Without a limit on the degree, every function of 01-vectors is
    linear in l(v), with unique coefficients.

    Parameters
    ----------
    degree : int, default=None
        The largest size of a set. None: all 2^n sets of n features.
    binary : {"auto", True, False}, default="auto"
        Whether to require 01-features, products of which are ANDs, and to return uint8.
        ``"auto"``: iff the training data are of boolean or integer type and all 0 or 1.
        Otherwise products of real numbers are returned, as floats.
    max_components : int, default=2**20
        Refuse to make more components than that.

    Attributes
    ----------
    monomials_ : list of tuple of int
        The set of features that each output column multiplies.
    binary_ : bool
        Whether the input must be 01-features.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import MultilinearLifting
    >>> lifting = MultilinearLifting()
    >>> lifting.fit_transform(np.array([[0, 1], [1, 1]]))
    array([[1, 0, 1, 0],
           [1, 1, 1, 1]], dtype=uint8)
    >>> lifting.get_feature_names_out(["rain", "wind"]).tolist()
    ['1', 'rain', 'wind', 'rain wind']
    """

    takes_sparse = True
    degree: int | None = None
    _: KW_ONLY
    binary: bool | str = "auto"
    max_components: int = 2**20

    def fit(self, X: ArrayLike, y: Any = None) -> MultilinearLifting:
        """List the monomials for the width of `X`."""
        x = checks.checked_input(self, X, reset=True, accept_sparse="csr")
        n = self.n_features_in_
        degree = n if self.degree is None else min(n, checks.checked_count(self, "degree", least=0))
        total = sum(comb(n, size) for size in range(degree + 1))
        if total > checks.checked_count(self, "max_components"):
            raise DataError(
                f"MultilinearLifting: max_components allows {self.max_components} monomials, got "
                f"{total} of degree at most {degree} in {n} features; pass a lower degree, or use "
                f"TensorSketch or RandomMonomials"
            )
        self.binary_ = checks.fits_binary(self, x)
        self.monomials_ = [s for size in range(degree + 1) for s in combinations(range(n), size)]
        # every set is an earlier one (all but its last feature) and one feature more
        place = {s: k for k, s in enumerate(self.monomials_)}
        steps = [(place[s[:-1]], s[-1]) for s in self.monomials_[1:]]
        self._steps = np.array(steps, dtype=np.intp).reshape(-1, 2)
        self._n_features_out = total
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any] | sparse.csr_matrix[Any]:
        """Return l(v) for the rows v of `X`: dense, or CSR if `X` is sparse."""
        checks.checked_fitted(self)
        x = checks.checked_input(self, X, reset=False, accept_sparse="csr")
        x = checks.checked_values(self, x, binary=self.binary_)
        if checks.is_sparse(x):
            return self._transform_sparse(sparse.csc_matrix(x))
        # monomials by rows, so that every product is of contiguous rows
        by_feature = np.ascontiguousarray(x.T)
        lifted = np.ones((self._n_features_out, x.shape[0]), dtype=x.dtype)
        for k, (earlier, feature) in enumerate(self._steps, start=1):
            with np.errstate(over="ignore"):  # looked at below
                np.multiply(lifted[earlier], by_feature[feature], out=lifted[k])
        checks.require_finite(lifted, self)
        return np.ascontiguousarray(lifted.T)

    def _transform_sparse(self, x: Any) -> sparse.csr_matrix[Any]:
        """Multiply level by level: all sets of one size at once."""
        level: Any = sparse.csc_matrix(np.ones((x.shape[0], 1), dtype=x.dtype))
        levels = [level]
        sizes = np.array([len(s) for s in self.monomials_])
        starts = np.searchsorted(sizes, np.arange(sizes[-1] + 2))
        for size in range(1, sizes[-1] + 1):
            steps = self._steps[starts[size] - 1 : starts[size + 1] - 1]
            level = sparse.csc_matrix(
                level[:, steps[:, 0] - starts[size - 1]].multiply(x[:, steps[:, 1]])
            )
            levels.append(level)
        return sparse.csr_matrix(sparse.hstack(levels, format="csr", dtype=x.dtype))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the monomials: ``1``, ``x0``, ``x0 x1``."""
        checks.checked_fitted(self)
        names = _check_feature_names_in(self, input_features)
        out = [" ".join(names[j] for j in s) or "1" for s in self.monomials_]
        return checks.distinct(out)
