"""Contraction of must-links: lossless, with a proof for the whole."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.reductions import Contraction, checkable
from relatum.solvers.reductions.contraction import groups_of_must_links


def test_the_contracted_problem_has_the_same_optimum():
    rng = np.random.default_rng(0)
    smaller = 0
    for number in range(60):
        related = [tuple(rng.choice(4, 2, replace=False).tolist()) for _ in range(2)]
        unrelated = [tuple(rng.choice(4, 2, replace=False).tolist())]
        groups = [0, 1, 2, 0] if number % 3 == 0 else None
        feasible = rt.EQUIVALENCES & rt.evidence(related, unrelated)
        feasible = feasible if groups is None else feasible & rt.one_per_group(groups)
        ys = naive.feasible(naive.NAMED["EQUIVALENCES"], (4, 4), related, unrelated, groups=groups)
        if len(ys) == 0:
            continue
        c = rng.normal(size=(4, 4)) * 10.0 ** rng.integers(0, 6, (4, 4))
        if number % 2:
            c = c.astype(np.float32)
        problem = rt.Problem(c, feasible)
        best = naive.best_value(problem.dense(), ys)
        assert Contraction().accepts(problem)
        reduced = Contraction().apply(problem)
        (small,) = reduced.parts
        smaller += small.n
        e = rt.infer(small, prove=True)
        scale = float(np.abs(c).sum())
        assert float(reduced.constant) + e.value == pytest.approx(best, abs=1e-10 * scale)
        relation = reduced.invert([e.relation])
        assert feasible.contains(relation)
        assert reduced.divide(relation)[0] == e.relation
        bound, proof = checkable(problem, *reduced.prove([e.bound], [e.certificate.proof]))
        assert e.bound <= bound <= e.bound + 1e-12 * scale
        check_certificate(problem, Certificate(bound, proof))
        whole = rt.infer(problem, solver="branch_and_cut", prove=True)
        assert rt.verify(problem, whole), rt.verify(problem, whole).reason
        assert whole.value == pytest.approx(best, abs=1e-10 * scale)
    assert smaller > 50


def test_what_does_not_contract():
    given = rt.evidence(related=[(0, 1)])
    c = np.zeros((3, 3))
    accepts = Contraction().accepts
    assert accepts(rt.Problem(c, rt.EQUIVALENCES & given))
    assert not accepts(rt.Problem(c, rt.EQUIVALENCES & given & rt.at_most(2)))
    assert not accepts(rt.Problem(c, rt.EQUIVALENCES & given & rt.CONNEX))
    assert not accepts(rt.Problem(c, rt.PREORDERS & given))
    assert not accepts(rt.Problem(c, rt.EQUIVALENCES & rt.evidence([(1, 1)])))
    assert not accepts(rt.Problem(c, rt.EQUIVALENCES))


def test_groups_are_connected_components():
    labels = groups_of_must_links(np.array([[0, 3], [3, 4], [1, 1]]), 6)
    assert rt.Partition(labels) == rt.Partition([0, 1, 2, 0, 0, 3])
