"""Plain, slow twins of every kernel, and brute force over whole feasible sets.

Written for reading: loops and definitions, no shared code with the library.
"""

from __future__ import annotations

import cmath

# --- features: sketches -------------------------------------------------------------------------


def count_sketch(row, bucket, sign, m):
    """The Count Sketch of (row, 1)."""
    sketch = [0.0] * m
    for j, value in enumerate([*row, 1]):
        sketch[bucket[j]] += sign[j] * float(value)
    return sketch


def circular_convolution(a, b):
    m = len(a)
    return [sum(a[i] * b[(k - i) % m] for i in range(m)) for k in range(m)]


def tensor_sketch(row, bucket, sign, m):
    """Convolve the Count Sketches of (row, 1): one monomial of each factor per term."""
    sketch = count_sketch(row, bucket[0], sign[0], m)
    for h, s in zip(bucket[1:], sign[1:], strict=True):
        sketch = circular_convolution(sketch, count_sketch(row, h, s, m))
    return sketch


def fourier(signal):
    """The unnormalised discrete Fourier transform, by definition."""
    m = len(signal)
    return [
        sum(value * cmath.exp(-2j * cmath.pi * k * t / m) for t, value in enumerate(signal))
        for k in range(m)
    ]


def unitary_reals(signal):
    """The unitary Fourier transform of a real signal as equally many real numbers."""
    m = len(signal)
    spectrum = [value / m**0.5 for value in fourier(signal)]
    out = [spectrum[0].real]
    for k in range(1, (m + 1) // 2):
        out += [2**0.5 * spectrum[k].real, 2**0.5 * spectrum[k].imag]
    if m % 2 == 0:
        out.append(spectrum[m // 2].real)
    return out


def round_and_clip(values, limit):
    """Rounded values within [-limit, limit], and how many were beyond."""
    rounded = [[round(float(value)) for value in row] for row in values]
    clipped = [[max(-limit, min(limit, value)) for value in row] for row in rounded]
    return clipped, sum(abs(value) > limit for row in rounded for value in row)
