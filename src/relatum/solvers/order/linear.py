"""Linear orders: merge alike elements, split into components, order each exactly or well.

A most probable linear order keeps the strongly connected components of the majority graph
apart, in a topological order. Components in which few subsets of the elements matter are
ordered by dynamic programming over these, others by branch and cut (to prove) or annealing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.kernels.order.states import WORD, pruned_order
from relatum.problem import (
    LINEAR_ORDERS,
    LinearOrder,
    Problem,
    exact_sum,
    float_up,
    nearest_float,
    sum_of,
)
from relatum.proof import Decompose, Leaf, Merge, Proof, SubsetOrder
from relatum.solvers.control import Control
from relatum.solvers.order.branch_and_cut import BranchAndCut, Settings, bound_settings
from relatum.solvers.order.cycles import anneal_in_cycles, planned_seconds
from relatum.solvers.order.pair_relaxation import Expired
from relatum.solvers.order.relaxation import OrderIncumbent, OrderRelaxation
from relatum.solvers.order.search import OrderSearch
from relatum.solvers.reductions import Plan, imply_steps, plan_of
from relatum.solvers.registry import Outcome, Solver, register


@dataclass(frozen=True)
class LinearSettings:
    """When an order is found by which method; steps are those of annealing."""

    few_states: int = 500  # subsets of dynamic programming before branch and cut takes over
    many_states: int = 100_000  # if it is asked for by name: less than the checker is ready for
    batch_states: int = 20_000  # in each component of many small problems solved at once
    most_elements: int = 5_000  # of a problem that is accepted: matrices of all pairs are held
    subset_margin: float = 1e-13  # of all absolute weights: more than solver and checker round
    proof_steps: int = 50  # per element, before a proof, which improves the order
    most_proof_steps: int = 100_000  # in all, before a proof
    packing_seconds: float = 1e-9  # per triple, to bound what time has left without a bound
    relaxation_seconds: float = 2e-7  # per ordered pair, to write a relaxation down, and a packing
    searching: float = 0.75  # share of the time for annealing; what is left is for a bound
    proved_searching: float = 0.8  # the same before a proof, whose search is not to be cut sooner
    round_seconds: float = 1e-7  # per triple, of the first rounds of cuts, about,
    rooting: float = 0.1  # and share of the time they may take before the order is annealed


SETTINGS = LinearSettings()


@dataclass
class _Part:
    order: Index
    bound: float | Fraction
    proof: Proof | None
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Searched:
    """How a part is searched: from which order, planned for how long, and one of how many."""

    start: Index | None
    seconds: float
    large: int


def solve_plan(
    plan: Plan,
    control: Control,
    start: Index | None = None,
    states: int = SETTINGS.few_states,
    settings: Settings | None = None,
) -> tuple[Index, float | Fraction, Proof, dict[str, Any]]:
    """Order every part; return (order of elements, bound, proof, stats)."""
    d = plan.search_weights
    several = [p for p in plan.parts if len(p) > 1]
    by_subsets = [_by_subsets(plan, p, states, control.expired) for p in several]
    large = sum(r is None for r in by_subsets)
    stats: dict[str, Any] = {
        "classes": len(plan.w), "components": len(plan.parts), "nodes": 0, "rounds": 0,
        "half_cuts": 0,
    }  # fmt: skip
    chain: list[Index] = []
    proofs: list[tuple[Index, float, Proof]] = []
    left = sum(len(p) ** 2 for p, r in zip(several, by_subsets, strict=True) if r is None)
    each = planned_seconds(control) / max(1, left)
    found = iter(by_subsets)
    for part in plan.parts:
        if len(part) == 1:
            chain.append(part)
            continue
        result = next(found)
        if result is None:
            share = control.remaining() * len(part) ** 2 / max(1, left)
            left -= len(part) ** 2
            child = control.child(None, share)
            searched = _Searched(_start_of(plan, part, start), each * len(part) ** 2, large)
            result = _by_search(plan, d, part, child, searched, settings)
        for key in result.stats.keys() & stats.keys():
            stats[key] += result.stats[key]
        chain.append(part[result.order])
        if result.proof is not None:
            bound = result.bound
            claim = bound if math.isinf(bound) else sum_of([bound, plan.rounding])
            proofs.append((part, float_up(claim), result.proof))
    classes = np.concatenate(chain)
    bound, proof = _assemble(plan, proofs)
    return _expanded(plan, classes), bound, proof, stats


def _integers(w: Floats) -> bool:
    return bool(np.abs(w).sum() < 2.0**52 and np.array_equal(w, np.rint(w)))


def _part_base(plan: Plan, part: Index) -> tuple[Floats, Fraction]:
    """Weights of a part, and what any order of it has: inner worths and w_ba for a < b."""
    w = _within(plan.w, part)
    lower = w[np.tri(len(part), k=-1, dtype=np.bool_)]
    return w, exact_sum(np.concatenate([plan.inner[part], lower]))


def _within(matrix: NDArray[Any], part: Index) -> NDArray[Any]:
    """Return the rows and columns of a part, whose elements ascend; the matrix if it is all."""
    return matrix if len(part) == len(matrix) else matrix[np.ix_(part, part)]


def _by_subsets(plan: Plan, part: Index, states: int, expired: Expired) -> _Part | None:
    """Order a part by dynamic programming over subsets; None if too many matter."""
    if len(part) > WORD or states == 0 or expired():
        return None
    w = plan.w[np.ix_(part, part)]
    inner = plan.inner[part]
    barred = plan.before[np.ix_(part, part)].T
    found, order = pruned_order(np.where(barred, -np.inf, w), states, expired)
    if not found:
        return None
    ordered = w[np.ix_(order, order)][np.triu_indices(len(part), 1)]
    bound = exact_sum(np.concatenate([ordered, inner]))
    if not (_integers(w) and _integers(inner)):
        bound += Fraction(SETTINGS.subset_margin * float(np.abs(w).sum()))
    return _Part(order, bound, SubsetOrder())


def _by_search(
    plan: Plan,
    d: Floats,
    part: Index,
    control: Control,
    searched: _Searched,
    settings: Settings | None,
) -> _Part:
    """Anneal; then bound, or prove, if asked to."""
    sub = _within(d, part)
    n = len(part)
    start = searched.start
    if start is None:
        start = feasible_order(sub, np.where(np.isfinite(sub), sub, 0.0).sum(axis=1))
    if control.expired() and not _affords_packing(n, control.last_moment()):
        return _Part(start, math.inf, None)
    w, base = _part_base(plan, part)
    difference = w - w.T
    offset = nearest_float(base)
    before = _within(plan.before, part)

    def annealed(control: Control) -> Index:
        """Return what is found where no proof is asked for: a proof's order is not worse."""
        search = OrderSearch(sub, start, control.seed, expired=control.expired)
        best = OrderIncumbent(difference, search.order, offset)

        def tell(order: Index) -> None:
            best.offer(order)
            control.report(best.value + offset)

        anneal_in_cycles(search, control, SETTINGS.searching * searched.seconds, tell)
        return search.order

    soon = SETTINGS.round_seconds * n**3 <= SETTINGS.rooting * control.remaining()
    if control.prove and soon:
        search = OrderSearch(sub, start, control.seed, expired=control.expired)
        search.anneal(min(SETTINGS.proof_steps * n, SETTINGS.most_proof_steps))
        order = search.order
    else:
        longer = SETTINGS.proved_searching if control.prove else SETTINGS.searching
        order = annealed(control.share(longer))
        settings = settings if control.prove else bound_settings(n)
    late = control.expired()
    control = control.last_moment() if late else control
    if not _affords_relaxation(n, control) or (late and not _affords_packing(n, control)):
        return _Part(order, math.inf, None)
    gap = control.gap / max(1, searched.large)
    incumbent = OrderIncumbent(difference, order, offset, gap, before, control.expired)
    if not _integers(w):  # differences may be integers in floating point only
        incumbent.grid = 0.0
    relaxation = OrderRelaxation(difference, control.expired)
    relaxation.start_from_packing()
    known = np.argwhere(before).astype(np.int64)
    if len(known):
        relaxation.assign(known, np.ones(len(known), dtype=np.bool_))
    settings = settings or Settings()
    if not incumbent.grid and incumbent.tolerance < 2 * SETTINGS.subset_margin * np.abs(w).sum():
        settings = replace(settings, states=0)  # solver and checker round too much

    def again(control: Control) -> None:
        incumbent.offer(annealed(control))

    later = again if control.prove and soon else None
    search_tree = BranchAndCut(relaxation, incumbent, control, settings, later)
    bound, proof = search_tree.run()
    total = bound if math.isinf(bound) else sum_of([bound, base])
    return _Part(incumbent.order, total, proof, search_tree.stats)


