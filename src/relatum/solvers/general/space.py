"""From pairs to the variables of a linear program.

Mirror pairs share a variable where the feasible set is symmetric (x_ba = x_ab) or
antisymmetric and connex (x_ba = 1 - x_ab); every other pair has its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from relatum.array_types import Flags, Floats, Index
from relatum.problem import Problem
from relatum.proof import FAMILIES, Cuts


class PairSpace:
    """The variables of a problem.

    Attributes
    ----------
    variable : int64 array (n_a, n_b)
        The variable of each pair.
    flipped : bool array (n_a, n_b)
        Whether the pair is one minus its variable.
    pairs : int64 array (m, 2)
        One pair of each variable, never a flipped one.
    cost, constant
        value = constant + cost x.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        feasible, shape = problem.feasible, problem.shape
        number = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
        self.flipped = np.zeros(shape, dtype=np.bool_)
        below = np.tril(np.ones(shape, dtype=np.bool_), -1)
        if feasible.has("symmetric"):
            number = np.where(below, number.T, number)
        elif feasible.has("antisymmetric", "connex"):
            number = np.where(below, number.T, number)
            self.flipped = below
        kept, self.variable = np.unique(number, return_inverse=True)
        self.variable = self.variable.reshape(shape).astype(np.int64)
        self.pairs: Index = np.column_stack(np.divmod(kept, shape[1])).astype(np.int64)
        c = problem.dense()
        self.cost: Floats = np.zeros(len(kept))
        np.add.at(self.cost, self.variable, np.where(self.flipped, -c, c))
        self.constant = math.fsum(c[self.flipped])

    @property
    def size(self) -> int:
        """The number of variables."""
        return len(self.pairs)

    def rows(self, family: str, index: Index) -> tuple[Any, Floats]:
        """Return (CSR matrix, right-hand sides) of rows of a family, in variables."""
        rows = FAMILIES[family].rows(index, self.problem.shape)
        row = rows.row_of_term()
        flipped = self.flipped[rows.a, rows.b]
        coefficient = np.where(flipped, -rows.coefficient, rows.coefficient).astype(np.float64)
        rhs = rows.rhs.astype(np.float64)
        np.subtract.at(rhs, row[flipped], rows.coefficient[flipped])
        columns = self.variable[rows.a, rows.b]
        matrix = coo_array((coefficient, (row, columns)), shape=(len(rows), self.size)).tocsr()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix, rhs

    def matrix_of(self, x: Floats) -> Floats:
        """Return the point x as a matrix of pairs."""
        y = x[self.variable]
        return np.where(self.flipped, 1.0 - y, y)

    def box(self, state: NDArray[np.int8]) -> tuple[Floats, Floats]:
        """Return the lower and upper bounds of the variables in a closed state."""
        s = state[self.pairs[:, 0], self.pairs[:, 1]]
        return (s == 1).astype(np.float64), (s != 0).astype(np.float64)


class RowPool:
    """The rows of the linear program, by family and index, without repeats."""

    def __init__(self, space: PairSpace) -> None:
        self.space = space
        self.family: list[str] = []
        self.index: list[tuple[int, ...]] = []
        self.matrix: Any = None
        self.rhs: Floats = np.empty(0)
        self._known: set[tuple[str, tuple[int, ...]]] = set()

    def __len__(self) -> int:
        return len(self.family)

    def add(self, family: str, index: Index) -> tuple[Any, Floats] | None:
        """Add the rows that are new; return them, or None if there are none."""
        fresh = []
        for row in map(tuple, index.tolist()):
            key = (family, row)
            if key not in self._known:
                self._known.add(key)
                fresh.append(row)
        if not fresh:
            return None
        matrix, rhs = self.space.rows(family, np.array(fresh, dtype=np.int64))
        self.family += [family] * len(fresh)
        self.index += fresh
        if self.matrix is None:
            self.matrix = matrix
        else:
            from scipy.sparse import vstack

            self.matrix = vstack([self.matrix, matrix], format="csr")
        self.rhs = np.concatenate([self.rhs, rhs])
        return matrix, rhs

    def keep(self, keep: Flags) -> None:
        """Forget rows."""
        for k in np.flatnonzero(~keep):
            self._known.discard((self.family[k], self.index[k]))
        kept = np.flatnonzero(keep)
        self.family = [self.family[k] for k in kept]
        self.index = [self.index[k] for k in kept]
        self.matrix, self.rhs = self.matrix[kept], self.rhs[kept]

    def reduced_costs(self, cost: Floats, y: Floats) -> tuple[Floats, float]:
        """Return (c - A'y, b y)."""
        if len(self) == 0:
            return cost, 0.0
        return cost - self.matrix.T @ y, float(self.rhs @ y)

    def cuts(self, y: Floats) -> tuple[Cuts, ...]:
        """Return the rows with positive multipliers, by family.

        Rows that speak of mirror pairs only are left out: the checker treats them exactly.
        """
        out = []
        positive = np.flatnonzero(y > 0)
        for family in sorted({self.family[k] for k in positive}):
            if family in ("symmetric", "antisymmetric", "connex"):
                continue
            own = [k for k in positive if self.family[k] == family]
            index = np.array([self.index[k] for k in own], dtype=np.int64)
            out.append(Cuts(family, index, y[own]))
        return tuple(out)
