"""Curves of pairs: errors are those of the coefficients kept, on the pairs described."""

from __future__ import annotations

import numpy as np
import pytest

from instances.reproduction import TINY
from relatum.datasets import load_digits
from relatum.features import pair_features
from relatum.reproduction.cells import Cells
from relatum.reproduction.pairs import Pairs, learned_path, sketch_of_pairs


@pytest.fixture(scope="module")
def pairs():
    return Pairs(TINY, *load_digits())


def test_test_pairs_are_all_of_some_images(pairs):
    i, j, y = pairs.testing()
    n = TINY.test_images
    assert len(i) == n * (n - 1) // 2
    assert len(np.unique(np.concatenate([i, j]))) == n
    assert np.array_equal(y, pairs.test.labels[i] == pairs.test.labels[j])


def test_stratified_training_pairs_are_balanced(pairs):
    assert pairs.training(True)[2].mean() == 0.5
    assert pairs.training(False)[2].mean() < 0.2


@pytest.mark.parametrize("lifting", TINY.liftings)
@pytest.mark.parametrize("sample", ["stratified", "unstratified"])
def test_errors_are_those_of_the_coefficients(tiny, pairs, lifting, sample):
    found = tiny.results("pairs")[lifting.name][sample]
    kept = learned_path(Cells(tiny.folder / "cells"), pairs, lifting, sample, epochs=1)
    i, j, y = pairs.testing()
    x = pair_features(pairs.w[i], pairs.w[j]).astype(float)
    sketch = sketch_of_pairs(lifting, pairs.v.shape[1], TINY.seed)
    lifted = x if sketch is None else sketch.transform(x)
    wrong = ((lifted @ kept["w"].T) > 0) != y[:, None]
    assert np.allclose(found["error_unstratified"], wrong.mean(axis=0), atol=0.003)
    balanced = (wrong[y].mean(axis=0) + wrong[~y].mean(axis=0)) / 2
    assert np.allclose(found["error_stratified"], balanced, atol=0.02)
