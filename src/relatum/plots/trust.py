"""Whether probabilities can be trusted: shares of true pairs beside what was said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from relatum.array_types import Flags, Floats
from relatum.errors import DataError
from relatum.plots.pictures import new_axes
from relatum.problem import Relation, plain_array, shown

BINS = 10


def reliability(before: Any, after: Any, truth: Any, axes: Any = None) -> Any:
    """Draw the share of true pairs over their probability; on the diagonal, both are the same.

    Pairs are put into ten bins by probability; the larger a dot, the more pairs it stands for.

    Parameters
    ----------
    before, after : Probabilities, array, or None
        Such as `relatum.probabilities` gives, and as `Calibration.probabilities` makes of them. Of
        arrays, one number for each pair.
    truth : Relation or bool array
        What is true; an array if those are arrays.
    axes : matplotlib axes, optional

    Examples
    --------
    >>> import relatum as rt
    >>> said, true = [0.1, 0.2, 0.8, 0.9], [False, False, True, True]
    >>> axes = rt.plots.reliability(said, None, true)
    """
    given = {"before": before, "after": after}
    drawn = {name: _of(p, truth) for name, p in given.items() if p is not None}
    if not drawn:
        raise DataError("Reliability is drawn of probabilities before or after, got neither.")
    axes = new_axes(axes)
    axes.plot([0, 1], [0, 1], color="0.6", lw=1, zorder=1)
    for (name, (p, y)), color in zip(drawn.items(), ("tab:red", "tab:blue"), strict=False):
        said, share, count = bins_of(p, y)
        axes.plot(said, share, "-", color=color, label=name, zorder=2)
        axes.scatter(said, share, s=10 + 150 * np.sqrt(count / count.sum()), color=color, zorder=3)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set(xlabel="probability", ylabel="share of true pairs")
    axes.legend(loc="best", frameon=False)
    return axes


def bins_of(p: Floats, y: Flags) -> tuple[Floats, Floats, Floats]:
    """Return mean probability, share of true pairs and number of pairs, of bins with any.

    Examples
    --------
    >>> [x.tolist() for x in bins_of(np.array([0.0, 0.25, 0.25]), np.array([False, True, False]))]
    [[0.0, 0.25], [0.0, 0.5], [1.0, 2.0]]
    """
    place = np.minimum((BINS * p).astype(np.int64), BINS - 1)
    count = np.bincount(place, minlength=BINS).astype(np.float64)
    own = count > 0
    said, true = np.bincount(place, p, BINS), np.bincount(place, y, BINS)
    return said[own] / count[own], true[own] / count[own], count[own]


def _of(known: Any, truth: Any) -> tuple[Floats, Flags]:
    """Return probabilities of pairs and whether they are true."""
    if isinstance(truth, Relation):
        if not hasattr(known, "matrix") or known.problem.shape != truth.shape:
            raise DataError(
                f"Beside a relation of shape {truth.shape}, reliability is drawn of the "
                f"Probabilities of its problem, got {shown(known)}."
            )
        p, y = known.matrix(), truth.matrix()
        if known.problem.feasible.has("symmetric") or known.problem.feasible.has("antisymmetric"):
            upper = np.triu_indices(len(p), 1)
            return p[upper], y[upper]
        return p.ravel(), y.ravel()
    p, y = (
        plain_array(given, what, DataError)
        for given, what in ((known, "Probabilities"), (truth, "Truths"))
    )
    if p.dtype.kind not in "biuf" or y.dtype.kind not in "biuf":
        raise DataError(
            "Reliability is drawn of probabilities and of truths that are numbers, got "
            f"{shown(known)} and {shown(truth)}."
        )
    if p.shape != y.shape or p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise DataError(
            "Reliability is drawn of one probability, from 0 to 1, and one truth for each pair, "
            f"got shapes {p.shape} and {y.shape}."
        )
    return p.astype(np.float64), y.astype(np.bool_)
