"""Bounds by prices of elements: valid, tight where they can be, refused where they are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import Certificate, Cuts, Prices
from relatum.proof.checker.numbers import Grid
from relatum.proof.checker.sets import best_by_prices
from relatum.proof.checker.sparse import view_for
from relatum.proof.checker.verification import check_certificate
from relatum.proof.checker.view import Effort


def random_case(seed):
    """A capped problem with evidence now and then, random prices, and the best value."""
    rng = np.random.default_rng(seed)
    n, cap = 6, int(rng.integers(2, 5))
    c = rng.normal(size=(n, n)).round(2)
    feasible = rt.EQUIVALENCES & rt.at_most(cap)
    allowed = [lambda row: np.bincount(row).max() <= cap]
    if seed % 2:
        feasible = feasible & rt.evidence(related=[(0, 1)], unrelated=[(2, 3)])
        allowed += [lambda row: row[0] == row[1], lambda row: row[2] != row[3]]
    problem = rt.Problem(c, feasible)
    value = naive.best_partition(np.triu(c + c.T, 1), lambda row: all(f(row) for f in allowed))
    return problem, value + float(np.trace(c)), rng


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("bits", [0, 60])
def test_any_prices_bound_the_value(seed, bits):
    problem, value, rng = random_case(seed)
    view = view_for(problem, Grid.below(Grid.of(problem).largest + bits))
    index = np.array([[problem.feasible.cap, 0, 1, 2, 3], [problem.feasible.cap, 1, 4, 5, -1]])
    for scale in (0.0, 0.5, 2.0):
        prices = (rng.random(6) * scale).round(3)
        cuts = (Cuts("capped_set", index, rng.random(2).round(2)),) if scale < 2 else ()
        bound = view.grid.bits(best_by_prices(view, cuts, prices, Effort()))
        assert bound >= value - 1e-9
        if not cuts:  # prices, the diagonal, and what the best set has above its prices
            assert bound >= prices.sum() + np.trace(problem.log_odds) - 1e-9


def test_prices_that_every_set_keeps_to_are_the_bound():
    problem = rt.Problem([2.0, 1.5, 1.75], rt.EQUIVALENCES & rt.at_most(2))
    good = Certificate(3.0, Prices((), np.ones(3)))
    assert check_certificate(problem, good)
    row = Cuts("capped_set", np.array([[2, 0, 1, 2]]), np.array([2.0]))
    assert check_certificate(problem, Certificate(2.0, Prices((row,), np.zeros(3))))
    with pytest.raises(CertificateError, match="above the claimed"):
        check_certificate(problem, Certificate(2.5, Prices((), np.ones(3))))
    # half a bit less and the best pair has a bit more than its prices
    with pytest.raises(CertificateError, match="above the claimed"):
        check_certificate(problem, Certificate(2.0, Prices((), np.full(3, 0.5))))


def test_evidence_that_leaves_nothing_bounds_nothing():
    facts = rt.evidence(related=[(0, 1), (1, 2)])
    problem = rt.Problem([1.0, 1.0, 1.0], rt.EQUIVALENCES & rt.at_most(2) & facts)
    assert best_by_prices(view_for(problem, Grid.of(problem)), (), np.zeros(3), Effort()) is None


@pytest.mark.parametrize(
    ("feasible", "prices", "match"),
    [
        (rt.EQUIVALENCES & rt.at_most(2), [1.0, 1.0], "a price"),
        (rt.EQUIVALENCES & rt.at_most(2), [1.0, math.nan, 1.0], "a price"),
        (rt.EQUIVALENCES & rt.at_most(2), [1e300, 1.0, 1.0], "far more"),
        (rt.PREORDERS, [1.0, 1.0, 1.0], "about partitions"),
    ],
)
def test_other_prices_are_refused(feasible, prices, match):
    problem = rt.Problem(np.zeros((3, 3)), feasible)
    with pytest.raises(CertificateError, match=match):
        best_by_prices(view_for(problem, Grid.of(problem)), (), np.array(prices), Effort())
