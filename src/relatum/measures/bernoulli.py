"""The Bernoulli measure: pairs fall into classes, each with its own probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.features import checked_pairs, refuse_masked, shown, told_of_input
from relatum.measures import validation as checks
from relatum.measures.fit.streams import guarded
from relatum.measures.objective import bernoulli_divergence, bernoulli_regularizer
from relatum.measures.record_batches import RecordBatches, is_record_source
from relatum.measures.sequences import precedence_counts


@dataclass(eq=False, repr=False)
class BernoulliMeasure(BaseEstimator):  # type: ignore[misc]
    r"""Every pair belongs to one class; the probability of being related depends on it only.

    The most probable parameters have a closed form:
    :math:`\theta_j = (m_j^+ + \sigma - 1) / (m_j^+ + m_j^- + 2 (\sigma - 1))`, with
    :math:`m_j^+` related and :math:`m_j^-` unrelated pairs of class j. Classes never seen
    have :math:`\theta_j = 1/2`, the mode of the prior, and log-odds 0.

    Only classes seen are stored, so that there may be very many (all pairs of words).

    Parameters
    ----------
    sigma : float, default=2.0
        Parameter of the prior, larger than 1. At 1, classes seen on one side only would have
        probability 0 or 1 and infinite log-odds, and unseen classes 0/0; below 1, the objective
        has no minimum.
    n_classes : int, optional
        Number of classes; larger class numbers are refused. One-hot features imply it.

    Attributes
    ----------
    class_ids_ : ndarray of int64
        Classes seen, ascending.
    related_, unrelated_ : ndarray of float64
        :math:`m^+` and :math:`m^-` of the classes seen.
    n_classes_ : int or None
    classes_ : ndarray
        The values of y: 0, unrelated, and 1, related.

    Examples
    --------
    >>> measure = BernoulliMeasure(sigma=2.0).fit([0, 0, 0, 7], [1, 1, 0, 0])
    >>> measure.theta([0, 7, 3]).tolist()
    [0.6, 0.3333333333333333, 0.5]
    >>> measure.log_odds([7, 3]).tolist()
    [-1.0, 0.0]
    """

    sigma: float = 2.0
    _: KW_ONLY
    n_classes: int | None = None

    def fit(self, classes: Any, y: Any = None, sample_weight: Any = None) -> BernoulliMeasure:
        """Count related and unrelated pairs of every class.

        Parameters
        ----------
        classes : array_like of int, of shape (pairs,); or 01-array or sparse matrix of shape \