def _affords_packing(n: int, control: Control) -> bool:
    """Say whether there is time for a bound better than that of the pairs one by one."""
    return SETTINGS.packing_seconds * n**3 <= control.remaining()


def _affords_relaxation(n: int, control: Control) -> bool:
    """Say whether there is time to write a relaxation down."""
    return SETTINGS.relaxation_seconds * n**2 <= control.remaining()


def feasible_order(d: Floats, score: Floats) -> Index:
    """Return an order that respects d = inf, larger scores first wherever possible."""
    forced = np.isposinf(d)
    if not forced.any():
        return np.argsort(-score, kind="stable").astype(np.int64)
    waiting = forced.sum(axis=0)
    order = np.empty(len(d), dtype=np.int64)
    key = np.array(score, dtype=np.float64)
    for place in range(len(d)):
        a = int(np.argmax(np.where(waiting == 0, key, -np.inf)))
        order[place] = a
        key[a] = -np.inf
        waiting = waiting - forced[a]
        waiting[a] = len(d)
    return order


def _start_of(plan: Plan, part: Index, start: Index | None) -> Index | None:
    """Order of a part that a start suggests: classes by their first element's rank."""
    if start is None:
        return None
    rank = np.empty(len(start), dtype=np.int64)
    rank[start] = np.arange(len(start))
    best = np.full(len(plan.w), len(start), dtype=np.int64)
    np.minimum.at(best, plan.labels, rank)
    return np.argsort(best[part], kind="stable").astype(np.int64)


