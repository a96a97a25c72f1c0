"""Which components are asked about together: those that listed pairs nearly connect.

Components are what positive scores connect, and each is solved on its own. Whether two of them are
one is a question, too, where a listed pair between them is above `NEAR` bits, and it tells most if
everything near is looked at together. So components are put into neighbourhoods: what all near
pairs connect, if that is small enough, or else what only the better of them connect. Near pairs
between two neighbourhoods make small ones of their own, of both of their components.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Floats, Index
from relatum.probability import NEAR
from relatum.solvers.reductions import connected

LARGEST = 1000  # elements of a neighbourhood: some tenths of a second
MATCHED = 4000  # the same of matchings of two sources, which take less
STEP = 0.5  # bits between the scores that are tried


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Sets of components that are asked about together.

    Attributes
    ----------
    i, j, bits : arrays
        Near pairs: elements of two components, and their scores, the best first.
    guess : float array
        About how many pairs a question about each neighbourhood may put right.
    size : integer array
        How many elements each has.
    """

    i: Index
    j: Index
    bits: Floats
    guess: Floats
    size: Index
    _roots: Index  # of all components, sorted
    _first: int  # neighbourhoods from here on are of two components
    _order: Index  # places of components, by neighbourhood
    _starts: Index
    _ends: Index  # (k, 2): the components, by place, of those of two

    def __len__(self) -> int:
        return len(self.guess)

    def is_between(self, k: int) -> bool:
        """Say whether a neighbourhood is of two components that larger ones keep apart."""
        return k >= self._first

    def roots(self, k: int) -> list[int]:
        """Return the components of a neighbourhood."""
        if k >= self._first:
            own = self._ends[k - self._first]
        else:
            own = self._order[self._starts[k] : self._starts[k + 1]]
        return [int(root) for root in self._roots[own]]

    def bits_of(self, a: int, b: int) -> float | None:
        """Return the score of a near pair, None of any other."""
        found = np.flatnonzero((self.i == min(a, b)) & (self.j == max(a, b)))
        return float(self.bits[found[0]]) if len(found) else None

    def beside(self, elements: Index, count: int) -> list[tuple[int, int, float]]:
        """Return the best near pairs of some elements: one of them, another one, and bits."""
        mine = np.isin(self.i, elements), np.isin(self.j, elements)
        out = []
        for k in np.flatnonzero(mine[0] | mine[1])[:count].tolist():
            a, b = int(self.i[k]), int(self.j[k])
            out.append((a, b, float(self.bits[k])) if mine[0][k] else (b, a, float(self.bits[k])))
        return out


def neighbourhoods(
    roots: Index, pairs: tuple[Index, Index, Floats], told: Floats, sizes: Index, largest: int
) -> Neighbourhoods:
    """Put components into neighbourhoods.

    Parameters
    ----------
    roots : integer array (n,)
        The component of each element, by its root.
    pairs : (i, j, bits)
        Listed pairs between components, the best first.
    told : float array
        Of each component, in the order of roots, how many pairs a question within may put right.
    sizes : integer array (n,)
        Of each element's cluster.
    largest : int
        Elements of a neighbourhood.
    """
    own, place, count = np.unique(roots, return_inverse=True, return_counts=True)
    i, j, bits = pairs
    a, b = place[i], place[j]
    hood = _united(count, a, b, bits, largest)
    total = np.bincount(hood, count, minlength=1)[: hood.max(initial=-1) + 1]
    guess = np.zeros(len(total))
    np.maximum.at(guess, hood, told)
    put = _probability(bits) * sizes[i] * sizes[j]  # of two clusters that may be one
    inside = hood[a] == hood[b]
    np.maximum.at(guess, hood[a[inside]], put[inside])
    low, high = np.minimum(a, b)[~inside], np.maximum(a, b)[~inside]
    _, first, which = np.unique(low * len(own) + high, return_index=True, return_inverse=True)
    ends = np.column_stack([low[first], high[first]])
    between = np.zeros(len(ends))
    np.maximum.at(between, which, put[~inside])
    order = np.argsort(hood, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(hood, minlength=len(total))))
    return Neighbourhoods(
        i, j, bits,
        np.concatenate([guess, between]),
        np.concatenate([total, count[ends].sum(axis=1)]).astype(np.int64),
        own, len(total), order, starts, ends,
    )  # fmt: skip


def _united(count: Index, a: Index, b: Index, bits: Floats, largest: int) -> Index:
    """Return the neighbourhood of each component, numbered from 0."""
    k = len(count)
    out, used, open_ = np.full(k, -1, np.int64), 0, np.ones(k, np.bool_)
    level = NEAR
    while open_.any():
        near = open_[a] & open_[b] & (bits > level)
        part = connected(k, [(a[near], b[near])])
        small = np.bincount(part, count)[part] <= largest
        done = open_ & (small | (not near.any()))
        out[done] = used + np.unique(part[done], return_inverse=True)[1]
        used = int(out.max(initial=-1)) + 1
        open_ &= ~done
        level += STEP
    return out


def _probability(bits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp2(-np.clip(bits, -60, 60))))


def sources_of(groups: Index | None) -> int:
    """Return how many groups there are of which a cluster has one element each at most.

    Examples
    --------
    >>> sources_of(None), sources_of(np.array([0, 1, 1, -1]))
    (0, 2)
    """
    return 0 if groups is None else len(np.unique(groups[groups >= 0]))


def largest_of(groups: Index | None) -> int:
    """Return how many elements a neighbourhood may have."""
    return MATCHED if sources_of(groups) == 2 else LARGEST
