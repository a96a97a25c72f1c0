"""What every feature map asks of its input, and the errors it raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from relatum.errors import DataError, NotFittedError, RelatumError


class FeatureMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer that makes features; single precision stays single."""

    takes_sparse: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class NumberedFeatureMap(ClassNamePrefixFeaturesOutMixin, FeatureMap):  # type: ignore[misc]
    """One whose output columns are named by its class and their number."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the output columns by the class and their number."""
        checked_fitted(self)
        return np.asarray(super().get_feature_names_out(input_features))


class UnfittedError(NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Something is used before it was fitted; scikit-learn's error as well as ours."""


class WrongTypeError(DataError, TypeError):
    """Input is of a type that nothing can be made of: ours, and what scikit-learn expects."""


@contextmanager
def told_of_input(what: str = "") -> Iterator[None]:
    """Turn whatever looking at input raises, also of classes that are not ours, into one line."""
    begin = f"{what}: " if what else ""
    try:
        yield
    except (RelatumError, MemoryError):
        raise
    except TypeError as error:
        raise WrongTypeError(begin + _told(error)) from error
    except Exception as error:
        raise DataError(begin + _told(error)) from error


@contextmanager
def told_of_room(owner: Any, what: str) -> Iterator[None]:
    """Turn "no memory" into an error that names the parameter to blame."""
    try:
        yield
    except MemoryError as error:
        raise DataError(
            f"{type(owner).__name__}: there is not enough memory for {what}={getattr(owner, what)}"
            f" ({_told(error)}); pass a smaller number"
        ) from error


def _told(error: Exception) -> str:
    return str(error)[:900] or type(error).__name__


def refuse_masked(x: Any, what: str) -> None:
    """Refuse a masked array: NumPy forgets the mask wherever it makes a plain array of it."""
    if isinstance(x, np.ma.MaskedArray):
        raise DataError(
            f"{what} is an array whose entries all count, got a masked one; fill it "
            "(array.filled(...)), or leave out what is masked."
        )


def checked_labels(y: Any, n: int) -> NDArray[Any]:
    """Return one label per row, none of them missing, all of kinds that can be compared."""
    refuse_masked(y, "y")
    with told_of_input():
        labels = np.asarray(y)
    if labels.shape != (n,):
        raise DataError(f"y has shape {labels.shape}; give one label for each of {n}.")
    try:
        missing = any(x is None or bool(x != x) for x in labels.tolist())
        np.unique(labels)
    except Exception as error:
        raise DataError(
            f"y holds labels that cannot be compared ({str(error)[:160]}); write them as texts, or "
            "as numbers."
        ) from error
    if missing:
        raise DataError("y holds labels that are missing (None or NaN); leave such rows out.")
    return labels


def checked_switches(owner: Any, *names: str) -> None:
    """Refuse parameters of `owner` that are neither True nor False, nor 1 nor 0."""
    for name in names:
        value = getattr(owner, name)
        fits = isinstance(value, bool | np.bool_) or (type(value) is int and value in (0, 1))
        if not fits:
            raise DataError(
                f"{type(owner).__name__}: {name} must be True or False, got {shown(value)}"
            )


def require_finite(out: Any, owner: Any) -> None:
    """Refuse what came out infinite: features so large that their products are no floats."""
    values: NDArray[Any] = out.data if is_sparse(out) else out
    if values.dtype.kind != "f" or not values.size:
        return
    with np.errstate(all="ignore"):
        total = values.sum(dtype=np.float64)
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise DataError(
            f"{type(owner).__name__}: features are so large that products of them are no floating "
            "point numbers; scale them, for example by StandardScaler"
        )


def is_number(value: Any, least: float) -> bool:
    """Tell whether a value is a number of at least `least`; NaN is none."""
    if not isinstance(value, Real) or value is True or value is False:
        return False
    try:
        return float(value) >= least
    except (OverflowError, ValueError):
        return False


def shown(value: object) -> str:
    """Return a value as an error shows it: one short line, whatever its class does."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of classes that are not ours
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def distinct(names: list[str]) -> NDArray[np.object_]:
    """Return names of columns; those that come again, such as of equal thresholds, are numbered."""
    times: dict[str, int] = {}
    out = np.empty(len(names), dtype=object)
    for k, name in enumerate(names):
        unique, again = name, times.get(name, 0)
        while unique in times:
            again += 1
            unique = f"{name} ({again + 1})"
        times[name], times[unique] = again, times.get(unique, 0)
        out[k] = unique
    return out


def is_sparse(x: Any) -> bool:
    """Tell whether `x` is a scipy sparse matrix or array."""
    return bool(sparse.issparse(x))


def checked_input(estimator: Any, x: Any, *, reset: bool, **options: Any) -> Any:
    """Validate `x` as scikit-learn does; whatever breaks a rule becomes a `DataError`."""
    refuse_masked(x, "X")
    with told_of_input():
        return validate_data(estimator, x, reset=reset, **options)


def checked_fitted(estimator: Any) -> None:
    """Raise `UnfittedError` unless `estimator` was fitted."""
    try:
        check_is_fitted(estimator)
    except SklearnNotFittedError as error:
        raise UnfittedError(str(error)) from error


def checked_count(owner: Any, name: str, least: int = 1) -> int:
    """Return the parameter `name` of `owner` as an int of at least `least`."""
    value = getattr(owner, name)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise DataError(
            f"{type(owner).__name__}: {name} must be an integer of at least {least}, "
            f"got {shown(value)}; pass a whole number"
        )
    if value < least:
        raise DataError(
            f"{type(owner).__name__}: {name} must be at least {least}, got {value}; "
            f"pass a larger number"
        )
    return int(value)


def checked(owner: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    """Return the parameter `name` of `owner`, which must be one of `allowed`."""
    value = getattr(owner, name)
    known = isinstance(value, str | int | float | np.generic | None)
    if not known or not any(value is choice or value == choice for choice in allowed):
        choices = ", ".join(repr(choice) for choice in allowed)
        raise DataError(
            f"{type(owner).__name__}: {name} must be one of {choices}, got {shown(value)}; "
            f"pass one of these"
        )
    return value


def checked_seed(random_state: Any) -> np.random.Generator:
    """Make a generator of a seed, a RandomState, a Generator or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    with told_of_input():
        state = check_random_state(random_state)
    return np.random.default_rng(state.randint(0, 2**32, size=4, dtype=np.uint32))


def is_binary(x: Any) -> bool:
    """Tell whether every entry of a dense or sparse matrix is 0 or 1."""
    values: NDArray[Any] = x.data if is_sparse(x) else x
    if values.size == 0 or values.dtype == np.bool_:
        return True
    if values.dtype.kind in "iu":
        return bool(values.min() >= 0 and values.max() <= 1)
    return bool(np.all((values == 0) | (values == 1)))


def require_binary(x: Any, what: str) -> None:
    """Raise a `DataError` that shows a culprit unless every entry of `x` is 0 or 1."""
    if is_binary(x):
        return
    values: NDArray[Any] = x.data if is_sparse(x) else np.asarray(x)
    culprit = values[~((values == 0) | (values == 1))].flat[0]
    raise DataError(
        f"{what} must be 01-features, every entry 0 or 1, got an entry {culprit}; "
        f"encode the data first, for example with BinaryFeatures"
    )


def checked_values(estimator: Any, x: Any, *, binary: bool) -> Any:
    """Return 01-features as uint8 if `binary`, whatever else as floats; the layout is kept."""
    if binary:
        require_binary(x, f"{type(estimator).__name__}: X")
        return x.astype(np.uint8, copy=False)
    return x.astype(x.dtype if x.dtype == np.float32 else np.float64, copy=False)


def fits_binary(estimator: Any, x: Any) -> bool:
    """Decide in training whether `x` is taken as 01-features: whole type, entries 0 and 1."""
    if checked(estimator, "binary", ("auto", True, False)) == "auto":
        return bool(x.dtype.kind in "biu" and is_binary(x))
    if estimator.binary:
        require_binary(x, f"{type(estimator).__name__}: X")
    return bool(estimator.binary)
