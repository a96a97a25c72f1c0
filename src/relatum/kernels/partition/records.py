"""The arrays that kernels of partitions work on, as named tuples.

Kernels take these from Python and read them through views (`RulesView` and the like), whose
arrays have types known when the kernels are compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Rules(NamedTuple):
    """Sizes of the elements and the rules that every set of a partition obeys; see `rules`."""

    sizes: np.ndarray  # int64 (n,)
    cap: int  # no set has a larger sum of sizes
    cannot_ptr: np.ndarray  # int64 (n + 1,)
    cannot_idx: np.ndarray  # int64, symmetric: the elements that may not join element v
    group_ptr: np.ndarray  # int64 (n + 1,)
    group_idx: np.ndarray  # int64: the groups of element v
    n_groups: int


class DenseState(NamedTuple):
    """A partition, and the sums that moves need; see `dense`."""

    labels: np.ndarray  # int32 (n,): row of the table, -1 where not yet inserted
    table: np.ndarray  # float64 (capacity, n); float32 where single precision will do
    own: np.ndarray  # float64 (n,): table[labels[v], v]
    size: np.ndarray  # int64 (capacity,): sum of the sizes of the elements of a set
    slots: np.ndarray  # int32 (capacity,): a permutation of the rows, those in use first
    place: np.ndarray  # int32 (capacity,): its inverse
    counters: np.ndarray  # int64 (2,): rows in use; moves that found no free row
    occupied: np.ndarray  # int64: see `rules`


class SparseGraph(NamedTuple):
    """Listed pairs, both directions, in compressed rows; see `sparse`."""

    indptr: np.ndarray  # int64 (n + 1,)
    indices: np.ndarray  # int32
    excess: np.ndarray  # float64: score - background
    background: float


class SparseState(NamedTuple):
    """A partition, and what moves need; see `sparse`."""

    labels: np.ndarray  # int32 (n,)
    size: np.ndarray  # int64 (n,): sum of the sizes of the elements of a set
    free: np.ndarray  # int32 (n,): a stack of unused numbers
    counters: np.ndarray  # int64 (3,): unused numbers; begin and length of the queue
    occupied: np.ndarray  # int64: see `rules`
    queue: np.ndarray  # int32 (n,): a ring of elements to look at
    queued: np.ndarray  # bool (n,)
    sums: np.ndarray  # float64 (n,): scratch, zero between visits
    near: np.ndarray  # int32 (n,): scratch, the sets next to an element
    seen: np.ndarray  # bool (n,): scratch, False between visits


class GreedyState(NamedTuple):
    """Sets, the entries of each, sums between sets, and a heap of gains; see `greedy`."""

    labels: np.ndarray  # int32 (n,)
    size: np.ndarray  # int64 (n,)
    count: np.ndarray  # int64 (n,): elements of a set
    first: np.ndarray  # int32 (n,): first element of a set; following: next
    last: np.ndarray  # int32 (n,)
    next: np.ndarray  # int32 (n,)
    entries: np.ndarray  # int64 (n, 3): first and last entry of a set, number of entries
    chain: np.ndarray  # int64 (nnz,): the next entry of the same set
    keys: np.ndarray  # int64: hash map, -1 where empty
    sums: np.ndarray  # float64: its values
    heap_loss: np.ndarray  # float64: gains, negative
    heap_pair: np.ndarray  # int64
    counters: np.ndarray  # int64 (2,): length of the heap; number of sets
    occupied: np.ndarray  # int64: see `rules`


class Chains(NamedTuple):
    """A partition whose sets are linked lists of their elements, and scratch space.

    See `kernighan_lin`.
    """

    state: SparseState
    first: np.ndarray  # int32 (n,): first element of a set, -1 if empty
    next: np.ndarray  # int32 (n,)
    previous: np.ndarray  # int32 (n,)
    changed: np.ndarray  # int64 (n,): the pass in which a set last changed
    local: np.ndarray  # int32 (n,): scratch, place of an element in the chain, -1 otherwise
