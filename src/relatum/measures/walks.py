"""Random walks between elements that share neighbours, and how slowly they leave a cluster.

The similarity of two elements is the share of neighbours that they have in common (Tanimoto's, of
their sets of nearest elements). It depends on ranks of distances only, not on their scale, and the
matrix of similarities has no negative eigenvalue. A walk goes from an element to another with
probability proportional to it. Its modes die out, each with a time of its own: slow ones say in
which cluster a walk is, fast ones where in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from relatum.array_types import Floats, Index

# Modes of one continuous cluster have times in ratios of at most 4: those of a segment or a ring
# are as 1, 1/4, 1/9, ...; in more dimensions they are closer.
CONTINUUM = 4.0
_DENSE = 600  # elements up to which all modes are computed
_SLOWEST = 1e9  # steps; walks between parts that nothing connects would take for ever
_MIXED = 4.0  # times of the fastest slow mode after which nothing of faster ones is left


class SlowModes(NamedTuple):
    """The slow modes of a walk.

    Attributes
    ----------
    values : array (modes,)
        How much of each mode is left after a step.
    vectors : array (elements, modes)
        Right eigenvectors of the walk's transition probabilities.
    time : float
        Steps after which walks have mixed within clusters, and not yet left them.
    separation : float
        Ratio of the times of the last slow and the first fast mode.
    """

    values: Floats
    vectors: Floats
    time: float
    separation: float


def neighbour_sets(table: NDArray[Any], known: NDArray[Any], size: int) -> Index:
    """Return the numbers of the `size` rows of `known` that are nearest to each row of `table`."""
    from sklearn.neighbors import NearestNeighbors  # imports much: only where it is used

    found = NearestNeighbors(n_neighbors=size).fit(known).kneighbors(table, return_distance=False)
    return np.asarray(found, dtype=np.int64)


def similarities(sets: Index, known: Index, n: int) -> Any:
    """Return the share of numbers below n that two sets have in common, of their union, sparse."""
    common = (_indicators(sets, n) @ _indicators(known, n).T).tocsr()
    common.data = common.data / (sets.shape[1] + known.shape[1] - common.data)
    return common


def _indicators(sets: Index, n: int) -> Any:
    rows, size = sets.shape
    ends = np.arange(rows + 1) * size
    return sparse.csr_array((np.ones(sets.size), sets.ravel(), ends), shape=(rows, n))


def slow_modes(similarity: Any, most: int) -> SlowModes:
    """Return the slow modes of the walk by a symmetric matrix of similarities, at most `most`."""
    degree = np.ravel(similarity.sum(axis=0))
    scale = 1.0 / np.sqrt(degree)
    even = similarity.multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
    values, vectors = _largest(even, most + 1)
    times = -1.0 / np.log(np.clip(values, 1e-9, 1.0 - 1.0 / _SLOWEST))
    count, ratio = _count_of_slow(times)
    after = times[count] if count < len(times) else times[count - 1]
    time = float(after * min(np.sqrt(ratio), _MIXED))
    slow = np.asarray(vectors[:, :count] * scale[:, None])
    return SlowModes(values[:count], slow, time, ratio)


def _count_of_slow(times: Floats) -> tuple[int, float]:
    """Return how many modes are slow, and by which factor they are slower than the next one.

    The finest gap that no continuum has, if there is one. Else the largest, compared with what the
    modes of one cluster in a plane have, which are as 1, 1/2, 1/3, ... on average. Modes that are
    gone after one step are not slow.
    """
    ratios = times[:-1] / times[1:]
    count = np.arange(1, len(ratios) + 1)
    able = (count > 1) & (times[:-1] > 1.0)
    if not able.any():
        return 1, 1.0
    sure = np.flatnonzero(able & (ratios >= CONTINUUM))
    compared = np.where(able, ratios * (count - 1) / count, 0.0)
    best = int(sure[-1] if len(sure) else np.argmax(compared))
    return best + 1, float(ratios[best])


def _largest(matrix: Any, most: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix, and their vectors, part by part.

    Parts that nothing connects have an eigenvalue of 1 each, which iterations would confuse.
    """
    n = matrix.shape[0]
    parts, part = connected_components(matrix, directed=False)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(parts + 1))
    found = []
    for k in range(parts):
        members = order[ends[k] : ends[k + 1]]
        values, vectors = _of_part(matrix[members][:, members], most)
        found += [(value, members, v) for value, v in zip(values, vectors.T, strict=True)]
    found.sort(key=lambda one: -one[0])
    kept = found[:most]
    vectors = np.zeros((n, len(kept)))
    for k, (_, members, v) in enumerate(kept):
        vectors[members, k] = v
    return np.array([value for value, *_ in kept]), vectors


def _of_part(matrix: Any, most: int) -> tuple[Floats, Floats]:
    n = matrix.shape[0]
    if n <= max(_DENSE, 2 * most):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        from scipy.sparse.linalg import eigsh

        start = 1.0 + np.arange(n) / n  # the same at every call
        values, vectors = eigsh(matrix, k=most, which="LA", v0=start)
    last = np.argsort(-values, kind="stable")[:most]
    return values[last], vectors[:, last]
