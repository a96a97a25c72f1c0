"""What a node writes down is what the checker accepts."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.lp import FirstOrderLP
from relatum.proof.certificate import Branch, Contract
from relatum.solvers.partition.arrays import square
from relatum.solvers.partition.exact.node import Node, pool_cuts
from relatum.solvers.partition.exact.relaxation import Relaxation


@pytest.fixture
def problem():
    rng = np.random.default_rng(4)
    truth = np.repeat([0, 1, 2], 4)
    i, j = np.triu_indices(12, 1)
    return rt.Problem(
        rng.normal(size=len(i)) + np.where(truth[i] == truth[j], 1.5, -1.5), rt.EQUIVALENCES
    )


def root_of(problem):
    weights = square(problem.folded()[0], problem.n)
    state = np.full(weights.shape, -1, dtype=np.int8)
    return Node(Relaxation(weights, state), np.arange(problem.n))


def accepted(problem, bound, proof):
    e = rt.Estimate(
        rt.Status.BOUND_ONLY, None, -np.inf, bound, rt.Certificate(bound, proof), "node"
    )
    return rt.verify(problem, e)


def test_bounds_fixings_and_contractions_are_proved(problem):
    best = rt.infer(problem, prove=True)
    node = root_of(problem)
    kinds = set()
    for _ in range(6):
        node.run(200)
        node.relaxation.add_triangles(0.01)
        if not node.empty:
            node.fix_by_reduced_cost(best.value + 1e-9, least_share=0.0)
        limit = max(node.bound, best.value + 1e-6)
        proof = node.proof(limit)
        kinds.add(type(proof).__name__)
        report = accepted(problem, limit + 1e-6, proof)
        assert report, report.reason
        assert limit >= best.value - 1e-9
    assert any(isinstance(s.step(proof), Contract) for s in node.stages)
    assert len(np.unique(node.labels)) == node.relaxation.n
    joined = node.labels[:, None] == node.labels[None, :]
    assert (best.relation.matrix() | ~joined).all()


def test_branches_are_proved_and_cover_both_cases(problem):
    node = root_of(problem)
    node.run(20)
    children = node.child((0, 5), False), node.child((0, 5), True)
    for child in children:
        child.run(100)
    node.split((0, 5), *children)
    limit = max(child.bound for child in children)
    proof = node.proof(min(limit, node.best_bound - 1e-3))
    assert isinstance(proof, Branch)
    assert accepted(problem, limit + 1e-6, proof)
    assert not accepted(problem, limit - 0.01, proof)


def test_rows_without_weight_are_no_part_of_a_proof():
    lp = FirstOrderLP(np.array([2.0, 3.0, -4.0]))
    lp.add_triples("transitive", [[0, 1, 2], [1, 0, 2]], [[0, 1, 2], [0, 2, 1]])
    lp.run(500)
    (cut,) = pool_cuts(lp.pool)
    assert cut.index.tolist() == [[0, 1, 2]]
    assert (cut.multipliers > 0).all()
