"""Cutting planes along a partition: valid bounds that get better, close to the linear program."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.problem import condensed_places
from relatum.solvers.partition.arrays import FAR, square
from relatum.solvers.partition.bounds.along import ALONG, AlongPartition, Triangles
from relatum.solvers.partition.exact.relaxation import Relaxation

NONE = Triangles(np.empty((0, 3), np.int32), np.empty(0))


def noisy(n, seed, sets=3):
    rng = np.random.default_rng(seed)
    labels = np.sort(np.arange(n) % sets)
    i, j = np.triu_indices(n, 1)
    return rng.normal(size=len(i)) + np.where(labels[i] == labels[j], 0.8, -0.8), labels


def bound_of(scores, n, proof):
    a, b, c = proof.rows.T
    left = scores.copy()
    for p, q, sign in ((a, b, -1), (b, c, -1), (a, c, 1)):
        np.add.at(left, condensed_places(p, q, n), sign * proof.multipliers)
    return proof.multipliers.sum() + np.maximum(left, 0).sum()


def value_of(scores, labels):
    i, j = np.triu_indices(len(labels), 1)
    return scores[labels[i] == labels[j]].sum()


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e10])
def test_rounds_bring_the_bound_close_to_the_value(scale):
    scores, labels = noisy(60, 0)
    scores *= scale
    value = value_of(scores, labels)
    relaxation = AlongPartition(scores, labels, NONE)
    bounds = [bound_of(scores, 60, relaxation.proof)]
    for _ in range(8):
        relaxation.run()
        assert (relaxation.proof.multipliers > 0).all()
        bounds.append(bound_of(scores, 60, relaxation.proof))
    assert all(np.diff(bounds) <= 1e-9 * bounds[0])  # the best is kept
    assert bounds[-1] >= value * (1 - 1e-9)
    assert bounds[-1] - value < 0.05 * (bounds[0] - value)


def test_it_is_as_good_as_cutting_planes_of_all_triangles():
    scores, labels = noisy(60, 1)
    relaxation = AlongPartition(scores, labels, NONE)
    other = Relaxation(square(scores, 60), np.full((60, 60), -1, dtype=np.int8))
    for _ in range(8):
        relaxation.run()
        other.add_triangles(0.05)
        other.lp.run(120)
    value = value_of(scores, labels)
    mine = bound_of(scores, 60, relaxation.proof) - value
    assert mine < 1.1 * (other.lp.bound - value) + 0.002 * value


def test_rows_to_start_from_are_kept_and_joined():
    scores, labels = noisy(30, 2)
    index = np.array([[0, 1, 29], [29, 1, 0], [0, 1, 2], [2, 1, 0], [0, 15, 29]], np.int32)
    rows = Triangles(index, np.array([0.25, 0.5, 0.25, 0.125, 0.125]))
    relaxation = AlongPartition(scores, labels, rows)
    assert len(relaxation.proof.rows) == 3
    want = bound_of(scores, 30, rows)
    assert bound_of(scores, 30, relaxation.proof) == pytest.approx(want, rel=1e-6)


def test_pairs_that_are_decided_stay_so():
    scores, labels = noisy(30, 3)
    scores[condensed_places(0, 29, 30)] = FAR
    scores[condensed_places(1, 2, 30)] = -FAR
    relaxation = AlongPartition(scores, labels, NONE)
    for _ in range(4):
        relaxation.run()
    x = relaxation.point()
    assert x[condensed_places(0, 29, 30)] == 1
    assert x[condensed_places(1, 2, 30)] == 0
    assert relaxation.proof.multipliers.max() < 100


def test_time_ends_a_round():
    scores, labels = noisy(200, 4)
    relaxation = AlongPartition(scores, labels, NONE, lambda: True)
    relaxation.run()
    full = AlongPartition(scores, labels, NONE)
    full.run()
    value = value_of(scores, labels)
    assert value <= bound_of(scores, 200, full.proof) < bound_of(scores, 200, relaxation.proof)


def test_rounds_have_more_iterations_up_to_a_limit():
    counts = [ALONG.iterations_of(k) for k in range(20)]
    assert counts == sorted(counts)
    assert counts[0] == ALONG.iterations
    assert counts[-1] == counts[-2] == ALONG.most_iterations
