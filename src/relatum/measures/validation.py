"""Checks of training and input data: typed errors, and objects left unchanged by failures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array

from relatum.array_types import Flags, Floats
from relatum.errors import DataError
from relatum.features import UnfittedError, checked_input, refuse_masked, shown, told_of_input

# Kept as given: rows stay int8 in memory and become floating point a block at a time.
ROW_TYPES = [np.int8, np.uint8, np.bool_, np.int16, np.float32, np.float64]

STRONGEST = 1e60  # of priors, and one over the weakest: beyond, nothing is learned, or all
LARGEST = 1e100  # of features in double precision: sums of their squares are far from infinite
LARGEST_SINGLE = 1e15  # the same in single precision, where fits of such features are done

TargetKind: TypeAlias = Literal["binary", "map", "relation"]


class Targets(NamedTuple):
    """Targets y as one row per label.

    `kind` is "binary" for two labels (one row: the second label is "related"), "map" for one label
    of several per element (one row per label) and "relation" for a 01-matrix (one row per column).
    """

    kind: TargetKind
    classes: NDArray[Any]
    related: Flags


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore every attribute of `estimator` if the body fails."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def check_fitted(estimator: Any, attribute: str) -> None:
    """Raise UnfittedError unless `estimator` has `attribute`."""
    if not hasattr(estimator, attribute):
        name = type(estimator).__name__
        raise UnfittedError(f"This {name} is not fitted yet: call its fit method first.")


def require_parameters(
    estimator: Any, positive: Iterable[str], whole: Iterable[str], optional: Iterable[str] = ()
) -> None:
    """Refuse parameters of `estimator` that break their rule.

    Those named `positive` are positive numbers, `whole` ones integers of at least 1, `optional`
    ones None or positive.
    """
    given = {name: getattr(estimator, name) for name in (*positive, *whole, *optional)}
    for name, value in given.items():
        number = is_whole(value) if name in whole else is_positive(value)
        if not number and not (name in optional and value is None):
            rule = "an integer of at least 1" if name in whole else "a positive number"
            said = f"None or {rule}" if name in optional else rule
            raise DataError(f"{name} must be {said}; got {shown(value)}.")
        if name == "inverse_sigma_squared" and not 1 / STRONGEST <= float(value) <= STRONGEST:
            raise DataError(
                f"{name} must be between {1 / STRONGEST:g} and {STRONGEST:g}; got {shown(value)}."
            )


def is_positive(value: Any) -> bool:
    """Say whether `value` is a positive, finite number."""
    return isinstance(value, Real) and value is not True and 0 < _as_float(value) < np.inf


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        return np.nan


def is_whole(value: Any) -> bool:
    """Say whether `value` is an integer of at least 1."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def is_stream(x: object) -> bool:
    """Say whether `x` is an iterable of batches rather than one table of rows."""
    if isinstance(x, (list, tuple, str, bytes, dict)) or not isinstance(x, Iterable):
        return False
    return not any(hasattr(x, name) for name in ("shape", "__array__", "dtype", "iloc"))


def checked_rows(estimator: Any, x: Any, *, reset: bool) -> Any:
    """Rows as an array or CSR matrix without NaN, of the width the estimator was fitted to."""
    layout = {"accept_sparse": "csr", "dtype": ROW_TYPES, "order": "C"}
    rows = checked_input(estimator, x, reset=reset, **layout)
    require_sizes(rows)
    return rows


def require_sizes(rows: Any) -> None:
    """Refuse features whose squares, added up, are no numbers any more."""
    values = rows.data if hasattr(rows, "tocsr") else rows
    if values.dtype.kind != "f" or not values.size:
        return
    most = LARGEST_SINGLE if values.dtype.itemsize < 8 else LARGEST
    top = max(float(values.max()), -float(values.min()))
    if top > most:
        raise DataError(
            f"Features of type {values.dtype} are at most {most:g} in size, got {top:g}; scale "
            "them, for example by StandardScaler."
        )


def split_batch(batch: Any) -> tuple[Any, Any]:
    """Split a batch into rows and targets; the targets are None where the batch has none."""
    if isinstance(batch, tuple):
        if len(batch) != 2:
            raise DataError(
                f"A batch is (x, y): rows and targets; got a tuple of {len(batch)}. "
                "Yield pairs of arrays."
            )
        return batch
    return batch, None


