"""Lanes: padded to a full number of them, and the best of all whatever its place."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.inlined import full_lanes, largest_lane, least_lane

LANES = full_lanes(1)


def test_padded_is_the_next_multiple():
    for n in range(3 * LANES):
        assert n <= full_lanes(n) < n + LANES
        assert full_lanes(n) % LANES == 0


@pytest.mark.parametrize("place", range(LANES))
def test_best_numbers_are_found_in_every_lane(place):
    numbers = np.random.default_rng(place).normal(size=LANES)
    assert (largest_lane(numbers), least_lane(numbers)) == (numbers.max(), numbers.min())
    numbers[place] = 9.0
    assert largest_lane(numbers) == 9.0
    numbers[place] = -9.0
    assert least_lane(numbers) == -9.0


def test_there_is_one_number_for_each_lane():
    with pytest.raises(ValueError, match=f"{LANES} lanes, and 3 numbers"):
        largest_lane(np.zeros(3))
