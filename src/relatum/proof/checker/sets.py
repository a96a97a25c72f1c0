"""What only partitions allow a checker: bounds set by set and element by element.

Every element is in one set. If no set is worth more than the prices of its elements add up
to, then no partition is worth more than all prices. Whether a set is, is searched for among
the sets that evidence and the cap on sizes allow.

Also, an element has at most k - 1 others in its set if k is the cap: half of what it can have
with the best of them, added up, bounds what is inside sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import CertificateError
from relatum.kernels.partition.sets import best_sets
from relatum.proof.certificate import Cuts
from relatum.proof.checker.dense import DenseView
from relatum.proof.checker.view import NOTHING, summed

BUDGET = 100_000_000  # steps of the search for a set above its prices: some seconds
MARGIN_UNIT = 2.0**-64  # exact arithmetic counts in multiples of it: margins are small


def excess_margin(weights: NDArray[Any], prices: NDArray[Any], cap: int) -> float:
    """Bound what rounding may hide of the weight of a set less its prices.

    A set of k elements has less than k**2 terms, and each partial sum is off by 2**-53 of
    it at most.
    """
    k = min(cap, len(prices))
    size = k * k * float(np.abs(weights).max(initial=0.0))
    size += k * float(np.abs(prices).max(initial=0.0))
    return 2.0**-50 * k * k * size


def best_by_prices(given: object, cuts: Sequence[Cuts], prices: NDArray[Any]) -> Any:
    """Return the bound of prices of elements, for the log-odds that some rows leave."""
    from scipy.sparse import coo_array  # slow to import, and not needed to read a bundle
    from scipy.sparse.csgraph import connected_components

    view, u = _checked_prices(given, prices)
    n, to = len(u), view.arithmetic
    if view.empty:
        return NOTHING
    groups, found = connected_components(coo_array(view.state == 1), directed=False)
    labels = np.asarray(found, dtype=np.int64)
    sizes = np.bincount(labels, minlength=groups).astype(np.int64)
    cap = n if view.feasible.cap is None else min(n, view.feasible.cap)
    a, b = np.nonzero(view.state == 0)
    forbidden = np.zeros((groups, groups), dtype=np.bool_)
    forbidden[labels[a], labels[b]] = True
    if forbidden.diagonal().any() or int(sizes.max()) > cap:
        return NOTHING
    r, constant = view.residual(cuts)
    own = np.diagonal(r).copy()  # of elements with themselves, which are always related
    np.fill_diagonal(r, own * 0)
    # between groups both directions of a pair count; within one they are related
    sums = summed(r, labels)
    price = to.array(np.zeros(groups))
    np.add.at(price, labels, to.array(u))
    inside, pairs = np.diagonal(sums).copy(), sums + sums.T
    if not to.exact:
        error = _rounding(r, labels)
        pairs, inside = pairs + error, inside + np.diagonal(error)
    weights = np.array([[to.to_float(x) for x in row] for row in pairs.tolist()])
    lowered = -np.array([to.to_float(-x) for x in (price - inside).tolist()])
    np.fill_diagonal(weights, 0.0)
    margin = excess_margin(weights, lowered, cap)
    excess, _, left = best_sets(weights, lowered, sizes, forbidden, cap, -margin, BUDGET)
    if left < 0:
        raise CertificateError("Too many sets have to be looked at to check prices of elements.")
    over = float(excess.max()) + margin
    parts = [*own.tolist(), *price.tolist()]
    if over > 0:  # each set, and there are no more than groups, may have so much more
        parts += [to.number(over) + (1 if to.exact else 0)] * groups
    return constant + to.total(np.array(parts, dtype=object))


def _checked_prices(given: object, prices: NDArray[Any]) -> tuple[DenseView, Floats]:
    """Refuse what prices say nothing about, and prices that are no numbers."""
    if not isinstance(given, DenseView):
        raise CertificateError("Prices of elements need a score for every pair.")
    if not given.feasible.has("reflexive", "symmetric", "transitive"):
        raise CertificateError(f"Prices of elements are about partitions, not {given.feasible}.")
    u = np.asarray(prices, dtype=np.float64)
    if u.shape != given.shape[:1] or not np.isfinite(u).all():
        raise CertificateError("There must be a price, a finite number, for each element.")
    return given, u


def _rounding(r: NDArray[Any], labels: Index) -> NDArray[Any]:
    """Bound what rounding may have taken from sums between groups, of both directions."""
    members = np.bincount(labels).astype(np.float64)
    sizes = summed(np.abs(r), labels)
    return np.asarray(2.0**-50 * np.outer(members, members) * (sizes + sizes.T))


def best_by_partners(view: Any, residual: Any) -> Any:
    """Return the constant plus half of the most that each element can have in its set.

    Infinity where that says nothing: without a cap, or with unlisted pairs that are positive.
    """
    feasible = view.feasible
    if feasible.cap is None or not feasible.has("reflexive", "symmetric", "transitive"):
        return math.inf
    if getattr(view, "background", 0) > 0:
        return math.inf
    if view.empty:
        return NOTHING
    to, n = view.arithmetic, view.shape[0]
    i, j, r, state, constant = view.unordered(residual)
    known, open_ = state == 1, (state < 0) & (r > 0)
    room = np.full(n, feasible.cap - 1, dtype=np.int64)
    np.subtract.at(room, np.concatenate([i[known], j[known]]), 1)
    ends, values = np.concatenate([i[open_], j[open_]]), np.concatenate([r[open_]] * 2)
    best = largest_per_owner(ends, values, np.maximum(room, 0), to.exact)
    twice = to.total(np.concatenate([best, r[known], r[known]]))
    # every value is an integer in exact arithmetic, so that half of one can be rounded down
    return constant + (twice // 2 if to.exact else 0.5 * twice)


def largest_per_owner(
    owner: NDArray[Any], values: NDArray[Any], room: NDArray[Any], exact: bool = False
) -> NDArray[Any]:
    """Return, for each owner, the largest of its values, as many as it has room for."""
    if exact:  # Python integers, which numpy does not sort by two keys
        order = sorted(range(len(owner)), key=lambda t: (owner[t], -values[t]))
        place = np.array(order, dtype=np.int64)
    else:
        place = np.lexsort((-values, owner))
    first = np.searchsorted(owner[place], np.arange(len(room)))
    rank = np.arange(len(place)) - first[owner[place]]
    return np.asarray(values[place][rank < room[owner[place]]])
