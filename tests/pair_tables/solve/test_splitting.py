"""Splitting: bounded, along the weakest pairs, batches or not."""

from __future__ import annotations

import numpy as np

from relatum.pair_tables.solve.splitting import falling_order, split_elements

NONE = np.empty((0, 2), np.int64)


def test_the_weakest_pair_of_a_chain_is_cut():
    i, j, w = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([3.0, 1.0, 2.0])
    assert split_elements(4, [(i, j, w)], NONE, 2).tolist() == [0, 0, 2, 2]
    assert split_elements(4, [(i, j, w)], NONE, 3).tolist() == [0, 0, 2, 2]
    assert split_elements(4, [(i, j, w)], NONE, 4).tolist() == [0, 0, 0, 0]


def test_what_is_known_to_be_related_stays_together():
    i, j, w = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([3.0, 1.0, 2.0])
    pieces = split_elements(4, [(i, j, w)], np.array([[1, 2]]), 2)
    assert pieces[1] == pieces[2]


def test_batches_do_not_matter():
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 50, (2, 200))
    w = np.round(rng.random(200), 1)
    order = falling_order(i, j, w)
    assert order.tolist() == sorted(range(200), key=lambda k: (-w[k], i[k], j[k]))
    i, j, w = i[order], j[order], w[order]
    whole = split_elements(50, [(i, j, w)], NONE, 8)
    parts = ((i[k : k + 13], j[k : k + 13], w[k : k + 13]) for k in range(0, 200, 13))
    assert split_elements(50, parts, NONE, 8).tolist() == whole.tolist()
    assert np.bincount(whole).max() <= 8
