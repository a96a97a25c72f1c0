"""Branch and cut on first-order relaxations of orders.

The search knows nothing of the kind of order: a `PairRelaxation` bounds, cuts and fixes, an
`ImprovingIncumbent` holds the best relation and improves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relatum.array_types import Floats
from relatum.proof import Branch, Cuts, Fix, Leaf, Proof, SubsetOrder
from relatum.solvers.control import Control
from relatum.solvers.order.pair_relaxation import ImprovingIncumbent, PairRelaxation, Wrap
from relatum.solvers.tree import Tree


@dataclass(eq=False)
class _Node:
    relaxation: PairRelaxation | None
    bound: float
    depth: int = 0
    wraps: list[Wrap] = field(default_factory=list)
    cuts: tuple[Cuts, ...] = ()
    pair: tuple[int, int] = (-1, -1)
    children: tuple[_Node, ...] = ()
    consistent: bool = True
    outright: bool = False

    def keep_bound(self, relaxation: PairRelaxation) -> None:
        """Keep the relaxation's bound, and the multipliers that prove it, if it is better."""
        if relaxation.lp.bound < self.bound:
            self.bound, self.cuts = relaxation.lp.bound, relaxation.cuts()

    def proof(self) -> Proof:
        """Return the proof of everything below the node."""
        proof: Proof = SubsetOrder() if self.outright else Leaf(self.cuts)
        if self.children:
            related, unrelated = (c.proof() for c in self.children)
            proof = Branch(self.pair, unrelated, related)
        for wrap in reversed(self.wraps):
            proof = wrap(proof)
        return proof


@dataclass(frozen=True)
class Settings:
    """What the search may spend; iterations are those of the linear programming engine."""

    iterations: int = 180  # per round at the root
    node_iterations: int = 100  # per round elsewhere
    # in the first round at the root, where rows are few; the k-th has k times as many
    first_iterations: int = 60
    root_rounds: int = 400  # of separation at most
    node_rounds: int = 8
    violation: float = 0.05  # least of rows to add at first; times 0.4 when nothing is found
    least_violation: float = 1e-3  # below this, separation at the root has failed
    half_violation: float = 0.01  # what it is raised to after {0,1/2}-cuts, which move the point
    per_pair: int = 2  # violated rows added per round for each pair, at the root
    node_per_pair: int = 1
    stall: float = 0.03  # share of the gap that some rounds must close, lest half cuts are sought
    node_stall: float = 0.1
    patience: int = 5  # how many rounds these are; one, if no row was violated
    node_patience: int = 2
    half_rounds: int = 80  # in which {0,1/2}-cuts are sought
    half_sources: int = 60  # pairs from which such a round looks for them
    node_half_rounds: int = 4
    node_half_sources: int = 20
    few_open: float = 0.4  # share of open pairs at the root below which branching is quicker
    fixed_share: float = 0.05  # of open pairs, above which fixing is worth its room in the proof
    max_nodes: int = 1_000_000  # far more than there is time for
    work: float = math.inf  # rows and triples gone through, after which no round at the root begins
    # gone through at the root before a search for a better relation is made, in the same unit
    search_work: float = 3e7
    search_share: float = 0.1  # of the time, after which it is made at the latest
    # of the time left, for that search, or of all the time, as where no proof is asked for:
    # mostly it takes little
    search_most: float = 0.9
    searching: float = 0.75
    states: int = 6_000  # subsets looked at to order outright what is left open


# for a bound beside a heuristic, about a second; no field is a time: every machine does the same
BOUND = Settings(root_rounds=40, half_rounds=0, max_nodes=0, work=4e8, states=0)
BOUND_WORK = 30.0  # per n**3 of n elements: where these are many, rounds are long
BOUND_ELEMENTS = 1_500  # up to which that holds: with more, rows take gigabytes


def bound_settings(n: int) -> Settings:
    """Return what a bound beside a heuristic may spend on so many elements."""
    return replace(BOUND, work=max(BOUND.work, BOUND_WORK * n**3)) if n <= BOUND_ELEMENTS else BOUND


