"""Clusterings of two sides: against brute force, partial injections and scipy, and proved."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import naive
import relatum as rt
from relatum.errors import SolverError
from relatum.proof import Prices, plain
from relatum.solvers.control import Control
from relatum.solvers.direct.matching import certificate_of_prices, match_pairs, run, sides_of
from relatum.solvers.registry import SOLVERS

TWO = ["a", "b"]


def grouped(n, rng):
    """Two groups at random, and the feasible set."""
    side = rng.integers(0, 2, n)
    return side, rt.EQUIVALENCES & rt.one_per_group([TWO[k] for k in side])


def evidence_of(rng, side):
    """Some pairs across: related, each element once, and unrelated."""
    ours, theirs = (rng.permutation(np.flatnonzero(side == k)).tolist() for k in (0, 1))
    yes = list(zip(ours, theirs, strict=False))[: int(rng.integers(0, 3))]
    no = [(a, b) for a in ours for b in theirs if rng.random() < 0.2 and (a, b) not in yes]
    return yes, no


def layouts(c, feasible, rng):
    """The same scores of unordered pairs as a matrix, a triangle and a list with a background."""
    n = len(c)
    i, j = np.triu_indices(n, 1)
    half = np.triu(c, 1) * 0.5
    matrix = half + half.T
    yield rt.Problem(matrix + np.diag(rng.integers(-3, 4, n) * 1.0), feasible)
    yield rt.Problem(c[i, j], feasible)
    low = c[i, j] == c[i, j].min()
    background = float(c[i, j].min())
    listed = i[~low], j[~low], c[i, j][~low]
    yield rt.Problem.from_pairs(*listed, n=n, background=background, feasible=feasible)


def best_of_sides(problem, side, yes=(), no=()):
    """The best value: what is known, and the heaviest matching of the rest, by trying all ways."""
    c = problem.dense()
    c, own = c + c.T, np.trace(c)
    taken = {k for pair in yes for k in pair}
    ours, theirs = ([k for k in range(len(c)) if side[k] == s and k not in taken] for s in (0, 1))
    for a, b in no:
        c[a, b] = c[b, a] = -1.0
    rest = naive.heaviest(c[np.ix_(ours, theirs)]) if ours and theirs else 0.0
    return own + sum(c[pair] for pair in yes) + rest


@pytest.mark.parametrize("kind", ["normal", "ties", "shifted"])
def test_it_equals_brute_force_in_every_layout(kind, tmp_path):
    rng = np.random.default_rng(4)
    for number in range(16):
        n = int(rng.integers(2, 7))
        side, feasible = grouped(n, rng)
        yes, no = evidence_of(rng, side) if number % 2 else ([], [])
        c = rng.normal(12.0 * (kind == "shifted"), 3.0, (n, n))
        if kind == "ties":
            c = rng.integers(-2, 3, (n, n)).astype(float)
        for problem in layouts(c, feasible & rt.evidence(yes, no), rng):
            e = rt.infer(problem, prove=bool(number % 2))
            assert (e.solver, e.status.name) == ("matching", "OPTIMAL")
            assert e.value == pytest.approx(best_of_sides(problem, side, yes, no))
            assert rt.verify(problem, e)
            if number % 5 == 0:
                rt.io.save_estimate(tmp_path / "e.npz", problem, e)
                assert plain.check(str(tmp_path / "e.npz"))[0] == 0


@pytest.mark.parametrize("shift", [-1.0, 0.0, 12.0])
def test_it_equals_partial_injections_and_scipy(shift):
    rng = np.random.default_rng(6)
    n, m = 70, 50
    w = rng.normal(shift, 3.0, (n, m))
    i, j = np.divmod(np.arange(n * m), m)
    feasible = rt.EQUIVALENCES & rt.one_per_group(np.repeat(TWO, [n, m]))
    problem = rt.Problem.from_pairs(i, n + j, w.ravel(), n=n + m, background=-2, feasible=feasible)
    e = rt.infer(problem)
    other = rt.infer(rt.Problem(w, rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE))
    a, b = linear_sum_assignment(np.maximum(w, 0.0), maximize=True)
    assert e.value == pytest.approx(other.value) == pytest.approx(np.maximum(w, 0.0)[a, b].sum())
    assert e.status is rt.Status.OPTIMAL
    assert e.gap < 1e-9
    assert rt.verify(problem, e)
    assert rt.infer(problem, seed=9).relation == e.relation


def test_scores_on_a_grid_leave_no_gap_at_all():
    rng = np.random.default_rng(2)
    c = rng.integers(-99, 100, (40, 40)) / 8.0
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.one_per_group(np.arange(40) % 2))
    e = rt.infer(problem)
    assert e.value == e.bound == e.certificate.bound


@pytest.mark.parametrize("n", [2_500, 100_000])
def test_large_components_need_no_matrix(n):
    rng = np.random.default_rng(n)
    half, degree = n // 2, 4
    i = np.repeat(np.arange(half), degree)
    j = half + rng.integers(0, half, half * degree)
    i, j = np.divmod(np.unique(i * n + j), n)
    w = rng.normal(2.0, 4.0, len(i))
    known = rt.evidence([(0, half)], [(1, half + 1), (int(i[9]), int(j[9]))])
    feasible = rt.EQUIVALENCES & rt.one_per_group(np.arange(n) < half) & known
    problem = rt.Problem.from_pairs(i, j, w, n=n, background=-4.1, feasible=feasible)
    e = rt.infer(problem)
    assert (e.solver, e.status.name) == ("matching", "OPTIMAL")
    assert rt.verify(problem, e)
    labels = e.relation.labels
    assert labels[0] == labels[half]
    assert labels[i[9]] != labels[j[9]]
    assert np.bincount(labels).max() == 2


@pytest.fixture
def from_few_elements_on(monkeypatch):
    """Let sides that evidence defines be matched however few elements there are."""
    monkeypatch.setattr("relatum.solvers.direct.matching.LEAST_ELEMENTS", 0)


@pytest.mark.usefixtures("from_few_elements_on")
def test_sides_may_be_what_evidence_leaves():
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = int(rng.integers(3, 7))
        side = rng.integers(0, 2, n)
        apart = [(a, b) for a in range(n) for b in range(a) if side[a] == side[b]]
        c = rng.normal(1.0, 2.0, (n, n))
        problem = rt.Problem(c, rt.EQUIVALENCES & rt.evidence(unrelated=apart))
        assert sides_of(problem) is not None
        e = rt.infer(problem)
        assert (e.solver, e.status.name) == ("matching", "OPTIMAL")
        assert e.value == pytest.approx(best_of_sides(problem, side))
        assert rt.verify(problem, e)


@pytest.mark.usefixtures("from_few_elements_on")
def test_what_is_left_of_three_groups_by_must_links_is_matched():
    rng = np.random.default_rng(5)
    c = np.triu(rng.integers(-5, 9, (7, 7)), 1).astype(float)
    groups, yes = [0, 1, 0, 1, 2, 2, 2], [(0, 1), (2, 3)]  # now {0, 1} and {2, 3} against 4, 5, 6
    feasible = rt.EQUIVALENCES & rt.one_per_group(groups)
    problem = rt.Problem(c, feasible & rt.evidence(yes))
    e = rt.infer(problem, prove=True)
    between = [c[a, 4:] + c[b, 4:] for a, b in yes]
    assert e.value == pytest.approx(c[0, 1] + c[2, 3] + naive.heaviest(between))
    assert rt.verify(problem, e)
    assert isinstance(_last(e.certificate.proof), Prices)


def _last(proof):
    while hasattr(proof, "then"):
        proof = proof.then
    return proof.parts[0][2] if hasattr(proof, "parts") else proof


@pytest.mark.parametrize(
    ("feasible", "match"),
    [
        (rt.EQUIVALENCES & rt.one_per_group([0, 1, 2, 2]), "two sides"),
        (rt.EQUIVALENCES, "two sides"),
        (rt.EQUIVALENCES & rt.at_most(1), "equivalence"),
        (rt.EQUIVALENCES & rt.evidence([(0, 1)], [(0, 2), (1, 2), (1, 3)]), "one_per_group"),
        (rt.PREORDERS, "equivalence"),
    ],
)
def test_other_problems_are_refused(feasible, match):
    problem = rt.Problem(np.ones((4, 4)), feasible)
    assert match in SOLVERS["matching"].refuses(problem)
    with pytest.raises(SolverError):
        rt.infer(problem, solver="matching")


def test_a_cap_of_two_or_more_and_one_group_alone_change_nothing():
    c = np.triu(np.full((4, 4), 2.0), 1)
    two, one = rt.one_per_group([0, 0, 1, 1]), rt.one_per_group([5, 5, 5, 5])
    assert rt.infer(rt.Problem(c, rt.EQUIVALENCES & two & rt.at_most(2))).value == 4.0
    e = rt.infer(rt.Problem(c, rt.EQUIVALENCES & one))
    assert (e.solver, e.value, e.gap) == ("matching", 0.0, 0.0)


@pytest.mark.parametrize("pairs", [([(0, 1)], []), ([(0, 2), (0, 3)], []), ([(0, 2)], [(0, 2)])])
def test_evidence_that_leaves_nothing_is_infeasible(pairs):
    feasible = rt.EQUIVALENCES & rt.one_per_group([0, 0, 1, 1]) & rt.evidence(*pairs)
    problem = rt.Problem(np.ones((4, 4)), feasible)
    e = rt.infer(problem)
    assert e.status is rt.Status.INFEASIBLE
    assert rt.verify(problem, e)
    assert run(problem, Control()).bound == -math.inf


def test_stopped_early_it_has_a_bound():
    rng = np.random.default_rng(0)
    n = 600
    problem = rt.Problem(
        rng.random((n, n)) + 5.0, rt.EQUIVALENCES & rt.one_per_group(np.arange(n) % 2)
    )
    control = Control()
    control.stop()
    outcome = run(problem, control)
    value = problem.exact_value(outcome.relation)
    assert value < outcome.bound - 1
    bound = float(outcome.bound) + 1e-6
    stopped = rt.Estimate(
        rt.Status.FEASIBLE, outcome.relation, float(value), bound,
        rt.Certificate(bound, outcome.proof),
    )  # fmt: skip
    assert rt.verify(problem, stopped)


def test_prices_of_a_worse_matching_prove_less():
    c = np.triu(np.array([[0, 0, 5, 4], [0, 0, 4, 1], [0, 0, 0, 0], [0, 0, 0, 0.0]]))
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.one_per_group([0, 0, 1, 1]))
    left = np.array([True, True, False, False])
    i, j = np.nonzero(c)
    found = match_pairs(left, i, j, c[i, j])
    assert found.mate.tolist() == [3, 2, 1, 0]
    best = certificate_of_prices(problem, rt.Partition([0, 1, 1, 0]), found.price)
    assert best.bound == 8.0
    worse = certificate_of_prices(problem, rt.Partition([0, 1, 0, 1]), found.price)
    assert worse.bound == 8.0  # of all relations, whichever is known
    high = certificate_of_prices(problem, rt.Partition([0, 1, 1, 0]), found.price + 0.25)
    assert high.bound == 9.0
    low = certificate_of_prices(problem, rt.Partition([0, 1, 1, 0]), found.price * 0.5)
    assert Fraction(low.bound) >= 8
    with pytest.raises(SolverError, match="two sides"):
        certificate_of_prices(rt.Problem(c, rt.EQUIVALENCES), rt.Partition([0, 1, 2, 3]), c[0])


def test_all_groups_count_where_there_are_several():
    # 0 and 3, 1 and 2 are across the first two groups, but of one of the second
    both = rt.one_per_group([0, 0, 1, 1]) & rt.one_per_group([0, 1, 1, 0])
    i, j = np.triu_indices(4, 1)
    w = np.array([9.0, 1.0, 8.0, 7.0, 2.0, 9.0])  # of 01, 02, 03, 12, 13, 23
    for problem in (
        rt.Problem(w, rt.EQUIVALENCES & both),
        rt.Problem.from_pairs(i, j, w, n=4, background=-1.0, feasible=rt.EQUIVALENCES & both),
        rt.Problem(naive_square(w), rt.EQUIVALENCES & both),
    ):
        e = rt.infer(problem, solver="matching")
        assert (e.status.name, e.value) == ("OPTIMAL", 3.0)
        assert e.relation.labels.tolist() == [0, 1, 0, 1]
        assert rt.verify(problem, e)


def naive_square(w):
    """Half of each score in either direction."""
    c = np.zeros((4, 4))
    c[np.triu_indices(4, 1)] = w / 2
    return c + c.T
