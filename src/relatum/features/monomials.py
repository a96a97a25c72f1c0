"""Random monomials: explicit products (ANDs) of a few features each, optionally local."""

from __future__ import annotations

import math
import operator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree
from sklearn.utils.validation import _check_feature_names_in

import relatum.kernels.learning.products as kernels
from relatum.array_types import Flags, Floats, Index
from relatum.errors import DataError
from relatum.features import checks
from relatum.features.checks import FeatureMap

_ROWS = 512  # multiplied by one task
_IDLE_ROUNDS = 20  # rounds without a new monomial after which there are taken to be no more


@dataclass(eq=False, repr=False)
class RandomMonomials(FeatureMap):
    """Products of `degree` distinct random features: ANDs, if the features are 01.

    They are components of the exact multilinear polynomial lifting, drawn at random. Features
    that do not vary in training are not drawn. On a grid, such as the pixels of an image, the
    features of a monomial can be required to lie close together.

    Parameters
    ----------
    n_components : int, default=1024
        The number of monomials. All differ; if there are not so many, there are fewer.
    degree : int, default=2
        Features per monomial (all of them, if there are fewer).
    random_state : int, RandomState, Generator or None, default=None
        Seeds the draw.
    image_shape : tuple of int, default=None
        The grid that the features lie on, for example (28, 28). Feature columns go point by
        point in C order, equally many of each point, as `BinaryFeatures` makes them.
    max_distance : float, default=None
        The largest Euclidean distance of any feature of a monomial from its first. Needs
        `image_shape`.
    binary : {"auto", True, False}, default="auto"
        Whether to require 01-features and return uint8. ``"auto"``: iff the training data are
        of boolean or integer type and all 0 or 1. Otherwise products of reals, as floats.
    n_jobs : int, default=None
        Threads, as in joblib. The result does not depend on it.

    Attributes
    ----------
    monomials_ : int32 ndarray of shape (components, degree)
        The features that each output column multiplies, ascending.
    binary_ : bool
        Whether the input must be 01-features.

    Examples
    --------
    >>> import numpy as np
    >>> from relatum.features import RandomMonomials
    >>> v = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> lifting = RandomMonomials(n_components=3, random_state=0).fit(v)
    >>> lifting.get_feature_names_out().tolist()
    ['x0 x1', 'x0 x2', 'x1 x2']
    >>> lifting.transform(v)
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]], dtype=uint8)
    """

    takes_sparse = True
    n_components: int = 1024
    degree: int = 2
    random_state: Any = None
    _: KW_ONLY
    image_shape: tuple[int, ...] | None = None
    max_distance: float | None = None
    binary: bool | str = "auto"
    n_jobs: int | None = None

    def fit(self, X: ArrayLike, y: Any = None) -> RandomMonomials:
        """Draw the monomials from the features that vary in `X`."""
        count = checks.checked_count(self, "n_components")
        degree = checks.checked_count(self, "degree")
        x = checks.checked_input(self, X, reset=True, accept_sparse="csr")
        rng = checks.checked_seed(self.random_state)
        self.binary_ = checks.fits_binary(self, x)
        points = self._points()
        candidates = np.flatnonzero(_varying(x))
        if len(candidates) < degree:
            candidates = np.arange(self.n_features_in_)
        degree = min(degree, len(candidates))
        neighbours = _Neighbours(candidates, points, self.max_distance)
        with checks.told_of_room(self, "n_components"):
            found = _drawn(neighbours, rng, count, degree)
        if len(found) == 0:
            raise DataError(
                f"RandomMonomials: no {degree} features lie within max_distance="
                f"{self.max_distance} of each other; pass a larger distance or a lower degree"
            )
        self.monomials_ = found[:count][np.lexsort(found[:count].T[::-1])]
        self._n_features_out = len(self.monomials_)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the products, of shape (rows, components)."""
        checks.checked_fitted(self)
        x = checks.checked_input(self, X, reset=False, accept_sparse="csr")
        x = checks.checked_values(self, x, binary=self.binary_)
        out = np.empty((x.shape[0], self._n_features_out), dtype=x.dtype)
        starts = range(0, x.shape[0], _ROWS)
        tasks = (delayed(self._multiply)(x[lo : lo + _ROWS], out[lo : lo + _ROWS]) for lo in starts)
        Parallel(n_jobs=self.n_jobs if len(starts) > 1 else 1, require="sharedmem")(tasks)
        checks.require_finite(out, self)
        return out

    def _multiply(self, x: Any, out: NDArray[Any]) -> None:
        rows = x.toarray() if checks.is_sparse(x) else x
        kernels.products(np.ascontiguousarray(rows), self.monomials_, out)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the monomials: ``x0 x1``."""
        checks.checked_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return checks.distinct([" ".join(names[s]) for s in self.monomials_])

    def _points(self) -> Floats | None:
        """Return the grid point of each feature, if any limit on the distance is set."""
        if self.image_shape is None:
            if self.max_distance is not None:
                raise DataError(
                    "RandomMonomials: max_distance needs image_shape, the grid that the features "
                    "lie on, got None; pass, for example, image_shape=(28, 28)"
                )
            return None
        with checks.told_of_input():
            shape = tuple(operator.index(side) for side in self.image_shape)
        total = math.prod(shape)
        if total < 1 or self.n_features_in_ % total:
            raise DataError(
                f"RandomMonomials: image_shape {shape} has {total} points, which must divide the "
                f"number of features, got {self.n_features_in_}; pass the shape of the image"
            )
        if self.max_distance is None:
            return None
        if not checks.is_number(self.max_distance, 0.0):
            raise DataError(
                "RandomMonomials: max_distance must be at least 0, got "
                f"{checks.shown(self.max_distance)}; "
                f"pass a distance in pixels"
            )
        grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
        return np.repeat(grid.reshape(total, -1), self.n_features_in_ // total, axis=0).astype(
            float
        )


