"""Count Sketch, the spectrum of a pair of sketches, and rounding to integers.

A pair of real sketches (c1, c2) lies in one array of shape (rows, m, 2): the memory of the
complex numbers c1 + i c2, so that one complex transform serves both. Complex numbers are read
and written here as pairs of real ones, single or double.
"""

import numpy as np

from libc.math cimport rint, rintf, sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

ctypedef fused real_t:
    float
    double

ctypedef fused value_t:
    uint8_t
    float
    double

ctypedef fused written_t:
    float
    double

ctypedef fused integer_t:
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused count_t:
    int32_t
    int64_t


cdef inline void _begin(
    const int32_t[:, ::1] bucket, const int8_t[:, ::1] sign, real_t[:, ::1] sketches, int64_t row,
    double* squares
) noexcept nogil:
    """Sketch the constant 1 alone."""
    cdef int64_t count = bucket.shape[0], n = bucket.shape[1] - 1, i, k
    for i in range(sketches.shape[1]):
        sketches[row, i] = 0.0
    for k in range(count):
        sketches[row, bucket[k, n] * count + k] = sign[k, n]
        squares[k] = 1.0


cdef inline void _add(
    const int32_t[:, ::1] bucket, const int8_t[:, ::1] sign, real_t[:, ::1] sketches, int64_t row,
    int64_t j, double value, double* squares
) noexcept nogil:
    """Add the value of feature ``j`` to the sketches of a row."""
    cdef int64_t count = bucket.shape[0], k, at
    cdef double step
    for k in range(count):
        at = bucket[k, j] * count + k
        step = value * sign[k, j]
        squares[k] += step * (step + 2.0 * sketches[row, at])
        sketches[row, at] += step


def count_sketch_dense(
    const value_t[:, ::1] x, const int32_t[:, ::1] bucket, const int8_t[:, ::1] sign,
    real_t[:, :, ::1] sketches, double[:, ::1] squares
):
    """Write the Count Sketches of the rows of `x`, each followed by a constant 1.

    Parameters
    ----------
    x : (rows, n) array of numbers.
    bucket, sign : (c, n + 1) arrays with c = 1 or 2; the last column is the constant's.
    sketches : (rows, m, c) float array, written.
    squares : (rows, c) float64 array, written: the squared norms of the sketches.
    """
    cdef int64_t length = sketches.shape[1] * sketches.shape[2]
    cdef real_t[:, ::1] flat = np.asarray(sketches).reshape(sketches.shape[0], length)
    cdef int64_t row, j, k
    cdef double[2] square
    with nogil:
        for row in range(x.shape[0]):
            _begin(bucket, sign, flat, row, square)
            for j in range(x.shape[1]):
                if x[row, j] != 0:
                    _add(bucket, sign, flat, row, j, x[row, j], square)
            for k in range(bucket.shape[0]):
                squares[row, k] = square[k]


def count_sketch_csr(
    rows, const int32_t[:, ::1] bucket, const int8_t[:, ::1] sign, real_t[:, :, ::1] sketches,
    double[:, ::1] squares
):
    """Do as `count_sketch_dense` does, for `rows` = (indptr, indices, data) of a CSR matrix.

    Indices are int32; the data has the type of the sketches.
    """
    cdef const int32_t[::1] indptr = rows[0], indices = rows[1]
    cdef const real_t[::1] data = rows[2]
    cdef int64_t length = sketches.shape[1] * sketches.shape[2]
    cdef real_t[:, ::1] flat = np.asarray(sketches).reshape(sketches.shape[0], length)
    cdef int64_t row, entry, k
    cdef double[2] square
    with nogil:
        for row in range(indptr.shape[0] - 1):
            _begin(bucket, sign, flat, row, square)
            for entry in range(indptr[row], indptr[row + 1]):
                _add(bucket, sign, flat, row, indices[entry], data[entry], square)
            for k in range(bucket.shape[0]):
                squares[row, k] = square[k]


def pair_spectrum(spectrum, product, bint first):
    """Multiply into `product` the spectra of c1 and c2, given the transform of c1 + i c2.

    With F that transform, the spectra of the two real sketches are (F[k] + conj F[-k]) / 2
    and (F[k] - conj F[-k]) / 2i, so their product is (F[k]^2 - conj(F[-k])^2) / 4i.

    Parameters
    ----------
    spectrum : (rows, m) complex array.
    product : (rows, m // 2 + 1) complex array, written.
    first : whether `product` is to be overwritten instead of multiplied.
    """
    real = spectrum.real.dtype
    _pair_spectrum(spectrum.view(real), product.view(real), first)


