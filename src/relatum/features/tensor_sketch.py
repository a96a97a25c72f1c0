"""Tensor Sketch: random features of the polynomial kernel (Pham and Pagh, 2013)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import fft

import relatum.kernels.learning.sketch as kernels
from relatum.array_types import Floats
from relatum.errors import DataError
from relatum.features import checks
from relatum.features.checks import NumberedFeatureMap

_AUTO_INTEGERS = (np.int8, np.int16, np.int32, np.int64)
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_SAMPLE_ROWS = 256  # by which the integer type of a sketch is chosen
_BATCH_BYTES = 4 << 20  # of float64 entries of a batch of sketches
_COMPONENTS = 1 << 30  # at most: buckets are numbered by int32
_DEGREE = 1000  # at most: beyond, even the error to expect is no floating point number
_SAFE = 0.125  # how far from whole numbers an exact sketch may come out before it is rounded


class ClippingWarning(UserWarning):
    """More sketch entries than tolerated exceed the integer type and were clipped to it."""


@dataclass(eq=False, repr=False)
class TensorSketch(NumberedFeatureMap):
    """Random features whose inner products approximate (1 + <x, x'>)^degree.

    The sketch of x is the circular convolution of `degree` Count Sketches of (x, 1), computed
    by fast Fourier transforms. Its inner products are unbiased estimates of the kernel. The
    sketch of integers is integer and computed exactly.

    Parameters
    ----------
    degree : int, default=2
        The degree of the polynomial kernel.
    n_components : int, default=1024
        The number m of random features; powers of two transform fastest.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the hash functions.
    domain : {"signal", "fourier"}, default="signal"
        ``"fourier"`` returns the unitary Fourier transform of the sketch, as m real numbers
        (zero frequency, then real and imaginary parts of each frequency times sqrt(2), then for
        even m the highest). Inner products, hence linear models and quadratic regularisers, are
        the same, and the inverse transform is saved. Always floats.
    dtype : "auto" or dtype, default="auto"
        Type of the output. ``"auto"``: float32 and float64 stay as they are; of bool and
        integer input, in the signal domain, the smallest integer type that holds the sketches
        of (256 rows of) the training data, save for `clip_tolerance` of their entries. An
        integer type requires whole numbers as input.
    clip_tolerance : float, default=1e-6
        Entries beyond the integer type are clipped to it. A share above this tolerance raises
        a `ClippingWarning`.
    batch_size : int, default=None
        Rows sketched at a time. None: as many as need about 4 MiB.
    n_jobs : int, default=None
        Threads, as in joblib. The result does not depend on it.

    Attributes
    ----------
    bucket_ : ndarray of shape (degree, n_features_in_ + 1)
        The component that each feature, and last the constant 1, is hashed to.
    sign_ : ndarray of shape (degree, n_features_in_ + 1)
        The sign that it is added with.
    dtype_ : dtype
        Type of the output for input like the training data.
    clipped_share_ : float
        The share of entries clipped in the sketches of (256 rows of) the training data.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import TensorSketch
    >>> x = np.eye(3, dtype=np.uint8)
    >>> sketch = TensorSketch(degree=2, n_components=512, random_state=0)
    >>> z = sketch.fit_transform(x)
    >>> z.dtype, z.shape
    (dtype('int8'), (3, 512))
    >>> np.array_equal(np.abs(z).sum(axis=1), [4, 4, 4])   # (1 + x)(1 + x): four monomials
    True
    """

    takes_sparse = True
    degree: int = 2
    n_components: int = 1024
    random_state: Any = None
    _: KW_ONLY
    domain: str = "signal"
    dtype: Any = "auto"
    clip_tolerance: float = 1e-6
    batch_size: int | None = None
    n_jobs: int | None = None

    def fit(self, X: ArrayLike, y: Any = None) -> TensorSketch:
        """Draw the hash functions for the width of `X` and choose the type of the output."""
        degree = checks.checked_count(self, "degree")
        m = checks.checked_count(self, "n_components")
        checks.checked(self, "domain", ("signal", "fourier"))
        if self.batch_size is not None:
            checks.checked_count(self, "batch_size")
        if not checks.is_number(self.clip_tolerance, 0.0):
            raise DataError(
                "TensorSketch: clip_tolerance must be a share of entries, at least 0, got "
                f"{checks.shown(self.clip_tolerance)}"
            )
        requested = self._requested_dtype()
        x = checks.checked_input(self, X, reset=True, accept_sparse="csr")
        rng = checks.checked_seed(self.random_state)
        for name, value, most in (("n_components", m, _COMPONENTS), ("degree", degree, _DEGREE)):
            if value > most:
                raise DataError(
                    f"TensorSketch: {name} must be at most {most}, got {value}; pass a smaller "
                    "number"
                )
        shape = (degree, self.n_features_in_ + 1)
        self.bucket_ = rng.integers(0, m, size=shape, dtype=np.int32)
        self.sign_ = 1 - 2 * rng.integers(0, 2, size=shape, dtype=np.int8)
        self._n_features_out = m
        self.clipped_share_ = 0.0
        if requested is not None:
            self.dtype_ = requested
        elif self.domain == "fourier" or x.dtype.kind == "f":
            self.dtype_ = x.dtype if x.dtype in _FLOATS else np.dtype(np.float32)
        else:
            self.dtype_ = self._fitting_integer(x)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the sketches of the rows of `X`, of shape (rows, n_components)."""
        checks.checked_fitted(self)
        x = checks.checked_input(self, X, reset=False, accept_sparse="csr")
        with checks.told_of_room(self, "n_components"):
            out = np.empty((x.shape[0], self.n_components), dtype=self._dtype_for(x))
            clipped = self._sketch(x, out)
        checks.require_finite(out, self)
        if clipped > self.clip_tolerance * out.size:
            warnings.warn(
                f"TensorSketch: {clipped} of {out.size} entries exceed {out.dtype} and were "
                f"clipped; pass a wider dtype, such as dtype='int32'",
                ClippingWarning,
                stacklevel=2,
            )
        return out

    def transform_into(self, X: ArrayLike, out: NDArray[Any]) -> int:
        """Write the sketches of `X` into `out`; return the number of entries clipped.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (rows, n_features_in_)
        out : ndarray of shape (rows, n_components)
            Of a type that the sketch can have: an array of a store, or a memory map.

        Returns
        -------
        int
            How many entries exceeded the type of `out` and were clipped to it.
        """
        checks.checked_fitted(self)
        x = checks.checked_input(self, X, reset=False, accept_sparse="csr")
        shape = (x.shape[0], self.n_components)
        if not isinstance(out, np.ndarray) or out.shape != shape:
            raise DataError(
                f"TensorSketch: out must have shape {shape}, one row per row of X, "
                f"got {out.shape if isinstance(out, np.ndarray) else checks.shown(out)}; allocate "
                "it anew"
            )
        if out.dtype not in _FLOATS and (self.domain == "fourier" or out.dtype.kind != "i"):
            raise DataError(
                f"TensorSketch: sketches in the {self.domain} domain cannot be written as "
                f"{out.dtype}; allocate out as float32"
            )
        return self._sketch(x, out)

    def _requested_dtype(self) -> np.dtype[Any] | None:
        if isinstance(self.dtype, str) and self.dtype == "auto":
            return None
        try:
            requested: np.dtype[Any] = np.dtype(self.dtype)
        except Exception:  # also what classes that are not ours raise
            requested = np.dtype(object)
        if requested in _FLOATS or (requested.kind == "i" and self.domain == "signal"):
            return requested
        raise DataError(
            f"TensorSketch: dtype must be 'auto', float32, float64 or, in the signal domain, a "
            f"signed integer type, got {checks.shown(self.dtype)} with domain={self.domain!r}; "
            "pass one of these"
        )

    def _dtype_for(self, x: Any) -> np.dtype[Any]:
        """Return the type chosen in training, unless auto and the input is of another kind."""
        whole = x.dtype.kind in "biu"
        if self._requested_dtype() is not None or self.domain == "fourier":
            return self.dtype_
        if not whole:
            return np.dtype(x.dtype if x.dtype in _FLOATS else np.float32)
        return self.dtype_ if self.dtype_.kind == "i" else np.dtype(np.int32)

    def _fitting_integer(self, x: Any) -> np.dtype[Any]:
        rows = np.unique(np.linspace(0, x.shape[0] - 1, _SAMPLE_ROWS).astype(np.intp))
        sample = np.empty((len(rows), self.n_components), dtype=np.float64)
        self._sketch(x[rows], sample)
        for dtype in _AUTO_INTEGERS:
            clipped = np.count_nonzero(np.abs(sample) > np.iinfo(dtype).max)
            if clipped <= self.clip_tolerance * sample.size:
                break
        self.clipped_share_ = clipped / sample.size
        return np.dtype(dtype)

    def _sketch(self, x: Any, out: NDArray[Any]) -> int:
        exact = out.dtype.kind == "i"
        if exact and x.dtype.kind == "f":
            values = x.data if checks.is_sparse(x) else x
            if not np.array_equal(values, np.floor(values)):
                raise DataError(
                    f"TensorSketch: an output of type {out.dtype} needs whole numbers as input, "
                    f"got {values[values != np.floor(values)].flat[0]}; pass dtype='float32'"
                )
        size = self.batch_size or max(1, _BATCH_BYTES // (8 * self.n_components))
        starts = range(0, x.shape[0], size)
        narrow = out.dtype != np.float64 and x.dtype != np.float64
        tasks = (
            delayed(self._sketch_batch)(x[lo : lo + size], out[lo : lo + size], narrow, exact)
            for lo in starts
        )
        n_jobs = self.n_jobs if len(starts) > 1 else 1
        return int(sum(Parallel(n_jobs=n_jobs, require="sharedmem")(tasks)))

    def _sketch_batch(self, x: Any, out: NDArray[Any], narrow: bool, exact: bool) -> int:
        """Sketch some rows into `out`, in single precision if `narrow` and accurate enough."""
        for precision in (np.float32, np.float64) if narrow else (np.float64,):
            with np.errstate(over="ignore", invalid="ignore"):  # what comes out is looked at
                sketches, error = self._count_sketches(x, precision)
                if exact and not error <= _SAFE:
                    continue
                signal = self._convolution(sketches)
                if self.domain == "fourier":
                    kernels.halfcomplex(signal, out)
                    return 0
                if not exact:
                    out[...] = signal
                    return 0
            limit = np.iinfo(out.dtype).max
            clipped, doubtful = kernels.round_and_clip(signal, limit, _SAFE, out)
            if doubtful == 0:
                return int(clipped)
        raise DataError(
            f"TensorSketch: at degree {self.degree} these numbers are too large for an exact "
            f"sketch; pass dtype='float64', or scale them down"
        )

    def _count_sketches(self, x: Any, dtype: Any) -> tuple[list[NDArray[Any]], float]:
        """Count Sketches (c1, c2), (c3, c4), ... of `x`, and the rounding error to expect.

        The transforms of a convolution err by about log2(m) units of the precision, relative to
        |c1| |c2| |c3| ..., in the Euclidean norm over all m entries; the random signs spread the
        error over these, and a factor of 8 leaves room for the largest of them. This chooses the
        precision; the outcome is checked as well, since exact sketches come out nearly whole.
        """
        m = self.n_components
        rows = x.shape[0]
        sketches = []
        product = np.ones(rows)
        for k in range(0, self.degree, 2):
            count = min(2, self.degree - k)
            pair = np.empty((rows, m, count), dtype=dtype)
            squares = np.empty((rows, count))
            _count_sketch(x, self.bucket_[k : k + 2], self.sign_[k : k + 2], pair, squares)
            product *= squares.prod(axis=1)
            sketches.append(pair)
        largest = float(np.sqrt(product.max(initial=0.0)))
        units = 8.0 * np.log2(m + 1) / m**0.5 * 2.0 ** max(0, self.degree - 2) * largest
        return sketches, float(units * np.finfo(dtype).eps)

    def _convolution(self, sketches: list[NDArray[Any]]) -> NDArray[Any]:
        """Convolve all sketches; in the Fourier domain, return the half spectrum instead."""
        m = self.n_components
        if self.degree == 1 and self.domain == "signal":
            return sketches[0][:, :, 0]
        kind = np.result_type(sketches[0].dtype, np.complex64)
        product = np.empty((len(sketches[0]), m // 2 + 1), dtype=kind)
        for k, pair in enumerate(sketches):
            if pair.shape[2] == 2:
                spectrum = fft.fft(pair.view(kind)[:, :, 0], overwrite_x=True)
                kernels.pair_spectrum(spectrum, product, k == 0)
            elif k == 0:
                product = fft.rfft(pair[:, :, 0])
            else:
                product *= fft.rfft(pair[:, :, 0])
        if self.domain == "fourier":
            return product
        return np.asarray(fft.irfft(product, n=m, overwrite_x=True))


def _count_sketch(
    x: Any,
    bucket: NDArray[np.int32],
    sign: NDArray[np.int8],
    sketches: NDArray[Any],
    squares: Floats,
) -> None:
    """Count Sketch dense or CSR rows of any type; few types reach the kernels."""
    if checks.is_sparse(x):
        data = x.data.astype(sketches.dtype, copy=False)
        rows = (x.indptr.astype(np.int32, copy=False), x.indices.astype(np.int32, copy=False), data)
        kernels.count_sketch_csr(rows, bucket, sign, sketches, squares)
        return
    if x.dtype == np.bool_:
        x = x.view(np.uint8)
    elif x.dtype != np.uint8:
        x = x.astype(sketches.dtype, copy=False)
    kernels.count_sketch_dense(np.ascontiguousarray(x), bucket, sign, sketches, squares)
