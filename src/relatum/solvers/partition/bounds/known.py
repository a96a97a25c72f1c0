"""What bounds of clusterings begin with and end with: what is known, and a bound with its proof."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from relatum.array_types import Index
from relatum.problem import Partition
from relatum.proof import OPTIMAL_GAP, Cuts, Leaf, Proof

Proved = tuple[float | Fraction, Proof]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known when a bound is asked for."""

    partition: Partition | None = None  # any gives a valid bound; a good one gives a good bound
    value: float = -math.inf  # of a partition; a bound that meets it need not be improved
    thorough: bool = False  # whether a bound may take several times as long as a good heuristic
    proof: Proof = field(default_factory=Leaf)  # of another bound, whose rows are a start

    @property
    def labels(self) -> Index | None:
        """The labels of the partition."""
        return None if self.partition is None else self.partition.labels.astype(np.int64)


def cuts_of(proof: Proof) -> tuple[Cuts, ...]:
    """Return the rows and multipliers of a proof without branches."""
    return proof.cuts if isinstance(proof, Leaf) else ()


def raised(total: float, magnitude: float, cuts: Iterable[Cuts]) -> Proved:
    """Raise a float bound to safety, and make a proof of what gave it.

    `magnitude` is the sum of the absolute log-odds that went into it, rounding and all; 0 if it
    has been raised already.
    """
    return total + 1e-9 * (1 + magnitude), Leaf(tuple(c for c in cuts if len(c)))


def is_closed(gap: float) -> bool:
    """Say whether a gap, in bits, is so small that a bound need not be improved."""
    return gap <= OPTIMAL_GAP / 8


def pays(bounds: Sequence[float], patience: int, gap: float) -> bool:
    """Say whether the latest rounds, as many as patience says, closed a hundredth of the gap."""
    return len(bounds) <= patience or bounds[-1 - patience] - bounds[-1] >= 0.01 * gap
