"""What only linear orders allow a checker: alike elements are one, few are ordered outright."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import relatum.order_families  # noqa: F401  makes the rows of orders known to certificates
from relatum.errors import CertificateError
from relatum.feasible import LINEAR_ORDERS
from relatum.views import NOTHING, DenseView

__all__ = ["MOST_ELEMENTS", "best_order_value", "merged_view"]

MOST_ELEMENTS = 16
_BITS = 61  # sums of scores are held in so many bits


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
    labels = np.asarray(labels, dtype=np.int64)
    n = view.shape[0]
    if labels.shape != (n,) or labels.min() < 0:
        raise CertificateError("Merging needs one label an element, numbered from 0.")
    g = int(labels.max()) + 1
    first = np.full(g, -1, dtype=np.int64)
    first[labels[::-1]] = np.arange(n)[::-1]
    if (first < 0).any():
        raise CertificateError("Merging needs the labels 0, 1, ... without holes.")
    for a in np.flatnonzero(first[labels] != np.arange(n)).tolist():
        _require_alike(view, int(first[labels[a]]), a)
    to = view.arithmetic
    scores = to.array(np.zeros((g, g)))
    np.add.at(scores, (labels[:, None], labels[None, :]), view.scores)
    # within a class both orders of a pair are worth the same, and one of them counts
    same = labels[:, None] == labels[None, :]
    inner = np.nonzero(np.triu(same, 1))
    np.subtract.at(scores, (labels[inner[0]], labels[inner[0]]), view.scores[inner])
    state = view.state[np.ix_(first, first)].copy()
    merged = DenseView(scores, state, view.feasible.structure, to)
    merged.empty = merged.empty or view.empty
    return merged


def _require_alike(view: DenseView, a: int, b: int) -> None:
    c, n = view.scores, view.shape[0]
    others = np.setdiff1d(np.arange(n), (a, b))
    free = (view.state[[a, b]] >= 0).sum() + (view.state[:, [a, b]] >= 0).sum()
    ok = bool((c[a, others] == c[b, others]).all() and (c[others, a] == c[others, b]).all())
    fixed_diagonal = 2 * int(view.state[a, a] >= 0) + 2 * int(view.state[b, b] >= 0)
    if not ok or c[a, b] != c[b, a] or free != fixed_diagonal:
        raise CertificateError(f"Elements {a} and {b} are merged but not alike.")


def best_order_value(given: object) -> Any:
    """Return the largest value of a linear order, by dynamic programming over subsets.

    In exact arithmetic, scores of more than 61 bits are rounded up first, which can only
    raise the result.
    """
    view = _dense_view_of_orders(given, "Ordering outright")
    n = view.shape[0]
    if n > MOST_ELEMENTS:
        raise CertificateError(
            f"At most {MOST_ELEMENTS} elements are ordered outright, and there are {n}."
        )
    diagonal = view.arithmetic.total(np.diagonal(view.scores))
    excluded = (view.state == 0) | (view.state.T == 1)
    np.fill_diagonal(excluded, False)
    if not view.arithmetic.exact:
        margin = 2.0**-40 * float(np.abs(view.scores).sum())
        best = _best_of_subsets(np.asarray(view.scores, dtype=np.float64), excluded)
        return NOTHING if best is None else float(best) + margin + diagonal
    total = int(sum(abs(v) for v in view.scores.ravel().tolist()))
    drop = max(0, total.bit_length() - _BITS)
    rounded = [-((-v) >> drop) for v in view.scores.ravel().tolist()]
    best = _best_of_subsets(np.array(rounded, dtype=np.int64).reshape(n, n), excluded)
    return NOTHING if best is None else (int(best) << drop) + diagonal


def _best_of_subsets(w: NDArray[Any], excluded: NDArray[np.bool_]) -> Any:
    """Largest sum of w over the pairs a before b of an order; None if all are excluded."""
    n = len(w)
    size = 1 << n
    subsets = np.arange(size)
    count = np.bitwise_count(subsets)
    best = np.zeros(size, dtype=w.dtype)
    possible = np.zeros(size, dtype=np.bool_)
    possible[0] = True
    earned = []  # earned[j][S]: what j earns as the last element after those of S
    for j in range(n):
        column = np.zeros(1, dtype=w.dtype)
        for i in range(n):
            column = np.concatenate([column, column + w[i, j]])
        earned.append(column)
    barred = (excluded.T @ (1 << np.arange(n))).astype(np.int64)
    for k in range(1, n + 1):
        layer = subsets[count == k]
        for j in range(n):
            whole = layer[(layer >> j) & 1 == 1]
            rest = whole ^ (1 << j)
            ok = possible[rest] & ((rest & barred[j]) == 0)
            whole, rest = whole[ok], rest[ok]
            value = best[rest] + earned[j][rest]
            better = ~possible[whole] | (value > best[whole])
            best[whole[better]] = value[better]
            possible[whole] = True
    return best[-1] if possible[-1] else None
