"""Random small problems of every family, with all their feasible relations."""

from __future__ import annotations

from functools import cache

import numpy as np

import relatum as rt
from naive import probability as naive
from naive.problem import NAMED, members

ON_ONE_SET = {
    "EQUIVALENCES": (naive.equivalences, 6),
    "LINEAR_ORDERS": (naive.linear_orders, 6),
    "WEAK_ORDERS": (naive.weak_orders, 5),
}
BETWEEN_SETS = ("RELATIONS", "MAPS", "PARTIAL_MAPS", "INJECTIONS", "BIJECTIONS", "HAS_IMAGE")
BETWEEN_SETS += ("UNIQUE_PREIMAGE", "HAS_PREIMAGE", "ONE_TO_ONE", "SURJECTIONS", "COVERED")
SMALL = ("PREORDERS", "PARTIAL_ORDERS", "REFLEXIVE", "SYMMETRIC", "ANTISYMMETRIC", "TRANSITIVE")
SMALL += ("CONNEX", "TOURNAMENTS", "INVOLUTIONS")
MORE = {
    "ONE_TO_ONE": ("unique_image", "unique_preimage"),
    "SURJECTIONS": ("has_image", "unique_image", "has_preimage"),
    "COVERED": ("unique_preimage", "has_image"),
    "TOURNAMENTS": ("antisymmetric", "connex"),
    "INVOLUTIONS": ("symmetric", "unique_image", "has_image"),
}
FAMILIES = (*ON_ONE_SET, *BETWEEN_SETS, *SMALL)


def feasible_set(family):
    """The feasible set of a family."""
    if family in NAMED:
        return getattr(rt, family)
    result = rt.RELATIONS
    for name in MORE[family]:
        result = result & getattr(rt, name.upper())
    return result


@cache
def all_members(family, shape):
    """Every relation of a family, without evidence."""
    if family in ON_ONE_SET:
        return ON_ONE_SET[family][0](shape[0])
    names = MORE.get(family) or NAMED[family]
    if "unique_image" in names and shape[0] * shape[1] > 9:
        ys = naive.partial_maps(*shape)
        keep = np.ones(len(ys), bool)
        if "has_image" in names:
            keep &= ys.any(axis=2).all(axis=1)
        if "has_preimage" in names:
            keep &= ys.any(axis=1).all(axis=1)
        if "unique_preimage" in names:
            keep &= (ys.sum(axis=1) <= 1).all(axis=1)
        return ys[keep & (np.array(["symmetric" not in names]) | _symmetric(ys))]
    return members(names, *shape)


def _symmetric(ys):
    return np.array([y.shape[0] == y.shape[1] and (y == y.T).all() for y in ys])


def shape_of(family, rng, larger=0):
    """A shape for a problem of the family, small enough to go through all relations."""
    if family in ON_ONE_SET:
        n = int(rng.integers(1, min(6, ON_ONE_SET[family][1] + larger) + 1))
        return n, n
    if family in SMALL:
        n = int(rng.integers(1, 4 + larger))
        return n, n
    names = MORE.get(family) or NAMED[family]
    most = (5 if "unique_image" in names else 3) + larger
    n_a, n_b = int(rng.integers(1, most + 1)), int(rng.integers(1, min(most, 4) + 1))
    return (n_a, n_a) if family == "BIJECTIONS" else (n_a, n_b)


def scores_of(shape, rng):
    """Scores of some magnitude: ties, a few bits, 50 bits, a thousand bits."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-2, 3, shape).astype(float)
    return rng.normal(size=shape) * (1.0, 50.0, 1000.0)[kind - 1]


def random_problem(family, seed, larger=0):
    """(problem, the scores as a matrix, its feasible relations); `larger` adds to sizes."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    shape = shape_of(family, rng, larger)
    ys, feasible = all_members(family, shape), feasible_set(family)
    cap = groups = None
    yes, no = [], []
    if rng.random() < 0.5:
        some = ys[rng.integers(len(ys))] if len(ys) else np.zeros(shape, bool)
        if rng.random() < 0.15:
            some = rng.random(shape) < 0.5  # perhaps nothing is feasible
        for a, b in np.argwhere(rng.random(shape) < 0.2).tolist():
            (yes if some[a, b] else no).append((a, b))
        feasible = feasible & rt.evidence(yes, no)
    if rng.random() < 0.25:
        cap = int(rng.integers(2, max(3, shape[1])))
        feasible = feasible & rt.at_most(cap)
    if shape[0] == shape[1] and rng.random() < 0.2:
        groups = rng.integers(0, max(2, shape[0] - 1), shape[0])
        feasible = feasible & rt.one_per_group(groups)
    ys = naive.filtered(ys, yes, no, cap, groups)
    scores = scores_of(shape, rng)
    problem, scores = _in_some_form(scores, feasible, rng)
    return problem, scores, ys


def _in_some_form(scores, feasible, rng):
    n_a, n_b = scores.shape
    form = rng.integers(3)
    if feasible.has("symmetric") and form > 0 and n_a > 1:
        upper = np.triu(scores, 1)
        i, j = np.triu_indices(n_a, 1)
        if form == 1:
            return rt.Problem(upper[i, j], feasible), upper
        kept = rng.random(len(i)) < 0.6
        upper[i[~kept], j[~kept]] = -1.5
        given = i[kept], j[kept], upper[i, j][kept]
        return rt.Problem.from_pairs(*given, n=n_a, background=-1.5, feasible=feasible), upper
    if form == 2 and not feasible.homogeneous:
        kept = rng.random(scores.shape) < 0.6
        scores = np.where(kept, scores, -1.5)
        i, j = np.nonzero(kept)
        given = i, j, scores[kept]
        return rt.Problem.from_pairs(
            *given, n=(n_a, n_b), background=-1.5, feasible=feasible
        ), scores
    return rt.Problem(scores, feasible), scores
