"""Counting which word comes before which."""

from libc.stdint cimport int32_t, int64_t


def count_precedences(
    const int32_t[::1] tokens, const int64_t[::1] offsets, int64_t[:, ::1] table
):
    """Add, to table[j, k], the number of times that a j stands before a k in one sequence.

    Parameters
    ----------
    tokens : (length,) int32, words of all sequences one after the other.
    offsets : (sequences + 1,) int64, where every sequence begins, and the end.
    table : (words, words) int64, changed in place.
    """
    cdef int64_t s, a, b, end, word
    with nogil:
        for s in range(offsets.shape[0] - 1):
            end = offsets[s + 1]
            for a in range(offsets[s], end):
                word = tokens[a]
                for b in range(a + 1, end):
                    table[word, tokens[b]] += 1