class BranchAndCut:
    """Cutting planes at the root, then branching, best bound first.

    Parameters
    ----------
    relaxation : PairRelaxation
    incumbent : ImprovingIncumbent
    control : Control
    settings : Settings, optional
    search : callable (control), optional
        Looks for a better relation, as where no proof is asked for, and offers it to the
        incumbent. Called once, unless the root closes soon.
    """

    def __init__(
        self,
        relaxation: PairRelaxation,
        incumbent: ImprovingIncumbent,
        control: Control,
        settings: Settings | None = None,
        search: Callable[[Control], object] | None = None,
    ) -> None:
        self._search, self._seconds, self._work = search, control.remaining(), 0.0
        self.incumbent = incumbent
        self.control = control
        self.settings = settings or Settings()
        self.rng = np.random.default_rng(control.seed)
        self.root = _Node(relaxation, math.inf)
        self.tree: Tree[_Node] = Tree(incumbent, control, self.settings.max_nodes)
        self.stats: dict[str, Any] = {"nodes": 0, "rounds": 0, "half_cuts": 0}

    def run(self) -> tuple[float, Proof]:
        """Search; return (bound, proof)."""
        for node in self._still_open(self.root):
            self._search_once()
            self.tree.push(node)
        self.tree.run(self._expand)
        return self.incumbent.claim(self.tree.bound), self.root.proof()

    def _expand(self, node: _Node) -> Iterable[_Node]:
        """Split a node; return the sides that cuts do not close."""
        self._report(node.bound)
        sides = self._branch(node)
        if not sides:
            self.tree.leave(node.bound)
        return self._still_open(*sides)

    def _still_open(self, *nodes: _Node) -> list[_Node]:
        self.stats["nodes"] += len(nodes)
        return [node for node in nodes if not self._cut(node)]

    def _report(self, bound: float) -> None:
        rows = 0 if self.root.relaxation is None else self.root.relaxation.lp.n_rows
        self.tree.report(bound, self.stats["nodes"], rows)

    def _cut(self, node: _Node) -> bool:
        """Add rows and fix pairs until the node is closed (True) or progress stalls."""
        relaxation, s = node.relaxation, self.settings
        if not node.consistent or (node.depth == 0 and self._finishes(node)):
            node.relaxation = None
            return True
        assert relaxation is not None
        is_root = node.depth == 0
        node.keep_bound(relaxation)
        if self.control.expired():
            return False
        limit = s.root_rounds if is_root else s.node_rounds
        per_pair = s.per_pair if is_root else s.node_per_pair
        history: list[float] = []
        threshold, halves = s.violation, 0
        self._first_rows(relaxation, is_root)
        for round_ in range(limit):
            if is_root and not self._may_go_on(relaxation):
                break
            x = self._solve(relaxation, round_, is_root)
            self._look_around(node, relaxation, x, round_)
            if self._closes(node) or self._fix(node):
                node.relaxation = None
                return True
            if self.control.expired():
                break
            history.append(relaxation.lp.bound)
            relaxation.lp.drop_idle()
            worst = relaxation.separate(x, threshold, per_pair)
            if worst == 0.0:
                threshold *= 0.4
            if self._stalls(history, worst == 0.0, is_root):
                if halves >= self._half_rounds(relaxation, is_root):
                    break
                halves += 1
                added = self._add_half_cuts(relaxation, x, is_root)
                if not added and (threshold < s.least_violation or not is_root):
                    break
                threshold = max(threshold, s.half_violation)
        node.keep_bound(relaxation)
        return False

    def _first_rows(self, relaxation: PairRelaxation, is_root: bool) -> None:
        """Begin with violated rows at the root, elsewhere with those inherited that matter."""
        if not is_root:
            relaxation.lp.drop_implied()
        elif self._may_go_on(relaxation):
            relaxation.separate(relaxation.point(), self.settings.violation, self.settings.per_pair)

    def _look_around(self, node: _Node, relaxation: PairRelaxation, x: Floats, round_: int) -> None:
        """Look for a better relation at a point; at the root, keep the bound and tell of it."""
        if node.depth == 0 or round_ == 0:
            self.incumbent.improve(x, self.rng)
        if node.depth == 0:
            node.keep_bound(relaxation)
            self._report(relaxation.lp.bound)

    def _may_go_on(self, relaxation: PairRelaxation) -> bool:
        """Count the work of a round at the root; say whether it may be done.

        Where that has become much, a search for a better relation comes first.
        """
        s = self.settings
        if self._work > s.work:
            return False
        self._work += s.iterations * relaxation.lp.n_rows + 0.25 * relaxation.n**3
        late = self.control.remaining() < (1 - s.search_share) * self._seconds
        if late or self._work > s.search_work:
            self._search_once()
        return True

    def _search_once(self) -> None:
        """Look for a better relation, the first time."""
        search, self._search = self._search, None
        if search is not None:
            s, left = self.settings, self.control.remaining()
            seconds = max(s.search_most * left, min(left, s.searching * self._seconds))
            search(self.control.child(self.control.start, seconds, silent=True))

    def _solve(self, relaxation: PairRelaxation, round_: int, is_root: bool) -> Floats:
        """Run the linear programming engine for one round; return the point it reaches."""
        s = self.settings
        self.stats["rounds"] += 1
        at_root = min(s.iterations, s.first_iterations * (round_ + 1))
        relaxation.lp.run(at_root if is_root else s.node_iterations)
        return relaxation.point()

    def _add_half_cuts(self, relaxation: PairRelaxation, x: Floats, is_root: bool) -> int:
        sources = self.settings.half_sources if is_root else self.settings.node_half_sources
        added = relaxation.add_half_cuts(x, sources, self.rng)
        self.stats["half_cuts"] += added
        return added

    def _stalls(self, history: list[float], nothing_found: bool, is_root: bool) -> bool:
        """Say whether the last rounds brought little of what is missing."""
        s = self.settings
        share, back = (s.stall, s.patience) if is_root else (s.node_stall, s.node_patience)
        if nothing_found:
            back = 1
        if len(history) <= back:
            return False
        gap = history[-1] - self.incumbent.cutoff
        return history[-back - 1] - history[-1] < share * gap

    def _half_rounds(self, relaxation: PairRelaxation, is_root: bool) -> int:
        """Return how often {0,1/2}-cuts are worth their time.

        Where most pairs are fixed already, what is left is small and branching is quicker.
        """
        if not is_root:
            return self.settings.node_half_rounds
        few = _open_columns(relaxation) < self.settings.few_open * relaxation.lp.objective.size
        return 0 if few else self.settings.half_rounds

    def _closes(self, node: _Node) -> bool:
        assert node.relaxation is not None
        if node.relaxation.lp.bound > self.incumbent.cutoff:
            return False
        node.bound, node.cuts = node.relaxation.lp.bound, node.relaxation.cuts()
        self.tree.leave(node.bound)
        return True

    def _fix(self, node: _Node) -> bool:
        """Fix pairs by reduced cost; True if that leaves nothing open."""
        relaxation = node.relaxation
        assert relaxation is not None
        pairs, values = relaxation.fixable(self.incumbent.exact_cutoff)
        if len(pairs) <= self.settings.fixed_share * _open_columns(relaxation):
            return False
        cuts = relaxation.cuts()
        wrap, consistent = relaxation.assign(pairs, values)
        node.wraps.append(lambda then: Fix(cuts, pairs, values, then))
        node.wraps.append(wrap)
        if not consistent:
            return True
        if _open_columns(relaxation):
            relaxation.lp.drop_implied()
            return self._finishes(node)
        self.incumbent.take(relaxation.point())
        node.cuts = ()  # every pair is fixed: without rows the bound is the value
        self._leave_at_the_value()
        return True

    def _finishes(self, node: _Node) -> bool:
        """Finish what the node leaves open outright, if few states have to be looked at."""
        assert node.relaxation is not None
        node.outright = node.relaxation.finish(self.incumbent, self.settings.states)
        if node.outright:
            self._leave_at_the_value()
        return node.outright

    def _leave_at_the_value(self) -> None:
        """Note that a node holds nothing better than the incumbent by more than is tolerated."""
        self.tree.leave(self.incumbent.value + self.incumbent.tolerance)

    def _branch(self, node: _Node) -> list[_Node]:
        """Split at a pair; return both sides, none if no pair is open.

        Pairs are not tried out: after a pair is fixed, the linear programming engine takes some
        hundred iterations to be back at the bound from which it began.
        """
        assert node.relaxation is not None
        pair = node.relaxation.branch_pair()
        if pair is None:
            return []
        node.pair = pair
        node.children = tuple(self._side(node, first) for first in (True, False))
        node.relaxation = None
        return list(node.children)

    def _side(self, node: _Node, first: bool) -> _Node:
        """Return the child in which the node's pair is fixed: what holds here holds there."""
        assert node.relaxation is not None
        relaxation = node.relaxation.copy()
        child = _Node(relaxation, node.bound, node.depth + 1, cuts=node.cuts)
        fixed = np.array([node.pair], dtype=np.int64)
        wrap, child.consistent = relaxation.assign(fixed, np.array([first]))
        child.wraps.append(wrap)
        return child


def _open_columns(relaxation: PairRelaxation) -> int:
    return int(np.count_nonzero(relaxation.lp.lower < relaxation.lp.upper))
