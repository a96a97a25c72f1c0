"""Best-first branch-and-cut with lazy separation of property rows.

Each node solves a linear program over the rows found so far, separates violated rows of
the properties, fixes pairs by reduced cost, closes what is fixed under the properties, and
rounds the fractional point to a member of the feasible set. Bounds come from clipped
multipliers, so that they hold whatever the LP solver's tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.lp import LinearProgram
from relatum.problem import Evidence, Problem, Property, Relation, float_up
from relatum.proof import Closure, Leaf, Propagator, grid_of, round_up
from relatum.solvers.control import Control
from relatum.solvers.general.node import Node
from relatum.solvers.general.space import PairSpace, RowPool
from relatum.solvers.incumbent import Incumbent
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.registry import Outcome
from relatum.solvers.tree import Tree


@dataclass(frozen=True)
class Settings:
    """What the search takes on, and may spend."""

    most_pairs: int = 1_000_000  # of a problem that is accepted: dense programs must fit
    improved_pairs: int = 1000  # up to which a relation is improved: each trial repairs all pairs
    rows_per_element: int = 40  # added per round, of the larger side
    violation: float = 1e-5  # least of rows to add: above the tolerance of the engines
    fractional: float = 1e-6  # distance from 0 and 1: that tolerance, too
    stall: float = 1e-3  # share of the gap that a round has to close
    nearly: float = 1e-9  # share of all log-odds that a bound may lack, for rounding to be in doubt
    patience: int = 5  # rounds in a row that may fail to, before a node is branched
    rows_at_once: int = 5_000  # of the first ones, between two looks at the clock
    sorted_pairs: int = 50_000  # up to which they are put in order though time is up: in no time


SETTINGS = Settings()


class BranchAndCut:
    """One search.

    Parameters
    ----------
    problem : Problem
    control : Control
    engine : type
        Of linear programs.
    """

    def __init__(self, problem: Problem, control: Control, engine: type[LinearProgram]) -> None:
        self.problem, self.control, self.engine = problem, control, engine
        self.space = PairSpace(problem)
        self.pool = RowPool(self.space)
        self.propagator = Propagator(problem.feasible)
        self.scores = problem.dense()
        self.magnitude = problem.scores.magnitude()
        self.properties: list[Property] = [
            p
            for p in sorted(problem.feasible.complete.properties, key=str)
            if not isinstance(p, Evidence)
        ]
        grid = grid_of(self.space.cost, self.scores)
        self.incumbent = Incumbent(grid=grid, gap=control.gap, share=0.1)
        self.best: Flags | None = None
        self.tree: Tree[Node] = Tree(self.incumbent, control)
        self.nodes = 0

    def run(self) -> Outcome:
        """Search until proven, out of time or stopped."""
        closure = self.propagator.close_all(self.problem.state)
        if self.problem.contradicts_itself or closure.conflict is not None:
            proof = Leaf(infeasible=True)
            whole = proof if self.problem.contradicts_itself else closure.proof(proof)
            return Outcome(None, -math.inf, whole, self._stats())
        root = Node(closure.state, math.inf, steps=[closure])
        self._start(root)
        if self.control.expired():  # before the linear program is written down
            relation = None if self.best is None else Relation(self.best)
            return Outcome(relation, stats=self._stats())
        lower, upper = self.space.box(root.state)
        self.lp = self.engine(self.space.cost, lower, upper, self.control.expired)
        self._add_first_rows()
        # rows that time has cut short are none the worse: with multipliers of zero they say nothing
        self._take_bound(root, np.zeros(len(self.pool)))
        self._improve(root.state)
        self.tree.push(root)
        self.tree.run(self._expand)
        return self._outcome(root)

    # --- incumbents -----------------------------------------------------------------

    def _start(self, root: Node) -> None:
        start = self.control.start
        if start is not None and self.problem.feasible.contains(start):
            self._offer(np.array(start.matrix()))
        self._round(root.state, self.scores, self.scores > 0)

    def _offer(self, matrix: Flags) -> bool:
        value = math.fsum(self.scores[matrix])
        if value <= self.incumbent.value:
            return False
        self.incumbent.value, self.best = value, matrix
        return True

    def _round(self, state: NDArray[np.int8], confidence: Floats, preferred: Flags) -> None:
        """Complete the state to a relation, the most confident pairs first."""
        order = np.empty(0, np.int64)  # so that all open pairs are decided at once
        if state.size <= SETTINGS.sorted_pairs or not self.control.expired():
            order = np.argsort(-np.abs(confidence), axis=None, kind="stable")
        matrix = self.propagator.complete(state, order, preferred, self.control.expired)
        if matrix is not None:
            self._offer(matrix)

    def _improve(self, state: NDArray[np.int8]) -> None:
        """Force each open pair to its other value and repair; keep what is better."""
        if self.best is None or state.size > SETTINGS.improved_pairs:
            return
        better = True
        while better and not self.control.expired():
            better = False
            for a, b in np.argwhere(state < 0).tolist():
                if self.control.expired():
                    break
                y = self.best
                closure = self.propagator.close(
                    state, np.array([[a, b]]), np.array([1 - int(y[a, b])])
                )
                if closure.conflict is None:
                    order = np.argsort(-np.abs(self.scores), axis=None, kind="stable")
                    ends = self.control.expired
                    matrix = self.propagator.complete(closure.state, order, y, ends)
                    better = (matrix is not None and self._offer(matrix)) or better

    # --- the linear program -----------------------------------------------------------

    def _add_first_rows(self) -> None:
        """Rows that are few: everything but transitivity; as many as there is time for."""
        few = [p for p in self.properties if p.name not in ("transitive", "symmetric")]
        for p in few:
            index = p.index(self.problem.shape)
            for begin in range(0, len(index), SETTINGS.rows_at_once):
                if self.control.expired():
                    return
                self._add(p.name, index[begin : begin + SETTINGS.rows_at_once])

    def _add(self, family: str, index: Index) -> int:
        if len(index) == 0:
            return 0
        fresh = self.pool.add(family, index)
        if fresh is None:
            return 0
        self.lp.add_rows(*fresh)
        return len(fresh[1])

    def _bound(self, y: Floats, lower: Floats, upper: Floats) -> tuple[float, Floats]:
        """Return the safe bound of multipliers over a box, and the reduced costs."""
        r, constant = self.pool.reduced_costs(self.space.cost, y)
        total = self.space.constant + constant + float(np.where(r > 0, upper * r, lower * r).sum())
        magnitude = self.magnitude + float(np.abs(r).sum()) + 4 * float(y.sum())
        return round_up(total, magnitude), r

    def _take_bound(self, node: Node, y: Floats) -> Floats:
        """Tighten the node's bound if these multipliers do; return the reduced costs."""
        bound, r = self._bound(y, *self.space.box(node.state))
        if bound < node.bound:
            node.bound, node.cuts = bound, self.pool.cuts(y)
            missing = bound - self.incumbent.cutoff
            if 0 < missing <= SETTINGS.nearly * (self.magnitude + abs(bound)):
                sharp, leaf = leaf_bound(self.problem, node.cuts, node.state)
                if sharp < bound:  # so little is missing that it may be rounding
                    node.bound, node.cuts = float_up(sharp), leaf.cuts
        return r

    # --- the tree ---------------------------------------------------------------------

    def _expand(self, node: Node) -> Iterable[Node]:
        """Work on a node; return the nodes that take its place."""
        self.nodes += 1
        pair = self._process(node)
        self.tree.report(node.bound, self.nodes, len(self.pool))
        if pair is not None:
            return self._branch(node, pair)
        if self.control.expired():
            return (node,)
        self.tree.leave(node.bound)
        return ()

    def _branch(self, node: Node, pair: tuple[int, int]) -> tuple[Node, Node]:
        unrelated, related = (
            self.propagator.close(node.state, np.array([pair]), np.array([value]))
            for value in (0, 1)
        )
        node.branching = pair
        node.children = _child(node, unrelated), _child(node, related)
        return node.children

    def _process(self, node: Node) -> tuple[int, int] | None:
        """Work on a node; return the pair to branch on, or None if it is closed or left."""
        last, stalled = math.inf, 0
        while True:
            self.lp.set_bounds(*self.space.box(node.state))
            result = self.lp.solve(self.control.remaining())
            if result.status == "infeasible":
                self._prove_infeasible(node)
                return None
            if result.status == "late":
                return None
            r = self._take_bound(node, result.multipliers)
            if self.tree.closes(node) or self.control.expired():
                return None
            if self._fix(node, result.multipliers, r):
                if node.infeasible:
                    return None
                continue
            x = np.clip(result.x, 0.0, 1.0)
            found = self._separate(x)
            y = self.space.matrix_of(x)
            fractional = np.abs(x - np.rint(x)) > SETTINGS.fractional
            if not found and not fractional.any():
                if self.problem.feasible.contains(Relation(y > 0.5)):  # not so if the LP stopped
                    self._offer(y > 0.5)
                return None if self.tree.closes(node) else self._any_open_pair(node)
            self._round(node.state, y - 0.5, y > 0.5)
            least = SETTINGS.stall * abs(last - self.incumbent.value)
            stalled = stalled + 1 if node.bound > last - least else 0
            last = node.bound
            if not found or (stalled >= SETTINGS.patience and fractional.any()):
                return self._choose_pair(x, fractional)

    def _any_open_pair(self, node: Node) -> tuple[int, int] | None:
        """Return a pair to branch on when the point is integral but the bound is not met.

        That happens only through the LP solver's tolerances; branching decides it.
        """
        open_pairs = np.argwhere(node.state < 0)
        return (int(open_pairs[0][0]), int(open_pairs[0][1])) if len(open_pairs) else None

    def _choose_pair(self, x: Floats, fractional: Flags) -> tuple[int, int]:
        """Return the pair whose decision matters most: far from 01, with much at stake."""
        candidates = np.flatnonzero(fractional)
        distance = 0.5 - np.abs(x[candidates] - 0.5)
        stake = np.abs(self.space.cost[candidates])
        k = candidates[np.argmax(distance * (stake + 1e-3 * (self.magnitude / len(x) + 1e-9)))]
        return int(self.space.pairs[k, 0]), int(self.space.pairs[k, 1])

    def _separate(self, x: Floats) -> int:
        y = self.space.matrix_of(x)
        limit = SETTINGS.rows_per_element * max(self.problem.shape)
        return sum(
            self._add(p.name, p.violated(y, tolerance=SETTINGS.violation, limit=limit))
            for p in self.properties
            if p.name == "transitive"
        )

    def _fix(self, node: Node, y: Floats, r: Floats) -> bool:
        """Fix pairs whose other value cannot beat the incumbent."""
        if self.best is None:
            return False
        lower, upper = self.space.box(node.state)
        bound, _ = self._bound(y, lower, upper)
        slack = bound - self.incumbent.exact_cutoff
        fixable = (lower < upper) & (np.abs(r) > slack + 1e-9 * (1 + abs(bound)))
        if not fixable.any():
            return False
        values = (r[fixable] > 0).astype(np.int64)
        closure = self.propagator.close(node.state, self.space.pairs[fixable], values)
        node.steps.append((self.pool.cuts(y), closure))
        if closure.conflict is not None:
            node.infeasible = True
            node.bound = -math.inf
            return True
        node.state = closure.state
        return True

    def _prove_infeasible(self, node: Node) -> None:
        """Find multipliers that show that the node's rows contradict each other."""
        lower, upper = self.space.box(node.state)
        m = self.space.size
        program = self.engine(
            np.append(np.zeros(m), -1.0),
            np.append(lower, 0.0),
            np.append(upper, np.inf),
            self.control.expired,
        )
        from scipy.sparse import csr_array, hstack

        column = csr_array(-np.ones((len(self.pool), 1)))
        program.add_rows(hstack([self.pool.matrix, column], format="csr"), self.pool.rhs)
        y = program.solve(self.control.remaining()).multipliers
        r, constant = self.pool.reduced_costs(np.zeros(m), y)
        if constant + float(np.where(r > 0, upper * r, lower * r).sum()) < -1e-9:
            node.cuts, node.infeasible, node.bound = self.pool.cuts(y), True, -math.inf

    # --- the end ------------------------------------------------------------------------

    def _stats(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "rows": len(self.pool)}

    def _outcome(self, root: Node) -> Outcome:
        relation = None if self.best is None else Relation(self.best)
        bound = self.incumbent.claim(self.tree.bound)
        return Outcome(relation, bound, root.proof(), self._stats())


def _child(node: Node, closure: Closure) -> Node:
    """Return the node in which one more pair is decided, and what follows from it."""
    if closure.conflict is not None:
        return Node(closure.state, -math.inf, node.cuts, [closure], infeasible=True)
    return Node(closure.state, node.bound, node.cuts, [closure])
