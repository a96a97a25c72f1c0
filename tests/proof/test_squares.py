"""Squares hold for every partition; their sums, and what the checkers make of them, are exact."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from campaign.mutants import sparse_from
from naive.partition.enumeration import all_partitions
from relatum.errors import CertificateError, DataError
from relatum.proof import (
    FAMILIES,
    LARGEST_OF_SQUARES,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Estimate,
    Fix,
    Imply,
    Leaf,
    Prices,
    Status,
    plain,
    summed_squares,
)
from relatum.proof.checker.view import rows_of
from relatum.proof.partition_rows import MOST_ELEMENTS, gram

TOP = LARGEST_OF_SQUARES - 1
REPEL = rt.Problem([-1.0, -1.0, 1.0], rt.EQUIVALENCES)


def claiming(bound, proof):
    status = Status.INFEASIBLE if bound == -math.inf else Status.BOUND_ONLY
    return Estimate(status, None, -math.inf, bound, Certificate(bound, proof))


def square(*rows, y=0.5):
    return Cuts("square", np.array(rows), np.full(len(rows), y))


def verdicts(problem, bound, proof, folder):
    """The answers of the checker, with dense and sparse views, and of the plain one."""
    estimate = claiming(bound, proof)
    with sparse_from(1):
        sparse = bool(rt.verify(problem, estimate))
    rt.io.save_estimate(folder / "e.npz", problem, estimate)
    answers = bool(rt.verify(problem, estimate)), sparse
    return *answers, plain.check(str(folder / "e.npz"))[0] == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_squares_hold_for_every_partition_and_are_tight_where_sets_add_up_to_zero(n):
    numbers = np.array(list(itertools.product((-2, -1, 0, 1), repeat=n)))
    rows = FAMILIES["square"].rows(numbers, (n, n))
    for labels in all_partitions(n):
        x = np.equal.outer(labels, labels).astype(np.int64)
        activity = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(activity, rows.row_of_term(), rows.coefficient * x[rows.a, rows.b])
        sums = np.stack([numbers @ (np.asarray(labels) == s) for s in set(labels)])
        assert np.array_equal(activity, -(sums**2).sum(axis=0))
        assert (activity <= rows.rhs).all()


def test_sums_of_squares_are_exact_at_any_size():
    rng = np.random.default_rng(0)
    for rows, n in ((1, 4), (7, 5), (2047, 3), (2049, 3), (3000, 2)):
        index = rng.integers(-TOP, TOP + 1, (rows, n))
        index[:, 0] = TOP
        columns = [[int(v) for v in column] for column in index.T]
        want = [[sum(map(int.__mul__, u, v)) for v in columns] for u in columns]
        assert gram(index).tolist() == want
        summed = summed_squares(index)
        pairs = zip(summed.a.tolist(), summed.b.tolist(), summed.coefficient.tolist(), strict=True)
        for a, b, k in pairs:
            assert k == -want[a][b] * (1 + (a != b))


def test_a_square_proves_what_no_other_row_of_three_elements_does(tmp_path):
    problem = rt.Problem([1.0, 1.0, -3.0], rt.EQUIVALENCES)
    # the best value is 1
    index, y = [1, -1, -1], 0.5
    left = {(0, 1): 1 - 2 * y, (0, 2): 1 - 2 * y, (1, 2): -3 + 2 * y}
    bound = 3 * y + sum(max(0, v) for v in left.values())
    assert bound == 1.5
    proof = Leaf((square(index, y=y),))
    assert verdicts(problem, 1.5, proof, tmp_path) == (True,) * 3
    # values are whole numbers: 1.5 proves 1, and no less
    assert verdicts(problem, 1.0, proof, tmp_path) == (True,) * 3
    assert verdicts(problem, math.nextafter(1.0, 0), proof, tmp_path) == (False,) * 3


def test_random_squares_prove_what_fractions_say(tmp_path):
    rng = np.random.default_rng(3)
    for _ in range(25):
        n = int(rng.integers(3, 6))
        c = np.triu(rng.normal(size=(n, n)), 1)
        problem = rt.Problem(c, rt.EQUIVALENCES)
        index = rng.integers(-9, 10, (int(rng.integers(1, 4)), n))
        y = rng.choice([0.0, 0.25, 0.0625, 0.3], len(index))
        total = Fraction(0)
        for a, b in itertools.combinations_with_replacement(range(n), 2):
            more = sum(Fraction(z) * int(row[a] * row[b]) for z, row in zip(y, index, strict=True))
            total += more if a == b else max(Fraction(0), Fraction(c[a, b]) + 2 * more)
        proof = Leaf((Cuts("square", index, y),))
        above, below = float(total) + 1e-6, float(total) - 1e-6
        assert verdicts(problem, above, proof, tmp_path) == (True,) * 3
        assert verdicts(problem, below, proof, tmp_path) == (False,) * 3


def test_no_other_relations_have_squares(tmp_path):
    proof = Leaf((square([1, -1, 1]),))
    others = rt.PREORDERS, rt.PARTIAL_ORDERS, rt.LINEAR_ORDERS, rt.WEAK_ORDERS, rt.RELATIONS
    for feasible in (*others, rt.SYMMETRIC, rt.TRANSITIVE, rt.MAPS):
        problem = rt.Problem(np.ones((3, 3)), feasible)
        assert verdicts(problem, 99.0, proof, tmp_path) == (False, False, False), feasible
    for feasible in (rt.EQUIVALENCES, rt.EQUIVALENCES & rt.at_most(2)):
        problem = rt.Problem(np.ones((3, 3)), feasible)
        assert verdicts(problem, 99.0, proof, tmp_path) == (True,) * 3, feasible


@pytest.mark.parametrize(
    "cut",
    [
        square([1, 1]),
        square([1, 1, 1, 0]),
        square([1, 1, 1], y=-0.5),
        square([1, 1, 1], y=math.nan),
        square([1, 1, 1], y=math.inf),
        Cuts("square", np.array([[1, 1, 1], [1, 1, 0]]), np.array([1.0, math.nan])),
        Cuts("square", np.array([[1, 1, 1], [1, 1, 0]]), np.array([1.0, -1e-300])),
    ],
    ids=["short", "long", "negative", "nan", "inf", "one nan", "one negative"],
)
def test_squares_that_are_none_are_refused(cut, tmp_path):
    assert verdicts(REPEL, 99.0, Leaf((cut,)), tmp_path) == (False,) * 3


@pytest.mark.parametrize("size", [TOP + 1, 2**31, 2**32 + 1, 2**53 + 1, 2**62, -(2**63)])
def test_numbers_that_could_overflow_are_refused_by_the_checker_and_harmless(size, tmp_path):
    """The plain checker counts with numbers of any size: what it accepts is true."""
    with pytest.raises(CertificateError):
        rows_of(square([size, 0, 0]), rt.EQUIVALENCES, (3, 3))
    for y in (1.0, 2.0**-126, 5e-324):
        found = verdicts(REPEL, 0.5, Leaf((square([size, size, 1], y=y),)), tmp_path)
        assert found == (False, False, False)


def test_multipliers_so_large_that_sums_would_not_fit_are_refused():
    for y in (1e300, 2.0**60, 1.7e308):
        assert not rt.verify(REPEL, claiming(1e9, Leaf((square([TOP, -TOP, TOP], y=y),))))
    # one that is far below what a grid holds proves nothing, and is not in the way
    assert rt.verify(REPEL, claiming(1.0, Leaf((square([TOP, -TOP, TOP], y=5e-324),))))


@pytest.mark.parametrize(
    "entry",
    [
        {"a0": np.array([[0.5, -0.5, 1.0]])},
        {"a0": np.array([[1.0, -1.0, 1.0]])},
        {"a0": np.array([[math.nan, 1.0, 1.0]])},
        {"a0": np.array([[True, True, False]])},
        {"a0": np.array([1, -1, 1])},
        {"a0": np.array([[[1, -1, 1]]])},
        {"a0": np.array([[1, -1, 1], [0, 1, 1]])},
        {"a0": np.array([[1, -1, 1, 0]])},
        {"a1": np.array([0.5, 0.5])},
        {"a1": np.array([[0.5]])},
        {"a1": np.array([])},
        {"a1": np.array([-0.5])},
        {"a1": np.array([math.nan])},
    ],
)
def test_bundles_with_other_numbers_are_refused(entry, tmp_path):
    """The claim is so high that every valid row would prove it."""
    path, forged = tmp_path / "e.npz", tmp_path / "forged.npz"
    rt.io.save_estimate(path, REPEL, claiming(99.0, Leaf((square([1, -1, 1]),))))
    with np.load(path) as file:
        entries = dict(file)
    assert entries["a0"].tolist() == [[1, -1, 1]]
    assert entries["a1"].tolist() == [0.5]
    assert plain.check(str(path))[0] == 0
    np.savez(forged, **(entries | entry))
    assert plain.check(str(forged))[0] != 0
    try:
        loaded = rt.io.load_estimate(forged, REPEL)
    except DataError:
        return
    assert not rt.verify(REPEL, loaded)


def test_squares_of_listed_pairs_count_what_the_background_adds(tmp_path):
    problem = rt.Problem.from_pairs(
        [0, 1], [1, 2], [1.0, 1.0], n=4, background=-0.5, feasible=rt.EQUIVALENCES
    )
    best = max(problem.value(rt.Partition(labels)) for labels in all_partitions(4))
    assert best == 1.5
    for y in (0.0, 0.25, 0.5):
        # leaves 1 - 2 y of both listed pairs and 2 y - 1/2 of (0, 2)
        bound = 3 * y + 2 * (1 - 2 * y) + max(0, 2 * y - 0.5)
        proof = Leaf((square([1, -1, 1, 0], y=y),))
        assert verdicts(problem, bound, proof, tmp_path) == (True,) * 3
        assert verdicts(problem, best - 0.01, proof, tmp_path) == (False,) * 3


def test_thousands_of_multipliers_are_refused_before_they_take_long():
    many = Cuts("square", np.ones((40_000, 3), dtype=int), np.linspace(1e-9, 2e-9, 40_000))
    found = rt.verify(REPEL, claiming(99.0, Leaf((many,))))
    assert not found
    assert "terms are more than" in found.reason
    some = Cuts("square", np.ones((300, 3), dtype=int), np.linspace(1e-9, 2e-9, 300))
    assert rt.verify(REPEL, claiming(99.0, Leaf((some,))))


def test_too_many_multipliers_or_elements_are_refused():
    n = 120
    problem = rt.Problem(np.zeros((n, n)), rt.EQUIVALENCES)
    many = Cuts("square", np.ones((200, n), dtype=int), np.linspace(1, 2, 200))
    assert not rt.verify(problem, claiming(1e9, Leaf((many,))))
    wide = np.ones((1, MOST_ELEMENTS + 1), dtype=int)
    shape = (MOST_ELEMENTS + 1, MOST_ELEMENTS + 1)
    with pytest.raises(CertificateError, match="not valid"):
        rows_of(Cuts("square", wide, np.ones(1)), rt.EQUIVALENCES, shape)


def test_squares_go_with_what_is_known_and_with_every_node(tmp_path):
    problem = rt.Problem(
        [1.0, 1.0, 1.0, 1.0, 1.0, -4.0],
        rt.EQUIVALENCES & rt.evidence(related=[(0, 1)], unrelated=[(2, 3)]),
    )
    best = max(
        problem.value(rt.Partition(labels))
        for labels in all_partitions(4)
        if labels[0] == labels[1] and labels[2] != labels[3]
    )
    assert best == 3.0
    cut = square([1, 1, -1, -1])  # leaves 01 + 1, 02 03 12 13 nothing; 4 y = 2
    everyone = np.arange(4)
    small = square([2, -1, -1], y=0.5)  # of the contracted problem: 1, 2, 2 and -4
    for proof in (
        Leaf((cut,)),
        Decompose(((everyone, 4.0, Leaf((cut,))),)),
        Fix((cut,), np.empty((0, 2), dtype=int), np.empty(0, dtype=bool), Leaf((cut,))),
    ):
        assert verdicts(problem, 4.0, proof, tmp_path) == (True,) * 3
        assert verdicts(problem, 2.9, proof, tmp_path) == (False,) * 3
    contracted = Contract(np.array([0, 0, 1, 2]), Leaf((small,)))
    assert verdicts(problem, 4.0, contracted, tmp_path) == (True,) * 3
    assert verdicts(problem, 2.9, contracted, tmp_path) == (False,) * 3
    wide = Contract(np.array([0, 0, 1, 2]), Leaf((cut,)))  # numbers of elements that are no more
    assert verdicts(problem, 99.0, wide, tmp_path) == (False,) * 3


def test_prices_over_squares_and_no_implications(tmp_path):
    problem = rt.Problem([1.0, 1.0, -3.0], rt.EQUIVALENCES & rt.at_most(2))
    cut = square([1, -1, -1], y=0.25)
    assert verdicts(problem, 1.25, Prices((cut,), np.array([0.5, 0, 0])), tmp_path) == (True,) * 3
    assert verdicts(problem, 0.9, Prices((cut,), np.array([0.1, 0, 0])), tmp_path) == (False,) * 3
    row = np.array([[1, 1, 1]])
    imply = Imply(("square",), row, np.array([[0, 1]]), np.array([False]), Leaf())
    assert not rt.verify(problem, claiming(99.0, imply))


def test_nothing_is_infeasible_because_of_squares(tmp_path):
    for index in ([1, 1, 1], [1, -1, 0], [TOP, -TOP, 5]):
        leaf = Leaf((square(index),), infeasible=True)
        assert verdicts(REPEL, -math.inf, leaf, tmp_path) == (False,) * 3


def test_rows_that_prove_too_little_do_no_harm_where_all_relations_have_one_value(tmp_path):
    """Nothing is above a claim of that value, whatever is left of the rows: so both say."""
    nothing = rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES)
    same = rt.Problem(np.diag([1.0, 2.0, 4.0]), rt.EQUIVALENCES)
    prices = Prices((square([0, 0, 3]),), np.ones(3))
    for problem, value in ((nothing, 0.0), (same, 7.0)):
        for proof in (Leaf((square([0, 0, -1], y=2.0**-44),)), Leaf((square([9, 1, 1]),)), prices):
            found = verdicts(problem, value, proof, tmp_path)
            assert found[::2] == (True, True)  # sparse views are not asked for prices
            assert verdicts(problem, math.nextafter(value, -1), proof, tmp_path) == (False,) * 3