def checked_batch(x: Any, width: int | None) -> Any:
    """Rows of one batch, checked as in checked_rows and against the width of earlier batches."""
    refuse_masked(x, "A batch")
    with told_of_input():
        rows = check_array(x, accept_sparse="csr", dtype=ROW_TYPES, order="C")
    require_sizes(rows)
    if width is not None and rows.shape[1] != width:
        raise DataError(
            f"Every batch must have as many features as the first: {width}; got {rows.shape[1]}. "
            "Let one and the same feature map produce all batches."
        )
    return rows


def checked_weights(sample_weight: Any, x: Any) -> Floats:
    """Non-negative weights, one per row, at least one of them positive."""
    refuse_masked(sample_weight, "sample_weight")
    with told_of_input("sample_weight"):
        weights = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weights > 0):
        raise DataError("sample_weight must be positive for at least one row; all are zero.")
    _require_weights(weights)
    return np.asarray(weights, dtype=np.float64)


def _require_weights(weights: Floats) -> None:
    """Refuse weights that are no numbers of rows: they would add up to nothing, or infinity."""
    positive = weights[weights > 0]
    if len(positive) and not 1 / LARGEST <= positive.min() <= positive.max() <= LARGEST:
        raise DataError(
            f"sample_weight must be 0, or between {1 / LARGEST:g} and {LARGEST:g}; got "
            f"{positive.min():g} ... {positive.max():g}. Divide all weights by one number."
        )


def pair_targets(y: Any, n: int) -> Flags:
    """Which of `n` pairs are related, from one 0 or 1 per pair."""
    refuse_masked(y, "y")
    with told_of_input():
        targets = np.asarray(y)
    if targets.shape != (n,):
        raise DataError(f"y must have one target per pair, shape ({n},); got {targets.shape}.")
    if not np.isin(targets, (0, 1)).all():
        raise DataError("y must be 1 for related pairs and 0 for unrelated ones; got other values.")
    return np.asarray(targets == 1)


def pair_weights(sample_weight: Any, n: int) -> Floats:
    """Non-negative weights of `n` pairs, ones by default."""
    if sample_weight is None:
        return np.ones(n)
    refuse_masked(sample_weight, "sample_weight")
    with told_of_input("sample_weight"):
        weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise DataError(f"sample_weight must be {n} finite numbers, none negative.")
    _require_weights(weights)
    return weights


def encode_targets(y: Any, n: int, classes: Any = None) -> Targets:
    """Targets as rows of booleans, one per label.

    Parameters
    ----------
    y : array_like of shape (n,) or (n, labels)
        Labels, or a 01-matrix that says which elements are related to which labels.
    n : int
        Number of rows of features.
    classes : array_like, optional
        All labels, where `y` may lack some of them (a batch of many).
    """
    refuse_masked(y, "y")
    with told_of_input():
        y = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    if y.ndim not in (1, 2) or len(y) != n:
        raise DataError(
            f"There must be one target per row: {n} rows and targets of shape {y.shape} were given "
            "(inconsistent numbers of samples)."
        )
    if y.ndim == 2 and y.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; it is flattened."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        y = y[:, 0]
    if y.ndim == 2:
        if not np.isin(y, (0, 1)).all():
            raise DataError("A matrix y must be 01-valued: y[a, b] = 1 iff a is related to b.")
        return Targets("relation", np.arange(y.shape[1]), np.ascontiguousarray(y.T == 1))
    with told_of_input():
        check_classification_targets(y)
        known = np.unique(y) if classes is None else np.unique(np.asarray(classes))
    if not np.isin(y, known).all():
        raise DataError(
            f"y holds labels that are not among classes={known.tolist()}: "
            f"{np.setdiff1d(y, known).tolist()}. Pass all labels as `classes`."
        )
    if len(known) == 2:
        return Targets("binary", known, (y == known[1])[None, :])
    return Targets("map", known, y[None, :] == known[:, None])


def require_both(targets: Targets, totals: Floats, counts: float) -> None:
    """Refuse labels that are related to nothing, or to everything.

    Parameters
    ----------
    targets : Targets
    totals : (labels,) number of related rows of each label.
    counts : number of rows.
    """
    if len(targets.classes) < 2 and targets.kind != "relation":
        raise DataError(
            "A measure is learned from related and unrelated pairs; y holds one class only: "
            f"{targets.classes.tolist()}. Add elements of another class."
        )
    constant = (totals <= 0) | (totals >= counts)
    if constant.any():
        which = np.flatnonzero(constant)
        names = targets.classes[which if targets.kind != "binary" else [0, 1]].tolist()
        raise DataError(
            f"Every class needs related and unrelated elements; not so for {names}: no element "
            "of positive weight, or all. Leave such classes out."
        )
