"""Probabilities of pairs in matchings, beside enumeration of all matchings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relatum.probability.matchings import matching_probabilities


def enumerated(row, column, bits):
    """Go through all sets of pairs."""
    total, p = 0.0, np.zeros(len(row))
    for chosen in itertools.product([False, True], repeat=len(row)):
        own = np.array(chosen, dtype=bool)
        if len(set(row[own])) == own.sum() == len(set(column[own])):
            weight = 2.0 ** bits[own].sum()
            total, p = total + weight, p + weight * own
    return p / total


def random_pairs(seed, shape=(5, 4), density=0.55, scale=3.0):
    rng = np.random.default_rng(seed)
    row, column = np.nonzero(rng.random(shape) < density)
    return row, column, scale * rng.normal(size=len(row))


@pytest.mark.parametrize("seed", range(12))
def test_small_components_are_exact(seed):
    row, column, bits = random_pairs(seed)
    found = matching_probabilities(row, column, bits, (5, 4))
    assert found.exact.all()
    assert found.converged
    assert found.probabilities == pytest.approx(enumerated(row, column, bits), abs=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_messages_are_near_and_their_sum_nearer(seed):
    row, column, bits = random_pairs(seed, scale=1.0 + seed / 2)
    found = matching_probabilities(row, column, bits, (5, 4), summed=False)
    right = enumerated(row, column, bits)
    assert found.probabilities == pytest.approx(right, abs=0.06)
    assert found.probabilities.sum() == pytest.approx(right.sum(), rel=0.03)


def test_messages_are_exact_on_trees():
    # a path of seven pairs, and a star
    row = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4])
    column = np.array([0, 0, 1, 1, 2, 2, 3, 4, 5, 6])
    bits = 4 * np.random.default_rng(0).normal(size=10)
    found = matching_probabilities(row, column, bits, (5, 7), summed=False)
    assert found.exact.all()
    assert found.probabilities == pytest.approx(enumerated(row, column, bits), abs=1e-8)


def test_many_components_at_once_and_large_scores():
    parts = [random_pairs(seed, (3, 3), 0.7, 20.0) for seed in range(30)]
    row = np.concatenate([r + 3 * k for k, (r, _, _) in enumerate(parts)])
    column = np.concatenate([c + 3 * k for k, (_, c, _) in enumerate(parts)])
    bits = np.concatenate([b for _, _, b in parts])
    right = np.concatenate([enumerated(*part) for part in parts])
    found = matching_probabilities(row, column, bits, (90, 90))
    assert found.probabilities == pytest.approx(right, abs=1e-7)
    far = matching_probabilities(row, column, 50 * bits, (90, 90))
    assert np.isfinite(far.probabilities).all()


def test_a_start_changes_nothing():
    rng = np.random.default_rng(0)
    row, column = np.nonzero(rng.random((40, 40)) < 0.2)
    bits = 3 * rng.normal(size=len(row))
    cold = matching_probabilities(row, column, bits, (40, 40))
    warm = matching_probabilities(row, column, bits, (40, 40), 1.0 + cold.messages)
    assert not cold.exact.any()
    assert warm.probabilities == pytest.approx(cold.probabilities, abs=1e-7)


def test_no_pairs():
    none = np.empty(0, np.int64)
    found = matching_probabilities(none, none, np.empty(0), (3, 2))
    assert len(found.probabilities) == 0
    assert found.converged
