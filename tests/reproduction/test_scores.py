"""Scores of all pairs are those of the learned coefficients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import squareform

from instances.reproduction import TINY
from relatum.datasets import Digits, load_digits
from relatum.features import pair_features
from relatum.measures.objective import LN2
from relatum.reproduction.cells import Cells
from relatum.reproduction.pairs import Pairs, learned_path, sketch_of_pairs
from relatum.reproduction.scores import bilinear_scores, condensed_subset, sketch_scores


def test_scores_are_those_of_sketches(tiny):
    cells = Cells(tiny.folder / "cells")
    pairs = Pairs(TINY, *load_digits())
    n = len(pairs.test.labels)
    a, b = np.triu_indices(n, 1)
    some = np.random.default_rng(0).choice(len(a), 300, replace=False)
    sketch = sketch_of_pairs(TINY.measure, pairs.v.shape[1], TINY.seed)
    x = sketch.transform(pair_features(pairs.w[a[some]], pairs.w[b[some]]))
    powers = {"stratified": TINY.stratified_power, "unstratified": TINY.unstratified_power}
    for sample, power in powers.items():
        kept = learned_path(cells, pairs, TINY.measure, sample, TINY.pair_epochs)
        theta = kept["w"][TINY.pair_powers.index(power)] / LN2
        found = sketch_scores(cells, pairs, sample)["scores"]
        assert np.allclose(found[some], x @ theta, atol=1e-3)


def test_subsets_of_condensed_scores():
    scores = np.arange(15.0)  # six elements
    chosen = np.array([5, 0, 3])
    expected = squareform(scores)[np.ix_([0, 3, 5], [0, 3, 5])]
    assert np.array_equal(condensed_subset(scores, 6, chosen), squareform(expected))


def test_bilinear_errors_are_counted(tiny):
    train, test = load_digits()
    scores, told = bilinear_scores(Cells(tiny.folder / "cells"), TINY, train, test)
    same = squareform((test.labels[:, None] == test.labels).astype(int), checks=False) > 0
    assert told["error_unstratified"] == np.mean((scores > 0) != same)
    # better than calling every pair unrelated
    assert told["error_stratified"] < 0.4


def test_few_images_have_fewer_pairs_than_are_asked_for(tmp_path):
    train, test = (Digits(some.images[:60], some.labels[:60]) for some in load_digits())
    asked = replace(TINY, pairs=100_000)
    scores, _ = bilinear_scores(Cells(tmp_path), asked, train, test)
    related = int(np.triu(train.labels[:, None] == train.labels, 1).sum())
    every, _ = bilinear_scores(Cells(tmp_path), replace(TINY, pairs=2 * related), train, test)
    assert np.array_equal(scores, every)
