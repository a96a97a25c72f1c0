"""The logistic measure: log-odds linear in the features, Gaussian prior."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import checked_switches, shown, told_of_input
from relatum.live import seen
from relatum.measures import validation as checks
from relatum.measures.fit.newton import SOLVERS
from relatum.measures.fit.rows import FIT, Rows, computing_type
from relatum.measures.fit.sdca import Controls, Monitor, Solution, Task, natural_lambda
from relatum.measures.fit.stream_newton import solve_stream_newton
from relatum.measures.fit.streams import Stream, guarded, solve_stream
from relatum.measures.objective import LN2, logistic_regularizer, pair_bits, sigmoid2
from relatum.measures.record_batches import RecordBatches, is_record_source


def _batch_by_batch(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method that is given rows take streams and sources of record batches, too."""

    @wraps(method)
    def applied(measure: LogisticMeasure, x: Any) -> Any:
        checks.check_fitted(measure, "coef_")
        if is_record_source(x):
            x = RecordBatches(x, features=getattr(measure, "feature_columns_", None))
        if not checks.is_stream(x):
            return method(measure, x)
        rows = (checks.split_batch(batch)[0] for batch in guarded(x))
        return (
            method(measure, checks.checked_batch(some, measure.n_features_in_)) for some in rows
        )

    return applied


@dataclass(eq=False, repr=False)
class LogisticMeasure(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Log2-odds :math:`\langle\theta, x\rangle`, with a Gaussian prior on :math:`\theta`.

    Minimises :math:`D_x(\theta, y) + R_\sigma(\theta)`, in bits, for every label separately
    (one-versus-rest) and for all labels together on each visit of a row.

    Parameters
    ----------
    inverse_sigma_squared : float, default=1.0
        :math:`1/\sigma^2`, the strength of the prior.
    relative : bool, default=False
        Multiply `inverse_sigma_squared` by the mean of :math:`|x|^2`, so that it means the same
        for features of any scale (of the first batch, if a stream is fitted).
    fit_intercept : bool, default=False
        Add the constant monomial to the features, under the same prior. Polynomial liftings
        and sketches already contain it.
    solver : {"auto", "sdca", "lbfgs", "newton"}, default="auto"
        Dual coordinate ascent (SDCA), finished by Newton's method or L-BFGS where it is slow; or
        one of the three alone. L-BFGS and Newton check the first.
    tol : float, default=1e-4
        Stop at this relative duality gap: the objective is within that fraction of its minimum.
    max_epochs : int, default=200
        Passes over the rows (iterations of L-BFGS). With 1, a stream is read exactly once.
    time_limit : float, optional
        Seconds after which the best found so far is kept, with a ConvergenceWarning.
    random_state : int, RandomState or None, default=0
        Order of the visits.

    Attributes
    ----------
    classes_ : ndarray
        The labels; columns 0, 1, ... if `y` was a matrix.
    coef_ : ndarray of shape (labels, features)
        :math:`\theta`, in bits. One row for two classes: the second is "related".
    intercept_ : ndarray of shape (labels,)
    inverse_sigma_squared_ : float
        The value used, after `relative`.
    objective_, dual_objective_ : float
        :math:`D_x + R_\sigma` in bits, and a lower bound on its minimum.
    duality_gap_ : float
        (objective_ - dual_objective_) / objective_.
    gap_is_exact_ : bool
        False after one reading of a stream: the gap is then the running estimate of that epoch.
    n_iter_ : int
    n_features_in_ : int
    feature_columns_ : list of str
        The columns of features, after a fit to record batches.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=np.int8)
    >>> measure = LogisticMeasure(inverse_sigma_squared=0.5).fit(x, [1, 1, 0, 0])
    >>> measure.log_odds(x).round(2).tolist()
    [0.55, 0.55, -0.48, -1.03]
    """

    inverse_sigma_squared: float = 1.0
    _: KW_ONLY
    relative: bool = False
    fit_intercept: bool = False
    solver: str = "auto"
    tol: float = 1e-4
    max_epochs: int = 200
    time_limit: float | None = None
    random_state: Any = 0

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows and 01-matrices of targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    @seen("learning")
    def fit(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        monitor: Monitor | None = None,
    ) -> LogisticMeasure:
        """Estimate the most probable parameters.

        Parameters
        ----------
        x : array or CSR matrix of shape (rows, features), or an iterable of batches (x, y), or \
