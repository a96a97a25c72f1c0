"""When a bound is as good as the value: by the grid of values, or by the accepted gap."""

from __future__ import annotations

import math

import pytest

from relatum.proof import OPTIMAL_GAP, closes
from relatum.solvers.incumbent import Incumbent


@pytest.mark.parametrize("grid", [0.25, 1.0, 3.0])
def test_values_on_a_grid_close_almost_at_the_next_value(grid):
    found = Incumbent(12.0, grid=grid, magnitude=100.0)
    assert 12.0 + 0.99 * grid < found.cutoff < 12.0 + grid
    assert found.claim(found.cutoff) == 12.0
    assert found.claim(-math.inf) == 12.0
    assert found.claim(12.0 + grid) > 12.0 + grid - 1e-9
    assert found.tolerance == 0.0


@pytest.mark.parametrize("value", [-1e6, 0.0, 3.0, 1e6])
def test_other_values_close_within_a_share_of_the_allowed_gap(value):
    found = Incumbent(value, magnitude=10.0, share=0.5)
    assert value <= found.exact_cutoff <= found.cutoff
    assert closes(value, found.claim(found.cutoff))
    assert not closes(value, value + 3 * (found.cutoff - value))
    assert found.claim(value + 7.0) >= value + 7.0


def test_a_part_of_a_problem_is_allowed_less():
    assert Incumbent(1.0).tolerance == 0.2 * OPTIMAL_GAP
    assert Incumbent(1.0, gap=OPTIMAL_GAP / 8).tolerance == Incumbent(1.0).tolerance / 8


def test_the_gap_does_not_grow_with_what_is_added():
    assert Incumbent(1.0, offset=1e9).tolerance == Incumbent(1.0).tolerance


def test_a_grid_finer_than_rounding_is_of_no_use():
    assert Incumbent(1.0, grid=1e-9, magnitude=1e6).grid == 0.0


def test_without_a_relation_only_an_empty_node_is_closed():
    found = Incumbent(grid=1.0)
    assert found.cutoff == -math.inf
    assert found.claim(5.0) == 5.0
    assert Incumbent().cutoff == -math.inf
