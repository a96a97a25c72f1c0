"""A first-order linear programming engine for cutting planes.

It maximises c x over sparse rows low <= a x <= high and a box, approximately, and keeps a
pool of rows by family. Its accuracy never touches correctness: **any** multipliers y give
the bound

    sum over rows of max(low y, high y) + sum over columns of max(lower r, upper r),

with the reduced costs r = c - A'y, where a missing side (-inf or inf) only asks for the sign
of y that the engine keeps. So the engine is warm-started, stopped and changed at will.

A round of cutting planes reads:

>>> import numpy as np
>>> lp = FirstOrderLP(np.array([2.0, 3.0, -4.0]))            # pairs 01, 12, 02
>>> lp.add_triples("transitive", [[0, 1, 2]], [[0, 1, 2]])   # x_01 + x_12 - x_02 <= 1
>>> bound = lp.run(500)
>>> round(bound, 6), lp.x.round(6).tolist()
(3.0, [0.0, 1.0, 0.0])
>>> y = lp.pool["transitive"].multipliers     # any y >= 0 proves the bound y + sum max(0, c - A'y)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from relatum.array_types import Floats, Index
from relatum.kernels.first_order import activity, iterate, price, scaled_norm


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of one family: what they are called, what they say, what they weigh.

    Attributes
    ----------
    index : int64 array (r, width)
        How a certificate names each row; padded with -1.
    triples : int32 array (r, 3), or None
        Columns i, j, k of rows x_i + x_j - x_k.
    matrix : scipy.sparse.csr_array (r, columns), or None
        The rows, where they are not triples.
    low, high : float64 arrays (r,)
        Sides of the rows; -inf and inf where a side is missing.
    multipliers : float64 array (r,)
        Positive multipliers weigh the high side, negative ones the low side.
    idle : int64 array (r,)
        Rounds for which the row has been slack with multiplier zero.
    """

    index: Index
    triples: NDArray[np.int32] | None
    matrix: Any
    low: Floats
    high: Floats
    multipliers: Floats
    idle: Index

    def __len__(self) -> int:
        return len(self.high)

    def take(self, keep: NDArray[Any]) -> RowBlock:
        """Return the rows chosen by a mask or by numbers."""
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        some: dict[str, Any] = {k: None if v is None else v[keep] for k, v in arrays.items()}
        return RowBlock(**some)

    def joined(self, other: RowBlock) -> RowBlock:
        """Return these rows followed by others of the same family."""
        width = max(self.index.shape[1], other.index.shape[1])
        both = (self, other)
        triples = None
        if self.triples is not None and other.triples is not None:
            triples = np.concatenate([self.triples, other.triples])
        return RowBlock(
            np.concatenate([_padded(b.index, width) for b in both]),
            triples,
            None if self.matrix is None else sparse.vstack([b.matrix for b in both], format="csr"),
            np.concatenate([b.low for b in both]),
            np.concatenate([b.high for b in both]),
            np.concatenate([b.multipliers for b in both]),
            np.concatenate([b.idle for b in both]),
        )


def _padded(index: Index, width: int) -> Index:
    if index.shape[1] == width:
        return index
    return np.pad(index, ((0, 0), (0, width - index.shape[1])), constant_values=-1)


def _new_block(index: ArrayLike, triples: Any, matrix: Any, sides: tuple[Any, Any]) -> RowBlock:
    names = np.atleast_2d(np.asarray(index, dtype=np.int64))
    r = len(names)
    low, high = (np.broadcast_to(np.asarray(s, dtype=np.float64), r).copy() for s in sides)
    return RowBlock(names, triples, matrix, low, high, np.zeros(r), np.zeros(r, dtype=np.int64))


