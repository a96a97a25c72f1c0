"""EM finds what data were drawn from, and the likelihood never falls."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.records.comparison import Scale, scales_of
from relatum.records.mixture import (
    Mixture,
    categories,
    first_guess,
    learn_mixture,
    places_of,
    sizes_of,
    weights_of_mixture,
)

M = [np.array([0.05, 0.15, 0.8]), np.array([0.2, 0.8]), np.array([0.1, 0.2, 0.7])]
U = [np.array([0.8, 0.15, 0.05]), np.array([0.9, 0.1]), np.array([0.6, 0.3, 0.1])]
SHARE = 0.2


def drawn(count=20_000, missing=0.1, seed=0):
    rng = np.random.default_rng(seed)
    match = rng.random(count) < SHARE
    codes = []
    for m, u in zip(M, U, strict=True):
        own = np.where(
            match, rng.choice(len(m), count, p=m), rng.choice(len(u), count, p=u)
        ).astype(np.int64)
        own[rng.random(count) < missing] = -1
        codes.append(own)
    return codes, match


def guess(codes):
    return np.where(codes[0] == 2, 0.7, 0.1)


def test_shares_are_found_again():
    codes, _ = drawn()
    found = learn_mixture(codes, [3, 2, 3], guess(codes))
    assert found.share == pytest.approx(SHARE, abs=0.03)
    for one, expected in zip([*found.m, *found.u], [*M, *U], strict=True):
        assert one == pytest.approx(expected, abs=0.05)
    assert all(s.sum() == pytest.approx(1) for s in (*found.m, *found.u))


def test_the_likelihood_never_falls():
    codes, _ = drawn(2_000, seed=1)
    rng = np.random.default_rng(0)
    for start in (guess(codes), rng.random(2_000)):
        told = learn_mixture(codes, [3, 2, 3], start, rounds=60).likelihood
        assert len(told) > 3
        assert (np.diff(told) > -1e-8 * abs(told[-1])).all()


def test_known_pairs_stay_as_they_are_and_help():
    codes, match = drawn(3_000, seed=2)
    known = np.full(3_000, -1, np.int8)
    known[:1_500] = match[:1_500]
    upside_down = np.where(codes[0] == 2, 0.05, 0.95)
    found = learn_mixture(codes, [3, 2, 3], upside_down, known)
    bits = found.log_odds(codes)
    assert ((bits > 0) == match)[1_500:].mean() > 0.9
    every = learn_mixture(codes, [3, 2, 3], upside_down, match.astype(np.int8))
    counts = np.bincount(codes[1][(codes[1] >= 0) & match], minlength=2) + 1.0
    assert every.m[1] == pytest.approx(counts / counts.sum())


def test_log_odds_are_sums_of_bits():
    mixture = Mixture(0.2, M, U, [])
    codes = [np.array([2, -1]), np.array([1, 0]), np.array([-1, -1])]
    expected = [-2 + 4 + 3, -2 + np.log2(0.2 / 0.9)]
    assert mixture.log_odds(codes) == pytest.approx(expected)


SCALES = (
    Scale("a", "missing", ("given", "one missing", "both missing")),
    Scale("a", "letters", ("other", "the same")),
    Scale("a", "rarity", ("any value", "rare")),
    Scale("b", "missing", ("given", "one missing", "both missing")),
    Scale("b", "value", ("other", "the same")),
)
LEVELS = np.array(
    [[0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0], [0, 2, 0, 0], [1, 0, 0, 1]], dtype=np.int8
)


def test_the_same_rare_value_is_a_category_of_its_own():
    assert sizes_of(SCALES) == [3, 2]
    found = categories(SCALES, LEVELS)
    assert [c.tolist() for c in found] == [[0, 1, 2, -1], [1, -1, 0, 1]]


def test_bits_of_levels_are_those_of_the_mixture():
    mixture = Mixture(0.3, [np.array([0.2, 0.3, 0.5]), M[1]], [np.array([0.7, 0.2, 0.1]), U[1]], [])
    weights = weights_of_mixture(mixture, SCALES)
    expected = mixture.log_odds(categories(SCALES, LEVELS))
    assert weights.log_odds(LEVELS) == pytest.approx(expected)


def test_the_most_similar_of_both_look_like_matches_at_first():
    scales = scales_of({"e": "exact"})
    levels = np.zeros((len(scales), 3), np.int8)
    levels[1] = [2, 1, 0]
    found = first_guess(scales, levels, np.array([[0, 1], [1, 2], [2, 3]]))
    assert found[0] > 0.5 > found[1]
    assert found[2] < 0.5
    assert len(places_of(scales)) == 1


def test_a_record_that_matches_at_most_one_other():
    rng = np.random.default_rng(3)
    match = np.zeros((40, 8), bool)
    match[np.arange(40), rng.integers(0, 8, 40)] = True
    match[30:] = False
    codes = [
        np.where(match, rng.choice(len(m), match.shape, p=m), rng.choice(len(u), match.shape, p=u))
        for m, u in zip(M, U, strict=True)
    ]
    codes = [own.ravel().astype(np.int64) for own in codes]
    ends = np.column_stack([np.repeat(np.arange(40), 8), 40 + np.tile(np.arange(8), 40)])
    ends[:, 1] += 8 * ends[:, 0]  # each on the other side has one candidate only
    found = learn_mixture(codes, [3, 2, 3], guess(codes), ends=ends)
    assert found.share * match.size == pytest.approx(30, abs=10)
