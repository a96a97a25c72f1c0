"""Preorders, partial orders and weak orders: local search, then branch and cut.

Preorders generalise both clusterings (equivalence relations) and orders, so the statistics
of an estimate say how far the best preorder is from either.
"""

from __future__ import annotations

import math
from copy import copy, deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import SolverError
from relatum.problem import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    PARTIAL_ORDERS,
    PREORDERS,
    WEAK_ORDERS,
    FeasibleSet,
    Problem,
    Relation,
    sum_of,
)
from relatum.proof import Leaf, Proof, Propagator
from relatum.solvers.control import Control
from relatum.solvers.order.branch_and_cut import BranchAndCut, Settings, bound_settings
from relatum.solvers.order.preorder_relaxation import PreorderIncumbent, PreorderRelaxation
from relatum.solvers.order.preorder_search import PreorderSearch, classes_of
from relatum.solvers.registry import Outcome, Solver, choose, register
from relatum.solvers.trivial_bound import trivial_bound


@dataclass(frozen=True)
class PreorderSettings:
    """What the search for preorders takes on, and may spend before and beside a proof."""

    most_elements: int = 400  # of a problem that is accepted: there is a row for every triple
    idle_kicks: int = 20  # per element, without a better relation, after which the search ends
    idle_kicks_first: int = 2  # per element, where a proof follows that improves the relation
    least_kicks: int = 10  # in addition, for a few elements
    report_kicks: int = 50  # between two reports of progress
    searching: float = 0.75  # share of the time for the search; what is left is for a bound
    searching_first: float = 0.2  # the same where a proof follows, and the search goes on later
    proved_searching: float = 0.76  # in all where a proof follows: not less than without, and
    # hardly more, since points of the relaxation are worth their time, too,
    relaxing: float = 0.95  # so that of what is then left, these have this share without a proof
    round_seconds: float = 1e-7  # per triple, of the first rounds of cuts, about,
    rooting: float = 0.1  # and share of the time they may take before the search has ended
    smaller_seconds: float = 2.0  # at most for each smaller set that a preorder is compared with
    smaller_share: float = 0.5  # at most of the time left, for all of these


SETTINGS = PreorderSettings()
PROOF = Settings(half_rounds=0)  # there are no such cuts for preorders
_SETS = {s.names for s in (PREORDERS, PARTIAL_ORDERS, WEAK_ORDERS)}


def _refuses(problem: Problem) -> str | None:
    if problem.feasible.structure.names not in _SETS:
        return "is for PREORDERS, PARTIAL_ORDERS and WEAK_ORDERS"
    if problem.feasible.cap is not None or problem.feasible.groups:
        return "takes evidence, but no caps and no groups, beside these sets"
    if problem.n > SETTINGS.most_elements:
        return f"takes at most {SETTINGS.most_elements} elements, and there are {problem.n}"
    return None


def solve(
    problem: Problem, control: Control, prove: bool, settings: Settings | None = None
) -> Outcome:
    """Search locally and, if asked to prove, branch and cut."""
    structure = problem.feasible.structure
    propagator = Propagator(structure)
    if problem.contradicts_itself:
        return Outcome(None, -math.inf, Leaf(infeasible=True))
    closure = propagator.close_all(problem.state)
    if closure.conflict is not None:
        return Outcome(None, -math.inf, closure.proof(Leaf(infeasible=True)))
    c = problem.dense()
    soon = prove and SETTINGS.round_seconds * problem.n**3 <= SETTINGS.rooting * control.remaining()
    # a climb is cut where it would be without a proof, or later, so that both go the same way
    searching = control.share(SETTINGS.proved_searching if prove else SETTINGS.searching)
    first = searching
    if soon:
        first = control.child(control.start, SETTINGS.searching_first * control.remaining())
    start = _start(propagator, c, closure.state, searching)
    if start is None:
        return Outcome(None)
    search = PreorderSearch(
        c,
        closure.state,
        start,
        ties=not structure.has("antisymmetric"),
        connex=structure.has("connex"),
        seed=control.seed,
        expired=searching.expired,
    )
    kicks = SETTINGS.idle_kicks_first if soon else SETTINGS.idle_kicks
    idle = _kicks(search, first, kicks)
    later = _Later(copy(search), idle, searching.remaining())
    later.search.rng = deepcopy(search.rng)  # as it is before the relaxation suggests anything
    stats: dict[str, Any] = {}
    bound: float | Fraction = math.inf
    proof: Proof | None = None
    if not control.expired():
        settings = (settings or PROOF) if prove else bound_settings(problem.n)
        relaxing = control if prove else control.share(SETTINGS.relaxing)
        search.expired = relaxing.expired
        relaxation = PreorderRelaxation(c, structure, closure.state, relaxing.expired)
        bound, inner, stats = _prove(relaxation, search, relaxing, settings, later)
        proof = closure.proof(inner)
        if not prove:
            bound, proof = min((bound, proof), trivial_bound(problem), key=lambda found: found[0])
    stats |= distances(problem, search.best, control)
    return Outcome(Relation(search.best), bound, proof, stats)


