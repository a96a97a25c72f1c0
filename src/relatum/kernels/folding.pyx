"""Scores of unordered pairs from a square matrix of ordered ones, and back."""

from libc.stdint cimport int64_t

from relatum.kernels.condensed cimport place

ctypedef fused score_t:
    float
    double

cdef enum:
    TILE = 64  # rows and columns that are read together: a column alone is slow to read


def fold_square(const score_t[:, :] c, double[::1] out):
    """Write c_ab + c_ba of all pairs a < b to ``out``, in condensed order and float64."""
    cdef int64_t n = c.shape[0], tiles = (n + TILE - 1) // TILE, p, q, a, b, start
    with nogil:
        for p in range(tiles):
            for q in range(p, tiles):
                for a in range(p * TILE, min((p + 1) * TILE, n)):
                    start = place(a, a + 1, n) - a - 1  # where a pair aa would be
                    for b in range(max(a + 1, q * TILE), min((q + 1) * TILE, n)):
                        out[start + b] = <double>c[a, b] + <double>c[b, a]


def unfold(const score_t[:] condensed, score_t[:, ::1] out):
    """Write the scores of all pairs a < b to both triangles of a square matrix."""
    cdef int64_t n = out.shape[0], tiles = (n + TILE - 1) // TILE, p, q, a, b, start
    with nogil:
        for p in range(tiles):
            for q in range(p, tiles):
                for a in range(p * TILE, min((p + 1) * TILE, n)):
                    start = place(a, a + 1, n) - a - 1
                    for b in range(max(a + 1, q * TILE), min((q + 1) * TILE, n)):
                        out[a, b] = condensed[start + b]
                        out[b, a] = condensed[start + b]
