"""Branch and cut for one strongly connected linear-order problem.

Values here are sums of d_ij over i < j with i before j; see `order_relaxation`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.bounds import grid_of
from relatum.certificate import Branch, Cuts, Fix, Leaf, Proof
from relatum.kernels.order_search import insertion_search
from relatum.solvers.control import Control
from relatum.solvers.order_relaxation import OrderRelaxation, imply_steps
from relatum.solvers.order_search import least_gain

__all__ = ["Incumbent", "OrderTree", "TreeSettings"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


class Incumbent:
    """The best order so far, and the level that a bound must reach to be of no interest.

    With integer weights of greatest common divisor g, values differ by multiples of g: a
    bound below value + g is as good as one at the value. Otherwise half of the tolerance
    that `relatum.estimate.closes` allows is used.
    """

    def __init__(self, d: Floats, order: Index, offset: float = 0.0, parts: int = 1) -> None:
        self.d = d
        self.order = order
        self.value = self.value_of(order)
        self.offset = offset
        self.parts = max(1, parts)  # the problem's tolerance is shared by so many
        self.grid = grid_of(d)
        self.rounding = 1e-12 * float(np.abs(d).sum())
        if self.grid < 100 * self.rounding:
            self.grid = 0.0

    def value_of(self, order: Index) -> float:
        """Sum d_ij over i < j with i before j."""
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        i, j = np.triu_indices(len(order), 1)
        return math.fsum(self.d[i, j][rank[i] < rank[j]].tolist())

    def offer(self, order: Index) -> bool:
        """Take an order if it is better."""
        value = self.value_of(order)
        if value <= self.value + 1e-9 * max(1.0, abs(self.value)):
            return False
        self.order, self.value = order.copy(), value
        return True

    @property
    def tolerance(self) -> float:
        """How far above the value the bound of a finished search may lie."""
        if self.grid:
            return 0.0
        return (8e-7 + 4e-10 * abs(self.value + self.offset)) / self.parts

    @property
    def level(self) -> float:
        """A bound of at most this needs no further search."""
        return self.value + (self.grid or self.tolerance) - self.rounding

    @property
    def claim(self) -> float:
        """The bound of a finished search."""
        return self.value + self.tolerance


@dataclass(eq=False)
class _Node:
    relaxation: OrderRelaxation | None
    bound: float
    depth: int = 0
    wraps: list[Callable[[Proof], Proof]] = field(default_factory=list)
    cuts: tuple[Cuts, ...] = ()
    infeasible: bool = False
    pair: tuple[int, int] = (-1, -1)
    children: tuple[_Node, ...] = ()

    def proof(self) -> Proof:
        """Return the proof of everything below the node."""
        proof: Proof = Leaf(self.cuts)
        if self.children:
            related, unrelated = (c.proof() for c in self.children)
            proof = Branch(self.pair, unrelated, related)
        for wrap in reversed(self.wraps):
            proof = wrap(proof)
        return proof


@dataclass(frozen=True)
class TreeSettings:
    """Knobs of the search, for tests and experiments."""

    iterations: int = 150
    root_rounds: int = 400
    node_rounds: int = 12
    half_rounds: int = 40
    views: int = 4
    half_sources: int = 150
    candidates: int = 4
    probe_iterations: int = 60
    max_nodes: int = 1_000_000


class OrderTree:
    """Cutting planes at the root, then branching, best bound first.

    Parameters
    ----------
    d : float64 array (n, n)
        Antisymmetric and finite.
    incumbent : Incumbent
    control : Control
    before : bool array (n, n), optional
        Precedences known, transitively closed; the caller's proof must imply them.
    """

    def __init__(
        self,
        d: Floats,
        incumbent: Incumbent,
        control: Control,
        before: NDArray[np.bool_] | None = None,
        settings: TreeSettings | None = None,
    ) -> None:
        self.incumbent = incumbent
        self.control = control
        self.settings = settings or TreeSettings()
        self.rng = np.random.default_rng(control.seed)
        self.search = d.copy()  # for the local search: inf where a precedence is known
        self.least = least_gain(d)
        self.constrained = before is not None and bool(before.any())
        relaxation = OrderRelaxation(d)
        if before is not None and before.any():
            relaxation.fix(np.argwhere(before).astype(np.int64))
            self.search[before] = np.inf
            self.search[before.T] = -np.inf
        self.root = _Node(relaxation, relaxation.bound)
        self.stats: dict[str, Any] = {"nodes": 0, "rounds": 0, "half_cuts": 0}

    def run(self) -> tuple[float, Proof]:
        """Search; return (bound, proof)."""
        open_nodes: list[tuple[float, int, _Node]] = []
        closed_by_limit: list[float] = []
        count = 0
        todo = [self.root]
        while True:
            for node in todo:
                self.stats["nodes"] += 1
                if not self._bound(node):
                    heapq.heappush(open_nodes, (-node.bound, count, node))
                    count += 1
            while open_nodes and -open_nodes[0][0] <= self.incumbent.level:
                heapq.heappop(open_nodes)  # the incumbent has improved since
            if not open_nodes or self.control.expired() or count >= self.settings.max_nodes:
                break
            self._report(-open_nodes[0][0])
            node = heapq.heappop(open_nodes)[2]
            todo = self._branch(node)
            if not todo:
                closed_by_limit.append(node.bound)
        rest = [-b for b, _, _ in open_nodes] + closed_by_limit
        bound = max([self.incumbent.claim, *(b + self.incumbent.rounding for b in rest)])
        return bound, self.root.proof()

    def _report(self, bound: float) -> None:
        inc = self.incumbent
        rows = 0 if self.root.relaxation is None else self.root.relaxation.lp.n_rows
        self.control.report(inc.value + inc.offset, bound + inc.offset, self.stats["nodes"], rows)

    def _bound(self, node: _Node) -> bool:
        """Add rows and fix pairs until the node is closed (True) or progress stalls."""
        relaxation, s = node.relaxation, self.settings
        assert relaxation is not None
        is_root = node.depth == 0
        limit = s.root_rounds if is_root else s.node_rounds
        history: list[float] = []
        threshold, halves = 0.05, 0
        if is_root and not relaxation.lp.n_rows:
            relaxation.add_dicycles(relaxation.point(), 0.05, 2)
        for _ in range(limit):
            self.stats["rounds"] += 1
            relaxation.lp.run(s.iterations)
            x = relaxation.point()
            self._improve(x)
            if self._closes(node) or self._fix(node):
                node.relaxation = None
                return True
            if self.control.expired():
                break
            if is_root:
                self._report(relaxation.bound)
            history.append(relaxation.bound)
            relaxation.lp.drop_idle()
            worst = relaxation.add_dicycles(x, threshold, 2 if is_root else 1)
            if worst == 0.0:
                threshold *= 0.4
            if self._stalls(history, is_root) or threshold < 1e-4:
                if not is_root or halves >= s.half_rounds:
                    break
                halves += 1
                added = relaxation.add_half_cuts(x, s.half_sources, self.rng)
                self.stats["half_cuts"] += added
                if not added and threshold < 1e-3:
                    break
                threshold = max(threshold, 0.01)
        node.bound = min(node.bound, relaxation.bound)
        node.cuts = relaxation.cuts()
        return False

    def _stalls(self, history: list[float], is_root: bool) -> bool:
        """Say whether the last rounds brought little of what is missing."""
        back = 5 if is_root else 2
        if len(history) <= back:
            return False
        gap = history[-1] - self.incumbent.level
        return history[-back - 1] - history[-1] < (0.03 if is_root else 0.05) * gap

    def _improve(self, x: Floats) -> None:
        """Search from orders that the point suggests.

        Beside the order by row sums, elements are ordered by x seen from one of them: where
        all rotations of an order are worth the same, the point is their average, and only
        this view of it shows the order.
        """
        seen_from = self.rng.choice(len(x), min(len(x), self.settings.views), replace=False)
        x = x + np.eye(len(x))
        for key in (x.sum(axis=1), *x[seen_from]):
            order = np.argsort(-key, kind="stable")
            if self.constrained and not _respects(order, self.search):
                continue
            insertion_search(self.search, order, self.least)
            self.incumbent.offer(order)

    def _closes(self, node: _Node) -> bool:
        assert node.relaxation is not None
        if node.relaxation.bound > self.incumbent.level:
            return False
        node.bound = node.relaxation.bound
        node.cuts = node.relaxation.cuts()
        return True

    def _fix(self, node: _Node) -> bool:
        """Fix pairs by reduced cost; True if that leaves nothing open."""
        relaxation = node.relaxation
        assert relaxation is not None
        pairs = relaxation.fixable(self.incumbent.level)
        open_pairs = int((relaxation.lp.lower < relaxation.lp.upper).sum())
        if len(pairs) <= 0.05 * open_pairs:
            return False
        cuts = relaxation.cuts()
        steps, consistent = relaxation.fix(pairs)
        values = np.ones(len(pairs), dtype=np.bool_)
        node.wraps.append(lambda then: Fix(cuts, pairs, values, then))
        node.wraps.append(lambda then: imply_steps(steps, then))
        if not consistent:
            return True
        if (relaxation.lp.lower < relaxation.lp.upper).any():
            return False
        self.incumbent.offer(np.argsort(-relaxation.before.sum(axis=1), kind="stable"))
        return True

    def _branch(self, node: _Node) -> list[_Node]:
        """Split at the pair whose two sides improve the bound most, by short trials."""
        relaxation = node.relaxation
        assert relaxation is not None
        best: tuple[float, tuple[int, int], tuple[_Node, ...]] | None = None
        for pair in self._candidates(relaxation):
            sides = tuple(self._side(node, pair, first) for first in (True, False))
            gains = [max(node.bound - s.bound, 1e-9) for s in sides]
            score = min(gains) * math.sqrt(max(gains))
            if best is None or score > best[0]:
                best = score, pair, sides
            if self.control.expired():
                break
        if best is None:
            return []
        node.pair, node.children = best[1], best[2]
        node.relaxation = None
        return list(best[2])

    def _candidates(self, relaxation: OrderRelaxation) -> list[tuple[int, int]]:
        i, j = relaxation.upper
        x, lp = relaxation.lp.x, relaxation.lp
        score = (0.5 - np.abs(x - 0.5)) * (1 + np.abs(lp.objective) / np.abs(lp.objective).mean())
        score = np.where(lp.lower < lp.upper, score + 1e-12, -1.0)
        chosen = np.argsort(-score, kind="stable")[: self.settings.candidates]
        return [(int(i[c]), int(j[c])) for c in chosen if score[c] > 0]

    def _side(self, node: _Node, pair: tuple[int, int], first: bool) -> _Node:
        """Return the child in which the pair is fixed, after a short trial."""
        assert node.relaxation is not None
        relaxation = node.relaxation.copy()
        child = _Node(relaxation, node.bound, node.depth + 1)
        fixed = np.array([pair if first else pair[::-1]], dtype=np.int64)
        steps, consistent = relaxation.fix(fixed)
        child.wraps.append(lambda then: imply_steps(steps, then))
        if consistent:
            relaxation.lp.run(self.settings.probe_iterations)
            child.bound = min(node.bound, relaxation.bound)
        return child


def _respects(order: Index, search: Floats) -> bool:
    """Say whether an order breaks no known precedence."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    a, b = np.nonzero(np.isposinf(search))
    return bool((rank[a] < rank[b]).all())