def _drawn(
    neighbours: _Neighbours, rng: np.random.Generator, count: int, degree: int
) -> NDArray[np.int32]:
    """Draw sets until there are enough, or no new ones come."""
    found = np.empty((0, degree), dtype=np.int32)
    idle = 0
    while len(found) < count and idle < _IDLE_ROUNDS:
        drawn = neighbours.draw(rng, 2 * count + 64, degree)
        # np.unique sorts: keep the first occurrences, in the order drawn
        merged = np.concatenate([found, drawn])
        first = np.unique(merged, axis=0, return_index=True)[1]
        idle = idle + 1 if len(first) == len(found) else 0
        found = merged[np.sort(first)]
    return found


class _Neighbours:
    """Draws sets of candidate features near a first one, uniform over (first, others)."""

    def __init__(
        self,
        candidates: NDArray[np.intp],
        points: Floats | None,
        distance: float | None,
    ) -> None:
        self.candidates = candidates.astype(np.int32)
        self.places: Index | None = None
        if points is None or distance is None:
            return
        # candidates at each point, and points near each point, as ragged arrays
        spots, self.places = np.unique(points[candidates], axis=0, return_inverse=True)
        self.places = self.places.ravel()
        order = np.argsort(self.places, kind="stable")
        at = np.split(order, np.cumsum(np.bincount(self.places))[:-1])
        balls: Any = cKDTree(spots).query_ball_point(spots, distance, return_sorted=True)
        near = [np.concatenate([at[q] for q in ball]) for ball in balls]
        self.sizes = np.array([len(some) for some in near])
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.near = np.concatenate(near)

    def draw(self, rng: np.random.Generator, count: int, degree: int) -> NDArray[np.int32]:
        """Draw at most `count` sets, ascending; those with a feature twice are dropped."""
        n = len(self.candidates)
        chosen = rng.integers(0, n, size=(count, degree))
        if self.places is not None:
            place = self.places[chosen[:, 0]]
            offset = rng.integers(0, self.sizes[place][:, None], size=(count, degree - 1))
            chosen[:, 1:] = self.near[self.starts[place][:, None] + offset]
        chosen.sort(axis=1)
        distinct = (np.diff(chosen, axis=1) > 0).all(axis=1)
        return self.candidates[chosen[distinct]]


def _varying(x: Any) -> Flags:
    """Tell which columns of a dense or CSR matrix hold two different values."""
    if not checks.is_sparse(x):
        return np.asarray(x.min(axis=0) != x.max(axis=0))
    low, high = x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()
    return np.asarray(low != high)
