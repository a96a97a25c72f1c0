"""The checker: what it must refuse, whoever wrote the certificate."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import (
    FAMILIES,
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
)
from relatum.proof.checker.numbers import Grid
from relatum.proof.checker.verification import check_certificate, verify
from relatum.proof.estimate import Estimate, Status


def bound_only(bound, proof):
    return Estimate(Status.BOUND_ONLY, None, -math.inf, bound, Certificate(bound, proof))


def row(family, *index, multiplier=1.0):
    return Cuts(family, np.array([index]), np.array([multiplier]))


# --- certificates of solvers, tampered with -----------------------------------------------------


def fractional_triangle():
    """An equivalence problem whose bound needs rows: c = (1, 1, -1) on a triangle."""
    return rt.Problem([2.0, -3.0, 2.0], rt.EQUIVALENCES)


@pytest.fixture(scope="module")
def solved():
    problem = fractional_triangle()
    return problem, rt.infer(problem, solver="branch_and_cut", prove=True)


def test_an_estimate_of_a_solver_verifies(solved):
    problem, e = solved
    assert e.status is Status.OPTIMAL
    assert e.value == e.bound == 2.0
    report = verify(problem, e)
    assert report
    assert report.exact
    report.raise_if_wrong()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e: {"value": e.value + 0.5}, "value is 2.0 bits, but 2.5 is claimed"),
        (lambda e: {"value": math.nan}, "nan is claimed"),
        (lambda e: {"relation": rt.Partition([0, 0, 0])}, "value is 1.0 bits, but 2.0"),
        (lambda e: {"relation": rt.Partition([0, 0])}, r"shape \(2, 2\), the problem \(3, 3\)"),
        (lambda e: {"relation": rt.Relation(np.eye(3)[::-1])}, "not feasible: it lacks"),
        (lambda e: {"relation": None}, "OPTIMAL without a relation"),
        (lambda e: {"bound": e.bound - 1.0}, "below the value"),
        (lambda e: {"bound": math.nan}, "NaN"),
        (lambda e: {"certificate": Certificate(math.nan, e.certificate.proof)}, "NaN"),
        (lambda e: {"bound": 5.0}, "OPTIMAL with a gap of 3.0 bits"),
        (lambda e: {"certificate": None}, "no certificate to check"),
        (lambda e: {"certificate": Certificate(9.0, e.certificate.proof)}, "weaker than the"),
        (lambda e: {"status": Status.INFEASIBLE}, "An infeasible problem has no relation"),
        (
            lambda e: {"status": Status.BOUND_ONLY, "relation": None, "value": 1.0},
            "without a relation",
        ),
        (
            lambda e: {
                "status": Status.BOUND_ONLY,
                "relation": None,
                "value": -math.inf,
                "bound": 1.0,
                "certificate": Certificate(1.0, e.certificate.proof),
            },
            "above the claimed",
        ),
    ],
)
def test_a_tampered_estimate_is_refused_with_the_reason(solved, change, reason):
    problem, e = solved
    report = verify(problem, replace(e, **change(e)))
    assert not report
    with pytest.raises(CertificateError, match=reason):
        report.raise_if_wrong()


def triangle_leaf(multipliers=(1.0,), index=((0, 1, 2),)):
    """x_01 + x_12 - x_02 <= 1 taken 2 (each direction) times proves 2 for (2, -3, 2)."""
    return Leaf((Cuts("transitive", np.array(index), np.array(multipliers)),))


def test_multipliers_are_checked_one_by_one():
    problem = fractional_triangle()
    # the residual (1, -2, 1) or so: every scaled or moved multiplier is worse than the best
    good = Leaf((Cuts("transitive", np.array([[0, 1, 2]]), np.array([2.0])),))
    assert verify(problem, bound_only(2.0, good))
    for scale in (0.0, 0.5, 1.5, 3.0):
        bad = Leaf((Cuts("transitive", np.array([[0, 1, 2]]), np.array([2.0 * scale])),))
        assert not verify(problem, bound_only(2.0, bad)), scale
    for wrong in (-2.0, math.nan, math.inf):
        bad = Leaf((Cuts("transitive", np.array([[0, 1, 2]]), np.array([wrong])),))
        assert "negative or not finite" in verify(problem, bound_only(2.0, bad)).reason
    for index in ((1, 0, 2), (0, 2, 1)):
        bad = Leaf((Cuts("transitive", np.array([index]), np.array([2.0])),))
        assert not verify(problem, bound_only(2.0, bad)), index


@pytest.mark.parametrize(
    ("feasible", "cut"),
    [
        (rt.SYMMETRIC, row("transitive", 0, 1, 2)),
        (rt.PREORDERS, row("symmetric", 0, 1)),
        (rt.PREORDERS, row("antisymmetric", 0, 1)),
        (rt.PARTIAL_ORDERS, row("antisymmetric", 1, 1)),
        (rt.PREORDERS, row("connex", 0, 1)),
        (rt.CONNEX, row("connex", 2, 2)),
        (rt.UNIQUE_IMAGE, row("has_image", 0)),
        (rt.at_most(2), row("at_most", 0, 1)),
        (rt.HAS_IMAGE, row("at_most", 0, 3)),
        (rt.MAPS, row("unique_preimage", 0)),
        (rt.MAPS, row("has_preimage", 0)),
        (rt.PREORDERS, row("transitive", 1, 1, 2)),
        (rt.PREORDERS, row("transitive", 0, 1, 3)),
        (rt.PREORDERS, row("transitive", 0, -1, 2)),
        (rt.PREORDERS, row("transitive", 0, 1)),
        (rt.PREORDERS, row("nonsense", 0, 1)),
        (rt.EQUIVALENCES, row("odd_wheel", 0, 1, 2)),
    ],
)
def test_rows_that_do_not_hold_are_refused(feasible, cut):
    problem = rt.Problem(np.ones((3, 3)), feasible)
    for leaf in (Leaf((cut,)), Leaf((cut,), infeasible=True)):
        with pytest.raises(CertificateError):
            check_certificate(problem, Certificate(1000.0, leaf))
    imply = Imply(
        (cut.family,), np.pad(cut.index, [(0, 0), (0, 1)], constant_values=-1),
        np.array([[0, 1]]), np.array([True]), Leaf(),
    )  # fmt: skip
    with pytest.raises(CertificateError):
        check_certificate(problem, Certificate(1000.0, imply))


def test_every_row_that_passes_holds_for_every_relation():
    """No family lets through a row that cuts off a member: all indices, all sets, n = 3."""
    indices = {
        "transitive": list(product(range(3), repeat=3)),
        "symmetric": list(product(range(3), repeat=2)),
        "antisymmetric": list(product(range(3), repeat=2)),
        "connex": list(product(range(3), repeat=2)),
        "has_image": [(a,) for a in range(3)],
        "has_preimage": [(a,) for a in range(3)],
        "unique_preimage": [(a,) for a in range(3)],
        "at_most": list(product(range(3), range(4))),
    }
    passed = 0
    for name, properties in naive.NAMED.items():
        feasible = getattr(rt, name)
        ys = naive.members(properties, 3, 3)
        for family, every in indices.items():
            for index in every:
                if FAMILIES[family].valid(feasible, np.array([index]), (3, 3)):
                    rows = FAMILIES[family].rows(np.array([index]), (3, 3))
                    left = (ys[:, rows.a, rows.b] * rows.coefficient).sum(axis=1)
                    assert (left <= rows.rhs[0]).all(), (name, family, index)
                    passed += 1
    assert passed > 200


# --- proof nodes --------------------------------------------------------------------------------


def test_branch_needs_both_children():
    problem = rt.Problem([[0.0, 3.0], [0.0, 0.0]], rt.RELATIONS)
    assert verify(problem, bound_only(3.0, Branch((0, 1), Leaf(), Leaf())))
    assert not verify(problem, bound_only(2.0, Branch((0, 1), Leaf(), Leaf())))
    assert not verify(problem, bound_only(3.0, Branch((0, 2), Leaf(), Leaf())))
    assert not verify(problem, bound_only(3.0, Branch((0, -1), Leaf(), Leaf())))


def test_swapped_children_are_refused():
    # x_01 = 0 needs no rows; x_01 = 1 needs a transitivity row
    problem = rt.Problem([5.0, -9.0, 5.0], rt.EQUIVALENCES)
    with_row = Leaf((row("transitive", 0, 1, 2, multiplier=5.0),))
    proof = Branch((0, 1), Leaf(), with_row)
    assert verify(problem, bound_only(5.0, proof))
    assert not verify(problem, bound_only(5.0, Branch((0, 1), with_row, Leaf())))


def test_branching_on_a_fixed_pair_proves_nothing_new():
    problem = rt.Problem([[0, 3.0], [0, 0]], rt.RELATIONS & rt.evidence(related=[(0, 1)]))
    lie = Leaf(infeasible=True)
    assert verify(problem, bound_only(3.0, Branch((0, 1), lie, Leaf())))
    assert not verify(problem, bound_only(3.0, Branch((0, 1), Leaf(), lie)))


def test_fix_needs_the_other_value_bounded():
    problem = rt.Problem([[0, 3.0], [0, 0]], rt.RELATIONS)

    def fix(pair, value, n=1):
        return Fix((), np.array([pair] * n), np.array([value]), Leaf())

    assert verify(problem, bound_only(3.0, fix((0, 1), True)))
    flipped = verify(problem, bound_only(2.0, fix((0, 1), False)))
    assert "(0, 1) is fixed, but its other value leaves 3" in flipped.reason
    assert not verify(problem, bound_only(3.0, fix((5, 1), True)))
    assert not verify(problem, bound_only(3.0, fix((-1, 1), True)))
    assert not verify(problem, bound_only(3.0, fix((0, 1), True, n=2)))


def test_imply_needs_a_row_that_implies():
    given = rt.evidence(related=[(0, 1), (1, 2)])
    problem = rt.Problem(np.array([[0, 0, -4.0], [0, 0, 0], [0, 0, 0]]), rt.TRANSITIVE & given)

    def imply(row, value, pair=(0, 2)):
        return Imply(("transitive",), np.array([row]), np.array([pair]), np.array([value]), Leaf())

    assert verify(problem, bound_only(-4.0, imply((0, 1, 2), True)))
    assert not verify(problem, bound_only(-4.0, imply((0, 1, 2), False)))
    assert not verify(problem, bound_only(-4.0, imply((1, 0, 2), True)))
    assert not verify(problem, bound_only(-4.0, imply((0, 1, 2), True, pair=(0, 3))))
    assert not verify(problem, bound_only(-4.0, imply((0, 1, 2), True, pair=(2, 0))))
    uneven = Imply(("transitive",) * 2, np.array([[0, 1, 2]]), np.array([[0, 2]]), np.array([1]),
                   Leaf())  # fmt: skip
    assert "unequally many" in verify(problem, bound_only(-4.0, uneven)).reason


def decompose(*parts):
    return Decompose(tuple((np.array(s, dtype=np.int64), b, p) for s, b, p in parts))


def test_decompose_needs_disjoint_parts_and_honest_bounds():
    c = np.zeros((4, 4))
    c[0, 1] = c[2, 3] = 5.0
    problem = rt.Problem(c, rt.EQUIVALENCES)
    leaf = Leaf()
    assert verify(problem, bound_only(10.0, decompose(([0, 1], 5.0, leaf), ([2, 3], 5.0, leaf))))
    assert verify(problem, bound_only(10.0, decompose(([0, 1], 5.0, leaf))))
    bad = [
        decompose(([0, 1], 5.0, leaf), ([2, 3], 4.0, leaf)),  # not what the leaf proves
        decompose(([0, 1], 0.0, leaf), ([2, 3], 5.0, leaf)),
        decompose(([0, 1], 5.0, leaf), ([0, 1], 5.0, leaf), ([2, 3], 5.0, leaf)),
        decompose(([0, 0, 1], 5.0, leaf), ([2, 3], 5.0, leaf)),
        decompose(([0, 1], math.nan, leaf), ([2, 3], 5.0, leaf)),
        decompose(([0, 1], -math.inf, leaf), ([2, 3], 5.0, leaf)),
        decompose(([], 0.0, leaf)),
        decompose(([0, 4], 0.0, leaf)),
        decompose(([0, -1], 0.0, leaf)),
        decompose(([0], 0.0, leaf), ([1], 0.0, leaf), ([2], 0.0, leaf), ([3], 0.0, leaf)),
    ]
    for k, proof in enumerate(bad):
        assert not verify(problem, bound_only(9.0, proof)), k
    # positive scores between the parts count
    across = rt.Problem(c + np.full((4, 4), 1.0), rt.EQUIVALENCES)
    optimum = naive.best_value(across.dense(), naive.members(naive.NAMED["EQUIVALENCES"], 4, 4))
    proof = decompose(([0, 1], 9.0, leaf), ([2, 3], 9.0, leaf))
    assert not verify(across, bound_only(18.0, proof))
    assert verify(across, bound_only(optimum, proof))


def test_decompose_does_not_hand_down_what_is_not_hereditary():
    """Every element of {0, 1} has an image, but perhaps none within {0, 1}."""
    c = np.zeros((3, 3))
    c[:2, :2] = -5.0
    c[0, 2] = c[1, 2] = 1.0
    for feasible in (
        rt.HAS_IMAGE & rt.TRANSITIVE,
        rt.HAS_PREIMAGE & rt.ANTISYMMETRIC,
        rt.HAS_IMAGE & rt.SYMMETRIC,
    ):
        problem = rt.Problem(c, feasible)
        for family in ("has_image", "has_preimage"):
            inner = Leaf((Cuts(family, np.array([[0], [1]]), np.array([5.0, 5.0])),))
            proof = decompose(([0, 1], -10.0, inner))
            assert not verify(problem, bound_only(-8.0, proof)), feasible
    with pytest.raises(CertificateError, match="on one set"):
        check_certificate(rt.Problem(c, rt.MAPS), Certificate(9.0, decompose(([0], 9.0, Leaf()))))


def test_contract_needs_known_pairs_and_equivalences():
    c = np.array([[0, 9.0, -4.0], [0, 0, -4.0], [0, 0, 0]])
    given = rt.evidence(related=[(0, 1)])
    problem = rt.Problem(c, rt.EQUIVALENCES & given)
    assert verify(problem, bound_only(9.0, Contract(np.array([0, 0, 1]), Leaf())))
    for labels in ([0, 0, 0], [0, 1, 1], [0, 0, 2], [0, 0], [0, 0, -1], [1, 1, 2]):
        proof = Contract(np.array(labels), Leaf())
        assert not verify(problem, bound_only(9.0, proof)), labels
    for other in (rt.PREORDERS & given, rt.EQUIVALENCES):
        proof = Contract(np.array([0, 0, 1]), Leaf())
        assert not verify(rt.Problem(c, other), bound_only(9.0, proof)), other


def test_contraction_forgets_caps_and_keeps_groups():
    """at_most(2) speaks of elements, not of sets of them; groups become forbidden pairs."""
    c = np.triu(np.full((4, 4), 1.0), 1)
    given = rt.evidence(related=[(0, 1)])
    capped = rt.Problem(c, rt.EQUIVALENCES & given & rt.at_most(3))
    # {01} {23}: 2; {012} {3}: 3. A cap of 3 on contracted elements would be no cap at all,
    # and one of 2 contracted elements would be wrong for {01} {2} {3} in one set.
    cut = Cuts("at_most", np.array([[0, 2]]), np.array([1.0]))
    assert not verify(capped, bound_only(2.0, Contract(np.array([0, 0, 1, 2]), Leaf((cut,)))))
    cut = Cuts("at_most", np.array([[0, 3]]), np.array([1.0]))
    assert not verify(capped, bound_only(9.0, Contract(np.array([0, 0, 1, 2]), Leaf((cut,)))))
    grouped = rt.Problem(c, rt.EQUIVALENCES & given & rt.one_per_group([0, 1, 0, 1]))
    proof = Contract(np.array([0, 0, 1, 2]), Leaf())
    best = naive.best_value(
        c, naive.feasible(naive.NAMED["EQUIVALENCES"], (4, 4), [(0, 1)], groups=[0, 1, 0, 1])
    )
    assert verify(grouped, bound_only(best, proof))
    assert not verify(grouped, bound_only(best - 1, proof))


def test_the_grid_of_scores_rounds_bounds_down_but_not_below_a_value():
    c = np.array([[0, 2.0, 2.0], [0, 0, -2.0], [0, 0, 0]])
    problem = rt.Problem(c, rt.EQUIVALENCES)
    half = Leaf((row("transitive", 1, 0, 2, multiplier=0.75),))
    # proves 4 - 2 * 0.75 = 2.5 or a little more: on the grid of twos, 2
    assert not verify(problem, bound_only(2.4, Leaf()))
    assert verify(problem, bound_only(2.4, half))
    assert not verify(problem, bound_only(1.9, half))
    zero = rt.Problem(np.zeros((2, 2)), rt.PREORDERS)
    assert verify(zero, bound_only(0.0, Leaf()))
    assert not verify(zero, bound_only(-1e-9, Leaf()))
    offset = rt.Problem([[0.5, 1.0], [1.0, 0.25]], rt.REFLEXIVE & rt.SYMMETRIC)
    assert verify(offset, bound_only(2.75, Leaf()))
    assert not verify(offset, bound_only(2.74, Leaf()))


def test_infeasible_leaves_have_to_be_proved():
    problem = rt.Problem(-np.ones((3, 2)), rt.INJECTIONS)
    a, b = np.arange(3)[:, None], np.arange(2)[:, None]

    def leaf(images):
        return Leaf(
            (Cuts("has_image", a, np.full(3, images)), Cuts("unique_preimage", b, np.ones(2))),
            infeasible=True,
        )

    def estimate(proof):
        return Estimate(
            Status.INFEASIBLE, None, -math.inf, -math.inf, Certificate(-math.inf, proof)
        )

    assert verify(problem, estimate(leaf(1.0)))
    assert not verify(problem, estimate(leaf(0.5)))
    assert not verify(problem, estimate(Leaf(infeasible=True)))
    assert not verify(problem, estimate(Leaf()))
    possible = rt.Problem(-np.ones((2, 2)), rt.INJECTIONS)
    cuts = tuple(Cuts(f, np.arange(2)[:, None], np.ones(2)) for f in ("has_image",))
    assert not verify(possible, estimate(Leaf(cuts, infeasible=True)))


def test_a_contradiction_has_to_be_in_the_problem():
    fine = rt.Problem(np.ones((2, 2)), rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    wrong = rt.Problem(
        np.ones((2, 2)), rt.EQUIVALENCES & rt.evidence(related=[(0, 1)], unrelated=[(1, 0)])
    )
    claim = Estimate(
        Status.INFEASIBLE, None, -math.inf, -math.inf, Certificate(-math.inf, Leaf(infeasible=True))
    )
    assert verify(wrong, claim)
    assert not verify(fine, claim)


@pytest.mark.parametrize(
    "proof",
    [
        None,
        "trust me",
        Leaf((None,)),
        Leaf("abc"),
        Branch(None, Leaf(), Leaf()),
        Branch((0, 1), Leaf(), None),
        Fix((), None, None, Leaf()),
        Imply((), None, None, None, Leaf()),
        Decompose(((None, None, Leaf()),)),
        Contract(None, Leaf()),
        Contract(np.empty(0), Leaf()),
    ],
)
def test_malformed_certificates_are_refused_not_crashed_on(proof):
    problem = rt.Problem([[0, 3.0], [0, 0]], rt.EQUIVALENCES)
    report = verify(problem, bound_only(2.0, proof))
    assert not report
    assert report.reason


# --- what overflows, cancels or is rounded ------------------------------------------------------


def test_huge_multipliers_do_not_hide_scores_in_rounding():
    problem = rt.Problem(np.array([[0, 0.6], [0.6, 0]]), rt.SYMMETRIC)
    for size in (1e2, 1e20, 1e300, 1.7e308):
        cuts = tuple(row("symmetric", *p, multiplier=size) for p in ((0, 1), (1, 0)))
        for chosen in (cuts, cuts[:1], cuts[1:]):
            assert not verify(problem, bound_only(0.5, Leaf(chosen)))
    chain = rt.Problem(np.full((3, 3), 0.4), rt.TRANSITIVE)
    best = naive.best_value(np.full((3, 3), 0.4), naive.members(("transitive",), 3, 3))
    for size in (1e2, 1e17, 1e20, 1e300):
        rows = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (0, 1, 0)]
        proof = Leaf((Cuts("transitive", np.array(rows), np.full(4, size)),))
        assert not verify(chain, bound_only(best - 0.1, proof)), size


def test_contraction_of_cancelling_scores_keeps_what_is_left():
    c = np.array([[0, 0, 1e17], [0, 0, -1e17], [0.6, 0, 0]])
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    proof = Contract(np.array([0, 0, 1]), Leaf())
    # among scores of 1e17, those of 0.6 are rounded up, by less than 2**-28
    assert verify(problem, bound_only(0.6 + 2**-28, proof))
    assert not verify(problem, bound_only(math.nextafter(0.6, 0), proof))


def test_many_parts_add_up_exactly():
    n = 200
    c = np.zeros((2 * n, 2 * n))
    c[np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)] = 0.1
    problem = rt.Problem(c, rt.EQUIVALENCES)
    c[0, 3] = -math.pi  # no grid of values
    one = 0.1 + 1e-12
    parts = [([2 * k, 2 * k + 1], one, Leaf()) for k in range(n)]
    true = Fraction(one) * n
    for bound in (float(true), math.nextafter(float(true), 0), sum([one] * n) - 1e-14):
        assert bool(verify(problem, bound_only(bound, decompose(*parts)))) == (bound >= true)
    assert verify(problem, bound_only(20.0001, decompose(*parts)))


def test_log_odds_finer_than_the_grid_are_rounded_up(monkeypatch):
    monkeypatch.setattr(Grid, "of", classmethod(lambda cls, problem: cls.below(89 - 3)))  # eighths
    problem = rt.Problem([[0, 0.3], [0, 0]], rt.RELATIONS)
    report = verify(problem, bound_only(0.375, Leaf()))
    assert report
    assert not report.exact
    assert "rounded up" in report.reason
    assert not verify(problem, bound_only(0.37, Leaf()))


def test_a_shared_proof_is_no_tree():
    problem = rt.Problem(np.zeros((40, 40)), rt.RELATIONS)
    proof = Leaf()
    for k in range(40):  # a trillion leaves
        proof = Branch((k, k), proof, proof)
    assert "shared" in verify(problem, bound_only(0.0, proof)).reason
    cycle = Branch((0, 0), Leaf(), Leaf())
    object.__setattr__(cycle, "related", cycle)
    assert "shared" in verify(problem, bound_only(0.0, cycle)).reason
    again = Leaf()  # a leaf takes no time of its own
    assert verify(problem, bound_only(0.0, Branch((0, 0), again, again)))


# --- what OPTIMAL means -------------------------------------------------------------------------


def test_optimal_is_within_the_gap_of_the_exact_value():
    gap = 2.0**-20
    for above, ok in ((gap, True), (gap * 1.01, False)):
        cut = Leaf((row("transitive", 1, 0, 2, multiplier=1.0),))
        # a ~ b or a ~ c, not both
        both = rt.Problem([1.0, 1.0 + above, -9.0], rt.EQUIVALENCES)
        best = 1.0 + above
        e = Estimate(Status.OPTIMAL, rt.Partition([0, 0, 1]), 1.0, best, Certificate(best, cut))
        assert bool(verify(both, e)) == ok
        assert verify(both, replace(e, status=Status.FEASIBLE))


def test_constants_do_not_widen_the_gap():
    c = np.array([[0.0, 6.25], [0.0, 0.0]])
    for size in (1e10, 1e15):
        problem = rt.Problem(c + size * np.eye(2), rt.EQUIVALENCES)
        alone = rt.Partition([0, 1])
        bound = 2 * size + 6.25
        forged = Estimate(Status.OPTIMAL, alone, 2 * size, bound, Certificate(bound, Leaf()))
        assert not verify(problem, forged)
        assert not verify(
            problem, replace(forged, bound=2 * size, certificate=Certificate(2 * size, Leaf()))
        )
        assert verify(problem, replace(forged, status=Status.FEASIBLE))
        together = rt.Partition([0, 0])
        assert verify(problem, replace(forged, relation=together, value=problem.value(together)))


def test_the_value_is_exact():
    c = np.zeros((3, 3))
    c[0, 1], c[1, 2] = -1e15, 22.25
    problem = rt.Problem(c, rt.EQUIVALENCES)
    wrong = Estimate(
        Status.OPTIMAL, rt.Partition([0, 1, 2]), 22.25, 22.25, Certificate(22.25, Leaf())
    )
    assert "value is 0.0 bits, but 22.25" in verify(problem, wrong).reason
    right = replace(wrong, relation=rt.Partition([0, 1, 1]))
    assert verify(problem, right)
    for value in (math.nextafter(22.25, 0), math.nextafter(22.25, 99)):
        assert "is claimed" in verify(problem, replace(right, value=value)).reason


# --- random proofs: nothing false is ever accepted ----------------------------------------------


@pytest.mark.parametrize("how", ["dense", "sparse", "coarse"])
def test_random_proofs_never_prove_what_is_false(monkeypatch, how):
    """Build proofs at random, find the least bound accepted, compare with brute force."""
    if how == "sparse":
        monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 1)
    if how == "coarse":  # quarters of bits
        monkeypatch.setattr(Grid, "of", classmethod(lambda cls, problem: cls.below(89 - 2)))
    rng = np.random.default_rng(17)
    names = list(naive.NAMED)
    accepted = 0
    for _ in range(1500):
        name = names[rng.integers(len(names))]
        related = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 3))]
        unrelated = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 2))]
        cap = int(rng.integers(1, 4)) if rng.random() < 0.3 else None
        feasible = getattr(rt, name) & rt.evidence(related, unrelated)
        if cap is not None:
            feasible = feasible & rt.at_most(cap)
        c = rng.integers(-4, 5, (3, 3)).astype(float)
        best = naive.best_value(
            c, naive.feasible(naive.NAMED[name], (3, 3), related, unrelated, cap)
        )
        proof = random_proof(rng, 3, 3)
        if best == -math.inf:
            continue
        problem = rt.Problem(c, feasible)
        claim = best - 0.5
        assert not verify(problem, bound_only(claim, proof)), (problem, c, proof)
        accepted += bool(verify(problem, bound_only(best + 40.0, proof)))
    assert accepted > 100


def random_cuts(rng, n):
    width = {"transitive": 3, "symmetric": 2, "antisymmetric": 2, "connex": 2, "at_most": 2}
    families = [*width, "has_image", "has_preimage", "unique_preimage"]
    cuts = []
    for _ in range(rng.integers(0, 3)):
        family = families[rng.integers(len(families))]
        k = int(rng.integers(1, 4))
        index = rng.integers(0, n, (k, width.get(family, 1)))
        cuts.append(Cuts(family, index, rng.integers(0, 3, k) / 2))
    return tuple(cuts)


def random_proof(rng, n, depth):
    kind = rng.integers(0, 7) if depth else 0
    if kind <= 1:
        return Leaf(random_cuts(rng, n), infeasible=bool(rng.random() < 0.1))
    if kind == 2:
        pair = tuple(rng.integers(0, n, 2).tolist())
        return Branch(pair, random_proof(rng, n, depth - 1), random_proof(rng, n, depth - 1))
    if kind == 3:
        k = int(rng.integers(1, 3))
        return Fix(
            random_cuts(rng, n), rng.integers(0, n, (k, 2)), rng.random(k) < 0.5,
            random_proof(rng, n, depth - 1),
        )  # fmt: skip
    if kind == 4:
        families = ("transitive", "antisymmetric", "connex", "symmetric")
        family = families[rng.integers(4)]
        index = np.full((1, 3), -1)
        index[0, : 3 if family == "transitive" else 2] = rng.integers(
            0, n, 3 if family == "transitive" else 2
        )
        return Imply(
            (family,), index, rng.integers(0, n, (1, 2)), rng.random(1) < 0.5,
            random_proof(rng, n, depth - 1),
        )  # fmt: skip
    if kind == 5:
        elements = rng.permutation(n)[: rng.integers(1, n + 1)]
        bound = float(rng.integers(-6, 10))
        return Decompose(((elements, bound, random_proof(rng, len(elements), depth - 1)),))
    labels = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    return Contract(labels, random_proof(rng, int(labels.max()) + 1, depth - 1))


# --- independence -------------------------------------------------------------------------------


def test_verifying_imports_no_solver(tmp_path, solved):
    path = tmp_path / "estimate.pickle"
    path.write_bytes(pickle.dumps(solved))
    code = (
        "import pickle, sys, pathlib\n"
        "from relatum.proof.checker.verification import verify\n"
        f"problem, estimate = pickle.loads(pathlib.Path({str(path)!r}).read_bytes())\n"
        "assert verify(problem, estimate)\n"
        "bad = [m for m in sys.modules if m.startswith(('relatum.solvers', 'relatum.lp',"
        " 'relatum.inference', 'relatum.kernels.partition', 'relatum.kernels.order',"
        " 'relatum.kernels.tables', 'relatum.kernels.first_order', 'highspy', 'pyscipopt'))]\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_views_with_scores_of_their_own_count_as_what_they_hold(monkeypatch):
    """A chain of contractions of nothing: each node has all scores again, and few bytes itself."""
    monkeypatch.setattr("relatum.proof.checker.verification.MOST_HELD", 10 << 20)
    n = 100
    problem = rt.Problem(np.full(n * (n - 1) // 2, -1.0), rt.EQUIVALENCES)
    nothing = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.bool_)
    for step, fits in (
        (lambda proof: Fix((), *nothing, proof), True),
        (lambda proof: Contract(np.arange(n), proof), False),
        (lambda proof: Decompose(((np.arange(n), 0.0, proof),)), False),
    ):
        proof = Leaf()
        for _ in range(100):
            proof = step(proof)
        report = verify(problem, bound_only(0.0, proof))
        assert report.ok == fits
        assert fits or "too deep to hold" in report.reason
