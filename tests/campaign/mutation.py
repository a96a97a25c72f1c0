"""Random changes to proofs: nodes with their pairs, claims, labels and prices, and whole trees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from campaign import rows, trees
from campaign.row_mutation import change_cuts, labels, number, place
from relatum.proof import (
    FAMILIES,
    Branch,
    Contract,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    SubsetOrder,
)


def _branch(rng, node, around):
    kind = rng.integers(5)
    if kind == 0:
        return replace(node, pair=(place(rng, around.n), place(rng, around.n)))
    if kind == 1:
        return replace(node, unrelated=node.related, related=node.unrelated)
    if kind == 2:
        return replace(node, unrelated=node.related)  # shared
    if kind == 3:
        return replace(node, related=None) if rng.random() < 0.5 else replace(node, unrelated=None)
    return replace(node, pair=node.pair[::-1])


def _pairs(rng, pairs, n):
    new = np.array(pairs, dtype=np.int64).reshape(-1, 2).copy()
    if len(new):
        k = int(rng.integers(len(new)))
        new[k] = (place(rng, n), place(rng, n)) if rng.random() < 0.7 else new[k, ::-1]
    return new


def _flipped(rng, values):
    new = np.array(values, dtype=bool).copy()
    if len(new):
        k = int(rng.integers(len(new)))
        new[k] = ~new[k]
    return new


def _fix(rng, node, around):
    kind = rng.integers(5)
    if kind == 0:
        return replace(node, pairs=_pairs(rng, node.pairs, around.n))
    if kind == 1:
        return replace(node, values=_flipped(rng, node.values))
    if kind == 2:
        more = rng.integers(0, around.n, (1, 2))
        pairs = np.concatenate([np.reshape(node.pairs, (-1, 2)), more])
        values = np.append(np.asarray(node.values, dtype=bool), rng.random() < 0.5)
        return replace(node, pairs=pairs, values=values)
    if kind == 3:
        return replace(node, values=np.asarray(node.values)[:-1])
    odd = (np.asarray(node.values, dtype=np.uint8) * 2).view(bool)
    return replace(node, values=odd if rng.random() < 0.5 else np.array(["0"] * len(odd)))


def _imply(rng, node, around):
    count = len(node.pairs)
    kind = rng.integers(6)
    if kind == 0:
        return replace(node, pairs=_pairs(rng, node.pairs, around.n))
    if kind == 1:
        return replace(node, values=_flipped(rng, node.values))
    if kind == 2 and count:
        index = np.array(node.rows).copy()
        index[int(rng.integers(count)), int(rng.integers(index.shape[1]))] = place(rng, around.n)
        return replace(node, rows=index)
    if kind == 3 and count:
        names = list(node.families)
        names[int(rng.integers(count))] = str(rng.choice(sorted(FAMILIES)))
        return replace(node, families=tuple(names))
    order = rng.permutation(count)[: int(rng.integers(0, count + 1))]
    if kind == 4:
        return replace(
            node,
            families=tuple(node.families[k] for k in order),
            rows=np.asarray(node.rows)[order],
            pairs=np.asarray(node.pairs)[order],
            values=np.asarray(node.values)[order],
        )
    return replace(node, values=np.asarray(node.values)[order])


def _decompose(rng, node, around):
    parts = list(node.parts)
    if not parts:
        return node
    k = int(rng.integers(len(parts)))
    elements, claim, proof = parts[k]
    kind = rng.integers(8)
    if kind == 0:
        parts.pop(k)
    elif kind == 1:
        parts.append(parts[k])
    elif kind == 2:
        parts[k] = (elements, number(rng, float(claim)), proof)
    elif kind == 3:
        claims = [-math.inf, math.inf, math.nan, -1.7e308]
        parts[k] = (elements, float(rng.choice(claims)), proof)
    elif kind == 4:
        parts[k] = (rng.permutation(elements), claim, proof)
    elif kind == 5:
        new = np.array(elements).copy()
        if new.size:
            new[int(rng.integers(new.size))] = place(rng, around.n)
        parts[k] = (new, claim, proof)
    elif kind == 6:
        parts[k] = (np.asarray(elements)[:-1], claim, proof)
    else:
        other = parts[int(rng.integers(len(parts)))]
        parts[k] = (elements, claim, other[2])
    return replace(node, parts=tuple(parts))


def _prices(rng, node, around):
    u = np.array(node.prices, dtype=float).copy()
    if len(u) == 0:
        return node
    k, other = int(rng.integers(len(u))), int(rng.integers(len(u)))
    kind = rng.integers(4)
    if kind == 0:
        u[k] = number(rng, u[k])
    elif kind == 1:
        by = float(rng.choice([0.5, 1.0, 1e9, 2.0**-30]))
        u[k], u[other] = u[k] + by, u[other] - by
    elif kind == 2:
        u = u * float(rng.choice([0.5, 0.999, 2.0, 1e300, -1.0]))
    else:
        u = np.append(u, -1.0) if rng.random() < 0.5 else u[:-1]
    return replace(node, prices=u)


def _leaf(rng, node, around):
    return replace(node, infeasible=not node.infeasible)


def _labelled(rng, node, around):
    return replace(node, labels=labels(rng, node.labels, around.n))


CHANGES = {
    Leaf: _leaf,
    Branch: _branch,
    Fix: _fix,
    Imply: _imply,
    Decompose: _decompose,
    Contract: _labelled,
    Merge: _labelled,
    Prices: _prices,
}


def change_node(rng, node, around):
    """A node with some of its fields changed, and a word for it."""
    name = type(node).__name__
    if hasattr(node, "cuts") and rng.random() < 0.75:
        return change_cuts(rng, node, around), f"rows of {name}"
    if type(node) in CHANGES:
        return CHANGES[type(node)](rng, node, around), name
    return Leaf(), name


# --- trees --------------------------------------------------------------------------------------


def wrapped(rng, node, around):
    """A node below another one that says something of its own."""
    n = around.n
    pair = (int(rng.integers(n)), int(rng.integers(n)))
    kind = rng.integers(8)
    if kind == 0:
        other = Leaf(infeasible=bool(rng.random() < 0.5))
        return Branch(pair, node, other) if rng.random() < 0.5 else Branch(pair, other, node)
    if kind == 1:
        return Fix(getattr(node, "cuts", ()), np.array([pair]), rng.random(1) < 0.5, node)
    if kind == 2:
        family = str(rng.choice(sorted(rows.FAMILIES)))
        index = rows.random_index(rng, family, (n, n), around.cap or 2) or [0]
        return Imply((family,), np.array([index]), np.array([pair]), rng.random(1) < 0.5, node)
    if kind == 3:
        elements = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        claim = float(rng.choice([0.0, -math.inf, around.claim, around.claim - 1.0]))
        return Decompose(((elements, claim, node),))
    if kind == 4:
        return Contract(labels(rng, np.arange(n), n), node)
    if kind == 5:
        return Merge(labels(rng, np.arange(n), n), node)
    if kind == 6:
        return SubsetOrder()
    return Prices(getattr(node, "cuts", ()), rng.normal(size=n))


def change_tree(rng, root, around):
    """Another tree, and a word for what happened."""
    every = trees.nodes(root)
    way, node = every[int(rng.integers(len(every)))]
    kind = rng.integers(7)
    if kind == 0:
        return trees.put(root, way, Leaf()), "cut off"
    if kind == 1:
        return trees.put(root, way, Leaf(infeasible=True)), "cut off as infeasible"
    if kind == 2:
        return trees.put(root, way, wrapped(rng, node, around)), "wrapped"
    if kind == 3:
        _, other = every[int(rng.integers(len(every)))]
        return trees.put(root, way, other), "grafted"
    if kind == 4:
        if trees.steps(node):
            step = trees.steps(node)[int(rng.integers(len(trees.steps(node))))]
            return trees.put(root, way, trees.child(node, step)), "skipped"
        return trees.put(root, way, SubsetOrder()), "ordered outright"
    if kind == 5:
        return _circle(trees.copied(root), rng), "circle"
    return trees.put(root, way, rng.choice([None, "Leaf", 3])), "no node"


def _circle(root, rng):
    """A tree whose last node is its first one."""
    every = trees.nodes(root)
    inner = [node for _, node in every if trees.steps(node) and not isinstance(node, Decompose)]
    if inner:
        node = inner[int(rng.integers(len(inner)))]
        object.__setattr__(node, trees.steps(node)[0][0], root)
    return root
