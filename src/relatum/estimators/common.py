"""What the estimators share: lifting, inference options, progress."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.base import clone

from relatum.errors import DataError
from relatum.inference import infer
from relatum.problem import FeasibleSet, Problem
from relatum.proof import Estimate
from relatum.solvers import Progress

__all__ = ["fitted_lifting", "inferred", "lifted", "require_feasible"]


def fitted_lifting(lifting: Any, X: Any, y: Any = None) -> tuple[Any, Any]:
    """Return (a fitted copy of the lifting or None, the lifted elements)."""
    if lifting is None:
        return None, X
    fitted = clone(lifting).fit(X, y)
    return fitted, fitted.transform(X)


def lifted(lifting: Any, X: Any) -> Any:
    """Lift elements with a fitted lifting, or leave them as they are."""
    return X if lifting is None else lifting.transform(X)


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


def _print_progress(progress: Progress) -> None:
    print(
        f"{progress.seconds:8.1f} s  value {progress.value:14.4f}  bound {progress.bound:14.4f}  "
        f"nodes {progress.nodes}",
        file=sys.stderr,
    )


def inferred(owner: Any, problem: Problem) -> Estimate:
    """Infer with the options of an estimator."""
    return infer(
        problem,
        solver=owner.solver,
        prove=owner.prove,
        time_limit=owner.time_limit,
        seed=owner.random_state or 0,
        monitor=_print_progress if owner.verbose else None,
    )
