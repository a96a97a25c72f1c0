import numpy as np

import naive
import relatum as rt
from relatum.proof.certificate import Decompose, Leaf, Merge, SubsetOrder
from relatum.solvers.reductions.orders import closed_evidence, component_order, plan_of


def test_alike_elements_are_merged_and_components_split():
    copy = np.array([0, 1, 1, 2, 2, 2])
    d = np.array([[0.0, 2, -1], [-2, 0, 3], [1, -3, 0]])
    problem = rt.Problem(d[np.ix_(copy, copy)], rt.LINEAR_ORDERS)
    plan = plan_of(problem)
    assert len(plan.w) == 3
    e = rt.infer(problem, prove=True)
    assert isinstance(e.certificate.proof, Merge)
    assert isinstance(e.certificate.proof.then, SubsetOrder)  # one component: no parts
    places = e.relation.ranks
    assert sorted(places[1:3]) == list(range(places[1:3].min(), places[1:3].max() + 1))
    sorted_already = rt.infer(rt.Problem(np.triu(np.ones((5, 5))), rt.LINEAR_ORDERS))
    assert isinstance(sorted_already.certificate.proof, Leaf | Merge)
    assert sorted_already.relation.order.tolist() == [0, 1, 2, 3, 4]


def test_two_components_are_parts_of_a_proof():
    d = np.array([[0.0, 2, -1], [-2, 0, 3], [1, -3, 0]])
    both = np.block([[d, np.ones((3, 3))], [-np.ones((3, 3)), d]])
    e = rt.infer(rt.Problem(both, rt.LINEAR_ORDERS), prove=True)
    assert isinstance(e.certificate.proof, Decompose)
    assert [part[0].tolist() for part in e.certificate.proof.parts] == [[0, 1, 2], [3, 4, 5]]


def test_components_come_in_topological_order_with_small_numbers_first():
    d = np.zeros((5, 5))
    for a, b in ((4, 2), (2, 3), (3, 4), (3, 0)):
        d[a, b], d[b, a] = 1, -1
    assert [p.tolist() for p in component_order(d)] == [[1], [2, 3, 4], [0]]


def test_evidence_is_closed_and_a_cycle_clashes():
    rng = np.random.default_rng(0)
    clashes = 0
    for _ in range(40):
        pairs = [tuple(rng.choice(5, 2, replace=False).tolist()) for _ in range(4)]
        known = rt.LINEAR_ORDERS & rt.evidence(related=pairs)
        arcs = np.zeros((5, 5), dtype=bool)
        arcs[tuple(np.array(pairs).T)] = True
        truth = {(a, b) for a in range(5) for b in naive.reachable(arcs.tolist(), a) if a != b}
        closed = closed_evidence(rt.Problem(np.zeros((5, 5)), known))
        if any((b, a) in truth for a, b in truth):
            clashes += 1
            assert closed is None or closed[2]
        else:
            assert {tuple(p) for p in np.argwhere(closed[0]).tolist()} == truth
    assert 5 < clashes < 35
