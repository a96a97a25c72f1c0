"""Plain twins of the kernels of features and measures: sketches, monomials, dual ascent, words."""

from __future__ import annotations

import cmath
import math
from itertools import combinations
from math import prod


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


def round_and_clip(values, limit, tolerance):
    """Rounded values within [-limit, limit]; how many were beyond, how many far from whole."""
    rounded = [[round(float(value)) for value in row] for row in values]
    clipped = [[max(-limit, min(limit, value)) for value in row] for row in rounded]
    beyond = sum(abs(value) > limit for row in rounded for value in row)
    return clipped, beyond, sum(abs(v - round(v)) > tolerance for row in values for v in row)


def products(x, columns):
    """The product of the chosen entries of each row."""
    return [[prod(row[j] for j in chosen) for chosen in columns] for row in x]


def multilinear_lifting(row, degree):
    """The product over every set of at most `degree` entries, smallest sets first."""
    return [prod(chosen) for size in range(degree + 1) for chosen in combinations(row, size)]


def dual_ascent_step(margin, dual, weight, curvature):
    """Maximise weight H(a / weight) - a margin - (a - dual)^2 curvature / 2, by bisection."""
    low, high = 0.0, weight
    for _ in range(200):
        a = 0.5 * (low + high)
        if a in (low, high):
            break
        slope = math.log((weight - a) / a) - margin - (a - dual) * curvature
        if slope > 0:
            low = a
        else:
            high = a
    return 0.5 * (low + high)


def dual_ascent_block(x, w, related, weights, duals, lam, order):
    """One visit of every row in turn, on the features themselves; returns w and the duals."""
    w, duals = w.copy(), duals.copy()
    for i in order:
        for k in range(len(w)):
            sign = 1.0 if related[k][i] else -1.0
            margin = sign * sum(w[k][j] * x[i][j] for j in range(len(x[i])))
            square = sum(value * value for value in x[i])
            old = sign * duals[k][i]
            new = dual_ascent_step(margin, old, weights[i], square / lam) if weights[i] else 0.0
            duals[k][i] = sign * new
            for j in range(len(x[i])):
                w[k][j] += sign * (new - old) * x[i][j] / lam
    return w, duals


def precedences(sequences, words):
    """For every two words, how often the first stands before the second."""
    table = [[0] * words for _ in range(words)]
    for sequence in sequences:
        for a, first in enumerate(sequence):
            for second in sequence[a + 1 :]:
                table[first][second] += 1
    return table


def pair_products(left, right, first, second):
    """Inner products of row first[k] of left and row second[k] of right."""
    return [
        sum(a * b for a, b in zip(left[i], right[j], strict=True))
        for i, j in zip(first, second, strict=True)
    ]
