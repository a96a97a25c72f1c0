"""Batches of small components: bounds hold, subsets are enumerated rightly."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.partition.polish import value_of
from relatum.kernels.tables.component_batch import (
    CONTRADICTORY,
    KEPT,
    LARGE,
    OPEN,
    OPTIMAL,
    best_of_subsets,
    solve_components,
    triangle_bound,
)
from relatum.kernels.tables.records import Components, Effort

NONE = np.empty(0, np.int64)


def random_weights(seed, n):
    rng = np.random.default_rng(seed)
    w = np.triu(rng.normal(size=(n, n)), 1)
    return w + w.T


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", [2, 4, 100])
def test_subsets_give_the_best_partition(seed, cap):
    n = 2 + seed % 5
    w, sizes = random_weights(seed, n), np.random.default_rng(seed).integers(1, 3, n)
    labels = np.empty(n, np.int64)
    value = best_of_subsets(w, sizes, cap, labels)
    assert value == pytest.approx(value_of(w, labels))
    assert np.bincount(labels, weights=sizes).max() <= cap
    assert value == pytest.approx(naive.best_capped_partition(w, sizes, cap))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("passes", [1, 3])
def test_packed_triangles_bound_every_partition(seed, passes):
    n = 3 + seed % 5
    w = random_weights(seed, n)
    bound = triangle_bound(w.copy(), passes)
    best = naive.best_capped_partition(w, np.ones(n, np.int64), n)
    assert best - 1e-9 <= bound <= np.triu(np.maximum(w, 0)).sum() + 1e-9


def test_one_conflict_is_packed_exactly():
    w = np.array([[0, 3.0, 2.0], [3.0, 0, -4.0], [2.0, -4.0, 0]])
    assert triangle_bound(w.copy(), 3) == 3.0


def random_components(seed, sizes, evidence=0, groups=False, start=False):
    """Components whose neighbours, and some other pairs, are listed."""
    rng = np.random.default_rng(seed)
    i, j, pairs, fixed, facts = [], [], [0], [], [0]
    for n in sizes:
        a, b = np.triu_indices(n, 1)
        keep = (b == a + 1) | (rng.random(len(a)) < 0.5)
        i, j = [*i, *a[keep]], [*j, *b[keep]]
        pairs.append(len(i))
        for _ in range(evidence if n > 1 else 0):
            ends = np.sort(rng.choice(n, 2, replace=False))
            fixed.append([*ends, rng.integers(0, 2)])
        facts.append(len(fixed))
    element_ptr = np.concatenate([[0], np.cumsum(sizes)])
    return Components(
        element_ptr,
        np.array(pairs),
        np.array(i, np.int32),
        np.array(j, np.int32),
        rng.normal(0.5, 1.0, len(i)),
        np.array(facts),
        np.array(fixed, np.int32).reshape(-1, 3),
        rng.integers(-1, 3, element_ptr[-1]) if groups else NONE,
        rng.integers(-1, 3, element_ptr[-1]) if start else NONE,
    )


def solved(c, effort, state=None):
    count = len(c.element_ptr) - 1
    labels, value, bound = np.zeros(c.element_ptr[-1], np.int64), np.zeros(count), np.zeros(count)
    state = np.zeros(count, np.int8) if state is None else state
    solve_components(c, effort, labels, value, bound, state)
    return labels, value, bound, state


@pytest.mark.parametrize("exact", [0, 4, 10])
@pytest.mark.parametrize("cap", [2, 3, 100])
@pytest.mark.parametrize(
    ("evidence", "groups", "start"), [(0, False, False), (1, False, True), (2, True, True)]
)
def test_components_are_solved_like_all_partitions(exact, cap, evidence, groups, start):
    sizes = [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]
    c = random_components(exact + cap, sizes, evidence, groups, start)
    background = -0.5
    labels, value, bound, state = solved(c, Effort(background, cap, 128, exact, 5))
    for k, n in enumerate(sizes):
        known = naive.component_values(c, k, background, cap)
        if state[k] == CONTRADICTORY:
            assert not known
            continue
        own = tuple(labels[c.element_ptr[k] : c.element_ptr[k] + n].tolist())
        assert value[k] == pytest.approx(known[own])  # numbered by first appearance, and allowed
        assert value[k] <= max(known.values()) + 1e-9
        assert bound[k] >= max(known.values()) - 1e-6
        assert state[k] == (OPTIMAL if bound[k] <= value[k] else OPEN)
        if n <= exact:
            assert state[k] == OPTIMAL
            assert value[k] == pytest.approx(max(known.values()))


def test_a_batch_is_solved_like_its_components_one_by_one():
    sizes = [9, 2, 30, 3, 17, 5, 12]
    c, effort = random_components(1, sizes, evidence=1, start=True), Effort(-0.3, 6, 20, 5, 3)
    together = solved(c, effort)
    for k, n in enumerate(sizes):
        e = slice(c.element_ptr[k], c.element_ptr[k + 1])
        p = slice(c.pair_ptr[k], c.pair_ptr[k + 1])
        f = slice(c.fixed_ptr[k], c.fixed_ptr[k + 1])
        own = Components(
            *(np.array([0, n]), np.array([0, p.stop - p.start]), c.i[p], c.j[p], c.log_odds[p]),
            *(np.array([0, f.stop - f.start]), c.fixed[f], NONE, c.start[e]),
        )
        labels, *rest = solved(own, effort)
        assert labels.tolist() == together[0][e].tolist()
        assert [x[0] for x in rest] == [x[k] for x in together[1:]]
    assert together[3][2] == LARGE


def test_equal_values_keep_the_start_and_kept_components_stay():
    pairs = np.array([0, 2, 4])
    i, j = np.array([0, 1, 0, 1], np.int32), np.array([1, 2, 1, 2], np.int32)
    c = Components(
        *(np.array([0, 3, 6]), pairs, i, j, np.ones(4), np.zeros(3, np.int64)),
        *(np.empty((0, 3), np.int32), NONE, np.array([0, 1, 1, 0, 1, 1])),
    )
    state = np.array([OPTIMAL, KEPT], np.int8)
    labels, value, bound, state = solved(c, Effort(-3.0, 100, 128, 10, 5), state)
    assert labels.tolist() == [0, 1, 1, 0, 0, 0]
    assert value.tolist() == [1.0, 0.0]
    assert bound.tolist() == [1.0, 0.0]
    assert state.tolist() == [OPTIMAL, KEPT]
