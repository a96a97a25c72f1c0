from itertools import permutations

import numpy as np
import pytest

import naive
from relatum.errors import CertificateError
from relatum.problem.feasible import LINEAR_ORDERS, WEAK_ORDERS, evidence
from relatum.problem.problem import Problem
from relatum.proof.certificate import Certificate, Leaf, Merge, SubsetOrder
from relatum.proof.checker.dense import dense_view
from relatum.proof.checker.numbers import Grid
from relatum.proof.checker.orders import check_best_order, merged_view
from relatum.proof.checker.verification import check_certificate
from relatum.proof.checker.view import Effort


def _proves(problem, claim):
    grid = Grid.of(problem)
    try:
        check_best_order(dense_view(problem, grid), grid.claim(float(claim)), Effort())
    except CertificateError:
        return False
    return True


def test_the_checker_orders_few_elements_itself():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 5, 6) * 4:
        c = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4, (n, n))
        feasible = LINEAR_ORDERS & evidence(related=[(n - 1, 0)] if n > 1 else [])
        problem = Problem(c, feasible)
        w = np.where((problem.state == 0) | (problem.state.T == 1), -np.inf, c)
        np.fill_diagonal(w, 0.0)
        best = naive.best_linear_order(w.tolist()) + np.trace(c)
        margin = 1e-10 * np.abs(c).sum()
        assert _proves(problem, best + margin)
        assert not _proves(problem, best - margin)


def test_a_claim_below_the_best_order_is_refused_with_integers_to_the_unit():
    rng = np.random.default_rng(1)
    for n in (3, 4, 5, 7):
        c = rng.integers(-4, 5, (n, n)).astype(float)
        problem = Problem(c, LINEAR_ORDERS)
        best = naive.best_linear_order((c - np.diag(np.diagonal(c))).tolist()) + np.trace(c)
        check_certificate(problem, Certificate(best, SubsetOrder()))
        with pytest.raises(CertificateError, match="above the claimed"):
            check_certificate(problem, Certificate(best - 1, SubsetOrder()))
        assert _proves(problem, best)
        assert not _proves(problem, best - 1)


def test_precedences_and_what_loses_bound_orders_together():
    rng = np.random.default_rng(2)
    for _ in range(30):
        n = int(rng.integers(3, 7))
        c = rng.integers(-9, 10, (n, n)).astype(float)
        place = rng.permutation(n)
        known = [(a, b) for a, b in permutations(range(n), 2) if place[a] < place[b]]
        chosen = [known[k] for k in rng.choice(len(known), min(3, len(known)), replace=False)]
        problem = Problem(c, LINEAR_ORDERS & evidence(related=chosen))
        w = np.where((problem.state == 0) | (problem.state.T == 1), -np.inf, c)
        np.fill_diagonal(w, 0.0)
        best = naive.best_linear_order(w.tolist()) + np.trace(c)
        assert _proves(problem, best)
        assert not _proves(problem, best - 1)


def test_too_many_elements_or_subsets_and_other_sets_are_refused(monkeypatch):
    with pytest.raises(CertificateError, match="62"):
        check_certificate(Problem(np.zeros((63, 63)), LINEAR_ORDERS), Certificate(0, SubsetOrder()))
    with pytest.raises(CertificateError, match="linear orders"):
        check_certificate(Problem(np.zeros((3, 3)), WEAK_ORDERS), Certificate(0, SubsetOrder()))
    monkeypatch.setattr("relatum.proof.checker.orders.MOST_STATES", 3)
    c = np.roll(np.eye(6), 1, axis=1)
    with pytest.raises(CertificateError, match="More than 3"):
        check_certificate(Problem(c, LINEAR_ORDERS), Certificate(2, SubsetOrder()))


def test_merging_keeps_the_best_value():
    rng = np.random.default_rng(1)
    for _ in range(20):
        copy = np.sort(np.concatenate([np.arange(3), rng.integers(0, 3, 3)]))
        c = rng.integers(-3, 4, (3, 3)).astype(float)[np.ix_(copy, copy)]
        c[copy[:, None] == copy[None, :]] = 2.0
        problem = Problem(c, LINEAR_ORDERS)
        view = merged_view(dense_view(problem, Grid.of(problem)), copy)
        best = float(naive.best_linear_order((c - 2 * np.eye(6)).tolist()) + 12)
        check_best_order(view, view.grid.claim(best), Effort())
        with pytest.raises(CertificateError, match="above"):
            check_best_order(view, view.grid.claim(best - 1), Effort())


@pytest.mark.parametrize("labels", [[0, 0, 1], [0, 2, 2], [0, 0], [-1, 0, 1]])
def test_elements_that_are_not_alike_are_not_merged(labels):
    c = np.array([[0.0, 2, -1], [-2, 0, 3], [1, -3, 0]])
    with pytest.raises(CertificateError):
        check_certificate(
            Problem(c, LINEAR_ORDERS), Certificate(99, Merge(np.array(labels), Leaf()))
        )


def test_elements_with_evidence_are_not_merged():
    problem = Problem(np.zeros((3, 3)), LINEAR_ORDERS & evidence(related=[(0, 2)]))
    with pytest.raises(CertificateError, match="not alike"):
        check_certificate(problem, Certificate(0, Merge(np.array([0, 0, 1]), Leaf())))
