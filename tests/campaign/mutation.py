"""Random changes to proofs: rows, multipliers, indices, pairs, claims, labels, prices and trees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from campaign import rows, trees
from relatum.proof import (
    FAMILIES,
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

NUMBERS = (0.0, -0.0, 0.5, 1.0, 2.0, -1.0, math.nan, math.inf, -math.inf)
EXTREMES = (1.7e308, -1.7e308, 5e-324, 1e-300, 1e300, 2.0**89, 2.0**100, 2.0**-60, 1e15, 1e-9)
NAMELESS = ("nonsense", "", "a\nb")  # families of rows that there are not
SHIFTS = (0.0, 0.5, math.nan)  # of labels that are no integers
PLACES = (-1, -2, 2**31, 2**40, -(2**40), 2**62, -(2**63), 2**63 - 1)


def raw_cuts(family, index, multipliers):
    """Cuts that nobody looked at, as unpickling makes them."""
    cut = object.__new__(Cuts)
    for name, value in (("family", family), ("index", index), ("multipliers", multipliers)):
        object.__setattr__(cut, name, value)
    return cut


def number(rng, now):
    """A number in place of another one."""
    kind = rng.integers(6)
    if kind == 0:
        return float(rng.choice(NUMBERS))
    if kind == 1:
        return float(rng.choice(EXTREMES))
    if kind == 2:
        return float(np.nextafter(now, rng.choice([-np.inf, np.inf])))
    if kind == 3:
        return float(now * rng.choice([0.5, 2.0, -1.0, 3.0, 1 + 2.0**-40, 1e6]))
    return float(now + rng.choice([-1.0, 1.0]) * 2.0 ** -int(rng.integers(0, 60)))


def place(rng, n):
    """The number of an element, usually one that exists."""
    return int(rng.choice(PLACES)) if rng.random() < 0.15 else int(rng.integers(-1, n + 1))


def labels(rng, now, n):
    """Other labels of elements."""
    new = np.array(now, dtype=np.int64).ravel().copy()
    kind = rng.integers(7)
    if kind == 0 and len(new) > 1:
        a, b = rng.permutation(len(new))[:2]
        new[a] = new[b]
    elif kind == 1:
        new = rng.permutation(new)
    elif kind == 2 and len(new):
        new[int(rng.integers(len(new)))] = int(rng.choice([-1, n, n + 1, 2**50, -(2**63), 1]))
    elif kind == 3:
        new = rng.integers(0, max(1, int(rng.integers(1, n + 1))), n)
    elif kind == 4:
        new = np.concatenate([new, [0]]) if rng.random() < 0.5 else new[:-1]
    elif kind == 5:
        return new + rng.choice(SHIFTS)
    else:  # two classes become one, and the numbers stay without holes
        new = np.unique(np.where(new == new.max(initial=0), 0, new), return_inverse=True)[1]
    return new


# --- rows ---------------------------------------------------------------------------------------


def _multipliers(rng, cut, n):
    y = cut.multipliers.copy()
    if len(y) == 0:
        return cut
    if rng.random() < 0.2:
        return Cuts(cut.family, cut.index, y * float(rng.choice([0.5, 2.0, 1e300, -1.0, 1e-300])))
    k = int(rng.integers(len(y)))
    y[k] = number(rng, y[k])
    return Cuts(cut.family, cut.index, y)


def _index(rng, cut, n):
    index = cut.index.copy()
    if index.size == 0:
        return cut
    r, k = int(rng.integers(index.shape[0])), int(rng.integers(index.shape[1]))
    kind = rng.integers(4)
    if kind == 0:
        index[r, k] = place(rng, n)
    elif kind == 1:
        index[r] = rng.permutation(index[r])
    elif kind == 2:
        index[r, k] = index[r, int(rng.integers(index.shape[1]))]
    else:
        index = np.insert(index, k, -1, axis=1)
    return Cuts(cut.family, index, cut.multipliers)


def _number_of_rows(rng, cut, n):
    if len(cut) == 0:
        return cut
    r = int(rng.integers(len(cut)))
    if rng.random() < 0.5:
        keep = np.arange(len(cut)) != r
        return Cuts(cut.family, cut.index[keep], cut.multipliers[keep])
    again = np.append(np.arange(len(cut)), [r] * int(rng.integers(1, 4)))
    return Cuts(cut.family, cut.index[again], cut.multipliers[again])


def _family(rng, cut, n):
    name = str(rng.choice([*sorted(FAMILIES), *NAMELESS]))
    index = cut.index
    width = FAMILIES[name].width if name in FAMILIES else None
    if width is not None and index.shape[1] > 0:
        index = index[:, np.arange(width) % index.shape[1]]
    return Cuts(name, index, cut.multipliers)


def _arrays(rng, cut, n):
    """Arrays of other types and shapes than a constructor lets through."""
    index, y = cut.index, cut.multipliers
    kind = rng.integers(10)
    if kind == 0:
        return raw_cuts(cut.family, index, np.append(y, [0.0, 1e6]))
    if kind == 1:
        return raw_cuts(cut.family, index, y[:, None])
    if kind == 2:
        near = np.linspace(0.0, 0.9, index.shape[1]) if rng.random() < 0.5 else 0.4
        return raw_cuts(cut.family, index[:, :1] + 0.0 * index + near, y)
    if kind == 3:
        return raw_cuts(cut.family, index.astype(np.int8), y.astype(np.float16))
    if kind == 4:
        return raw_cuts(cut.family, index.astype(object), y.astype(object))
    if kind == 5:
        return raw_cuts(cut.family, index[..., None], y)
    if kind == 6:
        return raw_cuts(cut.family, index.tolist(), y.tolist())
    if kind == 7:
        return raw_cuts(cut.family, index.ravel(), y)
    if kind == 8:
        return raw_cuts(cut.family, index, y.astype(complex))
    return raw_cuts(cut.family, index, y[:1].repeat(len(y) + 1))


_CUT_CHANGES = (_multipliers, _multipliers, _index, _number_of_rows, _family, _arrays)


def random_cuts(rng, names, cap, n, square=True):
    """Rows of some family that holds, or hardly, with random multipliers."""
    family = str(rng.choice(sorted(rows.FAMILIES)))
    index = rows.random_index(rng, family, (n, n), cap or int(rng.integers(1, 4)))
    if index is None:
        return Cuts("has_image", np.zeros((1, 1), dtype=np.int64), np.ones(1))
    y = float(rng.choice([0.5, 1.0, 2.0, 1e3, 2.0**80, 1.7e308]))
    many = int(rng.choice([1, 1, 1, 2, 20]))
    return Cuts(family, np.array([index] * many), np.full(many, y))


def change_cuts(rng, node, around):
    """A node with other rows."""
    cuts = list(node.cuts)
    kind = rng.integers(8)
    if cuts and kind < 6:
        k = int(rng.integers(len(cuts)))
        change = _CUT_CHANGES[int(rng.integers(len(_CUT_CHANGES)))]
        cuts[k] = change(rng, cuts[k], around.n)
    elif cuts and kind == 6:
        k = int(rng.integers(len(cuts)))
        cuts = cuts[:k] + cuts[k + 1 :] if rng.random() < 0.5 else [*cuts, *[cuts[k]] * 12]
    else:
        cuts += [random_cuts(rng, around.names, around.cap, around.n)] * int(rng.choice([1, 1, 16]))
    return replace(node, cuts=tuple(cuts))


# --- nodes --------------------------------------------------------------------------------------


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
