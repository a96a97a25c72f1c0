"""A node of the general branch and cut, and the proof of what is below it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from relatum.proof import Branch, Closure, Cuts, Fix, Leaf, Proof


@dataclass(eq=False)
class Node:
    """A subproblem: some pairs fixed, and what is known about it.

    Attributes
    ----------
    state : int8 array
        Fixed pairs, closed under the properties.
    bound : float
        A valid upper bound on the values of the node's relations.
    cuts : tuple of Cuts
        Rows and multipliers that prove the bound.
    steps : list
        What was deduced at the node, in order: closures, and fixings by reduced cost.
    branching : pair, or None
    children : (unrelated, related) or None
    """

    state: NDArray[np.int8]
    bound: float
    cuts: tuple[Cuts, ...] = ()
    steps: list[Closure | tuple[tuple[Cuts, ...], Closure]] = field(default_factory=list)
    branching: tuple[int, int] | None = None
    children: tuple[Node, Node] | None = None
    infeasible: bool = False

    def proof(self) -> Proof:
        """Return the proof of the whole subtree."""
        # children before parents, without recursion: trees can be deep
        order: list[Node] = [self]
        for node in order:
            order += node.children or ()
        done: dict[int, Proof] = {}
        for node in reversed(order):
            if node.children is None:
                inner: Proof = Leaf(node.cuts, node.infeasible)
            else:
                assert node.branching is not None
                no, yes = (done[id(child)] for child in node.children)
                inner = Branch(node.branching, no, yes)
            done[id(node)] = _wrap(node, inner)
        return done[id(self)]


def _wrap(node: Node, inner: Proof) -> Proof:
    for step in reversed(node.steps):
        if isinstance(step, Closure):
            inner = step.proof(inner)
        else:
            cuts, closure = step
            given = closure.log[closure.log[:, 3] < 0]
            inner = Fix(cuts, given[:, :2], given[:, 2].astype(np.bool_), closure.proof(inner))
    return inner
