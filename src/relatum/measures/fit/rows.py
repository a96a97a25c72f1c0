"""Rows of features, dense or sparse, handed out as small floating point blocks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from relatum.array_types import Floats

# A block of rows and the columns it covers (None: all of them, in order).
Block: TypeAlias = tuple[NDArray[Any], NDArray[np.intp] | None]


@dataclass(frozen=True)
class FitSettings:
    """What decides how a fit is done; what it finds is decided by its tolerance."""

    single_tolerance: float = 1e-5  # relative gap: below, sums in single precision are too rough
    gram_bytes: int = 2**28  # of Gram matrices of blocks that are kept from pass to pass
    slow_after: int = 20  # epochs of dual ascent before its pace is judged, by the last ten
    slow_epochs: int = 50  # if more than so many are to come, another solver takes over
    newton_width: int = 2048  # features: such a Hessian is factored in well under a second
    stream_newton_width: int = 256  # features: reading takes longer than adding up the Hessian
    sufficient: float = 1e-4  # part of what its slope promises that a step must achieve (Armijo)


FIT = FitSettings()

# Multiplications of one product from which BLAS may use threads. Below, threads of numpy and of
# scipy wait for one another longer than they compute: on a busy machine 37 s instead of 3.
THREADED_WORK = 20_000_000


def threads_for(work: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS has one thread if a product is little work."""
    if work >= THREADED_WORK:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def computing_type(x: Any, tol: float, strength: float = 1.0) -> type[np.floating[Any]]:
    """Single precision for narrow rows (int8, float32) unless `tol` is too small for it.

    Very weak priors have coefficients, and very strong ones steps, that it cannot hold.
    """
    narrow = x.dtype.itemsize < 8 and 1e-12 <= strength <= 1e12
    return np.float32 if narrow and tol >= FIT.single_tolerance else np.float64


class Rows:
    """A table of rows that stays as it is in memory and is converted a block at a time.

    Parameters
    ----------
    x : ndarray or CSR matrix of shape (rows, features)
    dtype : floating point type of the blocks
    constant : append one feature that is 1 everywhere, the constant monomial.
    """

    def __init__(self, x: Any, dtype: type[np.floating[Any]], constant: bool = False) -> None:
        self.x = x
        self.dtype = dtype
        self.constant = constant
        self.n: int = x.shape[0]
        self.width: int = x.shape[1] + int(constant)
        self._buffer: NDArray[Any] = np.empty((0, self.width), dtype)

    def take(self, index: NDArray[np.intp] | slice) -> Block:
        """Return the rows of `index`; the array is overwritten by the next call."""
        if sparse.issparse(self.x):
            return self._take_sparse(index)
        part = self.x[index]
        if len(self._buffer) < len(part):
            self._buffer = np.ones((len(part), self.width), self.dtype)
        block = self._buffer[: len(part)]
        np.copyto(block[:, : part.shape[1]], part, casting="unsafe")
        return block, None

    def _take_sparse(self, index: NDArray[np.intp] | slice) -> Block:
        # Dense on the columns that the block has: cost follows the non-zeros, not the width.
        part = self.x[index]
        columns, position = np.unique(part.indices, return_inverse=True)
        shape = (part.shape[0], len(columns))
        narrow = sparse.csr_matrix((part.data, position, part.indptr), shape=shape)
        block = narrow.toarray().astype(self.dtype, copy=False)
        if self.constant:
            block = np.hstack([block, np.ones((len(block), 1), self.dtype)])
            columns = np.append(columns, self.width - 1)
        return block, columns

    def mean_square(self, weights: Floats | None = None) -> float:
        """Mean of |x|^2 over the rows, in double precision; a row of weight 2 counts twice."""
        total = 0.0
        for start in range(0, self.n, 256):
            part = slice(start, start + 256)
            block, _ = self.take(part)
            if weights is None:
                total += float(np.einsum("ij,ij->", block, block, dtype=np.float64))
            else:
                squares = np.einsum("ij,ij->i", block, block, dtype=np.float64)
                total += float(squares @ weights[part])
        return total / (self.n if weights is None else float(weights.sum()))
