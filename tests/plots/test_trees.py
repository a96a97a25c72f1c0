"""Trees of certificates: every node of the proof is there, once, below its parent."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.plots.trees import _nodes, _places
from relatum.proof import Branch, Leaf

pytest.importorskip("matplotlib")


def proved(n=12, seed=3):
    scores = np.random.default_rng(seed).normal(size=n * (n - 1) // 2)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    return problem, rt.infer(problem, prove=True)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_a_tree_has_a_text_for_each_node():
    tree = Branch((0, 1), Branch((1, 2), Leaf(), Leaf(infeasible=True)), Leaf())
    axes = rt.plots.certificate(rt.Certificate(3.0, tree))
    assert texts(axes) == [
        "0 ~ 1?",
        "no\n1 ~ 2?",
        "yes\npair by pair",
        "no\npair by pair",
        "yes\npair by pair\nimpossible",
    ]
    assert "3 bits" in axes.get_title()
    assert len(axes.lines) == 4


def test_counts_are_those_of_the_certificate():
    _, e = proved()
    nodes = _nodes(e.certificate.proof, None, 2000)
    counts = e.certificate.counts()
    assert sum(text.endswith("?") for _, text, _ in nodes) == counts["branches"]
    inner = {parent for parent, _, _ in nodes}
    assert sum(k not in inner for k in range(len(nodes))) == counts["leaves"]


def test_nodes_stand_below_their_parents_and_apart():
    _, e = proved()
    nodes = _nodes(e.certificate.proof, None, 2000)
    places = _places(nodes)
    assert len(set(places)) == len(nodes)
    for (parent, _, _), (_, y) in zip(nodes, places, strict=True):
        assert parent < 0 or places[parent][1] == y + 1


def test_ids_are_names_and_large_trees_are_cut():
    far = 10**9  # too far from the number of pairs to be a count: ids
    problem = rt.Problem.from_pairs([7, 7], [8, far], [1.0, -1.0], feasible=rt.EQUIVALENCES)
    tree = rt.Certificate(1.0, Branch((0, 2), Leaf(), Leaf()))
    assert texts(rt.plots.certificate(tree, problem=problem))[0] == f"7 ~ {far}?"
    assert texts(rt.plots.certificate(tree, most=1)) == ["0 ~ 2?", "..."]


def test_what_has_no_certificate_is_refused():
    problem, _ = proved(4)
    with pytest.raises(rt.errors.DataError, match="prove=True"):
        rt.plots.certificate(rt.infer(problem).relation)


@pytest.mark.parametrize("other", [7, True, np.ones(3)])
def test_what_a_certificate_is_about_is_a_problem(other):
    e = rt.infer(rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES), prove=True)
    with pytest.raises(rt.errors.DataError, match="is about is a Problem, got "):
        rt.plots.certificate(e, problem=other)
