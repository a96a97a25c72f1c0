"""Polynomials in principal components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import _check_feature_names_in

from relatum.features import checks
from relatum.features.checks import FeatureMap

_ROWS = 4096  # lifted at a time


@dataclass(eq=False, repr=False)
class PolynomialLifting(FeatureMap):
    """All monomials of degree at most 2 in principal components, and cubics of the first few.

    Parameters
    ----------
    n_components : int, default=60
        Principal components p (as many as the data have, if fewer); they give
        (p + 1)(p + 2) / 2 columns.
    n_cubic : int, default=0
        The first q of them (all, if fewer), whose q (q + 1)(q + 2) / 6 cubic monomials are
        added.
    scale : {"common", "half", "whiten", "none"}, default="common"
        ``"common"`` divides all components by the root of their mean variance, so that linear,
        quadratic and cubic columns are of one order of magnitude, and the first components
        stay the largest. ``"half"`` divides each by the geometric mean of its own standard
        deviation and one common to all, half way to ``"whiten"``: the columns differ less in
        size, which conditions learning better. ``"whiten"`` gives every component
        variance 1.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the randomised PCA of large data.

    Attributes
    ----------
    pca_ : sklearn.decomposition.PCA
        The projection.
    scale_ : ndarray of shape (components,)
        What the components are divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import PolynomialLifting
    >>> x = np.random.default_rng(0).normal(size=(50, 10))
    >>> PolynomialLifting(n_components=4, n_cubic=2).fit_transform(x).shape  # 15 + 4
    (50, 19)
    """

    n_components: int = 60
    n_cubic: int = 0
    _: KW_ONLY
    scale: str = "common"
    random_state: Any = None

    def fit(self, X: ArrayLike, y: Any = None) -> PolynomialLifting:
        """Learn the principal components of `X` and their scale."""
        from sklearn.decomposition import PCA  # imports all linear models: only where it is used

        most = checks.checked_count(self, "n_components")
        cubic = checks.checked_count(self, "n_cubic", least=0)
        checks.checked(self, "scale", ("common", "half", "whiten", "none"))
        x = self._reals(X, reset=True)
        with np.errstate(over="ignore"):  # variances are sums of squares
            checks.require_finite(np.square(np.abs(x).max(keepdims=True) * x.shape[0]), self)
        count = min(most, *x.shape)
        cubic = min(cubic, count)
        seed = int(checks.checked_seed(self.random_state).integers(2**31))
        with np.errstate(invalid="ignore"):  # shares of the variance of constant data
            # arrays between the steps, whatever scikit-learn is told to return
            self.pca_ = PCA(count, random_state=seed).set_output(transform="default").fit(x)
        variance = np.maximum(self.pca_.explained_variance_.astype(np.float64), 0.0)
        if self.scale == "common":
            variance = np.full(count, variance.mean())
        elif self.scale == "half":
            positive = variance[variance > 0]
            middle = np.exp(np.log(positive).mean()) if positive.size else 1.0
            variance = np.sqrt(variance * middle)
        elif self.scale == "none":
            variance = np.ones(count)
        # directions without variance, but for rounding, are left as they are: all zeros
        eps = float(np.finfo(x.dtype).eps)
        tiny = eps * float(variance.max()) + (8 * eps * float(np.abs(x).max())) ** 2
        self.scale_ = np.sqrt(np.where(variance > tiny, variance, 1.0)).astype(x.dtype)
        self._list_monomials(count, cubic)
        return self

    def _list_monomials(self, count: int, cubic: int) -> None:
        """Prepare the quadratic monomials of ``count`` components, and cubic ones of the first."""
        z = np.zeros((1, count))
        self._quadratic = PolynomialFeatures(2).set_output(transform="default").fit(z)
        self._cubic, self._n_features_out = None, int(self._quadratic.n_output_features_)
        if cubic:
            cubes = PolynomialFeatures((3, 3), include_bias=False).set_output(transform="default")
            self._cubic = cubes.fit(z[:, :cubic])
            self._n_features_out += int(cubes.n_output_features_)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the monomials, of shape (rows, columns)."""
        checks.checked_fitted(self)
        x = self._reals(X, reset=False)
        out = np.empty((len(x), self._n_features_out), dtype=x.dtype)
        split = self._quadratic.n_output_features_
        for lo in range(0, len(x), _ROWS):
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                z = self.pca_.transform(x[lo : lo + _ROWS]) / self.scale_
                checks.require_finite(z, self)
                out[lo : lo + _ROWS, :split] = self._quadratic.transform(z)
                if self._cubic is not None:
                    q = self._cubic.n_features_in_
                    out[lo : lo + _ROWS, split:] = self._cubic.transform(z[:, :q])
        checks.require_finite(out, self)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the monomials: ``1``, ``pca0``, ``pca0^2``, ``pca0 pca1``."""
        checks.checked_fitted(self)
        _check_feature_names_in(self, input_features)  # refused unless they are the input's
        names = [f"pca{k}" for k in range(self.pca_.n_components_)]
        out = [self._quadratic.get_feature_names_out(names)]
        if self._cubic is not None:
            out.append(self._cubic.get_feature_names_out(names[: self._cubic.n_features_in_]))
        return np.concatenate(out)

    def _reals(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """Validate; small whole types need no more than single precision."""
        x = checks.checked_input(self, X, reset=reset, ensure_min_samples=2 if reset else 1)
        if x.dtype in (np.bool_, np.uint8, np.int8, np.float32):
            return np.asarray(x, dtype=np.float32)
        return np.asarray(x, dtype=np.float64)
