"""What a checker sees of a problem: scores, what is fixed, and bounds pair by pair.

A view holds the scores of all pairs in one arithmetic, and for every pair whether it is
fixed. Its central question is `best`: the largest sum of given coefficients over all ways
to set the pairs, respecting what is fixed and the properties that speak of two pairs only
(symmetric, antisymmetric, connex), each unordered pair on its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet, Problem
from relatum.proof.arithmetic import Arithmetic
from relatum.proof.certificate import Cuts
from relatum.proof.checker.view import NOTHING, View, best_single, hereditary, summed


class DenseView(View):
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
        self.homogeneous = feasible.homogeneous
        self.shape = (int(scores.shape[0]), int(scores.shape[1]))
        if self.homogeneous:
            self.upper = np.triu_indices(self.shape[0], 1)
            self._close_state()
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
        other = super().copy()
        other.state = self.state.copy()
        return other

    def state_of(self, a: int, b: int) -> int:
        return int(self.state[a, b])

    def _put(self, a: int, b: int, value: int) -> None:
        self.state[a, b] = value

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
            rows, terms, side = self.read(cut)
            constant = constant + side
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
            return [best_single(r, self.state)]
        i, j = self.upper
        diagonal = best_single(np.diagonal(r), np.diagonal(self.state))
        return [diagonal, self._best_double(r, (i, j), self.state[i, j], self.state[j, i])]

    def unordered(self, residual: Any) -> tuple[Any, ...]:
        """Return unordered pairs i, j, their coefficients and states, and the constant."""
        (r, constant), (i, j), to = residual, self.upper, self.arithmetic
        errors = to.errors(np.abs(r[i, j]) + np.abs(r[j, i]), np.ones(len(i)))
        constant = constant + to.total(np.diagonal(r))  # all related to themselves
        both = constant if errors is None else constant + to.total(errors)
        return i, j, r[i, j] + r[j, i], self.state[i, j], both

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
        here = np.where(single, best_single(r[a, b], now), here)
        there = np.where(single, best_single(r[a, b], other), there)
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

    def best_between(self, parts: Sequence[Index]) -> Any:
        """Best sum over the pairs that lie within none of the parts."""
        if not self.homogeneous:
            raise CertificateError("Only relations on one set decompose by elements.")
        owner = self.owners(parts)
        i, j = self.upper
        within = (owner[i] == owner[j]) & (owner[i] >= 0)
        r, _ = self.residual(())
        diagonal = best_single(np.diagonal(r), np.diagonal(self.state))
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
        if not self.feasible.has("reflexive", "symmetric", "transitive"):
            raise CertificateError("Only equivalence relations contract related elements.")
        labels = self.checked_labels(labels, "A contraction")
        self.require_related(labels, *np.nonzero(self.state == 1))
        to, g = self.arithmetic, int(labels.max()) + 1
        zeros, ones = np.zeros((g, g), np.bool_), np.eye(g, dtype=np.bool_)
        for target, value in ((zeros, 0), (ones, 1)):
            a, b = np.nonzero(self.state == value)
            target[labels[a], labels[b]] = True
        state = np.where(ones, 1, np.where(zeros, 0, -1)).astype(np.int8)
        view = DenseView(summed(self.scores, labels), state, self.feasible.structure, to)
        view.empty = view.empty or self.empty or bool((ones & zeros).any())
        if not to.exact:
            before = np.zeros(self.shape) if self.error is None else self.error
            sizes, errors = summed(before + np.abs(self.scores), labels), summed(before, labels)
            members = np.bincount(labels).astype(np.float64)
            fresh = to.errors(sizes, np.outer(members, members))
            view.error = errors if fresh is None else errors + fresh
        return view

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


def dense_view(problem: Problem, arithmetic: Arithmetic) -> DenseView:
    """Return the view of a problem with an entry for every ordered pair."""
    view = DenseView(
        arithmetic.array(problem.dense()),
        problem.state.copy(),
        problem.feasible.complete,
        arithmetic,
    )
    view.empty = view.empty or problem.contradicts_itself
    return view
