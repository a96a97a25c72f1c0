"""Components of two groups, of which a cluster holds one element each: all of a batch at once.

Such clusters are single elements and pairs, so that the best are a matching, found and proved
exactly whatever the size of the component: two sources without duplicates are the usual case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.batching import (
    Components,
    component_of,
    ends_of,
    of_two_groups,
    problem_of,
)
from relatum.problem import Partition
from relatum.proof import Certificate

SAME = 1e-12  # of what is compared: a smaller difference is none


class Found(NamedTuple):
    """What became of the components of two groups in a batch.

    ``taken`` says which components these are; labels, values and bounds are of these alone.
    ``contradictory`` is the number of a component for which nothing is allowed, or -1.
    """

    taken: Flags
    labels: Index
    bound_over: Floats  # by how much bounds exceed values, 0 if by nothing but rounding
    price: Floats
    contradictory: int = -1


def solve_two_groups(
    batch: Components, kept: Flags, cap: int, expired: Callable[[], bool] | None = None
) -> Found | None:
    """Find the clusters of components of two groups, but for those that are kept.

    None if there are no such components.
    """
    if not len(batch.groups) or cap < 2:
        return None
    sizes = np.diff(batch.element_ptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    two, low = of_two_groups(batch.groups, owner, len(sizes))
    taken = two & ~kept & (sizes > 2)  # of two elements, the kernel knows all there is
    if not taken.any():
        return None
    from relatum.solvers.direct import match_pairs  # all solvers

    none = np.zeros(len(owner))
    known, out, wrong = _facts(batch, taken, owner)
    if wrong >= 0:
        return Found(taken, owner, none, none, wrong)
    _, i, j = ends_of(batch)
    there = taken[owner[i]] & (known[i] < 0) & (known[j] < 0)
    there &= (batch.groups[i] != batch.groups[j]) & ~_contained(i, j, out, len(owner))
    i, j, w = i[there], j[there], batch.log_odds[there]
    up = w > 0
    left = batch.groups == low[owner]
    mate, price = match_pairs(left, i[up], j[up], w[up], expired)
    over = _over(owner, len(sizes), (i[up], j[up], w[up]), mate, price)
    if len(batch.start):
        earlier = _earlier(batch, known, owner, taken)
        earlier[_forbidden(earlier, out)] = -1
        mate = _kept_where_equal(mate, earlier, (i, j, w))
    mate = np.where(known >= 0, known, mate)
    return Found(taken, _labels(batch, mate, owner), over, price)


def _facts(batch: Components, taken: Flags, owner: Index) -> tuple[Index, Index, int]:
    """Return whom each element is known to be with, or -1, pairs known to be apart, and a clash."""
    number = np.repeat(np.arange(len(taken)), np.diff(batch.fixed_ptr))
    facts = batch.fixed.astype(np.int64)
    facts[:, :2] += batch.element_ptr[number][:, None]
    facts = np.unique(facts[taken[number]], axis=0)
    related, out = facts[facts[:, 2] == 1, :2], facts[facts[:, 2] == 0, :2]
    related, out = related[related[:, 0] != related[:, 1]], out
    a, b = related.T
    known = np.full(len(owner), -1, dtype=np.int64)
    known[a], known[b] = b, a
    clash = (known[a] != b) | (known[b] != a) | (batch.groups[a] == batch.groups[b])
    clash |= _contained(a, b, out, len(owner))
    wrong = a[clash] if clash.any() else out[out[:, 0] == out[:, 1], 0]
    return known, out, int(owner[wrong[0]]) if len(wrong) else -1


def _contained(i: Index, j: Index, pairs: Index, n: int) -> Flags:
    """Say which pairs ij are among others, each with the smaller element first."""
    return np.isin(np.minimum(i, j) * n + np.maximum(i, j), pairs[:, 0] * n + pairs[:, 1])


def _forbidden(mate: Index, out: Index) -> Index:
    """Return the elements of pairs that are known to be apart."""
    a, b = out[mate[out[:, 0]] == out[:, 1]].T
    return np.concatenate([a, b])


def _over(
    owner: Index, count: int, pairs: tuple[Index, Index, Floats], mate: Index, price: Floats
) -> Floats:
    """Return by how much prices exceed a matching in each component; 0 for what rounding may do."""
    i, j, w = pairs
    matched = mate[i] == j
    above = np.maximum(0.0, w - price[i] - price[j])
    own = np.bincount(owner, price, count)
    total = own + np.bincount(owner[i], above - np.where(matched, w, 0.0), count)
    return np.where(total <= 1e-9 * (1.0 + own), 0.0, total)


def _earlier(batch: Components, known: Index, owner: Index, taken: Flags) -> Index:
    """Return whom each element was with, as far as that is allowed: one of the other group."""
    own = np.flatnonzero((batch.start >= 0) & taken[owner] & (known < 0))
    order = own[np.lexsort((batch.start[own], owner[own]))]
    same = (batch.start[order[1:]] == batch.start[order[:-1]]) & (
        owner[order[1:]] == owner[order[:-1]]
    )
    first = np.append(True, ~same)[: len(order)]
    size = np.bincount(np.cumsum(first) - 1)
    at = np.flatnonzero(first)[size == 2]
    a, b = order[at], order[at + 1]
    across = batch.groups[a] != batch.groups[b]
    mate = np.full(len(owner), -1, dtype=np.int64)
    mate[a[across]], mate[b[across]] = b[across], a[across]
    return mate


def _kept_where_equal(mate: Index, earlier: Index, pairs: tuple[Index, Index, Floats]) -> Index:
    """Return earlier pairs instead of a matching's wherever that is worth as much.

    The pairs of both, where they differ, are paths and cycles, each of which can be as it was or
    as it is now.
    """
    from relatum.solvers.reductions import connected

    n, own = len(mate), np.arange(len(mate))
    ends = [(own[m >= 0], m[m >= 0]) for m in (mate, earlier)]
    part = connected(n, ends)
    i, j, w = pairs
    now, before = (np.bincount(part[i], np.where(m[i] == j, w, 0.0), n) for m in (mate, earlier))
    listed = np.zeros(n, dtype=np.bool_)
    listed[i[earlier[i] == j]] = listed[j[earlier[i] == j]] = True
    lost = np.zeros(n, dtype=np.bool_)
    lost[part[(earlier >= 0) & ~listed]] = True  # pairs that are not listed any more
    back = ~lost & (before >= now - SAME * (1.0 + np.abs(now)))
    return np.where(back[part], earlier, mate)


def _labels(batch: Components, mate: Index, owner: Index) -> Index:
    """Return clusters, numbered in each component in the order of their first elements."""
    own = np.arange(len(mate))
    first = np.where(mate >= 0, np.minimum(own, mate), own)
    number = np.cumsum(first == own) - 1
    begin = number[np.minimum(batch.element_ptr[:-1], len(own) - 1)]
    return np.asarray(number[first] - begin[owner])


@dataclass(frozen=True, eq=False)
class Certificates(Mapping[int, Certificate]):
    """Certificates of the components of a batch, of those of two groups made when asked for."""

    given: Mapping[int, Certificate] = field(default_factory=dict)
    batch: Components | None = None
    settings: Settings | None = None
    found: Found | None = None

    def __getitem__(self, k: int) -> Certificate:
        if self.found is None or not self.found.taken[k]:
            return self.given[k]
        from relatum.solvers.direct import certificate_of_prices  # all solvers

        assert self.batch is not None
        assert self.settings is not None
        own = slice(self.batch.element_ptr[k], self.batch.element_ptr[k + 1])
        settings, component = self.settings, component_of(self.batch, k)
        problem = problem_of(component, settings.background, settings.max_size)
        relation = Partition(self.found.labels[own])
        return certificate_of_prices(problem, relation, self.found.price[own])

    def __contains__(self, k: object) -> bool:
        if self.found is None or not isinstance(k, int):
            return k in self.given
        return k in self.given or bool(self.found.taken[k])

    def __iter__(self) -> Iterator[int]:
        taken = () if self.found is None else np.flatnonzero(self.found.taken).tolist()
        return iter([*self.given, *taken])

    def __len__(self) -> int:
        return len(list(iter(self)))
