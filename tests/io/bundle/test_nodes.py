"""Proofs as lists of nodes: they come back the same, and what is no tree is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.io.bundle import nodes
from relatum.io.bundle.archive import DamageError
from relatum.proof import (
    Branch,
    Contract,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    SubsetOrder,
)

CUTS = (Cuts("transitive", [[0, 1, 2], [1, 2, 0]], [0.5, 0.25]), Cuts("at_most", [[0, 3]], [1.0]))
PAIRS, VALUES = np.array([[0, 1], [2, 2]]), np.array([True, False])
ROWS = np.array([[0, 1, 2], [0, 1, -1]])
EVERY = Branch(
    (0, 1),
    Fix(
        CUTS,
        PAIRS,
        VALUES,
        Decompose(
            (
                (np.array([0, 2]), 1.5, Contract(np.array([0, 0]), Leaf(CUTS))),
                (np.array([1]), -np.inf, Leaf(infeasible=True)),
            )
        ),
    ),
    Imply(
        ("transitive", "symmetric"),
        ROWS,
        PAIRS,
        VALUES,
        Branch(
            (2, 1),
            Merge(np.array([0, 1, 1]), SubsetOrder()),
            Prices(CUTS, np.array([0.5, -1.0, 2.0])),
        ),
    ),
)


def _same(a: Any, b: Any) -> bool:
    if dataclasses.is_dataclass(a):
        fields = [field.name for field in dataclasses.fields(a)]
        return type(a) is type(b) and all(_same(getattr(a, f), getattr(b, f)) for f in fields)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.array_equal(a, b))


def _write(proof):
    kept: list[np.ndarray] = []

    def put(array):
        kept.append(np.asarray(array))
        return {"array": len(kept) - 1}

    entries, depth = nodes.written(proof, put)
    return entries, depth, lambda entry: kept[entry["array"]]


def test_every_node_comes_back():
    entries, depth, take = _write(EVERY)
    assert (len(entries), depth) == (11, 5)
    assert _same(nodes.read(entries, (11, 5), take), EVERY)


def test_a_deep_proof_is_written_and_read_without_recursion():
    proof: Any = Leaf()
    for _ in range(50_000):
        proof = Branch((0, 1), Leaf(), proof)
    entries, depth, take = _write(proof)
    assert depth == 50_001
    again = nodes.read(entries, (len(entries), depth), take)
    for _ in range(50_000):
        again = again.related
    assert isinstance(again, Leaf)


def test_shared_leaves_are_written_out_shared_trees_and_too_much_refused(monkeypatch):
    leaf = Leaf(CUTS)
    entries, _, take = _write(Branch((0, 1), leaf, leaf))
    assert len(entries) == 3
    assert _same(nodes.read(entries, (3, 2), take), Branch((0, 1), leaf, leaf))
    cycle = Branch((0, 1), leaf, leaf)
    object.__setattr__(cycle, "related", cycle)
    proof: Any = leaf
    for _ in range(60):
        proof = Branch((0, 1), proof, proof)
    for shared in (cycle, proof):
        with pytest.raises(DataError, match="used twice"):
            _write(shared)
    with pytest.raises(DataError, match="its own kinds of nodes, got str"):
        _write(Branch((0, 1), leaf, "trust me"))
    proof = leaf
    for _ in range(600):
        proof = Branch((0, 1), proof, leaf)
    monkeypatch.setattr(nodes, "MOST_NODES", 1000)
    with pytest.raises(DataError, match="more than 1000 nodes"):
        _write(proof)


def _branch(unrelated, related):
    return {"type": "Branch", "pair": [0, 1], "unrelated": unrelated, "related": related}


LEAF = {"type": "Leaf", "cuts": [], "infeasible": False}


@pytest.mark.parametrize(
    ("entries", "stated"),
    [
        ([], (0, 0)),
        ([_branch(1, 1), LEAF], (2, 2)),  # shared
        ([_branch(1, 2), _branch(3, 3), LEAF, LEAF], (4, 3)),
        ([_branch(1, 0), LEAF], (2, 2)),  # a cycle
        ([_branch(1, 2), LEAF], (2, 2)),  # a child that is missing
        ([_branch(1, -1), LEAF, LEAF], (3, 2)),
        ([_branch(1, True), LEAF, LEAF], (3, 2)),
        ([_branch(1, 2.0), LEAF, LEAF], (3, 2)),
        ([LEAF, LEAF], (2, 1)),  # a node without a parent
        ([LEAF], (2, 1)),
        ([LEAF], (1, 2)),
        ([{"type": "Tree"}], (1, 1)),
        ([{"type": "Leaf", "cuts": []}], (1, 1)),
        ([{"type": "Leaf", "cuts": [], "infeasible": 0}], (1, 1)),
        ([_branch(1, 2) | {"pair": [0, 0.5]}, LEAF, LEAF], (3, 2)),
        ([_branch(1, 2) | {"pair": [0, 1, 2]}, LEAF, LEAF], (3, 2)),
    ],
)
def test_what_is_no_tree_is_refused(entries, stated):
    with pytest.raises((DamageError, LookupError)):
        nodes.read(entries, stated, lambda entry: np.zeros(0))


def test_two_to_the_power_of_sixty_leaves_are_refused_at_once():
    entries = [_branch(k + 1, k + 1) for k in range(60)] + [LEAF]
    with pytest.raises(DamageError, match="another parent"):
        nodes.read(entries, (61, 61), lambda entry: np.zeros(0))


def test_fields_of_other_types_are_refused():
    for change in (
        {"pairs": np.array([[0.0, 1.0]])},
        {"pairs": np.array([[0, 1, 2]])},
        {"pairs": np.array([0, 1])},
        {"values": np.array([1])},
    ):
        arrays = {"pairs": np.array([[0, 1]]), "values": np.array([True]), **change}
        entry = {"type": "Fix", "cuts": [], "pairs": "pairs", "values": "values", "then": 1}
        with pytest.raises(DamageError):
            nodes.read([entry, LEAF], (2, 2), arrays.__getitem__)


def test_nodes_of_version_1_are_those_of_today():
    one = {
        "type": "Decompose",
        "parts": [[{"array": 0}, -1.5, {"node": 1}], [{"array": 1}, 2, {"node": 2}]],
    }
    assert nodes.from_version_1(one) == {
        "type": "Decompose",
        "parts": [[{"array": 0}, 1], [{"array": 1}, 2]],
        "bounds": [-1.5, 2.0],
    }
    fix = {"type": "Fix", "cuts": [{"cuts": "path", "of": [{"array": 0}, {"array": 1}]}]}
    fix |= {"pairs": {"array": 2}, "values": {"array": 3}, "then": {"node": 4}}
    cut = {"family": "path", "index": {"array": 0}, "multipliers": {"array": 1}}
    assert nodes.from_version_1(fix) == fix | {"cuts": [cut], "then": 4}
    imply = {
        "type": "Imply",
        "families": ["connex", "antisymmetric", "connex"],
        "then": {"node": 1},
    }
    families = {"names": ["antisymmetric", "connex"], "of": [1, 0, 1]}
    assert nodes.from_version_1(imply) == imply | {"families": families, "then": 1}
