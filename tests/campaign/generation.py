"""Random small problems of every kind, each with its meaning in plain terms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import relatum as rt
from campaign.truth import ON_ONE_SET, PROPERTIES, Meaning
from relatum.problem import NAMED_SETS

NAMES = {
    "RELATIONS": (),
    "PARTIAL_MAPS": ("unique_image",),
    "MAPS": ("has_image", "unique_image"),
    "INJECTIONS": ("has_image", "unique_image", "unique_preimage"),
    "BIJECTIONS": ("has_image", "unique_image", "has_preimage", "unique_preimage"),
    "EQUIVALENCES": ("reflexive", "symmetric", "transitive"),
    "PREORDERS": ("reflexive", "transitive"),
    "PARTIAL_ORDERS": ("reflexive", "transitive", "antisymmetric"),
    "WEAK_ORDERS": ("reflexive", "transitive", "connex"),
    "LINEAR_ORDERS": ("reflexive", "transitive", "antisymmetric", "connex"),
    "REFLEXIVE": ("reflexive",),
    "SYMMETRIC": ("symmetric",),
    "ANTISYMMETRIC": ("antisymmetric",),
    "TRANSITIVE": ("transitive",),
    "CONNEX": ("connex",),
    "HAS_IMAGE": ("has_image",),
    "UNIQUE_PREIMAGE": ("unique_preimage",),
    "HAS_PREIMAGE": ("has_preimage",),
}
LARGER = ("EQUIVALENCES", "LINEAR_ORDERS", "WEAK_ORDERS")  # listed beyond four elements
SHAPES = ((1, 1), (1, 3), (2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (4, 2), (3, 4), (4, 3), (1, 6))


@dataclass
class Case:
    """A problem, what it means, and a few words on its kind to count by."""

    problem: rt.Problem
    meaning: Meaning
    words: tuple


def property_set(name):
    """The library's feasible set of one property."""
    return rt.UNIQUE_IMAGE if name == "unique_image" else getattr(rt, name.upper())


def _normal(rng, shape):
    return rng.normal(size=shape)


def _mixed(rng, shape):
    return rng.choice([-1, 1], shape) * 10.0 ** rng.uniform(-12, 12, shape)


def _penalties(rng, shape):
    c = rng.normal(size=shape)
    return np.where(rng.random(shape) < 0.3, rng.choice([-1e9, -1e15]), c)


def _diagonal(rng, shape):
    c = rng.normal(size=shape)
    k = np.arange(min(shape))
    c[k, k] = 1e10
    return c


def _tiny(rng, shape):
    return rng.choice([2.0**-1022, -(2.0**-1022), 1e-300, 0.0, 1.0, -(2.0**-30)], shape)


def _huge(rng, shape):
    return rng.choice([1e300, -1e300, 1.0, -1.0, 2.0**1000, 0.0], shape)


SCORES = {
    "normal": _normal,
    "integers": lambda rng, shape: rng.integers(-4, 5, shape).astype(float),
    "ties": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape),
    "halves": lambda rng, shape: rng.integers(-9, 10, shape) / 2.0,
    "float32": lambda rng, shape: rng.normal(size=shape).astype(np.float32),
    "mixed": _mixed,
    "penalties": _penalties,
    "diagonal": _diagonal,
    "tiny": _tiny,
    "huge": _huge,
    "zeros": lambda rng, shape: np.zeros(shape),
}
# how often each kind of scores is taken
_WEIGHTS = np.array([6, 5, 3, 2, 2, 3, 3, 2, 1, 0.5, 0.5])


def random_set(rng):
    """A named set, or some properties together: a name to count by, and the properties."""
    if rng.random() < 0.7:
        name = str(rng.choice(sorted(NAMES)))
        return name, frozenset(NAMES[name])
    count = int(rng.integers(1, 5))
    chosen = rng.choice(PROPERTIES, count, replace=False)
    return "intersection", frozenset(str(p) for p in chosen)


def _shape(rng, name, names, square):
    if square or names & ON_ONE_SET:
        n = int(rng.choice([1, 2, 3, 3, 4, 4]))
        if name in LARGER and rng.random() < 0.3:
            n = int(rng.choice([5, 6] if name != "WEAK_ORDERS" else [5]))
        return n, n
    return SHAPES[int(rng.integers(len(SHAPES)))]


