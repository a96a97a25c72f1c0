"""Gaps that can be proved: those of brute force in fractions, and not a bit less is believed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import naive
from relatum.pair_tables import Component, batch_of
from relatum.pair_tables.check.gaps import (
    PAIRS,
    SUBSETS,
    TRIANGLES,
    Rules,
    provable_gaps,
    proves,
    total_value,
)
from relatum.problem import float_up


def random_component(rng, n, scores):
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.8
    i, j = i[keep], j[keep]
    w = scores(len(i))
    groups = rng.integers(-1, 4, n) if rng.random() < 0.3 else None
    yes, no = np.empty((0, 2), int), np.empty((0, 2), int)
    if n > 2 and rng.random() < 0.4:
        p = rng.permutation(n)
        yes, no = p[None, :2], p[None, 1:3]
    return Component(n, i, j, w, yes, no, groups).batch()


def exact_values(batch, background, cap):
    """The exact value of every allowed clustering, by its labels."""
    n = int(batch.element_ptr[1])
    weights = {(a, b): Fraction(background) for b in range(n) for a in range(b)}
    for a, b, w in zip(batch.i.tolist(), batch.j.tolist(), batch.log_odds.tolist(), strict=True):
        weights[a, b] = Fraction(w)
    return {
        labels: sum((w for (a, b), w in weights.items() if labels[a] == labels[b]), Fraction(0))
        for labels in naive.component_values(batch, 0, background, cap)
    }


KINDS = {
    "normal": lambda rng: lambda k: 3 * rng.normal(size=k),
    "whole": lambda rng: lambda k: rng.integers(-3, 5, k).astype(float),
    "far apart": lambda rng: lambda k: rng.normal(size=k) * 10.0 ** rng.integers(-40, 40, k),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("background", [0.0, -0.1, -4.0])
def test_gaps_of_small_parts_are_those_of_brute_force(kind, background):
    rng = np.random.default_rng(7)
    ways = set()
    for turn in range(120):
        batch = random_component(rng, int(rng.integers(1, 7)), KINDS[kind](rng))
        rules = Rules(background, int(rng.choice([2, 3, 99])))
        exact = exact_values(batch, background, rules.cap)
        if not exact:
            continue
        own = list(exact)[rng.integers(len(exact))] if turn % 2 else max(exact, key=exact.get)
        labels = np.array(own, dtype=np.int64)
        gaps, method = provable_gaps(batch, labels, rules)
        ways.add(int(method[0]))
        missing = max(exact.values()) - exact[own]
        assert total_value(batch, labels, background) == exact[own]
        assert Fraction(gaps[0]) >= missing
        if kind != "far apart":  # whose scores do not fit into 107 bits
            assert gaps[0] == float_up(missing)
        assert proves(batch, labels, rules, gaps)[0].all()
        if gaps[0] > 0:
            assert not proves(batch, labels, rules, np.nextafter(gaps, 0))[0].any()
    assert ways == {PAIRS, TRIANGLES, SUBSETS} or kind == "far apart"


def test_parts_are_bounded_alike_in_every_batch():
    """A part's bound does not depend on the parts beside it: buckets may be others later."""
    rng = np.random.default_rng(1)
    block = np.repeat(np.arange(12), rng.integers(2, 40, 12))
    i, j = np.triu_indices(len(block), 1)
    keep = (block[i] == block[j]) & (rng.random(len(i)) < 0.7)
    pairs = i[keep], j[keep], 3 * rng.normal(size=int(keep.sum()))
    batch, _ = batch_of(block, pairs)
    labels = np.concatenate([np.arange(k) // 3 for k in np.bincount(block)])
    rules = Rules(-1.0, 1 << 60)
    gaps, method = provable_gaps(batch, labels, rules)
    assert set(method.tolist()) >= {TRIANGLES, SUBSETS}
    for k in range(12):
        own = block == k
        number = np.cumsum(own) - 1
        inside = own[pairs[0]]
        ends = number[pairs[0][inside]], number[pairs[1][inside]]
        alone = Component(int(own.sum()), *ends, pairs[2][inside]).batch()
        assert provable_gaps(alone, labels[own], rules)[0][0] == gaps[k]


def test_huge_gaps_prove_everything():
    batch = Component(3, [0, 1, 0], [1, 2, 2], [1e300, -1e300, 2e299]).batch()
    labels = np.arange(3)
    ok, _ = proves(batch, labels, Rules(-4.0, 99), np.array([1.7e308]))
    assert ok.all()
    gaps, _ = provable_gaps(batch, labels, Rules(0.0, 99))
    assert gaps[0] == 1e300


def test_scores_far_below_the_scale_are_not_lost():
    """1e-300 beside 1e200 is no float at the scale of the part, but it is worth something."""
    joined, apart = np.array([0, 0, 0]), np.array([0, 1, 1])
    for tiny, better, worse in ((1e-300, joined, apart), (-1e-300, apart, joined)):
        batch = Component(3, [0, 1], [1, 2], [tiny, 1e200]).batch()
        assert not proves(batch, worse, Rules(0.0, 99), np.zeros(1))[0].any()
        gap = exact_values(batch, 0.0, 99)
        least = gap[tuple(better.tolist())] - gap[tuple(worse.tolist())]
        assert least == Fraction(1e-300)
        assert Fraction(float(provable_gaps(batch, worse, Rules(0.0, 99))[0][0])) >= least