(pairs, classes) with exactly one 1 per row; or an iterable of batches (classes, y); or a DuckDB \
relation or another source that `RecordBatches` reads
        y : array_like of 0 and 1, of shape (pairs,), or str
            None for a stream of batches. The name of a column for a source of record batches;
            its other columns are then the class, if there is one, or one-hot features.
        sample_weight : array_like of shape (pairs,), optional

        Returns
        -------
        self : BernoulliMeasure
        """
        with checks.all_or_nothing(self):
            self._reset()
            self.partial_fit(classes, y, sample_weight)
        return self

    def partial_fit(
        self, classes: Any, y: Any = None, sample_weight: Any = None
    ) -> BernoulliMeasure:
        """Add more pairs to the counts. Parameters as in fit."""
        self._pseudo_count()
        with checks.all_or_nothing(self):
            if not hasattr(self, "class_ids_"):
                self._reset()
            if isinstance(y, str):
                classes, y = _records(classes, y), None
            if y is None and checks.is_stream(classes):
                for batch in guarded(classes):
                    self._add(*checks.split_batch(batch), None)
            else:
                self._add(classes, y, sample_weight)
        return self

    def fit_sequences(
        self, tokens: ArrayLike, offsets: ArrayLike, n_words: int | None = None
    ) -> BernoulliMeasure:
        """Learn which word comes before which, from all pairs of occurrences in sequences.

        The class of a pair of occurrences of the words j and k is j * n_words + k, and the pair is
        related iff the first occurrence precedes the second. So theta is the probability that an
        occurrence of j comes before an occurrence of k.

        Parameters
        ----------
        tokens, offsets, n_words
            As in precedence_counts; see encode_sequences.

        Returns
        -------
        self : BernoulliMeasure
        """
        self._pseudo_count()
        before = precedence_counts(tokens, offsets, n_words)
        size = len(before)
        if self.n_classes is not None and self.n_classes != size * size:
            raise DataError(
                f"n_classes must be n_words^2 = {size * size} for sequences; got {self.n_classes}."
            )
        after = np.ascontiguousarray(before.T)
        ids = np.flatnonzero(before.ravel() + after.ravel())
        with checks.all_or_nothing(self):
            self._reset()
            self.n_classes_: int | None = size * size
            self.n_words_ = size
            self.class_ids_ = ids.astype(np.int64)
            self.related_ = before.ravel()[ids].astype(np.float64)
            self.unrelated_ = after.ravel()[ids].astype(np.float64)
        return self

    def fit_comparisons(
        self,
        first: ArrayLike,
        second: ArrayLike,
        result: ArrayLike,
        n_words: int,
        sample_weight: Any = None,
    ) -> BernoulliMeasure:
        """Learn which word comes before, or is level with, which, from comparisons of two.

        A win of the first relates it to the second and not the second to it; a draw relates
        them both ways. So theta is the probability that j is at least as good as k, and
        with draws the log-odds of both directions may be positive: a weak order can tie them.

        Parameters
        ----------
        first, second : array_like of int, of shape (comparisons,)
            Words as integers from 0.
        result : array_like of shape (comparisons,)
            Of the first: 1 for a win, 0 for a loss, 0.5 for a draw.
        n_words : int
        sample_weight : array_like of shape (comparisons,), optional

        Returns
        -------
        self : BernoulliMeasure

        Examples
        --------
        >>> measure = BernoulliMeasure().fit_comparisons([0, 0], [1, 1], [1, 0.5], n_words=2)
        >>> measure.pair_log_odds([0, 1]).round(3).tolist()  # 3 : 1 and 2 : 2
        [[0.0, 1.585], [0.0, 0.0]]
        """
        if not checks.is_whole(n_words):
            raise DataError(f"n_words must be an integer of at least 1; got {shown(n_words)}.")
        i, j = checked_pairs(first, second, int(n_words))
        refuse_masked(result, "result")
        with told_of_input("result"):
            outcome = np.asarray(result, np.float64)
        if outcome.shape != i.shape:
            raise DataError(f"There are {len(i)} comparisons, and results of {outcome.shape}.")
        weights = None
        if sample_weight is not None:
            weights = np.tile(checks.pair_weights(sample_weight, len(i)), 2)
        if not np.isin(outcome, (0.0, 0.5, 1.0)).all():
            raise DataError("The result of a comparison must be 1, 0 or 0.5.")
        if self.n_classes is not None and self.n_classes != n_words * n_words:
            raise DataError(
                f"n_classes must be n_words^2 = {n_words * n_words} for comparisons; got "
                f"{self.n_classes}."
            )
        classes = np.concatenate([i * n_words + j, j * n_words + i]).astype(np.int64)
        y = np.concatenate([outcome > 0, outcome < 1]).astype(np.int64)
        with checks.all_or_nothing(self):
            self._reset()
            self.n_classes_ = n_words * n_words
            self._add(classes, y, weights)
            self.n_words_ = n_words
        return self

    def pair_log_odds(self, words: ArrayLike) -> Floats:
        """Log-odds that occurrence a comes before occurrence b, for all pairs of `words`.

        Parameters
        ----------
        words : array_like of int, of shape (occurrences,)
            Words as integers, after fit_sequences or fit_comparisons.

        Returns
        -------
        ndarray of shape (occurrences, occurrences), antisymmetric unless there were draws
        """
        checks.check_fitted(self, "n_words_")
        refuse_masked(words, "words")
        with told_of_input():
            given = np.asarray(words)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise DataError(f"words are a vector of whole numbers; got {shown(words)}.")
        if given.size and int(given.max()) >= 1 << 31:
            raise DataError(f"words must be between 0 and {self.n_words_ - 1}.")
        w = given.astype(np.int64)
        if w.size and (w.min() < 0 or w.max() >= self.n_words_):
            raise DataError(f"words must be between 0 and {self.n_words_ - 1}.")
        bits = self.log_odds((w[:, None] * self.n_words_ + w).ravel())
        return np.asarray(bits).reshape(len(w), len(w))

    def merge(self, other: BernoulliMeasure) -> BernoulliMeasure:
        """Return a new measure with the counts of both (of two batches or two workers).

        Also written as ``one + other``.
        """
        if not isinstance(other, BernoulliMeasure):
            raise DataError(f"A BernoulliMeasure merges with its like; got {type(other).__name__}.")
        checks.check_fitted(self, "class_ids_")
        checks.check_fitted(other, "class_ids_")
        one, two = ((m.sigma, m.n_classes_, getattr(m, "n_words_", None)) for m in (self, other))
        if one != two:
            raise DataError(
                f"Merged measures must agree in sigma and in their classes; got {one} and {two}."
            )
        total = BernoulliMeasure(self.sigma, n_classes=self.n_classes)
        total.__dict__.update(self.__dict__)
        total._merge_counts(other.class_ids_, other.related_, other.unrelated_)
        return total

    def __add__(self, other: BernoulliMeasure) -> BernoulliMeasure:
        return self.merge(other) if isinstance(other, BernoulliMeasure) else NotImplemented

    def theta(self, classes: Any) -> Floats:
        """Probability of being related, for every pair; 1/2 for unseen classes."""
        plus, minus = self._counts(classes)
        s = self._pseudo_count()
        return np.asarray((plus + s) / (plus + minus + 2.0 * s))

    def log_odds(self, classes: Any) -> Any:
        """log2(theta / (1 - theta)), in bits, for every pair; an iterator if given batches.

        Parameters
        ----------
        classes : as in fit, without y
        """
        checks.check_fitted(self, "class_ids_")
        if is_record_source(classes):
            classes = _records(classes, None)
        if checks.is_stream(classes):
            return (self.log_odds(checks.split_batch(batch)[0]) for batch in guarded(classes))
        plus, minus = self._counts(classes)
        s = self._pseudo_count()
        return np.asarray(np.log2((plus + s) / (minus + s)))

    def predict_proba(self, classes: Any) -> Floats:
        """Probabilities of being unrelated and related, of shape (pairs, 2)."""
        p = self.theta(classes)
        return np.column_stack([1.0 - p, p])

    def predict(self, classes: Any) -> Index:
        """1 where related is more probable than not, else 0; of batches, all in one array."""
        bits = self.log_odds(classes)
        if not isinstance(bits, np.ndarray):
            bits = np.concatenate([np.empty(0), *bits])
        return np.asarray(bits > 0, dtype=np.int64)

    @property
    def objective_(self) -> float:
        """D_x + R_sigma in bits at the closed form, over the classes seen."""
        checks.check_fitted(self, "class_ids_")
        s = self._pseudo_count()
        theta = (self.related_ + s) / (self.related_ + self.unrelated_ + 2.0 * s)
        divergence = bernoulli_divergence(theta, self.related_, self.unrelated_)
        return divergence + bernoulli_regularizer(theta, float(self.sigma))

    def __sklearn_tags__(self) -> Any:
        """Say that numbers of classes are taken, not tables of any features."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        tags.input_tags.categorical = tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags

    def _pseudo_count(self) -> float:
        """Return sigma - 1, the number of pairs of each kind that the prior is worth."""
        sigma: Any = self.sigma
        if not checks.is_positive(sigma) or float(sigma) <= 1.0:
            raise DataError(
                f"sigma must be larger than 1; got {shown(sigma)}. At 1, a class seen as related "
                "only has probability 1 and infinite log-odds, and an unseen class 0/0; below 1, "
                "the objective has no minimum. Use, say, sigma=1.01 for a weak prior."
            )
        return float(sigma) - 1.0

    def _reset(self) -> None:
        self._pseudo_count()
        if self.n_classes is not None and not checks.is_whole(self.n_classes):
            raise DataError(f"n_classes is None or at least 1; got {shown(self.n_classes)}.")
        self.__dict__.pop("n_words_", None)
        self.classes_ = np.array([0, 1])
        self.n_classes_ = self.n_classes
        self.class_ids_ = np.zeros(0, dtype=np.int64)
        self.related_ = np.zeros(0)
        self.unrelated_ = np.zeros(0)

    def _add(self, classes: Any, y: Any, sample_weight: Any) -> None:
        ids = self._class_numbers(classes)
        if y is None:
            raise DataError("BernoulliMeasure requires y, the targets; got None.")
        targets = checks.pair_targets(y, len(ids)).astype(np.float64)
        weights = checks.pair_weights(sample_weight, len(ids))
        seen, position = np.unique(ids, return_inverse=True)
        plus = _sums(position, weights * targets, len(seen))
        minus = _sums(position, weights * (1.0 - targets), len(seen))
        self._merge_counts(seen, plus, minus)

    def _merge_counts(self, ids: Index, plus: Floats, minus: Floats) -> None:
        every, position = np.unique(np.concatenate([self.class_ids_, ids]), return_inverse=True)
        self.related_ = _sums(position, np.concatenate([self.related_, plus]), len(every))
        self.unrelated_ = _sums(position, np.concatenate([self.unrelated_, minus]), len(every))
        self.class_ids_ = every

    def _counts(self, classes: Any) -> tuple[Floats, Floats]:
        checks.check_fitted(self, "class_ids_")
        ids = self._class_numbers(classes)
        if not len(self.class_ids_):
            return np.zeros(len(ids)), np.zeros(len(ids))
        at = np.minimum(np.searchsorted(self.class_ids_, ids), len(self.class_ids_) - 1)
        seen = self.class_ids_[at] == ids
        return np.where(seen, self.related_[at], 0.0), np.where(seen, self.unrelated_[at], 0.0)

    def _class_numbers(self, classes: Any) -> Index:
        """Class numbers from numbers or one-hot rows, checked against the number of classes."""
        refuse_masked(classes, "classes")
        with told_of_input():
            table = sparse.issparse(classes) or np.ndim(classes) == 2
        if table:
            ids, width = _one_hot_columns(classes)
            if self.n_classes_ is None:
                self.n_classes_ = width
            if width != self.n_classes_:
                raise DataError(
                    f"One-hot features must have one column per class, {self.n_classes_}; got "
                    f"{width}."
                )
            return ids
        with told_of_input():
            given = np.asarray(classes)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise DataError(
                "classes must be a 1-dimensional array of integers, or 01-features with exactly "
                f"one 1 per row; got {given.ndim} dimensions of type {given.dtype}."
            )
        top = 1 << 63 if self.n_classes_ is None else self.n_classes_
        if given.size and (int(given.min()) < 0 or int(given.max()) >= top):
            raise DataError(
                f"Class numbers must be at least 0 and below n_classes={self.n_classes_}; got "
                f"{int(given.min())} ... {int(given.max())}."
            )
        return given.astype(np.int64)


def _records(source: Any, target: str | None) -> Iterator[tuple[Any, Any]]:
    for x, y in RecordBatches(source, target):
        yield x[:, 0] if x.shape[1] == 1 else x, y  # one column holds class numbers


def _sums(position: NDArray[np.intp], values: Floats, size: int) -> Floats:
    return np.bincount(position, values, size).astype(np.float64)


def _one_hot_columns(x: Any) -> tuple[Index, int]:
    refuse_masked(x, "One-hot features")
    with told_of_input():
        table = sparse.csr_matrix(x)
    table.sum_duplicates()
    table.eliminate_zeros()
    if not np.isin(table.data, (0, 1)).all():
        raise DataError("One-hot features must be 0 or 1; other values (or NaN) were given.")
    wrong = np.flatnonzero(np.diff(table.indptr) != 1)
    if len(wrong):
        raise DataError(
            "Every pair must belong to exactly one class: one 1 per row; row "
            f"{int(wrong[0])} has {int(np.diff(table.indptr)[wrong[0]])}."
        )
    return table.indices.astype(np.int64), int(table.shape[1])