a DuckDB relation or another source that `RecordBatches` reads
            A stream is never held as a whole. It must be re-iterable, with the same batches each
            time, unless one epoch is enough. Besides one batch and theta, dual ascent keeps one
            dual variable per row and label (none if ``max_epochs=1``); Newton's method, chosen
            for up to 256 features, keeps nothing per row and lets the rows come in any order.
        y : array_like of shape (rows,) or (rows, labels), or str
            Labels, or a 01-matrix: row a is related to column b. None for a stream. The name of
            a column for a source of record batches, whose other columns are then the features.
        sample_weight : array_like of shape (rows,), optional
            Factor of each row in D_x: a row of weight 2 counts as two such rows.
        classes : array_like, optional
            All labels; needed for streams whose labels are not 0 and 1.
        monitor : callable, optional
            Called as ``monitor(epoch, dual_objective, relative_gap)`` after every epoch.

        Returns
        -------
        self : LogisticMeasure
        """
        self._check_parameters()
        if isinstance(y, str):
            x, y = RecordBatches(x, target=y), None
        with checks.all_or_nothing(self):
            self.__dict__.pop("feature_columns_", None)
            if y is None and checks.is_stream(x):
                if sample_weight is not None:
                    raise DataError("sample_weight is not supported for streams of batches.")
                self._fit_stream(x, classes, self._controls(monitor))
            else:
                self._fit_rows(x, y, sample_weight, classes, self._controls(monitor))
        return self

    def _fit_from(self, x: Any, y: Any, sample_weight: Any, start: Any) -> Any:
        """Fit from the start that an earlier call has returned (None: from zero)."""
        self._check_parameters()
        with checks.all_or_nothing(self):
            found = self._fit_rows(x, y, sample_weight, None, self._controls(None), start)
        # Dual ascent starts from dual variables, the other solvers from coefficients.
        return found.duals if self.solver in ("auto", "sdca") else found.w

    def _check_parameters(self) -> None:
        numbers = ["inverse_sigma_squared", "tol"]
        checks.require_parameters(self, numbers, ["max_epochs"], ["time_limit"])
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise DataError(f"solver must be one of {sorted(SOLVERS)}; got {shown(self.solver)}.")
        checked_switches(self, "relative", "fit_intercept")

    def _controls(self, monitor: Monitor | None) -> Controls:
        limit = float("inf") if self.time_limit is None else self.time_limit
        seed = self.random_state
        if isinstance(seed, (int, np.integer)) and not 0 <= seed < 2**63:
            raise DataError(f"random_state is a seed from 0 to 2**63 - 1; got {seed}.")
        if not isinstance(seed, (int, np.integer)):
            with told_of_input():
                seed = int(check_random_state(seed).randint(2**31 - 1))
        return Controls(self.tol, self.max_epochs, time.monotonic() + limit, int(seed), monitor)

    def _strength(self, rows: Rows, weights: Floats | None = None) -> float:
        strength = float(self.inverse_sigma_squared)
        return strength * max(rows.mean_square(weights), 1e-300) if self.relative else strength

    def _fit_rows(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        classes: Any,
        controls: Controls,
        start: Any = None,
    ) -> Solution:
        if y is None:
            raise DataError("LogisticMeasure requires y to be passed, but the target y is None.")
        table = checks.checked_rows(self, x, reset=True)
        weights = checks.checked_weights(sample_weight, table)
        targets = checks.encode_targets(y, table.shape[0], classes)
        positive = (weights > 0).astype(np.float64)
        checks.require_both(targets, targets.related @ positive, float(positive.sum()))
        rows = Rows(table, computing_type(table, self.tol), bool(self.fit_intercept))
        strength = self._strength(rows, None if sample_weight is None else weights)
        kind = computing_type(table, self.tol, strength / float(weights.max()))
        if kind is not rows.dtype:
            rows = Rows(table, kind, bool(self.fit_intercept))
        task = Task(rows, targets.related, weights, natural_lambda(strength))
        found = SOLVERS[self.solver](task, controls, start)
        self._assign(found, targets, strength)
        return found

    def _fit_stream(self, batches: Any, classes: Any, controls: Controls) -> None:
        stream = Stream(self, batches, [0, 1] if classes is None else classes)
        once = getattr(batches, "once", False) or iter(batches) is batches
        if self._streams_by_newton(stream, once):
            found = solve_stream_newton(stream, controls)
        else:
            found = solve_stream(stream, controls, once)
        assert stream.targets is not None
        checks.require_both(stream.targets, stream.related, stream.count)
        self.n_features_in_ = found.w.shape[1] - int(bool(self.fit_intercept))
        if getattr(batches, "feature_columns", None) is not None:
            self.feature_columns_ = list(batches.feature_columns)
        self._assign(found, stream.targets, stream.used, quiet=self.max_epochs == 1)

    def _streams_by_newton(self, stream: Stream, once: bool) -> bool:
        if self.solver == "lbfgs" or (self.solver == "newton" and (once or self.max_epochs == 1)):
            raise DataError(
                "Streams are fitted by solver='sdca', or by 'newton' if they can be read several "
                f"times; got {self.solver!r}."
            )
        if self.solver == "auto" and not once and self.max_epochs > 1:
            rows, _ = next(stream.epoch(), (None, None))
            return rows is not None and rows.width <= FIT.stream_newton_width
        return self.solver == "newton"

    def _assign(
        self, found: Solution, targets: checks.Targets, strength: float, quiet: bool = False
    ) -> None:
        theta = found.w / LN2
        self.classes_ = targets.classes
        self.kind_ = targets.kind
        self.coef_ = theta[:, : self.n_features_in_].copy()
        self.intercept_ = theta[:, -1].copy() if self.fit_intercept else np.zeros(len(theta))
        self.inverse_sigma_squared_ = strength
        self.objective_ = float(found.primal.sum())
        self.dual_objective_ = float(found.dual.sum())
        self.duality_gap_ = found.gap
        self.gap_is_exact_ = found.exact
        self.n_iter_ = found.epochs
        if found.reason != "converged" and not (quiet and found.reason == "epochs"):
            why = {
                "epochs": f"max_epochs={self.max_epochs} are over",
                "time": f"time_limit={self.time_limit} s is over",
                "interrupted": "it was interrupted",
                "once": "the stream can be read only once (set max_epochs=1 if that is meant)",
            }[found.reason]
            warnings.warn(
                f"LogisticMeasure stopped at relative duality gap {found.gap:.2e} "
                f"(tol={self.tol:g}) because {why}; the parameters found so far are kept.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _scores(self, x: Any) -> Floats:
        theta: Any = self.coef_.T
        if sparse.issparse(x):
            return np.asarray(x @ theta, dtype=np.float64) + self.intercept_
        out = np.empty((x.shape[0], len(self.coef_)))
        single = x.dtype.itemsize < 4
        for begin in range(0, len(out), 1024):  # converts narrow rows a block at a time
            part = x[begin : begin + 1024]
            if single:
                out[begin : begin + 1024] = part.astype(np.float32) @ theta.astype(np.float32)
            else:
                out[begin : begin + 1024] = part @ theta
        return out + self.intercept_

    @_batch_by_batch
    def log_odds(self, x: Any) -> Any:
        """Log2-odds of every pair, in bits; positive means related.

        Parameters
        ----------
        x : array or CSR matrix of shape (rows, features), or an iterable of batches, or a \
