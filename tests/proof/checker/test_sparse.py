"""The sparse view agrees with the dense view wherever both can be had."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import Certificate, Contract, Cuts, Decompose, Fix, Leaf
from relatum.proof.checker.dense import DenseView, dense_view
from relatum.proof.checker.numbers import Grid
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
    sparse = view_for(problem, Grid.of(problem))
    assert isinstance(sparse, SparseView)
    return sparse, dense_view(problem, Grid.of(problem))


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
    problem = _problem(rng, (-0.5, 0.0, 0.25)[seed % 3])
    sparse, dense = _both(problem, monkeypatch)
    parts = [np.array([0, 3, 5]), np.array([7, 1])]
    if problem.background <= 0:
        assert sparse.best_between(parts) == dense.best_between(parts)
    else:  # unlisted pairs of a group are not known to be unrelated one by one
        assert sparse.best_between(parts) >= dense.best_between(parts)
    for inner, outer in zip(sparse.divided(parts), dense.divided(parts), strict=True):
        assert inner.best(inner.residual(())) == outer.best(outer.residual(()))
    # without evidence and groups, the bounds of all parts are had at once
    free = view_for(problem.with_feasible(rt.EQUIVALENCES), sparse.grid)
    assert sparse.bests_within(parts) is None
    assert free.bests_within(parts) == [v.best(v.residual(())) for v in free.divided(parts)]


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


def _as_fraction(view, number) -> Fraction:
    return Fraction(number) / Fraction(2) ** view.grid.shift


def test_rounding_hides_nothing_whatever_the_scales(monkeypatch):
    """What a view on a coarse grid, or a sparse one, finds is at least what a fine one does."""
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    rng = np.random.default_rng(3)
    labels = np.array([0, 0, 0, 1, 1, 2])
    for _ in range(150):
        i, j = np.triu_indices(6)
        c = rng.normal(size=len(i)) * 10.0 ** rng.integers(0, 12, len(i))
        keep = rng.random(len(i)) < 0.8
        background = (-1.0, 0.0)[rng.integers(2)] * rng.random()
        given = rt.evidence(related=[(0, 1), (1, 2), (3, 4)])
        problem = rt.Problem.from_pairs(
            i[keep], j[keep], c[keep], n=6, background=background, feasible=rt.EQUIVALENCES & given
        )
        triples = rng.integers(0, 6, (60, 3))
        ok = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
        y = np.rint(rng.exponential(size=ok.sum()) * 1e9)  # integers: on both grids
        mirror = Cuts("symmetric", rng.integers(0, 6, (9, 2)), y[:9])  # terms that cancel
        cuts = (mirror, Cuts("transitive", triples[ok], np.where(rng.random(len(y)) < 0.5, y, 0)))
        grid = Grid.of(problem)
        coarse = Grid.below(grid.largest + grid.shift - 2)  # quarters of bits
        fine, rounded = view_for(problem, grid), view_for(problem, coarse)
        pairs, values = [(0, 5), (2, 1)], [True, False]
        found = [
            (fine.best(fine.residual(cuts)), rounded.best(rounded.residual(cuts))),
            *zip(
                fine.best_if_not(fine.residual(cuts), pairs, values),
                rounded.best_if_not(rounded.residual(cuts), pairs, values),
                strict=True,
            ),
        ]
        small = [v.contracted(labels) for v in (fine, rounded)]
        parts = [next(iter(v.divided([np.array([2, 0])]))) for v in small]
        found += [tuple(v.best(v.residual(())) for v in views) for views in (small, parts)]
        found.append(tuple(v.best_between([np.array([0, 2])]) for v in small))
        for exact, above in found:
            true = _as_fraction(fine, exact)
            assert true <= _as_fraction(rounded, above) <= true + Fraction(36, 4)


def test_contraction_of_fine_scores_does_not_overflow(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    n = 60
    chain = [(a, a + 1) for a in range(29)] + [(a, a + 1) for a in range(30, n - 1)]
    problem = rt.Problem.from_pairs(
        [0], [30], [0.5], n=n, background=-4.0, feasible=rt.EQUIVALENCES & rt.evidence(chain)
    )
    view = view_for(problem, Grid.of(problem))
    small = view.contracted(np.repeat([0, 1], 30))
    value = _as_fraction(view, small.best(small.residual(())))
    assert value == Fraction(problem.value(rt.Partition(np.repeat([0, 1], 30))))


def test_contraction_takes_groups_along(monkeypatch):
    """Labels may number the elements anew: groups belong to elements, not to numbers."""
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    groups = np.array([0, 1, 0, 2])
    feasible = rt.EQUIVALENCES & rt.one_per_group(groups)
    problem = rt.Problem(np.ones(6), feasible)
    view = view_for(problem, Grid.of(problem)).contracted(np.array([1, 0, 3, 2]))
    assert [view.state_of(a, b) for a, b in ((1, 3), (0, 2), (0, 3))] == [0, -1, -1]
    best = _as_fraction(view, view.best(view.residual(())))
    assert best == 5  # all pairs but that of the group


def test_all_pairs_of_a_matrix_are_those_of_the_condensed_form(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    rng = np.random.default_rng(2)
    c = rng.normal(size=(7, 7)).astype(np.float32)
    dense = rt.Problem(c, rt.EQUIVALENCES)
    wide = c.astype(np.float64)
    condensed = rt.Problem((wide + wide.T)[np.triu_indices(7, 1)], rt.EQUIVALENCES)
    cuts = (Cuts("path", np.array([[0, 4, 2, 6], [3, 1, 5, -1]]), np.array([0.5, 0.25])),)
    a, b = (view_for(p, Grid.of(dense)) for p in (dense, condensed))
    assert a.complete
    own = sum(Fraction(float(x)) for x in np.diagonal(c))
    for own_cuts in ((), cuts):
        bounds = [_as_fraction(v, v.best(v.residual(own_cuts))) for v in (a, b)]
        assert bounds[0] == bounds[1] + own
