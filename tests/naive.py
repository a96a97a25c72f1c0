"""Plain, slow twins of every kernel, and brute force over whole feasible sets.

Written for reading: loops and definitions, no shared code with the library.
"""

from __future__ import annotations

import cmath
import math
from itertools import combinations
from math import prod

import numpy as np

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


def round_and_clip(values, limit, tolerance):
    """Rounded values within [-limit, limit]; how many were beyond, how many far from whole."""
    rounded = [[round(float(value)) for value in row] for row in values]
    clipped = [[max(-limit, min(limit, value)) for value in row] for row in rounded]
    beyond = sum(abs(value) > limit for row in rounded for value in row)
    return clipped, beyond, sum(abs(v - round(v)) > tolerance for row in values for v in row)


# --- features: monomials ------------------------------------------------------------------------


def products(x, columns):
    """The product of the chosen entries of each row."""
    return [[prod(row[j] for j in chosen) for chosen in columns] for row in x]


def multilinear_lifting(row, degree):
    """The product over every set of at most `degree` entries, smallest sets first."""
    return [prod(chosen) for size in range(degree + 1) for chosen in combinations(row, size)]


# ------------------------------------------------------------------ first-order LP


def halpern_pdhg(matrix, low, high, box, x, y, weight, scale, iterations):
    """Restarted reflected Halpern PDHG with a dense matrix, as the textbook writes it.

    ``box`` holds c, lower and upper; returns x, y and the final weight.
    """
    c, lower, upper = box
    degree = np.abs(matrix).sum(axis=0)
    length = np.abs(matrix).sum(axis=1)
    first_weight, total, k, first, last = weight, 0, 0, None, 0.0
    x_anchor, y_anchor = x.copy(), y.copy()
    for _ in range(iterations):
        tau, sigma = scale / weight / degree, scale * weight / length
        x_new = np.clip(x + tau * (c - matrix.T @ y), lower, upper)
        v = y + sigma * (matrix @ (2 * x_new - x))
        y_new = v - sigma * np.clip(v / sigma, low, high)
        dx, dy = x_new - x, y_new - y
        residual = np.sqrt(
            max((dx**2 / tau).sum() + (dy**2 / sigma).sum() - 2 * dx @ matrix.T @ dy, 0)
        )
        if first is None:
            first = residual
        share = (k + 1) / (k + 2)
        x = share * (2 * x_new - x) + (1 - share) * x_anchor
        y = share * (2 * y_new - y) + (1 - share) * y_anchor
        k, total = k + 1, total + 1
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            far_x = ((x_new - x_anchor) ** 2 * degree).sum()
            far_y = ((y_new - y_anchor) ** 2 * length).sum()
            if far_x >= 1e-20 and far_y >= 1e-20:
                weight = np.exp(0.5 * np.log(weight) + 0.5 * np.log(np.sqrt(far_y / far_x)))
                weight = np.clip(weight, 0.01 * first_weight, 100 * first_weight)
            x, y = x_new.copy(), y_new.copy()
            x_anchor, y_anchor = x.copy(), y.copy()
            k, first = 0, None
    return x_new, y_new, weight


# --- measures: dual ascent ----------------------------------------------------------------------


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


# --- measures: the order of words ---------------------------------------------------------------


def precedences(sequences, words):
    """For every two words, how often the first stands before the second."""
    table = [[0] * words for _ in range(words)]
    for sequence in sequences:
        for a, first in enumerate(sequence):
            for second in sequence[a + 1 :]:
                table[first][second] += 1
    return table
