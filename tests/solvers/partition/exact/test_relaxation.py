"""The relaxation keeps valid bounds through rows, fixing and contraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import naive
from relatum.problem import condensed_places
from relatum.solvers.partition.arrays import square
from relatum.solvers.partition.exact.relaxation import (
    CUTS,
    Relaxation,
    contracted_weights,
    contraction_rounding,
)


def random_relaxation(seed, n=8):
    c = np.random.default_rng(seed).normal(size=n * (n - 1) // 2) * 2
    weights = square(c, n)
    return Relaxation(weights, np.full((n, n), -1, dtype=np.int8)), weights


def test_columns_are_the_places_of_a_condensed_matrix():
    for n in (2, 5, 9):
        i, j = np.triu_indices(n, 1)
        assert condensed_places(i, j, n).tolist() == list(range(len(i)))
        assert condensed_places(j, i, n).tolist() == list(range(len(i)))
        assert (square(np.arange(len(i)) + 1.0, n)[j, i] == np.arange(len(i)) + 1).all()


def test_contracted_weights_conserve_the_value_of_coarser_partitions():
    _, weights = random_relaxation(0)
    labels = np.array([0, 1, 1, 2, 0, 3, 2, 2])
    small, inside = contracted_weights(weights, labels)
    for sets in ([0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 0]):
        fine = np.array(sets)[labels]
        whole = sum(weights[a, b] for a in range(8) for b in range(a) if fine[a] == fine[b])
        part = sum(small[a, b] for a in range(4) for b in range(a) if sets[a] == sets[b])
        assert part + inside == pytest.approx(whole)


@pytest.mark.parametrize("seed", range(5))
def test_what_contraction_may_be_off_by_covers_what_it_is_off_by(seed):
    n, rng = 60, np.random.default_rng(seed)
    upper = np.triu(rng.normal(size=(n, n)) * 10.0 ** rng.integers(-6, 7, (n, n)), 1)
    weights, labels = upper + upper.T, rng.integers(0, 2 + 3 * seed, n)
    labels = np.unique(labels, return_inverse=True)[1]
    small, inside = contracted_weights(weights, labels)
    exact = [[Fraction(0)] * len(small) for _ in small]
    for a, b in zip(*np.triu_indices(n, 1), strict=True):
        low, high = sorted((labels[a], labels[b]))
        exact[low][high] += Fraction(weights[a, b])
    off = abs(sum(exact[a][a] for a in range(len(small))) - Fraction(inside))
    for a, b in zip(*np.triu_indices(len(small), 1), strict=True):
        off += abs(exact[a][b] - Fraction(small[a, b]))
    open_pairs = np.full((n, n), -1, dtype=np.int8)
    limit = contraction_rounding(weights, open_pairs, labels) + 2.0**-52 * abs(inside)
    assert 0 < off <= limit < 1e-12 * np.abs(weights).sum()
    assert contraction_rounding(weights, open_pairs, np.arange(n)) == 0


def rounds(relaxation, rng, count=6):
    for _ in range(count):
        relaxation.lp.run(200)
        relaxation.add_triangles(0.02)
        relaxation.add_wheels(0.02, rng)
        relaxation.add_two_partitions(0.02, rng)
        relaxation.drop_idle()
    relaxation.lp.run(400)


@pytest.mark.parametrize("seed", range(8))
def test_bounds_never_cut_off_the_optimum_and_fixings_agree_with_it(seed):
    relaxation, weights = random_relaxation(seed)
    best = naive.best_partition(weights, lambda row: True)
    relaxation.pack(seed)
    assert relaxation.bound >= best - 1e-9
    rounds(relaxation, np.random.default_rng(seed))
    assert relaxation.bound >= best - 1e-9
    columns, values = relaxation.fixable(best + 1e-9)
    i, j = (v[columns] for v in np.triu_indices(8, 1))
    for a, b, related in zip(i, j, values, strict=True):
        # the other value is no better
        def other(row, a=a, b=b, related=related):
            return (row[a] == row[b]) != related

        assert naive.best_partition(weights, other) <= best + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_contraction_keeps_a_valid_bound(seed):
    relaxation, weights = random_relaxation(100 + seed)
    rounds(relaxation, np.random.default_rng(seed), 3)
    before = relaxation.bound
    labels = np.array([0, 1, 2, 3, 4, 5, 6, 0])  # 0 and 7 are one
    column = condensed_places(np.array([0]), np.array([7]), 8)
    relaxation.fix(column, np.array([True]))
    small = relaxation.contracted(labels)
    best = naive.best_partition(weights, lambda row: row[0] == row[7])
    assert small.n == 7
    assert small.bound >= best - 1e-9
    names = small.lp.pool["transitive"].index
    keys = {(min(a, c), b, max(a, c)) for a, b, c in names.tolist()}
    assert len(keys) == len(names)
    rounds(small, np.random.default_rng(seed), 6)
    assert best - 1e-9 <= small.bound <= before + 5.0


def test_caps_are_rows():
    relaxation, weights = random_relaxation(7)
    relaxation.add_caps(2)
    rounds(relaxation, np.random.default_rng(0), 8)
    best = naive.best_partition(weights, lambda row: np.bincount(row).max() <= 2)
    loose = naive.best_partition(weights, lambda row: True)
    assert best - 1e-9 <= relaxation.bound < loose


def test_a_copy_is_independent():
    relaxation, _ = random_relaxation(1)
    relaxation.lp.run(50)
    relaxation.add_triangles(0.02)
    other = relaxation.copy()
    other.fix(np.array([0]), np.array([True]))
    other.add_triangles(0.0)
    assert relaxation.state[0, 1] == -1
    assert relaxation.lp.upper[0] - relaxation.lp.lower[0] == 1


def test_no_triangle_is_added_twice_and_dropped_ones_may_come_back():
    relaxation, _ = random_relaxation(2, 30)
    rng, dropped, returned = np.random.default_rng(0), set(), 0
    for _ in range(12):
        relaxation.lp.run(30)
        before = {tuple(t) for t in _triangles(relaxation)}
        relaxation.drop_idle()
        dropped |= before - {tuple(t) for t in _triangles(relaxation)}
        relaxation.lp.x = rng.random(relaxation.lp.x.size)
        relaxation.add_triangles(0.05)
        names = _triangles(relaxation)
        assert len({tuple(t) for t in names}) == len(names)
        returned += len(dropped & {tuple(t) for t in names})
    assert returned


def _triangles(relaxation):
    if "transitive" not in relaxation.lp.pool:
        return []
    names = relaxation.lp.pool["transitive"].index.tolist()
    return [(min(a, c), b, max(a, c)) for a, b, c in names]


def test_a_round_of_a_large_problem_adds_more_triangles_unless_told():
    n, rng = 300, np.random.default_rng(0)
    relaxation, _ = random_relaxation(0, n)
    relaxation.lp.x = rng.random(n * (n - 1) // 2)
    other = relaxation.copy()
    relaxation.add_triangles(0.05)
    assert CUTS.most_triangles < relaxation.lp.n_rows <= n * (n - 1) // 2
    other.add_triangles(0.05, 1000)
    assert other.lp.n_rows == 1000


def test_large_problems_get_more_two_partition_rows_all_violated_and_all_valid():
    n, rng = 240, np.random.default_rng(0)
    relaxation, _ = random_relaxation(0, n)
    relaxation.lp.x = rng.choice([0.0, 0.5], size=n * (n - 1) // 2)
    added = relaxation.add_two_partitions(0.05, rng)
    assert added > CUTS.most_two_partitions
    block = relaxation.lp.pool["two_partition"]
    assert len(block) == added
    assert (block.matrix @ relaxation.lp.x > block.high).all()
    for sets in (3, 20, 100):
        labels = rng.integers(0, sets, n)
        i, j = np.triu_indices(n, 1)
        assert (block.matrix @ (labels[i] == labels[j]) <= block.high).all()
