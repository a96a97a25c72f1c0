"""Branch and price: the relaxation that picks whole sets, for what cuts leave of some dozen nodes.

Each node is in one set, picked to some extent; the dual has a price for each node such that no
set is worth more than its prices, and these are the certificate (Mehrotra and Trick 1998). Every
row of pairs that holds for each set alone (triangles, odd wheels, 2-partition rows) follows from
it, so that the bound is never worse than theirs, and much better on noise. Sets above their prices
are found by a tabu search; only a full search proves that there is none.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.partition.pricing.dear_sets import dear_sets, dearest_sets
from relatum.lp import engine_named
from relatum.proof import Branch, Prices, Proof, round_up
from relatum.solvers.control import Control
from relatum.solvers.partition.exact.relaxation import Relaxation


@dataclass(frozen=True)
class PricingSettings:
    """What branch and price may spend."""

    tabu_steps: int = 6  # per node, of the search for sets from each start
    random_starts: float = 1.0  # per node, beside the nodes alone and the sets picked
    share: float = 0.2  # of nodes that are in a random start
    columns: int = 8  # sets per node that a child begins with: those nearest to their prices
    steps: int = 30_000_000  # of a full search that closes nothing: a tenth of a second
    closing_steps: int = 2_000_000_000  # of one that may close the branch: some seconds
    root_steps: int = 500_000_000  # of the first one, lest pairs are branched on instead
    returned: int = 40  # sets that a full search returns at most
    spare: float = 0.999  # of what is left up to the cutoff, that prices are raised by


SETTINGS = PricingSettings()
_LEAST = 1e-9  # in largest scores: what a set has above its prices, to be one


@dataclass(eq=False)
class _Branch:
    """The group of each node, pairs of groups that are apart, and what is proved."""

    labels: Index
    apart: Flags
    bound: float
    prices: Floats | None  # of the nodes; None where the bound is not of this search
    near: Floats  # prices of the nodes that were met last
    pair: tuple[int, int] = (-1, -1)
    children: tuple[_Branch, ...] = field(default=())

    def proof(self) -> Proof:
        """Return the proof of the largest bound of the leaves."""
        if self.children:
            return Branch(self.pair, self.children[0].proof(), self.children[1].proof())
        assert self.prices is not None
        return Prices((), self.prices)

    def leaves(self) -> list[_Branch]:
        """Return the branches that are not split."""
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]


class WholeSets:
    """One run of branch and price on the nodes of a relaxation of pairs.

    Parameters
    ----------
    relaxation : Relaxation
        Whose weights, pairs that are apart, and constant are taken.
    cutoff : callable
        Bounds up to here are as good as the best value.
    offer : callable
        Takes labels of the nodes: a partition that may be worth a look.
    notice : callable
        Told the bound before each branch.
    control : Control
    settings : PricingSettings
    """

    def __init__(
        self,
        relaxation: Relaxation,
        cutoff: Callable[[], float],
        offer: Callable[[Index], None],
        notice: Callable[[float], None],
        control: Control,
        settings: PricingSettings = SETTINGS,
    ) -> None:
        self.weights, self.n = relaxation.weights, relaxation.n
        self.constant = relaxation.constant + relaxation.rounding
        self.cutoff, self.offer, self.notice = cutoff, offer, notice
        self.control, self.settings = control, settings
        self.rng = np.random.default_rng(control.seed)
        self.scale = 1.0 + float(np.abs(self.weights).max(initial=0.0))
        self.sets: Flags = np.eye(self.n, dtype=np.bool_)
        self.worth: Floats = np.zeros(self.n)
        self._known = {row.tobytes() for row in self.sets}
        half = 0.5 * np.maximum(self.weights, 0.0).sum(axis=1)
        apart = relaxation.state == 0
        self.root = _Branch(np.arange(self.n), apart, math.inf, None, half)
        self.branches = 0
        self.gave_up = False

    def add(self, masks: Flags) -> Flags:
        """Add sets of nodes; return those that are new."""
        fresh = []
        for mask in masks:
            if mask.tobytes() not in self._known:
                self._known.add(mask.tobytes())
                fresh.append(mask)
        new = np.array(fresh, dtype=np.bool_).reshape(-1, self.n)
        self.sets = np.concatenate([self.sets, new])
        m = new.astype(np.float64)
        self.worth = np.concatenate([self.worth, 0.5 * np.einsum("si,si->s", m @ self.weights, m)])
        return new

    def solve(self, labels: Index) -> float:
        """Search until no branch is open or time is up, from a partition; return the bound.

        Infinity if sets are too many for a first bound: then nothing is proved.
        """
        self.add(labels[None] == np.unique(labels)[:, None])
        open_ = [(-math.inf, 0, self.root)]
        while open_ and not self.control.expired():
            branch = heapq.heappop(open_)[2]
            if branch.bound <= self.cutoff():
                continue
            self.branches += 1
            self.notice(branch.bound)
            node = _Pricing(self, branch)
            node.run()
            if self.gave_up:
                return math.inf
            if branch.bound > self.cutoff() and not self.control.expired() and node.split():
                for k, child in enumerate(branch.children):  # of equal bounds the deepest first
                    heapq.heappush(open_, (-child.bound, -2 * self.branches - k, child))
        return max(leaf.bound for leaf in self.root.leaves())


class _Pricing:
    """Column generation at a branch.

    Parameters
    ----------
    search : WholeSets
    branch : _Branch
    """

    def __init__(self, search: WholeSets, branch: _Branch) -> None:
        self.search, self.branch = search, branch
        self.g = g = len(branch.apart)
        one = np.zeros((search.n, g))
        one[np.arange(search.n), branch.labels] = 1.0
        self.member = one
        between = one.T @ search.weights @ one
        self.inside = 0.5 * np.diagonal(between)
        between[np.arange(g), np.arange(g)] = 0.0
        self.far = 2.0 * float(np.abs(between).sum()) + 1.0
        self.between = np.where(branch.apart, -self.far, between)
        self.constant = search.constant + float(self.inside.sum())
        self.prices = np.zeros(g)
        self.masks: Flags = np.zeros((0, g), dtype=np.bool_)
        self.share: Floats = np.zeros(0)

    def _columns(self) -> tuple[Flags, Floats]:
        """Return the sets that fit and are nearest to their prices, as sets of groups."""
        search, s = self.search, self.search.settings
        held = search.sets @ self.member
        sizes = self.member.sum(axis=0)
        fits = ((held == 0) | (held == sizes)).all(axis=1)
        masks = held[fits] > 0
        i, j = np.nonzero(np.triu(self.branch.apart, 1))
        ok = ~(masks[:, i] & masks[:, j]).any(axis=1)
        masks, worth = masks[ok], (search.worth[fits] - masks @ self.inside)[ok]
        excess = worth - masks @ (self.member.T @ self.branch.near - self.inside)
        best = np.argsort(-excess, kind="stable")[: s.columns * self.g]
        masks, worth = masks[best], worth[best]
        alone = np.eye(self.g, dtype=np.bool_)
        return np.concatenate([alone, masks]), np.concatenate([np.zeros(self.g), worth])

    def run(self) -> None:
        """Generate sets until none is above its prices, or that matters no more."""
        search, g, control = self.search, self.g, self.search.control
        free = np.zeros(g), np.full(g, np.inf)
        program = engine_named("highs")(-np.ones(g), *free, control.expired)
        self.masks, worth = self._columns()
        program.add_rows(sparse.csr_array(-self.masks.astype(np.float64)), -worth)
        while True:
            result = program.solve(control.remaining())
            if result.status != "optimal" or control.expired():
                return
            self.prices, self.share = np.maximum(result.x, 0.0), result.multipliers
            found = self._by_tabu()
            if not len(found):
                search.offer(self._rounded())
                found = self._by_full_search()
            if not len(found):
                break
            self.masks = np.concatenate([self.masks, found])
            m = found.astype(np.float64)
            worth = 0.5 * np.einsum("si,si->s", m @ self.between, m)
            program.add_rows(sparse.csr_array(-m), -worth)
        self.branch.near = self._of_nodes(self.prices)

    def _of_nodes(self, prices: Floats) -> Floats:
        """Return prices of nodes: those of a group, and what it has inside, at its first node."""
        own = np.zeros(self.search.n)
        own[np.unique(self.branch.labels, return_index=True)[1]] = prices + self.inside
        return own

    def _fresh(self, found: Flags) -> Flags:
        """Return the sets that are new here, and tell the others of them."""
        known = {mask.tobytes() for mask in self.masks}
        fresh = {m.tobytes(): m for m in found if m.tobytes() not in known}
        new = np.array([*fresh.values()], dtype=np.bool_).reshape(-1, self.g)
        if len(new):
            self.search.add(new[:, self.branch.labels])
        return new

    def _by_tabu(self) -> Flags:
        search, s, g = self.search, self.search.settings, self.g
        random = search.rng.random((int(s.random_starts * g), g)) < s.share
        starts = [np.eye(g, dtype=np.bool_), self.masks[self.share > 1e-9], random]
        found, excess = dear_sets(
            self.between,
            self.prices,
            np.concatenate(starts).astype(np.uint8),
            s.tabu_steps * g,
            _LEAST * search.scale,
            search.control.expired,
        )
        order = np.argsort(-excess, kind="stable")
        return self._fresh(found[order].astype(np.bool_))

    def _by_full_search(self) -> Flags:
        """Return sets above their prices; if there are none, note the bound of these."""
        search, s, g = self.search, self.search.settings, self.g
        spare = s.spare * (search.cutoff() - self._bound(self.prices)) / g
        prices = self.prices + max(spare, 0.0)
        steps = s.closing_steps if spare >= 0 else s.steps
        if search.branches == 1:
            steps = s.root_steps
        least = _LEAST * search.scale
        found, left = dearest_sets(
            self.between, prices, least, s.returned, steps, search.control.expired
        )
        new = self._fresh(found.astype(np.bool_))
        bound = self._bound(prices)
        if left >= 0 and not len(new) and bound < self.branch.bound:
            self.branch.bound, self.branch.prices = bound, self._of_nodes(prices)
        search.gave_up = left < 0 and not len(new) and search.branches == 1
        return new

    def _bound(self, prices: Floats) -> float:
        """Return what prices prove if a full search has found no set above them."""
        above = 2 * self.g * _LEAST * self.search.scale
        total = float(prices.sum())
        return round_up(self.constant + total + above, abs(self.constant) + total + self.far)

    def _rounded(self) -> Index:
        """Return a partition of the nodes: of the sets picked most."""
        labels, taken = np.arange(self.g), np.zeros(self.g, dtype=np.bool_)
        for k in np.argsort(-self.share, kind="stable"):
            if self.share[k] > 1e-9 and not (taken & self.masks[k]).any():
                labels[self.masks[k]] = self.g + k
                taken |= self.masks[k]
        return labels[self.branch.labels]

    def split(self) -> bool:
        """Split the branch at the pair that is most undecided; False if none is open."""
        used = self.share > 1e-9
        picked = self.masks[used].astype(np.float64)
        x = picked.T @ (self.share[used][:, None] * picked)
        undecided = np.minimum(x, 1 - x)
        undecided[np.tril_indices(self.g)] = -1.0
        undecided[self.branch.apart] = -1.0
        a, b = np.unravel_index(int(np.argmax(undecided)), x.shape)
        if undecided[a, b] <= 1e-6:
            return False
        branch = self.branch
        first = np.unique(branch.labels, return_index=True)[1]
        apart = branch.apart.copy()
        apart[a, b] = apart[b, a] = True
        labels = np.where(branch.labels == b, a, branch.labels)
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        one = np.zeros((self.g, self.g - 1), dtype=np.bool_)
        one[np.arange(self.g), labels[first]] = True
        joined = (one.T.astype(np.int64) @ branch.apart @ one) > 0
        branch.pair = min(int(first[a]), int(first[b])), max(int(first[a]), int(first[b]))
        rest = branch.bound, branch.prices, branch.near
        branch.children = (
            _Branch(branch.labels, apart, *rest),
            _Branch(labels, joined, *rest),
        )
        return True
