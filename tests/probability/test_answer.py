from __future__ import annotations

import math
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import relatum as rt
from naive import probability as naive
from probability.random_problems import FAMILIES, feasible_set
from relatum.errors import ProblemError

SCORES = [2.0, -1.0, 3.0, 0.5, -2.0, 1.0]


@pytest.fixture
def clusterings():
    return rt.probabilities(rt.Problem(SCORES, rt.EQUIVALENCES))


def test_probabilities_of_all_relations_add_up_to_one(clusterings):
    bits = [clusterings.of(rt.Partition(labels)) for labels in naive.partitions(4)]
    assert math.fsum(2.0**b for b in bits) == pytest.approx(1.0, abs=1e-13)
    assert clusterings.of(rt.Relation(np.zeros((4, 4)))) == -np.inf


def test_sets_add_up_to_one_for_every_element(clusterings):
    totals = np.zeros(4)
    for mask in range(1, 16):
        own = [a for a in range(4) if mask >> a & 1]
        totals[own] += clusterings.sets(own)
    assert totals == pytest.approx(np.ones(4))
    p = clusterings.sets(rt.Partition([0, 0, 0, 1]))
    assert p.tolist() == [clusterings.sets([0, 1, 2]), clusterings.sets([3])]
    assert clusterings.sets([0, 1, 2, 3]) == pytest.approx(
        2.0 ** clusterings.of(rt.Partition([0, 0, 0, 0]))
    )


def test_layouts_agree(clusterings):
    matrix = clusterings.matrix()
    i, j = np.triu_indices(4, 1)
    assert clusterings.marginals.tolist() == matrix[i, j].tolist()
    assert clusterings.pairs(i, j).tolist() == matrix[i, j].tolist()
    assert clusterings.pairs(2, 1) == matrix[2, 1]
    assert not clusterings.error.any()
    assert clusterings.error.shape == (6,)
    assert np.array_equal(matrix, matrix.T)
    table = clusterings.table()
    assert table["probability"].tolist() == matrix[i, j].tolist()
    assert table["log_odds"].tolist() == SCORES
    dense = rt.probabilities(rt.Problem([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]], rt.MAPS))
    assert np.array_equal(dense.marginals, dense.matrix())
    assert dense.table()["i"].tolist() == [0, 0, 1, 1, 2, 2]


def test_ids_name_elements():
    table = {"unique_id_l": ["x", "x"], "unique_id_r": ["y", "z"], "match_weight": [3.0, -1.0]}
    pandas = pytest.importorskip("pandas")
    problem = rt.Problem.from_table(pandas.DataFrame(table), feasible=rt.EQUIVALENCES)
    p = rt.probabilities(problem)
    assert p.pairs("z", "x", ids=True) == p.pairs(2, 0)
    assert p.pairs(["x"], ["y"], ids=True).tolist() == [p.pairs(0, 1)]
    assert p.table()["j"].tolist() == ["y", "z"]
    with pytest.raises(ProblemError, match="names 'w', but no element"):
        p.pairs("w", "x", ids=True)


def test_ranks_are_doubly_stochastic():
    rng = np.random.default_rng(0)
    p = rt.probabilities(rt.Problem(rng.normal(size=(5, 5)), rt.LINEAR_ORDERS))
    assert p.ranks.sum(axis=0) == pytest.approx(np.ones(5))
    assert p.ranks.sum(axis=1) == pytest.approx(np.ones(5))
    # the expected place of an element is the expected number of elements before it
    assert p.ranks @ np.arange(5) == pytest.approx(p.matrix().sum(axis=0) - 1)
    matrix = p.matrix()
    assert (matrix + matrix.T)[np.triu_indices(5, 1)] == pytest.approx(np.ones(10))


def test_the_representation_says_that_nothing_is_calibrated(clusterings):
    assert "uncalibrated" in repr(clusterings)
    assert "exact by sums over partitions" in repr(clusterings)


@pytest.mark.parametrize("bad", [-1, 4, 1.5, "a"])
def test_elements_that_are_none_are_refused(clusterings, bad):
    with pytest.raises(ProblemError, match=r"numbers, 0 \.\.\. 3"):
        clusterings.pairs(bad, 0)


def test_what_makes_no_sense_is_refused(clusterings):
    with pytest.raises(ProblemError, match="one pair per entry"):
        clusterings.pairs([0, 1], [1])
    with pytest.raises(ProblemError, match="has no ids"):
        clusterings.pairs(0, 1, ids=True)
    with pytest.raises(ProblemError, match="LINEAR_ORDERS"):
        clusterings.ranks  # noqa: B018
    with pytest.raises(ProblemError, match="at least one element"):
        clusterings.sets([])
    with pytest.raises(ProblemError, match="3 elements, the problem 4"):
        clusterings.sets(rt.Partition([0, 1, 2]))
    with pytest.raises(ProblemError, match=r"relatum\.Partition"):
        clusterings.of([0, 0, 1, 1])
    with pytest.raises(ProblemError, match="whole number"):
        clusterings.sample(-1)
    with pytest.raises(ProblemError, match="not in MAPS"):
        rt.probabilities(rt.Problem([[1.0, 2.0]], rt.MAPS)).sets([0])


def same_answers(one, two):
    """Say whether two answers agree in everything that can be asked."""
    assert repr(one) == repr(two)
    assert np.array_equal(one.matrix(), two.matrix())
    assert np.array_equal(one.error, two.error)
    assert one.log2_normalizer == two.log2_normalizer
    first, second = one.sample(4, seed=1), two.sample(4, seed=1)
    assert [type(y) for y in first] == [type(y) for y in second]
    assert all(np.array_equal(a.matrix(), b.matrix()) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_can_be_pickled(family):
    rng = np.random.default_rng(len(family))
    p = rt.probabilities(rt.Problem(rng.normal(size=(4, 4)), feasible_set(family)))
    same_answers(p, pickle.loads(pickle.dumps(p)))


def other_answers():
    """Yield answers of samplers, of matchings between two sides, and behind a calibration."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(24, 24))
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS):
        yield rt.probabilities(rt.Problem(scores, feasible), method="sampling", draws=200)
    sides = rt.EQUIVALENCES & rt.one_per_group([0] * 8 + [1] * 16)
    yield rt.probabilities(rt.Problem(scores, sides))
    i, j = np.triu_indices(6, 1)
    problem = rt.Problem.from_pairs(i[:9], j[:9], scores[i[:9], j[:9]], feasible=rt.EQUIVALENCES)
    truth = rt.Partition([0, 0, 1, 1, 1, 2])
    yield rt.calibrate(problem, truth).probabilities(rt.probabilities(problem))


def test_answers_are_the_same_in_another_process():
    given = list(other_answers())
    assert [p.calibrated for p in given] == [False, False, False, True]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for p in given:
            same_answers(p, pickle.loads(pickle.dumps(p)))
            drawn = pool.submit(p.sample, 3, 5).result()
            here = p.sample(3, 5)
            assert [y.matrix().tolist() for y in drawn] == [y.matrix().tolist() for y in here]
