"""Bounds of parts in two limbs equal those of plain integers, however large these are."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.checking.part_bounds import PAIRS, SUBSETS, TRIANGLES, bound_parts
from relatum.kernels.checking.records import Parts, Wide
from relatum.kernels.tables.records import Components

NONE = np.empty(0, np.int64)
WAYS = {PAIRS: "pairs", TRIANGLES: "triangles", SUBSETS: "subsets"}
LIMB = 1 << 48


def limbs(numbers):
    return np.array([[x // LIMB, x % LIMB] for x in numbers], np.int64).reshape(-1, 2).T.copy()


def random_parts(rng, sizes, bits, evidence, groups):
    """Parts with most pairs listed, and integer scores of about so many bits."""
    i, j, pairs, fixed, facts, scores = [], [], [0], [], [0], []
    for n in sizes:
        a, b = np.triu_indices(n, 1)
        keep = rng.random(len(a)) < 0.8
        i, j = [*i, *a[keep]], [*j, *b[keep]]
        pairs.append(len(i))
        fixed += [
            [*np.sort(rng.choice(n, 2, replace=False)), rng.integers(0, 2)]
            for _ in range(evidence if n > 2 else 0)
        ]
        facts.append(len(fixed))
    for _ in i:
        size = int(rng.integers(0, 1 << 30)) << max(0, bits - 30) | int(rng.integers(0, 1 << 20))
        scores.append(size * int(rng.choice([-1, 1])))
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    own = rng.integers(-1, 4, pointers[-1]) if groups else NONE
    ends = np.array(i, np.int32), np.array(j, np.int32), np.zeros(len(i))
    table = np.array(fixed, np.int32).reshape(-1, 3)
    parts = Components(pointers, np.array(pairs), *ends, np.array(facts), table, own, NONE)
    return parts, scores


def parts_of(c):
    return Parts(*c[:4], *c[5:8])  # without scores as floats, and without a start


def allowed_labels(rng, c, cap):
    """For each part some allowed clusters, numbered from 0, or None if nothing is allowed."""
    for k in range(len(c.element_ptr) - 1):
        known = list(naive.component_values(c, k, 0.0, cap))
        yield known[rng.integers(len(known))] if known else None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bits", [3, 40, 95])
@pytest.mark.parametrize(("cap", "evidence", "groups"), [(99, 0, False), (3, 1, True), (99, 2, 0)])
def test_limbs_count_as_plain_integers_do(seed, bits, cap, evidence, groups):
    rng = np.random.default_rng([seed, bits, cap])
    sizes = [1, 2, 3, 4, 5, 6, 6, 7]
    c, scores = random_parts(rng, sizes, bits, evidence, groups)
    found = list(allowed_labels(rng, c, cap))
    labels = [x for n, own in zip(sizes, found, strict=True) for x in (own or range(n))]
    background = -int(rng.integers(0, 1 << 20)) << max(0, bits - 20)
    claims = [int(rng.integers(0, 3)) << max(0, bits - 1) for _ in sizes]
    back = limbs([background] * len(sizes))
    numbers = Wide(*limbs(scores), *back, np.zeros(len(sizes), np.int64))
    rules = (cap, 6, 4)
    excess, method = np.empty((2, len(sizes)), np.int64), np.empty(len(sizes), np.int8)
    bound_parts(parts_of(c), numbers, rules, np.array(labels), limbs(claims), excess, method)
    ways = set()
    for k, own in enumerate(found):
        if own is None:
            continue
        right = naive.part_excess(c, k, scores, background, rules, labels, claims[k])
        assert (int(excess[0, k]) * LIMB + int(excess[1, k]), WAYS[method[k]]) == right
        ways.add(right[1])
    assert ways <= set(WAYS.values())
    assert "pairs" in ways


def test_every_way_is_taken_and_bounds_nothing_too_low():
    rng = np.random.default_rng(0)
    ways = set()
    for _ in range(40):
        c, scores = random_parts(rng, [5], 20, 0, False)
        known = naive.component_values(c._replace(log_odds=np.array(scores, float)), 0, -9.0, 99)
        worst = min(known, key=known.get)
        numbers = Wide(*limbs(scores), *limbs([-9]), np.zeros(1, np.int64))
        for exact in (0, 5):
            excess, method = np.empty((2, 1), np.int64), np.empty(1, np.int8)
            none = np.zeros((2, 1), np.int64)
            bound_parts(parts_of(c), numbers, (99, 9, exact), np.array(worst), none, excess, method)
            more = int(excess[0, 0]) * LIMB + int(excess[1, 0])
            best = max(known.values()) - known[worst]
            assert more == best if exact else more >= best
            ways.add(int(method[0]))
    assert ways == {PAIRS, TRIANGLES, SUBSETS}


def test_slack_is_added_and_counts_may_be_large():
    """Two thousand elements in one cluster, of which nothing is listed: a large multiple."""
    n = 2000
    empty = np.empty(0, np.int32)
    none = (np.zeros(2, np.int64), np.empty((0, 3), np.int32), NONE, NONE)
    c = Components(np.array([0, n]), np.zeros(2, np.int64), empty, empty, np.empty(0), *none)
    background = -(1 << 80) - 12345
    numbers = Wide(NONE, NONE, *limbs([background]), np.array([7]))
    excess, method = np.empty((2, 1), np.int64), np.empty(1, np.int8)
    labels = np.zeros(n, np.int64)
    bound_parts(
        parts_of(c), numbers, (n, 128, 12), labels, np.zeros((2, 1), np.int64), excess, method
    )
    assert int(excess[0, 0]) * LIMB + int(excess[1, 0]) == -background * (n * (n - 1) // 2) + 7
    assert method[0] == PAIRS


@pytest.mark.parametrize("seed", range(40))
def test_chains_and_rings_of_related_elements_are_contracted(seed):
    """Most elements are known to be related, in any order, some of them twice."""
    rng = np.random.default_rng([seed, 77])
    n, bits = int(rng.integers(4, 30)), 12
    c, scores = random_parts(rng, [n], bits, 0, False)
    sets = rng.integers(0, rng.integers(1, 6), n)
    order = rng.permutation(n)
    ring = [(a, b) for a, b in zip(order, np.roll(order, 1), strict=True) if sets[a] == sets[b]]
    more = [(a, b) for a, b in rng.integers(0, n, (2 * n, 2)) if sets[a] == sets[b] and a != b]
    facts = [[*sorted(pair), 1] for pair in [*ring, *more, *ring[:2]]]
    fixed = np.array(facts, np.int32).reshape(-1, 3)
    c = c._replace(fixed_ptr=np.array([0, len(fixed)]), fixed=rng.permutation(fixed))
    numbers = Wide(*limbs(scores), *limbs([-3]), np.zeros(1, np.int64))
    excess, method = np.empty((2, 1), np.int64), np.empty(1, np.int8)
    rules = (99, 9, 5)
    none = np.zeros((2, 1), np.int64)
    bound_parts(parts_of(c), numbers, rules, sets, none, excess, method)
    right = naive.part_excess(c, 0, scores, -3, rules, sets, 0)
    assert (int(excess[0, 0]) * LIMB + int(excess[1, 0]), WAYS[method[0]]) == right


def test_a_long_chain_is_one_element():
    """Names are given away a number of times that grows with the logarithm of the elements."""
    n = 200_000
    fixed = np.column_stack([np.arange(n - 1), np.arange(1, n), np.ones(n - 1)]).astype(np.int32)
    empty = np.empty(0, np.int32)
    c = Parts(
        np.array([0, n]), np.zeros(2, np.int64), empty, empty, np.array([0, n - 1]), fixed, NONE
    )
    numbers = Wide(NONE, NONE, *limbs([-5]), np.zeros(1, np.int64))
    excess, method = np.empty((2, 1), np.int64), np.empty(1, np.int8)
    none = np.zeros((2, 1), np.int64)
    bound_parts(c, numbers, (n, 128, 12), np.zeros(n, np.int64), none, excess, method)
    assert (int(excess[0, 0]), int(excess[1, 0])) == (0, 0)  # together is all that is allowed
