"""Clustering: the most probable equivalence relation, by a measure of pairs that is learned."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.estimators import common
from relatum.features import (
    checked_count,
    checked_input,
    checked_labels,
    checked_pairs,
    checked_switches,
    count_pairs,
    pair_features,
    refuse_masked,
    sample_pairs,
    told_of_input,
)
from relatum.measures import BilinearPairMeasure, DiffusionPairMeasure, ElementPairMeasure
from relatum.problem import EQUIVALENCES, FeasibleSet, Partition, Problem
from relatum.problem import evidence as evidence_of_pairs
from relatum.proof import Estimate

ALL_PAIRS = 15_000  # elements at most of which all pairs are scored, 0.9 GB
PARTNERS = 100  # with which each of more elements is paired, at random


@dataclass(eq=False, repr=False)
class PartitionClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Learn from elements which belong together, with labels or without; cluster them, and others.

    With labels, of elements or of pairs, a measure is learned that tells which pairs are related.
    Without, ``fit(X)`` takes a measure that knows neighbours only (see `DiffusionPairMeasure`).
    Of more than 15,000 elements, a random sample of their pairs decides, about 200 of each.

    Parameters
    ----------
    lifting : transformer, optional
        Applied to the elements first.
    measure : measure, optional
        By default a `BilinearPairMeasure` with labels, and a `DiffusionPairMeasure` without, which
        takes none if it is given. Or a measure of pairs' features such as `LogisticMeasure`, to
        which the AND and XOR of the elements' 01-features are given (`relatum.pair_features`).
    feasible : FeasibleSet, optional
        EQUIVALENCES by default; intersect with ``at_most(k)``, groups or evidence, which
        speak of the elements to be clustered.
    n_pairs : int
        How many pairs of labelled elements to learn from.
    stratified : bool
        Whether half of them are related. The scores then suppose that half of all pairs
        are; `prior_correction` undoes that.
    prior_correction : bool
        Add the log-odds of the training labels' own share of related pairs, so that
        stratified training predicts on the scale of all pairs.
    semi_supervised : bool
        Learn from elements without a label, too: those whose y is -1, and all pairs that
        `fit_pairs` is not given. Measure and clustering are then estimated together (see
        `relatum.joint_estimate`) from all pairs of elements; the measure is a
        `LogisticMeasure` of pairs' features.
    unknown_weight, balance
        The weight of unknown pairs, and whether related and unrelated known pairs weigh the
        same, if `semi_supervised`. Weight 1 is the paper's joint problem, but its optimum is
        often a poor clustering.
    solver, prove, time_limit
        As in `relatum.infer`.
    random_state : int
    verbose : bool
        Print progress.

    Attributes
    ----------
    lifting_, measure_
        The fitted lifting and measure.
    labels_ : ndarray
        Clusters of the training elements, as inferred (not as given).
    estimate_ : Estimate
    gap_ : float
        Its gap, in bits.
    joint_ : JointEstimate
        If `semi_supervised`: objective, bound and history.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> truth = np.repeat([0, 1, 2], 20)
    >>> X = centres[truth] + rng.normal(scale=0.5, size=(60, 2))
    >>> model = PartitionClustering(n_pairs=800).fit(X, truth)
    >>> new = centres[[0, 1, 0, 2]] + 0.1
    >>> model.predict(new).tolist()
    [0, 1, 0, 2]

    Without labels:

    >>> found = PartitionClustering().fit_predict(X)
    >>> [found[truth == k].tolist() == [k] * 20 for k in range(3)]
    [True, True, True]
    """

    lifting: Any = None
    measure: Any = None
    feasible: FeasibleSet | None = None
    _: KW_ONLY
    n_pairs: int = 100_000
    stratified: bool = False
    prior_correction: bool = True
    semi_supervised: bool = False
    unknown_weight: float = 0.1
    balance: str | None = "balanced"
    solver: str = "auto"
    prove: bool = False
    time_limit: float = 60.0
    random_state: int = 0
    verbose: bool = False

    def fit(self, X: Any, y: Any = None) -> PartitionClustering:
        """Learn from elements, then cluster them.

        Parameters
        ----------
        X : array-like of shape (elements, features)
        y : array-like of labels, optional
            Elements with equal labels belong together; -1 is no label if `semi_supervised`.
            Without labels, elements that random walks between neighbours mix belong together.
        """
        self._require_switches()
        X = self._elements(X, reset=True)
        if y is None or isinstance(self.measure, DiffusionPairMeasure):
            return self._fit_without_labels(X)
        if len(X) == 1:
            raise DataError(
                "One element is no pair: n_samples=1, but learning takes pairs of them."
            )
        labels = checked_labels(y, len(X))
        if self.semi_supervised:
            return self._fit_jointly(X, _evidence_of(labels))
        related, total = count_pairs(labels)
        if related in (0, total):
            raise DataError(
                "Labels must put some pairs together and some apart; these put "
                f"{'all' if related else 'none'} of {total} pairs together."
            )
        count = min(checked_count(self, "n_pairs"), total)
        if self.stratified:
            count = min(count, 2 * min(related, total - related))
        i, j, same = sample_pairs(
            labels, count, stratified=self.stratified, random_state=self.random_state
        )
        offset = 0.0
        if self.stratified and self.prior_correction:
            offset = float(np.log2(related) - np.log2(total - related))
        return self._fit(X, i, j, same, offset)

    def fit_predict(self, X: Any, y: Any = None) -> Index:
        """Learn from elements and cluster them; return ``labels_``."""
        return self.fit(X, y).labels_

    def fit_pairs(self, X: Any, i: ArrayLike, j: ArrayLike, related: ArrayLike) -> Any:
        """Learn from labelled pairs, then cluster all elements.

        Parameters
        ----------
        X : array-like of shape (elements, features)
        i, j : integer arrays
            Pairs of rows of X.
        related : array of 0 and 1
        """
        self._require_switches()
        X = self._elements(X, reset=True)
        for given, what in ((i, "i"), (j, "j"), (related, "related")):
            refuse_masked(given, what)
        with told_of_input():
            first, second, same = np.asarray(i), np.asarray(j), np.asarray(related)
        if not (first.shape == second.shape == same.shape) or first.ndim != 1:
            raise DataError(
                "i, j and related have one entry per pair, got shapes "
                f"{first.shape}, {second.shape} and {same.shape}."
            )
        first, second = checked_pairs(first, second, len(X))
        if not np.isin(same, (0, 1)).all():
            raise DataError("related is 1 for pairs that belong together and 0 for others.")
        if isinstance(self.measure, DiffusionPairMeasure):
            raise DataError(
                "A DiffusionPairMeasure learns nothing from labelled pairs; say what is known by "
                "feasible=relatum.EQUIVALENCES & relatum.evidence(...), or leave `measure` out."
            )
        if self.semi_supervised:
            pairs, yes = np.column_stack([first, second]), same.astype(np.bool_)
            return self._fit_jointly(X, evidence_of_pairs(pairs[yes], pairs[~yes]))
        return self._fit(X, first, second, same, 0.0)

    def _fit_without_labels(self, X: Any) -> PartitionClustering:
        measure = self.measure
        if self.semi_supervised or not (
            measure is None or isinstance(measure, DiffusionPairMeasure)
        ):
            said = "semi_supervised=True" if self.semi_supervised else f"a {type(measure).__name__}"
            raise DataError(
                f"PartitionClustering with {said} requires y to be passed, but the target y is "
                "None: it learns from labels what belongs together. Pass y, or labelled pairs to "
                "fit_pairs(X, i, j, related), or leave `measure` out."
            )
        common.feasible_of(self, EQUIVALENCES)  # refused before anything is learned
        lifting, v = common.fitted_lifting(self.lifting, X)
        fresh = DiffusionPairMeasure() if measure is None else common.copied(measure)
        return self._fitted(lifting, fresh.fit(v), v, 0.0)

    def _fit_jointly(self, X: Any, known: FeasibleSet) -> PartitionClustering:
        """Estimate measure and clustering together, from all pairs of elements."""
        if isinstance(self.measure, BilinearPairMeasure):
            raise DataError(
                "semi_supervised=True estimates a LogisticMeasure of pairs' features; a "
                "BilinearPairMeasure is learned from labels only. Leave `measure` out."
            )
        lifting, v = common.fitted_lifting(self.lifting, X)
        i, j = np.triu_indices(len(v), 1)
        result = common.jointly_estimated(
            self,
            pair_features(v[i], v[j]),
            common.feasible_of(self, EQUIVALENCES),
            measure=common.new_logistic(self.measure),
            evidence=known,
            balance=self.balance,
        )
        self.lifting_, self.measure_, self.offset_ = lifting, result.measure, 0.0
        self.joint_, self.estimate_, self.gap_ = result, result.estimate, result.estimate.gap
        self.labels_ = self._labels(self.estimate_)
        return self

    def _fit(
        self,
        X: Any,
        i: NDArray[Any],
        j: NDArray[Any],
        same: NDArray[Any],
        offset: float,
    ) -> PartitionClustering:
        common.feasible_of(self, EQUIVALENCES)  # refused before anything is learned
        lifting, v = common.fitted_lifting(self.lifting, X)
        measure = BilinearPairMeasure() if self.measure is None else common.copied(self.measure)
        if isinstance(measure, BilinearPairMeasure):
            measure.fit(v, i, j, same)
        else:
            measure.fit(pair_features(v[i], v[j]), same)
        return self._fitted(lifting, measure, v, offset)

    def _fitted(self, lifting: Any, measure: Any, v: Any, offset: float) -> PartitionClustering:
        """Keep what was learned, and cluster the elements that it was learned from."""
        self.lifting_, self.measure_, self.offset_ = lifting, measure, offset
        self.estimate_ = self._inferred(v, None)
        self.labels_ = self._labels(self.estimate_)
        self.gap_ = self.estimate_.gap
        return self

    def _elements(self, X: Any, reset: bool) -> Any:
        return checked_input(self, X, reset=reset, dtype="numeric")

    def _require_switches(self) -> None:
        names = ("stratified", "prior_correction", "semi_supervised", "prove", "verbose")
        checked_switches(self, *names)

    def log_odds(self, X: Any) -> NDArray[Any]:
        """Return the log2-odds of all unordered pairs, as a condensed upper triangle."""
        common.require_fitted(self)
        return self._scores(common.lifted(self.lifting_, self._elements(X, reset=False)))

    def _scores(self, v: Any) -> NDArray[Any]:
        if isinstance(self.measure_, ElementPairMeasure):
            scores = self.measure_.all_log_odds(v, dtype=np.float64)
        else:
            i, j = np.triu_indices(len(v), 1)
            blocks = [slice(s, s + 8192) for s in range(0, len(i), 8192)]
            scores = np.concatenate(
                [np.empty(0)]
                + [self.measure_.log_odds(pair_features(v[i[b]], v[j[b]])) for b in blocks]
            )
        return np.asarray(scores + self.offset_)

    def infer(self, X: Any, evidence: FeasibleSet | None = None) -> Estimate:
        """Infer the clustering of elements, with its bound and certificate.

        Parameters
        ----------
        X : array-like
        evidence : FeasibleSet, optional
            What is known of these elements: must-links and cannot-links
            (``relatum.evidence``), groups, caps.
        """
        common.require_fitted(self)
        v = common.lifted(self.lifting_, self._elements(X, reset=False))
        return self._inferred(v, evidence)

    def _inferred(self, v: Any, evidence: FeasibleSet | None) -> Estimate:
        feasible = common.feasible_of(self, EQUIVALENCES, evidence)
        n = v.shape[0]
        if n > ALL_PAIRS and isinstance(self.measure_, ElementPairMeasure):
            i, j = _sampled(n, common.seed_of(self))
            scores = self.measure_.log_odds(v, i, j) + self.offset_
            return common.inferred(
                self, Problem.from_pairs(i, j, scores, n=n, background=0.0, feasible=feasible)
            )
        return common.inferred(
            self, Problem(np.zeros((1, 1)) if n == 1 else self._scores(v), feasible)
        )

    def predict(self, X: Any, evidence: FeasibleSet | None = None) -> Index:
        """Cluster elements, seen or not; return a label per element."""
        return self._labels(self.infer(X, evidence))

    def _labels(self, estimate: Estimate) -> Index:
        if not isinstance(estimate.relation, Partition):
            raise DataError(f"There is no clustering: {estimate.message}")
        return estimate.relation.labels


def _sampled(n: int, seed: Any) -> tuple[Index, Index]:
    """Return pairs of n elements, each once: every element with some others, at random."""
    rng = np.random.default_rng(seed)
    i = np.repeat(np.arange(n), PARTNERS)
    j = (i + rng.integers(1, n, len(i))) % n
    pairs = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
    return pairs // n, pairs % n


def _evidence_of(labels: NDArray[Any]) -> FeasibleSet:
    """Pairs of elements with a label, from labels that are -1 where there is none."""
    if labels.dtype.kind not in "iu":
        raise DataError(
            "semi_supervised=True takes one integer per element, -1 where there is no label; got "
            f"type {labels.dtype}. Encode labels as 0, 1, ..."
        )
    from relatum.joint import partial_evidence  # only for joint estimation

    return partial_evidence(common.numbered(labels, labels != -1)[1], EQUIVALENCES)
