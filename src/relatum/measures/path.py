"""Logistic measures for many strengths of the prior, each started from the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import refuse_masked, shown, told_of_input
from relatum.measures.logistic import LogisticMeasure


@dataclass(frozen=True)
class RegularizationPath:
    """Fitted measures, one per strength of the prior, in the order asked for.

    Attributes
    ----------
    inverse_sigma_squared : ndarray of shape (strengths,)
    measures : list of LogisticMeasure
    """

    inverse_sigma_squared: Floats
    measures: list[LogisticMeasure]

    def errors(self, x: Any, y: Any) -> Floats:
        """Fraction of misclassified rows of (x, y), for every strength."""
        return np.array([1.0 - measure.score(x, y) for measure in self.measures])

    def best(self, x: Any, y: Any) -> LogisticMeasure:
        """Return the measure of smallest error on (x, y); the strongest prior among equals."""
        errors = self.errors(x, y)
        ties = np.flatnonzero(errors <= errors.min())
        return self.measures[int(ties[np.argmax(self.inverse_sigma_squared[ties])])]


def regularization_path(
    x: Any,
    y: Any,
    inverse_sigma_squared: ArrayLike | None = None,
    *,
    measure: LogisticMeasure | None = None,
    sample_weight: Any = None,
) -> RegularizationPath:
    """Fit logistic measures for many strengths of the prior.

    Parameters
    ----------
    x, y, sample_weight
        As in LogisticMeasure.fit, in memory.
    inverse_sigma_squared : array_like, optional
        The strengths; by default those of the paper, 2^1, 2^2, ..., 2^35. They are visited from
        weak to strong, and the dual variables of one start the next.
    measure : LogisticMeasure, optional
        Supplies all other settings (relative, tol, ...).

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.eye(4, dtype=np.int8), [0, 0, 1, 1]
    >>> path = regularization_path(x, y, [0.25, 4.0])
    >>> [m.log_odds(x).round(2).tolist() for m in path.measures]
    [[-0.95, -0.95, 0.95, 0.95], [-0.08, -0.08, 0.08, 0.08]]
    """
    given = 2.0 ** np.arange(1, 36) if inverse_sigma_squared is None else inverse_sigma_squared
    refuse_masked(given, "inverse_sigma_squared")
    with told_of_input():
        strengths = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if strengths.ndim != 1 or not len(strengths) or not (strengths > 0).all():
        raise DataError("inverse_sigma_squared must be a list of positive numbers, at least one.")
    template = LogisticMeasure() if measure is None else measure
    if not isinstance(template, LogisticMeasure):
        raise DataError(f"measure is a LogisticMeasure, or None; got {shown(measure)}.")
    fitted: dict[int, LogisticMeasure] = {}
    start = None
    # From weak to strong: the dual value of the same variables then only grows.
    for i in np.argsort(strengths, kind="stable"):
        one = clone(template).set_params(inverse_sigma_squared=float(strengths[i]))
        start = one._fit_from(x, y, sample_weight, start)
        fitted[int(i)] = one
    return RegularizationPath(strengths, [fitted[i] for i in range(len(strengths))])
