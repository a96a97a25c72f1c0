"""Bounds of the components of a table, or of pieces of them, in exact integers.

A *part* is a set of elements that no cluster leaves: a component of positive pairs or, of those
that are too large, a piece. Its *gap* says that no allowed clustering of it has a value more than
so many bits above that of its clusters. Whoever writes a certificate states the gaps that
`provable_gaps` returns, and whoever checks it goes the same way again; what cannot be proved here
needs a proof of its own, see `proofs`.

Scores are scaled, part by part, to integers of at most 107 bits, and rounded up where that is not
enough, which ordinary scores never need. The scale, and so the bound, depends on nothing but the
part itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.checking.part_bounds import PAIRS, SUBSETS, TRIANGLES, bound_parts
from relatum.kernels.checking.records import Parts, Wide
from relatum.pair_tables.solve.batching import Components, ends_of
from relatum.problem import ExactSum, float_up

__all__ = [
    "PAIRS",
    "SUBSETS",
    "TRIANGLES",
    "Rules",
    "provable_gaps",
    "proves",
    "total_value",
]

Scale: TypeAlias = NDArray[np.int32]
BITS, LIMB = 107, 48  # of sums of scores, and of the lower one of two limbs
PACKED = 128  # contracted elements up to which triangles are packed: a matrix fits into the cache
ENUMERATED = 12  # up to which all partitions are gone through, in 3^12 / 2 = 265,720 steps


@dataclass(frozen=True)
class Rules:
    """What holds for all parts: the bits of pairs that are not listed, and the largest cluster."""

    background: float
    cap: int


def provable_gaps(batch: Components, labels: Index, rules: Rules) -> tuple[Floats, NDArray[Any]]:
    """Return the least gap that can be proved for each part, and how.

    Parameters
    ----------
    batch : Components
        Parts, with all pairs that are scored.
    labels : int64 array (elements,)
        Allowed clusters, numbered from 0 in each part.
    rules : Rules

    Returns
    -------
    gaps : float64 array (parts,)
        In bits, rounded up.
    method : int8 array (parts,)
        PAIRS, TRIANGLES or SUBSETS; PAIRS where the part is too large for anything else.
    """
    scale = _scale(batch, rules)
    claim = np.zeros((2, len(scale)), dtype=np.int64)
    excess, method = _bounded(batch, labels, rules, scale, claim)
    gaps = np.zeros(len(scale))
    for k in np.flatnonzero(excess.any(axis=0)).tolist():
        gaps[k] = float_up(_fraction(excess[:, k], int(scale[k])))
    return gaps, method


def proves(
    batch: Components, labels: Index, rules: Rules, gaps: Floats
) -> tuple[Flags, NDArray[Any]]:
    """Say whether each part has no clustering more than its gap above its clusters, and how.

    Parameters and methods are those of `provable_gaps`; gaps are finite and not negative.
    """
    scale = _scale(batch, rules)
    claim = _rounded_down(gaps, scale)
    excess, method = _bounded(batch, labels, rules, scale, claim)
    more = (excess[0] > claim[0]) | ((excess[0] == claim[0]) & (excess[1] > claim[1]))
    return ~more, method


def _scale(batch: Components, rules: Rules) -> Scale:
    """Return, for each part, the power of two by which its scores are multiplied."""
    sizes = np.diff(batch.element_ptr).astype(np.float64)
    largest = np.full(len(sizes), abs(rules.background))
    own = np.flatnonzero(np.diff(batch.pair_ptr))
    if len(own):
        at = np.maximum.reduceat(np.abs(batch.log_odds), batch.pair_ptr[own])
        largest[own] = np.maximum(largest[own], at)
    pairs = np.frexp(sizes * (sizes - 1) / 2)[1]  # so many bits has a count of pairs
    return np.asarray(BITS - np.frexp(largest)[1] - pairs, dtype=np.int32)


def _rounded_down(gaps: Floats, scale: Scale) -> NDArray[np.int64]:
    """Return gaps as limbs; those beyond every bound are as good as the largest number."""
    with np.errstate(over="ignore"):
        scaled = np.floor(np.minimum(np.ldexp(gaps, scale), 2.0 ** (BITS + 2)))
    high = np.floor(np.ldexp(scaled, -LIMB))
    return np.array([high, scaled - np.ldexp(high, LIMB)]).astype(np.int64)


def _limbs(numbers: Floats, scale: Scale) -> tuple[Index, Index, Flags]:
    """Return high and low limbs of numbers, rounded up, and which of them had to be."""
    size = np.ldexp(np.abs(numbers), scale)
    high = np.floor(np.ldexp(size, -LIMB))
    low = size - np.ldexp(high, LIMB)  # exact: the lower bits of a float
    lost = (size == 0) & (numbers != 0)  # far below the smallest float, at that scale
    whole = np.where(numbers > 0, np.ceil(low) + lost, np.floor(low))
    sign = np.where(numbers < 0, -1, 1)
    upper, lower = sign * high.astype(np.int64), sign * whole.astype(np.int64)
    borrow = np.floor_divide(lower, 1 << LIMB)
    return upper + borrow, lower - (borrow << LIMB), (whole != low) | lost


def _bounded(
    batch: Components, labels: Index, rules: Rules, scale: Scale, claim: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return by how much each part's bound exceeds its clusters' value, as limbs, and how."""
    pairs = np.diff(batch.pair_ptr)
    owner = np.repeat(np.arange(len(scale)), pairs)
    high, low, odd = _limbs(batch.log_odds, scale[owner])
    background = np.full(len(scale), float(rules.background))
    upper, lower, coarse = _limbs(background, scale)
    sizes = np.diff(batch.element_ptr)
    slack = np.bincount(owner[odd], minlength=len(scale)) + coarse * (sizes * (sizes - 1) // 2)
    numbers = Wide(high, low, upper, lower, slack.astype(np.int64))
    excess = np.empty((2, len(scale)), dtype=np.int64)
    method = np.empty(len(scale), dtype=np.int8)
    sizes_allowed = (rules.cap, PACKED, ENUMERATED)
    parts = Parts(
        batch.element_ptr,
        batch.pair_ptr,
        batch.i,
        batch.j,
        batch.fixed_ptr,
        batch.fixed,
        batch.groups,
    )
    bound_parts(parts, numbers, sizes_allowed, labels, claim, excess, method)
    return excess, method


def _fraction(limbs: NDArray[np.int64], scale: int) -> Fraction:
    whole = (int(limbs[0]) << LIMB) + int(limbs[1])
    return Fraction(whole << -scale) if scale < 0 else Fraction(whole, 1 << scale)


def total_value(batch: Components, labels: Index, background: float) -> Fraction:
    """Return the exact value of all clusters of a batch together."""
    _, a, b = ends_of(batch)
    cluster = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr)) + labels
    inside = cluster[a] == cluster[b]
    sizes = np.bincount(cluster)
    pairs = int((sizes * (sizes - 1) // 2).sum()) - int(np.count_nonzero(inside))
    total = ExactSum(batch.log_odds[inside])
    total.add_times(float(background), pairs)
    return total.value()
