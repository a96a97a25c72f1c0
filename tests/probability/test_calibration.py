"""Calibration: offsets beside enumeration, maps on problems unseen, what runs away is told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CalibrationWarning, DataError, RelationError
from relatum.probability.calibration import MOST, log_loss
from relatum.probability.scored import is_related, scored_pairs

MATCHINGS = rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE


def expected_size(problem, offset):
    """By going through all relations."""
    rows, columns = problem.shape
    total = size = 0.0
    for bits in itertools.product([False, True], repeat=rows * columns):
        relation = rt.Relation(np.array(bits).reshape(rows, columns))
        if problem.feasible.contains(relation):
            weight = 2.0 ** (problem.value(relation) + offset * sum(bits))
            total, size = total + weight, size + weight * sum(bits)
    return size / total


@pytest.mark.parametrize("feasible", [MATCHINGS, rt.PARTIAL_MAPS])
def test_as_many_pairs_are_expected_as_are_true(feasible):
    rng = np.random.default_rng(0)
    known = rt.evidence(related=[(0, 1)], unrelated=[(2, 2)])
    problems = [rt.Problem(3 * rng.normal(size=(3, 3)) - 2, feasible & known) for _ in range(2)]
    truths = [rt.PartialMap([1, 0, -1], 3), rt.PartialMap([1, -1, -1], 3)]
    found = rt.calibrate(problems, truths)
    assert found.kind == "offset"
    sizes = sum(expected_size(problem, found.offset) for problem in problems)
    assert sizes == pytest.approx(3, abs=0.005)
    assert "bits for every score, learned from 2 problems" in str(found)
    again = found.apply(problems[0])
    assert again.feasible == problems[0].feasible
    expected = np.asarray(problems[0].log_odds) + found.offset
    assert again.log_odds == pytest.approx(expected)
    p = found.probabilities(rt.probabilities(problems[0]))
    assert p.calibrated
    assert p.matrix() == pytest.approx(rt.probabilities(again).matrix())


def test_an_offset_that_runs_away_is_capped_and_told():
    problem = rt.Problem(np.zeros((3, 3)), MATCHINGS)
    with pytest.warns(CalibrationWarning, match="no limit"):
        found = rt.calibrate(problem, rt.PartialMap([0, 1, 2], 3))
    assert (found.offset, found.capped) == (MOST, True)
    with pytest.warns(CalibrationWarning):
        assert rt.calibrate(problem, rt.PartialMap([-1, -1, -1], 3)).offset == -MOST
    assert "capped" in str(found)


def clusterings(count, seed, n=9):
    """Scores that are right on average, but whose errors are those of elements, not of pairs."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        truth = rng.integers(0, 3, n)
        i, j = np.triu_indices(n, 1)
        noise = rng.normal(size=n)
        bits = np.where(truth[i] == truth[j], 2.0, -2.0) + 2.5 * (noise[i] + noise[j])
        out.append((rt.Problem(bits, rt.EQUIVALENCES), rt.Partition(truth)))
    return out


def losses(cases, learned):
    """Log-loss before and after, in bits per pair."""
    before, after, true = [], [], []
    for problem, truth in cases:
        found = scored_pairs(problem)
        given = rt.probabilities(problem)
        before.append(given.pairs(found.i, found.j))
        after.append(learned.probabilities(given).pairs(found.i, found.j))
        true.append(is_related(truth, found.i, found.j))
    y = np.concatenate(true)
    return log_loss(np.concatenate(before), y), log_loss(np.concatenate(after), y)


def test_a_map_makes_probabilities_of_other_clusterings_better():
    learned = rt.calibrate(*map(list, zip(*clusterings(30, 0), strict=True)))
    assert learned.kind == "map"
    assert learned.after < learned.before
    before, after = losses(clusterings(30, 1), learned)
    assert after < before - 0.1
    assert after == pytest.approx(learned.after, abs=0.1)
    assert "log-loss" in str(learned)


