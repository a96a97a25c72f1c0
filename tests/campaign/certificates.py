"""True estimates with certificates of every kind, for mutants to be made from.

Some are what solvers answer. Others are planted: rows that hold with equality at one relation,
with multipliers, add up to scores for which that relation is best and the certificate is tight,
whatever the family of the rows.
"""

from __future__ import annotations

import math

import numpy as np

import relatum as rt
from campaign import rows
from campaign.generation import NAMES, Case, property_set, random_case
from campaign.truth import GAP, Meaning, members, rounded
from relatum.proof import (
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Estimate,
    Fix,
    Imply,
    Leaf,
    Merge,
    Propagator,
    Status,
    SubsetOrder,
)

PLANTED = (
    *("EQUIVALENCES", "EQUIVALENCES", "EQUIVALENCES", "LINEAR_ORDERS", "LINEAR_ORDERS"),
    *("WEAK_ORDERS", "PREORDERS", "PARTIAL_ORDERS", "MAPS", "BIJECTIONS", "TRANSITIVE"),
    *("CONNEX", "SYMMETRIC", "HAS_IMAGE", "HAS_PREIMAGE", "UNIQUE_PREIMAGE", "PARTIAL_MAPS"),
)
RARE = ("half_dicycle", "capped_set", "two_partition", "odd_wheel", "square")  # seldom tight
SIZES = {"EQUIVALENCES": (3, 4, 5, 6), "LINEAR_ORDERS": (3, 4, 5), "WEAK_ORDERS": (3, 4)}


def _tight_rows(rng, meaning, best):
    """Random rows of all families that hold, with equality at a relation."""
    found = []
    families = [f for f in rows.FAMILIES if rows.holds(f, meaning.names, meaning.cap)]
    families += [f for f in families if f in RARE] * 3
    cap = 1 if "unique_image" in meaning.names else meaning.cap
    for _ in range(30 if families else 0):
        family = families[int(rng.integers(len(families)))]
        made = rows.random_row(rng, family, meaning, cap)
        if made is None:
            continue
        index, terms, rhs = made
        if sum(k * int(best[pair]) for pair, k in terms.items()) == rhs:
            found.append((family, index, terms, rhs))
        if len(found) == 6:
            break
    return found[: int(rng.integers(1, 7))]


def planted(rng):
    """A case whose best relation and tight certificate are known, and its estimate."""
    name = str(rng.choice(PLANTED))
    names = frozenset(NAMES[name])
    n = int(rng.choice(SIZES.get(name, (2, 3))))
    feasible, cap = rt.RELATIONS, None
    for p in names:
        feasible = feasible & property_set(p)
    if rng.random() < (0.5 if name == "EQUIVALENCES" else 0.1) and "unique_image" not in names:
        cap = int(rng.integers(1, n)) + 1
        feasible = feasible & rt.at_most(cap)
    meaning = Meaning(names, np.zeros((n, n)), cap=cap)
    every = meaning.feasible
    if len(every) == 0:
        return None
    best = every[int(rng.integers(len(every)))]
    if rng.random() < 0.4:
        pairs = rng.integers(0, n, (int(rng.integers(1, 4)), 2)).tolist()
        meaning.related = [(a, b) for a, b in pairs if best[a, b]]
        meaning.unrelated = [(a, b) for a, b in pairs if not best[a, b]]
        feasible = feasible & rt.evidence(meaning.related, meaning.unrelated)
    return _with_rows(rng, name, feasible, meaning, best)


def _with_rows(rng, name, feasible, meaning, best):
    found = _tight_rows(rng, meaning, best)
    unit = 2.0 ** -int(rng.integers(0, 8))
    y = rng.integers(1, 9, len(found)) * unit
    # what is left of the scores: not negative where related, not positive elsewhere
    slack = rng.integers(0, 4, best.shape) * unit * (rng.random(best.shape) < 0.5)
    c = np.where(best, slack, -slack)
    for (_, _, terms, _), multiplier in zip(found, y.tolist(), strict=True):
        for pair, k in terms.items():
            c[pair] += multiplier * k
    meaning = Meaning(meaning.names, c, meaning.related, meaning.unrelated, meaning.cap)
    problem = rt.Problem(c, feasible)
    value = rounded(meaning.value(best))
    assert meaning.best == meaning.value(best), "the planted relation is not best"
    proof = dressed(rng, problem, meaning, Leaf(_cuts(found, y)), best, value)
    estimate = Estimate(
        Status.OPTIMAL, rt.Relation(best), value, value, Certificate(value, proof), "planted"
    )
    words = (name, "planted", *sorted({f"rows {family}" for family, *_ in found}))
    return Case(problem, meaning, words), estimate


def _cuts(found, y):
    """Rows as cuts, one for each family."""
    cuts = []
    for family in sorted({f for f, *_ in found}):
        own = [k for k, (f, *_) in enumerate(found) if f == family]
        cuts.append(Cuts(family, rows.padded([found[k][1] for k in own]), y[own]))
    return tuple(cuts)


def dressed(rng, problem, meaning, leaf, best, value):
    """A leaf within some other nodes that change nothing of what it proves."""
    proof = leaf
    for _ in range(int(rng.integers(0, 3))):
        proof = _dress(rng, problem, meaning, leaf, proof, best, value)
    return proof


