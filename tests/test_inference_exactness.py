"""Estimates against brute force in fractions: log-odds of any size, every set, every layout.

Values are exact, bounds hold, OPTIMAL means what it says, INFEASIBLE is said just where nothing is
feasible, and whatever is claimed is accepted by the checker.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import relatum as rt
from relatum.errors import RelatumError
from relatum.problem import NAMED_SETS
from relatum.proof import OPTIMAL_GAP

SETS = [s for s in NAMED_SETS.values() if s.names]


@cache
def members(structure, shape):
    """All relations of a set, as matrices."""
    n, m = shape
    if structure <= rt.EQUIVALENCES:
        found = {rt.Partition(x).matrix().tobytes() for x in product(range(n), repeat=n)}
    elif structure <= rt.WEAK_ORDERS:
        found = {rt.WeakOrder(x).matrix().tobytes() for x in product(range(n), repeat=n)}
    else:
        found = {np.array(x).tobytes() for x in product((False, True), repeat=n * m)}
    matrices = [np.frombuffer(x, dtype=np.bool_).reshape(shape) for x in sorted(found)]
    return [y for y in matrices if all(p.contains(y) for p in structure.properties)]


def optimum(problem):
    every = (rt.Relation(y) for y in members(problem.feasible.structure, problem.shape))
    values = (problem.exact_value(r) for r in every if problem.feasible.contains(r))
    return max(values, default=None)


def log_odds(rng, shape):
    c = rng.normal(size=shape)
    kind = rng.integers(8)
    if kind == 0:
        c = rng.integers(-3, 4, shape).astype(float)
    elif kind == 1:
        c = np.round(c, 1)
    elif kind == 2:
        c = c * 10.0 ** rng.integers(-12, 13, shape)
    elif kind == 3:
        c = (c * 10.0 ** rng.integers(-3, 4, shape)).astype(np.float32)
    elif kind == 4:
        c[rng.random(shape) < 0.3] = -1e9
    elif kind == 5:
        c = np.where(rng.random(shape) < 0.2, rng.choice([-1e15, -1e9, 1e9], shape), c)
    elif kind == 6:
        c = c * 10.0 ** rng.integers(0, 9)
    if rng.random() < 0.2 and shape[0] == shape[1]:
        c[np.diag_indices(shape[0])] = 1e10 * rng.normal()
    return c


def feasible_set(rng, shape, structure):
    def pairs(most):
        return [
            (int(rng.integers(shape[0])), int(rng.integers(shape[1])))
            for _ in range(rng.integers(0, most))
        ]

    feasible = structure
    if rng.random() < 0.4:
        feasible = feasible & rt.evidence(pairs(3), pairs(3))
    if rng.random() < 0.2:
        feasible = feasible & rt.at_most(int(rng.integers(1, 4)))
    if rng.random() < 0.15 and shape[0] == shape[1]:
        feasible = feasible & rt.one_per_group(rng.integers(0, 3, shape[0]))
    return feasible


def random_problem(rng):
    structure = SETS[rng.integers(len(SETS))]
    if rng.random() < 0.25:
        structure = structure & SETS[rng.integers(len(SETS))]
    largest = 5 if structure <= rt.EQUIVALENCES else 4 if structure <= rt.WEAK_ORDERS else 3
    n = int(rng.integers(1, largest + 1))
    one = structure.homogeneous or rng.random() < 0.5
    shape = (n, n if one else int(rng.integers(1, 4)))
    c, feasible = log_odds(rng, shape), feasible_set(rng, shape, structure)
    layout = rng.integers(4)
    if layout == 1 and structure.has("symmetric") and n > 1:
        return rt.Problem(c[np.triu_indices(n, 1)], feasible)
    if layout == 2:
        i, j = np.nonzero(rng.random(shape) < 0.6)
        size = n if shape[0] == shape[1] else shape
        background = float(rng.choice([0.0, -0.3, 0.2, -1e9, -1e-9]))
        return rt.Problem.from_pairs(
            i, j, c[i, j], n=size, background=background, feasible=feasible
        )
    return rt.Problem(c, feasible)


def check(problem, e):
    best = optimum(problem)
    shown = f"{e} for {problem} with {problem.log_odds.tolist()}"
    report = rt.verify(problem, e)
    assert report, f"{report.reason}: {shown}"
    assert (best is None) == (e.status is rt.Status.INFEASIBLE), shown
    if best is None:
        return
    assert e.bound >= best, shown
    if e.relation is not None:
        value = problem.exact_value(e.relation)
        assert problem.feasible.contains(e.relation), shown
        assert e.value == float(value), shown
        assert value <= e.bound, shown
    if e.status is rt.Status.OPTIMAL:
        assert best - value <= Fraction(OPTIMAL_GAP), shown


def check_some(first, count):
    proved = 0
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        try:
            problem = random_problem(rng)
        except RelatumError:
            count -= 1  # a set for other shapes
            continue
        e = rt.infer(problem, prove=bool(rng.random() < 0.8))
        check(problem, e)
        proved += e.status in (rt.Status.OPTIMAL, rt.Status.INFEASIBLE)
    assert proved >= 0.96 * count


@pytest.mark.parametrize("block", range(3))
def test_estimates_are_right_to_the_last_digit(block):
    check_some(40 * block, 40)


@pytest.mark.slow
def test_many_estimates_are_right_to_the_last_digit():
    check_some(10_000, 1500)


@pytest.mark.parametrize("size", [1e9, 1e12, 1e15])
def test_one_large_log_odds_keeps_nothing_from_being_proved(size):
    for feasible in (rt.HAS_IMAGE, rt.MAPS, rt.RELATIONS, rt.PARTIAL_MAPS, rt.INJECTIONS):
        problem = rt.Problem([[1.0, -size], [-size, -1.0]], feasible)
        e = rt.infer(problem)
        assert e.status is rt.Status.OPTIMAL, feasible
        check(problem, e)


def test_what_all_relations_have_in_common_makes_nothing_optimal():
    c = np.random.default_rng(1).normal(size=(6, 6)) + 0.3
    c[np.diag_indices(6)] = 1e10
    problem = rt.Problem(c, rt.EQUIVALENCES)
    alone = rt.infer(problem, solver="greedy_contraction", start=rt.Partition(range(6)))
    check(problem, alone)
    best = optimum(problem)
    if problem.exact_value(alone.relation) < best - 1:
        assert alone.status is rt.Status.FEASIBLE
    e = rt.infer(problem, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert problem.exact_value(e.relation) == best


def test_floats_as_large_as_the_value_may_be_far_apart():
    problem = rt.Problem(np.array([[2.0**60, 0.3], [0.2, 2.0**60]]), rt.EQUIVALENCES)
    e = rt.infer(problem, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.gap <= OPTIMAL_GAP
    assert math.nextafter(e.value, math.inf) >= e.bound >= problem.exact_value(e.relation)
    check(problem, e)
