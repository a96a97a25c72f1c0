"""What a correction says: splitting a cluster, joining two or pinning a record, as pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relatum.errors import DataError

MOST = 5000  # pairs of one correction, which are rows of the file of answers
Pairs = list[tuple[int, int, bool]]


def split(cluster: Sequence[int], chosen: Iterable[int]) -> Pairs:
    """Return that some elements of a cluster are different from all its others.

    Parameters
    ----------
    cluster : sequence of int
        All elements of the cluster.
    chosen : iterable of int

    Examples
    --------
    >>> split([1, 2, 3], [3])
    [(1, 3, False), (2, 3, False)]
    """
    out = {int(e) for e in chosen} & set(cluster)
    rest = [e for e in cluster if e not in out]
    if not out or not rest:
        raise DataError("Choose some of the records of a cluster to split off, not all of them.")
    return _few([(a, b, False) for a in rest for b in sorted(out)])


def join(first: Sequence[int], second: Sequence[int]) -> Pairs:
    """Return that all elements of two clusters are the same.

    Examples
    --------
    >>> join([1, 2], [3])
    [(1, 2, True), (1, 3, True)]
    """
    if set(first) & set(second):
        raise DataError("Choose two different clusters to join.")
    every = [*first, *second]
    return _few([(every[0], other, True) for other in every[1:]])


def pin(element: int, cluster: Sequence[int], others: Sequence[int]) -> Pairs:
    """Return that an element is where it belongs: with its cluster, or alone.

    Parameters
    ----------
    element : int
    cluster : sequence of int
        All elements of its cluster.
    others : sequence of int
        The other elements of its component.

    Examples
    --------
    >>> pin(2, [1, 2], [3]), pin(3, [3], [1, 2])
    ([(2, 1, True)], [(3, 1, False), (3, 2, False)])
    """
    mates = [(element, e, True) for e in cluster if e != element]
    apart = [(element, e, False) for e in others if e not in set(cluster)]
    if not mates and not apart:
        raise DataError("This record is alone in its component; there is nothing to pin it to.")
    return _few(mates or apart)


def _few(pairs: Pairs) -> Pairs:
    if len(pairs) > MOST:
        raise DataError(
            f"This says something of {len(pairs):,} pairs, and at most {MOST:,} are taken at once; "
            "choose fewer records."
        )
    return pairs
