"""Classification: the most probable map, or relation, from elements to labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.estimators import common
from relatum.features import (
    checked_input,
    checked_labels,
    checked_switches,
    refuse_masked,
    told_of_input,
)
from relatum.probability import probabilities
from relatum.problem import MAPS, RELATIONS, FeasibleSet, Problem
from relatum.proof import Estimate


@dataclass(eq=False, repr=False)
class MapClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a measure from labelled elements; infer the most probable map.

    Parameters
    ----------
    lifting : transformer, optional
        Applied to the elements first, such as `TensorSketch` or a pipeline.
    measure : measure, optional
        Anything with ``fit(x, y)``, ``log_odds(x)`` and ``classes_``; by default a
        `LogisticMeasure` with an intercept and a prior relative to the features' scale.
    feasible : FeasibleSet, optional
        MAPS by default, RELATIONS for multi-label targets. ``RELATIONS & at_most(k)`` gives
        every element at most k labels, ``BIJECTIONS`` uses every label once, evidence
        speaks of (element, number of label in ``classes_``) at prediction.
    semi_supervised : bool
        Learn from elements without a label, too: those whose y is -1. Measure and labels are
        then estimated together (see `relatum.joint_estimate`); the measure is a
        `LogisticMeasure`.
    unknown_weight : float
        The weight of elements without a label, if `semi_supervised`. 1 is the paper's joint
        problem.
    solver, prove, time_limit
        As in `relatum.infer`.
    random_state : int
    verbose : bool
        Print progress.
    standardize : bool or "auto"
        Whether columns are brought to mean 0 and variance 1 before the lifting. "auto" does that
        if neither lifting nor measure is given and some column varies at least ten times as much
        as most, as columns of different units do; columns of one unit, such as pixels, stay.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray
        If `semi_supervised`: the labels of the training elements, given or estimated.
    joint_ : JointEstimate
        If `semi_supervised`: objective, bound and history.
    lifting_, measure_
        The fitted lifting and measure.
    estimate_ : Estimate
        Of the training elements.
    gap_ : float
        Its gap, in bits.

    Examples
    --------
    >>> import relatum as rt
    >>> train, test = rt.datasets.load_digits()
    >>> model = MapClassifier().fit(train.images, train.labels)
    >>> model.score(test.images, test.labels) > 0.9
    True
    """

    lifting: Any = None
    measure: Any = None
    feasible: FeasibleSet | None = None
    _: KW_ONLY
    semi_supervised: bool = False
    unknown_weight: float = 0.1
    solver: str = "auto"
    prove: bool = False
    time_limit: float = 60.0
    random_state: int = 0
    verbose: bool = False
    standardize: bool | Literal["auto"] = "auto"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MapClassifier:
        """Learn from labelled elements.

        Parameters
        ----------
        X : array-like of shape (elements, features)
        y : array-like of labels, or a 01-matrix of shape (elements, labels)
        sample_weight : array-like of shape (elements,), optional
            How often each element counts to the measure; liftings are fitted without.
        """
        if y is None:
            raise DataError(
                "This MapClassifier estimator requires y to be passed, but the target y is None."
            )
        checked_switches(self, "semi_supervised", "prove", "verbose")
        refuse_masked(X, "X")
        refuse_masked(y, "y")
        with told_of_input():
            X, y = validate_data(self, X, y, accept_sparse="csr", multi_output=True)
        if self.semi_supervised:
            if sample_weight is not None:
                raise DataError(
                    "semi_supervised=True takes no sample_weight: elements without a label weigh "
                    "unknown_weight, all others 1. Leave one of the two out."
                )
            return self._fit_semi_supervised(X, y)
        target, multilabel = self._target(y)
        chosen = common.scaling_for(self, X)
        lifting, x = common.fitted_lifting(chosen, X, None if multilabel else target)
        measure = common.new_logistic(self.measure)
        if sample_weight is None:
            measure.fit(x, target)
        else:
            measure.fit(x, target, sample_weight=sample_weight)
        self.lifting_, self.measure_ = lifting, measure
        self.multilabel_ = multilabel
        self.classes_ = np.arange(target.shape[1]) if multilabel else np.unique(target)
        self.estimate_ = common.inferred(self, Problem(self._scores(x), self._base(None)))
        self.gap_ = self.estimate_.gap
        return self

    def _fit_semi_supervised(self, X: Any, y: NDArray[Any]) -> MapClassifier:
        """Estimate measure and labels together; y is -1 where there is no label."""
        if y.ndim != 1 or y.dtype.kind not in "iufb":
            raise DataError(
                "semi_supervised=True takes one number per element, -1 where there is no label; "
                f"got {y.ndim} axes of type {y.dtype}. Encode labels as 0, 1, ..."
            )
        known = y != -1
        if not known.any():
            raise DataError(
                "All of y is -1: there is no labelled element to learn from. Label some of each."
            )
        self._target(y[known])  # refused unless there are labels, two of them
        classes, partial = common.numbered(y, known)
        self.multilabel_ = False
        base = self._base(None)
        lifting, x = common.fitted_lifting(common.scaling_for(self, X), X)
        from relatum.joint import partial_evidence  # only for joint estimation

        result = common.jointly_estimated(
            self,
            x,
            base,
            measure=common.new_logistic(self.measure),
            evidence=partial_evidence(partial, base),
            n_labels=len(classes),
        )
        self.lifting_, self.measure_, self.classes_ = lifting, result.measure, classes
        self.measure_.classes_ = classes
        self.joint_, self.estimate_, self.gap_ = result, result.estimate, result.estimate.gap
        relation: Any = result.estimate.relation
        self.transduction_ = classes[relation.labels]
        return self

    def _target(self, y: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        with told_of_input():
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            if kind == "multilabel-indicator":
                return y.astype(np.int64), True
            if y.ndim == 2 and y.shape[1] == 1:
                y = column_or_1d(y, warn=True)
                kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise DataError(
                f"y holds labels, or a 01-matrix of labels; got a target of type {kind!r}. "
                "Unknown label type: continuous targets are for regression."
            )
        if len(np.unique(checked_labels(y, len(y)))) < 2:
            raise DataError("Classification needs at least two labels, got 1 class in y.")
        return y, False

    def _base(self, extra: FeasibleSet | None) -> FeasibleSet:
        return common.feasible_of(self, RELATIONS if self.multilabel_ else MAPS, extra)

    def log_odds(self, X: Any) -> Floats:
        """Return the log2-odds of every element and label, one column per label."""
        common.require_fitted(self)
        X = checked_input(self, X, reset=False, accept_sparse="csr")
        return self._scores(common.lifted(self.lifting_, X))

    def _scores(self, x: Any) -> Floats:
        scores = np.asarray(self.measure_.log_odds(x))
        if scores.ndim == 1:  # two classes: the log-odds of the second
            scores = np.column_stack([-scores, scores])
        return scores

    def infer(self, X: Any, evidence: FeasibleSet | None = None) -> Estimate:
        """Infer the relation of elements and labels, with its bound and certificate.

        Parameters
        ----------
        X : array-like
        evidence : FeasibleSet, optional
            What is known of (element, number of label), such as
            ``relatum.evidence(related=[(0, 3)])``.
        """
        common.require_fitted(self)
        return common.inferred(self, Problem(self.log_odds(X), self._base(evidence)))

    def predict(self, X: Any, evidence: FeasibleSet | None = None) -> NDArray[Any]:
        """Return a label per element; a 01-matrix where an element may have several labels."""
        estimate = self.infer(X, evidence)
        if estimate.relation is None:
            raise DataError(f"There is nothing to predict: {estimate.message}")
        labels = getattr(estimate.relation, "labels", None)
        if self.multilabel_ or labels is None or (labels < 0).any():
            return estimate.relation.matrix().astype(np.int64)
        return np.asarray(self.classes_[labels])

    def decision_function(self, X: Any) -> Floats:
        """Return log2-odds, as scikit-learn shapes them."""
        scores = self.log_odds(X)
        if not self.multilabel_ and len(self.classes_) == 2:
            return scores[:, 1]
        return scores

    def predict_proba(self, X: Any, evidence: FeasibleSet | None = None) -> Floats:
        """Return the probability of each label, given the feasible set and evidence.

        The probability of a map is a product over elements, proportional to 2**log-odds.
        For multi-label targets, the probability of each label by itself. With a feasible set
        or evidence, probabilities are those of `relatum.probabilities`: of BIJECTIONS, for
        instance, an element's labels depend on the other elements of X.
        """
        scores = self.log_odds(X)
        if not self.multilabel_ and len(self.classes_) == 2:
            scores = scores / 2  # one log-odds, written once for each class
        if self.feasible is not None or evidence is not None:
            problem, seed = Problem(scores, self._base(evidence)), common.seed_of(self)
            return probabilities(problem, time_limit=self.time_limit, seed=seed).matrix()
        if self.multilabel_:
            return 1.0 / (1.0 + np.exp2(-scores))
        weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags
