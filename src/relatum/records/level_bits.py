"""Bits of levels: what a comparison of two records is worth.

`Weights` give every level of every scale bits, and so a pair log-odds; what a field says is the
sum over its scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.records.comparison import Levels, Scale


@dataclass(frozen=True, eq=False)
class Weights:
    """Bits of the levels of every scale.

    Attributes
    ----------
    scales : tuple of Scale
    tables : list of float64 arrays
        Bits by level, for each scale.
    intercept : float
        Bits that every pair begins with.
    """

    scales: tuple[Scale, ...]
    tables: Sequence[Floats]
    intercept: float

    def log_odds(self, levels: Levels) -> Floats:
        """Return the log-odds, in bits, of pairs with such levels."""
        out = np.full(levels.shape[1], self.intercept)
        for table, level in zip(self.tables, levels, strict=True):
            out += table[level]
        return out

    def contributions(self, levels: Sequence[int]) -> list[tuple[str, str, float]]:
        """Return what each field says of one pair: its name, its levels, and bits."""
        found: dict[str, tuple[list[str], float]] = {}
        for scale, table, level in zip(self.scales, self.tables, levels, strict=True):
            said, bits = found.get(scale.field, ([], 0.0))
            if level:
                what = "" if scale.what in ("missing", "rarity") else f"{scale.what} "
                said = [*said, what + scale.levels[level]]
            found[scale.field] = said, bits + float(table[level])
        return [(name, ", ".join(said) or "other", bits) for name, (said, bits) in found.items()]


def thermometer(scales: Sequence[Scale], levels: Levels) -> NDArray[np.int8]:
    """Return one 01-column for each level above the first: whether a pair reaches it.

    Missing values have a column for each of their levels, of pairs that are at it.
    """
    columns = [
        level == k if scale.what == "missing" else level >= k
        for scale, level in zip(scales, levels, strict=True)
        for k in range(1, len(scale.levels))
    ]
    return np.column_stack(columns).astype(np.int8)


def tables_of(scales: Sequence[Scale], coefficients: Floats) -> list[Floats]:
    """Return bits by level out of the coefficients of `thermometer`'s columns."""
    out, start = [], 0
    for scale in scales:
        stop = start + len(scale.levels) - 1
        own = coefficients[start:stop]
        own = own if scale.what == "missing" else np.cumsum(own)
        out.append(np.concatenate([[0.0], own]))
        start = stop
    return out
