"""Exact estimation of equivalence relations: branch and cut on a first-order relaxation.

At each node, rounds of linear programming and separation (triangles, odd wheels,
2-partition rows) lower the bound; pairs whose other value cannot be better are fixed, and
related elements contracted. What is left is branched on: a pair is related, or it is not. Where the
root is left with few nodes, whole sets and prices are tried first (`whole_sets`). Everything that
is used is written to the proof. Where scores are noise, a semidefinite relaxation comes first, and
its proof is returned unless the search has found a better one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.problem import EQUIVALENCES, Partition, Problem
from relatum.proof import Proof
from relatum.solvers.control import Control
from relatum.solvers.partition.exact.node import Node
from relatum.solvers.partition.exact.opening import (
    Opening,
    PartitionIncumbent,
    no_partition,
    opening_of,
)
from relatum.solvers.partition.exact.relaxation import Relaxation
from relatum.solvers.partition.exact.whole_sets import WholeSets
from relatum.solvers.partition.noise import (
    effort_for,
    is_noise,
    least_of_triangles,
    semidefinite_bound,
)
from relatum.solvers.partition.search.heuristics import local_search, search_seconds
from relatum.solvers.reductions import Bound, lost_by_prices
from relatum.solvers.registry import Outcome, Solver, register
from relatum.solvers.tree import Tree


@dataclass(frozen=True)
class Settings:
    """What the search may spend; iterations are those of the linear programming engine."""

    iterations: int = 100  # per round
    threshold: float = 0.05  # least violation of rows to add at first; times 0.4 if there is none
    least_threshold: float = 0.004  # below this, separation has failed
    stall: float = 0.1  # share of the gap that some rounds must close, lest a node is branched
    patience: int = 3  # how many rounds these are
    root_stall: float = 0.3  # factor on `stall` at the root, whose rows serve every node
    root_patience: int = 4  # factor on `patience` at the root
    candidates: int = 3  # pairs tried in strong branching
    trial: int = 60  # iterations of each such trial
    stake: float = 0.02  # weight of a score, beside the distance from 0 and 1, in their choice
    last_rounds: int = 50  # of a node whose pairs are all fixed
    last_iterations: int = 1000  # per such round
    last_violation: float = 1e-3  # least of the triangles added then
    search: int = 400  # iterations of local search before the first round
    round_search: int = 20  # iterations from each point, and from the best partition
    first_rounds: int = 3  # from which on points are rounded: before, they are no partitions
    annealed: int = 20  # elements from which annealing precedes branching: few are searched well
    searched_first: float = 0.25  # share of the time from which it comes before everything else
    annealed_work: float = 3e7  # rows and triangles gone through at the root before it is made,
    annealed_share: float = 0.1  # or share of the time, after which it is made at the latest
    opening_seconds: float = 4e-7  # per pair, before anything can be cut, on a slow machine
    opening_share: float = 0.15  # of the time, most for that; else it is searched and bounded
    noise_share: float = 0.3  # of the time, for a semidefinite relaxation where scores are noise
    most_elements: int = 2500  # of a problem that is accepted: there is a column for every pair
    priced: int = 64  # nodes up to which sets are priced before pairs are branched on
    priced_whole: int = 500  # elements of the whole problem up to which they are
    priced_loss: float = 1e-5  # bits that such a proof may lose, where pairs would take too long
    few_elements: int = 40  # up to which a proof is quick enough to be made without being asked for


SETTINGS = Settings()


class _Search:
    """One run of branch and cut."""

    def __init__(
        self,
        problem: Problem,
        incumbent: PartitionIncumbent,
        control: Control,
        settings: Settings,
    ) -> None:
        self.problem, self.incumbent = problem, incumbent
        self.control, self.settings = control, settings
        self.rng = np.random.default_rng(control.seed)
        self.tree: Tree[Node] = Tree(self.incumbent, control)
        self.stats = {"nodes": 0, "rounds": 0, "rows": 0}
        self.seconds, self.annealed, self.work = control.remaining(), False, 0.0
        self.of_noise: tuple[Bound, Proof] | None = None  # a bound and its proof, if it is that

    def solve(self, root: Node) -> Outcome:
        """Search from the root; return what was found and proved."""
        self.tree.push(root)
        self.tree.run(self.expand)
        limit = max(self.incumbent.exact_cutoff, self.tree.bound)
        proved: tuple[Bound, Proof] = self.incumbent.claim(limit), root.proof(limit)
        if self.of_noise is not None:
            proved = min(proved, self.of_noise, key=lambda found: found[0])
        return Outcome(Partition(self.incumbent.labels), *proved, self.stats)

    def bound_noise(self, triangles: float) -> None:
        """Search well, and solve the semidefinite relaxation, if scores are noise; once.

        That is decided by a bound of triangles, or by what they prove at best. Of few elements,
        cuts and whole sets prove more, and sooner.
        """
        if self.of_noise is not None or self.problem.n <= self.settings.priced:
            return
        if not is_noise(self.problem, self.incumbent.value, triangles):
            return
        self.anneal()
        effort = effort_for(self.settings.noise_share * self.control.remaining())
        value = self.incumbent.value
        self.of_noise = semidefinite_bound(self.problem, value, self.control, effort)
        if self.of_noise is not None:
            self.tree.ceiling = float(self.of_noise[0])

    def expand(self, node: Node) -> Iterable[Node]:
        """Cut at a node, then split it; return the nodes that take its place."""
        self.stats["nodes"] += 1
        closed = self.cut(node)
        if not closed and self.control.expired():
            return (node,)
        if not closed and node.depth == 0:
            self.anneal()
            closed = self.tree.closes(node) or self.price(node)
            if not closed and self.control.expired():
                return (node,)
        if closed:
            node.release()
            return ()
        return self.branch(node)

    def price(self, node: Node) -> bool:
        """Branch on whole sets rather than pairs, where nodes are few; say whether that closes."""
        r, s = node.relaxation, self.settings
        if not node.contracts or r.n > s.priced or not self.prices_prove(r.n):
            return False
        first = np.unique(node.labels, return_index=True)[1]
        seed, labels = self.control.seed, node.labels

        def offer(sets: Index) -> None:
            self.incumbent.search_from(sets[labels], s.round_search, seed)

        def notice(bound: float) -> None:
            self.stats["nodes"] += 1
            self.tree.report(min(bound, node.bound), self.stats["nodes"], self.stats["rows"])

        search = WholeSets(r, lambda: self.incumbent.cutoff, offer, notice, self.control)
        bound = search.solve(self.incumbent.labels[first])
        if bound < node.bound:
            node.ended = bound, search.root.proof()
        return self.tree.closes(node)

    def prices_prove(self, nodes: int) -> bool:
        """Say whether prices prove enough: checkers round them, by the largest scores of all."""
        s = self.settings
        whole = self.problem if self.control.whole is None else self.control.whole
        if whole.n > s.priced_whole:
            return False
        lost = s.priced_loss if nodes > s.few_elements else self.control.gap / 2
        return lost_by_prices(whole) <= lost

    def cut(self, node: Node) -> bool:
        """Alternate linear programming, fixing and separation; say whether the node closes."""
        s = self.settings
        threshold = s.threshold
        history: list[float] = []
        while not self.control.expired():
            if self.anneals_now(node):
                self.anneal()
                if self.tree.closes(node):
                    return True
            bound = node.run(s.iterations)
            self.stats["rounds"] += 1
            self.stats["rows"] = max(self.stats["rows"], node.relaxation.lp.n_rows)
            self.look_for_better(node)
            if self.tree.closes(node):
                return True
            self.tree.report(node.bound, self.stats["nodes"], self.stats["rows"])
            history.append(min(bound, node.bound))
            node.relaxation.drop_idle()
            added = node.relaxation.separate(threshold, self.rng)
            moved = node.fix_by_reduced_cost(self.incumbent.exact_cutoff)
            if self.tree.closes(node):
                return True
            if not added and not moved:
                threshold *= 0.4
            if threshold < s.least_threshold or self.stalls(history, node):
                break
        return False

    def stalls(self, history: list[float], node: Node) -> bool:
        """Say whether the last rounds have closed too little of the gap."""
        s = self.settings
        p, share = s.patience, s.stall
        if node.depth == 0:
            p, share = s.root_patience * p, s.root_stall * share
        if len(history) <= p:
            return False
        gap = history[-p - 1] - self.incumbent.value
        return history[-p - 1] - min(history[-p:]) < share * gap

    def look_for_better(self, node: Node) -> None:
        """Round the relaxation's point to a partition and search around it."""
        r, s = node.relaxation, self.settings
        if self.stats["rounds"] < s.first_rounds and r.n_open:
            return
        seed = self.control.seed + self.stats["rounds"]
        self.incumbent.round(r.point(), node.labels, s.round_search, seed)
        self.incumbent.search(s.round_search, seed)

    def anneals_now(self, node: Node) -> bool:
        """Say whether cutting at the root has gone on for so long that annealing comes first."""
        s = self.settings
        if self.annealed or node.depth > 0:
            return False
        self.work += s.iterations * node.relaxation.lp.n_rows + 0.25 * node.relaxation.n**3
        late = self.control.remaining() < (1 - s.annealed_share) * self.seconds
        return late or self.work > s.annealed_work

    def anneal(self) -> None:
        """Look for a better partition by annealing, once: as where no proof is asked for."""
        if self.annealed or self.problem.n < self.settings.annealed:
            return
        self.annealed = True
        control = self.control.child(self.control.start, self.control.remaining(), silent=True)
        found = local_search(self.problem, control).relation
        if isinstance(found, Partition):
            self.incumbent.start(found.labels)

    def branch(self, node: Node) -> Iterable[Node]:
        """Split a node at the pair that strong branching likes best."""
        pairs = self.branching_pairs(node)
        if not pairs:
            self.exhaust(node)
            return ()
        cutoff = self.incumbent.cutoff
        best: tuple[float, Any] = (-math.inf, None)
        for pair in pairs:
            children = [node.child(pair, related) for related in (False, True)]
            for child in children:
                if child.bound > cutoff:
                    child.run(self.settings.trial)
            closed = [child.bound <= cutoff for child in children]
            gains = [
                node.best_bound - (self.incumbent.value if c else child.bound)
                for c, child in zip(closed, children, strict=True)
            ]
            score = max(gains[0], 1e-6) * max(gains[1], 1e-6)
            if score > best[0]:
                best = score, (pair, children)
            if all(closed) or self.control.expired():
                break
        pair, children = best[1]
        node.split(pair, *children)
        return tuple(children)

    def exhaust(self, node: Node) -> None:
        """Close a node whose pairs are all fixed: by its partition, or because none is left."""
        s = self.settings
        for _ in range(s.last_rounds):
            if self.control.expired() or self.tree.closes(node):
                break
            node.relaxation.add_triangles(s.last_violation)
            node.run(s.last_iterations)
            self.look_for_better(node)
        self.tree.leave(node.bound)

    def branching_pairs(self, node: Node) -> list[tuple[int, int]]:
        """Return open pairs, the most undecided first."""
        r = node.relaxation
        x, w = r.lp.x, np.abs(r.lp.objective)
        undecided = np.minimum(x, 1 - x) + self.settings.stake * w / (1e-9 + w.max(initial=0.0))
        undecided[r.lp.lower >= r.lp.upper] = -1
        columns = np.argsort(-undecided, kind="stable")[: self.settings.candidates]
        i, j = np.triu_indices(r.n, 1)
        return [(int(i[c]), int(j[c])) for c in columns if undecided[c] >= 0]