DuckDB relation or another source of record batches
            Batches are x or (x, y). Record batches may have columns besides the fitted ones.

        Returns
        -------
        ndarray of shape (rows,) for two classes, else (rows, labels); for a stream, an iterator of
        such arrays, one per batch.
        """
        scores = self._scores(checks.checked_rows(self, x, reset=False))
        return scores[:, 0] if self.kind_ == "binary" else scores

    def decision_function(self, x: Any) -> Any:
        """Return log_odds(x), under the name scikit-learn knows."""
        return self.log_odds(x)

    @_batch_by_batch
    def pair_probabilities(self, x: Any) -> Any:
        """Probability 1 / (1 + 2^-log_odds) that a pair is related, regardless of other pairs."""
        return sigmoid2(self.log_odds(x))

    @_batch_by_batch
    def predict_proba(self, x: Any) -> Any:
        """Probabilities of the labels, or of the pairs if `y` was a 01-matrix.

        For several labels, these are the probabilities under the constraint that every element
        has exactly one label, that is, of the maps: proportional to 2^log_odds.

        Returns
        -------
        ndarray of shape (rows, classes); for a stream, an iterator of such arrays.
        """
        scores = self.log_odds(x)
        if self.kind_ == "relation":
            return sigmoid2(scores)
        if self.kind_ == "binary":
            p = sigmoid2(scores)
            return np.column_stack([1.0 - p, p])
        odds = np.exp2(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    @_batch_by_batch
    def predict(self, x: Any) -> Any:
        """Most probable label of every row; a 01-matrix if `y` was one.

        Returns
        -------
        ndarray of shape (rows,) or (rows, labels); for a stream, an iterator of such arrays.
        """
        scores = self.log_odds(x)
        if self.kind_ == "relation":
            return (scores > 0).astype(np.int64)
        if self.kind_ == "binary":
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]

    def objective(self, x: Any, y: Any = None) -> float:
        """D_x + R_sigma of the fitted parameters, in bits, on rows or on a stream of batches."""
        checks.check_fitted(self, "coef_")
        if isinstance(y, str):
            x, y = RecordBatches(x, y, getattr(self, "feature_columns_", None)), None
        total = logistic_regularizer(self.coef_, self.inverse_sigma_squared_)
        total += logistic_regularizer(self.intercept_, self.inverse_sigma_squared_)
        batches = guarded(x) if y is None and checks.is_stream(x) else [(x, y)]
        for batch in batches:
            rows, targets = checks.split_batch(batch)
            table = checks.checked_batch(rows, self.n_features_in_)
            known = None if self.kind_ == "relation" else self.classes_
            related = checks.encode_targets(targets, table.shape[0], known).related
            total += float(pair_bits(self._scores(table), related.T).sum())
        return total
