"""Three layouts of log-odds, one value: sums against loops over pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import ProblemError
from relatum.problem import exact_sum
from relatum.problem.scores import CondensedScores, DenseScores, SparseScores, condensed_size


def relations_of(n, rng):
    """One relation of each kind on n elements, symmetric ones first."""
    pairing = np.arange(n)
    pairing[:2] = pairing[:2][::-1]
    symmetric = [
        rt.Partition(rng.integers(0, n, n)),
        rt.Map(pairing, n_labels=n),
        rt.WeakOrder(np.zeros(n, dtype=int)),
        rt.PartialMap(np.where(np.arange(n) == n - 1, -1, pairing), n_labels=n),
        rt.Relation(np.eye(n)),
    ]
    y = rng.random((n, n)) < 0.5
    other = [
        rt.Map(rng.integers(0, n, n), n_labels=n),
        rt.PartialMap(rng.integers(-1, n, n), n_labels=n),
        rt.WeakOrder(rng.integers(0, n, n)),
        rt.LinearOrder(rng.permutation(n)),
        rt.Relation(y),
    ]
    return [*symmetric, rt.Relation(y | y.T)], other


def listed(n, rng):
    pairs = np.argwhere(rng.random((n, n)) < 0.5)
    return pairs[:, 0], pairs[:, 1], rng.normal(size=len(pairs))


def total(relation, score):
    return math.fsum(score(a, b) for a, b in relation.pairs().tolist())


@pytest.mark.parametrize("seed", range(5))
def test_dense_values_are_sums_over_pairs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    c = rng.normal(size=(n, n))
    problem = rt.Problem(c)
    symmetric, other = relations_of(n, rng)
    for relation in symmetric + other:
        expected = total(relation, lambda a, b: c[a, b])
        assert problem.value(relation) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_condensed_values_count_unordered_pairs_once(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    upper = rng.normal(size=n * (n - 1) // 2)
    problem = rt.Problem(upper, rt.SYMMETRIC)
    place = {p: k for k, p in enumerate(zip(*np.triu_indices(n, 1), strict=True))}
    for relation in relations_of(n, rng)[0]:
        expected = total(relation, lambda a, b: upper[place[a, b]] if a < b else 0.0)
        assert problem.value(relation) == pytest.approx(expected, abs=1e-12)
        assert np.sum(problem.dense()[relation.matrix()]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["unordered", "ordered", "bipartite"])
def test_sparse_values_add_the_background_of_unlisted_pairs(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    i, j, c = listed(n, rng)
    feasible, size = {
        "unordered": (rt.SYMMETRIC, n),
        "ordered": (rt.TRANSITIVE, n),
        "bipartite": (rt.RELATIONS, (n, n)),
    }[kind]
    problem = rt.Problem.from_pairs(i, j, c, n=size, background=-0.75, feasible=feasible)
    assert problem.scores.kind == kind
    given = {(a, b): v for a, b, v in zip(i.tolist(), j.tolist(), c.tolist(), strict=True)}

    def score(a, b):
        if kind == "bipartite":
            return given.get((a, b), -0.75)
        if a == b:
            return given.get((a, a), 0.0)
        if kind == "ordered":
            return given.get((a, b), -0.75)
        both = [given[p] for p in ((a, b), (b, a)) if p in given]
        return (sum(both) if both else -0.75) / 2  # met twice in a symmetric relation

    symmetric, other = relations_of(n, rng)
    for relation in symmetric if kind == "unordered" else symmetric + other:
        expected = total(relation, score)
        assert problem.value(relation) == pytest.approx(expected, abs=1e-12)
        assert np.sum(problem.dense()[relation.matrix()]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_restrictions_agree_with_the_whole(seed):
    rng = np.random.default_rng(seed)
    n, elements = 6, rng.permutation(6)[:4]
    i, j, c = listed(n, rng)
    problems = [
        rt.Problem(rng.normal(size=(n, n)), rt.EQUIVALENCES),
        rt.Problem(rng.normal(size=15), rt.EQUIVALENCES),
        rt.Problem.from_pairs(i, j, c, n=n, background=-2.0, feasible=rt.EQUIVALENCES),
    ]
    for problem in problems:
        part = problem.restrict(elements)
        for y in naive.members(naive.NAMED["EQUIVALENCES"], 4, 4):
            whole = np.zeros((n, n), dtype=bool)
            whole[np.ix_(elements, elements)] = y
            whole |= np.eye(n, dtype=bool)
            outside = np.eye(n, dtype=bool)
            outside[elements, elements] = False
            expected = problem.value(rt.Relation(whole)) - problem.value(rt.Relation(outside))
            assert part.value(rt.Relation(y)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_folding_keeps_values(seed):
    rng = np.random.default_rng(seed)
    n = 5
    i, j, c = listed(n, rng)
    upper = np.triu_indices(n, 1)
    for problem in (
        rt.Problem(rng.normal(size=(n, n)), rt.EQUIVALENCES),
        rt.Problem(rng.normal(size=10), rt.EQUIVALENCES),
        rt.Problem.from_pairs(i, j, c, n=n, background=-2.0, feasible=rt.EQUIVALENCES),
    ):
        folded, constant = problem.folded()
        for labels in rng.integers(0, 3, (10, n)):
            same = labels[upper[0]] == labels[upper[1]]
            expected = problem.value(rt.Partition(labels))
            assert constant + folded[same].sum() == pytest.approx(expected, abs=1e-9)


def test_nothing_is_copied_or_changed():
    for dtype in (np.float32, np.float64):
        dense = np.arange(9, dtype=dtype).reshape(3, 3)
        upper = np.arange(3, dtype=dtype)
        for array, feasible in ((dense, rt.EQUIVALENCES), (upper, rt.EQUIVALENCES)):
            before = array.copy()
            problem = rt.Problem(array, feasible)
            assert problem.log_odds.dtype == dtype
            assert np.shares_memory(problem.log_odds, array)
            rt.infer(problem, prove=True)
            assert np.array_equal(array, before)
            assert array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                problem.log_odds[0] = 1
    strided = np.arange(16, dtype=np.float32).reshape(4, 4)[::2, ::2]
    assert np.shares_memory(rt.Problem(strided).log_odds, strided)


def test_infinite_scores_become_evidence_without_changing_the_array():
    c = np.array([[0, np.inf], [-np.inf, 1]], dtype=np.float32)
    scores, (yes, no) = DenseScores.from_array(c)
    assert yes.tolist() == [[0, 1]]
    assert no.tolist() == [[1, 0]]
    assert scores.log_odds.tolist() == [[0, 0], [0, 1]]
    assert scores.log_odds.dtype == np.float32
    assert np.isinf(c).sum() == 2
    scores, (yes, no) = CondensedScores.from_array(np.array([1, 2, np.inf, -np.inf, 5, 6]))
    assert yes.tolist() == [[0, 3]]
    assert no.tolist() == [[1, 2]]
    for n in range(2, 9):  # every place of a triangle is the right pair
        for k, pair in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
            upper = np.zeros(n * (n - 1) // 2)
            upper[k] = np.inf
            assert CondensedScores.from_array(upper)[1][0].tolist() == [list(pair)]


def test_blocks_do_not_change_the_answer(monkeypatch):
    monkeypatch.setattr("relatum.problem.scores.BLOCK", 5)
    rng = np.random.default_rng(0)
    c = rng.normal(size=(4, 3))
    y = rng.random((4, 3)) < 0.5
    assert rt.Problem(c).value(rt.Relation(y)) == pytest.approx(c[y].sum())
    assert rt.Problem(c).scores.magnitude() == pytest.approx(np.abs(c).sum())
    c[3, 1] = np.nan
    with pytest.raises(ProblemError, match=r"\(3, 1\)"):
        rt.Problem(c)


def test_condensed_sizes():
    assert [condensed_size(n * (n - 1) // 2) for n in range(2, 50)] == list(range(2, 50))
    for wrong in (0, 2, 4, 5, 7, 8, 9):
        with pytest.raises(ProblemError, match=f"got {wrong}"):
            condensed_size(wrong)


def test_pairs_in_both_directions_are_added_for_symmetric_sets():
    problem = rt.Problem.from_pairs([0, 1], [1, 0], [2.0, 3.0], n=2, feasible=rt.EQUIVALENCES)
    assert problem.value(rt.Partition([0, 0])) == 5.0
    assert isinstance(problem.scores, SparseScores)
    assert problem.scores.i.tolist() == [0]
    summed = rt.Problem.from_pairs(
        [0, 0], [1, 1], [2.0, 3.0], n=2, feasible=rt.TRANSITIVE, combine="sum"
    )
    assert summed.dense()[0, 1] == 5.0


def test_finite_scores_that_add_up_to_infinity_are_no_evidence():
    for i, j, combine in (([0, 1], [1, 0], None), ([0, 0], [1, 1], "sum")):
        for sign in (1, -1):
            with pytest.raises(ProblemError, match=r"pair \(0, 1\) add up to more"):
                rt.Problem.from_pairs(
                    i, j, [sign * 1e308] * 2, n=2, feasible=rt.EQUIVALENCES, combine=combine
                )
    assert len(
        rt.Problem.from_pairs(
            [0, 1], [1, 0], [1e308, np.inf], n=2, feasible=rt.EQUIVALENCES
        ).evidence
    )
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(ProblemError, match="too large"):
            rt.Problem(np.array([[np.longdouble("1e400")]]))


def test_what_is_printed():
    assert rt.Problem(np.zeros((2, 3))).scores.describe() == "2 x 3 log-odds"
    assert "3 unordered pairs of 3" in repr(rt.Problem(np.zeros(3), rt.EQUIVALENCES))
    sparse = rt.Problem.from_pairs([0], [1], [1.0], background=-4, feasible=rt.EQUIVALENCES)
    assert repr(sparse) == "Problem(1 scored pairs of 2 elements, background -4, EQUIVALENCES)"


def exact_total(relation, score):
    return sum((Fraction(score(a, b)) for a, b in relation.pairs().tolist()), Fraction())


def far_apart(rng, shape):
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-300, 300, shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_exact_values_are_sums_of_fractions(n, dtype):
    rng = np.random.default_rng(n)
    symmetric, other = relations_of(n, rng)
    c = far_apart(rng, (n, n)) if dtype == np.float64 else rng.normal(size=(n, n)).astype(dtype)
    problem = rt.Problem(c)
    for relation in symmetric + other:
        want = exact_total(relation, lambda a, b: float(c[a, b]))
        assert problem.exact_value(relation) == want
        assert problem.value(relation) == float(want)
    upper = rt.Problem(c[np.triu_indices(n, 1)], rt.SYMMETRIC)
    for relation in symmetric:
        want = exact_total(relation, lambda a, b: float(c[a, b]) if a < b else 0.0)
        assert upper.exact_value(relation) == want


@pytest.mark.parametrize("background", [0.0, -0.1, 1e200, -1e-300])
def test_exact_values_of_listed_pairs(background):
    rng = np.random.default_rng(7)
    n = 12
    i, j, _ = listed(n, rng)
    c = far_apart(rng, len(i))
    scored = {(a, b): v for a, b, v in zip(i.tolist(), j.tolist(), c.tolist(), strict=True)}
    symmetric, other = relations_of(n, rng)
    directed = rt.Problem.from_pairs(i, j, c, n=n, background=background, feasible=rt.TRANSITIVE)
    for relation in symmetric + other:
        want = exact_total(relation, lambda a, b: scored.get((a, b), background * (a != b)))
        assert directed.exact_value(relation) == want
    once = i <= j
    folded = rt.Problem.from_pairs(
        i[once], j[once], c[once], n=n, background=background, feasible=rt.SYMMETRIC
    )
    for relation in symmetric:
        want = exact_total(
            relation, lambda a, b: scored.get((a, b), background * (a != b)) if a <= b else 0.0
        )
        assert folded.exact_value(relation) == want


def test_a_value_beyond_all_floats_is_infinite():
    problem = rt.Problem(np.full((2, 2), 1e308))
    assert problem.value(rt.Relation(np.ones((2, 2)))) == math.inf
    assert problem.exact_value(rt.Relation(np.ones((2, 2)))) == 4 * Fraction(1e308)


def test_large_orders_and_sets_add_up_exactly():
    rng = np.random.default_rng(3)
    n = 1100  # large enough for sums row by row
    c = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-12, 12, (n, n))
    problem = rt.Problem(c)
    order = rt.WeakOrder(rng.integers(0, n, n))
    sets = rt.Partition(rng.integers(0, 3, n))
    for relation in (order, sets):
        want = exact_sum(c[relation.matrix()])
        assert problem.exact_value(relation) == want
        assert problem.exact_value(rt.Relation(relation.matrix())) == want
    upper = rt.Problem(c[np.triu_indices(n, 1)], rt.SYMMETRIC)
    assert upper.exact_value(sets) == exact_sum(c[np.triu(sets.matrix(), 1)])