def _pairs(rng, shape, count):
    return [(int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(count)]


def random_case(rng):
    """A random problem with its meaning."""
    name, names = random_set(rng)
    grouped = rng.random() < 0.12
    shape = _shape(rng, name, names, grouped)
    feasible = rt.RELATIONS
    for p in names:
        feasible = feasible & property_set(p)
    words = [name]
    extras = {}
    if grouped:
        groups = rng.integers(0, rng.choice([2, shape[0]]), shape[0]).tolist()
        feasible = feasible & rt.one_per_group(groups)
        extras["groups"] = [groups]
        words.append("groups")
    if rng.random() < 0.15:
        extras["cap"] = int(rng.integers(1, 4))
        feasible = feasible & rt.at_most(extras["cap"])
        words.append("cap")
    if rng.random() < 0.35:
        yes = _pairs(rng, shape, int(rng.integers(0, 3)))
        no = _pairs(rng, shape, int(rng.integers(0, 3)))
        feasible = feasible & rt.evidence(yes, no)
        extras["related"], extras["unrelated"] = yes, no
        words.append("evidence")
    kind = str(rng.choice(sorted(SCORES), p=_weights()))
    problem, weights, layout = random_layout(rng, kind, feasible, shape, extras)
    assert problem.shape == shape
    return Case(problem, Meaning(names, weights, **extras), (*words, kind, layout))


def _weights():
    order = [list(SCORES).index(kind) for kind in sorted(SCORES)]
    return _WEIGHTS[order] / _WEIGHTS.sum()


def random_layout(rng, kind, feasible, shape, extras):
    """Scores as a matrix, a triangle or a list: the problem, its weights, and the layout's name."""
    symmetric = feasible.has("symmetric")
    layout = str(rng.choice(["dense", "dense", "condensed", "sparse"]))
    if layout == "condensed" and symmetric and shape[0] > 1:
        upper = SCORES[kind](rng, (shape[0], shape[0]))[np.triu_indices(shape[0], 1)]
        weights = np.zeros(shape)
        weights[np.triu_indices(shape[0], 1)] = upper
        return rt.Problem(upper, feasible), weights, "condensed"
    if layout == "sparse":
        return (*_listed(rng, kind, feasible, shape), "sparse")
    c = SCORES[kind](rng, shape)
    weights = c.astype(np.float64)
    if rng.random() < 0.1:  # infinite log-odds are evidence
        a, b = _pairs(rng, shape, 1)[0]
        c[a, b] = rng.choice([math.inf, -math.inf])
        known = extras.setdefault("related" if c[a, b] > 0 else "unrelated", [])
        known.append((a, b))
        weights[a, b] = 0.0
    return rt.Problem(c, feasible), weights, "dense"


def _listed(rng, kind, feasible, shape):
    """A problem of listed pairs and a background, with its weights."""
    c = SCORES[kind](rng, shape)
    background = float(rng.choice([0.0, -1.0, 0.5, 1e-3, -0.1, -3.7]))
    keep = rng.random(shape) < 0.6
    unordered = feasible.has("symmetric")
    if unordered:
        keep &= np.triu(np.ones(shape, dtype=bool))
    bipartite = not feasible.homogeneous and bool(rng.random() < 0.7 or shape[0] != shape[1])
    i, j = np.nonzero(keep)
    weights = np.full(shape, background)
    if unordered:
        weights[np.tril_indices(shape[0])] = 0.0
    elif not bipartite:
        np.fill_diagonal(weights, 0.0)
    weights[i, j] = c[i, j]
    swap = unordered & (rng.random(len(i)) < 0.5)  # an unordered pair may be listed either way
    a, b = np.where(swap, j, i), np.where(swap, i, j)
    n = shape if bipartite else shape[0]
    problem = rt.Problem.from_pairs(a, b, c[i, j], n=n, background=background, feasible=feasible)
    return problem, weights


assert set(NAMES) == set(NAMED_SETS), "a named set is not known to the campaign"
