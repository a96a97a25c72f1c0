"""Rows of sparse tables: which are nearest to each other, and inner products of pairs."""

from libc.stdint cimport int32_t, int64_t


cdef void _put(
    int64_t j, float like, int64_t[:, ::1] near, float[:, ::1] likes, int64_t row, int64_t count
) noexcept nogil:
    """Put a row into a list of the nearest, in its place: the nearer first, then the smaller."""
    cdef int64_t k = count
    while k > 0 and (
        likes[row, k - 1] < like or (likes[row, k - 1] == like and near[row, k - 1] > j)
    ):
        if k < near.shape[1]:
            likes[row, k], near[row, k] = likes[row, k - 1], near[row, k - 1]
        k -= 1
    if k < near.shape[1]:
        likes[row, k], near[row, k] = like, j


def nearest_rows(
    tuple rows, tuple columns, const int64_t[::1] groups, int64_t start,
    int64_t[:, ::1] near, float[:, ::1] likes, float[::1] sums, int64_t[::1] touched
):
    """Write the rows nearest to those from `start` on, by inner products above zero.

    ``rows`` and ``columns`` are (pointers, indices, values) of one table, by rows and by columns.
    Rows of the same group, if there are groups, are left out. ``near`` holds -1 where there are no
    more; ``sums`` is as long as the table, zero before and after, and ``touched`` as long.
    """
    cdef const int64_t[::1] pointers = rows[0], turned = columns[0]
    cdef const int32_t[::1] terms = rows[1], members = columns[1]
    cdef const float[::1] values = rows[2], weights = columns[2]
    cdef int64_t row, i, j, p, q, k, count, found
    cdef int64_t most = near.shape[1]
    cdef bint grouped = groups.shape[0] > 0
    cdef float value, like
    with nogil:
        for row in range(near.shape[0]):
            i = start + row
            count = 0
            for p in range(pointers[i], pointers[i + 1]):
                value = values[p]
                for q in range(turned[terms[p]], turned[terms[p] + 1]):
                    j = members[q]
                    if sums[j] == 0:
                        touched[count] = j
                        count += 1
                    sums[j] += value * weights[q]
            found = 0
            for k in range(count):
                j, like = touched[k], sums[touched[k]]
                sums[j] = 0
                if j == i or (grouped and groups[j] == groups[i]):
                    continue
                if found < most:
                    _put(j, like, near, likes, row, found)
                    found += 1
                elif like >= likes[row, most - 1]:
                    _put(j, like, near, likes, row, most)
            for k in range(found, most):
                near[row, k] = -1


def pair_products(
    const int64_t[::1] pointers, const int32_t[::1] terms, const float[::1] values,
    const int64_t[::1] i, const int64_t[::1] j, double[::1] out
):
    """Write the inner products of pairs of rows, whose terms are in ascending order."""
    cdef int64_t k, p, q, p_end, q_end
    cdef double total
    with nogil:
        for k in range(i.shape[0]):
            p, p_end = pointers[i[k]], pointers[i[k] + 1]
            q, q_end = pointers[j[k]], pointers[j[k] + 1]
            total = 0.0
            while p < p_end and q < q_end:
                if terms[p] == terms[q]:
                    total += <double>values[p] * values[q]
                    p += 1
                    q += 1
                elif terms[p] < terms[q]:
                    p += 1
                else:
                    q += 1
            out[k] = total
