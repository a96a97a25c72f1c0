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
from relatum.solvers.order.branch_and_cut import BOUND, BranchAndCut, Settings
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
    first_steps: int = 2_000  # per element, of the first cycle where no proof is wanted
    longer: int = 4  # how many times as long each cycle is as the one before
    idle_cycles: int = 2  # in a row without a better order after which annealing ends
    timely: float = 0.93  # share of the time left to fill: the speed is known only roughly
    least_steps: int = 500  # per element, below which a cycle is not worth beginning
    packing_seconds: float = 1e-9  # per triple, to bound what time has left without a bound
    searching: float = 0.75  # share of the time for annealing; what is left is for a bound


SETTINGS = LinearSettings()


@dataclass
class _Part:
    order: Index
    bound: float | Fraction
    proof: Proof | None
    stats: dict[str, Any] = field(default_factory=dict)


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
            result = _by_search(plan, d, part, child, _start_of(plan, part, start), large, settings)
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
    w = plan.w[np.ix_(part, part)]
    lower = w.T[np.triu_indices(len(part), 1)]
    return w, exact_sum(np.concatenate([plan.inner[part], lower]))


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
    start: Index | None,
    large: int,
    settings: Settings | None,
) -> _Part:
    """Anneal; then bound, or prove, if asked to."""
    sub = d[np.ix_(part, part)]
    n = len(part)
    finite = np.where(np.isfinite(sub), sub, 0.0)
    if start is None:
        start = feasible_order(sub, finite.sum(axis=1))
    if control.expired() and not _affords_packing(n, control.last_moment()):
        return _Part(start, math.inf, None)
    w, base = _part_base(plan, part)
    difference = w - w.T
    offset = nearest_float(base)
    before = plan.before[np.ix_(part, part)]

    def annealed(control: Control) -> Index:
        """Return what is found where no proof is asked for: a proof's order is not worse."""
        search = OrderSearch(sub, start, control.seed, expired=control.expired)
        _anneal(search, control, difference, offset)
        return search.order

    if control.prove:
        search = OrderSearch(sub, start, control.seed, expired=control.expired)
        search.anneal(min(SETTINGS.proof_steps * n, SETTINGS.most_proof_steps))
        order = search.order
    else:
        order, settings = annealed(control.share(SETTINGS.searching)), BOUND
    if control.expired():
        control = control.last_moment()
        if not _affords_packing(n, control):
            return _Part(order, math.inf, None)
    gap = control.gap / max(1, large)
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
    again = (lambda control: incumbent.offer(annealed(control))) if control.prove else None
    search_tree = BranchAndCut(relaxation, incumbent, control, settings, again)
    bound, proof = search_tree.run()
    total = bound if math.isinf(bound) else sum_of([bound, base])
    return _Part(incumbent.order, total, proof, search_tree.stats)


def _affords_packing(n: int, control: Control) -> bool:
    """Say whether there is time for a bound better than that of the pairs one by one."""
    return SETTINGS.packing_seconds * n**3 <= control.remaining()


def _anneal(search: OrderSearch, control: Control, d: Floats, base: float) -> None:
    """Anneal in cycles of growing length until two of them improve nothing.

    A cycle after which the next one would not end in time is made as long as the time left,
    by the speed of those before: one long annealing is worth more than two of half its length.
    """
    n, s = len(search.order), SETTINGS
    steps, idle, seconds_per_step = s.first_steps * n, 0, 0.0
    incumbent = OrderIncumbent(d, search.order, base)
    while not control.expired() and idle < s.idle_cycles:
        if seconds_per_step > 0:
            fits = s.timely * control.remaining() / seconds_per_step
            if fits < (1 + s.longer) * steps:  # no room for this cycle and the next
                steps = int(fits)
            if steps < s.least_steps * n:
                break
        began = control.seconds()
        idle = 0 if search.cycle(steps) else idle + 1
        seconds_per_step = (control.seconds() - began) / steps
        incumbent.offer(search.order)
        control.report(incumbent.value + base)
        steps *= s.longer


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
    inside = np.zeros(plan.w.shape, dtype=np.bool_)
    alone = np.ones(len(plan.w), dtype=np.bool_)
    for part, _, _ in proofs:
        inside[np.ix_(part, part)] = True
        alone[part] = False
    barred = np.where(plan.before.T, -np.inf, plan.w)
    best = np.maximum(barred, barred.T)[np.triu_indices(len(plan.w), 1)]
    outside = ~inside[np.triu_indices(len(plan.w), 1)]
    claims = [bound for _, bound, _ in proofs]
    proof: Proof = Decompose(tuple(proofs)) if proofs else Leaf()
    if len(proofs) == 1 and not alone.any():
        proof = proofs[0][2]  # of the whole
    if len(plan.w) < len(plan.labels):
        proof = Merge(plan.labels, proof)
    proof = imply_steps(plan.steps, proof)
    if math.inf in claims:
        return math.inf, proof
    rest = exact_sum(np.concatenate([best[outside], plan.inner[alone]]))
    return sum_of([rest, *claims]) + plan.rounding, proof


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
