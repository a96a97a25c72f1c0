"""Components: lossless for equivalence relations, and not applied to anything else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.proof.certificate import Certificate, Leaf
from relatum.proof.checker.verification import check_certificate
from relatum.solvers.reductions import Components, checkable, first_reduction
from relatum.solvers.reductions.components import positive_components


def random_problem(rng, n=4):
    c = rng.normal(size=(n, n)) - 0.4
    feasible = rt.EQUIVALENCES
    if rng.random() < 0.4:
        feasible = feasible & rt.evidence([(0, 1)], [(2, 3)])
    if rng.random() < 0.3:
        feasible = feasible & rt.at_most(2)
    if rng.random() < 0.3:
        feasible = feasible & rt.one_per_group([0, 1, 0, 1])
    return rt.Problem(c, feasible)


def layouts(rng):
    problem = random_problem(rng)
    yield problem
    yield rt.Problem(problem.folded()[0], problem.feasible)
    pairs = np.argwhere(rng.random((4, 4)) < 0.6)
    yield rt.Problem.from_pairs(
        pairs[:, 0], pairs[:, 1], rng.normal(size=len(pairs)), n=4, background=-0.5,
        feasible=problem.feasible, combine="sum",
    )  # fmt: skip


@pytest.mark.slow
def test_parts_add_up_to_the_optimum():
    rng = np.random.default_rng(0)
    parts = 0
    for _ in range(40):
        for problem in layouts(rng):
            feasible = problem.feasible
            ys = naive.feasible(
                naive.NAMED["EQUIVALENCES"], (4, 4),
                problem.evidence.related.tolist(), problem.evidence.unrelated.tolist(),
                feasible.cap, None if not feasible.groups else feasible.groups[0].codes.tolist(),
            )  # fmt: skip
            best = naive.best_value(problem.dense(), ys)
            reduced = Components().apply(problem)
            estimates = [rt.infer(p, solver="branch_and_cut", prove=True) for p in reduced.parts]
            total = reduced.constant + sum(e.value for e in estimates)
            assert total == pytest.approx(best)
            relation = reduced.invert([e.relation for e in estimates])
            assert problem.feasible.contains(relation)
            assert problem.value(relation) == pytest.approx(best)
            bounds = [e.bound for e in estimates]
            proofs = [e.certificate.proof for e in estimates]
            claim, proof = checkable(problem, *reduced.prove(bounds, proofs))
            assert best - 1e-9 <= claim <= best + 1e-5
            check_certificate(problem, Certificate(claim, proof))
            divided = reduced.divide(relation)
            assert [d.labels.tolist() for d in divided] == [
                e.relation.labels.tolist() for e in estimates
            ]
            parts += len(reduced.parts)
    assert parts > 60


def test_components_are_those_of_positive_and_given_pairs():
    c = np.full((6, 6), -1.0)
    c[0, 3] = 5.0
    c[4, 1] = 1.5  # with c[1, 4] = -1 it is still positive
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.evidence(related=[(2, 5)]))
    labels = positive_components(problem)
    assert rt.Partition(labels) == rt.Partition([0, 1, 2, 0, 1, 2])


def test_what_does_not_decompose_is_left_alone():
    c = -np.ones((3, 3))
    accepts = Components().accepts
    assert accepts(rt.Problem(c, rt.EQUIVALENCES & rt.at_most(2)))
    for other in (
        rt.EQUIVALENCES & rt.CONNEX,
        rt.PREORDERS,
        rt.SYMMETRIC,
        rt.SYMMETRIC & rt.TRANSITIVE,
    ):
        assert not accepts(rt.Problem(c, other)), other
    sparse = rt.Problem.from_pairs([0], [1], [1.0], n=3, background=0.5, feasible=rt.EQUIVALENCES)
    assert not accepts(sparse)
    assert first_reduction(rt.Problem(c, rt.EQUIVALENCES), frozenset({"components"}), True) is None


def test_sets_smaller_than_equivalences_are_solved_as_they_are():
    """All pairs, and the identity: nothing may be decided component by component."""
    rng = np.random.default_rng(1)
    for names in (("CONNEX",), ("ANTISYMMETRIC",)):
        feasible = rt.EQUIVALENCES
        for name in names:
            feasible = feasible & getattr(rt, name)
        for given in ((), [(0, 0)], [(0, 1)]):
            problem = rt.Problem(rng.normal(size=(3, 3)), feasible & rt.evidence(given))
            ys = naive.feasible(
                (*naive.NAMED["EQUIVALENCES"], *(n.lower() for n in names)), (3, 3), given
            )
            e = rt.infer(problem, solver="branch_and_cut", prove=True)
            assert rt.verify(problem, e), rt.verify(problem, e).reason
            assert e.value == pytest.approx(naive.best_value(problem.dense(), ys))


def test_leaf_proofs_of_parts_are_bounded_by_their_claims():
    problem = rt.Problem([2.0, -1.0, -1.0, -1.0, -1.0, 2.0], rt.EQUIVALENCES)
    reduced = Components().apply(problem)
    assert len(reduced.parts) == 2
    bound, proof = reduced.prove([2.0, Fraction(2)], [Leaf(), Leaf()])
    assert bound == 4
    check_certificate(problem, Certificate(4.0, proof))
    with pytest.raises(rt.errors.CertificateError):
        check_certificate(problem, Certificate(3.0, reduced.prove([2.0, 1.0], [Leaf(), Leaf()])[1]))


def test_bounds_of_parts_are_floats_and_the_whole_is_not_below_their_sum():
    problem = rt.Problem([2.0, -1.0, -1.0, -1.0, -1.0, 2.0], rt.EQUIVALENCES)
    third = Fraction(7, 3)
    bound, proof = Components().apply(problem).prove([third, third], [Leaf(), Leaf()])
    claims = [part[1] for part in proof.parts]
    assert all(isinstance(c, float) and c >= third for c in claims)
    assert bound == sum(map(Fraction, claims))