def _dress(rng, problem, meaning, leaf, proof, best, value):
    n = problem.shape[0]
    pairs = rng.integers(0, n, (int(rng.integers(1, 4)), 2))
    kind = str(rng.choice(["branch", "fix", "imply", "decompose", "contract", "merge", "subset"]))
    names, cap = meaning.names, meaning.cap
    if kind == "branch":
        pair = (int(pairs[0, 0]), int(pairs[0, 1]))
        return Branch(pair, leaf, proof) if best[pair] else Branch(pair, proof, leaf)
    if kind == "fix":
        return Fix(leaf.cuts, pairs, best[pairs[:, 0], pairs[:, 1]], proof)
    if kind == "imply" and not isinstance(proof, Imply):
        return Propagator(problem.feasible).close_all(problem.state).proof(proof)
    whole = problem.feasible.homogeneous and ("reflexive" in names or not _of_lines(leaf))
    if kind == "decompose" and whole:
        return Decompose(((np.arange(n), value, proof),))
    if kind == "contract" and names >= {"reflexive", "symmetric", "transitive"} and cap is None:
        return Contract(np.arange(n), proof)
    if names >= {"reflexive", "transitive", "antisymmetric", "connex"} and cap is None:
        if kind == "merge":
            return Merge(np.arange(n), proof)
        if kind == "subset":
            return SubsetOrder()
    return proof


def _of_lines(leaf):
    return any(cut.family in ("has_image", "has_preimage") for cut in leaf.cuts)


def _twins(rng):
    """A linear order with alike elements, and one of unlike ones behind them."""
    n = int(rng.integers(3, 6))
    c = rng.integers(-4, 5, (n, n)).astype(float)
    of = np.concatenate([np.arange(n - 1), [int(rng.integers(n - 1))]])
    c = c[np.ix_(of, of)]
    twin = int(of[-1])
    c[twin, n - 1] = c[n - 1, twin] = float(rng.integers(-3, 4))
    return "LINEAR_ORDERS", rt.LINEAR_ORDERS, c, {}


def _capped(rng):
    """A clustering into small sets, which prices prove."""
    n, cap = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    c = rng.integers(-4, 7, (n, n)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, n))
    feasible, extras = rt.EQUIVALENCES & rt.at_most(cap), {"cap": cap}
    if rng.random() < 0.3:
        extras["unrelated"] = [(0, n - 1)]
        feasible = feasible & rt.evidence(unrelated=[(0, n - 1)])
    return "EQUIVALENCES", feasible, c, extras


def _islands(rng):
    """A clustering in parts, with elements that are known to be together."""
    n = int(rng.integers(4, 7))
    c = rng.integers(-3, 4, (n, n)).astype(float)
    part = rng.integers(0, 2, n)
    c = np.where(part[:, None] == part[None, :], c, -np.abs(c))
    feasible, extras = rt.EQUIVALENCES, {}
    a, b = (int(v) for v in rng.permutation(n)[:2])
    extras["related"] = [(a, b)]
    feasible = feasible & rt.evidence(related=extras["related"])
    if rng.random() < 0.3:
        groups = rng.integers(0, n, n).tolist()
        extras["groups"] = [groups]
        feasible = feasible & rt.one_per_group(groups)
    return "EQUIVALENCES", feasible, c, extras


def _two_sides(rng):
    """A clustering of two groups, or without pairs on either side, which is a matching."""
    n = int(rng.integers(2, 7))
    c = rng.integers(-4, 9, (n, n)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, n))
    side = rng.integers(0, 2, n)
    feasible, extras = rt.EQUIVALENCES, {}
    if rng.random() < 0.7:
        extras["groups"] = [side.tolist()]
        feasible = feasible & rt.one_per_group(side.tolist())
    else:
        extras["unrelated"] = [*zip(*np.nonzero(np.triu(side[:, None] == side, 1)), strict=True)]
    a, b = np.nonzero(np.triu(side[:, None] != side, 1))
    if len(a) and rng.random() < 0.4:
        k = int(rng.integers(len(a)))
        of = "related" if rng.random() < 0.5 else "unrelated"
        extras[of] = [*extras.get(of, []), (a[k], b[k])]
    known = [[(int(p), int(q)) for p, q in extras.get(of, [])] for of in ("related", "unrelated")]
    extras["related"], extras["unrelated"] = known
    return "EQUIVALENCES", feasible & rt.evidence(*known), c, extras


SPECIAL = (
    (_two_sides, ("auto", "matching", "partition_branch_and_cut")),
    (_twins, ("order_dp", "order_branch_and_cut")),
    (_capped, ("capped_partitions", "branch_and_cut", "partition_branch_and_cut")),
    (_islands, ("auto", "partition_branch_and_cut", "greedy_contraction")),
)


def solved(rng):
    """A case with the estimate of a solver, and whether the estimate is true; None if refused."""
    if rng.random() < 0.5:
        make, solvers = SPECIAL[int(rng.integers(len(SPECIAL)))]
        name, feasible, c, extras = make(rng)
        case = Case(rt.Problem(c, feasible), Meaning(frozenset(NAMES[name]), c, **extras), (name,))
        solver = str(rng.choice(solvers))
    else:
        case, solver = random_case(rng), "auto"
    try:
        estimate = rt.infer(case.problem, solver=solver, prove=True, time_limit=5.0)
    except rt.errors.RelatumError:
        return None
    return case, estimate


def random_certificate(rng):
    """A case and a true estimate with a certificate; None if this attempt made none."""
    made = planted(rng) if rng.random() < 0.5 else solved(rng)
    if made is None or made[1].certificate is None:
        return None
    return made


def claim_just_below(best):
    """The largest float that is below an exact value."""
    nearest = rounded(best)
    return nearest if nearest < best else math.nextafter(nearest, -math.inf)


__all__ = ["GAP", "claim_just_below", "members", "planted", "random_certificate", "solved"]
