"""Views of large clustering problems, which hold touched pairs only.

For equivalence relations, an unordered pair that is not listed, not fixed and in no row
contributes max(0, background) to a bound, and all of these together one product. So a
bound over a million elements costs as much as there are listed pairs and terms of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet, Problem, SparseScores
from relatum.proof.arithmetic import Arithmetic
from relatum.proof.certificate import Cuts
from relatum.proof.checker.dense import DenseView, dense_view
from relatum.proof.checker.view import NOTHING, Pair, View, best_single, hereditary

Residual = tuple[Index, NDArray[Any], Any]
DENSE_ELEMENTS = 2000  # up to so many elements, a dense view is quicker


class SparseView(View):
    """A view of an equivalence problem with entries for touched unordered pairs only.

    A pair i < j has the key i * n + j. `keys` are sorted; `scores` belong to them; any other
    pair has the background score. `diagonal` holds the scores of the elements themselves.
    """

    def __init__(
        self,
        keys: Index,
        scores: NDArray[Any],
        background: float,
        n: int,
        feasible: FeasibleSet,
        arithmetic: Arithmetic,
    ) -> None:
        self.keys, self.scores, self.n = keys, scores, n
        self.background = arithmetic.number(background)
        self.background_float = background
        self.feasible, self.arithmetic = feasible, arithmetic
        self.shape = (n, n)
        self.diagonal = arithmetic.array(np.zeros(n))
        self.groups: tuple[Index, ...] = ()
        self.fixed: dict[int, bool] = {}
        # errors of scores and diagonal, where arithmetic is not exact
        self.error: Floats | None = None
        self.diagonal_error: Floats | None = None

    def copy(self) -> SparseView:
        other = super().copy()
        other.fixed = dict(self.fixed)
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

    def _keys_of(self, a: Index, b: Index) -> Index:
        return np.minimum(a, b) * self.n + np.maximum(a, b)

    def _values_at(self, keys: Index, with_scores: bool) -> NDArray[Any]:
        """Scores of sorted keys, listed or not."""
        values = self.arithmetic.array(np.zeros(len(keys)))
        if not with_scores:
            return values
        values[:] = self.background
        place = np.searchsorted(keys, self.keys)
        values[place] = self.scores
        return values

    def residual(self, cuts: Sequence[Cuts], with_scores: bool = True) -> Residual:
        """Return (touched keys, c - A'y at them, b y and the diagonal)."""
        to = self.arithmetic
        constant = to.number(0.0)
        if with_scores:
            constant = to.total(self.diagonal)
            for error in (self.error, self.diagonal_error):
                constant = constant if error is None else constant + to.total(error)
        rows_keys, rows_terms = [], []
        for cut in cuts:
            rows, terms, side = self.read(cut)
            constant = constant + side
            own = rows.a == rows.b  # the diagonal is related
            constant = constant + to.total(-terms[own])
            rows_keys.append(self._keys_of(rows.a[~own], rows.b[~own]))
            rows_terms.append(terms[~own])
        fixed = np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed))
        extra = np.concatenate([fixed, *rows_keys]) if rows_keys or len(fixed) else fixed
        missing = extra[~_contained(extra, self.keys)]
        keys = np.union1d(self.keys, missing) if len(missing) else self.keys
        r = self._values_at(keys, with_scores)
        counts, sizes = np.zeros(len(keys)), np.zeros(len(keys))
        if not to.exact:
            sizes += np.abs(r)
        for own_keys, terms in zip(rows_keys, rows_terms, strict=True):
            place = np.searchsorted(keys, own_keys)
            np.subtract.at(r, place, terms)
            if not to.exact:
                np.add.at(counts, place, 1.0)
                np.add.at(sizes, place, np.abs(terms))
        errors = to.errors(sizes, counts)
        return keys, r, constant if errors is None else constant + to.total(errors)

    def _states(self, keys: Index) -> NDArray[np.int8]:
        state = np.full(len(keys), -1, dtype=np.int8)
        if self.fixed:
            own = np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed))
            values = np.fromiter(self.fixed.values(), dtype=np.int8, count=len(self.fixed))
            place = np.searchsorted(keys, own)
            state[place] = values
        for group in self.groups:
            state[(group[keys // self.n] == group[keys % self.n])] = 0
        return state

    def best(self, residual: Any) -> Any:
        """Return the constant plus the best sum of the coefficients over open states."""
        if self.empty:
            return NOTHING
        keys, r, constant = residual
        total = self._sum_open(keys, r, constant)
        if self.background > 0:
            unlisted = self.n * (self.n - 1) // 2 - len(keys)
            total = self._sum([total, self.background * unlisted])
        return total

    def unordered(self, residual: Any) -> tuple[Any, ...]:
        """Return unordered pairs i, j, their coefficients and states, and the constant."""
        keys, r, constant = residual
        return keys // self.n, keys % self.n, r, self._states(keys), constant

    def _sum(self, numbers: Sequence[Any]) -> Any:
        """Add a few numbers, not below their true sum."""
        return self.arithmetic.total(np.array(numbers, dtype=object))

    def best_if_not(self, residual: Any, pairs: Any, values: Any) -> list[Any]:
        """Return, for each pair, the bound under the opposite of its value."""
        keys, r, _ = residual
        total = self.best(residual)
        out = []
        for pair, value in zip(np.asarray(pairs).tolist(), values, strict=True):
            a, b = self.pair(pair)
            state = self.state_of(a, b)
            if total == NOTHING or state == int(bool(value)):
                out.append(NOTHING)
                continue
            key = min(a, b) * self.n + max(a, b)
            k = int(np.searchsorted(keys, key))
            here = r[k] if k < len(keys) and keys[k] == key else self.background
            now = max(0, here) if state < 0 else here * state
            out.append(self._sum([total, -now, 0 if value else here]))
        return out

    def best_between(self, parts: Sequence[Index]) -> Any:
        """Best sum over the pairs that lie within none of the parts."""
        owner = self.owners(parts)
        inside = sum(len(elements) * (len(elements) - 1) // 2 for elements in parts)
        keys, r, _ = self.residual(())
        alone = self.arithmetic.total(self.diagonal[owner < 0])
        i, j = keys // self.n, keys % self.n
        between = (owner[i] != owner[j]) | (owner[i] < 0)
        view = self.copy()
        view.fixed = {k: v for k, v in self.fixed.items() if _split(owner, k, self.n)}
        total = view._sum_open(keys[between], r[between], alone)
        if self.background > 0:
            unlisted = self.n * (self.n - 1) // 2 - inside - int(np.count_nonzero(between))
            total = self._sum([total, self.background * unlisted])
        for error in (self.error, self.diagonal_error):
            total = total if error is None else total + self.arithmetic.total(error)
        return total

    def _sum_open(self, keys: Index, r: NDArray[Any], constant: Any) -> Any:
        best = best_single(r, self._states(keys))
        return constant + self.arithmetic.total(best)

    def restricted(self, elements: Index) -> AnyView:
        """View of the problem on some elements alone."""
        number = np.full(self.n, -1, dtype=np.int64)
        number[elements] = np.arange(len(elements))
        i, j = number[self.keys // self.n], number[self.keys % self.n]
        keep = (i >= 0) & (j >= 0)
        m = len(elements)
        new = np.minimum(i[keep], j[keep]) * m + np.maximum(i[keep], j[keep])
        order = np.argsort(new)
        view = SparseView(
            new[order],
            self.scores[keep][order],
            self.background_float,
            m,
            hereditary(self.feasible),
            self.arithmetic,
        )
        view.diagonal = self.diagonal[elements]
        if self.error is not None and self.diagonal_error is not None:
            view.error = self.error[keep][order]
            view.diagonal_error = self.diagonal_error[elements]
        view.groups = tuple(g[elements] for g in self.groups)
        view.empty = self.empty
        for key, value in self.fixed.items():
            a, b = int(number[key // self.n]), int(number[key % self.n])
            if a >= 0 and b >= 0:
                view.fixed[min(a, b) * m + max(a, b)] = value
        return view.dense() if m <= DENSE_ELEMENTS else view

    def dense(self) -> DenseView:
        """Return the dense view of the same problem."""
        c = self.arithmetic.array(np.zeros(self.shape))
        i, j = np.triu_indices(self.n, 1)
        c[i, j] = self.background
        c[self.keys // self.n, self.keys % self.n] = self.scores
        np.fill_diagonal(c, self.diagonal)
        state = np.full(self.shape, -1, dtype=np.int8)
        for group in self.groups:
            state[group[:, None] == group[None, :]] = 0
        np.fill_diagonal(state, 1)
        clash = False
        for key, value in self.fixed.items():
            a, b = key // self.n, key % self.n
            clash = clash or (value and state[a, b] == 0)
            state[a, b] = int(value)
        view = DenseView(c, state, self.feasible, self.arithmetic)
        view.empty = view.empty or self.empty or clash
        if self.error is not None and self.diagonal_error is not None:
            view.error = np.diag(self.diagonal_error)
            view.error[self.keys // self.n, self.keys % self.n] = self.error
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
        to = self.arithmetic
        i, j = labels[self.keys // self.n], labels[self.keys % self.n]
        inner = i == j
        new = np.minimum(i, j)[~inner] * g + np.maximum(i, j)[~inner]
        keys, place = np.unique(new, return_inverse=True)
        scores = to.array(np.zeros(len(keys)))
        np.add.at(scores, place, self.scores[~inner])
        sizes = np.bincount(labels)
        unlisted = sizes[keys // g] * sizes[keys % g] - np.bincount(place, minlength=len(keys))
        scores = scores + unlisted.astype(scores.dtype) * self.background
        view = SparseView(keys, scores, self.background_float, g, self.feasible.structure, to)
        pairs = sizes * (sizes - 1) // 2 - np.bincount(i[inner], minlength=g)
        view.diagonal = view.diagonal + pairs.astype(scores.dtype) * self.background
        np.add.at(view.diagonal, labels, self.diagonal)
        np.add.at(view.diagonal, i[inner], self.scores[inner])
        if not to.exact:
            view.error, view.diagonal_error = self._contracted_errors(labels, keys, place)
        view.empty = self.empty
        for group in self.groups:
            both = np.unique(np.column_stack([labels, group]), axis=0)
            if len(both) != self.n:
                view.empty = True  # a set with two elements of one group
        if self.groups and g != self.n:
            raise CertificateError("Large problems with groups do not contract.")
        view.groups = self.groups
        for key, value in self.fixed.items():
            a, b = int(labels[key // self.n]), int(labels[key % self.n])
            if a != b or not value:
                view.fix((a, b), value)
        return view.dense() if g <= DENSE_ELEMENTS else view

    def _contracted_errors(self, labels: Index, keys: Index, place: Index) -> tuple[Floats, Floats]:
        """Bound what rounding may have taken from the sums of scores of contracted pairs."""
        g = int(labels.max()) + 1
        i, j = labels[self.keys // self.n], labels[self.keys % self.n]
        inner = i == j
        before = np.zeros(len(self.keys)) if self.error is None else self.error
        own = np.zeros(self.n) if self.diagonal_error is None else self.diagonal_error
        sizes = np.bincount(labels).astype(np.float64)
        pairs, inside = sizes[keys // g] * sizes[keys % g], sizes * (sizes + 1) / 2
        listed = np.bincount(place, np.abs(self.scores[~inner]), minlength=len(keys))
        held = np.bincount(i[inner], np.abs(self.scores[inner]), minlength=g)
        held += np.bincount(labels, np.abs(self.diagonal), minlength=g)
        to, background = self.arithmetic, abs(self.background_float)
        error = to.errors(listed + pairs * background, pairs + 2)
        diagonal = to.errors(held + inside * background, inside + 2)
        assert error is not None
        assert diagonal is not None
        error = error + 2 * np.bincount(place, before[~inner], minlength=len(keys))
        diagonal = diagonal + 2 * np.bincount(i[inner], before[inner], minlength=g)
        return error, diagonal + 2 * np.bincount(labels, own, minlength=g)

    def _find_grid(self) -> tuple[Any, Any]:
        if not self.arithmetic.exact:
            return None, 0
        step = math.gcd(*self.scores.tolist(), self.background)
        return step, self.arithmetic.total(self.diagonal)


AnyView = DenseView | SparseView


def _contained(values: Index, keys: Index) -> Flags:
    """Say which values occur in sorted keys."""
    if len(keys) == 0:
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.asarray(keys[place] == values)


def _split(owner: Index, key: int, n: int) -> bool:
    """Say whether a pair lies within no part."""
    a, b = owner[key // n], owner[key % n]
    return bool(a != b or a < 0)


def view_for(problem: Problem, arithmetic: Arithmetic) -> AnyView:
    """Return the checker's view of a problem: sparse for large clusterings, else dense."""
    n = problem.n
    if n <= DENSE_ELEMENTS or not problem.feasible.has("reflexive", "symmetric", "transitive"):
        return dense_view(problem, arithmetic)
    scores, to = problem.scores, arithmetic
    diagonal = np.zeros(n)
    if isinstance(scores, SparseScores):
        off = scores.i != scores.j
        keys, values = scores.i[off] * n + scores.j[off], to.array(scores.log_odds[off])
        diagonal[scores.i[~off]] = scores.log_odds[~off]
    else:
        i, j = np.triu_indices(n, 1)
        keys = i * n + j
        if scores.log_odds.ndim == 1:
            values = to.array(scores.log_odds)
        else:  # added in the arithmetic of the view: a float32 sum would be rounded
            values = to.array(scores.log_odds[i, j]) + to.array(scores.log_odds[j, i])
            diagonal = np.diagonal(scores.log_odds).astype(np.float64)
    view = SparseView(keys, values, problem.background, n, problem.feasible.complete, to)
    view.diagonal = to.array(diagonal)
    view.groups = tuple(g.codes for g in problem.feasible.groups)
    for pairs, value in ((problem.evidence.related, True), (problem.evidence.unrelated, False)):
        for pair in pairs.tolist():
            view.fix(pair, value)
    return view
