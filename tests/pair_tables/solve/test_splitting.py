"""Splitting: bounded, along the weakest pairs, batches or not."""

from __future__ import annotations

import numpy as np

from relatum.pair_tables.solve.splitting import Splitter, split_component


def test_the_weakest_pair_of_a_chain_is_cut():
    i, j, w = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([3.0, 1.0, 2.0])
    none = np.empty((0, 2), np.int64)
    assert split_component(4, (i, j, w), none, 2, 99).tolist() == [0, 0, 2, 2]
    assert split_component(4, (i, j, w), none, 4, 99).tolist() == [0, 0, 0, 0]
    assert split_component(4, (i, j, w), none, 4, 1).tolist() == [0, 0, 2, 2]


def test_what_is_known_to_be_related_stays_together():
    i, j, w = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([3.0, 1.0, 2.0])
    pieces = split_component(4, (i, j, w), np.array([[1, 2]]), 2, 99)
    assert pieces[1] == pieces[2]


def test_batches_do_not_matter():
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 50, (2, 200))
    whole, parts = Splitter(50, 8, 30), Splitter(50, 8, 30)
    whole.add(i, j)
    for k in range(0, 200, 13):
        parts.add(i[k : k + 13], j[k : k + 13])
    assert whole.pieces().tolist() == parts.pieces().tolist()
    assert np.bincount(whole.pieces()).max() <= 8
