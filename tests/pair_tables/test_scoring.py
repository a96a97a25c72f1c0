"""Missing pairs: recall and background by counting, scorers by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables.scoring import PairScorer, block_recall, learned_background, pairwise_f1


def batches_of(pairs):
    """Two batches, so that nothing is counted within one only."""
    half = len(pairs) // 2
    return [tuple(map(np.array, zip(*part, strict=True))) for part in (pairs[:half], pairs[half:])]


def test_recall_counts_listed_true_pairs():
    labels = np.array([0, 0, 0, 1, 1, -1])
    pairs = [(0, 1, 1.0), (0, 2, -3.0), (1, 2, 2.0), (3, 4, 1.0), (2, 3, 5.0), (4, 5, 1.0)]
    assert block_recall(batches_of(pairs), labels) == 1.0
    with pytest.warns(rt.errors.BlockingWarning, match="75%"):
        block_recall(batches_of(pairs[1:]), labels)


def test_the_background_is_that_of_unlisted_ends_of_paths():
    labels = np.array([0, 0, 0, 1, 1])
    # paths 0-1-2 (true), 1-2-3 and 2-3-4 (false); all have labels
    pairs = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0), (0, 4, -1.0)]
    assert learned_background(batches_of(pairs), labels) == pytest.approx(
        math.log2(1.5 / (4 + 2 * math.sqrt(2)))
    )


@pytest.mark.parametrize("whole", [True, False])
def test_few_labels_say_what_all_would(whole):
    rng = np.random.default_rng(0)
    n, truth = 12_000, np.arange(12_000) // 4
    a = np.repeat(np.arange(n), 4)
    b = np.where(np.tile([1, 1, 1, 0], n) == 1, a - a % 4 + rng.integers(0, 4, 4 * n), -1)
    b = np.where(b < 0, rng.integers(0, n, 4 * n), b)
    keys = np.unique(np.minimum(a, b)[a != b] * n + np.maximum(a, b)[a != b])
    i, j = keys // n, keys % n
    w = np.where(truth[i] == truth[j], 4.0, -2.0) + 3 * rng.normal(size=len(i))
    few = rng.random(n) < 0.3
    if whole:  # entities with all their records
        few = few[truth]
    full = learned_background([(i, j, w)], truth)
    some = learned_background([(i, j, w)], np.where(few, truth, -1))
    assert full < -0.5
    assert some == pytest.approx(full, abs=0.5)


def test_f1_of_labelled_elements():
    labels, clusters = np.array([0, 0, 0, 1, -1]), np.array([0, 0, 2, 2, 2])
    # related: 01, 23; true: 01, 02, 12; right: 01
    assert pairwise_f1(clusters, labels) == pytest.approx(2 * 1 / (2 + 3))


def test_measures_score_pairs_of_records():
    rng = np.random.default_rng(0)
    v = rng.integers(0, 2, (30, 4))
    i, j = np.triu_indices(30, 1)
    same = (v[i, 0] == v[j, 0]).astype(int)
    measure = rt.LogisticMeasure().fit(rt.pair_features(v[i], v[j]), same)
    ids = [f"r{k}" for k in range(30)]
    score = PairScorer(measure, ids, v)
    expected = measure.log_odds(rt.pair_features(v[[3, 5]], v[[9, 1]]))
    assert score(np.array(["r3", "r5"]), ["r9", "r1"]) == pytest.approx(expected)
    with pytest.raises(DataError, match="'nobody'"):
        score(["nobody"], ["r1"])


def test_bilinear_measures_score_pairs_of_records():
    rng = np.random.default_rng(0)
    v = rng.normal(size=(40, 3))
    i, j = np.triu_indices(40, 1)
    same = (np.sign(v[i, 0]) == np.sign(v[j, 0])).astype(int)
    measure = rt.BilinearPairMeasure().fit(v, i, j, same)
    found = PairScorer(measure, list(range(40)), v)([4, 7], [7, 2])
    assert found == pytest.approx(measure.log_odds(v, [4, 7], [7, 2]))


@pytest.mark.parametrize("labels", [{}, {98: "a", 99: "a"}])
def test_a_background_is_not_learned_from_labels_of_nobody(labels):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    columns = {"unique_id_l": [0, 1], "unique_id_r": [1, 2], "match_weight": [3.0, -1.0]}
    with pytest.raises(DataError, match="no element of the table has one"):
        rt.cluster_pairs(pa.table(columns), labels=labels, background="learned")
