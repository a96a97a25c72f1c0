"""Bounds by what elements have at most: valid against brute force, verified, and better."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import Certificate, Cuts, Leaf
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.capped import capped_bound
from relatum.solvers.partition.bounds.known import Known


def random_case(seed):
    """A capped problem of any form, with evidence and groups now and then, and its optimum."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    cap = int(rng.integers(2, n))
    c = rng.integers(-2, 4, (n, n)) * 1.0 if seed % 3 == 0 else rng.normal(size=(n, n)) * 2 + 0.5
    feasible, rules = rt.EQUIVALENCES & rt.at_most(cap), [lambda row: np.bincount(row).max() <= cap]
    if seed % 4 == 1:
        feasible = feasible & rt.evidence(related=[(0, 1)], unrelated=[(0, 2)])
        rules += [lambda row: row[0] == row[1], lambda row: row[0] != row[2]]
    elif seed % 4 == 2:
        groups = rng.integers(0, 3, n)
        feasible = feasible & rt.one_per_group(groups)
        rules.append(lambda row: len(set(zip(row, groups, strict=True))) == n)
    i, j = np.triu_indices(n, 1)
    weights, constant = np.triu(c + c.T, 1), float(np.trace(c))
    if seed % 2:
        problem = rt.Problem(c, feasible)
    else:
        keep = rng.random(len(i)) < 0.8
        weights, constant = np.full((n, n), -0.25), 0.0
        weights[i[keep], j[keep]] = c[i[keep], j[keep]]
        problem = rt.Problem.from_pairs(
            i[keep], j[keep], c[i[keep], j[keep]], n=n, background=-0.25, feasible=feasible
        )
    value = naive.best_partition(np.triu(weights, 1), lambda row: all(f(row) for f in rules))
    return problem, value + constant, rng


@pytest.mark.parametrize("seed", range(120))
def test_no_partition_is_above_it_and_the_checker_agrees(seed):
    problem, value, rng = random_case(seed)
    n = problem.n
    some = np.array([rng.permutation(n)[:3] for _ in range(4)])
    rows = Leaf((Cuts("transitive", some, rng.random(4)),))
    for proof in (Leaf(), rows):
        bound, used = capped_bound(problem, Known(proof=proof), Control())
        assert bound >= value - 1e-9
        assert check_certificate(problem, Certificate(bound, used)) is True
    e = rt.infer(problem, solver="partition_local_search")
    assert rt.verify(problem, e)
    assert e.bound >= value - 1e-9


def test_half_of_the_best_partners_is_the_bound():
    problem = rt.Problem([4.0, 1.0, 1.0, 2.0, 1.0, 4.0], rt.EQUIVALENCES & rt.at_most(2))
    bound, proof = capped_bound(problem, Known(), Control())
    assert bound == pytest.approx(8.0, abs=1e-6)  # pairs 01 and 23: optimal
    assert check_certificate(problem, Certificate(8.0, proof))
    with pytest.raises(CertificateError, match="above the claimed"):
        check_certificate(problem, Certificate(7.0, proof))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "condensed", "sparse"])
def test_large_clusterings_report_it(form):
    """Many sets of eight, a cap of three: the cap, not the conflicts, keeps sets small."""
    rng = np.random.default_rng(1)
    n = 120 if form == "dense" else 520  # above 500, no cutting planes are tried
    i, j = np.triu_indices(n, 1)
    feasible = rt.EQUIVALENCES & rt.at_most(3)
    c = rng.normal(size=len(i)) + np.where(i // 8 == j // 8, 3.0, -6.0)
    if form == "sparse":
        near = (j - i < 16) | (rng.random(len(i)) < 0.01)
        problem = rt.Problem.from_pairs(
            i[near], j[near], c[near], n=n, background=-2.0, feasible=feasible
        )
    elif form == "dense":
        square = np.zeros((n, n))
        square[i, j] = c
        problem = rt.Problem(square, feasible)
    else:
        problem = rt.Problem(c, feasible)
    e = rt.infer(problem, solver="partition_local_search")
    assert rt.verify(problem, e)
    assert e.bound <= capped_bound(problem, Known(), Control())[0] + 1e-6
    assert e.bound < 0.6 * np.maximum(c, 0).sum()
    assert e.gap < 0.3 * e.value


def test_sets_of_one_element_have_no_partners():
    problem = rt.Problem([3.0, 2.0, -1.0], rt.EQUIVALENCES & rt.at_most(1))
    bound, _ = capped_bound(problem, Known(), Control())
    assert 0 <= bound < 1e-6
