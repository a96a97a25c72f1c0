"""The arrays that kernels of partitions work on, as named tuples, and empty ones of them.

Kernels take these from Python and read them through views (`RulesView` and the like), whose
arrays have types known when the kernels are compiled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.kernels.hashing import table_length


class Rules(NamedTuple):
    """Sizes of the elements and the rules that every set of a partition obeys; see `rules`."""

    sizes: NDArray[np.int64]  # int64 (n,)
    cap: int  # no set has a larger sum of sizes
    cannot_ptr: NDArray[np.int64]  # int64 (n + 1,)
    cannot_idx: NDArray[np.int64]  # int64, symmetric: the elements that may not join element v
    group_ptr: NDArray[np.int64]  # int64 (n + 1,)
    group_idx: NDArray[np.int64]  # int64: the groups of element v
    n_groups: int


def new_occupancy(rules: Rules) -> NDArray[np.int64]:
    """Empty hash set, large enough for every (set, group) pair of any partition."""
    entries = rules.group_idx.shape[0] if rules.n_groups > 0 else 0
    return np.full(table_length(2 * entries + 2), -1, np.int64)


class DenseState(NamedTuple):
    """A partition, and the sums that moves need; see `dense`."""

    labels: NDArray[np.int32]  # int32 (n,): row of the table, -1 where not yet inserted
    table: NDArray[Any]  # float64 (capacity, n); float32 where single precision will do
    own: NDArray[np.float64]  # float64 (n,): table[labels[v], v]
    size: NDArray[np.int64]  # int64 (capacity,): sum of the sizes of the elements of a set
    slots: NDArray[np.int32]  # int32 (capacity,): a permutation of the rows, those in use first
    place: NDArray[np.int32]  # int32 (capacity,): its inverse
    counters: NDArray[np.int64]  # int64 (2,): rows in use; moves that found no free row
    occupied: NDArray[np.int64]  # int64: see `rules`


def new_state(rules: Rules, capacity: int, dtype: type = np.float64) -> DenseState:
    """State in which no element has been inserted yet, with sums of some type."""
    n = rules.sizes.shape[0]
    return DenseState(
        np.full(n, -1, np.int32),
        np.zeros((capacity, n), dtype),
        np.zeros(n),
        np.zeros(capacity, np.int64),
        np.arange(capacity, dtype=np.int32),
        np.arange(capacity, dtype=np.int32),
        np.zeros(2, np.int64),
        new_occupancy(rules),
    )


def grow_state(state: DenseState, capacity: int) -> DenseState:
    """Return the same state with room for ``capacity`` sets."""
    n, old = state.labels.shape[0], state.size.shape[0]
    more = np.arange(old, capacity, dtype=np.int32)
    state.counters[1] = 0
    return state._replace(
        table=np.concatenate([state.table, np.zeros((len(more), n), state.table.dtype)]),
        size=np.concatenate([state.size, np.zeros(len(more), np.int64)]),
        slots=np.concatenate([state.slots, more]),
        place=np.concatenate([state.place, more]),
    )


class SparseGraph(NamedTuple):
    """Listed pairs, both directions, in compressed rows; see `sparse`."""

    indptr: NDArray[np.int64]  # int64 (n + 1,)
    indices: NDArray[np.int32]  # int32
    excess: NDArray[np.float64]  # float64: score - background
    background: float


class SparseState(NamedTuple):
    """A partition, and what moves need; see `sparse`."""

    labels: NDArray[np.int32]  # int32 (n,)
    size: NDArray[np.int64]  # int64 (n,): sum of the sizes of the elements of a set
    free: NDArray[np.int32]  # int32 (n,): a stack of unused numbers
    counters: NDArray[np.int64]  # int64 (3,): unused numbers; begin and length of the queue
    occupied: NDArray[np.int64]  # int64: see `rules`
    queue: NDArray[np.int32]  # int32 (n,): a ring of elements to look at
    queued: NDArray[np.bool_]  # bool (n,)
    sums: NDArray[np.float64]  # float64 (n,): scratch, zero between visits
    near: NDArray[np.int32]  # int32 (n,): scratch, the sets next to an element
    seen: NDArray[np.bool_]  # bool (n,): scratch, False between visits


class GreedyState(NamedTuple):
    """Sets, the entries of each, sums between sets, and a heap of gains; see `greedy`."""

    labels: NDArray[np.int32]  # int32 (n,)
    size: NDArray[np.int64]  # int64 (n,)
    count: NDArray[np.int64]  # type: ignore[assignment]  # int64 (n,): elements of a set
    first: NDArray[np.int32]  # int32 (n,): first element of a set; following: next
    last: NDArray[np.int32]  # int32 (n,)
    next: NDArray[np.int32]  # int32 (n,)
    entries: NDArray[np.int64]  # int64 (n, 3): first and last entry of a set, number of entries
    chain: NDArray[np.int64]  # int64 (nnz,): the next entry of the same set
    keys: NDArray[np.int64]  # int64: hash map, -1 where empty
    sums: NDArray[np.float64]  # float64: its values
    heap_loss: NDArray[np.float64]  # float64: gains, negative
    heap_pair: NDArray[np.int64]  # int64
    counters: NDArray[np.int64]  # int64 (2,): length of the heap; number of sets
    occupied: NDArray[np.int64]  # int64: see `rules`


class Chains(NamedTuple):
    """A partition whose sets are linked lists of their elements, and scratch space.

    See `kernighan_lin`.
    """

    state: SparseState
    first: NDArray[np.int32]  # int32 (n,): first element of a set, -1 if empty
    next: NDArray[np.int32]  # int32 (n,)
    previous: NDArray[np.int32]  # int32 (n,)
    changed: NDArray[np.int64]  # int64 (n,): the pass in which a set last changed
    local: NDArray[np.int32]  # int32 (n,): scratch, place of an element in the chain, -1 otherwise
