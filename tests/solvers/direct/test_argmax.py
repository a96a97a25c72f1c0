"""Maps by argmax, and caps with evidence, against brute force and numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.direct.argmax import solve
from relatum.solvers.registry import SOLVERS

SETS = {
    "MAPS": ("has_image", "unique_image"),
    "PARTIAL_MAPS": ("unique_image",),
    "HAS_IMAGE": ("has_image",),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("cap", [None, 1, 2, 3])
def test_it_equals_brute_force(name, cap):
    rng = np.random.default_rng(cap or 0)
    for number in range(40):
        shape = (int(rng.integers(1, 4)), int(rng.integers(1, 5)))
        c = rng.integers(-2, 3, shape) * 1.0 if number % 2 else rng.normal(size=shape)

        def pairs(count, shape=shape):
            return [tuple(int(rng.integers(k)) for k in shape) for _ in range(count)]

        related, unrelated = pairs(rng.integers(0, 2)), pairs(rng.integers(0, 4))
        feasible = getattr(rt, name) & rt.evidence(related, unrelated)
        feasible = feasible if cap is None else feasible & rt.at_most(cap)
        problem = rt.Problem(c.astype(np.float32) if number % 3 == 0 else c, feasible)
        assert SOLVERS["argmax"].refuses(problem) is None
        outcome = solve(problem, Control())
        ys = naive.feasible(SETS[name], shape, related, unrelated, cap)
        check_certificate(problem, Certificate(outcome.bound, outcome.proof))
        if len(ys) == 0:
            assert outcome.bound == -math.inf
            continue
        best = naive.best_value(problem.dense(), ys)
        assert feasible.contains(outcome.relation)
        assert problem.value(outcome.relation) == pytest.approx(best)
        assert outcome.bound == pytest.approx(best, abs=1e-9)


def test_large_maps_are_numpys_argmax():
    rng = np.random.default_rng(0)
    c = rng.normal(size=(5000, 30)).astype(np.float32)
    e = rt.infer(rt.Problem(c, rt.MAPS))
    assert np.array_equal(e.relation.labels, c.argmax(axis=1))
    assert e.status is rt.Status.OPTIMAL
    assert e.value == pytest.approx(c.max(axis=1).astype(np.float64).sum())
    partial = rt.infer(rt.Problem(c - 2, rt.PARTIAL_MAPS))
    expected = np.where((c - 2).max(axis=1) > 0, c.argmax(axis=1), -1)
    assert np.array_equal(partial.relation.labels, expected)
    small = rt.Problem(c[:300], rt.MAPS)
    assert rt.verify(small, rt.infer(small))


def test_sparse_maps():
    problem = rt.Problem.from_pairs(
        [0, 1, 1], [1, 0, 2], [3.0, -5.0, 2.0], n=(3, 3), background=-1.0, feasible=rt.MAPS
    )
    e = rt.infer(problem)
    assert e.relation.labels.tolist() == [1, 2, 0]
    assert e.value == 4.0
    assert rt.verify(problem, e)


def test_it_refuses_what_ties_rows_together(monkeypatch):
    refuses = SOLVERS["argmax"].refuses
    c = np.zeros((3, 3))
    for other in (rt.INJECTIONS, rt.MAPS & rt.HAS_PREIMAGE, rt.TRANSITIVE):
        assert "other properties tie them" in refuses(rt.Problem(c, other))
    monkeypatch.setattr("relatum.solvers.direct.argmax.DENSE_LIMIT", 8)
    assert "does not fit" in refuses(rt.Problem(c, rt.MAPS))
