"""Counting which word comes before which."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def count_precedences(tokens, offsets, table):
    """Add, to table[j, k], the number of times that a j stands before a k in one sequence.

    Parameters
    ----------
    tokens : (length,) int32, words of all sequences one after the other.
    offsets : (sequences + 1,) int64, where every sequence begins, and the end.
    table : (words, words) int64, changed in place.
    """
    for s in range(len(offsets) - 1):
        end = offsets[s + 1]
        for a in range(offsets[s], end):
            row = table[tokens[a]]
            for b in range(a + 1, end):
                row[tokens[b]] += 1
