"""Choice by classes held out: measures that carry over, and measures that learn classes."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.measures import DiscriminantProjection
from relatum.measures.new_classes import _folds


def classes(count, each, useful, noise, seed):
    """Elements of classes that differ in a few columns; the others are noise for all."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(count), each)
    v = 0.3 * rng.normal(size=(len(labels), useful)) + rng.normal(size=(count, useful))[labels]
    return np.hstack([v, 3.0 * rng.normal(size=(len(labels), noise))]), labels


def test_what_is_learned_of_many_classes_carries_over():
    v, labels = classes(24, 15, 3, 3, 0)
    old = labels < 16
    few = DiscriminantProjection(6, 3)
    candidates = [rt.BilinearPairMeasure(projection=p, tol=1e-2) for p in ("discriminant", few)]
    found = rt.choose_for_new_classes(candidates, v[old], labels[old], n_folds=3, n_pairs=5000)
    assert found.carries_over
    assert found.bits[1] < found.baseline < found.bits[0]  # twelve directions are too many
    assert found.best.projection.n_discriminants == 3
    i, j = np.triu_indices(int((~old).sum()), 1)
    same = labels[~old][i] == labels[~old][j]
    scores = found.best.log_odds(v[~old], i, j)
    assert scores[same].mean() > scores[~same].mean() + 3
    again = rt.choose_for_new_classes(candidates, v[old], labels[old], n_folds=3, n_pairs=5000)
    assert np.array_equal(again.bits, found.bits)


def test_noise_does_not_carry_over():
    v = np.random.default_rng(0).normal(size=(80, 2))
    labels = np.repeat([3, 1, 4, 5], 20)
    found = rt.choose_for_new_classes(
        [rt.BilinearPairMeasure(0.1, tol=0.1)], v, labels, n_folds=2, n_pairs=500
    )
    assert not found.carries_over
    assert found.baseline == pytest.approx(1.0, abs=0.01)  # about half of the pairs of two classes


def test_every_class_is_held_out_and_never_all():
    for count, folds in ((4, 2), (5, 5), (12, 4), (30, 3)):
        held = _folds(count, folds, 0)
        assert len(held) == folds
        assert all(2 <= len(set(h.tolist())) <= max(2, count // folds) for h in held)
        assert {c for h in held for c in h.tolist()} == set(range(count))


def test_errors():
    v, labels = classes(4, 5, 2, 0, 0)
    one = rt.BilinearPairMeasure()
    with pytest.raises(DataError, match="got DiffusionPairMeasure"):
        rt.choose_for_new_classes([rt.DiffusionPairMeasure()], v, labels)
    with pytest.raises(DataError, match="four classes, got 1 and 2"):
        rt.choose_for_new_classes([one], v, labels % 2)
    with pytest.raises(DataError, match="n_folds"):
        rt.choose_for_new_classes([one], v, labels, n_folds=0)
    with pytest.raises(DataError, match="one label for each"):
        rt.choose_for_new_classes([one], v, labels[1:])