def run(problem: Problem, control: Control, settings: Settings = SETTINGS) -> Outcome:
    """Find a most probable equivalence relation and prove it.

    Parameters
    ----------
    problem : Problem
        On equivalence relations, possibly with evidence, one-per-group and at-most.
    control : Control
    settings : Settings
    """
    first: Outcome | None = None
    if _searches_first(problem, control, settings):
        first = local_search(problem, control)
        control = control.child(first.relation or control.start, control.remaining())
    if settings.opening_seconds * problem.n**2 > settings.opening_share * control.remaining():
        return first or local_search(problem, control)  # nothing could be cut in time
    opening = opening_of(problem, control)
    if opening is None:
        return no_partition(problem)
    opening.incumbent.search(settings.search, control.seed)
    search = _Search(problem, opening.incumbent, control, settings)
    search.annealed = first is not None or control.searched
    search.bound_noise(least_of_triangles(problem))
    root = _root(opening, control)
    search.bound_noise(root.bound)
    return search.solve(root)


def _searches_first(problem: Problem, control: Control, settings: Settings) -> bool:
    """Say whether to search as where no proof is asked for before anything else is done.

    So it is where the search may take much of the time, or would come before the first cuts.
    """
    if control.searched:
        return False
    long = search_seconds(problem) > settings.searched_first * control.remaining()
    return long or 0.25 * problem.n**3 > settings.annealed_work


def _root(opening: Opening, control: Control) -> Node:
    state, cap = opening.state, opening.cap
    n = len(state)
    relaxation = Relaxation(opening.weights, state, opening.constant)
    relaxation.stop_when(control.expired)
    if cap < n:
        relaxation.add_caps(cap)
    root = Node(relaxation, np.arange(n), contracts=cap >= n)
    if root.contracts and (state == 1).any():
        root.contract()
    root.relaxation.pack(control.seed)
    root.record()
    return root


def _refuses(problem: Problem) -> str | None:
    if problem.feasible.structure != EQUIVALENCES:
        return "solves equivalence relations only"
    if problem.n > SETTINGS.most_elements:
        return f"has a variable for each pair and takes up to {SETTINGS.most_elements} elements"
    return None


register(
    Solver(
        name="partition_branch_and_cut",
        summary="Exact equivalence relations by cutting planes, fixing and branching.",
        proves=True,
        refuses=_refuses,
        run=run,
        rank=lambda problem, prove: 1.0 if prove or problem.n <= SETTINGS.few_elements else 10.0,
        decompose=True,
    )
)
