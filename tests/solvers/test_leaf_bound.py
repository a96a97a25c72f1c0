"""What rows prove, against the same sum in fractions."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import relatum as rt
from relatum.proof import FAMILIES, Certificate, Cuts, Leaf
from relatum.proof.checker import check_certificate
from relatum.solvers.leaf_bound import leaf_bound
from relatum.solvers.pair_states import mirror_states


def in_fractions(problem, cuts):
    """The sides of rows, and the best of what they leave of every pair."""
    n = problem.n
    left = [[Fraction(v) for v in row] for row in problem.dense().tolist()]
    total = Fraction(0)
    for cut in cuts:
        for index, y in zip(cut.index, cut.multipliers.tolist(), strict=True):
            rows = FAMILIES[cut.family].rows(index[None], problem.shape)
            total += Fraction(y) * int(rows.rhs[0])
            for a, b, k in zip(rows.a, rows.b, rows.coefficient.tolist(), strict=True):
                left[a][b] -= k * Fraction(y)
    for a in range(n):
        own = left[a][a]
        total += own if problem.feasible.has("reflexive") else max(own, Fraction(0))
        for b in range(a):
            states = mirror_states(problem)
            total += max(f * left[b][a] + k * left[a][b] for f, k in states)
    return total


@pytest.mark.parametrize(
    "feasible", [rt.EQUIVALENCES, rt.PREORDERS, rt.LINEAR_ORDERS, rt.TRANSITIVE], ids=str
)
def test_bounds_are_those_of_fractions(feasible):
    rng = np.random.default_rng(len(str(feasible)))
    for number in range(25):
        n = int(rng.integers(3, 6))
        c = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-5, 6, (n, n))
        problem = rt.Problem(np.round(c, 1) if number % 2 else c, feasible)
        index = np.array(list(permutations(range(n), 3)))
        y = np.abs(rng.normal(size=len(index))) * 10.0 ** rng.integers(-5, 4, len(index))
        bound, proof = leaf_bound(problem, [Cuts("transitive", index, y)])
        (cut,) = proof.cuts
        assert (cut.multipliers <= y[y > 0][: len(cut)]).all() or len(cut) < len(y)
        want = in_fractions(problem, proof.cuts)
        assert want <= bound <= want + Fraction(1e-12)
        check_certificate(problem, Certificate(bound, proof))


def test_whole_numbers_stay_whole():
    problem = rt.Problem([3.0, 2.0, -1.0], rt.EQUIVALENCES)
    bound, proof = leaf_bound(problem, [Cuts("transitive", np.array([[1, 0, 2]]), np.ones(1))])
    assert bound == 4
    assert proof.cuts[0].multipliers.tolist() == [1.0]


def test_rows_without_weight_are_left_out():
    problem = rt.Problem([3.0, 2.0, -1.0], rt.EQUIVALENCES)
    bound, proof = leaf_bound(problem, [Cuts("transitive", np.array([[1, 0, 2]]), np.zeros(1))])
    assert (bound, proof.cuts) == (5, ())


def test_more_may_be_fixed_than_evidence_says():
    problem = rt.Problem([[0.5, 2.0], [3.0, -1.0]])
    assert leaf_bound(problem, [])[0] == Fraction(11, 2)
    state = np.array([[0, -1], [-1, 1]], dtype=np.int8)
    assert leaf_bound(problem, [], state)[0] == 4
    empty = rt.Problem(np.zeros((2, 2)), rt.ANTISYMMETRIC & rt.evidence([(0, 1), (1, 0)]))
    bound, proof = leaf_bound(empty, [])
    assert bound == -math.inf
    assert isinstance(proof, Leaf)
    assert proof.infeasible


def test_squares_are_added_up_without_rounding():
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(3, 6))
        problem = rt.Problem(rng.normal(size=(n, n)), rt.EQUIVALENCES)
        index = rng.integers(-1000, 1001, (4, n))
        y = rng.choice([2.0**-18, 2.0**-20, 1e-7], 4)
        triangle = Cuts("transitive", np.array([[0, 1, 2]]), np.array([0.1]))
        bound, proof = leaf_bound(problem, [Cuts("square", index, y), triangle])
        want = in_fractions(problem, proof.cuts)
        assert want <= bound <= want + Fraction(1e-12)
        check_certificate(problem, Certificate(bound, proof))


def test_memory_grows_with_the_rows_and_not_with_their_square():
    rng = np.random.default_rng(6)
    n, peaks = 60, []
    problem = rt.Problem(rng.normal(size=(n, n)), rt.EQUIVALENCES)
    for count in (5_000, 20_000):
        index = np.argsort(rng.random((count, n)), axis=1)[:, :3]
        cut = Cuts("transitive", index, rng.random(count) / count)
        tracemalloc.start()
        leaf_bound(problem, [cut])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6 * peaks[0]
