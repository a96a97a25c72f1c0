from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.probability.exact.row_counts import Counts, counts_of, refusal
from relatum.probability.methods import Task


def test_maps_are_softmax():
    scores = np.random.default_rng(0).normal(size=(200, 12)) * 30
    p = rt.probabilities(rt.Problem(scores, rt.MAPS))
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp2(scores - top)
    assert p.matrix() == pytest.approx(weights / weights.sum(axis=1, keepdims=True), rel=1e-12)
    bits = (np.log2(weights.sum(axis=1)) + top[:, 0]).sum()
    assert p.log2_normalizer == pytest.approx(bits, rel=1e-13)


@pytest.mark.parametrize(
    ("feasible", "expected"),
    [
        (rt.MAPS, (False, Counts(1, 1))),
        (rt.PARTIAL_MAPS, (False, Counts(0, 1))),
        (rt.HAS_IMAGE & rt.at_most(3), (False, Counts(1, 3))),
        (rt.HAS_PREIMAGE, (True, Counts(1, None))),
        (rt.UNIQUE_PREIMAGE & rt.HAS_PREIMAGE, (True, Counts(1, 1))),
    ],
)
def test_what_is_said_of_rows_and_columns(feasible, expected):
    assert counts_of(feasible) == expected


def test_at_most_k_is_a_sum_over_subsets():
    n = 10
    p = rt.probabilities(rt.Problem(np.zeros((1, n)), rt.at_most(3)))
    assert 2.0**p.log2_normalizer == pytest.approx(1 + 10 + 45 + 120)
    assert p.matrix() == pytest.approx(np.full((1, n), (1 + 9 + 36) / 176))


def test_any_size_is_taken():
    assert refusal(Task(rt.Problem(np.zeros((300, 30)), rt.MAPS))) is None
