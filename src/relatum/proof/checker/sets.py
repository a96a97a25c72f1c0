"""What only partitions allow a checker: bounds set by set and element by element.

Every element is in one set. If no set is worth more than the prices of its elements add up
to, then no partition is worth more than all prices. Whether a set is, is searched for among
the sets that evidence and the cap on sizes allow.

Where these leave single elements and pairs only, as two groups do of which no set holds two
elements, nothing is searched for: what pairs and elements are worth above their prices is added up.
That is linear in the listed pairs, so that problems of any size have such prices.

Also, an element has at most k - 1 others in its set if k is the cap: half of what it can have
with the best of them, added up, bounds what is inside sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.errors import CertificateError
from relatum.kernels.checking.sets import largest_excess
from relatum.proof.certificate import Cuts
from relatum.proof.checker.dense import DenseView
from relatum.proof.checker.numbers import RADIX, ROW_BITS, Limbs
from relatum.proof.checker.sparse import SparseView
from relatum.proof.checker.view import Bound, Effort, real_numbers

_BITS = 60  # sums of what sets are worth are held in so many bits


def best_by_prices(given: object, cuts: Sequence[Cuts], prices: Any, effort: Effort) -> Bound:
    """Return the bound of prices of elements, for the log-odds that some rows leave."""
    view, u = _checked_prices(given, prices)
    if view.empty:
        return None
    if isinstance(view, SparseView):
        return _best_by_pairs(view, cuts, u)
    groups, labels = _connected(view.state == 1)
    sizes = np.bincount(labels, minlength=groups).astype(np.int64)
    cap = len(u) if view.feasible.cap is None else min(len(u), view.feasible.cap)
    a, b = np.nonzero(view.state == 0)
    forbidden = np.zeros((groups, groups), dtype=np.bool_)
    forbidden[labels[a], labels[b]] = True
    if forbidden.diagonal().any() or int(sizes.max()) > cap:
        return None
    r, constant = view.residual(cuts)
    _require_small(r)
    own = r.diagonal().total()  # of elements with themselves, which are always related
    everyone = np.arange(len(u))
    r.subtract_at((everyone, everyone), r[everyone, everyone])
    # between groups both directions of a pair count; within one they are related
    sums = view.summed(r, labels)
    price = view.grid.scores(u).sums(labels, groups)
    pairs, asked = sums + sums.transposed(), price - sums.diagonal()
    pair = ~forbidden & (sizes[:, None] + sizes <= cap)
    if _two_sided(pair):
        i, j = np.nonzero(np.triu(pair, 1))
        return constant + own + price.total() + _above(pairs[i, j], asked, i, j)
    excess = _excess(pairs, asked, sizes, forbidden, cap, effort)
    # each set, and there are no more than groups, may have so much more than its prices
    return constant + own + price.total() + groups * excess


def _connected(pairs: Flags) -> tuple[int, Index]:
    """Return how many components a square of related pairs has, and that of each element."""
    from scipy.sparse import coo_array  # slow to import, and not needed to read a bundle
    from scipy.sparse.csgraph import connected_components

    count, found = connected_components(coo_array(pairs), directed=False)
    return int(count), np.asarray(found, dtype=np.int64)


def _require_small(r: Limbs) -> None:
    """Refuse log-odds whose sums do not fit, which only rows can make so large."""
    if not float(np.abs(r.high.astype(np.float64)).sum()) < 2.0 ** (ROW_BITS - RADIX):
        raise CertificateError("Rows leave log-odds that are too large to be added up by sets.")


def _two_sided(open_: Flags) -> bool:
    """Say whether elements have two sides, such that no pair on the same side is open."""
    n = len(open_)
    pairs = open_ & ~np.eye(n, dtype=np.bool_)
    if 2 * np.count_nonzero(pairs) > n * n:  # more than between two halves
        return False
    # every element once on either side, and every pair across: an element whose two copies are
    # connected is on both
    nothing = np.zeros_like(pairs)
    _, label = _connected(np.block([[nothing, pairs], [pairs, nothing]]))
    return bool((label[:n] != label[n:]).all())


def _above(pairs: Limbs, asked: Limbs, i: Index, j: Index) -> int:
    """Return what all pairs ij, and single elements, are worth above what is asked for them."""
    rest, alone = pairs - asked[i] - asked[j], -asked
    return rest.where(rest.positive()).total() + alone.where(alone.positive()).total()


def _best_by_pairs(view: SparseView, cuts: Sequence[Cuts], u: Floats) -> Bound:
    """Return the bound of prices where sets are single elements and pairs.

    Pairs that are not listed have a background of at most 0, so that they have no more above
    their prices than their elements alone.
    """
    i, j, r, state, constant = view.unordered(view.residual(cuts))
    _require_small(r)
    known = state == 1
    paired = np.bincount(np.concatenate([i[known], j[known]]), minlength=len(u))
    if paired.max() > 1:
        return None  # three elements in one set
    free = paired == 0  # the others are in a pair, whatever they cost
    price = view.grid.scores(u).where(free)
    open_ = (state < 0) & free[i] & free[j]
    above = _above(r[open_], price, i[open_], j[open_])
    return int(constant) + int(r[known].total()) + price.total() + above


def _pairs_only(view: SparseView) -> bool:
    """Say whether every set has at most two elements, and only listed pairs are worth anything."""
    capped = view.feasible.cap is not None and view.feasible.cap <= 2
    two = any(len(np.unique(group)) <= 2 for group in view.groups)
    return (capped or two) and (view.background <= 0 or view.complete)


def _excess(
    pairs: Limbs, prices: Limbs, sizes: Index, forbidden: Flags, cap: int, effort: Effort
) -> int:
    """Return how much more than its prices a set can be worth, rounded up; at least nothing."""
    g = len(prices)
    weights, asked = pairs.tolist(), prices.tolist()
    weights[:: g + 1] = [0] * g
    size = sum(map(abs, weights)) + sum(map(abs, asked))
    drop = max(0, size.bit_length() - _BITS)
    up = np.array([-((-w) >> drop) for w in weights], dtype=np.int64).reshape(g, g)
    down = np.array([p >> drop for p in asked], dtype=np.int64)
    excess, effort.sets = largest_excess(up, down, sizes, forbidden, cap, effort.sets)
    if effort.sets < 0:
        raise CertificateError("Too many sets have to be looked at to check prices of elements.")
    return int(excess) << drop


def _checked_prices(given: object, prices: Any) -> tuple[DenseView | SparseView, Floats]:
    """Refuse what prices say nothing about, and prices that are no numbers."""
    sparse = isinstance(given, SparseView) and _pairs_only(given)
    if not (sparse or isinstance(given, DenseView)):
        raise CertificateError(
            "Prices of elements need a score for every pair, or sets of at most two elements."
        )
    assert isinstance(given, DenseView | SparseView)
    if not given.feasible.has("reflexive", "symmetric", "transitive"):
        raise CertificateError(f"Prices of elements are about partitions, not {given.feasible}.")
    u = real_numbers(prices, "Prices")
    if u.shape != given.shape[:1] or not np.isfinite(u).all():
        raise CertificateError("There must be a price, a finite number, for each element.")
    with np.errstate(over="ignore"):
        if not float(np.ldexp(np.abs(u), -given.grid.largest).sum()) < 2.0**8:
            raise CertificateError("Prices of elements are far more than all log-odds together.")
    return given, u


def best_by_partners(view: Any, residual: Any) -> int | float | None:
    """Return the constant plus half of the most that each element can have in its set.

    Infinity where that says nothing: without a cap, or with unlisted pairs that are positive.
    """
    feasible = view.feasible
    if feasible.cap is None or not feasible.has("reflexive", "symmetric", "transitive"):
        return np.inf
    if getattr(view, "background", 0) > 0:
        return np.inf
    if view.empty:
        return None
    i, j, r, state, constant = view.unordered(residual)
    known, open_ = state == 1, (state < 0) & r.positive()
    room = np.full(view.shape[0], feasible.cap - 1, dtype=np.int64)
    np.subtract.at(room, np.concatenate([i[known], j[known]]), 1)
    best = _largest_total(np.concatenate([i[open_], j[open_]]), r[open_], np.maximum(room, 0))
    # every value is an integer on the grid, so that half of one can be rounded down
    return int(constant) + (best + 2 * int(r[known].total())) // 2


def _largest_total(owner: Index, values: Limbs, room: Index) -> int:
    """Sum the largest values of each owner, as many as it has room for.

    ``values`` belong to the first and again to the second half of ``owner``.
    """
    high, low = np.tile(values.high, 2), np.tile(values.low, 2)
    place = np.lexsort((-low, -high, owner))
    first = np.searchsorted(owner[place], np.arange(len(room)))
    rank = np.arange(len(place)) - first[owner[place]]
    taken = place[rank < room[owner[place]]]
    return Limbs(high[taken], low[taken]).total()