@dataclass
class FirstOrderLP:
    """max c x over the pool's rows and the box, by restarted reflected Halpern PDHG.

    Parameters
    ----------
    objective : float64 array (columns,)
    lower, upper : floats or float64 arrays (columns,)
        Finite.

    Attributes
    ----------
    x : float64 array (columns,)
        The current point, in the box; it satisfies the rows approximately.
    pool : dict from family name to `RowBlock`
    bound : float
        The bound of the current multipliers, computed anew by every `run`, and raised by what
        rounding may have taken from it.
    reduced : float64 array (columns,)
        c - A'y of the current multipliers.
    error : float64 array (columns,)
        What rounding may have done to each of these.
    expired : callable, optional
        Asked often; once it says True, every run ends with what it has.

    Notes
    -----
    Rows may be added (`add_triples`, `add_rows`) and dropped (`drop`, `drop_idle`), columns
    fixed (`fix`) and merged (`remap`) between runs; the point and the multipliers stay.
    """

    objective: Floats
    lower: Any = 0.0
    upper: Any = 1.0
    pool: dict[str, RowBlock] = field(default_factory=dict)
    expired: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        self.objective = np.ascontiguousarray(self.objective, dtype=np.float64)
        n = self.objective.size
        self.lower = np.broadcast_to(np.asarray(self.lower, dtype=np.float64), n).copy()
        self.upper = np.broadcast_to(np.asarray(self.upper, dtype=np.float64), n).copy()
        self.x: Floats = np.where(self.objective > 0, self.upper, self.lower)
        self.reduced: Floats = self.objective.copy()
        self._control = np.array([0.0, 1.0, 0.0, 0.0])
        self._assembled: tuple[Any, Floats, Floats, Index] | None = None
        self._scale = 0.0  # of the steps for the rows assembled; 0 if not known
        self._take_bound(0.0, 0.0)

    def _take_bound(self, sides: float, taken: Any) -> None:
        """Set the bound, for right-hand sides that add up to this, and the errors.

        `taken` has the sum of the absolute values that rows take from each column, times how
        many these are: each addition is off by 2**-53 of a partial sum at most. A column that
        is at zero at its best, and clearly so, adds no error, however large it is.
        """
        r, c = self.reduced, np.abs(self.objective)
        best = np.maximum(self.lower * r, self.upper * r)
        self.error = 2.0**-52 * (4.0 * c + taken)
        idle = (self.lower == 0) & (r < -self.error) | (self.upper == 0) & (r > self.error)
        reach = np.maximum(np.abs(self.lower), np.abs(self.upper))
        error = float((self.error * np.where(idle, 0.0, reach)).sum())
        error += 2.0**-47 * (float(np.abs(best).sum()) + abs(sides))
        self.bound = float(sides + best.sum()) + 1.001 * error

    @property
    def n_rows(self) -> int:
        """The number of rows in the pool."""
        return sum(len(b) for b in self.pool.values())

    def add_triples(
        self, name: str, index: ArrayLike, columns: ArrayLike, low: Any = -np.inf, high: Any = 1.0
    ) -> None:
        """Add rows low <= x_i + x_j - x_k <= high; ``columns`` holds i, j, k per line."""
        triples = np.ascontiguousarray(np.atleast_2d(columns), dtype=np.int32)
        self._add(name, _new_block(index, triples, None, (low, high)))

    def add_rows(
        self, name: str, index: ArrayLike, matrix: Any, low: Any = -np.inf, high: Any = 1.0
    ) -> None:
        """Add general rows low <= matrix x <= high; ``matrix`` is a scipy.sparse.csr_array."""
        matrix = sparse.csr_array(matrix, dtype=np.float64)
        self._add(name, _new_block(index, None, matrix, (low, high)))

    def _add(self, name: str, block: RowBlock) -> None:
        if len(block):
            old = self.pool.get(name)
            self.pool[name] = block if old is None else old.joined(block)
            self._assembled = None

    def drop(self, name: str, keep: NDArray[Any]) -> None:
        """Keep only the chosen rows of a family."""
        self.pool[name] = self.pool[name].take(keep)
        self._assembled = None

    def drop_idle(self, slack: float = 0.08, rounds: int = 3) -> int:
        """Drop rows with zero multiplier and more slack than this for so many rounds.

        Call it once per round, after `run`; returns the number of rows dropped.
        """
        before = self.n_rows
        rows, _, _, used = self._assemble()
        values = self._by_block(activity(rows, self.x[used]))
        for name, block in list(self.pool.items()):
            room = np.minimum(block.high - values[name], values[name] - block.low)
            idle = np.where((room > slack) & (block.multipliers == 0), block.idle + 1, 0)
            self.pool[name] = replace(block, idle=idle)
            if (idle >= rounds).any():
                self.drop(name, idle < rounds)
        return before - self.n_rows

    def drop_implied(self) -> int:
        """Drop rows that every point of the box satisfies; return how many.

        Without such a row the bound of the remaining multipliers is never worse.
        """
        before = self.n_rows
        low, high = self.lower, self.upper
        for name, block in list(self.pool.items()):
            if block.triples is not None:
                i, j, k = block.triples.T
                most, least = high[i] + high[j] - low[k], low[i] + low[j] - high[k]
            else:
                up, down = block.matrix.maximum(0), block.matrix.minimum(0)
                most, least = up @ high + down @ low, up @ low + down @ high
            keep = (most > block.high) | (least < block.low)
            if not keep.all():
                self.drop(name, keep)
        return before - self.n_rows

    def fix(self, columns: NDArray[Any], values: ArrayLike) -> None:
        """Fix columns to values, within the box."""
        self.lower[columns] = values
        self.upper[columns] = values
        self.x[columns] = values
        if self._assembled is not None:  # the rows stay: only their box is new
            _, _, box, used = self._assembled
            box[1], box[2] = self.lower[used], self.upper[used]

    def remap(self, columns: Index, target: FirstOrderLP, keep: dict[str, Any]) -> None:
        """Carry point, multipliers and chosen rows to a problem with merged columns.

        Parameters
        ----------
        columns : int64 array
            The new column of each old one; -1 for none.
        target : FirstOrderLP
            The new problem, without rows.
        keep : dict from family to (rows to keep, their new index array)
            Kept rows must not lose a column, nor have two columns merged.
        """
        here = columns >= 0
        target.x[columns[here]] = self.x[here]
        np.clip(target.x, target.lower, target.upper, out=target.x)
        for name, (rows, index) in keep.items():
            block = self.pool[name].take(rows)
            triples = matrix = None
            if block.triples is not None:
                triples = columns[block.triples].astype(np.int32)
            else:
                old = block.matrix
                parts = (old.data, columns[old.indices].astype(np.int32), old.indptr)
                matrix = sparse.csr_array(parts, shape=(len(block), target.objective.size))
            target.pool[name] = replace(block, index=index, triples=triples, matrix=matrix)
        target._control = self._control.copy()
        target._assembled = None
        target.evaluate()

    def copy(self) -> FirstOrderLP:
        """Return an independent copy with the same point and multipliers."""
        other = FirstOrderLP(self.objective, self.lower, self.upper, dict(self.pool), self.expired)
        other.x = self.x.copy()
        other.reduced, other.bound, other.error = self.reduced.copy(), self.bound, self.error
        other._control = self._control.copy()
        # rows are never changed in place, so that copies share them; the box is
        rows, sides, box, used = self._assemble()
        other._assembled, other._scale = (rows, sides, box.copy(), used), self._step_scale()
        return other

    def run(self, iterations: int = 150) -> float:
        """Iterate from the current point and multipliers; return the bound they prove."""
        rows, sides, box, used = self._assemble()
        y = self._multipliers()
        free = np.where(self.objective > 0, self.upper, self.lower)
        if len(y):
            if self._control[3] <= 0:
                size = float(np.abs(box[0]).mean())
                self._control[[0, 3]] = size if size > 0 else 1.0
            self._control[1] = self._step_scale()
            x = self.x[used]
            iterate(rows, sides, box, x, y, self._control, iterations, self.expired)
            free[used] = x
        self.x = free  # a column in no row is at its better bound
        for name, part in self._by_block(y).items():
            self.pool[name] = replace(self.pool[name], multipliers=part)
        return self.evaluate()

    def _multipliers(self) -> Floats:
        return np.concatenate([np.empty(0), *(b.multipliers for b in self.pool.values())])

    def evaluate(self) -> float:
        """Compute reduced costs and bound of the multipliers from scratch."""
        rows, sides, box, used = self._assemble()
        y = self._multipliers()
        self.reduced = self.objective.copy()
        self.reduced[used] -= price(rows, y, used.size)
        side = np.where(y > 0, sides[1], np.where(y < 0, sides[0], 0.0))
        taken = np.zeros(self.objective.size)
        taken[used] = (4.0 + 1.0 / box[3]) * (_absolute_price(rows, y, used.size) + np.abs(box[0]))
        self._take_bound(float((y * side).sum()), taken)
        return self.bound

    def _by_block(self, values: Floats) -> dict[str, Floats]:
        ends = np.cumsum([len(b) for b in self.pool.values()])
        return dict(zip(self.pool, np.split(values, ends[:-1]), strict=True)) if self.pool else {}

    def _assemble(self) -> tuple[Any, Floats, Floats, Index]:
        """Rows, sides and box as the kernels want them, on the columns that are in a row.

        Triples come first in the pool.
        """
        if self._assembled is not None:
            return self._assembled
        self.pool = dict(sorted(self.pool.items(), key=lambda b: b[1].triples is None))
        blocks = list(self.pool.values())
        n = self.objective.size
        triples = np.concatenate([_NO_TRIPLES, *(b.triples for b in blocks if b.matrix is None)])
        start, column, data = _compressed([b.matrix for b in blocks if b.matrix is not None])
        size = np.abs(data)
        degree = np.bincount(triples.reshape(-1), minlength=n).astype(np.float64)
        degree += np.bincount(column, weights=size, minlength=n)
        used = np.flatnonzero(degree)
        new = np.cumsum(degree > 0, dtype=np.int32) - np.int32(1)
        rows = (new[triples], start, new[column], data)
        length = np.full(self.n_rows, 3.0)
        owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
        total = np.bincount(owner, weights=size, minlength=len(start) - 1)
        length[len(triples) :] = np.maximum(total, 1e-9)
        sides = np.empty((3, len(length)))
        sides[0] = np.concatenate([np.empty(0), *(b.low for b in blocks)])
        sides[1] = np.concatenate([np.empty(0), *(b.high for b in blocks)])
        sides[2] = 1 / length
        box = np.stack([v[used] for v in (self.objective, self.lower, self.upper, degree)])
        box[3] = 1 / box[3]
        self._assembled, self._scale = (rows, sides, box, used), 0.0
        return self._assembled

    def _step_scale(self) -> float:
        """Return 0.99 / (1.05 norm) of the diagonally scaled matrix, by power iteration."""
        rows, sides, box, _ = self._assemble()
        if not self._scale:
            v: Floats = 1.0 + np.random.default_rng(0).random((box.shape[1],))
            norm = scaled_norm(rows, sides, box, v / np.sqrt((v * v).sum()), 12)
            # the diagonal steps guarantee a norm of at most one
            self._scale = max(0.99, 0.99 / (1.05 * norm)) if norm > 0 else 0.99
        return self._scale


