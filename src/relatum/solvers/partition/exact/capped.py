"""Exact estimation of partitions into small sets: branch and price.

Where a cap leaves few sets that are worth anything, a relaxation that picks whole sets is
much tighter than one of pairs. Its dual, prices of elements, is a short certificate. What is
left open is branched on: two elements share a set, or they do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.problem import EQUIVALENCES, Partition, Problem
from relatum.proof import Branch, Prices, Proof
from relatum.solvers.control import Control
from relatum.solvers.partition.exact.branch_and_cut import run as branch_and_cut
from relatum.solvers.partition.exact.opening import Opening, no_partition, opening_of
from relatum.solvers.partition.exact.prices import Priced, SetPool, SetPrices
from relatum.solvers.partition.search.heuristics import local_search
from relatum.solvers.reductions import connected
from relatum.solvers.registry import Outcome, Solver, register
from relatum.solvers.tree import Tree


@dataclass(frozen=True)
class Settings:
    """What branch and price may spend, and what it is for."""

    root_rounds: int = 20  # of separation at the root
    node_rounds: int = 2  # of separation at every other node
    slow: float = 0.02  # share of the gap that a round must close, lest a node is branched
    violation: float = 0.02  # least of rows to add
    rows: int = 100  # added per round
    search: int = 400  # iterations of local search before the first node
    round_search: int = 10  # iterations from the sets that a node picks
    annealed_first: int = 100  # elements above which the root is not solved before annealing
    rooting: float = 0.1  # share of the time for the root of fewer, before annealing
    stake: float = 1e-3  # weight of a score in the choice of a pair to branch on: it breaks ties
    few_elements: int = 40  # up to which a proof is quick enough to be made without being asked for
    most_sets: float = 1e10  # within the cap of a problem that is accepted; few are looked at
    small: int = 4  # sets needed at least, for sets to be small and this solver preferred


SETTINGS = Settings()


@dataclass(eq=False)
class _Node:
    """What is decided, and the best bound known: that of the node or of a parent."""

    state: NDArray[np.int8]
    priced: Priced | None
    depth: int = 0
    children: tuple[_Node, _Node] | None = None
    pair: tuple[int, int] = (-1, -1)
    empty: bool = False

    @property
    def bound(self) -> float:
        if self.empty:
            return -math.inf
        return math.inf if self.priced is None else self.priced.bound

    def decided(self, pair: tuple[int, int], related: bool) -> _Node:
        state = self.state.copy()
        state[pair] = state[pair[::-1]] = int(related)
        return _Node(state, self.priced, self.depth + 1)

    def proof(self) -> Proof:
        """Return the proof of the largest bound of the leaves."""
        if self.children is not None:
            unrelated, related = self.children
            return Branch(self.pair, unrelated.proof(), related.proof())
        assert self.priced is not None
        return Prices(self.priced.cuts, self.priced.prices)


class _Search:
    """One run of branch and price."""

    def __init__(
        self,
        problem: Problem,
        opening: Opening,
        control: Control,
        pool: SetPool,
        settings: Settings,
    ) -> None:
        self.problem, self.opening, self.control, self.pool = problem, opening, control, pool
        self.settings = settings
        self.rng = np.random.default_rng(control.seed)
        self.tree: Tree[_Node] = Tree(opening.incumbent, control)
        self.stats = {"nodes": 0, "sets": 0, "rows": 0}

    def expand(self, node: _Node) -> Iterable[_Node]:
        """Price the sets of a node, then split it; return the nodes that take its place."""
        self.stats["nodes"] += 1
        relaxation = self.relax_root(node) if node.depth == 0 else self.relax(node, self.control)
        self.tree.report(node.bound, self.stats["nodes"], self.stats["rows"])
        if relaxation is None or self.tree.closes(node):
            return ()
        if self.control.expired() and math.isfinite(node.bound):
            return (node,)
        if math.isfinite(node.bound) and self.branch(node, *relaxation):
            return node.children or ()
        self.tree.leave(node.bound)
        return ()

    def relax_root(self, node: _Node) -> tuple[SetPrices, Priced] | None:
        """Bound the root; if it does not close soon, look for a better partition first."""
        if self.problem.n > self.settings.annealed_first:
            self.anneal()
            return self.relax(node, self.control)
        left = self.control.remaining()
        early = self.control.child(self.control.start, self.settings.rooting * left)
        found = self.relax(node, early)
        if found is None or self.tree.closes(node):
            return found
        self.anneal()
        return self.relax(node, self.control) if early.expired() else found

    def relax(self, node: _Node, control: Control) -> tuple[SetPrices, Priced] | None:
        """Bound a node by prices and rows; None if nothing is left in it."""
        s = self.settings
        labels = connected(len(node.state), [np.nonzero(node.state == 1)])
        groups = int(labels.max()) + 1
        apart = np.zeros((groups, groups), dtype=np.bool_)
        i, j = np.nonzero(node.state == 0)
        apart[labels[i], labels[j]] = True
        if apart.diagonal().any() or int(np.bincount(labels).max()) > self.opening.cap:
            node.empty = True
            return None
        relaxation = SetPrices(self.pool, labels, apart, self.opening.constant)
        for number in range(1 + (s.root_rounds if node.depth == 0 else s.node_rounds)):
            before = node.bound
            priced = relaxation.solve(control)
            self.stats["sets"] = len(self.pool.sets)
            self.stats["rows"] = len(self.pool.rows)
            self.round(priced)
            if node.priced is None or priced.bound < node.priced.bound:
                node.priced = priced
            gap = node.bound - self.opening.incumbent.value
            slow = number > 0 and before - node.bound < s.slow * gap
            if self.tree.closes(node) or control.expired() or slow:
                break
            if not relaxation.separate(priced.x, self.rng, s.violation, s.rows):
                break
        return relaxation, priced

    def anneal(self) -> None:
        """Look for a better partition by annealing: as where no proof is asked for."""
        if self.problem.n > self.settings.few_elements and not self.control.searched:
            control = self.control.child(self.control.start, self.control.remaining(), silent=True)
            found = local_search(self.problem, control).relation
            if isinstance(found, Partition):
                self.opening.incumbent.start(found.labels)

    def round(self, priced: Priced) -> None:
        """Make a partition of the sets picked most, and search around it."""
        n = len(self.opening.state)
        labels, taken = np.arange(n), np.zeros(n, dtype=np.bool_)
        for k in np.argsort(-priced.share, kind="stable"):
            mask = priced.chosen[k]
            if not (taken & mask).any():
                labels[mask] = n + k
                taken |= mask
        incumbent, seed = self.opening.incumbent, self.control.seed + self.stats["nodes"]
        incumbent.search_from(labels, self.settings.round_search, seed)

    def branch(self, node: _Node, relaxation: SetPrices, priced: Priced) -> bool:
        """Split a node at the pair that is most undecided; False if none is open."""
        x, between = priced.x, np.abs(relaxation.between)
        stake = self.settings.stake * between / (1e-300 + between.max(initial=0.0))
        undecided = np.minimum(x, 1 - x) + stake
        undecided[np.tril_indices(len(x))] = -1.0
        undecided[relaxation.apart] = -1.0
        a, b = np.unravel_index(int(np.argmax(undecided)), x.shape)
        if undecided[a, b] < 0:
            return False
        first = np.unique(relaxation.labels, return_index=True)[1]
        pair = int(first[a]), int(first[b])
        node.pair = (min(pair), max(pair))
        node.children = node.decided(node.pair, False), node.decided(node.pair, True)
        return True


def run(problem: Problem, control: Control, settings: Settings = SETTINGS) -> Outcome:
    """Find a most probable partition into sets within a cap, and prove it.

    Parameters
    ----------
    problem : Problem
        On equivalence relations with at-most, possibly with evidence and one-per-group.
    control : Control
    settings : Settings
    """
    if problem.n <= (problem.feasible.cap or problem.n):  # a part in which any set will do
        return branch_and_cut(problem, control)
    opening = opening_of(problem, control)
    if opening is None:
        return no_partition(problem)
    incumbent = opening.incumbent
    incumbent.search(settings.search, control.seed)
    pool = SetPool(opening.weights, opening.cap)
    pool.seed(incumbent.labels)
    search = _Search(problem, opening, control, pool, settings)
    root = _Node(opening.state, None)
    search.tree.push(root)
    search.tree.run(search.expand)
    if math.isinf(root.bound):  # too many sets are worth something: pairs may do better
        found = Partition(incumbent.labels)
        return branch_and_cut(problem, control.child(found, control.remaining()))
    bound = incumbent.claim(search.tree.bound)
    return Outcome(Partition(incumbent.labels), bound, root.proof(), search.stats)


def _n_sets(n: int, cap: int) -> float:
    return float(sum(math.comb(n, k) for k in range(1, min(n, cap) + 1)))


def _refuses(problem: Problem) -> str | None:
    cap = problem.feasible.cap
    if problem.feasible.structure != EQUIVALENCES:
        return "solves equivalence relations only"
    if cap is None:
        return "is for sets of at most k elements"
    if _n_sets(problem.n, cap) > SETTINGS.most_sets:
        most = f"{SETTINGS.most_sets:.0e}"
        return f"looks through sets within the cap and takes up to {most} of them"
    return None


def _rank(problem: Problem, prove: bool) -> float:
    """Prefer this solver to one of pairs where sets are small."""
    small = SETTINGS.small * (problem.feasible.cap or problem.n) <= problem.n
    exact = prove or problem.n <= SETTINGS.few_elements
    return (0.5 if small else 1.5) if exact else 9.0


register(
    Solver(
        name="capped_partitions",
        summary="Exact equivalence relations with small sets (at_most) by branch and price.",
        proves=True,
        refuses=_refuses,
        run=run,
        rank=_rank,
        decompose=True,
    )
)
