"""Log-odds of all pairs of a set under a measure of degree 2 on sketches of pair features.

The sketch of degree 2 of x is linear in the products x_i x_j. So theta, seen through the
sketch, is a matrix M, and the log-odds of a pair are x' M x, with x = (p, q, 1), p the AND and
q = a + b - 2 p the XOR of the bits a and b of its elements. Expanded in p and a + b:

    p' F p  +  p' G (a + b)  +  (a + b)' M_qq (a + b)  +  linear terms

All but the first term are bilinear in quantities of single elements: one matrix product for all
pairs. The first needs F only on the bits that a has: for one a and all b, a product of a
01-matrix with a small dense one. This takes a tenth of the time of sketching every pair, and
nothing is approximated.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import TensorSketch

_BLOCKS = 8  # F is symmetric: a triangle of so many column blocks is enough


def in_signal_domain(theta: NDArray[Any]) -> Floats:
    """Return coefficients of the Fourier domain of `TensorSketch` in its signal domain."""
    m = len(theta)
    spectrum = np.zeros(m // 2 + 1, dtype=np.complex128)
    spectrum[0] = theta[0]
    inner = (m + 1) // 2
    spectrum[1:inner] = (theta[1 : 2 * inner - 1 : 2] + 1j * theta[2 : 2 * inner : 2]) / np.sqrt(2)
    if m % 2 == 0:
        spectrum[-1] = theta[-1]
    return np.asarray(fft.irfft(spectrum * np.sqrt(m), n=m))


class PairForm:
    """The log-odds of pairs as a form in the bits of their elements.

    Parameters
    ----------
    sketch : fitted TensorSketch of degree 2
        Of pair features.
    theta : array of shape (n_components,)
        Coefficients, in the domain of `sketch`.
    """

    def __init__(self, sketch: TensorSketch, theta: NDArray[Any]) -> None:
        if sketch.degree != 2:
            raise DataError(f"PairForm is for sketches of degree 2, got {sketch.degree}.")
        if sketch.domain == "fourier":
            theta = in_signal_domain(theta)
        self._sketch, self._theta = sketch, theta.astype(np.float32)
        width = sketch.n_features_in_ // 2
        p, q, one = slice(0, width), slice(width, 2 * width), slice(2 * width, None)
        mixed = self._part(p, q)
        self._square = self._part(q, q)
        self._with_sum = 2 * mixed - 4 * self._square
        self._both = self._part(p, p)
        self._both += 4 * self._square
        self._both -= 2 * (mixed + mixed.T)
        self._linear_sum = 2 * self._part(one, q)[0]
        self._linear_both = 2 * self._part(one, p)[0] - 2 * self._linear_sum
        self._constant = float(self._part(one, one)[0, 0])

    def _part(self, rows: slice, columns: slice) -> NDArray[np.float32]:
        """Return a block of M, made symmetric."""
        return (self._block(rows, columns) + self._block(columns, rows).T) / np.float32(2)

    def _block(self, rows: slice, columns: slice) -> NDArray[np.float32]:
        bucket, sign = self._sketch.bucket_, self._sketch.sign_
        place = bucket[0, rows, None] + bucket[1, None, columns]
        place %= self._sketch.n_components
        block = self._theta[place]
        block *= sign[0, rows, None]
        block *= sign[1, None, columns]
        return np.asarray(block)

    def bilinear(self, v: NDArray[Any]) -> NDArray[np.float32]:
        """Return all terms but p' F p, for all pairs of rows of `v`."""
        x = v.astype(np.float32)
        squares = x @ self._square
        w = x * (x @ self._with_sum.T + self._linear_both / 2) + squares
        alone = np.einsum("ij,ij->i", squares, x) + x @ self._linear_sum
        out = w @ x.T
        out += out.T.copy()
        out += alone[:, None]
        out += alone[None, :] + np.float32(self._constant)
        return np.asarray(out)

    def quadratic(self, both: NDArray[np.float32], bits: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return p' F p for rows p of `both`, given on some `bits` and zero elsewhere."""
        form = np.triu(self._both[np.ix_(bits, bits)], 1) * np.float32(2)
        form[np.diag_indices(len(bits))] = self._both[bits, bits]
        out = np.zeros(len(both), dtype=np.float32)
        edges = np.linspace(0, len(bits), _BLOCKS + 1).astype(int)
        for begin, end in itertools.pairwise(edges):
            product = both[:, :end] @ form[:end, begin:end]
            out += np.einsum("ij,ij->i", product, both[:, begin:end])
        return out

    def log_odds(self, v: NDArray[Any]) -> Floats:
        """Return the log-odds of all pairs of a few rows: the upper triangle, row by row."""
        x = np.asfortranarray(v.astype(np.float32))
        upper = np.triu_indices(len(v), 1)
        found = triangle_rows(self, x, range(len(v) - 1)) + self.bilinear(v)[upper]
        return np.asarray(found, dtype=np.float64)


def triangle_rows(form: PairForm, v: NDArray[np.float32], rows: range) -> NDArray[np.float32]:
    """Return p' F p of each row of `rows` with every later row of `v`, one after the other.

    Rows should come with the fewest bits first; `v` is fastest in Fortran order.
    """
    parts = []
    for first in rows:
        bits = np.flatnonzero(v[first])
        parts.append(form.quadratic(v[first + 1 :, bits], bits))
    return np.concatenate(parts)