def test_mapped_probabilities_and_scores_are_the_same_numbers():
    cases = clusterings(10, 2)
    learned = rt.calibrate(*map(list, zip(*cases, strict=True)))
    problem = cases[0][0]
    found = learned.probabilities(rt.probabilities(problem))
    i, j = np.triu_indices(problem.n, 1)
    p = found.pairs(i, j)
    assert np.log2(p / (1 - p)) == pytest.approx(learned.apply(problem).log_odds)
    assert np.diagonal(found.matrix()).tolist() == [1.0] * problem.n
    assert np.array_equal(found.matrix(), found.matrix().T)
    assert "calibrated" in repr(found)
    assert "uncalibrated" not in repr(found)
    # the same from a matrix and from listed pairs
    matrix = np.zeros((problem.n, problem.n))
    matrix[i, j] = problem.log_odds
    dense = learned.apply(rt.Problem(matrix, rt.EQUIVALENCES))
    assert (dense.dense() + dense.dense().T)[i, j] == pytest.approx(learned.apply(problem).log_odds)
    listed = rt.Problem.from_pairs(i, j, problem.log_odds, n=problem.n, feasible=rt.EQUIVALENCES)
    same = learned.probabilities(rt.probabilities(listed))
    assert same.pairs(j, i) == pytest.approx(p)


def test_what_is_known_stays_known():
    cases = clusterings(10, 3)
    learned = rt.calibrate(*map(list, zip(*cases, strict=True)))
    problem = rt.Problem(
        cases[0][0].log_odds, rt.EQUIVALENCES & rt.evidence(related=[(0, 1)], unrelated=[(2, 3)])
    )
    p = learned.probabilities(rt.probabilities(problem))
    assert (p.pairs(0, 1), p.pairs(2, 3)) == (1.0, 0.0)


def test_maps_of_orders_prefer_no_direction():
    rng = np.random.default_rng(4)
    problems, truths = [], []
    for _ in range(20):
        order = rng.permutation(7)
        ranks = np.argsort(order)
        noise = rng.normal(size=7)
        scores = np.sign(ranks[None, :] - ranks[:, None]) + 2 * (noise[:, None] - noise[None, :])
        problems.append(rt.Problem(scores, rt.LINEAR_ORDERS))
        truths.append(rt.LinearOrder(order))
    learned = rt.calibrate(problems[:15], truths[:15])
    assert learned.constant == 0.0
    matrix = learned.probabilities(rt.probabilities(problems[0])).matrix()
    off = ~np.eye(7, dtype=bool)
    assert (matrix + matrix.T)[off] == pytest.approx(np.ones(42))
    before, after = losses(list(zip(problems[15:], truths[15:], strict=True)), learned)
    assert after < before
    new = learned.apply(problems[0])
    bits = new.log_odds - new.log_odds.T
    assert bits[off] == pytest.approx(np.log2(matrix / matrix.T)[off])


def test_what_is_refused():
    problem, truth = clusterings(1, 5)[0]
    with pytest.raises(DataError, match="one true relation for each"):
        rt.calibrate([problem, problem], [truth])
    with pytest.raises(DataError, match="got Problem and list"):
        rt.calibrate([problem], [[0, 1]])
    with pytest.raises(RelationError, match="not feasible"):
        rt.calibrate(problem, rt.Partition([0, 1]))
    with pytest.raises(DataError, match="several kinds"):
        rt.calibrate([problem, rt.Problem(np.zeros((2, 2)), rt.LINEAR_ORDERS)], [truth, truth])
    with pytest.raises(DataError, match="all of one kind"):
        rt.calibrate(problem, rt.Partition(np.zeros(problem.n, int)))
    learned = rt.calibrate(*map(list, zip(*clusterings(3, 6), strict=True)))
    with pytest.raises(DataError, match="learned from problems of EQUIVALENCES"):
        learned.apply(rt.Problem(np.zeros((2, 2)), rt.LINEAR_ORDERS))
