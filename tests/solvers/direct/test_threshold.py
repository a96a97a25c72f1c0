"""The threshold solver against brute force, on all sixteen pairwise sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.direct.threshold import solve
from relatum.solvers.registry import SOLVERS

PAIRWISE = ("reflexive", "symmetric", "antisymmetric", "connex")


@pytest.mark.parametrize("mask", range(16))
def test_it_equals_brute_force(mask):
    names = [name for k, name in enumerate(PAIRWISE) if mask >> k & 1]
    feasible = rt.RELATIONS
    for name in names:
        feasible = feasible & getattr(rt, name.upper())
    rng = np.random.default_rng(mask)
    for number in range(12):
        related = [tuple(rng.integers(0, 3, 2).tolist())] if number % 2 else []
        unrelated = [tuple(rng.integers(0, 3, 2).tolist())] if number % 3 else []
        c = rng.integers(-2, 3, (3, 3)).astype(np.float32 if number % 2 else float)
        problem = rt.Problem(c, feasible & rt.evidence(related, unrelated))
        assert SOLVERS["threshold"].refuses(problem) is None
        outcome = solve(problem, Control())
        ys = naive.feasible(names, (3, 3), related, unrelated)
        best = naive.best_value(c.astype(float), ys)
        check_certificate(problem, Certificate(outcome.bound, outcome.proof))
        if len(ys) == 0:
            assert outcome.relation is None
            assert outcome.bound == -math.inf
            continue
        assert problem.feasible.contains(outcome.relation)
        assert problem.value(outcome.relation) == pytest.approx(best)
        assert outcome.bound == pytest.approx(best, abs=1e-9)


def test_ties_go_to_fewer_pairs():
    assert rt.infer(rt.Problem(np.zeros((3, 2)))).relation.n_pairs == 0
    assert rt.infer(rt.Problem(np.zeros((3, 3)), rt.SYMMETRIC)).relation.n_pairs == 0


def test_it_refuses_what_ties_pairs_together(monkeypatch):
    refuses = SOLVERS["threshold"].refuses
    c = np.zeros((3, 3))
    for other in (rt.TRANSITIVE, rt.HAS_IMAGE, rt.UNIQUE_PREIMAGE, rt.at_most(2)):
        assert "tie pairs together" in refuses(rt.Problem(c, other))
    assert refuses(rt.Problem(c, rt.at_most(3))) is None  # no more than there are
    assert refuses(rt.Problem(c, rt.REFLEXIVE & rt.SYMMETRIC & rt.CONNEX)) is None
    monkeypatch.setattr("relatum.solvers.direct.threshold.DENSE_LIMIT", 8)
    assert "does not fit" in refuses(rt.Problem(c))
