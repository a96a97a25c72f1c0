"""Proofs as lists of nodes: parents before children, each node in one place only.

A proof that refers to one node twice could be exponentially larger than its file; so what is
read has to be a tree, of the number of nodes and the depth that are stated. Nothing here calls
itself: the depth of a proof is up to whoever wrote it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.io.bundle.archive import DamageError, flags, floats, whole_numbers
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
    Proof,
    SubsetOrder,
)

MOST_NODES, DEEPEST = 2_000_000, 100_000
Take = Callable[[Any], NDArray[Any]]  # finds the array that an entry of the manifest refers to
Put = Callable[[NDArray[Any]], Any]  # keeps an array, and returns the entry that refers to it


def written(root: Proof, put: Put) -> tuple[list[dict[str, Any]], int]:
    """Return the nodes of a proof as JSON, and the depth of the tree.

    Raises
    ------
    DataError
        If there are more nodes, or they are nested deeper, than is read again; if it is no tree.
    """
    order: list[tuple[Proof, int]] = [(root, 1)]
    seen: set[int] = set()
    out = []
    for node, depth in order:  # grows while it is read
        if type(node) not in _WRITE:
            raise DataError(
                f"A proof is made of its own kinds of nodes, got {type(node).__name__}."
            )
        if id(node) in seen and not isinstance(node, Leaf | Prices | SubsetOrder):
            raise DataError(
                f"A proof is a tree, but a {type(node).__name__} of this one is used twice; infer "
                "the estimate again."
            )
        seen.add(id(node))
        if len(order) > MOST_NODES or depth > DEEPEST:
            raise DataError(
                f"The proof has more than {MOST_NODES} nodes, or is nested more than {DEEPEST} "
                "times, which no bundle holds; keep the estimate in a .json file, without it."
            )
        entry, below = _WRITE[type(node)](node, len(order), put)
        order += [(child, depth + 1) for child in below]
        out.append({"type": type(node).__name__, **entry})
    return out, max(depth for _, depth in order)


Written = tuple[dict[str, Any], list[Proof]]  # fields, and the nodes that get the next numbers


def _cuts(cuts: tuple[Cuts, ...], put: Put) -> list[dict[str, Any]]:
    return [
        {"family": c.family, "index": put(c.index), "multipliers": put(c.multipliers)} for c in cuts
    ]


def _write_leaf(node: Leaf, number: int, put: Put) -> Written:
    return {"cuts": _cuts(node.cuts, put), "infeasible": bool(node.infeasible)}, []


def _write_branch(node: Branch, number: int, put: Put) -> Written:
    pair = [int(element) for element in node.pair]
    below = [node.unrelated, node.related]
    return {"pair": pair, "unrelated": number, "related": number + 1}, below


def _facts(node: Fix | Imply, put: Put) -> dict[str, Any]:
    pairs, values = np.asarray(node.pairs, np.int64), np.asarray(node.values, np.bool_)
    return {"pairs": put(pairs.reshape(-1, 2)), "values": put(values)}


def _write_fix(node: Fix, number: int, put: Put) -> Written:
    return {"cuts": _cuts(node.cuts, put), **_facts(node, put), "then": number}, [node.then]


def _write_imply(node: Imply, number: int, put: Put) -> Written:
    names = sorted(set(node.families))
    place = {name: k for k, name in enumerate(names)}
    of = np.array([place[name] for name in node.families], dtype=np.uint8)
    entry = {"families": {"names": names, "of": put(of)}, "rows": put(np.asarray(node.rows))}
    return {**entry, **_facts(node, put), "then": number}, [node.then]


def _write_decompose(node: Decompose, number: int, put: Put) -> Written:
    sets = [put(np.asarray(elements, np.int64)) for elements, _, _ in node.parts]
    bounds = put(np.array([bound for _, bound, _ in node.parts], dtype=np.float64))
    parts = [[elements, number + k] for k, elements in enumerate(sets)]
    return {"parts": parts, "bounds": bounds}, [part[2] for part in node.parts]


def _write_labels(node: Contract | Merge, number: int, put: Put) -> Written:
    return {"labels": put(np.asarray(node.labels, np.int64)), "then": number}, [node.then]


def _write_prices(node: Prices, number: int, put: Put) -> Written:
    prices = put(np.asarray(node.prices, np.float64))
    return {"cuts": _cuts(node.cuts, put), "prices": prices}, []


_WRITE: dict[type, Callable[[Any, int, Put], Written]] = {
    Leaf: _write_leaf,
    Branch: _write_branch,
    Fix: _write_fix,
    Imply: _write_imply,
    Decompose: _write_decompose,
    Contract: _write_labels,
    Merge: _write_labels,
    Prices: _write_prices,
    SubsetOrder: lambda node, number, put: ({}, []),
}
_TYPES = {node.__name__: node for node in _WRITE}


class _Reader:
    """Builds nodes from the last to the first, each from later ones that nothing else has."""

    def __init__(self, take: Take) -> None:
        self.take = take
        self.built: dict[int, tuple[Proof, int]] = {}  # with the depth below
        self.depth = 0  # below the node that is being built
        self.now = 0

    def child(self, number: Any) -> Proof:
        if type(number) is not int or not number > self.now or number not in self.built:
            raise DamageError(
                f"node {self.now} of the proof refers to {str(number)[:20]}, which is no later "
                "node or has another parent"
            )
        node, depth = self.built.pop(number)
        self.depth = max(self.depth, depth)
        return node

    def cuts(self, entries: Any) -> tuple[Cuts, ...]:
        return tuple(
            Cuts(
                _text(entry["family"]),
                whole_numbers(self.take(entry["index"]), 2),
                floats(self.take(entry["multipliers"])),
            )
            for entry in entries
        )

    def infeasible(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise DamageError("a leaf does not say whether it is infeasible")
        return value

    def pair(self, value: Any) -> tuple[int, int]:
        if not (isinstance(value, list) and [type(e) for e in value] == [int, int]):
            raise DamageError("a branch names no pair")
        return value[0], value[1]

    def pairs(self, value: Any) -> Index:
        found = whole_numbers(self.take(value), 2)
        if found.shape[1] != 2:
            raise DamageError("pairs are not pairs")
        return found

    def values(self, value: Any) -> Any:
        return flags(self.take(value))

    def families(self, value: Any) -> tuple[str, ...]:
        names = [_text(name) for name in value["names"]]
        return tuple(names[k] for k in whole_numbers(self.take(value["of"])).tolist())

    def rows(self, value: Any) -> Index:
        return whole_numbers(self.take(value), 2)

    def labels(self, value: Any) -> Index:
        return whole_numbers(self.take(value))

    def prices(self, value: Any) -> Any:
        return floats(self.take(value))

    then = unrelated = related = child

    def parts(self, entries: Any, bounds: Any) -> tuple[tuple[Index, float, Proof], ...]:
        limits = floats(self.take(bounds)).tolist()
        return tuple(
            (whole_numbers(self.take(elements)), bound, self.child(node))
            for (elements, node), bound in zip(entries, limits, strict=True)
        )

    def node(self, number: int, entry: dict[str, Any]) -> None:
        kind, self.now, self.depth = _TYPES[entry["type"]], number, 0
        if kind is Decompose:
            found: Proof = Decompose(self.parts(entry["parts"], entry["bounds"]))
        else:
            names = [field.name for field in dataclasses.fields(kind)]
            found = kind(**{name: getattr(self, name)(entry[name]) for name in names})
        self.built[number] = found, self.depth + 1


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DamageError("a family of rows has no name")
    return value


def read(entries: Any, stated: tuple[Any, Any] | None, take: Take) -> Proof:
    """Return the proof that nodes make, after checking that they are one tree.

    Parameters
    ----------
    entries : list of JSON objects
    stated : (int, int) or None
        The number of nodes and the depth as the manifest states them.
    take : callable
        Finds arrays.
    """
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_NODES:
        raise DamageError(f"a proof has 1 to {MOST_NODES} nodes")
    if stated is not None and stated[0] != len(entries):
        raise DamageError(f"{stated[0]} nodes are stated, and there are {len(entries)}")
    reader = _Reader(take)
    for number in range(len(entries) - 1, -1, -1):
        reader.node(number, entries[number])
    root, depth = reader.built.pop(0)
    if reader.built:
        raise DamageError(f"node {min(reader.built)} of the proof has no parent")
    if depth > DEEPEST or (stated is not None and stated[1] != depth):
        raise DamageError(f"the proof is nested {depth} times, which is not as stated, or too deep")
    return root


def from_version_1(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a node as it is written today, lists in place of small arrays."""
    node = {k: v["node"] if isinstance(v, dict) and "node" in v else v for k, v in entry.items()}
    if "cuts" in node:
        node["cuts"] = [
            {"family": c["cuts"], "index": c["of"][0], "multipliers": c["of"][1]}
            for c in node["cuts"]
        ]
    if "families" in node:
        names = sorted(set(node["families"]))
        node["families"] = {"names": names, "of": [names.index(f) for f in node["families"]]}
    if "parts" in node:
        node["bounds"] = [float(bound) for _, bound, _ in node["parts"]]
        node["parts"] = [[elements, child["node"]] for elements, _, child in node["parts"]]
    return node
