"""Whether columns are of one unit, such as pixels, or of several, such as grams and metres."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

UNLIKE = 10.0  # times the median scale of columns, from which on one is of another unit


def of_different_units(X: Any) -> bool:
    """Say whether a few columns vary far more than most."""
    with np.errstate(over="ignore", invalid="ignore"):  # squares may be beyond floats
        if sparse.issparse(X):
            table: Any = X
            mean, squares = (np.ravel(t.mean(axis=0)) for t in (table, table.multiply(table)))
            variance = np.asarray(squares - mean**2, dtype=np.float64)
        else:
            variance = np.asarray(X, dtype=np.float64).var(axis=0)
        deviation = np.sqrt(variance[variance > 0])
        if not len(deviation) or not np.isfinite(deviation).all():  # nothing scales these
            return False
        return float(deviation.max() / np.median(deviation)) >= UNLIKE
