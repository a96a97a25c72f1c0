"""What a checker sees of a problem: scores, what is fixed, and bounds pair by pair.

A view holds the scores of all pairs on a grid of exact numbers, and for every pair whether it
is fixed. Its central question is `best`: the largest sum of given coefficients over all ways
to set the pairs, respecting what is fixed and the properties that speak of two pairs only
(symmetric, antisymmetric, connex), each unordered pair on its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet, Problem
from relatum.proof.certificate import Cuts, SparseRows
from relatum.proof.checker.numbers import Grid, Limbs
from relatum.proof.checker.view import Bound, View, best_single, grid_of_rows, hereditary

Residual = tuple[Limbs, int]


class DenseView(View):
    """A view with one entry for every ordered pair."""

    bytes_per_pair = 1 + 16 + 8  # the state, the score in two limbs, and `upper`

    def __init__(
        self, scores: Limbs, state: NDArray[np.int8], feasible: FeasibleSet, grid: Grid
    ) -> None:
        self.scores = scores
        self.state = state
        self.feasible = feasible
        self.grid = grid
        self.homogeneous = feasible.homogeneous
        self.shape = (int(scores.shape[0]), int(scores.shape[1]))
        if self.homogeneous:
            self.upper = np.triu_indices(self.shape[0], 1)
            self._close_state()

    def _close_state(self) -> None:
        """Carry fixed pairs over to their mirror pairs."""
        i, j = self.upper
        s = self.state
        for f, b in (((i, j), (j, i)), ((j, i), (i, j))):
            for name, targets in (
                ("symmetric", ((1, 1), (0, 0))),
                ("antisymmetric", ((1, 0),)),
                ("connex", ((0, 1),)),
            ):
                if not self.feasible.has(name):
                    continue
                for here, there in targets:
                    follows = s[f] == here
                    self.empty = self.empty or bool((follows & (s[b] == 1 - there)).any())
                    s[b] = np.where(follows, there, s[b])

    @property
    def size(self) -> int:
        return self.state.size * self.bytes_per_pair

    @property
    def n_scores(self) -> int:
        return self.state.size

    def copy(self) -> DenseView:
        other = super().copy()
        other.state, other.bytes_per_pair = self.state.copy(), 1
        return other

    def state_of(self, a: int, b: int) -> int:
        return int(self.state[a, b])

    def _put(self, a: int, b: int, value: int) -> None:
        self.state[a, b] = value

    def residual(self, cuts: Sequence[Cuts]) -> Residual:
        """Return (c - A'y, b y) of some cuts."""
        return self._reduced(self.scores.copy(), cuts, self.grid)

    def residual_of_rows(self, cuts: Sequence[Cuts]) -> Residual:
        """Return (-A'y, b y), on a grid of their own: what rows say without log-odds."""
        return self._reduced(Limbs.zeros(self.shape), cuts, grid_of_rows(cuts))

    def _reduced(self, r: Limbs, cuts: Sequence[Cuts], grid: Grid) -> Residual:
        flat = r.ravel()  # a view: r is contiguous

        def subtract(rows: SparseRows, terms: Limbs) -> None:
            flat.subtract_at(rows.a * self.shape[1] + rows.b, terms)

        return r, self.read(cuts, grid, subtract)

    def best(self, residual: Any) -> Bound:
        """Return the constant plus the best sum of the coefficients over open states."""
        r, constant = cast(Residual, residual)
        if self.empty:
            return None
        if not self.homogeneous:
            return constant + best_single(r, self.state).total()
        i, j = self.upper
        diagonal = best_single(r.diagonal(), np.diagonal(self.state))
        both, possible = self._best_double(r, (i, j), self.state[i, j], self.state[j, i])
        return constant + diagonal.total() + both.total() if possible.all() else None

    def best_of_rows(self, residual: Any) -> Bound:
        """Return the same for rows without log-odds."""
        return self.best(residual)

    def unordered(self, residual: Any) -> tuple[Any, ...]:
        """Return unordered pairs i, j, their coefficients and states, and the constant."""
        (r, constant), (i, j) = residual, self.upper
        constant += r.diagonal().total()  # all related to themselves
        return i, j, r[i, j] + r[j, i], self.state[i, j], constant

    def _best_double(
        self,
        r: Limbs,
        where: tuple[Index, Index],
        forward: NDArray[np.int8],
        backward: NDArray[np.int8],
    ) -> tuple[Limbs, Flags]:
        """Return the best sums of two mirror pairs each, and whether a state is open to them."""
        i, j = where
        best = Limbs.zeros(len(i))
        possible = np.zeros(len(i), dtype=np.bool_)
        for (xf, xb), worth in self._states_with(r[i, j], r[j, i]):
            allowed = ((forward < 0) | (forward == xf)) & ((backward < 0) | (backward == xb))
            better = allowed & (~possible | worth.exceeds(best))
            best = worth.or_else(better, best)
            possible |= allowed
        return best, possible

    def _states_with(self, rf: Limbs, rb: Limbs) -> Iterator[tuple[tuple[int, int], Limbs]]:
        """Yield the states (x_ab, x_ba) that pairwise properties admit, with what they add."""
        has = self.feasible.has
        if not has("connex"):
            yield (0, 0), Limbs.zeros(len(rf))
        if not has("symmetric"):
            yield (0, 1), rb
            yield (1, 0), rf
        if not has("antisymmetric"):
            yield (1, 1), rf + rb

    def best_if_not(self, residual: Any, pairs: Any, values: Any) -> list[Bound]:
        """Return, for each pair, the bound under the opposite of its value."""
        r, _ = residual
        index = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        for pair in index[((index < 0) | (index >= self.shape)).any(axis=1)]:
            self.pair(pair)
        total = self.best(residual)
        if total is None:
            return [None] * len(index)
        a, b = index.T
        now = self.state[a, b]
        other = (~np.asarray(values, dtype=np.bool_)).astype(np.int8)
        possible = (now < 0) | (now == other)
        here, there = best_single(r[a, b], now), best_single(r[a, b], other)
        if self.homogeneous:
            double, mirror = a != b, self.state[b, a]
            here = self._best_double(r, (a, b), now, mirror)[0].or_else(double, here)
            both, open_ = self._best_double(r, (a, b), other, mirror)
            there = both.or_else(double, there)
            possible &= open_ | ~double
        changes = (there - here).tolist()
        return [total + c if p else None for c, p in zip(changes, possible.tolist(), strict=True)]

    def best_between(self, parts: Sequence[Index]) -> Bound:
        """Best sum over the pairs that lie within none of the parts."""
        if not self.homogeneous:
            raise CertificateError("Only relations on one set decompose by elements.")
        owner = self.owners(parts)
        i, j = self.upper
        out = (owner[i] != owner[j]) | (owner[i] < 0)
        i, j = i[out], j[out]
        both, possible = self._best_double(self.scores, (i, j), self.state[i, j], self.state[j, i])
        diagonal = best_single(self.scores.diagonal(), np.diagonal(self.state))
        if self.empty or not possible.all():
            return None
        return both.total() + diagonal[owner < 0].total()

    def divided(self, parts: Sequence[Index]) -> Iterator[DenseView]:
        """Yield views of the problem on the elements of each part alone."""
        feasible = hereditary(self.feasible)
        for elements in parts:
            index = np.ix_(elements, elements)
            yield DenseView(self.scores[index], self.state[index].copy(), feasible, self.grid)

    def contracted(self, labels: Any) -> DenseView:
        """View in which elements with equal labels, known to be related, are one."""
        if not self.feasible.has("reflexive", "symmetric", "transitive"):
            raise CertificateError("Only equivalence relations contract related elements.")
        labels = self.checked_labels(labels, "A contraction")
        self.require_related(labels, *np.nonzero(self.state == 1))
        g = int(labels.max()) + 1
        zeros, ones = np.zeros((g, g), np.bool_), np.eye(g, dtype=np.bool_)
        for target, value in ((zeros, 0), (ones, 1)):
            a, b = np.nonzero(self.state == value)
            target[labels[a], labels[b]] = True
        state = np.where(ones, 1, np.where(zeros, 0, -1)).astype(np.int8)
        scores = self.summed(self.scores, labels)
        view = DenseView(scores, state, self.feasible.structure, self.grid)
        view.empty = view.empty or self.empty or bool((ones & zeros).any())
        return view

    def summed(self, matrix: Limbs, labels: Index) -> Limbs:
        """Return the sums of a square over the pairs of elements of every two classes."""
        g = int(labels.max()) + 1
        place = (labels[:, None] * g + labels[None, :]).ravel()
        sums = matrix.ravel().sums(place, g * g)
        return Limbs(sums.high.reshape(g, g), sums.low.reshape(g, g))

    def values_on(self) -> tuple[int, int]:
        c = self.scores
        if not self.homogeneous:
            return c.divisor(), 0
        i, j = self.upper
        f, b, d = c[i, j], c[j, i], c.diagonal()
        steps, offset = [], 0
        if self.feasible.has("reflexive"):
            offset += d.total()
        else:
            steps.append(d)
        if self.feasible.has("symmetric"):
            steps.append(f + b)
        elif self.feasible.has("antisymmetric", "connex"):
            steps.append(f - b)
            offset += b.total()
        else:
            steps += [f, b]
        return common_divisor(steps), offset


def common_divisor(numbers: Sequence[Limbs]) -> int:
    """Return a number that divides all."""
    return math.gcd(*(limbs.divisor() for limbs in numbers))


def dense_view(problem: Problem, grid: Grid) -> DenseView:
    """Return the view of a problem with an entry for every ordered pair."""
    view = DenseView(
        grid.scores(problem.dense()), problem.state.copy(), problem.feasible.complete, grid
    )
    view.empty = view.empty or problem.contradicts_itself
    return view