def _expanded(plan: Plan, classes: Index) -> Index:
    """Order of elements from an order of classes."""
    rank = np.empty(len(classes), dtype=np.int64)
    rank[classes] = np.arange(len(classes))
    return np.argsort(rank[plan.labels], kind="stable").astype(np.int64)


def _assemble(
    plan: Plan, proofs: list[tuple[Index, float, Proof]]
) -> tuple[float | Fraction, Proof]:
    """Bound and proof of the whole from those of the parts; other pairs one by one."""
    alone = np.ones(len(plan.w), dtype=np.bool_)
    for part, _, _ in proofs:
        alone[part] = False
    claims = [bound for _, bound, _ in proofs]
    proof: Proof = Decompose(tuple(proofs)) if proofs else Leaf()
    if len(proofs) == 1 and not alone.any():
        proof = proofs[0][2]  # of the whole
    if len(plan.w) < len(plan.labels):
        proof = Merge(plan.labels, proof)
    proof = imply_steps(plan.steps, proof)
    if math.inf in claims:
        return math.inf, proof
    best = _best_outside(plan, [part for part, _, _ in proofs])
    rest = exact_sum(np.concatenate([best, plan.inner[alone]]))
    return sum_of([rest, *claims]) + plan.rounding, proof


def _best_outside(plan: Plan, parts: list[Index]) -> Floats:
    """Return what pairs are worth at best that are not within one of these parts."""
    n = len(plan.w)
    if any(len(part) == n for part in parts):
        return np.empty(0)
    outside = np.tri(n, k=-1, dtype=np.bool_).T
    for part in parts:
        outside[np.ix_(part, part)] = False
    barred = np.where(plan.before.T, -np.inf, plan.w) if plan.before.any() else plan.w
    return np.asarray(np.maximum(barred, barred.T)[outside])


def refuses(problem: Problem) -> str | None:
    """Say why the solvers of linear orders do not take a problem; None if they do."""
    if problem.feasible.structure.names != LINEAR_ORDERS.names:
        return "is for LINEAR_ORDERS"
    if problem.feasible.cap is not None or problem.feasible.groups:
        return "takes evidence, but no caps and no groups, beside LINEAR_ORDERS"
    if problem.n > SETTINGS.most_elements:
        return f"takes at most {SETTINGS.most_elements} elements, and there are {problem.n}"
    return None


def _outcome(problem: Problem, control: Control, prove: bool, states: int) -> Outcome:
    plan = plan_of(problem)
    if not isinstance(plan, Plan):
        return Outcome(None, -math.inf, plan)
    start = None if control.start is None else control.start.to(LinearOrder).order
    child = control.child(control.start, control.remaining())
    child.prove = prove
    order, bound, proof, stats = solve_plan(plan, child, start, states)
    return Outcome(LinearOrder.from_order(order), bound, proof, stats)


register(
    Solver(
        name="order_dp",
        summary="Linear orders, by dynamic programming over the subsets that matter.",
        proves=True,
        refuses=refuses,
        run=lambda problem, control: _outcome(problem, control, True, SETTINGS.many_states),
        rank=lambda problem, prove: math.inf,
    )
)
register(
    Solver(
        name="order_branch_and_cut",
        summary="Linear orders, by cutting planes on a first-order LP and branching.",
        proves=True,
        refuses=refuses,
        run=lambda problem, control: _outcome(problem, control, True, SETTINGS.few_states),
        rank=lambda problem, prove: 10.0 if prove or problem.n <= 60 else 20.0,
    )
)
register(
    Solver(
        name="order_local_search",
        summary="Linear orders, by annealing over the places of elements.",
        proves=False,
        refuses=refuses,
        run=lambda problem, control: _outcome(problem, control, False, SETTINGS.few_states),
        rank=lambda problem, prove: 15.0,
    )
)
