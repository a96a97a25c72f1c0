"""Bounds of partitions into small sets: prices of elements, by column generation.

The linear program picks sets, each element in one. Its dual has a price for each element
such that no set is worth more than its prices; sets are added as they turn out to be. Rows
about all sets together (`capped_set`) make it tighter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.sets import best_sets, good_sets, violated_capped_sets
from relatum.lp import engine_named
from relatum.proof import Cuts, most_capped_pairs, round_up
from relatum.solvers.control import Control


@dataclass(frozen=True)
class PriceSettings:
    """How long sets above their prices are sought."""

    steps: int = 500_000  # of one search, before the clock is looked at
    most_steps: int = 4_000_000  # of the longest, a second or two; the checker is ready for more
    repairs: int = 30  # rounds in which prices are raised where the linear program was inexact


SETTINGS = PriceSettings()


def excess_margin(weights: Floats, prices: Floats, cap: int) -> float:
    """Bound what rounding may hide of the weight of a set less its prices.

    A set of k elements has less than k**2 terms, and each partial sum is off by 2**-53 of
    it at most.
    """
    k = min(cap, len(prices))
    size = k * k * float(np.abs(weights).max(initial=0.0))
    size += k * float(np.abs(prices).max(initial=0.0))
    return 2.0**-50 * k * k * size


class SetPool:
    """Sets met so far and rows about sets, for all nodes of a search.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric, zero diagonal.
    cap : int
    """

    def __init__(self, weights: Floats, cap: int) -> None:
        self.weights = weights
        self.cap = cap
        n = len(weights)
        self.sets: Flags = np.empty((0, n), dtype=np.bool_)
        self.worth: Floats = np.empty(0)
        self.rows: Flags = np.empty((0, n), dtype=np.bool_)
        self._known: set[bytes] = set()

    def add(self, masks: Flags) -> Flags:
        """Add sets; return those that are new."""
        fresh = []
        for mask in masks:
            key = np.packbits(mask).tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(mask)
        new = np.array(fresh, dtype=np.bool_).reshape(-1, len(self.weights))
        self.sets = np.concatenate([self.sets, new])
        self.worth = np.concatenate([self.worth, self.inside(new)])
        return new

    def inside(self, masks: Flags) -> Floats:
        """Return what sets are worth."""
        m = masks.astype(np.float64)
        return np.asarray(0.5 * np.einsum("si,si->s", m @ self.weights, m))

    def add_rows(self, masks: Flags) -> int:
        """Add rows about sets of elements; return how many are new."""
        known = {mask.tobytes() for mask in self.rows}
        new = [mask for mask in masks if mask.tobytes() not in known]
        if new:
            self.rows = np.concatenate([self.rows, np.array(new)])
        return len(new)

    def sides(self) -> Floats:
        """Right-hand sides of the rows."""
        return np.asarray(most_capped_pairs(self.rows.sum(axis=1), self.cap), dtype=np.float64)

    def seed(self, labels: Index) -> None:
        """Begin with good pairs, sets that grow around each element, and a partition's sets."""
        n = len(self.weights)
        near = np.argsort(-self.weights, axis=1, kind="stable")[:, : min(n - 1, 10)]
        masks = [labels == k for k in np.unique(labels)]
        for v in range(n):
            good = near[v][self.weights[v, near[v]] > 0]
            pairs = np.zeros((len(good), n), dtype=np.bool_)
            pairs[:, v] = pairs[np.arange(len(good)), good] = True
            masks.extend(pairs)
            mask, to = np.zeros(n, dtype=np.bool_), self.weights[v].copy()
            mask[v] = True
            for _ in range(self.cap - 1):
                u = int(np.argmax(np.where(mask, -np.inf, to)))
                if to[u] <= 0 or mask[u]:
                    break
                mask[u] = True
                to += self.weights[u]
                masks.append(mask.copy())
        self.add(np.array(masks))


@dataclass(frozen=True, eq=False)
class Priced:
    """What a relaxation has proved, and its point.

    Attributes
    ----------
    bound : float
    cuts : tuple of Cuts
    prices : float64 array (n,)
    x : float64 array (groups, groups)
        How far two groups share a set.
    chosen : bool array (s, n), share : float64 array (s,)
        Sets that the linear program picks, and to what extent.
    """

    bound: float
    cuts: tuple[Cuts, ...]
    prices: Floats
    x: Floats
    chosen: Flags
    share: Floats


