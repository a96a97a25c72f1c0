"""Views: bounds pair by pair, exact, and never too low where log-odds are rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import Cuts
from relatum.proof.checker.dense import dense_view
from relatum.proof.checker.numbers import Grid
from relatum.proof.checker.view import hereditary

PAIRWISE = ("reflexive", "symmetric", "antisymmetric", "connex")


def exact_view(problem):
    return dense_view(problem, Grid.of(problem))


def coarse_view(problem, bits):
    """A view that rounds all log-odds up to a coarser grid."""
    return dense_view(problem, Grid.below(Grid.of(problem).largest + bits))


def as_fraction(view, number):
    return Fraction(number) / Fraction(2) ** view.grid.shift


@pytest.mark.parametrize("mask", range(16))
def test_without_rows_the_best_is_the_optimum_of_pairwise_properties(mask):
    names = [name for k, name in enumerate(PAIRWISE) if mask >> k & 1]
    feasible = rt.RELATIONS
    for name in names:
        feasible = feasible & getattr(rt, name.upper())
    rng = np.random.default_rng(mask)
    for _ in range(10):
        c = rng.integers(-5, 6, (3, 3)) / 4
        related = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 2))]
        unrelated = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 2))]
        ys = naive.feasible(names, (3, 3), related, unrelated)
        problem = rt.Problem(c, feasible & rt.evidence(related, unrelated))
        view = exact_view(problem)
        best = view.best(view.residual(()))
        if len(ys) == 0:
            assert best is None
            continue
        assert as_fraction(view, best) == Fraction(naive.best_value(c, ys))
        pairs = np.array([(a, b) for a in range(3) for b in range(3)])
        for value in (False, True):
            bounds = view.best_if_not(view.residual(()), pairs, np.full(9, value))
            for (a, b), bound in zip(pairs.tolist(), bounds, strict=True):
                other = naive.best_value(c, ys[ys[:, a, b] != value])
                found = -math.inf if bound is None else as_fraction(view, bound)
                assert found == (other if math.isinf(other) else Fraction(other))


def naive_best(c, feasible, cuts):
    """The bound of rows and multipliers over all pairs, in fractions, pair by pair."""
    n = len(c)
    r = [[Fraction(float(x)) for x in row] for row in c]
    total = Fraction(0)
    for cut in cuts:
        for (i, j, k), y in zip(cut.index.tolist(), cut.multipliers.tolist(), strict=True):
            total += Fraction(y)
            for a, b, sign in ((i, j, 1), (j, k, 1), (i, k, -1)):
                r[a][b] -= sign * Fraction(y)
    states = [(x, y) for x in (0, 1) for y in (0, 1)]
    if feasible.has("symmetric"):
        states = [s for s in states if s[0] == s[1]]
    if feasible.has("antisymmetric", "connex"):
        states = [(0, 1), (1, 0)]
    for a in range(n):
        total += r[a][a]
        for b in range(a):
            total += max(x * r[a][b] + y * r[b][a] for x, y in states)
    return total


def test_bounds_are_those_of_fractions_and_never_lower_on_coarser_grids():
    rng = np.random.default_rng(5)
    above = 0
    for _ in range(150):
        scale = 10.0 ** rng.integers(-12, 13, (4, 4))
        feasible = (rt.PREORDERS, rt.EQUIVALENCES, rt.LINEAR_ORDERS)[rng.integers(3)]
        problem = rt.Problem(rng.normal(size=(4, 4)) * scale, feasible)
        rows = rng.permuted(np.tile(np.arange(4), (20, 1)), axis=1)[:, :3]
        y = rng.exponential(size=20) * scale.max() * 10.0 ** rng.integers(-6, 1)
        y = np.ldexp(np.rint(np.ldexp(y, 20)), -20)  # on every grid that is asked
        cuts = (Cuts("transitive", rows, y),)
        true = naive_best(problem.dense(), feasible, cuts)
        for bits in (0, 6):
            view = coarse_view(problem, bits)
            bound = as_fraction(view, view.best(view.residual(cuts)))
            unit = as_fraction(view, 1)
            # sixteen log-odds, each rounded up by less than a unit, and multipliers down by one
            assert true - 100 * unit <= bound <= true + 100 * unit
            if view.grid.shift >= 20:  # no multiplier was rounded
                assert true <= bound <= true + 16 * unit
                above += bound > true
    assert above > 20


def test_contractions_and_parts_are_never_below_those_of_fractions():
    rng = np.random.default_rng(6)
    labels = np.array([0, 0, 0, 1, 1, 2])
    given = rt.evidence(related=[(0, 1), (1, 2), (3, 4)])
    for _ in range(60):
        c = rng.normal(size=(6, 6)) * 10.0 ** rng.integers(0, 12, (6, 6))
        problem = rt.Problem(c, rt.EQUIVALENCES & given)
        exact = [[Fraction(float(x)) for x in row] for row in c]
        sums = [
            [
                sum(exact[a][b] for a in range(6) for b in range(6) if (labels[a], labels[b]) == p)
                for p in ((g, 0), (g, 1), (g, 2))
            ]
            for g in range(3)
        ]
        for bits in (0, 40):
            view = coarse_view(problem, bits).contracted(labels)
            unit = as_fraction(view, 1)
            for part in ([0, 1, 2], [2, 0]):
                (inner,) = view.divided([np.array(part)])
                true = sum(sums[g][g] for g in part) + sum(
                    max(0, sums[g][h] + sums[h][g]) for g in part for h in part if g < h
                )
                bound = as_fraction(view, inner.best(inner.residual(())))
                assert true <= bound <= true + 36 * unit
            between = as_fraction(view, view.best_between([np.array([0, 2])]))
            true = sums[1][1] + sum(max(0, sums[1][h] + sums[h][1]) for h in (0, 2))
            assert true <= between <= true + 36 * unit


def test_hereditary_properties_hold_on_every_subset():
    for name, properties in naive.NAMED.items():
        kept = hereditary(getattr(rt, name))
        ys = naive.members(properties, 3, 3)
        for elements in ([0], [2, 0], [0, 1], [0, 1, 2]):
            for y in ys[np.ix_(np.arange(len(ys)), elements, elements)]:
                assert kept.contains(rt.Relation(y)), (name, elements)
    assert hereditary(rt.EQUIVALENCES & rt.at_most(2)).cap == 2
    assert hereditary(rt.EQUIVALENCES) == rt.EQUIVALENCES
    assert hereditary(rt.TRANSITIVE & rt.HAS_IMAGE) == rt.TRANSITIVE


def test_fixing_carries_over_to_mirror_pairs_and_finds_contradictions():
    c = np.zeros((3, 3))
    view = exact_view(rt.Problem(c, rt.LINEAR_ORDERS))
    fixed = view.fixing([(0, 1)], [True])
    assert fixed.state[1, 0] == 0
    assert view.state[1, 0] == -1
    assert not fixed.empty
    assert fixed.fixing([(1, 0)], [True]).empty
    equal = exact_view(rt.Problem(c, rt.EQUIVALENCES)).fixing([(0, 1)], [False])
    assert equal.state[1, 0] == 0
    both = exact_view(rt.Problem(c, rt.SYMMETRIC & rt.ANTISYMMETRIC))
    assert both.fixing([(0, 1)], [True]).empty
    assert not both.fixing([(1, 1)], [True]).empty
    with pytest.raises(CertificateError, match=r"\(0, 3\) does not exist"):
        view.fixing([(0, 3)], [True])


def test_floor_is_on_the_grid_of_values():
    rng = np.random.default_rng(1)
    for name, properties in naive.NAMED.items():
        for _ in range(5):
            c = rng.integers(-3, 4, (3, 3)) * 3 / 8
            problem = rt.Problem(c, getattr(rt, name))
            view = exact_view(problem)
            values = {Fraction(naive.best_value(c, [y])) for y in naive.members(properties, 3, 3)}
            for value in values:
                scaled = int(value * 2**view.grid.shift)
                assert view.floor(scaled) == scaled
                # nothing feasible lies between the floor of a bound and the bound
                eighth = 2**view.grid.shift // 8
                for bound in (scaled + 1, scaled + eighth, scaled + 5 * eighth):
                    floor = as_fraction(view, view.floor(bound))
                    assert not any(floor < v <= as_fraction(view, bound) for v in values)
