from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from naive.sampling import order_walk
from relatum.kernels.probability.order_chains import Ordering


def _walk(ahead, order, steps, rows, seed):
    walker = Ordering(ahead, order)
    out, values = np.empty((rows, len(order)), np.int32), np.empty(rows)
    state = np.array([seed], np.uint64)
    assert walker.draw(out, values, steps, state, None) == rows
    return out, values, walker


def _ahead(n, seed, fixed=False):
    x = np.random.default_rng(seed).normal(size=(n, n))
    ahead = x - x.T
    if fixed:
        for a, b in ((0, 2), (2, 3), (1, 3)):
            ahead[a, b], ahead[b, a] = np.inf, -np.inf
    return ahead


@pytest.mark.parametrize(("n", "fixed"), [(2, False), (3, False), (7, False), (7, True)])
def test_the_same_randomness_gives_what_the_twin_gives(n, fixed):
    ahead, steps = _ahead(n, n, fixed), (n, 3 if n > 2 else 0, 4)
    drawn, _, _ = _walk(ahead, np.arange(n), steps, 60, 17)
    assert np.array_equal(drawn, order_walk(ahead, range(n), steps, 60, 17))


@pytest.mark.parametrize(
    ("steps", "fixed"),
    # with what is fixed, blocks alone do not get everywhere
    [
        ((5, 0, 1), False),
        ((0, 6, 3), False),
        ((3, 2, 3), False),
        ((5, 0, 1), True),
        ((3, 4, 3), True),
    ],
)
def test_long_runs_are_as_probabilities_say(steps, fixed):
    n, rows = 4, 40_000
    ahead = _ahead(n, 1, fixed)
    drawn, _, _ = _walk(ahead, np.arange(n), steps, rows, 5)
    weights = {}
    for order in permutations(range(n)):
        upper = ahead[np.ix_(order, order)][np.triu_indices(n, 1)]
        if not (upper == -np.inf).any():
            weights[tuple(np.argsort(order))] = 2.0 ** (upper[np.isfinite(upper)].sum() / 2)
    total = sum(weights.values())
    seen = Counter(map(tuple, drawn.tolist()))
    assert set(seen) <= set(weights)
    assert 0.5 * sum(abs(seen[y] / rows - w / total) for y, w in weights.items()) < 0.02


def test_values_are_what_was_gained():
    n = 9
    ahead = _ahead(n, 3)
    drawn, values, walker = _walk(ahead, np.arange(n), (n, 4, 5), 50, 1)

    def value(places):
        before = places[:, None] < places[None, :]
        return ahead[before].sum() / 2

    gained = [value(places) - value(np.arange(n)) for places in drawn]
    assert values == pytest.approx(np.array(gained), abs=1e-9)
    assert 0 < walker.block_moves <= walker.blocks == 200
    assert np.array_equal(np.argsort(walker.order), drawn[-1])


def test_scores_of_thousands_of_bits_do_no_harm():
    n = 6
    ahead = 5000.0 * (np.arange(n)[None, :] - np.arange(n)[:, None])
    drawn, _, _ = _walk(ahead, np.arange(n)[::-1], (n, 3, 4), 20, 1)
    assert (drawn[-1] == np.arange(n)).all()


def test_scores_may_change_on_the_way():
    n = 6
    ahead = _ahead(n, 2)
    walker, state = Ordering(ahead, np.arange(n)), np.array([9], np.uint64)
    out, values = np.empty((8, n), np.int32), np.empty(8)
    walker.draw(out, values, (n, 2, 3), state, None)
    order, gained, now = walker.order, walker.value, int(state[0])
    walker.reheat(np.ascontiguousarray(0.25 * ahead), 0.25)
    assert walker.value == pytest.approx(0.25 * gained)
    walker.draw(out, values, (n, 2, 3), state, None)
    assert np.array_equal(out, order_walk(0.25 * ahead, order, (n, 2, 3), 8, now))