class SetPrices:
    """The relaxation at a node: groups of related elements, and pairs of them that are apart.

    Parameters
    ----------
    pool : SetPool
    labels : int64 array (n,)
        The group of each element.
    apart : bool array (groups, groups)
    constant : float

    Attributes
    ----------
    between : float64 array (groups, groups)
        Weights between groups; on the diagonal, twice those inside.
    """

    settings = SETTINGS

    def __init__(self, pool: SetPool, labels: Index, apart: Flags, constant: float) -> None:
        self.pool = pool
        self.labels = labels
        self.apart = apart
        self.constant = constant
        self.n = len(labels)
        self.groups = len(apart)
        self.sizes = np.bincount(labels, minlength=self.groups).astype(np.int64)
        one = np.zeros((self.n, self.groups))
        one[np.arange(self.n), labels] = 1.0
        self.member = one
        self.between = one.T @ pool.weights @ one
        self.scale = 1.0 + float(np.abs(pool.weights).max(initial=0.0))

    def _fits(self, masks: Flags) -> Flags:
        """Say which sets hold whole groups only, and none that are apart."""
        held = masks @ self.member
        whole = ((held == 0) | (held == self.sizes)).all(axis=1)
        i, j = np.nonzero(np.triu(self.apart, 1))
        inside = held > 0
        together = np.zeros(len(masks), dtype=np.bool_)
        for a, b in zip(i.tolist(), j.tolist(), strict=True):
            together |= inside[:, a] & inside[:, b]
        return np.asarray(whole & ~together)

    def _rows(self, masks: Flags, worth: Floats) -> tuple[sparse.csr_array, Floats]:
        """Write sets as rows over prices and multipliers, less what groups have inside."""
        inside = (masks @ self.member) > 0
        shared = masks.astype(np.float64) @ self.pool.rows.T
        own = inside @ self._row_inside()
        coefficient = shared * (shared - 1) / 2 - own
        between = worth - inside @ self._weight_inside()
        matrix = np.concatenate([inside.astype(np.float64), coefficient], axis=1)
        return sparse.csr_array(-matrix), -between

    def _row_inside(self) -> Floats:
        """Pairs inside each group that each row counts."""
        held = self.member.T @ self.pool.rows.T
        return np.asarray(held * (held - 1) / 2)

    def _weight_inside(self) -> Floats:
        return np.asarray(0.5 * np.diagonal(self.between))

    def solve(self, control: Control) -> Priced:
        """Generate sets until none is above its prices, or time is up."""
        pool, g = self.pool, self.groups
        use = self._fits(pool.sets)
        sides = pool.sides()
        cost = np.concatenate([np.ones(g), sides - self._row_inside().sum(axis=0)])
        free = np.zeros(len(cost)), np.full(len(cost), np.inf)
        program = engine_named("highs")(-cost, *free, control.expired)
        masks = pool.sets[use]
        program.add_rows(*self._rows(masks, pool.worth[use]))
        rng, steps = np.random.default_rng(0), self.settings.steps
        while True:
            result = program.solve(control.remaining())
            prices, y = np.maximum(result.x[:g], 0.0), np.maximum(result.x[g:], 0.0)
            if result.status != "optimal" or control.expired():
                break
            found, left = self._above(prices, y, rng.permutation(g), 0, control)
            found = self._fresh(found, masks)
            if not len(found):  # only a full search says that there is none
                found, left = self._above(prices, y, rng.permutation(g), steps, control)
                found = self._fresh(found, masks)
            if not len(found):
                if left >= 0 or steps >= self.settings.most_steps or control.expired():
                    break
                steps *= 8
                continue
            pool.add(found)
            masks = np.concatenate([masks, found])
            program.add_rows(*self._rows(found, pool.inside(found)))
        return self._proved(prices, y, masks, result.multipliers, control)

    @staticmethod
    def _fresh(found: Flags, masks: Flags) -> Flags:
        """Return the sets that are not among those already known."""
        known = {m.tobytes() for m in masks}
        fresh = {m.tobytes(): m for m in found if m.tobytes() not in known}
        return np.array([*fresh.values()], dtype=np.bool_).reshape(-1, masks.shape[1])

    def _left_over(self, y: Floats) -> Floats:
        """Return the weights that rows with multipliers leave, of pairs of elements."""
        rows = self.pool.rows.astype(np.float64)
        left = self.pool.weights - rows.T @ (y[:, None] * rows)
        np.fill_diagonal(left, 0.0)
        return np.asarray(left)

    def _above(
        self, prices: Floats, y: Floats, order: Index, steps: int, control: Control
    ) -> tuple[Flags, int]:
        """Find sets above their prices: some, or the best of each element and later ones.

        Without steps only a local search is made; what is left of them is returned.
        """
        between = self.member.T @ self._left_over(y) @ self.member
        np.fill_diagonal(between, 0.0)
        instance = (
            np.ascontiguousarray(between[np.ix_(order, order)]),
            prices[order],
            self.sizes[order],
            np.ascontiguousarray(self.apart[np.ix_(order, order)]),
            self.pool.cap,
            1e-10 * self.scale,
        )
        left = 0
        if steps:
            excess, members, left = best_sets(*instance, steps, control.expired)
        else:
            excess, members = good_sets(*instance, control.expired)
        masks = np.zeros((self.groups, self.n), dtype=np.bool_)
        for row, held in zip(masks, members, strict=True):
            row[:] = np.isin(self.labels, order[held[held >= 0]])
        return masks[excess > 1e-10 * self.scale], int(left)

    def _proved(
        self, prices: Floats, y: Floats, masks: Flags, share: Floats, control: Control
    ) -> Priced:
        """Raise prices to safety and say what they prove."""
        control = control.last_moment()
        g = self.groups
        unit = 2.0 ** (np.ceil(np.log2(self.scale)) - 38)  # few digits keep checking quick
        prices, y = np.ceil(prices / unit) * unit, np.ceil(y / unit) * unit
        left = self._left_over(y)
        inner = self.member.T @ left @ self.member
        inside = 0.5 * np.diagonal(inner)
        np.fill_diagonal(inner, 0.0)
        bound, most_steps = np.inf, self.settings.most_steps
        for _ in range(self.settings.repairs):
            margin = excess_margin(inner, prices, self.pool.cap)
            excess, _, rest = best_sets(
                inner,
                prices,
                self.sizes,
                self.apart,
                self.pool.cap,
                -margin,
                most_steps,
                control.expired,
            )
            if rest < 0:
                break
            over = excess + margin
            bound = float(prices.sum()) + g * max(0.0, float(over.max()))
            if (over <= 0).all() or control.expired():
                break
            prices = prices + np.ceil(np.maximum(over, 0) / unit) * unit
        sides = self.pool.sides() @ y
        bound += self.constant + float(inside.sum()) + float(sides)
        related = float(np.abs(self.between).diagonal().sum())
        most = float(prices.sum() + sides) + abs(self.constant) + related
        bound = round_up(bound, most + float(np.maximum(inner, 0.0).sum()))
        own = np.zeros(self.n)
        # prices so far are of what groups have between them
        own[np.unique(self.labels, return_index=True)[1]] = prices + inside
        used = share > 1e-9
        inside_sets = ((masks[used] @ self.member) > 0).astype(np.float64)
        x = inside_sets.T @ (share[used][:, None] * inside_sets)
        np.fill_diagonal(x, 0.0)
        return Priced(bound, self._cuts(y), own, x, masks[used], share[used])

    def _cuts(self, y: Floats) -> tuple[Cuts, ...]:
        rows = self.pool.rows[y > 0]
        if not len(rows):
            return ()
        width = 1 + int(rows.sum(axis=1).max())
        index = np.full((len(rows), width), -1, dtype=np.int64)
        index[:, 0] = self.pool.cap
        for k, row in enumerate(rows):
            index[k, 1 : 1 + int(row.sum())] = np.flatnonzero(row)
        return (Cuts("capped_set", index, y[y > 0]),)

    def separate(self, x: Floats, rng: np.random.Generator, threshold: float, limit: int) -> int:
        """Add rows that the point violates; return how many."""
        n = self.n
        wide = x[np.ix_(self.labels, self.labels)] + (self.labels[:, None] == self.labels)
        np.fill_diagonal(wide, 0.0)
        noise = rng.random((4 * n, n)) * np.repeat([0.0, 0.01, 0.1, 0.3], n)[:, None]
        most = min(n, 3 * self.pool.cap + 3 if self.pool.cap > 2 else 21)
        sets, violation = violated_capped_sets(wide, noise, self.pool.cap, most, threshold)
        if not len(violation):
            return 0
        size = sets.sum(axis=1)
        order = np.argsort(-violation / np.sqrt(size * (size - 1) / 2), kind="stable")
        return self.pool.add_rows(np.unique(sets[order[: 2 * limit]], axis=0)[:limit] > 0)
