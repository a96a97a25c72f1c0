"""Neighbours, walks and their modes, against sets, dense matrices and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from relatum.measures import walks


def test_neighbours_are_the_nearest():
    rng = np.random.default_rng(0)
    known, new = rng.normal(size=(30, 2)), rng.normal(size=(7, 2))
    distance = np.linalg.norm(new[:, None] - known[None], axis=2)
    want = np.argsort(distance, axis=1)[:, :5]
    assert np.array_equal(walks.neighbour_sets(new, known, 5), want)


def test_similarity_is_what_two_sets_share():
    rng = np.random.default_rng(1)
    one, other = (np.array([rng.permutation(12)[:k] for _ in range(9)]) for k in (4, 5))
    found = walks.similarities(one, other, 12).toarray()
    for a in range(9):
        for b in range(9):
            left, right = set(one[a].tolist()), set(other[b].tolist())
            assert found[a, b] == pytest.approx(len(left & right) / len(left | right))


def blocks(sizes, weak):
    """Cliques, each element of which is weakly similar to all others."""
    label = np.repeat(np.arange(len(sizes)), sizes)
    return sparse.csr_array(np.where(label[:, None] == label[None, :], 1.0, weak)), label


@pytest.mark.parametrize("weak", [0.0, 1e-4])
@pytest.mark.parametrize("sizes", [(6, 6), (20, 7, 5), (9,) * 8])
def test_slow_modes_count_clusters_and_name_them(sizes, weak):
    similarity, label = blocks(sizes, weak)
    modes = walks.slow_modes(similarity, 30)
    assert len(modes.values) == len(sizes)
    assert modes.separation > walks.CONTINUUM
    unit = modes.vectors / np.linalg.norm(modes.vectors, axis=1, keepdims=True)
    alike = unit @ unit.T
    assert np.allclose(alike[label[:, None] == label[None, :]], 1.0)
    assert alike[label[:, None] != label[None, :]].max() < 0.05
    step = similarity.toarray()
    step /= step.sum(axis=1, keepdims=True)
    assert np.allclose(step @ modes.vectors, modes.vectors * modes.values)


def test_one_clique_has_one_mode():
    modes = walks.slow_modes(blocks((8,), 0.0)[0], 100)
    assert len(modes.values) == 1
    assert walks.slow_modes(sparse.csr_array(np.ones((1, 1))), 1).vectors.shape == (1, 1)


@pytest.mark.parametrize("ring", [True, False])
def test_no_gap_in_a_continuum(ring):
    """Times of modes of a ring or a segment are as 1, 1/4, 1/9, ..."""
    n = 300
    apart = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    apart = np.minimum(apart, n - apart) if ring else apart
    similarity = sparse.csr_array(np.maximum(0.0, 1.0 - apart / 8.0))
    assert walks.slow_modes(similarity, 40).separation < walks.CONTINUUM + 0.1
    assert walks.CONTINUUM == 4.0


def test_iterations_find_the_modes_of_all_parts(monkeypatch):
    rng = np.random.default_rng(2)
    x = np.vstack([rng.normal(size=(150, 2)) + np.array([9 * k, 0]) for k in range(3)])
    sets = walks.neighbour_sets(x, x, 8)
    similarity = walks.similarities(sets, sets, len(x))
    dense = walks.slow_modes(similarity, 10)
    monkeypatch.setattr(walks, "_DENSE", 20)
    some = walks.slow_modes(similarity, 10)
    assert np.allclose(some.values, dense.values, atol=1e-8)
    assert some.time == pytest.approx(dense.time, rel=1e-6)
    project = [m.vectors @ np.linalg.pinv(m.vectors) for m in (some, dense)]
    assert np.allclose(*project, atol=1e-6)
    assert np.array_equal(walks.slow_modes(similarity, 10).vectors, some.vectors)
