"""What only linear orders allow a checker: alike elements are one, few are ordered outright."""

from __future__ import annotations

from typing import Any

import numpy as np

import relatum.proof.order_rows  # noqa: F401  makes the rows of orders known to certificates
from relatum.array_types import Flags, Index
from relatum.errors import CertificateError
from relatum.problem import LINEAR_ORDERS
from relatum.proof.checker.dense import DenseView
from relatum.proof.checker.numbers import BLOCK
from relatum.proof.checker.view import Effort

ORDERED_ELEMENTS = 62  # outright at most: a subset of them is an integer, one bit each
CELLS_PER_SUBSET = 24  # of packing cycles, that take as long as one subset
ROWS_PER_SUBSET = 16  # of subsets with one element more, before they are sorted out
CYCLES_PER_SUBSET = 2048  # of cycles looked at
MOST_STATES = 200_000  # subsets looked at: some seconds
_BITS = 60  # sums of scores are held in so many bits


def _dense_view_of_orders(view: object, what: str) -> DenseView:
    """Return the view if it is one of linear orders; they are never sparse."""
    if not isinstance(view, DenseView):
        raise CertificateError(f"{what} needs a score for every pair.")
    if not (view.feasible <= LINEAR_ORDERS or view.feasible.structure <= LINEAR_ORDERS):
        raise CertificateError(f"{what} is about linear orders, not about {view.feasible}.")
    return view


