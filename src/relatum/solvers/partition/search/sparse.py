"""Multilevel search, annealing and recombination of partitions over listed pairs."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from relatum.array_types import Floats, Index
from relatum.kernels.partition.records import Rules, SparseGraph
from relatum.kernels.partition.sparse import (
    anneal_sparse,
    contract_sparse,
    move_queued,
    new_sparse_state,
    queue_all,
    sparse_value,
)
from relatum.kernels.randomness import seed_state
from relatum.solvers.partition.arrays import contracted_rules, renumbered
from relatum.solvers.partition.search.dense import Stop, intersection
from relatum.solvers.partition.search.effort import SETTINGS

GUMBELS: Floats = np.random.default_rng(20141).gumbel(size=1 << 14)


class SparseSearch:
    """Searches over the partitions of one sparse instance.

    Parameters
    ----------
    graph : SparseGraph
    rules : Rules
    stop : callable
        Asked often; once it says True, every search returns what it has.
    """

    def __init__(self, graph: SparseGraph, rules: Rules, stop: Stop) -> None:
        self.graph, self.rules, self.stop = graph, rules, stop
        self.n, self.n_entries = len(rules.sizes), len(graph.indices)
        # without a copy of the scores, which takes longer than a look at the clock may
        most = graph.excess.max(initial=graph.background), -graph.excess.min(initial=0.0)
        self.tolerance = 1e-9 * float(max(most[0], most[1], -graph.background))

    @cached_property
    def unit(self) -> float:
        """The typical score, which temperatures are relative to."""
        scores = np.abs(self.graph.excess)
        # scores far larger than most act as rules: temperatures ignore their size
        some = scores[:: 1 + scores.size // SETTINGS.median_of]
        middle = float(np.median(some)) if scores.size else 0.0
        if middle > 0:
            scores = np.minimum(scores, SETTINGS.outlier * middle)
        return float(np.sqrt(np.dot(scores, scores) / max(1, scores.size)))

    def value(self, labels: Index) -> float:
        """Sum of the scores of the pairs between elements of one set."""
        return float(sparse_value(self.graph, self.rules, labels, int(labels.max()) + 1))

    def settle(self, labels: Index, rng: np.random.Generator) -> Index:
        """Move single elements until none gains."""
        state = new_sparse_state(self.rules, labels)
        queue_all(state, rng.permutation(self.n).astype(np.int32))
        visits = max(1, int(SETTINGS.listed_work * self.n / (1 + self.n_entries)))
        while state.counters[2] > 0 and not self.stop():
            move_queued(self.graph, self.rules, state, self.tolerance, visits)
        return renumbered(state.labels)

    def climb(self, labels: Index, rng: np.random.Generator) -> Index:
        """Move elements, contract sets to elements, and so on, until nothing gains."""
        labels = self.settle(labels, rng)
        while not self.stop():
            m = int(labels.max()) + 1
            if m == self.n:
                break
            above = self.contracted(labels).climb(np.arange(m), rng)
            if int(above.max()) + 1 == m:
                break
            labels = self.settle(above[labels], rng)
        return labels

    def anneal(self, labels: Index, hot: float, sweeps: int, seed: int) -> Index:
        """Anneal from ``hot`` times the typical score down to almost nothing, then climb."""
        state = new_sparse_state(self.rules, labels)
        random_state = seed_state(seed)
        schedule = self.unit * np.linspace(hot, min(hot, SETTINGS.listed_cold), sweeps)
        step = max(1, int(SETTINGS.listed_work / (1 + self.n_entries + self.n)))
        for begin in range(0, sweeps, step):
            if self.stop():
                break
            part = schedule[begin : begin + step]
            anneal_sparse(self.graph, self.rules, state, part, GUMBELS, random_state)
        return self.climb(renumbered(state.labels), np.random.default_rng(seed))

    def contracted(self, labels: Index) -> SparseSearch:
        """Return the search in which the sets of a partition are elements."""
        m = int(labels.max()) + 1
        graph = contract_sparse(self.graph, labels, m)
        return SparseSearch(graph, contracted_rules(self.rules, labels, m), self.stop)


def recombine(search: SparseSearch, parents: list[Index], sweeps: int, seed: int) -> Index:
    """Contract what all parents agree on, anneal the rest from the first parent, climb."""
    cells = parents[0]
    for other in parents[1:]:
        cells = intersection(cells, other)
    small = search.contracted(cells)
    labels = np.zeros(small.n, np.int64)
    labels[cells] = parents[0]
    found = small.anneal(labels, 0.4, sweeps, seed)
    return search.climb(found[cells], np.random.default_rng(seed))
