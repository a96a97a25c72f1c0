"""What the estimators share: lifting, measure, feasible set, inference, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from relatum.array_types import Flags, Index
from relatum.errors import DataError
from relatum.features import UnfittedError, of_different_units, told_of_input
from relatum.inference import infer
from relatum.measures import LogisticMeasure
from relatum.problem import FeasibleSet, Problem, shown
from relatum.proof import Estimate

if TYPE_CHECKING:  # imported where measure and relation are estimated together
    from relatum.joint import JointEstimate


def fitted_lifting(lifting: Any, X: Any, y: Any = None) -> tuple[Any, Any]:
    """Return (a fitted copy of the lifting or None, the lifted elements)."""
    if lifting is None:
        return None, X
    with told_of_input("lifting"):
        fitted = clone(lifting)
    if not hasattr(fitted, "fit") or not hasattr(fitted, "transform"):
        raise DataError(f"lifting is a transformer or None, got {shown(lifting)}.")
    fitted = fitted.fit(X, y)
    return fitted, lifted(fitted, X)


def scaling_for(owner: Any, X: Any) -> Any:
    """Return the lifting of an estimator; for columns of different units, one that scales them.

    A prior on coefficients takes all columns to be of one scale. Columns of one unit, such as
    pixels, are left as they are: their differences in scale say something.
    """
    chosen = owner.standardize
    if not isinstance(chosen, bool) and not (isinstance(chosen, str) and chosen == "auto"):
        raise DataError(f'standardize is True, False or "auto", got {shown(chosen)}.')
    own = owner.lifting is None and owner.measure is None
    if chosen is False or (chosen == "auto" and not (own and of_different_units(X))):
        return owner.lifting
    from sklearn.pipeline import make_pipeline  # imports much: only where it is used
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=not sparse.issparse(X)).set_output(transform="default")
    return scaler if owner.lifting is None else make_pipeline(scaler, owner.lifting)


def lifted(lifting: Any, X: Any) -> Any:
    """Lift elements with a fitted lifting, or leave them as they are.

    What comes out is an array or a sparse matrix, also where a lifting returns tables.
    """
    if lifting is None:
        return X
    out = lifting.transform(X)
    plain = isinstance(out, np.ndarray) or sparse.issparse(out)
    return out if plain else np.ascontiguousarray(out)


def require_fitted(estimator: Any) -> None:
    """Raise our error, which is scikit-learn's as well, unless an estimator was fitted."""
    try:
        check_is_fitted(estimator, "measure_")
    except NotFittedError as error:
        raise UnfittedError(str(error)) from None


def require_feasible(feasible: Any, owner: str, default: FeasibleSet | None = None) -> FeasibleSet:
    """Return the feasible set, or the default for None; refuse anything else with the way out."""
    if feasible is None and default is not None:
        return default
    if not isinstance(feasible, FeasibleSet):
        raise DataError(
            f"{owner}: feasible is a set such as relatum.EQUIVALENCES, intersected with others by "
            f"&, got {type(feasible).__name__}."
        )
    return feasible


def feasible_of(
    owner: Any, default: FeasibleSet, evidence: FeasibleSet | None = None
) -> FeasibleSet:
    """Return the feasible set of an estimator, and what else is known of the elements at hand."""
    name = type(owner).__name__
    feasible = require_feasible(owner.feasible, name, default)
    return feasible if evidence is None else feasible & require_feasible(evidence, name)


def new_logistic(measure: Any) -> Any:
    """Return an unfitted copy of a measure; by default a logistic one of any features' scale."""
    if measure is not None:
        return copied(measure)
    return LogisticMeasure(1e-3, relative=True, fit_intercept=True)


def copied(measure: Any) -> Any:
    """Return an unfitted copy of a measure, whatever it is."""
    with told_of_input("measure"):
        fresh = clone(measure)
    if not hasattr(fresh, "fit") or not hasattr(fresh, "log_odds"):
        raise DataError(f"measure is one of relatum's measures or None, got {shown(measure)}.")
    return fresh


def numbered(labels: NDArray[Any], known: Flags) -> tuple[NDArray[Any], Index]:
    """Return the known labels, sorted, and each element's place among them, -1 if unknown."""
    classes, numbers = np.unique(labels[known], return_inverse=True)
    partial = np.full(len(labels), -1, dtype=np.int64)
    partial[known] = numbers
    return classes, partial


def inferred(owner: Any, problem: Problem) -> Estimate:
    """Infer with the options of an estimator."""
    told = True if owner.verbose else None
    return infer(problem, seed=seed_of(owner), verbose=told, **search_options(owner))


def seed_of(owner: Any) -> Any:
    """Return the seed of an estimator, 0 for None."""
    return 0 if owner.random_state is None else owner.random_state


def search_options(owner: Any) -> dict[str, Any]:
    """Return the options of an estimator that say how to search."""
    return {"solver": owner.solver, "prove": owner.prove, "time_limit": owner.time_limit}


def jointly_estimated(owner: Any, x: Any, feasible: FeasibleSet, **more: Any) -> JointEstimate:
    """Estimate measure and relation together, with the options of an estimator."""
    from relatum.joint import joint_estimate

    more |= {"unknown_weight": owner.unknown_weight, "random_state": seed_of(owner)}
    return joint_estimate(x, feasible, **more, **search_options(owner))