cdef inline void _multiply(
    const real_t[:, ::1] spectrum, real_t[:, ::1] product, bint first, int64_t row, int64_t k,
    int64_t mirror
) noexcept nogil:
    """Multiply one number of a product, given the places of F[k] and F[-k]."""
    cdef real_t a = spectrum[row, 2 * k], b = spectrum[row, 2 * k + 1]
    cdef real_t c = spectrum[row, 2 * mirror], d = spectrum[row, 2 * mirror + 1]
    # exact in either precision, so that single precision is not left for double
    cdef real_t half = 0.5, quarter = -0.25, p, q
    # (a + ib)^2 - (c - id)^2, times -i / 4
    cdef real_t im = quarter * ((a - b) * (a + b) - (c - d) * (c + d))
    cdef real_t re = half * (a * b + c * d)
    if not first:
        p, q = product[row, 2 * k], product[row, 2 * k + 1]
        re, im = re * p - im * q, re * q + im * p
    product[row, 2 * k], product[row, 2 * k + 1] = re, im


def _pair_spectrum(const real_t[:, ::1] spectrum, real_t[:, ::1] product, bint first):
    cdef int64_t m = spectrum.shape[1] // 2, row, k
    with nogil:
        for row in range(spectrum.shape[0]):
            _multiply(spectrum, product, first, row, 0, 0)
            if first:  # here, and not within the loop, so that it is vectorised
                for k in range(1, m // 2 + 1):
                    _multiply(spectrum, product, True, row, k, m - k)
            else:
                for k in range(1, m // 2 + 1):
                    _multiply(spectrum, product, False, row, k, m - k)


def halfcomplex(product, out):
    """Write the unitary spectrum of a real signal as `m` real numbers.

    Parameters
    ----------
    product : (rows, m // 2 + 1) complex array: the unnormalised half spectrum.
    out : (rows, m) float array, written: the zero frequency, then the real and imaginary part
        of each frequency below m / 2, times sqrt(2), then, if m is even, that of m / 2. Inner
        products of such rows are the inner products of the signals.
    """
    into = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    _halfcomplex(product.view(product.real.dtype), into)
    if into is not out:
        out[...] = into


def _halfcomplex(const real_t[:, ::1] product, written_t[:, ::1] out):
    cdef int64_t m = out.shape[1], row, k
    cdef double once = 1.0 / sqrt(<double>m)
    cdef double twice = sqrt(2.0) * once
    with nogil:
        for row in range(out.shape[0]):
            out[row, 0] = product[row, 0] * once
            for k in range(1, m):  # the imaginary part of the zero frequency is left out
                out[row, k] = product[row, k + 1] * twice
            if m % 2 == 0:
                out[row, m - 1] = product[row, m] * once


def round_and_clip(values, limit, tolerance, out):
    """Round `values` to integers within [-limit, limit], into `out`.

    Returns
    -------
    clipped : int
        How many were beyond the limit.
    doubtful : int
        How many were farther than `tolerance` from an integer.
    """
    into = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    counts = _round_and_clip(values, limit, tolerance, into)
    if into is not out:
        out[...] = into
    return counts


cdef inline void _round_row(
    const real_t[:, ::1] values, real_t limit, real_t tolerance, integer_t[:, ::1] out,
    int64_t row, count_t* clipped, count_t* doubtful
) noexcept nogil:
    """Round and clip one row, and count."""
    cdef count_t beyond = 0, apart = 0
    cdef real_t value
    cdef int64_t k
    for k in range(values.shape[1]):
        value = rintf(values[row, k]) if real_t is float else rint(values[row, k])
        apart += abs(values[row, k] - value) > tolerance
        beyond += abs(value) > limit
        out[row, k] = <integer_t>min(max(value, -limit), limit)
    clipped[0] += beyond
    doubtful[0] += apart


def _round_and_clip(
    const real_t[:, ::1] values, real_t limit, real_t tolerance, integer_t[:, ::1] out
):
    cdef int64_t clipped = 0, doubtful = 0, row
    cdef int32_t beyond, apart
    with nogil:
        for row in range(values.shape[0]):
            if real_t is float:  # counts as wide as the values are added up quickest
                beyond = apart = 0
                _round_row(values, limit, tolerance, out, row, &beyond, &apart)
                clipped += beyond
                doubtful += apart
            else:
                _round_row(values, limit, tolerance, out, row, &clipped, &doubtful)
    return clipped, doubtful
