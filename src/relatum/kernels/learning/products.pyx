"""Products of chosen columns."""

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused number_t:
    uint8_t
    float
    double


def products(const number_t[:, ::1] x, const int32_t[:, ::1] columns, number_t[:, ::1] out):
    """Write to out[row, k] the product of x[row, columns[k, 0]], x[row, columns[k, 1]], ...

    Parameters
    ----------
    x : (rows, n) array, C-contiguous.
    columns : (monomials, degree) int32 array.
    out : (rows, monomials) array of the type of `x`, written.
    """
    cdef int64_t count = columns.shape[0], degree = columns.shape[1], row, k, place
    cdef number_t product
    with nogil:
        for row in range(x.shape[0]):
            if degree == 2:  # the usual case, without an inner loop
                for k in range(count):
                    out[row, k] = x[row, columns[k, 0]] * x[row, columns[k, 1]]
                continue
            for k in range(count):
                product = x[row, columns[k, 0]]
                for place in range(1, degree):
                    product *= x[row, columns[k, place]]
                out[row, k] = product
