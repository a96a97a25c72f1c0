"""Count Sketch, the spectrum of a pair of sketches, and rounding to integers.

A pair of real sketches (c1, c2) lies in one array of shape (rows, m, 2): the memory of the
complex numbers c1 + i c2, so that one complex transform serves both.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_sketch_dense(x, bucket, sign, sketches, squares):
    """Write the Count Sketches of the rows of `x`, each followed by a constant 1.

    Parameters
    ----------
    x : (rows, n) array of numbers.
    bucket, sign : (c, n + 1) arrays with c = 1 or 2; the last column is the constant's.
    sketches : (rows, m, c) float array, written.
    squares : (rows, c) float64 array, written: the squared norms of the sketches.
    """
    n = x.shape[1]
    count = bucket.shape[0]
    for row in range(x.shape[0]):
        sketch = sketches[row]
        sketch[:] = 0.0
        for k in range(count):
            sketch[bucket[k, n], k] = sign[k, n]
            squares[row, k] = 1.0
        for j in range(n):
            value = x[row, j]
            if value != 0:
                for k in range(count):
                    at = bucket[k, j]
                    step = np.float64(value) * sign[k, j]
                    squares[row, k] += step * (step + 2.0 * sketch[at, k])
                    sketch[at, k] += step


@njit(cache=True, nogil=True)
def count_sketch_csr(rows, bucket, sign, sketches, squares):
    """Do as `count_sketch_dense` does, for `rows` = (indptr, indices, data) of a CSR matrix."""
    indptr, indices, data = rows
    count, n = bucket.shape[0], bucket.shape[1] - 1
    for row in range(indptr.shape[0] - 1):
        sketch = sketches[row]
        sketch[:] = 0.0
        for k in range(count):
            sketch[bucket[k, n], k] = sign[k, n]
            squares[row, k] = 1.0
        for entry in range(indptr[row], indptr[row + 1]):
            for k in range(count):
                at = bucket[k, indices[entry]]
                step = np.float64(data[entry]) * sign[k, indices[entry]]
                squares[row, k] += step * (step + 2.0 * sketch[at, k])
                sketch[at, k] += step


@njit(cache=True, nogil=True)
def pair_spectrum(spectrum, product, first):
    """Multiply into `product` the spectra of c1 and c2, given the transform of c1 + i c2.

    With F that transform, the spectra of the two real sketches are (F[k] + conj F[-k]) / 2
    and (F[k] - conj F[-k]) / 2i, so their product is (F[k]^2 - conj(F[-k])^2) / 4i.

    Parameters
    ----------
    spectrum : (rows, m) complex array.
    product : (rows, m // 2 + 1) complex array, written.
    first : whether `product` is to be overwritten instead of multiplied.
    """
    rows, m = spectrum.shape
    # exact in either precision, so that single precision is not left for double
    half, quarter = np.float32(0.5), np.float32(-0.25)
    for row in range(rows):
        for k in range(m // 2 + 1):
            mirror = m - k if k > 0 else 0
            a = spectrum[row, k].real
            b = spectrum[row, k].imag
            c = spectrum[row, mirror].real
            d = spectrum[row, mirror].imag
            # (a + ib)^2 - (c - id)^2, times -i / 4
            re = (a - b) * (a + b) - (c - d) * (c + d)
            im = a * b + c * d
            re, im = half * im, quarter * re
            if not first:
                p = product[row, k].real
                q = product[row, k].imag
                re, im = re * p - im * q, re * q + im * p
            product[row, k] = complex(re, im)


@njit(cache=True, nogil=True)
def halfcomplex(product, out):
    """Write the unitary spectrum of a real signal as `m` real numbers.

    Parameters
    ----------
    product : (rows, m // 2 + 1) complex array: the unnormalised half spectrum.
    out : (rows, m) float array, written: the zero frequency, then the real and imaginary part
        of each frequency below m / 2, times sqrt(2), then, if m is even, that of m / 2. Inner
        products of such rows are the inner products of the signals.
    """
    rows, m = out.shape
    once = 1.0 / np.sqrt(np.float64(m))
    twice = np.sqrt(2.0) * once
    for row in range(rows):
        out[row, 0] = product[row, 0].real * once
        for k in range(1, (m + 1) // 2):
            out[row, 2 * k - 1] = product[row, k].real * twice
            out[row, 2 * k] = product[row, k].imag * twice
        if m % 2 == 0:
            out[row, m - 1] = product[row, m // 2].real * once


@njit(cache=True, nogil=True)
def round_and_clip(values, limit, tolerance, out):
    """Round `values` to integers within [-limit, limit], into `out`.

    Returns
    -------
    clipped : int
        How many were beyond the limit.
    doubtful : int
        How many were farther than `tolerance` from an integer.
    """
    clipped = 0
    doubtful = 0
    top = values.dtype.type(limit)
    far = values.dtype.type(tolerance)
    for row in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = np.rint(values[row, k])
            doubtful += abs(values[row, k] - value) > far
            clipped += abs(value) > top
            out[row, k] = out.dtype.type(min(max(value, -top), top))
    return clipped, doubtful
