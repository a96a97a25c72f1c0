"""2-partition rows that are chosen, and rows with prices."""

from __future__ import annotations

import numpy as np

from relatum.solvers.partition.noise.priced_rows import PricedRows, unlike_two_partitions


def test_the_deepest_rows_come_first_and_copies_are_left_out():
    sides = np.zeros((4, 9), np.int8)
    sides[0, [0, 1, 2]] = 1, 2, 2
    sides[1, [3, 4, 5]] = 2, 1, 2
    sides[2, [0, 1, 2]] = 1, 2, 2  # like the first
    sides[3, [6, 7, 8]] = 2, 2, 1
    index = unlike_two_partitions(sides, np.array([0.2, 0.5, 0.3, 0.1]), 10)
    assert index.tolist() == [[4, -1, 3, 5], [0, -1, 1, 2], [8, -1, 6, 7]]
    assert len(unlike_two_partitions(sides, np.array([0.2, 0.5, 0.3, 0.1]), 2)) == 2


def test_no_rows_give_no_index():
    assert len(unlike_two_partitions(np.zeros((0, 5), np.int8), np.zeros(0), 10)) == 0


def test_rows_are_kept_with_their_prices_and_new_ones_have_none():
    rows = PricedRows(6, 5)
    rows.renew(rows.prices > 0, np.array([[0, -1, 1, 2], [3, -1, 4, 5]]))
    rows.prices[:] = 0.0, 2.0
    rows.renew(rows.prices > 0, np.array([[1, -1, 0, 2, 3]]))
    assert rows.index.tolist() == [[3, -1, 4, 5, -1], [1, -1, 0, 2, 3]]
    assert rows.prices.tolist() == [2.0, 0.0]
    start, places, signs, sides = rows.compressed
    assert start.tolist() == [0, 3, 9]
    assert sides.tolist() == [1.0, 1.0]
    terms = dict(zip(places[3:].tolist(), signs[3:].tolist(), strict=True))
    # 1 is alone on its side: what it has with the others counts, what they have is subtracted
    assert terms == {1: 1, 8: 1, 9: 1, 2: -1, 3: -1, 15: -1}
