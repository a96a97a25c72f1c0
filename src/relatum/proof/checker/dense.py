"""What a checker sees of a problem: scores, what is fixed, and bounds pair by pair.

A view holds the scores of all pairs in one arithmetic, and for every pair whether it is
fixed. Its central question is `best`: the largest sum of given coefficients over all ways
to set the pairs, respecting what is fixed and the properties that speak of two pairs only
(symmetric, antisymmetric, connex), each unordered pair on its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import relatum.proof.partition_rows  # noqa: F401  makes its families known
from relatum.array_types import Floats, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet, Problem
from relatum.proof.arithmetic import Arithmetic
from relatum.proof.certificate import FAMILIES, Cuts, SparseRows

__all__ = ["DenseView", "View", "view_of"]

Pair = tuple[int, int]
NOTHING = -math.inf  # the bound of an empty set of relations


def rows_of(cut: Cuts, feasible: FeasibleSet, shape: tuple[int, int]) -> SparseRows:
    """Write down the rows of some cuts, refusing what is not valid for the feasible set."""
    family = FAMILIES.get(cut.family)
    if family is None:
        raise CertificateError(f"Unknown family of rows {cut.family!r}.")
    if family.width is not None and cut.index.shape[1] != family.width:
        raise CertificateError(
            f"Rows of family {cut.family!r} have {family.width} indices, got {cut.index.shape[1]}."
        )
    if len(cut) and not family.valid(feasible, cut.index, shape):
        raise CertificateError(
            f"Rows of family {cut.family!r} with these indices are not valid for {feasible}."
        )
    rows = family.rows(cut.index, shape)
    inside = (rows.a >= 0) & (rows.a < shape[0]) & (rows.b >= 0) & (rows.b < shape[1])
    if not inside.all():
        raise CertificateError(f"A row of family {cut.family!r} names an element out of range.")
    return rows


def checked_multipliers(cut: Cuts) -> Floats:
    """Return the multipliers, refusing any that are negative or not finite."""
    y = cut.multipliers
    if not (np.isfinite(y).all() and (y >= 0).all()):
        raise CertificateError(f"A multiplier of family {cut.family!r} is negative or not finite.")
    return y


class DenseView:
    """A view with one entry for every ordered pair."""

    def __init__(
        self,
        scores: NDArray[Any],
        state: NDArray[np.int8],
        feasible: FeasibleSet,
        arithmetic: Arithmetic,
    ) -> None:
        self.scores = scores
        self.state = state
        self.feasible = feasible
        self.arithmetic = arithmetic
        self.empty = False
        self.homogeneous = feasible.homogeneous
        self.shape = (int(scores.shape[0]), int(scores.shape[1]))
        if self.homogeneous:
            self.upper = np.triu_indices(self.shape[0], 1)
            self._close_state()
        self._grid: tuple[Any, Any] | None = None
        self.error: NDArray[Any] | None = None  # of the scores, where arithmetic is not exact

    def _close_state(self) -> None:
        """Carry fixed pairs over to their mirror pairs."""
        i, j = self.upper
        s = self.state
        for f, b in (((i, j), (j, i)), ((j, i), (i, j))):
            target = np.full(len(i), -1, dtype=np.int8)
            if self.feasible.has("symmetric"):
                target = np.where(s[f] >= 0, s[f], target)
            if self.feasible.has("antisymmetric"):
                target = np.where(s[f] == 1, 0, target)
            if self.feasible.has("connex"):
                target = np.where(s[f] == 0, 1, target)
            clash = (target >= 0) & (s[b] >= 0) & (s[b] != target)
            self.empty = self.empty or bool(clash.any())
            s[b] = np.where(s[b] < 0, target, s[b])

    def copy(self) -> DenseView:
        """Return a view whose fixed pairs can be changed separately."""
        other = DenseView.__new__(DenseView)
        other.__dict__.update(self.__dict__)
        other.state = self.state.copy()
        return other

    def pair(self, pair: Sequence[int]) -> Pair:
        """Check that a pair exists."""
        a, b = int(pair[0]), int(pair[1])
        if not (0 <= a < self.shape[0] and 0 <= b < self.shape[1]):
            raise CertificateError(f"Pair ({a}, {b}) does not exist.")
        return a, b

    def _consequences(self, pair: Sequence[int], value: bool) -> list[tuple[int, int, int]]:
        """Return a pair with its value, and the mirror pair if its value follows."""
        a, b = self.pair(pair)
        todo = [(a, b, int(value))]
        if self.homogeneous and a != b:
            if self.feasible.has("symmetric"):
                todo.append((b, a, int(value)))
            if value and self.feasible.has("antisymmetric"):
                todo.append((b, a, 0))
            if not value and self.feasible.has("connex"):
                todo.append((b, a, 1))
        return todo

    def fix(self, pair: Sequence[int], value: bool) -> None:
        """Fix a pair, and its mirror pair if that follows."""
        for p, q, v in self._consequences(pair, value):
            if self.state[p, q] == 1 - v:
                self.empty = True
            self.state[p, q] = v

    def fixing(self, pairs: Iterable[Any], values: Iterable[Any]) -> DenseView:
        """Return a view with some pairs fixed."""
        view = self.copy()
        for pair, value in zip(pairs, values, strict=True):
            view.fix(pair, bool(value))
        return view

    def residual(self, cuts: Sequence[Cuts], with_scores: bool = True) -> tuple[NDArray[Any], Any]:
        """Return (c - A'y, b y) of some cuts; c counts as zero without scores."""
        to = self.arithmetic
        zero = to.array(np.zeros(1))[0]
        r = self.scores.copy() if with_scores else np.full(self.shape, zero, self.scores.dtype)
        constant = zero
        if with_scores and self.error is not None:
            constant = constant + to.total(self.error)
        counts, sizes = np.zeros((2, *self.shape)) if not to.exact else (None, None)
        for cut in cuts:
            rows = rows_of(cut, self.feasible, self.shape)
            y = to.array(checked_multipliers(cut))
            constant = constant + to.total(y * rows.rhs)
            terms = y[rows.row_of_term()] * rows.coefficient
            np.subtract.at(r, (rows.a, rows.b), terms)
            if counts is not None and sizes is not None:
                np.add.at(counts, (rows.a, rows.b), 1.0)
                np.add.at(sizes, (rows.a, rows.b), np.abs(terms))
        if cuts and counts is not None and sizes is not None:
            errors = to.errors(sizes + np.abs(self.scores), counts)
            if errors is not None:
                constant = constant + to.total(errors)
        return r, constant

    def best(self, residual: Any) -> Any:
        """Return the constant plus the best sum of the coefficients over open states."""
        r, constant = residual
        if self.empty:
            return NOTHING
        parts = self._best_parts(r)
        if any((p == NOTHING).any() for p in parts if p.size):
            return NOTHING
        return constant + sum(self.arithmetic.total(p) for p in parts)

    def _best_parts(self, r: NDArray[Any]) -> list[NDArray[Any]]:
        if not self.homogeneous:
            return [self._best_single(r, self.state)]
        i, j = self.upper
        diagonal = self._best_single(np.diagonal(r), np.diagonal(self.state))
        return [diagonal, self._best_double(r, (i, j), self.state[i, j], self.state[j, i])]

    def unordered(self, residual: Any) -> tuple[Any, ...]:
        """Return unordered pairs i, j, their coefficients and states, and the constant."""
        (r, constant), (i, j), to = residual, self.upper, self.arithmetic
        errors = to.errors(np.abs(r[i, j]) + np.abs(r[j, i]), np.ones(len(i)))
        constant = constant + to.total(np.diagonal(r))  # all related to themselves
        both = constant if errors is None else constant + to.total(errors)
        return i, j, r[i, j] + r[j, i], self.state[i, j], both

    def _best_single(self, r: NDArray[Any], state: NDArray[np.int8]) -> NDArray[Any]:
        zero = r * 0
        return np.where(state == 1, r, np.where(state == 0, zero, np.maximum(zero, r)))

    def _best_double(
        self,
        r: NDArray[Any],
        where: tuple[Index, Index],
        forward: NDArray[np.int8],
        backward: NDArray[np.int8],
    ) -> NDArray[Any]:
        """Best sums of two mirror pairs each, over the states open to them."""
        i, j = where
        rf, rb = r[i, j], r[j, i]
        best = np.full(len(i), NOTHING, dtype=object if self.arithmetic.exact else np.float64)
        for xf, xb in self.states():
            allowed = ((forward < 0) | (forward == xf)) & ((backward < 0) | (backward == xb))
            best = np.where(allowed, np.maximum(best, rf * xf + rb * xb), best)
        return best

    def states(self) -> list[tuple[int, int]]:
        """States (x_ab, x_ba) that the pairwise properties admit."""
        has = self.feasible.has
        states = [(0, 0), (0, 1), (1, 0), (1, 1)]
        if has("symmetric"):
            states = [s for s in states if s[0] == s[1]]
        if has("antisymmetric"):
            states = [s for s in states if s != (1, 1)]
        if has("connex"):
            states = [s for s in states if s != (0, 0)]
        return states

    def best_if_not(self, residual: Any, pairs: Any, values: Any) -> list[Any]:
        """Return, for each pair, the bound under the opposite of its value."""
        r, _ = residual
        total = self.best(residual)
        index = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        for pair in index[((index < 0) | (index >= self.shape)).any(axis=1)]:
            self.pair(pair)
        a, b = index.T
        now = self.state[a, b]
        other = (~np.asarray(values, dtype=np.bool_)).astype(np.int8)
        possible = (now < 0) | (now == other)
        if self.homogeneous:
            mirror = self.state[b, a]
            here = self._best_double(r, (a, b), now, mirror)
            there = self._best_double(r, (a, b), other, mirror)
            single = a == b
        else:
            here = there = r[a, b] * 0
            single = np.ones(len(a), dtype=np.bool_)
        here = np.where(single, self._best_single(r[a, b], now), here)
        there = np.where(single, self._best_single(r[a, b], other), there)
        possible &= there != NOTHING
        return [
            self._exchange(total, h, t) if p and total != NOTHING else NOTHING
            for h, t, p in zip(here.tolist(), there.tolist(), possible.tolist(), strict=True)
        ]

    def _exchange(self, total: Any, here: Any, there: Any) -> Any:
        """Return total - here + there, not below its true value."""
        if self.arithmetic.exact:
            return total - here + there
        return self.arithmetic.total(np.array([total, -here, there]))

    def row_excludes(self, cut: Cuts, pair: Pair, value: bool) -> bool:
        """Say whether one row cannot hold when the pair takes the value."""
        rows = rows_of(cut, self.feasible, self.shape)
        assumed: dict[Pair, int] = {}
        for a, b, v in self._consequences(pair, value):
            if self.state[a, b] == 1 - v or assumed.get((a, b), v) != v:
                return True
            assumed[a, b] = v
        terms: dict[Pair, int] = {}
        for a, b, k in zip(
            rows.a.tolist(), rows.b.tolist(), rows.coefficient.tolist(), strict=True
        ):
            terms[a, b] = terms.get((a, b), 0) + k
        least = 0
        for (a, b), k in terms.items():
            s = assumed.get((a, b), int(self.state[a, b]))
            least += k * s if s >= 0 else min(0, k)
        return least > int(rows.rhs[0])

    def best_between(self, parts: Sequence[Index]) -> Any:
        """Best sum over the pairs that lie within none of the parts."""
        if not self.homogeneous:
            raise CertificateError("Only relations on one set decompose by elements.")
        owner = np.full(self.shape[0], -1, dtype=np.int64)
        for k, elements in enumerate(parts):
            if elements.size == 0 or elements.min() < 0 or elements.max() >= self.shape[0]:
                raise CertificateError("A part of a decomposition names elements out of range.")
            if (owner[elements] >= 0).any() or len(np.unique(elements)) != len(elements):
                raise CertificateError("The parts of a decomposition overlap.")
            owner[elements] = k
        i, j = self.upper
        within = (owner[i] == owner[j]) & (owner[i] >= 0)
        r, _ = self.residual(())
        diagonal = self._best_single(np.diagonal(r), np.diagonal(self.state))
        between = self._best_double(
            r, (i[~within], j[~within]), self.state[i, j][~within], self.state[j, i][~within]
        )
        if between.size and (between == NOTHING).any():
            return NOTHING
        total = self.arithmetic.total(between) + self.arithmetic.total(diagonal[owner < 0])
        if self.error is not None:  # also that of the pairs within parts, which does no harm
            total = total + self.arithmetic.total(self.error)
        return total

    def restricted(self, elements: Index) -> DenseView:
        """View of the problem on some elements alone."""
        index = np.ix_(elements, elements)
        view = DenseView(
            self.scores[index],
            self.state[index].copy(),
            hereditary(self.feasible),
            self.arithmetic,
        )
        view.error = None if self.error is None else self.error[index]
        return view

    def contracted(self, labels: Any) -> DenseView:
        """View in which elements with equal labels, known to be related, are one."""
        labels = np.asarray(labels, dtype=np.int64)
        if not self.feasible.has("reflexive", "symmetric", "transitive"):
            raise CertificateError("Only equivalence relations contract related elements.")
        if labels.shape != (self.shape[0],) or labels.min() < 0:
            raise CertificateError("A contraction needs one label an element, numbered from 0.")
        g = int(labels.max()) + 1
        same = (self.state == 1) & (labels[:, None] == labels[None, :])
        count, _ = connected_components(coo_array(same), directed=False)
        if count != g or len(np.unique(labels)) != g:
            raise CertificateError("A contraction joins elements that are not known to be related.")
        to = self.arithmetic
        scores = to.array(np.zeros((g, g)))
        np.add.at(scores, (labels[:, None], labels[None, :]), self.scores)
        zeros, ones = np.zeros((g, g), np.bool_), np.eye(g, dtype=np.bool_)
        for target, value in ((zeros, 0), (ones, 1)):
            a, b = np.nonzero(self.state == value)
            target[labels[a], labels[b]] = True
        state = np.where(ones, 1, np.where(zeros, 0, -1)).astype(np.int8)
        view = DenseView(scores, state, self.feasible.structure, to)
        view.empty = view.empty or self.empty or bool((ones & zeros).any())
        if not to.exact:
            before = np.abs(self.scores) if self.error is None else self.error + abs(self.scores)
            sizes, errors = np.zeros((g, g)), np.zeros((g, g))
            np.add.at(sizes, (labels[:, None], labels[None, :]), before)
            if self.error is not None:
                np.add.at(errors, (labels[:, None], labels[None, :]), self.error)
            members = np.bincount(labels).astype(np.float64)
            fresh = to.errors(sizes, np.outer(members, members))
            view.error = errors if fresh is None else errors + fresh
        return view

    def floor(self, bound: Any) -> Any:
        """Round a bound down to the largest value that any relation can have.

        All values differ by multiples of the greatest common divisor of the scores.
        """
        if isinstance(bound, float) and not math.isfinite(bound):
            return bound
        if self._grid is None:
            self._grid = self._find_grid()
        step, offset = self._grid
        if step is None:
            return bound
        if not self.arithmetic.exact:
            bound = math.floor(bound)
        if step == 0:
            return offset
        return offset + (bound - offset) // step * step

    def halfway(self, claim: Any) -> Any:
        """Raise a claim half way to the next larger value, where arithmetic is not exact.

        No relation has a value in between, so that rounding is forgiven there.
        """
        if self.arithmetic.exact:
            return claim
        low = self.floor(claim)
        step = None if self._grid is None else self._grid[0]
        return max(claim, low + step / 2) if step else claim

    def _find_grid(self) -> tuple[Any, Any]:
        """Return (step, offset) such that all values are offset + k step; step None if unknown."""
        c = self.scores
        if not self.arithmetic.exact:
            # integers that add up exactly are as good as exact arithmetic
            if not np.array_equal(c, np.rint(c)) or np.abs(c).sum() >= 2.0**52:
                return None, 0
            if self.error is not None and self.error.sum() >= 0.25:
                return None, 0
            c = c.astype(np.int64)
        if not self.homogeneous:
            return math.gcd(*c.ravel().tolist()), 0
        i, j = self.upper
        f, b, d = c[i, j], c[j, i], np.diagonal(c)
        steps, offset = [], 0
        if self.feasible.has("reflexive"):
            offset += sum(d.tolist())
        else:
            steps += d.tolist()
        if self.feasible.has("symmetric"):
            steps += (f + b).tolist()
        elif self.feasible.has("antisymmetric", "connex"):
            steps += (f - b).tolist()
            offset += sum(b.tolist())
        else:
            steps += f.tolist() + b.tolist()
        return math.gcd(*steps), offset


View = DenseView


def hereditary(feasible: FeasibleSet) -> FeasibleSet:
    """Return the properties that a relation hands down to every subset of the elements."""
    names = set(feasible.names)
    if "reflexive" not in names:
        names -= {"has_image", "has_preimage"}
    keep = [p for p in feasible.structure.properties if p.name in names or p.name == "at_most"]
    caps = [p for p in feasible.properties if p.name == "at_most"]
    # RELATIONS on one set stay on one set: the caller's shape is square anyway
    return FeasibleSet([*keep, *caps])


def view_of(problem: Problem, arithmetic: Arithmetic) -> DenseView:
    """Return the checker's view of a problem."""
    view = DenseView(
        arithmetic.array(problem.dense()),
        problem.state.copy(),
        problem.feasible.complete,
        arithmetic,
    )
    view.empty = view.empty or problem.contradicts_itself
    return view
