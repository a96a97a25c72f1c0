"""A node of the branch-and-cut tree for partitions: its cut loop and its part of the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from relatum.array_types import Index
from relatum.lp import RowBlock
from relatum.problem import condensed_places
from relatum.proof import Branch, Contract, Cuts, Fix, Leaf, Proof
from relatum.solvers.partition.exact.relaxation import Relaxation
from relatum.solvers.reductions import connected

Pool = dict[str, RowBlock]


def pool_cuts(pool: Pool) -> tuple[Cuts, ...]:
    """Return the rows of a pool that have weight."""
    found = (Cuts(k, b.index, b.multipliers).positive() for k, b in pool.items() if len(b))
    return tuple(c for c in found if len(c))


@dataclass(eq=False)
class _Stage:
    """What was proved before a step was taken, and the step."""

    bound: float
    pool: Pool
    step: Callable[[Proof], Proof]


@dataclass(eq=False)
class Node:
    """A relaxation, the elements behind its nodes, and what has been proved so far.

    Attributes
    ----------
    relaxation : Relaxation
    labels : int64 array
        The node of each element of the root problem.
    contracts : bool
        Whether related pairs are contracted (not under a cap, whose rows count elements).
    inherited : float
        The bound of the parent, which holds here too.
    empty : bool
        Whether what is decided contradicts itself.
    ended : (bound, proof), optional
        What another method than cuts has proved of the node as it is now.
    """

    relaxation: Relaxation
    labels: Index
    contracts: bool = True
    depth: int = 0
    inherited: float = np.inf
    empty: bool = False
    stages: list[_Stage] = field(default_factory=list)
    branch: tuple[tuple[int, int], Node, Node] | None = None
    ended: tuple[float, Proof] | None = None

    def __post_init__(self) -> None:
        self.record()

    def record(self) -> None:
        """Take the bound of the relaxation, and the rows that prove it, for the best."""
        self.best_bound = self.relaxation.bound
        self.best_pool: Pool = dict(self.relaxation.lp.pool)

    def run(self, iterations: int) -> float:
        """Iterate the relaxation and remember its best bound."""
        self.relaxation.lp.run(iterations)
        if self.relaxation.bound < self.best_bound:
            self.record()
        return self.relaxation.bound

    @property
    def bound(self) -> float:
        """The best bound that is proved for the node by now."""
        if self.empty:
            return -np.inf
        other = np.inf if self.ended is None else self.ended[0]
        return min([self.inherited, self.best_bound, other, *(s.bound for s in self.stages)])

    def fix_by_reduced_cost(self, cutoff: float, least_share: float = 0.05) -> bool:
        """Fix and contract the pairs whose other value is bounded by the cutoff.

        Nothing happens unless that is worth the room it takes in the certificate.
        """
        r = self.relaxation
        columns, values = r.fixable(cutoff)
        joins = int(np.count_nonzero(values))
        if len(columns) < least_share * r.n_open and joins < 0.03 * r.n:
            return False
        i, j = (v[columns] for v in np.triu_indices(r.n, 1))
        pairs, cuts = np.column_stack([i, j]).astype(np.int64), pool_cuts(r.lp.pool)
        self._advance(lambda then: Fix(cuts, pairs, values, then))
        r.fix(columns, values)
        if joins and self.contracts:
            self.contract()
        else:
            r.lp.evaluate()
        self.record()
        return True

    def _advance(self, step: Callable[[Proof], Proof]) -> None:
        self.stages.append(_Stage(self.best_bound, self.best_pool, step))
        self.best_bound, self.best_pool = np.inf, {}

    def contract(self) -> None:
        """Make related nodes one; a node that is unrelated to itself ends the branch."""
        r = self.relaxation
        labels = connected(r.n, [np.nonzero(r.state == 1)])
        self._advance(lambda then: Contract(labels, then))
        i, j = np.nonzero(r.state == 0)
        self.empty = bool((labels[i] == labels[j]).any())
        self.relaxation = r.contracted(labels)
        self.labels = labels[self.labels]

    def child(self, pair: tuple[int, int], related: bool) -> Node:
        """Return the node in which the pair is related, or is not."""
        r = self.relaxation.copy()
        column = condensed_places(np.array([pair[0]]), np.array([pair[1]]), r.n)
        r.fix(column, np.array([related]))
        r.lp.evaluate()
        node = Node(r, self.labels, self.contracts, self.depth + 1, self.bound)
        if related and self.contracts:
            node.contract()
            node.record()
        return node

    def split(self, pair: tuple[int, int], unrelated: Node, related: Node) -> None:
        """Let two children take the node's place."""
        self.branch = (pair, unrelated, related)
        self.release()

    def release(self) -> None:
        """Let go of the relaxation: the node is closed or split."""
        self.relaxation = None  # type: ignore[assignment]

    def proof(self, limit: float) -> Proof:
        """Return a proof by bounds that do not exceed the limit, as floats go.

        The shortest one is taken: where a bound of an earlier stage is enough, what came
        after it is left out.
        """
        for k, stage in enumerate(self.stages):
            if stage.bound <= limit:
                return self._wrapped(Leaf(pool_cuts(stage.pool)), k)
        end: Proof
        if self.ended is not None and self.ended[0] <= limit < self.best_bound:
            end = self.ended[1]
        elif self.branch is not None and self.best_bound > limit:
            pair, unrelated, related = self.branch
            end = Branch(pair, unrelated.proof(limit), related.proof(limit))
        else:
            end = Leaf(pool_cuts(self.best_pool))
        return self._wrapped(end, len(self.stages))

    def _wrapped(self, proof: Proof, n_stages: int) -> Proof:
        for stage in reversed(self.stages[:n_stages]):
            proof = stage.step(proof)
        return proof
