"""Learning for fixed y: the half of joint estimation that is convex or closed form.

A learner holds the features (or classes) of all pairs and their weights. `learn` returns the
parameters that minimise D_x(theta, y) + R_sigma(theta) for given targets y, `objective` computes
that sum for any parameters and targets, `log_odds` the log2-odds of every pair.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from relatum.array_types import Flags, Floats, Index
from relatum.errors import DataError
from relatum.joint.conjugate import Conjugate
from relatum.measures import (
    LN2,
    BernoulliMeasure,
    LogisticMeasure,
    Targets,
    bernoulli_divergence,
    bernoulli_regularizer,
    fit,
    logistic_regularizer,
    pair_bits,
)

NEWTON_WIDTH = 64  # features up to which Newton's method on distinct rows is used
WARM_WIDTH = 512  # features up to which Newton's method starts from the last parameters


class Features(NamedTuple):
    """What is given of the pairs: of three kinds.

    "classes" (a class number per pair, -1 for none), "pairs" (a row of features per pair) or
    "labels" (a row of features per element of A, parameters for every element of B).
    """

    kind: str
    values: Any
    n_labels: int = 0  # |B| for the kind "labels"


class Learner(Protocol):
    """What alternation needs of a model."""

    weights: Floats

    def learn(self, y: Floats, start: Floats | None = None) -> Floats:
        """Return the best parameters for y."""

    def objective(self, theta: Floats, y: Floats) -> float:
        """D_x + R_sigma, in bits."""

    def log_odds(self, theta: Floats) -> Floats:
        """Log2-odds of every pair."""

    def random(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """Return random parameters, about as large as theta."""

    def measure(self, theta: Floats, y: Floats) -> Any:
        """Return a fitted measure with these parameters."""


class BernoulliLearner:
    """Classes of pairs, closed form.

    theta_j = (m_j+ + s) / (M_j + 2 s) with s = sigma - 1, and the best objective for y is
    J(y) = sum_j (M_j + 2 s) H2(theta_j), concave in y through the totals m_j+ only.

    Parameters
    ----------
    measure : BernoulliMeasure
        Not fitted; its sigma is used.
    classes : int64 array
        The class of every pair; -1 for pairs without one (of log-odds 0, no part of D_x).
    weights : float64 array

    If the measure is fitted, its counts are kept, and those of the pairs are added.
    """

    def __init__(self, measure: BernoulliMeasure, classes: Index, weights: Floats) -> None:
        self._measure, self._classes = measure, classes
        self.weights = weights
        self.s = measure._pseudo_count()
        self.has_class = classes >= 0
        self.ids, code = np.unique(classes[self.has_class], return_inverse=True)
        self.code = np.full(len(classes), len(self.ids), dtype=np.int64)
        self.code[self.has_class] = code
        self.related, unrelated = np.zeros((2, len(self.ids)))  # counted before
        if hasattr(measure, "class_ids_"):
            self.related, unrelated = measure._counts(self.ids)
        self.totals = self.class_sums(weights) + self.related + unrelated

    def class_sums(self, values: Floats) -> Floats:
        """Sum over the pairs of every class."""
        return np.bincount(self.code, values, len(self.ids) + 1)[:-1].astype(np.float64)

    def learn(self, y: Floats, start: Floats | None = None) -> Floats:
        return np.asarray((self.plus(y) + self.s) / (self.totals + 2.0 * self.s))

    def plus(self, y: Floats) -> Floats:
        """Return the weighted numbers m+ of related pairs of every class."""
        return self.class_sums(self.weights * y) + self.related

    def objective(self, theta: Floats, y: Floats) -> float:
        plus = self.plus(y)
        minus = np.maximum(self.totals - plus, 0.0)
        return bernoulli_divergence(theta, plus, minus) + bernoulli_regularizer(theta, 1 + self.s)

    def best_bits(self, related: Floats, j: int) -> Floats:
        """J of class j alone, for totals m_j+ of related pairs: (M + 2s) H2((m+ + s)/(M + 2s))."""
        total = self.totals[j] + 2.0 * self.s
        p = (related + self.s) / total
        return np.asarray(-total * (p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p)))

    def log_odds(self, theta: Floats) -> Floats:
        return np.append(np.log2(theta / (1.0 - theta)), 0.0)[self.code]

    def random(self, theta: Floats, rng: np.random.Generator) -> Floats:
        return rng.uniform(0.05, 0.95, len(theta))

    def measure(self, theta: Floats, y: Floats) -> BernoulliMeasure:
        at = self.has_class
        fitted = copy.deepcopy(self._measure)
        return fitted.partial_fit(self._classes[at], y[at], self.weights[at])


class _LogisticModel:
    """What both logistic learners share: features, prior, objective, and the solvers.

    Parameters
    ----------
    measure : LogisticMeasure
        Not fitted; its parameters are used.
    x : array or CSR matrix of features
    weights : float64 array
    """

    def __init__(self, measure: LogisticMeasure, x: Any, weights: Floats) -> None:
        self._measure, self.weights = measure, weights
        measure._check_parameters()
        self.x = _with_constant(x, measure)
        self.strength = float(measure.inverse_sigma_squared)
        if measure.relative:
            self.strength *= max(self._mean_square(), 1e-300)

    def _mean_square(self) -> float:
        return fit.Rows(self.x, np.float64).mean_square()

    def log_odds(self, theta: Floats) -> Floats:
        return np.asarray(self.x @ theta.T, dtype=np.float64).ravel()

    def objective(self, theta: Floats, y: Floats) -> float:
        bits = float(self.weights @ pair_bits(self.log_odds(theta), y))
        return bits + logistic_regularizer(theta, self.strength)

    def random(self, theta: Floats, rng: np.random.Generator) -> Floats:
        size = max(float(np.sqrt(np.mean(theta**2))), 1e-3)
        return rng.normal(scale=size, size=theta.shape)

    def _solve(self, related: Flags, weights: Floats, start: Floats | None) -> Floats:
        """Fit with the solver of LogisticMeasure; rows of no weight are left out."""
        measure, x, use = self._measure, self.x, weights > 0
        if not use.any():
            raise DataError("There is nothing to learn from: all pairs weigh zero.")
        if not use.all():
            x, related, weights = x[use], related[:, use], weights[use]
        solve, share = fit.SOLVERS[measure.solver], related.mean(axis=1)
        both = 0 < share.min() <= share.max() < 1
        if measure.solver == "auto" and x.shape[1] <= WARM_WIDTH and both:
            solve = fit.solve_newton  # few steps from the last round's parameters
        warm = None
        if start is not None and solve in (fit.solve_newton, fit.solve_lbfgs):
            warm = start.reshape(len(related), -1) * LN2
        rows = fit.Rows(x, fit.computing_type(x, measure.tol))
        task = fit.Task(rows, related, weights, fit.natural_lambda(self.strength))
        found = solve(task, fit.Controls(measure.tol, measure.max_epochs, seed=0), warm)
        return np.asarray(found.w / LN2)

    def _certified(self, related: Flags, weights: Floats, theta: Floats) -> fit.Solution:
        task = fit.Task(
            fit.Rows(self.x, np.float64), related, weights, fit.natural_lambda(self.strength)
        )
        return fit.certified(task, theta * LN2)

    def _fitted(self, found: fit.Solution, targets: Targets) -> LogisticMeasure:
        """Return a copy of the measure that holds these parameters."""
        result: LogisticMeasure = clone(self._measure)
        found.reason = "converged"
        result.n_features_in_ = found.w.shape[1] - int(bool(self._measure.fit_intercept))
        result._assign(found, targets, self.strength)
        return result


class LogisticLearner(_LogisticModel):
    """Features of pairs, of shape (pairs, features), one parameter per feature.

    With few features, Newton's method on the distinct rows, to full precision; otherwise the
    solvers of LogisticMeasure, to its tolerance.
    """

    def __init__(self, measure: LogisticMeasure, x: NDArray[Any], weights: Floats) -> None:
        super().__init__(measure, x, weights)
        self.width = self.x.shape[1]
        self.form: Conjugate | None = None
        if self.width <= NEWTON_WIDTH:
            self.form = Conjugate.of_pairs(self.x, weights, self.strength)

    def _mean_square(self) -> float:
        return float((self.x**2).sum(axis=1).mean())

    def totals_of(self, y: Floats) -> Floats:
        """Sum weight times y times x: the class totals c, through which J depends on y."""
        return np.asarray(self.x.T @ (self.weights * y))

    def learn(self, y: Floats, start: Floats | None = None) -> Floats:
        if self.form is not None:
            return self.form.minimize(self.totals_of(y), start)[0]
        return np.asarray(self._solve(y[None, :] > 0.5, self.weights, start)[0])

    def measure(self, theta: Floats, y: Floats) -> LogisticMeasure:
        related = y[None, :] > 0.5
        found = self._certified(related, self.weights, theta[None, :])
        return self._fitted(found, Targets("binary", np.array([0, 1]), related))


class LabelLearner(_LogisticModel):
    """Features of the elements of A, one parameter vector for every element of B (maps).

    There are `n_labels` elements of B, and |A| |B| weights.
    """

    def __init__(self, measure: LogisticMeasure, x: Any, n_labels: int, weights: Floats) -> None:
        super().__init__(measure, x, weights)
        self.n_labels = n_labels

    def _by_label(self, pairs: Floats) -> Floats:
        return np.ascontiguousarray(pairs.reshape(-1, self.n_labels).T)

    def learn(self, y: Floats, start: Floats | None = None) -> Floats:
        related, weights = self._by_label(y) > 0.5, self._by_label(self.weights)
        if (weights == weights[0]).all():
            return self._solve(related, weights[0], start)
        labels = [slice(k, k + 1) for k in range(self.n_labels)]
        first = [None if start is None else start[k] for k in labels]
        return np.concatenate(
            [self._solve(related[k], weights[k][0], f) for k, f in zip(labels, first, strict=True)]
        )

    def measure(self, theta: Floats, y: Floats) -> LogisticMeasure:
        related, weights = self._by_label(y) > 0.5, self._by_label(self.weights)
        labels = [slice(k, k + 1) for k in range(self.n_labels)]
        parts = [self._certified(related[k], weights[k][0], theta[k]) for k in labels]
        primal, dual = (np.concatenate([getattr(p, n) for p in parts]) for n in ("primal", "dual"))
        found = fit.Solution(theta * LN2, None, primal, dual, True, 0, "converged")
        return self._fitted(found, Targets("map", np.arange(self.n_labels), related))


def learner_of(measure: Any, features: Features, weights: Floats) -> Learner:
    """Return the learner for a measure and features of pairs."""
    if isinstance(measure, BernoulliMeasure):
        return BernoulliLearner(measure, features.values, weights)
    if features.kind == "labels":
        return LabelLearner(measure, features.values, features.n_labels, weights)
    return LogisticLearner(measure, features.values, weights)


def _with_constant(x: Any, measure: LogisticMeasure) -> Any:
    """Return the rows, with a last column of ones if the measure wants an intercept."""
    one: Any = np.ones((x.shape[0], 1))
    if not hasattr(x, "tocsr"):
        x = np.asarray(x, dtype=np.float64)
        return np.hstack([x, one]) if measure.fit_intercept else x
    parts: list[Any] = [x, sparse.csr_matrix(one)]
    return sparse.hstack(parts).tocsr() if measure.fit_intercept else x.tocsr()
