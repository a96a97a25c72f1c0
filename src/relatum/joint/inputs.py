"""Reading a joint problem: what is given of the pairs, and what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from relatum.array_types import Flags
from relatum.errors import DataError, EvidenceError
from relatum.features import refuse_masked, shown, told_of_input
from relatum.joint.known_pairs import Layout, PairTable, layout_of
from relatum.joint.learning import Features, Learner, learner_of
from relatum.measures import BernoulliMeasure, LogisticMeasure, require_sizes
from relatum.problem import FeasibleSet

Read = tuple[Features, tuple[int, int], Layout]


def read_joint_problem(
    x_or_classes: Any,
    feasible: FeasibleSet,
    *,
    measure: Any = None,
    evidence: FeasibleSet | None = None,
    unknown_weight: float = 1.0,
    balance: str | None = None,
    n_labels: int | None = None,
) -> tuple[PairTable, Learner, Learner]:
    """Read a joint problem: its pairs, and the learners with and without the unknown pairs."""
    measure = BernoulliMeasure() if measure is None else measure
    counted = len(getattr(measure, "class_ids_", ())) > 0  # learned from other pairs
    feasible = _with_evidence(feasible, evidence, counted)
    _check(unknown_weight, balance)
    features, shape, layout = _read(measure, x_or_classes, feasible, n_labels)
    empty = _empty(features)
    table = PairTable(shape, layout, feasible, float(unknown_weight), balance, empty)
    learner = learner_of(measure, features, table.weights)
    return table, learner, learner_of(measure, features, table.known_weights)


def _with_evidence(feasible: Any, evidence: Any, counted: bool) -> FeasibleSet:
    for name, given in (("feasible", feasible), ("evidence", evidence)):
        if not isinstance(given, FeasibleSet) and not (name == "evidence" and given is None):
            raise DataError(
                f"{name} must be a value such as relatum.EQUIVALENCES or relatum.evidence(...), "
                f"got {type(given).__name__}."
            )
    both: FeasibleSet = feasible if evidence is None else feasible & evidence
    if both.evidence is None and not counted:
        raise EvidenceError(_why_evidence(both))
    return both


def _why_evidence(feasible: FeasibleSet) -> str:
    if feasible.has("antisymmetric", "connex"):
        why = "an order and its reverse explain the features equally well"
    elif feasible.has("unique_image"):
        why = "any exchange of the labels explains the features equally well"
    else:
        why = "relating everything (or nothing) and learning that is a global optimum"
    return (
        f"Joint estimation over {feasible} needs evidence: without any, {why}. Give known pairs "
        "with evidence=relatum.evidence(related=..., unrelated=...)."
    )


def _check(unknown_weight: Any, balance: Any) -> None:
    if not _is_number(unknown_weight):
        raise DataError(
            f"unknown_weight must be a number of at least 0; got {shown(unknown_weight)}."
        )
    if balance is not None and not (isinstance(balance, str) and balance == "balanced"):
        raise DataError(f'balance must be None or "balanced"; got {shown(balance)}.')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and 0 <= float(value) < np.inf


def _read(measure: Any, given: Any, feasible: FeasibleSet, n_labels: int | None) -> Read:
    """Return features, shape and layout of the pairs."""
    if isinstance(measure, BernoulliMeasure):
        return _read_classes(given, feasible)
    if not isinstance(measure, LogisticMeasure):
        raise DataError(
            "measure must be a LogisticMeasure or a BernoulliMeasure, got "
            f"{type(measure).__name__}."
        )
    refuse_masked(given, "Features")
    with told_of_input():
        plain = sparse.issparse(given) or np.ndim(given) == 2
    if sparse.issparse(given) or (plain and not feasible.homogeneous):
        return _read_labels(given, feasible, n_labels)
    with told_of_input():
        x = np.asarray(given, dtype=np.float64)
    if x.ndim < 2 or not np.isfinite(x).all() or x.size == 0:
        raise DataError(
            "Features of pairs are finite numbers of shape (|A|, |B|, K), or (pairs, K) for an "
            f"upper triangle; got shape {x.shape}."
        )
    require_sizes(x)
    shape, layout = layout_of(x.shape[:-1], feasible)
    return Features("pairs", x.reshape(-1, x.shape[-1])), shape, layout


def _read_classes(given: Any, feasible: FeasibleSet) -> Read:
    refuse_masked(given, "Classes")
    with told_of_input():
        classes = np.asarray(given)
    if classes.dtype.kind not in "iu" or classes.ndim not in (1, 2) or classes.size == 0:
        raise DataError(
            "Classes of pairs are integers, -1 for none, of shape (|A|, |B|) or the upper "
            f"triangle; got shape {classes.shape} of type {classes.dtype}."
        )
    if classes.min() < -1 or classes.max() < 0:
        raise DataError("Classes are numbered from 0, -1 is none, and at least one pair has one.")
    shape, layout = layout_of(classes.shape, feasible)
    return Features("classes", classes.ravel().astype(np.int64)), shape, layout


def _read_labels(given: Any, feasible: FeasibleSet, n_labels: int | None) -> Read:
    if feasible.homogeneous:
        raise DataError(
            f"Features of elements are for relations between two sets, not for {feasible}; pass "
            "features of pairs."
        )
    thin = hasattr(given, "tocsr")
    with told_of_input():
        x: Any = given.tocsr() if thin else np.asarray(given, dtype=np.float64)
    if x.shape[0] == 0 or not np.isfinite(x.data if thin else x).all():
        raise DataError(f"Features of elements are finite numbers; got shape {x.shape}.")
    require_sizes(x)
    if n_labels is None:
        known = feasible.evidence
        assert known is not None
        n_labels = int(np.concatenate([known.related, known.unrelated])[:, 1].max()) + 1
    return Features("labels", x, int(n_labels)), (x.shape[0], int(n_labels)), "matrix"


def _empty(features: Features) -> Flags:
    """Pairs without features: they have no part in learning."""
    if features.kind == "classes":
        return np.asarray(features.values < 0)
    if features.kind == "pairs":
        return np.asarray(~features.values.any(axis=1))
    return np.zeros(features.values.shape[0] * features.n_labels, dtype=np.bool_)
