"""Proof trees as data: every node with the way to it, and trees with one node replaced."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from relatum.proof import Branch, Decompose, Leaf, Proof

_LISTED = ("families", "rows", "pairs", "values")  # of Fix and Imply, one entry for each pair
MOST_NODES = 400  # looked at: mutants may be far larger, or go round in circles


def steps(node):
    """The ways from a node to its children."""
    if isinstance(node, Decompose):
        return [("parts", k) for k in range(len(node.parts))]
    if isinstance(node, Branch):
        return [("unrelated", None), ("related", None)]
    return [("then", None)] if hasattr(node, "then") else []


def child(node, step):
    name, k = step
    return getattr(node, name) if k is None else node.parts[k][2]


def nodes(root):
    """All nodes with their ways, the root first."""
    found, at = [((), root)], 0
    while at < len(found) < MOST_NODES:
        way, node = found[at]
        found += [((*way, step), child(node, step)) for step in steps(node)]
        at += 1
    return found


def with_child(node, step, new):
    name, k = step
    if k is None:
        return replace(node, **{name: new})
    parts = list(node.parts)
    parts[k] = (*parts[k][:2], new)
    return replace(node, parts=tuple(parts))


def put(root, way, new):
    """The tree with the node at a way replaced; what is not on the way is shared, not copied."""
    if not way:
        return new
    return with_child(root, way[0], put(child(root, way[0]), way[1:], new))


def copied(root):
    """A copy of a tree that shares no node with it."""
    node = replace(root) if fields(root) else type(root)()
    for step in steps(root):
        node = with_child(node, step, copied(child(root, step)))
    return node


def kinds(root):
    """The kinds of node, and the families of rows, that occur."""
    out = set()
    for _, node in nodes(root):
        name = type(node).__name__
        out.add("infeasible Leaf" if isinstance(node, Leaf) and node.infeasible else name)
        out |= {f"rows {cut.family}" for cut in getattr(node, "cuts", ())}
        out |= {f"rows {family}" for family in getattr(node, "families", ())}
    return out


def well_formed(root):
    """Whether a tree is made of nodes, and its rows of arrays that fit: it can be changed again."""
    for _, node in nodes(root):
        if not isinstance(node, Proof):
            return False
        listed = [getattr(node, name) for name in _LISTED if hasattr(node, name)]
        if len({len(part) for part in listed}) > 1:
            return False
        for cut in getattr(node, "cuts", ()):
            index, y = cut.index, cut.multipliers
            arrays = isinstance(index, np.ndarray) and isinstance(y, np.ndarray)
            if not arrays or index.dtype != np.int64 or y.dtype != np.float64:
                return False
            if index.ndim != 2 or y.shape != (len(index),):
                return False
    return True
