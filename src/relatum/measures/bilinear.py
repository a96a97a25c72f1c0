"""The bilinear measure of pairs: all pairs of a set are scored by one matrix product."""

from __future__ import annotations

import time
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from relatum.array_types import Flags, Floats
from relatum.errors import DataError
from relatum.features import checked_pairs, shown, told_of_input
from relatum.kernels.learning.pair_products import pair_products
from relatum.live import seen
from relatum.measures import validation as checks
from relatum.measures.element_pairs import ElementPairMeasure, elements_of
from relatum.measures.fit.lbfgs import run_lbfgs
from relatum.measures.fit.sdca import Controls, Monitor, natural_lambda
from relatum.measures.objective import LN2
from relatum.measures.projection import DiscriminantProjection

ALL_PAIRS = 4_000_000  # pairs of elements at most of which all are multiplied, 32 MB
SHARE_OF_ALL = 8  # and the given ones are no less than one in so many


@dataclass(eq=False, repr=False)
class BilinearPairMeasure(ElementPairMeasure, BaseEstimator):  # type: ignore[misc]
    r"""Log2-odds :math:`z_a^T W z_{a'}` of a pair, with :math:`W` symmetric.

    z holds features of one element and the constant 1, so that linear terms and an offset are
    part of W. As x of a pair made of AND and XOR is bilinear in the features of its elements, so
    is every monomial of it in monomials of each element: this is the logistic model of pairs,
    with :math:`\theta = W` and the Gaussian prior on the entries of W, still convex. It does not
    change when a and a' are swapped.

    Parameters
    ----------
    inverse_sigma_squared : float, default=1.0
        Strength of the prior, relative to the features z, scaled to mean square 1.
    projection : {"discriminant", None} or transformer, default="discriminant"
        What makes z of the elements' features: a DiscriminantProjection, nothing, or any object
        with ``fit(v, i, j)`` (related pairs) and ``transform(v)``.
    tol : float, default=1e-3
        Stop at this relative duality gap.
    max_iter : int, default=300
    time_limit : float, optional
        Seconds after which the best found so far is kept, with a ConvergenceWarning.

    Attributes
    ----------
    matrix_ : ndarray of shape (1 + features, 1 + features)
        W, in bits; row and column 0 belong to the constant.
    projection_ : transformer or None
    objective_, dual_objective_ : float
        :math:`D_x + R_\sigma` in bits, and a lower bound on its minimum.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> v = np.array([[-1.0], [-1.1], [1.0], [1.1]])
    >>> i, j = np.triu_indices(4, 1)
    >>> measure = BilinearPairMeasure(0.1, projection=None).fit(v, i, j, [1, 0, 0, 0, 0, 1])
    >>> (measure.log_odds(v, i, j) > 0).tolist()
    [True, False, False, False, False, True]
    """

    inverse_sigma_squared: float = 1.0
    _: KW_ONLY
    projection: Any = "discriminant"
    tol: float = 1e-3
    max_iter: int = 300
    time_limit: float | None = None

    @seen("learning")
    def fit(
        self,
        v: Any,
        i: ArrayLike,
        j: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        monitor: Monitor | None = None,
    ) -> BilinearPairMeasure:
        """Estimate the most probable W.

        Parameters
        ----------
        v : array_like of shape (elements, features)
        i, j : array_like of int, of shape (pairs,)
            The pairs: rows i[k] and j[k] of v.
        y : array_like of 0 and 1, of shape (pairs,)
        sample_weight : array_like of shape (pairs,), optional
        monitor : callable, optional
            Called as ``monitor(iteration, dual_objective, relative_gap)``.
        """
        numbers = ["inverse_sigma_squared", "tol"]
        checks.require_parameters(self, numbers, ["max_iter"], ["time_limit"])
        limit = float("inf") if self.time_limit is None else float(self.time_limit)
        deadline = time.monotonic() + limit
        controls = Controls(self.tol, self.max_iter, deadline, monitor=monitor)
        table = elements_of(v)
        first, second = checked_pairs(i, j, len(table))
        related, weights = (
            checks.pair_targets(y, len(first)),
            checks.pair_weights(sample_weight, len(first)),
        )
        if related.all() or not related.any():
            raise DataError(
                "A measure is learned from related and unrelated pairs; y holds one class."
            )
        with checks.all_or_nothing(self):
            self.n_features_in_ = table.shape[1]
            self.projection_ = self._fitted_projection(table, first[related], second[related])
            raw = self._raw(table)
            used = np.unique(np.concatenate([first, second]))
            spread = np.sqrt((raw[used] ** 2).mean(axis=0))
            self.scale_ = np.where(spread > 0, spread, 1.0)
            lam = natural_lambda(float(self.inverse_sigma_squared))
            fit = _Fit(raw / self.scale_, (first, second), related, weights, lam)
            self.n_iter_, reason = fit.run(controls)
            self._assign(fit, reason)
        return self

    def _fitted_projection(self, v: NDArray[Any], i: NDArray[np.intp], j: NDArray[np.intp]) -> Any:
        if self.projection is None:
            return None
        if isinstance(self.projection, str):
            if self.projection != "discriminant":
                raise DataError(
                    f"projection must be 'discriminant', None or a transformer with fit(v, i, j); "
                    f"got {self.projection!r}."
                )
            return DiscriminantProjection().fit(v, i, j)
        with told_of_input("projection"):
            fresh = clone(self.projection)
        if not hasattr(fresh, "fit") or not hasattr(fresh, "transform"):
            raise DataError(f"projection is a transformer, got {shown(self.projection)}.")
        return fresh.fit(v, i, j)

    def _raw(self, v: NDArray[Any]) -> Floats:
        z = v if self.projection_ is None else self.projection_.transform(v)
        return np.hstack([np.ones((len(v), 1)), np.asarray(z, dtype=np.float64)])

    def _assign(self, fit: _Fit, reason: str) -> None:
        self.matrix_ = fit.best_w / LN2
        self.objective_ = fit.best_value / LN2
        self.dual_objective_ = (fit.best_value - fit.best_gap) / LN2
        self.duality_gap_ = fit.best_gap / fit.best_value
        if reason != "converged":
            why = {"epochs": "max_iter", "time": "time_limit", "interrupted": "an interruption"}
            warnings.warn(
                f"BilinearPairMeasure stopped at relative duality gap {self.duality_gap_:.2e} "
                f"(tol={self.tol:g}) because of {why[reason]}; "
                "the parameters found so far are kept.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        """Say that pairs are learned from: the checks of scikit-learn give elements only."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags._skip_test = True
        return tags

    def features(self, v: Any) -> Floats:
        """Return z, of shape (elements, 1 + features), the constant first."""
        checks.check_fitted(self, "matrix_")
        table = self._checked_width(v, self.n_features_in_)
        return np.asarray(self._raw(table) / self.scale_)

    def _left(self, z: Floats) -> Floats:
        return np.asarray(z @ self.matrix_)


class _Fit:
    """L-BFGS on the entries of W, in the eigenbasis of the second moments of z.

    There, second moments of the features of pairs, z_a (x) z_a', are nearly the products of the
    eigenvalues: dividing by their roots is a good preconditioner. The prior does not notice the
    rotation.
    """

    def __init__(
        self, z: Floats, pairs: tuple[Any, Any], related: Flags, weights: Floats, lam: float
    ) -> None:
        moments, self.basis = np.linalg.eigh(z.T @ z / len(z))
        self.moments = np.maximum(moments, 0.0)
        self.z = np.ascontiguousarray(z @ self.basis)
        # pairs in the order of compressed rows, which then need no sorting at every step
        order = np.lexsort(pairs[::-1])
        self.i, self.j = (np.ascontiguousarray(ends[order]) for ends in pairs)
        self.ptr = np.searchsorted(self.i, np.arange(len(z) + 1))
        self.weights, self.lam = weights[order], lam
        self.sign = np.where(related[order], 1.0, -1.0)
        # where most pairs of few elements are given, all of them are one product of matrices
        self.all_pairs = len(z) ** 2 <= min(ALL_PAIRS, SHARE_OF_ALL * len(self.i))
        self.best_value, self.best_gap = np.inf, np.inf
        self.best_w = np.zeros((0, 0))

    def _products(self, w: Floats) -> Floats:
        """Return z_i' W z_j of every pair."""
        left = self.z @ w
        if self.all_pairs:
            return np.asarray((left @ self.z.T)[self.i, self.j])
        return np.asarray(pair_products(left, self.z, self.i, self.j))

    def _weighted(self, r: Floats) -> Floats:
        """Sum over pairs of r_k z_i z_j'."""
        n = len(self.z)
        table: Any = sparse.csr_array((r, self.j, self.ptr), shape=(n, n))
        if self.all_pairs:
            table = table.toarray()
        return np.asarray(self.z.T @ (table @ self.z))

    def _value(self, w: Floats) -> tuple[float, Floats]:
        margin = self.sign * self._products(w)
        small = np.exp(-np.abs(margin))
        loss = float((np.maximum(-margin, 0.0) + np.log1p(small)) @ self.weights)
        tail = np.where(margin >= 0, small, 1.0) / (1.0 + small)
        slope = self._weighted(self.sign * tail * self.weights)
        gradient = self.lam * w - 0.5 * (slope + slope.T)
        value = loss + 0.5 * self.lam * float(np.vdot(w, w))
        if value < self.best_value:
            # As in any logistic model, |gradient|^2 / (2 lambda) is a duality gap.
            self.best_value = value
            self.best_gap = float(np.vdot(gradient, gradient)) / (2.0 * self.lam)
            self.best_w = self.basis @ w @ self.basis.T
        return value, gradient

    def run(self, controls: Controls) -> tuple[int, str]:
        """Minimise; return the number of iterations and why it stopped."""
        shape = (self.z.shape[1],) * 2
        pairs = 0.25 * self.weights.sum()
        scale = 1.0 / np.sqrt(self.lam + pairs * np.outer(self.moments, self.moments))

        def scaled(flat: Floats) -> tuple[float, Floats]:
            value, gradient = self._value(flat.reshape(shape) * scale)
            return value, (gradient * scale).ravel()

        def reached() -> tuple[float, float]:
            if np.isinf(self.best_value):
                return -np.inf, np.inf
            return (self.best_value - self.best_gap) / LN2, self.best_gap / self.best_value

        work = 2 * self.z.size * shape[0] + 2 * len(self.i) * shape[0]
        return run_lbfgs(scaled, np.zeros(shape), reached, controls, work)
