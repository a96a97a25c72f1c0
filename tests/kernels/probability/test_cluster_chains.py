from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from naive.probability import partitions
from naive.sampling import cluster_walk
from relatum.kernels.probability.cluster_chains import Clustering

N = 5


def _rows(above):
    """Neighbours whose scores are not the background."""
    i, j = np.nonzero(above)
    start = np.searchsorted(i, np.arange(len(above) + 1)).astype(np.int64)
    return start, j.astype(np.int32), above[i, j]


def _case(kind):
    """Scores above the background, sizes, background, cap."""
    rng = np.random.default_rng(3)
    above = np.triu(rng.normal(size=(N, N)) * 2, 1)
    sizes, background, cap = np.ones(N, np.int64), 0.0, N
    if kind == "apart":
        above[0, 1] = above[2, 4] = -np.inf
    if kind in ("sparse", "all"):
        above *= rng.random((N, N)) < 0.5
        background = -0.4
    if kind in ("cap", "all"):
        cap = 3
    if kind in ("sizes", "all"):
        sizes, background = np.array([2, 1, 1, 1, 2]), -0.3
        above[1, 3] = -np.inf
    return above + above.T, sizes, background, cap


def _probabilities(above, sizes, background, cap):
    weights = {}
    for labels in partitions(N):
        labels = np.array(labels)
        same = np.triu(labels[:, None] == labels[None, :], 1)
        bits = (above[same] + background * (sizes[:, None] * sizes[None, :])[same]).sum()
        if np.bincount(labels, weights=sizes).max() <= cap and np.isfinite(bits):
            weights[_first(labels)] = 2.0**bits
    total = sum(weights.values())
    return {y: w / total for y, w in weights.items()}


def _first(labels):
    """Each element's set, by its first element."""
    labels = list(labels)
    return tuple(labels.index(c) for c in labels)


def _walk(case, labels, steps, rows, seed=1):
    above, sizes, background, cap = case
    walker = Clustering(_rows(above), sizes, background, cap, labels)
    out, values = np.empty((rows, len(sizes)), np.int32), np.empty(rows)
    assert walker.draw(out, values, steps, np.array([seed], np.uint64), None) == rows
    return out, values, walker


@pytest.mark.parametrize("kind", ["plain", "apart", "sparse", "cap", "sizes", "all"])
@pytest.mark.parametrize("steps", [(2 * N, 0), (0, 2 * N), (3, 3)], ids=["moves", "pairs", "both"])
def test_long_runs_are_as_probabilities_say(kind, steps):
    case, rows = _case(kind), 40_000
    p = _probabilities(*case)
    drawn, _, walker = _walk(case, np.arange(N), steps, rows)
    seen = Counter(map(_first, drawn.tolist()))
    assert set(seen) <= set(p)
    assert 0.5 * sum(abs(seen[y] / rows - q) for y, q in p.items()) < 0.025
    if steps[1]:
        assert 0 < walker.splits <= walker.proposed_splits
        assert abs(walker.splits - walker.joins) <= (N if steps[0] == 0 else walker.moves)


@pytest.mark.parametrize("kind", ["plain", "apart", "sparse", "cap", "sizes", "all"])
@pytest.mark.parametrize("steps", [(4, 0), (0, 4), (5, 5)], ids=["moves", "pairs", "both"])
def test_the_same_randomness_gives_what_the_twin_gives(kind, steps):
    case = _case(kind)
    drawn, _, _ = _walk(case, np.arange(N), steps, 60, seed=17)
    assert np.array_equal(drawn, cluster_walk(*case, np.arange(N), steps, 60, 17))


def test_the_twin_agrees_on_more_elements():
    n, rng = 14, np.random.default_rng(5)
    above = np.triu(rng.normal(size=(n, n)), 1) * (rng.random((n, n)) < 0.6)
    case = above + above.T, np.ones(n, np.int64), -0.2, 6
    drawn, _, walker = _walk(case, np.arange(n), (n, 6), 40, seed=3)
    assert np.array_equal(drawn, cluster_walk(*case, np.arange(n), (n, 6), 40, 3))
    assert walker.splits > 5
    assert walker.joins > 5


def test_scores_may_change_on_the_way():
    above, sizes, background, cap = _case("sparse")
    start, other, entries = _rows(above)
    walker = Clustering((start, other, entries), sizes, background, cap, np.arange(N))
    rows, state = 20_000, np.array([4], np.uint64)
    out, values = np.empty((rows, N), np.int32), np.empty(rows)
    walker.draw(out[:9], values[:9], (5, 5), state, None)
    gained = walker.value
    walker.reheat(0.5 * entries, 0.5 * background, 0.5)
    assert walker.value == 0.5 * gained
    walker.draw(out, values, (5, 5), state, None)
    seen = Counter(map(_first, out.tolist()))
    p = _probabilities(0.5 * above, sizes, 0.5 * background, cap)
    assert 0.5 * sum(abs(seen[y] / rows - q) for y, q in p.items()) < 0.025


def test_values_are_what_was_gained():
    n, rng = 40, np.random.default_rng(0)
    above = np.triu(rng.normal(size=(n, n)), 1) * (rng.random((n, n)) < 0.5)
    case = above + above.T, np.ones(n, np.int64), -0.2, n
    drawn, values, walker = _walk(case, np.arange(n), (n, 10), 30)

    def value(labels):
        same = np.triu(labels[:, None] == labels[None, :], 1)
        return (above[same] - 0.2).sum()

    assert values == pytest.approx(np.array([value(labels) for labels in drawn]), abs=1e-9)
    assert np.array_equal(walker.labels, drawn[-1])


def test_scores_of_thousands_of_bits_do_no_harm():
    above = np.full((N, N), 3000.0)
    above[:2, 2:] = above[2:, :2] = -3000.0
    np.fill_diagonal(above, 0.0)
    drawn, _, _ = _walk((above, np.ones(N, np.int64), 0.0, N), np.arange(N), (N, N), 30)
    assert _first(drawn[-1]) == (0, 0, 2, 2, 2)


def test_one_element():
    case = np.zeros((1, 1)), np.ones(1, np.int64), -1.0, 1
    assert (_walk(case, np.zeros(1), (3, 3), 4)[0] == 0).all()
