"""A measure without labels, against its definition in dense matrices and planted clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons

import relatum as rt
from relatum.errors import DataError
from relatum.measures.beta_mixture import MOST_BITS


def wrong(measure, X, y):
    i, j = np.triu_indices(len(X), 1)
    return np.mean((measure.all_log_odds(X) > 0) != (y[i] == y[j]))


@pytest.mark.parametrize(
    ("made", "most"),
    [
        (make_moons(300, noise=0.05, random_state=7), 0.0),
        (make_circles(300, factor=0.5, noise=0.05, random_state=7), 0.0),
        (make_blobs(300, centers=6, n_features=10, cluster_std=1.5, random_state=7), 0.01),
        (make_blobs([200, 60, 25], n_features=8, random_state=7), 0.0),
    ],
    ids=["moons", "circles", "blobs", "sizes"],
)
def test_pairs_of_planted_clusters(made, most):
    X, y = made
    measure = rt.DiffusionPairMeasure().fit(X)
    assert wrong(measure, X, y) <= most
    assert measure.n_modes_ == len(set(y))
    assert measure.separation_ > 4
    i, j = np.triu_indices(len(X), 1)
    assert measure.share_ == pytest.approx(np.mean(y[i] == y[j]), abs=0.02)


def test_is_what_walks_of_that_many_steps_say():
    X, _ = make_blobs(60, centers=3, cluster_std=1.5, random_state=1)
    measure = rt.DiffusionPairMeasure(6).fit(X)
    near = np.argsort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, :7]
    sets = [set(row.tolist()) for row in near]
    similar = np.array([[len(a & b) / len(a | b) for b in sets] for a in sets])
    degree = similar.sum(axis=1)
    values, vectors = np.linalg.eigh(similar / np.sqrt(np.outer(degree, degree)))
    slow = np.argsort(-values)[: measure.n_modes_]
    z = vectors[:, slow] * values[slow] ** (measure.time_ / 2)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    found = measure.features(X)
    assert np.allclose(found @ found.T, z @ z.T)
    i, j = np.triu_indices(60, 1)
    x = np.clip((z @ z.T)[i, j], 1 / 1024, 1 - 1 / 1024)
    prior = np.log2(measure.share_ / (1 - measure.share_))
    bits = prior + (measure.shape_ - 1) * np.log2(x / (1 - x))
    assert np.allclose(measure.log_odds(X, i, j), np.clip(bits, -MOST_BITS, MOST_BITS))


def test_neither_scale_nor_place_nor_order_matters():
    X, _ = make_moons(120, noise=0.05, random_state=0)
    want = rt.DiffusionPairMeasure().fit(X).all_log_odds(X, condensed=False)
    moved = 1000.0 * X[:, ::-1] + 5.0
    found = rt.DiffusionPairMeasure().fit(moved).all_log_odds(moved, condensed=False)
    assert np.allclose(found, want, atol=1e-3)
    order = np.random.default_rng(0).permutation(120)
    again = rt.DiffusionPairMeasure().fit(X[order]).all_log_odds(X[order], condensed=False)
    assert np.array_equal(again, want[np.ix_(order, order)])


def test_columns_of_different_units_are_scaled():
    X, y = make_blobs(150, centers=3, n_features=4, random_state=3)
    X = np.hstack([X, np.random.default_rng(0).normal(scale=1e4, size=(150, 1))])
    assert wrong(rt.DiffusionPairMeasure().fit(X), X, y) < 0.05
    assert wrong(rt.DiffusionPairMeasure(standardize=False).fit(X), X, y) > 0.2


def test_new_elements_join_what_was_seen():
    X, y = make_moons(400, noise=0.05, random_state=0)
    measure = rt.DiffusionPairMeasure().fit(X[:300])
    assert wrong(measure, X[300:], y[300:]) == 0.0


def test_few_elements_and_copies():
    assert rt.DiffusionPairMeasure().fit([[1.0]]).all_log_odds([[1.0]]).shape == (0,)
    same = rt.DiffusionPairMeasure().fit(np.ones((5, 2)))
    assert (same.all_log_odds(np.ones((5, 2))) == MOST_BITS).all()
    X, y = make_blobs(40, centers=2, random_state=0, cluster_std=0.3)
    copies = np.repeat(X, 5, axis=0)
    measure = rt.DiffusionPairMeasure().fit(copies)
    assert wrong(measure, copies, np.repeat(y, 5)) == 0.0
    for n in range(2, 12):
        bits = rt.DiffusionPairMeasure().fit(X[:n]).all_log_odds(X[:n])
        assert np.isfinite(bits).all()
        assert len(bits) == n * (n - 1) // 2


def test_errors_leave_the_measure_as_it_was():
    X, _ = make_moons(50, random_state=0)
    measure = rt.DiffusionPairMeasure().fit(X)
    before = measure.features(X)
    with pytest.raises(DataError, match="NaN"):
        measure.fit([[np.nan]])
    assert np.array_equal(measure.features(X), before)
    for name, value in (("n_neighbors", 0), ("max_clusters", 1.5), ("standardize", "yes")):
        with pytest.raises(DataError, match=name):
            clone(measure).set_params(**{name: value}).fit(X)
    with pytest.raises(DataError, match="2 features"):
        measure.features(np.ones((3, 3)))
    with pytest.raises(rt.errors.NotFittedError):
        rt.DiffusionPairMeasure().log_odds(X, [0], [1])
