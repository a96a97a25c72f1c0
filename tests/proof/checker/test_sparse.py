"""The sparse view agrees with the dense view wherever both can be had."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.arithmetic import Exact, Rounded, exponent_needed
from relatum.proof.certificate import Certificate, Contract, Cuts, Decompose, Fix, Leaf
from relatum.proof.checker.dense import DenseView, dense_view
from relatum.proof.checker.sparse import SparseView, view_for
from relatum.proof.checker.verification import check_certificate


def _problem(rng: np.random.Generator, background: float) -> rt.Problem:
    n = 9
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.6
    scores = rng.integers(-16, 17, keep.sum()) / 4
    known = rt.evidence(related=[(0, 3)], unrelated=[(1, 2), (5, 8)])
    feasible = rt.EQUIVALENCES & known & rt.one_per_group([0, 1, 2, 3, 0, 4, 5, 6, 7])
    rows, columns = np.append(i[keep], 4), np.append(j[keep], 4)  # one scored diagonal entry
    return rt.Problem.from_pairs(
        rows, columns, np.append(scores, 1.5), n=n, background=background, feasible=feasible
    )


def _both(problem, monkeypatch) -> tuple[SparseView, DenseView]:
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    sparse = view_for(problem, Exact(8))
    assert isinstance(sparse, SparseView)
    return sparse, dense_view(problem, Exact(8))


def _cuts(rng: np.random.Generator) -> tuple[Cuts, ...]:
    triples = np.array([rng.permutation(9)[:3] for _ in range(12)])
    return (Cuts("transitive", triples, rng.integers(0, 9, 12) / 8),)


@pytest.mark.parametrize("background", [-1.25, 0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_bounds_agree(monkeypatch, background, seed):
    rng = np.random.default_rng(seed)
    sparse, dense = _both(_problem(rng, background), monkeypatch)
    cuts = _cuts(rng)
    a, b = sparse.residual(cuts), dense.residual(cuts)
    if background <= 0:
        assert sparse.best(a) == dense.best(b)
    else:  # unlisted pairs of a group are not known to be unrelated one by one
        assert sparse.best(a) >= dense.best(b)
    pairs = np.array([[0, 1], [6, 2], [1, 2], [3, 0]])
    values = np.array([True, False, False, True])
    if background <= 0:
        assert sparse.best_if_not(a, pairs, values) == dense.best_if_not(b, pairs, values)


@pytest.mark.parametrize("seed", range(5))
def test_parts_and_contractions_agree(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    sparse, dense = _both(_problem(rng, -0.5), monkeypatch)
    parts = [np.array([0, 3, 5]), np.array([7, 1])]
    assert sparse.best_between(parts) == dense.best_between(parts)
    inner, outer = sparse.restricted(parts[0]), dense.restricted(parts[0])
    assert inner.best(inner.residual(())) == outer.best(outer.residual(()))


@pytest.mark.parametrize("seed", range(5))
def test_contractions_are_valid_bounds(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(8, 1)
    keep = rng.random(len(i)) < 0.5
    problem = rt.Problem.from_pairs(
        i[keep],
        j[keep],
        rng.integers(-9, 9, keep.sum()).astype(float),
        n=8,
        background=-1.0,
        feasible=rt.EQUIVALENCES & rt.evidence(related=[(0, 3), (3, 5)], unrelated=[(0, 1)]),
    )
    sparse, dense = _both(problem, monkeypatch)
    labels = np.array([0, 1, 2, 0, 3, 0, 4, 5])
    a, b = sparse.contracted(labels), dense.contracted(labels)
    # backgrounds of contracted pairs may be replaced by one of them, which is larger
    assert a.best(a.residual(())) == b.best(b.residual(()))
    triple = (Cuts("transitive", np.array([[0, 2, 3], [4, 2, 5]]), np.array([0.5, 0.25])),)
    assert a.best(a.residual(triple)) >= b.best(b.residual(triple))
    with pytest.raises(CertificateError, match="not known to be related"):
        sparse.contracted(np.array([0, 0, 1, 2, 3, 4, 5, 6]))


@pytest.mark.slow
def test_a_large_estimate_is_verified_in_pieces():
    rng = np.random.default_rng(3)
    n = 2400
    i = np.arange(n - 1)
    scores = rng.integers(-3, 6, n - 1).astype(float)
    scores[::6] = -2.0
    problem = rt.Problem.from_pairs(i, i + 1, scores, n=n, feasible=rt.EQUIVALENCES)
    e = rt.infer(problem, prove=True)
    assert e.status is rt.Status.OPTIMAL
    assert e.value == scores[scores > 0].sum()  # a path has no cycles: every gain can be had
    assert rt.verify(problem, e)
    assert not rt.verify(problem, _lowered(e))


def _lowered(e):
    from dataclasses import replace

    bound = e.bound - 1.0
    return replace(e, value=bound, bound=bound, certificate=Certificate(bound, e.certificate.proof))


def test_wrong_statements_are_refused():
    n = 2100
    i = np.arange(n - 1)
    problem = rt.Problem.from_pairs(i, i + 1, np.ones(n - 1), n=n, feasible=rt.EQUIVALENCES)
    good = float(n - 1)
    assert check_certificate(problem, Certificate(good, Leaf()))
    fixed = Fix((), np.array([[0, 1]]), np.array([False]), Leaf())
    with pytest.raises(CertificateError, match="other value"):
        check_certificate(problem, Certificate(good - 1, fixed))
    for proof in (
        Decompose(((np.array([0, 1]), 0.0, Leaf()), (np.array([1, 2]), 0.0, Leaf()))),
        Contract(np.maximum(np.arange(n) - 1, 0), Leaf()),
        Leaf((Cuts("transitive", np.array([[0, 1, 2]]), np.array([-1.0])),)),
    ):
        with pytest.raises(CertificateError):
            check_certificate(problem, Certificate(good, proof))


def test_rounded_views_are_never_below_exact_ones(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=190)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    shift = 1200
    exact, rounded = view_for(problem, Exact(shift)), view_for(problem, Rounded())
    bound = exact.best(exact.residual(()))
    assert rounded.best(rounded.residual(())) >= Exact(shift).to_float(bound) - 1e-300


def _as_fraction(view, number) -> Fraction:
    return Fraction(number) / 2**view.arithmetic.shift


def test_rounding_hides_nothing_whatever_the_scales(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    rng = np.random.default_rng(3)
    labels = np.array([0, 0, 0, 1, 1, 2])
    for _ in range(150):
        i, j = np.triu_indices(6)
        c = rng.normal(size=len(i)) * 10.0 ** rng.integers(0, 18, len(i))
        keep = rng.random(len(i)) < 0.8
        background = (-1.0, 0.0)[rng.integers(2)] * rng.random()
        given = rt.evidence(related=[(0, 1), (1, 2), (3, 4)])
        problem = rt.Problem.from_pairs(
            i[keep], j[keep], c[keep], n=6, background=background, feasible=rt.EQUIVALENCES & given
        )
        triples = rng.integers(0, 6, (60, 3))
        ok = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
        y = rng.exponential(size=ok.sum()) * 10.0 ** rng.integers(0, 18)
        mirror = Cuts("symmetric", rng.integers(0, 6, (9, 2)), y[:9])  # terms that cancel
        cuts = (mirror, Cuts("transitive", triples[ok], np.where(rng.random(len(y)) < 0.5, y, 0)))
        shift = max(exponent_needed(np.append(c, background)), exponent_needed(y))
        exact, rounded = view_for(problem, Exact(shift)), view_for(problem, Rounded())
        for e, r in (
            (exact.best(exact.residual(cuts)), rounded.best(rounded.residual(cuts))),
            *zip(
                exact.best_if_not(exact.residual(cuts), [(0, 5), (2, 1)], [True, False]),
                rounded.best_if_not(rounded.residual(cuts), [(0, 5), (2, 1)], [True, False]),
                strict=True,
            ),
        ):
            assert Fraction(r) >= _as_fraction(exact, e)
        small = [v.contracted(labels) for v in (exact, rounded)]
        parts = [v.restricted(np.array([2, 0])) for v in small]
        for e, r in (small, parts):
            assert Fraction(r.best(r.residual(()))) >= _as_fraction(exact, e.best(e.residual(())))
        e, r = (v.best_between([np.array([0, 2])]) for v in small)
        assert Fraction(r) >= _as_fraction(exact, e)


def test_contraction_of_fine_scores_does_not_overflow(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    n = 60
    chain = [(a, a + 1) for a in range(29)] + [(a, a + 1) for a in range(30, n - 1)]
    problem = rt.Problem.from_pairs(
        [0], [30], [0.5], n=n, background=-4.0, feasible=rt.EQUIVALENCES & rt.evidence(chain)
    )
    view = view_for(problem, Exact(60))
    small = view.contracted(np.repeat([0, 1], 30))
    value = _as_fraction(view, small.best(small.residual(())))
    assert value == Fraction(problem.value(rt.Partition(np.repeat([0, 1], 30))))
