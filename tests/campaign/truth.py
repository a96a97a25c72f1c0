"""What is true of a small problem: every relation is tried, and every number is exact.

Nothing here asks the library what a property, a value or a bound is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import permutations, product

import numpy as np

ON_ONE_SET = frozenset({"reflexive", "symmetric", "antisymmetric", "transitive", "connex"})
FIELDS = 16  # pairs of which all relations are listed
GAP = Fraction(1, 2**20)  # bits: an optimal value may be so far below the best one


def has(name, ys):
    """Say which of some relations, an array (N, |A|, |B|), have a property, by its definition."""
    n_a, n_b = ys.shape[1:]
    mirrored = ys.transpose(0, 2, 1) if n_a == n_b else None
    if name == "reflexive":
        return np.all([ys[:, a, a] for a in range(n_a)], axis=0)
    if name == "symmetric":
        return (ys == mirrored).all(axis=(1, 2))
    if name == "antisymmetric":
        return ~(ys & mirrored & ~np.eye(n_a, dtype=bool)).any(axis=(1, 2))
    if name == "connex":
        return (ys | mirrored | np.eye(n_a, dtype=bool)).all(axis=(1, 2))
    if name == "transitive":
        ok = np.ones(len(ys), dtype=bool)
        for a, b, c in product(range(n_a), repeat=3):
            ok &= ~(ys[:, a, b] & ys[:, b, c]) | ys[:, a, c]
        return ok
    if name == "has_image":
        return ys.any(axis=2).all(axis=1)
    if name == "unique_image":
        return (ys.sum(axis=2) <= 1).all(axis=1)
    if name == "has_preimage":
        return ys.any(axis=1).all(axis=1)
    assert name == "unique_preimage", name
    return (ys.sum(axis=1) <= 1).all(axis=1)


PROPERTIES = (
    *("reflexive", "symmetric", "antisymmetric", "transitive", "connex"),
    *("has_image", "unique_image", "has_preimage", "unique_preimage"),
)


@cache
def relations(n_a, n_b):
    """All relations, as a boolean array (2^(n_a n_b), n_a, n_b)."""
    codes = np.arange(2 ** (n_a * n_b))
    bits = codes[:, None] >> np.arange(n_a * n_b)[None, :] & 1
    return bits.astype(bool).reshape(-1, n_a, n_b)


def _numberings(n):
    """Labels of the partitions of n elements: a new label is one more than those before."""
    found = [()]
    for _ in range(n):
        found = [(*given, k) for given in found for k in range(max(given, default=-1) + 2)]
    return np.array(found)


@cache
def _larger(kind, n):
    """All equivalences, linear orders or weak orders on n elements, too many for all relations."""
    if kind == "equivalences":
        labels = _numberings(n)
        return labels[:, :, None] == labels[:, None, :]
    if kind == "linear":
        ranks = np.array(list(permutations(range(n))))
    else:
        every = np.array(list(product(range(n), repeat=n)))
        ranks = every[[len(set(r)) == max(r) + 1 for r in every.tolist()]]
    return ranks[:, :, None] <= ranks[:, None, :]


@cache
def members(names, shape):
    """All relations of a shape that have every property of a frozen set."""
    kinds = {
        "equivalences": {"reflexive", "symmetric", "transitive"},
        "linear": {"reflexive", "transitive", "antisymmetric", "connex"},
        "weak": {"reflexive", "transitive", "connex"},
    }
    if shape[0] * shape[1] <= FIELDS:
        ys = relations(*shape)
    else:
        ys = _larger(next(k for k, needed in kinds.items() if needed <= names), shape[0])
    for name in sorted(names):  # one after another: the first ones leave little to the others
        ys = ys[has(name, ys)]
    return ys


@dataclass
class Meaning:
    """A problem in plain terms: properties by name, scores of ordered pairs, and what is known.

    Attributes
    ----------
    names : frozenset of str
    weights : float array (|A|, |B|)
        The value of a relation is the exact sum of the weights of its pairs.
    related, unrelated : lists of pairs
    cap : int or None
        Images that an element of A has at most.
    groups : list of sequences
        One group per element; no two different elements of one group are related.
    """

    names: frozenset
    weights: np.ndarray
    related: list = field(default_factory=list)
    unrelated: list = field(default_factory=list)
    cap: int | None = None
    groups: list = field(default_factory=list)

    @property
    def shape(self):
        return self.weights.shape

    def allowed(self, ys):
        """Say which relations, known to have the properties, are feasible."""
        ok = np.ones(len(ys), dtype=bool)
        for a, b in self.related:
            ok &= ys[:, a, b]
        for a, b in self.unrelated:
            ok &= ~ys[:, a, b]
        if self.cap is not None:
            ok &= (ys.sum(axis=2) <= self.cap).all(axis=1)
        for group in self.groups:
            for a, b in product(range(len(group)), repeat=2):
                if a != b and group[a] == group[b]:
                    ok &= ~ys[:, a, b]
        return ok

    def is_feasible(self, matrix):
        ys = np.asarray(matrix, dtype=bool)[None]
        if ys.shape[1:] != self.shape or not all(has(name, ys)[0] for name in self.names):
            return False
        return bool(self.allowed(ys)[0])

    @cached_property
    def exact_weights(self):
        """The weights as integers, over the power of two that is given first."""
        exact = [Fraction(float(w)) for w in self.weights.ravel().tolist()]
        shift = max((w.denominator.bit_length() - 1 for w in exact), default=0)
        return shift, [int(w * 2**shift) for w in exact]

    def value(self, matrix):
        """The exact value of a relation."""
        shift, weights = self.exact_weights
        related = np.asarray(matrix, dtype=bool).ravel().tolist()
        return Fraction(sum(w for w, y in zip(weights, related, strict=True) if y), 2**shift)

    @cached_property
    def feasible(self):
        """All feasible relations."""
        ys = members(self.names, self.shape)
        return ys[self.allowed(ys)]

    @cached_property
    def best(self):
        """The largest exact value of a feasible relation; None if there is none."""
        if len(self.feasible) == 0:
            return None
        flat = self.feasible.reshape(len(self.feasible), -1)
        weights = np.asarray(self.weights, dtype=np.float64).ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            about = flat @ weights
            error = 2.0**-44 * np.abs(weights).sum()
        near = flat
        if math.isfinite(error) and np.isfinite(about).all():
            near = flat[about >= about.max() - 2 * error]
        shift, exact = self.exact_weights
        column = np.array(exact, dtype=object)
        return Fraction(int((near.astype(object) @ column).max()), 2**shift)


def rounded(exact):
    """The float nearest to an exact value."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def matrix_of(relation):
    """The matrix of a relation, from the numbers that make it."""
    if hasattr(relation, "ranks"):
        ranks = np.asarray(relation.ranks)
        return ranks[:, None] <= ranks[None, :]
    if not hasattr(relation, "labels"):
        return np.asarray(relation.matrix())
    labels = np.asarray(relation.labels)
    if relation.kind == "partition":
        return labels[:, None] == labels[None, :]
    return labels[:, None] == np.arange(relation.shape[1])[None, :]


