"""Many small linear-order problems at once: one kernel call, certificates from its arrays."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.order.batch import order_small_many
from relatum.kernels.order.states import WORD
from relatum.problem import LINEAR_ORDERS, DenseScores, LinearOrder, Problem
from relatum.proof import (
    OPTIMAL_GAP,
    Certificate,
    Decompose,
    Estimate,
    Leaf,
    Merge,
    Proof,
    Status,
    SubsetOrder,
)
from relatum.solvers.order.linear import SETTINGS, refuses
from relatum.solvers.reductions import closed_evidence, imply_steps

_NO_STEPS: Index = np.empty((0, 3), dtype=np.int64)
_KNOWN = {"solver", "prove", "time_limit", "seed"}


def _accepts(problem: Any) -> bool:
    if not (isinstance(problem, Problem) and isinstance(problem.scores, DenseScores)):
        return False
    if problem.n > WORD:
        return False
    return problem.feasible is LINEAR_ORDERS or refuses(problem) is None


def _matrices(problem: Problem) -> tuple[Floats, Floats, Index] | None:
    """Return scores, scores with -inf where evidence excludes, and how it was closed.

    None if evidence contradicts itself: `infer` tells why.
    """
    c = np.asarray(problem.log_odds, dtype=np.float64)
    if not len(problem.evidence):
        return c, c, _NO_STEPS
    closed = closed_evidence(problem)
    if closed is None:
        return None
    before, steps, clash = closed
    return None if clash else (c, np.where(before.T, -np.inf, c), steps)


def order_many(problems: Sequence[Problem], arguments: Mapping[str, Any]) -> list[Estimate | None]:
    """Order all small problems over LINEAR_ORDERS; None for those left to `infer`.

    Parameters
    ----------
    problems : sequence of Problem
    arguments : mapping
        Those of `infer`; with a start, a monitor or another solver named, nothing is done.
    """
    estimates: list[Estimate | None] = [None] * len(problems)
    if not arguments.keys() <= _KNOWN or arguments.get("solver", "auto") not in (
        "auto",
        "order_dp",
    ):
        return estimates
    began = time.perf_counter()
    given = ((k, _matrices(p)) for k, p in enumerate(problems) if _accepts(p))
    chosen = [(k, m) for k, m in given if m is not None]
    if len(chosen) < 2:
        return estimates
    sizes = np.array([len(m[0]) for _, m in chosen], dtype=np.int64)
    marked = np.concatenate([m[1].ravel() for _, m in chosen])
    arrays = order_small_many(marked, sizes, SETTINGS.batch_states)
    stats = {"batch": len(chosen), "batch_seconds": time.perf_counter() - began}
    row = 0
    for (k, (matrix, _, steps)), n in zip(chosen, sizes.tolist(), strict=True):
        own = [a[row : row + n] for a in arrays[:5]]
        estimates[k] = _estimate(problems[k], matrix, steps, own, stats)
        row += n
    return estimates


def _estimate(
    problem: Problem,
    matrix: Floats,
    steps: Index,
    arrays: list[NDArray[Any]],
    stats: dict[str, Any],
) -> Estimate | None:
    """Return the estimate of one problem; None if it is not solved, or not to the last digit."""
    order, twins, component, solved, worth = arrays
    count = int(component[order[-1]]) + 1
    if not solved[:count].all():
        return None
    margin, magnitude = 0.0, float(np.abs(matrix).sum())
    if not np.array_equal(matrix, np.rint(matrix)) or magnitude >= 2.0**52:
        margin = 2 * SETTINGS.subset_margin * magnitude
    classes = int(twins.max()) + 1
    of_class = component
    if classes < len(order):
        of_class = np.empty(classes, dtype=np.int64)
        of_class[twins] = component
    several = np.flatnonzero(np.bincount(of_class, minlength=count) > 1).tolist()
    parts: list[tuple[Index, float, Proof]] = [
        (np.flatnonzero(of_class == t), float(worth[t]) + margin, SubsetOrder()) for t in several
    ]
    proof: Proof = Decompose(tuple(parts)) if parts else Leaf()
    if classes < len(order):
        proof = Merge(twins.copy(), proof)
    proof = imply_steps(steps, proof)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    relation = LinearOrder.trusted(ranks)
    value = bound = problem.value(relation)
    if margin:  # the value is half a float off at most, as is the sum
        bound = math.nextafter(value + (len(parts) + 1) * margin, math.inf)
    if bound - value > OPTIMAL_GAP / 2:
        return None
    return Estimate(
        Status.OPTIMAL,
        relation,
        value,
        bound,
        Certificate(bound, proof),
        "order_dp",
        stats=stats,
    )
