"""A conformance suite that every registered solver passes.

Use it for a solver of your own: register it, then call ``check_solver("its name")``.
Everything is checked against brute force over all relations of small sets, against
`relatum.verify`, and against the promises of `relatum.infer`.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

from relatum.array_types import Flags
from relatum.errors import ProblemError
from relatum.inference import infer
from relatum.problem import (
    NAMED_SETS,
    FeasibleSet,
    Problem,
    Relation,
    at_most,
    evidence,
    one_per_group,
    shown,
    whole_number,
)
from relatum.proof import Estimate, Status, verify
from relatum.solvers import Solver, solver_named

MOST_PAIRS = 16  # whose relations, 2**16 of them, are tried one by one

__all__ = ["brute_force", "check_solver", "random_problems"]


@cache
def _all_relations(n_a: int, n_b: int) -> Flags:
    bits = np.array(list(product((False, True), repeat=n_a * n_b)), dtype=np.bool_)
    return bits.reshape(-1, n_a, n_b)


@cache
def _members(structure: FeasibleSet, shape: tuple[int, int]) -> Flags:
    """All relations of a feasible set without evidence, up to 16 pairs."""
    every = _all_relations(*shape)
    properties = structure.properties
    keep = [all(p.contains(y) for p in properties) for y in every]
    return every[np.array(keep, dtype=np.bool_)]


def brute_force(problem: Problem) -> tuple[float, Relation | None]:
    """Return the largest value and a relation that has it, by trying all (up to 16 pairs).

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> value, relation = rt.testing.brute_force(problem)
    >>> value == rt.infer(problem, prove=True).value
    True
    """
    if not isinstance(problem, Problem):
        raise ProblemError(f"brute_force takes a relatum.Problem, got {shown(problem)}.")
    if problem.shape[0] * problem.shape[1] > MOST_PAIRS:
        raise ProblemError(
            f"brute_force tries all relations of up to {MOST_PAIRS} pairs, got {problem.shape}; "
            "use relatum.infer(problem, prove=True)."
        )
    best, found = -math.inf, None
    for y in _members(problem.feasible.structure, problem.shape):
        relation = Relation(y)
        if problem.feasible.contains(relation):
            value = problem.value(relation)
            if value > best:
                best, found = value, relation
    return best, found


def random_problems(
    structure: FeasibleSet, count: int, seed: int = 0, largest: int = 3
) -> Iterator[Problem]:
    """Yield small random problems: ties, evidence, infinities, caps and groups included.

    Examples
    --------
    >>> import relatum as rt
    >>> [p.shape for p in rt.testing.random_problems(rt.MAPS, 2, seed=0)]
    [(3, 2), (3, 3)]
    """
    if not isinstance(structure, FeasibleSet):
        raise ProblemError(f"A feasible set is one such as MAPS, got {shown(structure)}.")
    seed = whole_number(seed, "seed", least=0)
    largest = whole_number(largest, "largest", most=4)
    rng = np.random.default_rng(seed)
    for number in range(whole_number(count, "count", least=0)):
        n = int(rng.integers(1, largest + 1))
        shape = (n, n) if structure.homogeneous else (n, int(rng.integers(1, largest + 1)))
        c = rng.integers(-3, 4, shape).astype(float) if number % 2 else rng.normal(size=shape)
        feasible = structure
        if number % 3 == 1:
            pairs = [(int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(3)]
            feasible = feasible & evidence(related=pairs[:1], unrelated=pairs[1:2])
            c[pairs[2]] = rng.choice([math.inf, -math.inf])
        if number % 7 == 3:
            feasible = feasible & at_most(2)
        if number % 7 == 5 and structure.homogeneous:
            feasible = feasible & one_per_group(rng.integers(0, 2, n))
        yield Problem(c, feasible)


def check_solver(name: str, count: int = 40, seed: int = 0) -> int:
    """Check a registered solver; return how many problems it was checked on.

    Raises
    ------
    AssertionError
        With the promise that is broken and the problem that shows it.

    Examples
    --------
    >>> import relatum as rt
    >>> rt.testing.check_solver("threshold", count=3)
    15
    """
    solver = solver_named(name)
    assert solver.summary.endswith("."), f"{name}: the summary is a sentence"
    checked = 0
    for structure in (*NAMED_SETS.values(), NAMED_SETS["EQUIVALENCES"] & at_most(2)):
        largest = 4 if structure <= NAMED_SETS["SYMMETRIC"] else 3
        for problem in random_problems(structure, count, seed, largest):
            if solver.refuses(problem) is None:
                _check_problem(solver, problem)
                checked += 1
    assert checked > 0, f"{name} accepts none of the small problems"
    return checked


def _check_problem(solver: Solver, problem: Problem) -> None:
    optimum, best = brute_force(problem)
    e = infer(problem, solver=solver.name, prove=solver.proves, time_limit=60.0)
    shown = f"{solver.name} on {problem} with log-odds {problem.log_odds.tolist()}: {e}"
    _check_estimate(solver, problem, e, optimum, shown)
    again = infer(problem, solver=solver.name, prove=solver.proves, time_limit=60.0)
    assert again.relation == e.relation, f"not deterministic: {shown}"
    if best is None:
        return
    warm = infer(problem, solver=solver.name, start=best)
    assert warm.value >= optimum - 1e-9, f"a warm start was lost: {shown}"
    copy = pickle.loads(pickle.dumps(e))
    assert copy.relation == e.relation, f"pickling changed the relation: {shown}"
    assert copy.bound == e.bound, f"pickling changed the bound: {shown}"
    if e.relation is not None:
        assert not verify(problem, replace(e, value=e.value + 0.5)), f"wrong value passed: {shown}"


def _check_estimate(
    solver: Solver, problem: Problem, e: Estimate, optimum: float, shown: str
) -> None:
    report = verify(problem, e)
    assert report, f"not verified ({report.reason}): {shown}"
    if optimum == -math.inf:
        ok = e.status is Status.INFEASIBLE or (not solver.proves and e.relation is None)
        assert ok, f"nothing is feasible: {shown}"
        return
    assert e.status is not Status.INFEASIBLE, f"there are feasible relations: {shown}"
    assert e.value <= optimum + 1e-9, f"above the optimum {optimum}: {shown}"
    assert e.bound >= optimum - 1e-9, f"the bound cuts off the optimum {optimum}: {shown}"
    if solver.proves:
        assert e.status is Status.OPTIMAL, f"not proved: {shown}"
    else:
        assert e.relation is not None, f"no relation was found: {shown}"
    if e.status is Status.OPTIMAL:
        assert abs(e.value - optimum) <= 1e-6, f"the optimum is {optimum}: {shown}"
