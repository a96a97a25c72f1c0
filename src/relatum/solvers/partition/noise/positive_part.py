"""Nearest positive semidefinite matrices of a sequence of matrices that changes little.

The exact one takes an eigendecomposition. Where few eigenvalues are positive, those of the matrix
before are a good start: a Chebyshev polynomial raises what is positive in the subspace of their
vectors, and the Rayleigh-Ritz method finds new ones in it (Zhou, Saad, Tiago and Chelikowsky
2006). That misses a little, and takes a fifth of the time. Matrices are symmetric, in single
precision, and given and returned by their upper triangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import sgemm, ssymm, ssyrk, strsm
from scipy.linalg.lapack import spotrf

Single = NDArray[np.float32]


@dataclass(frozen=True)
class ProjectionSettings:
    """How positive parts are followed."""

    degree: int = 2  # of the polynomial
    spare: float = 0.15  # share of the positive vectors that are kept beyond them,
    least_spare: int = 12  # and at least so many
    most: float = 0.4  # share of all vectors from which on an eigendecomposition is quicker
    margin: float = 1.04  # on the size of the lowest eigenvalue, which is that of some steps ago


PROJECTION = ProjectionSettings()


class Projection:
    """Projects one matrix after the other.

    Attributes
    ----------
    factor : float32 array (n, k), or None
        Of what the last exact projection took away: that is its product with its transpose.
    """

    def __init__(self, settings: ProjectionSettings = PROJECTION) -> None:
        self.settings = settings
        self.factor: Single | None = None
        self._basis: Single | None = None
        self._low = 0.0

    def exact(self, given: Single) -> Single:
        """Return the positive part of a matrix; may raise LinAlgError."""
        w, v = _eigen(given.T)
        p = int(np.searchsorted(w, 0.0, side="right"))
        self._low = float(w[0])
        self.factor = v[:, :p] * np.sqrt(np.maximum(-w[:p], 0))
        self._keep(v, len(w) - p)
        if 2 * p >= len(w):
            return np.asarray(ssyrk(1.0, v[:, p:] * np.sqrt(w[p:]), lower=1).T)
        return np.asarray(given + ssyrk(1.0, self.factor, lower=1).T)

    def followed(self, given: Single) -> Single:
        """Return about the positive part of a matrix that is like the last one."""
        found = None if self._basis is None or self._low >= 0 else self._ritz(given)
        if found is None:
            return self.exact(given)
        w, v = found
        p = int(np.searchsorted(w, 0.0, side="right"))
        if p == 0:  # there may be more than there was room for
            return self.exact(given)
        self._keep(v, len(w) - p)
        return np.asarray(ssyrk(1.0, v[:, p:] * np.sqrt(w[p:]), lower=1).T)

    def _keep(self, vectors: Single, positive: int) -> None:
        """Keep the vectors of the positive eigenvalues, the last ones, and some more."""
        s, n = self.settings, len(vectors)
        kept = positive + max(s.least_spare, int(s.spare * positive))
        few = kept <= s.most * n
        self._basis = np.asfortranarray(vectors[:, -kept:]) if few else None

    def _ritz(self, given: Single) -> tuple[Single, Single] | None:
        """Return eigenvalues and vectors, nearly, from the highest to some that are negative."""
        basis, matrix = self._basis, given.T
        assert basis is not None
        # of a scaled matrix that has what is negative between -1 and 1
        half = -0.5 * self.settings.margin * self._low
        before, now = basis, ssymm(1 / half, matrix, basis, lower=1) + basis
        for _ in range(self.settings.degree - 1):
            after = ssymm(2 / half, matrix, now, lower=1, beta=-1.0, c=before)
            before, now = now, after + 2 * now
        now = now / np.linalg.norm(now, axis=0)
        root, failed = spotrf(ssyrk(1.0, now, trans=1, lower=1), lower=1, clean=1)
        if failed:
            return None
        now = strsm(1.0, root, now, side=1, lower=1, trans_a=1)
        small = sgemm(1.0, now, ssymm(1.0, matrix, now, lower=1), trans_a=1)
        w, v = _eigen(small)
        return w, sgemm(1.0, now, v)


def _eigen(matrix: Single) -> tuple[Single, Single]:
    """Return eigenvalues, from the lowest, and vectors of a matrix given by its lower triangle.

    The transpose of an upper triangle in C's order is a lower one in Fortran's: nothing is copied.
    """
    w, v = eigh(matrix, lower=True, driver="evd", check_finite=False)
    return np.asarray(w, dtype=np.float32), np.asarray(v, dtype=np.float32)