def false_claims(meaning, estimate):
    """Say what an estimate claims that is not so."""
    best, wrong = meaning.best, []
    relation, status = estimate.relation, getattr(estimate.status, "name", estimate.status)
    value = None
    if relation is not None:
        matrix = matrix_of(relation)
        if matrix.shape != meaning.shape or not meaning.is_feasible(matrix):
            return ["the relation is not feasible"]
        value = meaning.value(matrix)
        if estimate.value != rounded(value):
            wrong.append(f"the value is {rounded(value)!r}, not {estimate.value!r}")
    elif status in ("OPTIMAL", "FEASIBLE"):
        wrong.append(f"{status} without a relation")
    if status not in ("OPTIMAL", "FEASIBLE", "BOUND_ONLY", "INFEASIBLE"):
        wrong.append(f"the status is {status!r}")
    if status == "INFEASIBLE" and best is not None:
        wrong.append("there are feasible relations")
    if status == "OPTIMAL" and value is not None and best - value > GAP:
        wrong.append(f"OPTIMAL, {float(best - value)!r} bits below the best")
    for bound in {estimate.bound, getattr(estimate.certificate, "bound", math.inf)}:
        if math.isnan(bound) or (best is not None and bound < best):
            if bound != estimate.bound and estimate.bound == math.inf:
                continue  # a certificate that no bound rests on is not looked at
            wrong.append(f"the bound {bound!r} is below {float(best)!r}")
    return wrong
