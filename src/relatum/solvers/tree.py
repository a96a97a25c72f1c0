"""The best-first tree of every exact search: nodes by falling bound, until none is of interest.

A family says what a node is and how it is expanded; the tree keeps the nodes that are open,
closes those whose bound is as good as the incumbent, and knows the bound of the whole.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from relatum.solvers.control import Control
from relatum.solvers.incumbent import Incumbent


class BoundedNode(Protocol):
    """What the tree asks of a node."""

    @property
    def bound(self) -> float:
        """No relation of the node has a larger value; -inf if there is none."""


N = TypeVar("N", bound=BoundedNode)


class Tree(Generic[N]):
    """Open nodes, best bound first.

    Parameters
    ----------
    incumbent : Incumbent
    control : Control
    most_nodes : float
        How many nodes may be opened.

    Attributes
    ----------
    limit : float
        The largest bound of a node that was closed, or left for good.
    ceiling : float
        A bound of the whole that is known from elsewhere, for reports.
    """

    def __init__(
        self, incumbent: Incumbent, control: Control, most_nodes: float = math.inf
    ) -> None:
        self.incumbent, self.control, self.most_nodes = incumbent, control, most_nodes
        self.limit = -math.inf
        self.ceiling = math.inf
        self._open: list[tuple[float, int, N]] = []
        self._opened = 0

    @property
    def bound(self) -> float:
        """The largest bound of what is closed, left or open."""
        return max(self.limit, -self._open[0][0] if self._open else -math.inf)

    def leave(self, bound: float) -> None:
        """Note that a node ends with this bound: nothing more is done about it."""
        self.limit = max(self.limit, bound)

    def closes(self, node: N) -> bool:
        """Close a node that holds nothing better than the incumbent; say whether it did."""
        if node.bound > self.incumbent.cutoff:
            return False
        self.leave(node.bound)
        return True

    def push(self, node: N) -> None:
        """Open a node, unless it closes at once."""
        if not self.closes(node):
            heapq.heappush(self._open, (-node.bound, self._opened, node))
            self._opened += 1

    def run(self, expand: Callable[[N], Iterable[N]]) -> None:
        """Expand nodes until none is open, or time is up.

        `expand` returns the nodes that take a node's place: none if it is closed or left,
        the node itself if there was no time to finish.
        """
        while self._open and self._opened < self.most_nodes and not self.control.expired():
            node = heapq.heappop(self._open)[2]
            if not self.closes(node):
                for other in expand(node):
                    self.push(other)

    def report(self, bound: float, nodes: int, rows: int) -> None:
        """Tell the monitor how things stand, with the bound of the node in hand."""
        inc = self.incumbent
        whole = max(min(max(bound, self.bound), self.ceiling), inc.value)
        self.control.report(inc.value + inc.offset, whole + inc.offset, nodes, rows)
