"""Injections and bijections: scipy's assignment solver, with multipliers as certificate."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from relatum.array_types import Floats, Index
from relatum.problem import DENSE_LIMIT, Map, PartialMap, Problem, Relation
from relatum.proof import Cuts, Leaf
from relatum.solvers.control import Control
from relatum.solvers.direct.argmax import image_cuts
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.registry import Outcome, Solver, register

FEW_PAIRS = 250_000  # that are matched at once, in some hundredths of a second
_ALL = frozenset({"has_image", "unique_image", "unique_preimage", "has_preimage"})


def _refuses(problem: Problem) -> str | None:
    feasible = problem.feasible
    names = feasible.names
    if not ({"unique_image", "unique_preimage"} <= names <= _ALL):
        return "solves partial injections, INJECTIONS and BIJECTIONS"
    if "has_preimage" in names and "has_image" not in names:
        return "needs every element of A to have an image if every element of B has a preimage"
    if len(problem.evidence.related):
        return "takes no pairs given as related (the branch-and-cut does)"
    if problem.shape[0] * problem.shape[1] > DENSE_LIMIT:
        return "needs the dense matrix, which does not fit"
    return None


def _matched(weights: Floats) -> tuple[Index, Index]:
    """Return the rows and columns of the heaviest matching."""
    from scipy.optimize import linear_sum_assignment  # a third of the time to import relatum

    a, b = linear_sum_assignment(weights, maximize=True)
    return a, b


def _matched_in_time(weights: Floats, control: Control) -> tuple[Index, Index] | None:
    """Return the heaviest matching; None if it is not found in time.

    SciPy does not look at the clock: what takes long is done beside, without the interpreter,
    and left alone when time is up.
    """
    if weights.size <= FEW_PAIRS:
        return _matched(weights)
    found: list[tuple[Index, Index]] = []
    errors: list[ValueError] = []

    def work() -> None:
        try:
            found.append(_matched(weights))
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive() and not control.expired():
        thread.join(min(0.02, max(0.001, control.remaining())))
    if errors:
        raise errors[0]
    return found[0] if found else None


def _matched_greedily(weights: Floats) -> tuple[Index, Index]:
    """Give every row the best column that is left, rows with the best ones first."""
    left, pairs = np.ones(weights.shape[1], dtype=np.bool_), []
    for a in np.argsort(-weights.max(axis=1), kind="stable").tolist():
        b = int(np.argmax(np.where(left, weights[a], -np.inf)))
        if left[b] and weights[a, b] > -np.inf:
            pairs.append((a, b))
            left[b] = False
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def solve(problem: Problem, control: Control) -> Outcome:
    """Match A with B by the Hungarian method; forbidden pairs have the weight -inf."""
    n_a, n_b = problem.shape
    total = problem.feasible.has("has_image")
    if total and (n_a > n_b or (n_b > n_a and problem.feasible.has("has_preimage"))):
        return _pigeonhole(n_a, n_b)
    c = np.where(problem.state == 0, -np.inf, problem.dense())
    weights = c if total else np.maximum(c, 0.0)
    try:
        matched = _matched_in_time(weights, control)
    except ValueError:  # no perfect matching avoids the forbidden pairs
        return _hall(problem)
    a, b = _matched_greedily(weights) if matched is None else matched
    if total and len(a) < n_a:
        return Outcome(None)  # what is left is forbidden, and there is no time to exchange
    match = np.full(n_a, -1, dtype=np.int64)
    match[a] = b
    relation: Relation
    if total:
        relation = Map(match, n_labels=n_b)
    else:
        keep = (match >= 0) & (c[np.arange(n_a), np.maximum(match, 0)] > 0)
        relation = PartialMap(np.where(keep, match, -1), n_labels=n_b)
    prices = None
    if matched is not None:
        prices = _prices(weights, match, control.last_moment().expired)
    if prices is None:
        return Outcome(relation)
    u, v = prices
    preimages = Cuts("unique_preimage", np.arange(n_b)[:, None], v).positive()
    cuts = *image_cuts(u if total else np.maximum(u, 0.0), 1, True), preimages
    bound, proof = leaf_bound(problem, cuts)
    return Outcome(relation, max(problem.exact_value(relation), bound), proof)


def _prices(w: Floats, match: Index, expired: Callable[[], bool]) -> tuple[Floats, Floats] | None:
    """Prices u of A and v >= 0 of B with u_a + v_b >= w_ab, equal on the matching.

    None if there is no time. Longest paths in the graph of alternating exchanges, by
    Bellman-Ford on whole arrays.
    """
    n_a = len(w)
    matched = np.flatnonzero(match >= 0)
    own = w[matched, match[matched]]
    v = np.maximum(0.0, w[match < 0]).max(axis=0, initial=0.0)
    for _ in range(n_a + 1):
        if expired():
            return None
        raised = (v[match[matched]] - own)[:, None] + w[matched]
        new = np.maximum(v, raised.max(axis=0, initial=0.0))
        if (new - v).max() <= 1e-13 * (1.0 + float(np.abs(new).max())):
            break
        v = new
    u = np.zeros(n_a)
    u[matched] = own - v[match[matched]]
    return u, v


def _pigeonhole(n_a: int, n_b: int) -> Outcome:
    a, b = np.arange(n_a)[:, None], np.arange(n_b)[:, None]
    if n_a > n_b:
        rows = ("has_image", a), ("unique_preimage", b)
    else:
        rows = ("at_most", np.hstack([a, np.ones_like(a)])), ("has_preimage", b)
    cuts = tuple(Cuts(name, index, np.ones(len(index))) for name, index in rows)
    return Outcome(None, -math.inf, Leaf(cuts, infeasible=True))


def _hall(problem: Problem) -> Outcome:
    """Prove that forbidden pairs leave some elements of A too few images (Hall's theorem)."""
    allowed = problem.state != 0
    a, b = _matched(allowed.astype(np.float64))
    mate_a = np.full(len(allowed), -1)
    mate_b = np.full(allowed.shape[1], -1)
    good = allowed[a, b]
    mate_a[a[good]], mate_b[b[good]] = b[good], a[good]
    reach_a = mate_a < 0
    reach_b = np.zeros(allowed.shape[1], dtype=np.bool_)
    while True:
        new_b = allowed[reach_a].any(axis=0)
        new_a = (mate_a < 0) | np.isin(np.arange(len(allowed)), mate_b[new_b])
        if np.array_equal(new_b, reach_b) and np.array_equal(new_a, reach_a):
            break
        reach_a, reach_b = new_a, new_b
    cuts = (
        Cuts("has_image", np.flatnonzero(reach_a)[:, None], np.ones(int(reach_a.sum()))),
        Cuts("unique_preimage", np.flatnonzero(reach_b)[:, None], np.ones(int(reach_b.sum()))),
    )
    return Outcome(None, -math.inf, Leaf(cuts, infeasible=True))


register(
    Solver(
        name="assignment",
        summary="INJECTIONS and BIJECTIONS by scipy's Hungarian method.",
        proves=True,
        refuses=_refuses,
        run=solve,
        rank=lambda problem, prove: 2.0,
        exact=True,
    )
)
