"""Names of {0,1/2}-cuts: what they say of all orders, and when they are found."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog

from relatum.problem import LINEAR_ORDERS
from relatum.proof import folded_half_rows
from relatum.proof.certificate import FAMILIES
from relatum.solvers.order.half_cuts import (
    MOST,
    PATTERN,
    PLANE,
    keys_of,
    surface_names,
    violated_surfaces,
    violated_walks,
)


def _point(n):
    """Return the 3-dicycle relaxation's best point for the pattern, on the first of n elements."""
    i, j = np.triu_indices(len(PATTERN), 1)
    column = np.zeros(PATTERN.shape, dtype=int)
    column[i, j] = np.arange(len(i))
    rows = []
    for a, b, c in ((a, b, c) for a, b, c in np.ndindex(8, 8, 8) if a < b < c):
        row = np.zeros(len(i))
        row[[column[a, b], column[b, c], column[a, c]]] = 1, 1, -1
        rows += [row, -row]
    right = np.tile([1, 0], len(rows) // 2)
    found = linprog(-PATTERN[i, j], A_ub=np.array(rows), b_ub=right, bounds=(0, 1))
    x = np.triu(np.ones((n, n)), 1)
    x[i, j] = found.x
    return x + np.tril(1 - x.T, -1), -found.fun + np.count_nonzero(PATTERN[i, j] < 0)


def test_the_surface_is_a_closed_one_of_the_projective_plane():
    edges = [tuple(sorted(e)) for t in PLANE for e in (t[:2], t[1:], t[::2])]
    assert {edges.count(e) for e in edges} == {2}
    assert len(PATTERN) - len(set(edges)) + len(PLANE) == 1  # Euler's characteristic
    assert np.count_nonzero(PATTERN > 0) == len(set(edges)) - 1 == 20


def test_its_row_is_tight_and_cuts_into_the_relaxation_of_3_cycles():
    orders = np.array(list(permutations(range(8))))
    rank = np.argsort(orders, axis=1)
    a, b = np.nonzero(PATTERN > 0)
    assert (rank[:, a] < rank[:, b]).sum(axis=1).max() == MOST == 13
    assert _point(8)[1] == pytest.approx(13.5)


def test_names_are_rows_that_a_checker_accepts_and_say_what_the_pattern_says():
    rng = np.random.default_rng(0)
    elements = np.array([rng.permutation(12)[:8] for _ in range(30)])
    family = FAMILIES["half_dicycle"]
    for own in elements:
        name = surface_names(own[None])
        assert family.valid(LINEAR_ORDERS, name, (12, 12))
        a, b, coefficient, _, rhs = folded_half_rows(name)
        row = np.zeros((12, 12), dtype=int)
        row[a, b] = coefficient
        wanted = np.zeros((12, 12), dtype=int)
        wanted[np.ix_(own, own)] = PATTERN
        np.testing.assert_array_equal(row, np.triu(wanted))
        # x_ba = 1 - x_ab turns pairs round that descend
        assert rhs == MOST - np.count_nonzero(np.tril(wanted) > 0)
    names = surface_names(np.concatenate([elements, elements[:5]]))
    assert len(names) == len(np.unique(keys_of(names))) == len(elements)


def test_the_most_violated_surface_is_found_and_none_at_an_order():
    rng = np.random.default_rng(1)
    x, _ = _point(10)
    places = rng.permutation(10)
    mixed = np.ascontiguousarray(x[np.ix_(places, places)])
    found = violated_surfaces(mixed, 10, rng, None)
    a, b, coefficient, start, rhs = folded_half_rows(found)
    broken = np.add.reduceat(coefficient * mixed[a, b], start[:-1]) - rhs
    assert broken.min() > 0
    assert broken.max() == pytest.approx(0.5)  # of the one that is planted, and no more
    integral = np.triu(np.ones((10, 10)), 1)
    assert len(violated_surfaces(integral, 10, rng, None)) == 0
    assert len(violated_walks(integral, 10, rng, None)) == 0
    assert len(violated_surfaces(integral[:7, :7].copy(), 10, rng, None)) == 0


def test_keys_do_not_depend_on_padding():
    names = np.array([[3, 1, 0, 2, 4, 4, -1, -1, -1], [0, 1, 2, 1, 2, 3, 4, 3, 2]])
    padded = np.pad(names, ((0, 0), (0, 3)), constant_values=-1)
    np.testing.assert_array_equal(keys_of(names), keys_of(padded))
    assert keys_of(names)[0] != keys_of(names)[1]
