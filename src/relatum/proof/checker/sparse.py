"""Views of large clustering problems, which hold touched pairs only.

For equivalence relations, an unordered pair that is not listed, not fixed and in no row
contributes max(0, background) to a bound, and all of these together one product. So a
bound over a million elements costs as much as there are listed pairs and terms of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet, Problem, SparseScores
from relatum.proof.certificate import Cuts, SparseRows
from relatum.proof.checker.dense import DenseView, common_divisor, dense_view
from relatum.proof.checker.numbers import Grid, Limbs
from relatum.proof.checker.view import (
    Bound,
    Pair,
    View,
    best_single,
    grid_of_rows,
    hereditary,
)

Residual = tuple[Index, Limbs, int]
DENSE_ELEMENTS = 2000  # up to so many elements, a dense view is quicker


class SparseView(View):
    """A view of an equivalence problem with entries for touched unordered pairs only.

    A pair i < j has the key i * n + j. `keys` are sorted; `scores` belong to them; any other
    pair has the background score. `diagonal` holds the scores of the elements themselves.
    """

    bytes_per_score = 24  # the key, and the score in two limbs

    def __init__(
        self,
        keys: Index,
        scores: Limbs,
        background: int,
        n: int,
        feasible: FeasibleSet,
        grid: Grid,
    ) -> None:
        self.keys, self.scores, self.n = keys, scores, n
        self.background = background
        self.feasible, self.grid = feasible, grid
        self.shape = (n, n)
        self.diagonal = Limbs.zeros(n)
        self.groups: tuple[Index, ...] = ()
        self.fixed: dict[int, bool] = {}

    @property
    def complete(self) -> bool:
        """Whether every pair is listed."""
        return len(self.keys) == self.n * (self.n - 1) // 2

    @property
    def size(self) -> int:
        return 100 * (1 + len(self.fixed)) + self.bytes_per_score * self.n_scores

    @property
    def n_scores(self) -> int:
        return len(self.keys) + self.n

    def copy(self) -> SparseView:
        other = super().copy()
        other.fixed, other.bytes_per_score = dict(self.fixed), 0
        return other

    def state_of(self, a: int, b: int) -> int:
        if a == b:
            return 1
        if any(g[a] == g[b] for g in self.groups):
            return 0
        return int(self.fixed.get(min(a, b) * self.n + max(a, b), -1))

    def _consequences(self, pair: Sequence[int], value: bool) -> list[tuple[int, int, int]]:
        return [(*self.pair(pair), int(value))]

    def _put(self, a: int, b: int, value: int) -> None:
        if a != b:
            self.fixed[min(a, b) * self.n + max(a, b)] = bool(value)

    def _unknown(self, a: int, b: int) -> Pair:
        return min(a, b), max(a, b)

    def _places(self, keys: Index, wanted: Index) -> Index:
        """Return where keys stand among sorted ones that hold them."""
        if len(keys) == self.n * (self.n - 1) // 2:  # all pairs: nothing to search
            a, b = wanted // self.n, wanted % self.n
            return a * (2 * self.n - a - 1) // 2 + b - a - 1
        return np.searchsorted(keys, wanted)

    def _touched(self, wanted: Index) -> Index:
        """Return the listed keys and those wanted, sorted."""
        if self.complete or not len(wanted):
            return self.keys
        missing = wanted[~_contained(wanted, self.keys)]
        return np.union1d(self.keys, missing) if len(missing) else self.keys

    def residual(self, cuts: Sequence[Cuts]) -> Residual:
        """Return (touched keys, c - A'y at them, b y and the diagonal)."""
        read, constant = self._unordered_rows(cuts, self.grid)
        fixed = np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed))
        keys = self._touched(np.concatenate([fixed, *(k for k, _ in read)]))
        if keys is self.keys:
            r = self.scores.copy()
        else:
            r = Limbs.of_ints([self.background])[np.zeros(len(keys), dtype=np.int64)]
            place = self._places(keys, self.keys)
            r.high[place], r.low[place] = self.scores.high, self.scores.low
        for own, terms in read:
            r.subtract_at(self._places(keys, own), terms)
        return keys, r, constant + self.diagonal.total()

    def residual_of_rows(self, cuts: Sequence[Cuts]) -> Residual:
        """Return (touched keys, -A'y at them, b y): what rows say without log-odds."""
        read, constant = self._unordered_rows(cuts, grid_of_rows(cuts))
        fixed = np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed))
        keys = np.unique(np.concatenate([fixed, *(k for k, _ in read)]))
        r = Limbs.zeros(len(keys))
        for own, terms in read:
            r.subtract_at(np.searchsorted(keys, own), terms)
        return keys, r, constant

    def _unordered_rows(
        self, cuts: Sequence[Cuts], grid: Grid
    ) -> tuple[list[tuple[Index, Limbs]], int]:
        """Return keys and terms of rows, and b y less the terms of elements with themselves."""
        found: list[tuple[Index, Limbs]] = []
        alone = 0

        def keep(rows: SparseRows, terms: Limbs) -> None:
            nonlocal alone
            own = rows.a == rows.b  # related in every equivalence relation
            alone += terms[own].total()
            a, b = rows.a[~own], rows.b[~own]
            keys = np.minimum(a, b) * self.n + np.maximum(a, b)
            if len(terms) > self.n_scores:  # far more than there can be keys, perhaps
                keys, place = np.unique(keys, return_inverse=True)
                found.append((keys, terms[~own].sums(place, len(keys))))
            else:
                found.append((keys, terms[~own]))

        constant = self.read(cuts, grid, keep)
        return found, constant - alone

    def _states(self, keys: Index) -> NDArray[np.int8]:
        """Return what is fixed of sorted keys."""
        state = np.full(len(keys), -1, dtype=np.int8)
        if self.fixed:
            own = np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed))
            values = np.fromiter(self.fixed.values(), dtype=np.int8, count=len(self.fixed))
            there = _contained(own, keys)
            state[np.searchsorted(keys, own[there])] = values[there]
        for group in self.groups:
            state[group[keys // self.n] == group[keys % self.n]] = 0
        return state

    def best(self, residual: Any) -> Bound:
        """Return the constant plus the best sum of the coefficients over open states."""
        keys, r, constant = residual
        unlisted = self.n * (self.n - 1) // 2 - len(keys)
        return self._best_of(keys, r, constant, unlisted)

    def best_of_rows(self, residual: Any) -> Bound:
        """Return the same for rows without log-odds: pairs that they do not name add nothing."""
        keys, r, constant = residual
        return self._best_of(keys, r, constant, 0)

    def _best_of(self, keys: Index, r: Limbs, constant: int, unlisted: int) -> Bound:
        if self.empty:
            return None
        if self.fixed or self.groups:
            total = best_single(r, self._states(keys)).total()
        else:
            total = r.where(r.positive()).total()
        return constant + total + max(0, self.background) * unlisted

    def unordered(self, residual: Any) -> tuple[Any, ...]:
        """Return unordered pairs i, j, their coefficients and states, and the constant."""
        keys, r, constant = residual
        return keys // self.n, keys % self.n, r, self._states(keys), constant

    def best_if_not(self, residual: Any, pairs: Any, values: Any) -> list[Bound]:
        """Return, for each pair, the bound under the opposite of its value."""
        keys, r, _ = residual
        total = self.best(residual)
        out: list[Bound] = []
        for pair, value in zip(np.asarray(pairs).tolist(), values, strict=True):
            a, b = self.pair(pair)
            state = self.state_of(a, b)
            if total is None or state == int(bool(value)):
                out.append(None)
                continue
            key = min(a, b) * self.n + max(a, b)
            k = int(np.searchsorted(keys, key))
            listed = k < len(keys) and keys[k] == key
            here = r[k : k + 1].total() if listed else self.background
            now = max(0, here) if state < 0 else here * state
            out.append(total - now + (0 if value else here))
        return out

    def best_between(self, parts: Sequence[Index]) -> Bound:
        """Best sum over the pairs that lie within none of the parts."""
        owner = self.owners(parts)
        if self.empty:
            return None
        keys, r, _ = self.residual(())
        i, j = owner[keys // self.n], owner[keys % self.n]
        between = (i != j) | (i < 0)
        within = sum(len(elements) * (len(elements) - 1) // 2 for elements in parts)
        unlisted = self.n * (self.n - 1) // 2 - within - int(np.count_nonzero(between))
        alone = self.diagonal[owner < 0].total()
        return self._best_of(keys[between], r[between], alone, unlisted)

    def bests_within(self, parts: Sequence[Index]) -> list[int] | None:
        """Return the bound of each part without any rows; None if that has to be asked of views."""
        if self.empty or self.fixed or self.groups:
            return None
        owner = self.owners(parts)
        i, j = owner[self.keys // self.n], owner[self.keys % self.n]
        inside = (i == j) & (i >= 0)
        most = self.scores[inside]
        sums = most.where(most.positive()).sums(i[inside], len(parts))
        own = self.diagonal[owner >= 0].sums(owner[owner >= 0], len(parts))
        listed = np.bincount(i[inside], minlength=len(parts)).tolist()
        return [
            total + max(0, self.background) * (len(elements) * (len(elements) - 1) // 2 - count)
            for total, elements, count in zip((sums + own).tolist(), parts, listed, strict=True)
        ]

    def divided(self, parts: Sequence[Index]) -> Iterator[AnyView]:
        """Yield views of the problem on the elements of each part alone."""
        owner = self.owners(parts)
        number = np.full(self.n, -1, dtype=np.int64)
        for elements in parts:
            number[elements] = np.arange(len(elements))
        i, j = self.keys // self.n, self.keys % self.n
        inside = np.flatnonzero((owner[i] == owner[j]) & (owner[i] >= 0))
        inside = inside[np.argsort(owner[i[inside]], kind="stable")]
        ends = np.searchsorted(owner[i[inside]], np.arange(len(parts) + 1))
        fixed: dict[int, dict[int, bool]] = {}
        for key, value in self.fixed.items():
            c, d = key // self.n, key % self.n
            if owner[c] == owner[d] >= 0:
                m, x, y = len(parts[owner[c]]), int(number[c]), int(number[d])
                fixed.setdefault(int(owner[c]), {})[min(x, y) * m + max(x, y)] = value
        feasible = hereditary(self.feasible)
        for k, elements in enumerate(parts):
            own, m = inside[ends[k] : ends[k + 1]], len(elements)
            a, b = number[i[own]], number[j[own]]
            keys = np.minimum(a, b) * m + np.maximum(a, b)
            order = np.argsort(keys)
            scores = self.scores[own[order]]
            view = SparseView(keys[order], scores, self.background, m, feasible, self.grid)
            view.diagonal = self.diagonal[elements]
            view.groups = tuple(g[elements] for g in self.groups)
            view.empty, view.fixed = self.empty, fixed.get(k, {})
            yield view.dense() if m <= DENSE_ELEMENTS else view

    def dense(self) -> DenseView:
        """Return the dense view of the same problem."""
        n = self.n
        upper = np.triu(np.ones(self.shape, dtype=np.int64), 1)
        c = Limbs.of_ints([[self.background]]).times(upper)
        i, j = self.keys // n, self.keys % n
        c.high[i, j], c.low[i, j] = self.scores.high, self.scores.low
        own = np.arange(n)
        c.high[own, own], c.low[own, own] = self.diagonal.high, self.diagonal.low
        state = np.full(self.shape, -1, dtype=np.int8)
        for group in self.groups:
            state[group[:, None] == group[None, :]] = 0
        np.fill_diagonal(state, 1)
        clash = False
        for key, value in self.fixed.items():
            a, b = key // n, key % n
            clash = clash or (value and state[a, b] == 0)
            state[a, b] = state[b, a] = int(value)
        view = DenseView(c, state, self.feasible, self.grid)
        view.empty = view.empty or self.empty or clash
        return view

    def contracted(self, labels: Any) -> AnyView:
        """View in which elements with equal labels, known to be related, are one.

        With a background, a pair of contracted elements that is not listed has the sum of
        several backgrounds; if that is negative, one of them is a valid, larger stand-in.
        """
        labels = self.checked_labels(labels, "A contraction")
        if self.background > 0:
            raise CertificateError("A positive background does not contract.")
        yes = np.array([k for k, v in self.fixed.items() if v], dtype=np.int64)
        self.require_related(labels, yes // self.n, yes % self.n)
        return self._contracted(labels, int(labels.max()) + 1)

    def _contracted(self, labels: Index, g: int) -> AnyView:
        i, j = labels[self.keys // self.n], labels[self.keys % self.n]
        inner = i == j
        new = np.minimum(i, j)[~inner] * g + np.maximum(i, j)[~inner]
        keys, place = np.unique(new, return_inverse=True)
        sizes = np.bincount(labels)
        background = Limbs.of_ints([self.background])
        unlisted = sizes[keys // g] * sizes[keys % g] - np.bincount(place, minlength=len(keys))
        scores = self.scores[~inner].sums(place, len(keys)) + background.times(unlisted)
        view = SparseView(keys, scores, self.background, g, self.feasible.structure, self.grid)
        pairs = sizes * (sizes - 1) // 2 - np.bincount(i[inner], minlength=g)
        view.diagonal = (
            background.times(pairs)
            + self.diagonal.sums(labels, g)
            + self.scores[inner].sums(i[inner], g)
        )
        view.empty = self.empty
        for group in self.groups:
            both = np.unique(np.column_stack([labels, group]), axis=0)
            if len(both) != self.n:
                view.empty = True  # a set with two elements of one group
        if self.groups and g != self.n:
            raise CertificateError("Large problems with groups do not contract.")
        view.groups = tuple(_by_class(group, labels) for group in self.groups)
        for key, value in self.fixed.items():
            a, b = int(labels[key // self.n]), int(labels[key % self.n])
            if a != b or not value:
                view.fix((a, b), value)
        return view.dense() if g <= DENSE_ELEMENTS else view

    def values_on(self) -> tuple[int, int]:
        return math.gcd(common_divisor([self.scores]), self.background), self.diagonal.total()


AnyView = DenseView | SparseView


def _by_class(group: Index, labels: Index) -> Index:
    """Return the group of each class of one element."""
    out = np.empty(len(labels), dtype=np.int64)
    out[labels] = group
    return out


def _contained(values: Index, keys: Index) -> Flags:
    """Say which values occur in sorted keys."""
    if not len(keys):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.asarray(keys[place] == values)


def view_for(problem: Problem, grid: Grid) -> AnyView:
    """Return the checker's view of a problem: sparse for large clusterings, else dense."""
    n = problem.n
    if n <= DENSE_ELEMENTS or not problem.feasible.has("reflexive", "symmetric", "transitive"):
        return dense_view(problem, grid)
    scores, diagonal = problem.scores, Limbs.zeros(n)
    if isinstance(scores, SparseScores):
        off = scores.i != scores.j
        keys, values = scores.i[off] * n + scores.j[off], grid.scores(scores.log_odds[off])
        diagonal = grid.scores(scores.log_odds[~off]).sums(scores.i[~off], n)
    else:
        keys = _all_keys(n)
        if scores.log_odds.ndim == 1:
            values = grid.scores(scores.log_odds)
        else:
            values = _folded(scores.log_odds, grid)
            diagonal = grid.scores(np.diagonal(scores.log_odds))
    background = grid.scores(np.array([problem.background])).total()
    view = SparseView(keys, values, background, n, problem.feasible.complete, grid)
    view.diagonal = diagonal
    view.groups = tuple(g.codes for g in problem.feasible.groups)
    for pairs, value in ((problem.evidence.related, True), (problem.evidence.unrelated, False)):
        for pair in pairs.tolist():
            view.fix(pair, value)
    return view


def _all_keys(n: int) -> Index:
    """Return the keys of all pairs."""
    keys = np.empty(n * (n - 1) // 2, dtype=np.int64)
    begin = 0
    for a in range(n - 1):
        keys[begin : begin + n - 1 - a] = np.arange(a * n + a + 1, (a + 1) * n)
        begin += n - 1 - a
    return keys


def _folded(c: NDArray[Any], grid: Grid) -> Limbs:
    """Return the sums of both directions of all pairs of a square."""
    n = len(c)
    out = Limbs.zeros(n * (n - 1) // 2)
    begin = 0
    for a in range(n - 1):
        row = grid.scores(c[a, a + 1 :]) + grid.scores(c[a + 1 :, a])
        out.high[begin : begin + len(row)], out.low[begin : begin + len(row)] = row.high, row.low
        begin += len(row)
    return out