def _absolute_price(rows: Any, y: Floats, n: int) -> Floats:
    """Return |A|'|y|."""
    triples, start, column, data = rows
    size, count = np.abs(y), len(triples)
    out = np.zeros(n)
    for ends in triples.T:
        out += np.bincount(ends, weights=size[:count], minlength=n)
    if len(data):
        terms = np.abs(data) * np.repeat(size[count:], np.diff(start))
        out += np.bincount(column, weights=terms, minlength=n)
    return out


def _compressed(blocks: list[Any]) -> tuple[Index, NDArray[np.int32], Floats]:
    """Return starts, columns and coefficients of sparse rows, one block after the other."""
    ends = [b.indptr[1:] + shift for b, shift in zip(blocks, _shifts(blocks), strict=True)]
    start = np.concatenate([np.zeros(1, dtype=np.int64), *ends]).astype(np.int64)
    column = np.concatenate([np.empty(0, dtype=np.int32), *(b.indices for b in blocks)])
    data = np.concatenate([np.empty(0), *(b.data for b in blocks)])
    return start, column.astype(np.int32), data.astype(np.float64)


def _shifts(blocks: list[Any]) -> list[int]:
    return [int(k) for k in np.cumsum([0, *(b.nnz for b in blocks)])[:-1]]


_NO_TRIPLES = np.empty((0, 3), dtype=np.int32)
