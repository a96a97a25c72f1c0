"""How an exact search of partitions begins: the problem as arrays, and a first partition."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.partition.polish import perturb_and_polish, polish, value_of
from relatum.problem import Partition, Problem
from relatum.proof import OPTIMAL_GAP, Leaf, Proof, find_conflict, grid_of, sums_are_exact
from relatum.solvers.control import Control
from relatum.solvers.incumbent import Incumbent
from relatum.solvers.partition.arrays import square_arrays
from relatum.solvers.partition.exact.relaxation import contracted_weights
from relatum.solvers.reductions import connected
from relatum.solvers.registry import Outcome


class PartitionIncumbent(Incumbent):
    """Labels and value of the best feasible partition so far.

    Elements are those of the root problem; must-links are contracted inside.

    Parameters
    ----------
    weights : float64 array (n, n)
        Symmetric, zero diagonal.
    state : int8 array (n, n)
        -1 open, 0 unrelated, 1 related.
    linked : int64 array (n,)
        Elements with equal numbers are related.
    constant : float
    cap : int
        The largest number of elements a set may hold.
    gap : float
        Bits that are allowed between value and bound.
    expired : callable, optional
        Asked often; once it says True, searches end.
    """

    def __init__(
        self,
        weights: Floats,
        state: NDArray[np.int8],
        linked: Index,
        constant: float,
        cap: int,
        gap: float = OPTIMAL_GAP,
        expired: Callable[[], bool] | None = None,
    ) -> None:
        self.expired = expired
        super().__init__(grid=grid_of(weights[np.triu_indices(len(weights), 1)]), gap=gap)
        self.linked = linked
        self.weights, inside = contracted_weights(weights, linked)
        self.constant = constant + inside
        g = len(self.weights)
        i, j = np.nonzero(state == 0)
        self.forbidden = np.zeros((g, g), dtype=np.bool_)
        self.forbidden[linked[i], linked[j]] = True
        far = 2 * np.abs(self.weights).sum() + 1.0
        self.guarded = np.where(self.forbidden, -far, self.weights)
        self.sizes = np.bincount(linked).astype(np.int64)
        self.cap = cap
        self.least = 1e-9 * (1.0 + float(np.abs(self.weights).max(initial=0.0)))
        self.sets: Index = np.arange(g)
        self.offer(self.sets)

    @property
    def labels(self) -> Index:
        """The best partition, one label per element of the root problem."""
        return self.sets[self.linked]

    def offer(self, sets: Index) -> bool:
        """Take the partition if it is feasible and better; say whether it was."""
        value = self.constant + float(value_of(self.weights, sets))
        if not value > self.value or not self._feasible(sets):
            return False
        self.sets, self.value = sets.copy(), value
        return True

    def _feasible(self, sets: Index) -> bool:
        if np.bincount(sets, weights=self.sizes).max() > self.cap:
            return False
        i, j = np.nonzero(self.forbidden)
        return not bool((sets[i] == sets[j]).any())

    def start(self, labels: Index) -> None:
        """Start from a partition of the root problem's elements, if it is feasible."""
        sets = np.zeros(len(self.weights), dtype=np.int64)
        sets[self.linked] = labels
        if np.array_equal(sets[self.linked], labels):
            self.offer(np.unique(sets, return_inverse=True)[1].astype(np.int64))

    def search(self, iterations: int, seed: int) -> bool:
        """Search locally from the best partition."""
        return self._improve(self.sets.copy(), iterations, seed)

    def round(self, x: Floats, labels: Index, iterations: int, seed: int) -> bool:
        """Partition the nodes of a relaxation by its point, then search from there.

        ``labels`` maps elements of the root problem to the nodes of x.
        """
        sets = np.arange(len(x))
        sizes = np.bincount(labels, minlength=len(x)).astype(np.int64)
        polish(x - 0.5 * (1 - np.eye(len(x))), sizes, self.cap, sets, 1e-9, self.expired)
        return self.search_from(sets[labels], iterations, seed)

    def search_from(self, labels: Index, iterations: int, seed: int) -> bool:
        """Search locally from a partition of the root problem's elements."""
        of_linked = np.zeros(len(self.weights), dtype=np.int64)
        of_linked[self.linked] = labels
        start = np.unique(of_linked, return_inverse=True)[1].astype(np.int64)
        return self._improve(start, iterations, seed)

    def _improve(self, sets: Index, iterations: int, seed: int) -> bool:
        limits = iterations, seed % 2**31
        perturb_and_polish(
            self.guarded, self.sizes, self.cap, sets, self.least, *limits, self.expired
        )
        return self.offer(np.unique(sets, return_inverse=True)[1].astype(np.int64))


@dataclass(frozen=True, eq=False)
class Opening:
    """A partition problem as arrays, and a first partition.

    Attributes
    ----------
    weights : float64 array (n, n)
        Symmetric, zero diagonal.
    state : int8 array (n, n)
        -1 open, 0 unrelated, 1 related; the diagonal is open.
    constant : float
        What the diagonal adds to every value.
    cap : int
    incumbent : PartitionIncumbent
    """

    weights: Floats
    state: NDArray[np.int8]
    constant: float
    cap: int
    incumbent: PartitionIncumbent


def opening_of(problem: Problem, control: Control) -> Opening | None:
    """Write a problem down for an exact search; None if its evidence contradicts itself."""
    n = problem.n
    weights, state, constant = square_arrays(problem)
    linked = connected(n, [np.nonzero(state == 1)])
    cap = n if problem.feasible.cap is None else problem.feasible.cap
    i, j = np.nonzero(state == 0)
    if bool((linked[i] == linked[j]).any()) or int(np.bincount(linked).max()) > cap:
        return None
    limits = control.gap, control.expired
    incumbent = PartitionIncumbent(weights, state, linked, constant, cap, *limits)
    if not sums_are_exact(problem):
        incumbent.grid = 0.0
    if isinstance(control.start, Partition):
        incumbent.start(control.start.labels)
    return Opening(weights, state, constant, cap, incumbent)


def no_partition(problem: Problem) -> Outcome:
    """Say that evidence contradicts itself, with a proof where one is known."""
    conflict = find_conflict(problem)
    proof: Proof = Leaf(infeasible=True) if conflict is None else conflict.certificate.proof
    return Outcome(None, -math.inf, proof)
