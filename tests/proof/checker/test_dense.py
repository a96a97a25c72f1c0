"""Views: bounds pair by pair, in exact and in rounded arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.arithmetic import Exact, Rounded, exponent_needed
from relatum.proof.certificate import Cuts
from relatum.proof.checker.dense import dense_view
from relatum.proof.checker.view import hereditary

PAIRWISE = ("reflexive", "symmetric", "antisymmetric", "connex")


def exact_view(problem, *numbers):
    values = [problem.dense(), *numbers]
    return dense_view(problem, Exact(max(exponent_needed(np.asarray(v)) for v in values)))


def as_fraction(view, number):
    return Fraction(number) / 2**view.arithmetic.shift


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
            assert best == -math.inf
            continue
        assert as_fraction(view, best) == Fraction(naive.best_value(c, ys))
        pairs = np.array([(a, b) for a in range(3) for b in range(3)])
        for value in (False, True):
            bounds = view.best_if_not(view.residual(()), pairs, np.full(9, value))
            for (a, b), bound in zip(pairs.tolist(), bounds, strict=True):
                other = naive.best_value(c, ys[ys[:, a, b] != value])
                found = -math.inf if bound == -math.inf else as_fraction(view, bound)
                assert found == (other if math.isinf(other) else Fraction(other))


@pytest.mark.slow
def test_rounded_bounds_are_never_below_exact_ones():
    rng = np.random.default_rng(5)
    far = 0
    for _ in range(300):
        scale = 10.0 ** rng.integers(0, 18, (4, 4))
        feasible = (rt.PREORDERS, rt.EQUIVALENCES, rt.LINEAR_ORDERS)[rng.integers(3)]
        problem = rt.Problem(rng.normal(size=(4, 4)) * scale, feasible)
        rows = rng.permuted(np.tile(np.arange(4), (40, 1)), axis=1)[:, :3]
        y = rng.exponential(size=40) * 10.0 ** rng.integers(0, 18)
        cuts = (Cuts("transitive", rows, y),)
        exact, rounded = exact_view(problem, y), dense_view(problem, Rounded())
        true = as_fraction(exact, exact.best(exact.residual(cuts)))
        bound = rounded.best(rounded.residual(cuts))
        assert Fraction(bound) >= true
        magnitude = float(np.abs(problem.dense()).sum() + 4 * y.sum())
        assert bound - true <= 1e-12 * magnitude  # safe, and still of use
        pairs = np.array([(0, 1), (1, 0), (2, 2)])
        values = np.array([True, False, True])
        others = zip(
            exact.best_if_not(exact.residual(cuts), pairs, values),
            rounded.best_if_not(rounded.residual(cuts), pairs, values),
            strict=True,
        )
        for e, r in others:
            assert r == e == -math.inf or Fraction(r) >= as_fraction(exact, e)
        far += bound > true
    assert far > 100


@pytest.mark.slow
def test_rounded_contraction_is_never_below_the_exact_one():
    rng = np.random.default_rng(6)
    for _ in range(100):
        n = 6
        labels = np.array([0, 0, 0, 1, 1, 2])
        given = rt.evidence(related=[(0, 1), (1, 2), (3, 4)])
        c = rng.normal(size=(n, n)) * 10.0 ** rng.integers(0, 18, (n, n))
        problem = rt.Problem(c, rt.EQUIVALENCES & given)
        exact, rounded = exact_view(problem), dense_view(problem, Rounded())
        for part in (np.arange(3), np.array([2, 0])):
            views = [v.contracted(labels).restricted(part) for v in (exact, rounded)]
            e, r = (v.best(v.residual(())) for v in views)
            assert Fraction(r) >= as_fraction(exact, e)
        e, r = (v.contracted(labels).best_between([np.array([0, 2])]) for v in (exact, rounded))
        assert Fraction(r) >= as_fraction(exact, e)


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
                scaled = int(value * 2**view.arithmetic.shift)
                assert view.floor(scaled) == scaled
                # nothing feasible lies between the floor of a bound and the bound
                for bound in (scaled + 1, scaled + 2, scaled + 5):
                    floor = as_fraction(view, view.floor(bound))
                    assert not any(floor < v <= as_fraction(view, bound) for v in values)