def merged_view(given: object, labels: Any) -> DenseView:
    """View in which elements with equal labels, which are alike, are one."""
    view = _dense_view_of_orders(given, "Merging alike elements")
    labels = view.checked_labels(labels, "Merging")
    n, g = view.shape[0], int(labels.max()) + 1
    first = np.full(g, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(n)[::-1]
    if (first < 0).any():
        raise CertificateError("Merging needs the labels 0, 1, ... without holes.")
    for a in np.flatnonzero(first[labels] != np.arange(n)).tolist():
        _require_alike(view, int(first[labels[a]]), a)
    scores = view.summed(view.scores, labels)
    # within a class both orders of a pair are worth the same, and one of them counts
    i, j = np.nonzero(np.triu(labels[:, None] == labels[None, :], 1))
    scores.subtract_at((labels[i], labels[i]), view.scores[i, j])
    state = view.state[np.ix_(first, first)].copy()
    merged = DenseView(scores, state, view.feasible.structure, view.grid)
    merged.empty = merged.empty or view.empty
    return merged


def _require_alike(view: DenseView, a: int, b: int) -> None:
    c, n = view.scores, view.shape[0]
    others = np.setdiff1d(np.arange(n), (a, b))
    alike = (
        c[a, others].equals(c[b, others]).all()
        and c[others, a].equals(c[others, b]).all()
        and c[a, b].equals(c[b, a])
    )
    free = (view.state[[a, b]] >= 0).sum() + (view.state[:, [a, b]] >= 0).sum()
    fixed_diagonal = 2 * int(view.state[a, a] >= 0) + 2 * int(view.state[b, b] >= 0)
    if not alike or free != fixed_diagonal:
        raise CertificateError(f"Elements {a} and {b} are merged but not alike.")


def check_best_order(given: object, claim: int, effort: Effort) -> None:
    """Go through the subsets that may begin an order worth more than the claim; find none.

    Raises
    ------
    CertificateError
        If there is such an order, or if there are too many subsets to tell.
    """
    view = _dense_view_of_orders(given, "Ordering outright")
    n = view.shape[0]
    if n > ORDERED_ELEMENTS:
        raise CertificateError(
            f"At most {ORDERED_ELEMENTS} elements are ordered outright, and there are {n}."
        )
    _spend(effort, 64 + n * n // 8)  # for looking at the scores: leaves may be repeated
    excluded = (view.state == 0) | (view.state.T == 1)
    np.fill_diagonal(excluded, False)
    w, room = _scaled(view, claim)
    better = np.maximum(np.where(excluded, w.T, w), np.where(excluded.T, w, w.T))
    loss = np.where(excluded | excluded.T, 0, np.maximum(w - w.T, 0))  # of b before a
    spare = int(np.triu(better, 1).sum()) - room - 1
    if spare >= 0 and _order_losing_at_most(loss, excluded.T, spare, effort):
        raise CertificateError(
            "There is a linear order whose value is above the claimed bound "
            f"{view.grid.bits(claim):.9g}."
        )


def _scaled(view: DenseView, claim: int) -> tuple[Index, int]:
    """Return scores of open pairs, rounded up, and what is left of the claim, rounded down.

    Both are multiples of one power of two, in 60 bits. What fixed pairs add is certain, and is
    taken off the claim without rounding.
    """
    n = view.shape[0]
    entries, state = view.scores.tolist(), view.state.ravel().tolist()
    room = claim - sum(v for v, s in zip(entries, state, strict=True) if s == 1)
    entries = [v if s < 0 else 0 for v, s in zip(entries, state, strict=True)]
    drop = max(0, sum(map(abs, entries)).bit_length() - _BITS)
    whole = [-((-v) >> drop) for v in entries]
    return np.array(whole, dtype=np.int64).reshape(n, n), room >> drop


def _packed_cycles(loss: Index, must: Flags) -> tuple[Index, Index]:
    """Subsets {a, b, c} among which every order loses so much, no loss counted twice.

    What must precede may be part of any number of cycles: it is the rest of them that loses.
    """
    rest = np.where(must, np.int64(2) ** 62, loss)
    subsets, weights = [], []
    for a, b in np.argwhere(loss > 0).tolist():
        while rest[a, b] > 0:
            through = np.minimum(rest[b], rest[:, a])
            c = int(through.argmax())
            w = min(int(rest[a, b]), int(through[c]))
            if w <= 0:
                break
            rest[a, b] -= w
            rest[b, c] -= w
            rest[c, a] -= w
            subsets.append((1 << a) | (1 << b) | (1 << c))
            weights.append(w)
    return np.array(subsets, dtype=np.int64), np.array(weights, dtype=np.int64)


def _order_losing_at_most(loss: Index, must: Flags, spare: int, effort: Effort) -> bool:
    """Say whether some order loses at most `spare`; must[a, b] says that a precedes b."""
    n = len(loss)
    one = np.int64(1) << np.arange(n, dtype=np.int64)
    needed = (must.T @ one).astype(np.int64)
    _spend(effort, n**3 // CELLS_PER_SUBSET)
    cycle, weight = _packed_cycles(loss, must)
    states, cost = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for _ in range(n):
        taken = (states[:, None] & one) != 0
        added = (~taken).astype(np.int64) @ loss
        row, j = np.nonzero(~taken & ((states[:, None] & needed) == needed))
        _spend(effort, len(row) // ROWS_PER_SUBSET)
        after, total = states[row] | one[j], cost[row] + added[row, j]
        keep = total <= spare
        after, total = after[keep], total[keep]
        order = np.lexsort((total, after))
        after, total = after[order], total[order]
        first = np.flatnonzero(np.diff(after, prepend=-1))
        states, cost = _without_lost(after[first], total[first], cycle, weight, spare)
        _spend(effort, len(states) + len(first) * len(cycle) // CYCLES_PER_SUBSET)
        if len(states) == 0:
            return False
        if len(states) > MOST_STATES:
            raise CertificateError(
                f"More than {MOST_STATES} subsets may begin an order worth more than is claimed."
            )
    return True


def _spend(effort: Effort, subsets: int) -> None:
    """Take from what is left, counting in subsets, for each of which there are microseconds."""
    effort.subsets -= subsets
    if effort.subsets < 0:
        raise CertificateError("Its parts that are ordered outright take too long to go through.")


def _without_lost(
    states: Index, cost: Index, cycle: Index, weight: Index, spare: int
) -> tuple[Index, Index]:
    """Drop subsets after which cycles among the rest lose more than is to spare."""
    if len(cycle) == 0:
        return states, cost
    keep = np.empty(len(states), dtype=np.bool_)
    rows = max(1, BLOCK // len(cycle))
    for begin in range(0, len(states), rows):
        some = slice(begin, begin + rows)
        lost = ((states[some, None] & cycle) == 0) @ weight
        keep[some] = cost[some] + lost <= spare
    return states[keep], cost[keep]
