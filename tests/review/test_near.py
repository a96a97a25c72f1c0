"""Neighbourhoods against their definition: every near pair is somewhere, nothing is too large."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.review.near import largest_of, neighbourhoods, sources_of


def random_table(seed, n=60):
    rng = np.random.default_rng(seed)
    component = rng.integers(0, 25, n)
    roots = np.array([np.flatnonzero(component == c)[0] for c in component])
    i, j = np.triu_indices(n, 1)
    keep = (roots[i] != roots[j]) & (rng.random(len(i)) < 0.04)
    i, j = i[keep], j[keep]
    bits = np.sort(rng.uniform(-6, 0, len(i)))[::-1]
    return roots, (i, j, bits)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("largest", [1, 8, 20, 1000])
def test_every_near_pair_is_looked_at_somewhere(seed, largest):
    roots, pairs = random_table(seed)
    own, count = np.unique(roots, return_counts=True)
    size = dict(zip(own.tolist(), count.tolist(), strict=True))
    found = neighbourhoods(roots, pairs, np.zeros(len(own)), np.ones(len(roots)), largest)
    whole = [found.roots(k) for k in range(len(found)) if not found.is_between(k)]
    twos = [found.roots(k) for k in range(len(found)) if found.is_between(k)]
    assert sorted(r for hood in whole for r in hood) == own.tolist()
    for hood in whole:
        assert sum(size[r] for r in hood) <= largest or len(hood) == 1
    assert all(len(two) == 2 for two in twos)
    for a, b in zip(roots[pairs[0]].tolist(), roots[pairs[1]].tolist(), strict=True):
        inside = any(a in hood and b in hood for hood in whole)
        assert inside != (sorted((a, b)) in [sorted(two) for two in twos])
    for k in range(len(found)):
        assert found.size[k] == sum(size[r] for r in found.roots(k))


def test_what_a_question_may_put_right_grows_with_clusters_and_scores():
    roots = np.array([0, 0, 2, 2, 4])
    pairs = np.array([0, 2]), np.array([2, 4]), np.array([-1.0, -3.0])
    sizes = np.array([2, 2, 2, 2, 1])
    found = neighbourhoods(roots, pairs, np.array([0.1, 0.0, 0.0]), sizes, 1000)
    assert found.roots(0) == [0, 2, 4]
    assert found.guess.tolist() == pytest.approx([4 / 3])  # 2 * 2 pairs, with probability 1/3
    apart = neighbourhoods(roots, pairs, np.array([0.1, 0.0, 0.0]), sizes, 1)
    told = {tuple(apart.roots(k)): apart.guess[k] for k in range(len(apart))}
    assert told == pytest.approx({(0,): 0.1, (2,): 0, (4,): 0, (0, 2): 4 / 3, (2, 4): 2 / 9})


def test_pairs_beside_some_elements():
    roots = np.array([0, 0, 2, 2, 4])
    pairs = np.array([1, 0]), np.array([2, 4]), np.array([-1.0, -3.0])
    found = neighbourhoods(roots, pairs, np.zeros(3), np.ones(5), 1000)
    assert found.beside(np.array([2, 3]), 5) == [(2, 1, -1.0)]
    assert found.beside(np.array([0, 1]), 5) == [(1, 2, -1.0), (0, 4, -3.0)]
    assert found.beside(np.array([0, 1]), 1) == [(1, 2, -1.0)]
    assert found.bits_of(2, 1) == -1.0
    assert found.bits_of(0, 2) is None


def test_matchings_of_two_sources_may_be_larger():
    assert sources_of(np.array([3, 3, 5, -1])) == 2
    assert largest_of(np.array([3, 3, 5, -1])) > largest_of(None)
    assert largest_of(np.array([3, 4, 5, -1])) == largest_of(None)