def _start(
    propagator: Propagator, c: Floats, state: NDArray[np.int8], control: Control
) -> Flags | None:
    """Return the start given, or a relation decided pair by pair, heavy ones first."""
    if control.start is not None:
        return control.start.matrix().copy()
    order = np.argsort(-np.abs(c).ravel(), kind="stable").astype(np.int64)
    return propagator.complete(state, order, c > 0, control.expired)


def _kicks(search: PreorderSearch, control: Control, per_element: int, idle: int = 0) -> int:
    """Kick until nothing has improved for long: so many kicks per element, and some more.

    Returns how many kicks in a row have improved nothing, to go on from.
    """
    n = len(search.best)
    limit = per_element * n + SETTINGS.least_kicks if n >= 3 else 0
    while idle < limit and not control.expired():
        idle = 0 if search.kick(2 + idle % 4) else idle + 1
        if idle % SETTINGS.report_kicks == 0:
            control.report(search.value)
    return idle


@dataclass(frozen=True)
class _Later:
    """A search to go on with: how many kicks have improved nothing, and the seconds it has left."""

    search: PreorderSearch
    idle: int
    seconds: float


def _prove(
    relaxation: PreorderRelaxation,
    search: PreorderSearch,
    control: Control,
    settings: Settings,
    later: _Later,
) -> tuple[float | Fraction, Proof, dict[str, Any]]:
    c = search.c
    diagonal = math.fsum(np.diagonal(c).tolist())
    incumbent = PreorderIncumbent(search, relaxation, diagonal, control.gap)

    def search_on(control: Control) -> None:
        """Search on as where no proof is asked for: a proof's relation is not worse."""
        control = control.child(control.start, later.seconds)
        later.search.expired = control.expired
        _kicks(later.search, control, SETTINGS.idle_kicks, later.idle)
        if search.offer(later.search.best):
            incumbent.update()

    again = search_on if settings.max_nodes else None
    search_tree = BranchAndCut(relaxation, incumbent, control, settings, again)
    bound, proof = search_tree.run()
    total = bound if math.isinf(bound) else sum_of([bound, *np.diagonal(c).tolist()])
    return total, proof, search_tree.stats


def distances(problem: Problem, y: Flags, control: Control) -> dict[str, Any]:
    """Say how far a preorder is from being an equivalence relation, or an order.

    Counts of unordered pairs: ``tied`` (both ways), ``one_way`` and ``incomparable``. The
    preorder is an equivalence relation iff ``one_way`` is 0, a partial order iff ``tied``
    is 0, a weak order iff ``incomparable`` is 0. For PREORDERS, ``value_of`` gives the values
    found for these smaller sets, as far as there is time.
    """
    i, j = np.triu_indices(len(y), 1)
    forward, backward = y[i, j], y[j, i]
    stats: dict[str, Any] = {
        "classes": int(classes_of(y).max()) + 1,
        "tied": int((forward & backward).sum()),
        "one_way": int((forward ^ backward).sum()),
        "incomparable": int((~forward & ~backward).sum()),
    }
    if problem.feasible.structure == PREORDERS and len(y) > 1:
        stats["value_of"] = _values_within(problem, control)
    return stats


def _values_within(problem: Problem, control: Control) -> dict[str, float]:
    """Values found, without proof, for the families that preorders generalise."""
    evidence = FeasibleSet([problem.evidence])
    smaller = {
        "EQUIVALENCES": EQUIVALENCES,
        "PARTIAL_ORDERS": PARTIAL_ORDERS,
        "WEAK_ORDERS": WEAK_ORDERS,
        "LINEAR_ORDERS": LINEAR_ORDERS,
    }
    values = {}
    end = control.share(SETTINGS.smaller_share)
    for name, structure in smaller.items():
        if end.expired():
            break
        try:
            part = Problem(problem.dense(), structure & evidence)
            solver = choose(part, "auto", False)
        except SolverError:
            continue
        child = end.child(None, min(SETTINGS.smaller_seconds, end.remaining()), silent=True)
        child.prove = False
        relation = solver.run(part, child).relation
        if relation is not None:
            values[name] = part.value(relation)
    return values


register(
    Solver(
        name="preorder_branch_and_cut",
        summary="Preorders, partial and weak orders, by local search and first-order cuts.",
        proves=True,
        refuses=_refuses,
        run=lambda problem, control: solve(problem, control, True),
        rank=lambda problem, prove: 30.0 if prove or problem.n <= 15 else 60.0,
    )
)
register(
    Solver(
        name="preorder_local_search",
        summary="Preorders, partial and weak orders, by moves of elements and of classes.",
        proves=False,
        refuses=_refuses,
        run=lambda problem, control: solve(problem, control, False),
        rank=lambda problem, prove: 50.0,
    )
)
