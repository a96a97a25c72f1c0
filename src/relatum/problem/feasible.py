"""Feasible sets: intersections of properties, as values.

``&`` intersects, ``<=`` is inclusion and ``==`` recognises equal sets written differently:

>>> SYMMETRIC & TRANSITIVE & HAS_IMAGE == EQUIVALENCES
True
>>> LINEAR_ORDERS <= PREORDERS
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.errors import FeasibleSetError
from relatum.problem.arguments import shown, whole_number
from relatum.problem.given import GivenEvidence, GroupsById
from relatum.problem.names import Names
from relatum.problem.properties import (
    Antisymmetric,
    AtMost,
    Connex,
    Evidence,
    HasImage,
    HasPreimage,
    OnePerGroup,
    Property,
    Reflexive,
    Symmetric,
    Transitive,
    UniquePreimage,
)
from relatum.problem.relation import LinearOrder, Map, PartialMap, Partition, Relation, WeakOrder

_SIMPLE: dict[str, Property] = {
    "reflexive": Reflexive(),
    "symmetric": Symmetric(),
    "antisymmetric": Antisymmetric(),
    "transitive": Transitive(),
    "connex": Connex(),
    "has_image": HasImage(),
    "unique_image": AtMost(1),
    "has_preimage": HasPreimage(),
    "unique_preimage": UniquePreimage(),
}

# What follows from what, on one finite set of any size. The tests check that each rule is
# sound and that together they find every implication that holds at n <= 4.
_RULES: tuple[tuple[str, str], ...] = (
    ("reflexive", "has_image has_preimage"),
    ("symmetric has_image", "has_preimage"),
    ("symmetric has_preimage", "has_image"),
    ("symmetric unique_image", "unique_preimage"),
    ("symmetric unique_preimage", "unique_image"),
    ("symmetric transitive has_image", "reflexive"),
    ("reflexive symmetric connex", "transitive"),  # all pairs
    ("reflexive unique_image", "symmetric antisymmetric transitive"),  # the identity
    ("reflexive unique_preimage", "symmetric antisymmetric transitive"),
    ("symmetric antisymmetric", "transitive unique_image unique_preimage"),  # within it
    ("transitive unique_image", "antisymmetric"),
    ("transitive unique_preimage", "antisymmetric"),
    ("transitive unique_image has_preimage", "reflexive"),
    ("transitive unique_preimage has_image", "reflexive"),
    ("unique_image has_preimage", "unique_preimage has_image"),  # counting, as |A| = |B|
    ("unique_preimage has_image", "unique_image has_preimage"),
)

_NOTHING = (Evidence(), GivenEvidence())

_PARSED = tuple((set(left.split()), set(right.split())) for left, right in _RULES)


@cache
def _closure(names: frozenset[str]) -> frozenset[str]:
    """Every simple property that follows from the given ones, on one set."""
    known = set(names)
    while True:
        new = set().union(*(right for left, right in _PARSED if left <= known)) - known
        if not new:
            return frozenset(known)
        known |= new


class FeasibleSet:
    """The relations that have every one of some properties.

    Build feasible sets from the named ones with ``&``; there is no need to call this class.

    Examples
    --------
    >>> EQUIVALENCES & evidence(unrelated=[(3, 7)])
    EQUIVALENCES & evidence(unrelated=[(3, 7)])
    >>> PARTIAL_ORDERS & CONNEX
    LINEAR_ORDERS
    """

    def __init__(self, properties: Iterable[Property] = ()) -> None:
        given: set[Property] = set()
        known, told = _NOTHING  # by numbers, and as users say it
        caps: list[int] = []
        for p in properties:
            if isinstance(p, GivenEvidence):
                told = told.merged(p) if told else p
            elif isinstance(p, Evidence):
                known = known.merged(p) if known else p
            elif isinstance(p, AtMost):
                caps.append(int(p.k))
            else:
                given.add(p)
        self.cap: int | None = min(caps, default=None)
        if self.cap is not None:
            given.add(AtMost(self.cap))
        self._known, self._told = known, told
        given.update(p for p in (known, told) if p)
        self.properties: frozenset[Property] = frozenset(given)

    @cached_property
    def evidence(self) -> Evidence | None:
        """The evidence by numbers of elements, or None; names are refused, see `numbered`."""
        self._told.require_numbers()
        if not self._told:
            return self._known or None
        return self._known.merged(Evidence(self._told.related, self._told.unrelated))

    def numbered(self, names: Names | None, shape: tuple[int, int]) -> FeasibleSet:
        """Return the set by numbers of elements: what is said by names is looked up.

        Parameters
        ----------
        names : Names or None
            What elements are called.
        shape : (int, int)
        """
        by_id = [p for p in self.properties if isinstance(p, GivenEvidence | GroupsById)]
        by_index = [] if names is None else [p for p in self._groups if p.keys is not None]
        if not by_id and not by_index:
            return self
        done = [p.numbered(names, shape) for p in by_id]
        done += [GroupsById(p.by_key()).numbered(names, shape) for p in by_index]
        return FeasibleSet([*(self.properties - {*by_id, *by_index}), *done])

    @cached_property
    def names(self) -> frozenset[str]:
        """The simple properties, those that follow from the others included."""
        names = frozenset(n for n, p in _SIMPLE.items() if p in self.properties)
        return _closure(names) if self.homogeneous else names

    def has(self, *names: str) -> bool:
        """Say whether the set's relations all have the simple properties named."""
        return self.names.issuperset(names)

    @cached_property
    def homogeneous(self) -> bool:
        """Whether its relations are on one set (A = B)."""
        return any(p.homogeneous for p in self.properties)

    @cached_property
    def groups(self) -> tuple[OnePerGroup, ...]:
        """The one-per-group properties; those by name are refused, see `numbered`."""
        if self._named_groups:
            raise FeasibleSetError(
                "one_per_group goes by names here, which only a problem knows; give groups in the "
                "order of the elements."
            )
        return self._groups

    @cached_property
    def _groups(self) -> tuple[OnePerGroup, ...]:
        found = [p for p in self.properties if isinstance(p, OnePerGroup)]
        return tuple(sorted(found, key=lambda p: p.codes.tobytes()))

    @cached_property
    def _named_groups(self) -> frozenset[Property]:
        return frozenset(p for p in self.properties if isinstance(p, GroupsById))

    @cached_property
    def structure(self) -> FeasibleSet:
        """The set without evidence, groups and caps (k >= 2)."""
        return FeasibleSet(_SIMPLE[n] for n in self.names)

    @cached_property
    def complete(self) -> FeasibleSet:
        """The same set, written with every property that follows."""
        return FeasibleSet([*self.properties, *(_SIMPLE[n] for n in self.names)])

    def contains(self, relation: Relation) -> bool:
        """Say whether a relation is feasible.

        Partitions, maps and orders are checked without making their matrix where the kind
        already has the property.
        """
        return self.first_violation(relation) is None

    def first_violation(self, relation: Relation) -> Property | None:
        """Return a property that the relation lacks, or None."""
        if not isinstance(relation, Relation):
            raise FeasibleSetError(
                f"A relation is one such as relatum.Partition(labels), got {shown(relation)}."
            )
        self.check(relation.shape)
        known = _KIND_HAS.get(type(relation), frozenset())
        todo = [p for p in self._ordered() if _name(p) not in known]
        for p in todo:
            if isinstance(relation, Partition):
                ok = _partition_has(p, relation)
            else:
                ok = p.contains(relation.matrix())
            if not ok:
                return p
        return None

    def check(self, shape: tuple[int, int]) -> None:
        """Raise a typed error if the set makes no sense for |A| x |B|."""
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise FeasibleSetError(f"A shape is (|A|, |B|), got {shown(shape)}.")
        for size in shape:
            whole_number(size, "|A| or |B|", error=FeasibleSetError)
        for p in self._ordered():
            p.check(shape)

    def _ordered(self) -> list[Property]:
        return sorted(self.properties, key=lambda p: (type(p).__name__, str(p)))

    def __and__(self, other: FeasibleSet) -> FeasibleSet:
        if not isinstance(other, FeasibleSet):
            return NotImplemented
        return FeasibleSet([*self.properties, *other.properties])

    def __le__(self, other: FeasibleSet) -> bool:
        if not isinstance(other, FeasibleSet):
            return NotImplemented
        if not (self & other).names <= self.names:
            return False
        own_cap = 1 if self.has("unique_image") else self.cap
        if other.cap is not None and (own_cap is None or own_cap > other.cap):
            return False
        if not {*other._groups, *other._named_groups} <= {*self._groups, *self._named_groups}:
            return False
        return not (other._known or other._told) or self._facts.implies(other._facts)

    def __lt__(self, other: FeasibleSet) -> bool:
        if not isinstance(other, FeasibleSet):
            return NotImplemented
        return self <= other and not other <= self

    def __ge__(self, other: FeasibleSet) -> bool:
        return other <= self if isinstance(other, FeasibleSet) else NotImplemented

    def __gt__(self, other: FeasibleSet) -> bool:
        return other < self if isinstance(other, FeasibleSet) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeasibleSet):
            return NotImplemented
        if self.homogeneous != other.homogeneous or self.names != other.names:
            return False
        return self <= other and other <= self

    def __hash__(self) -> int:
        return hash((self.names, self.homogeneous, self._facts))

    @cached_property
    def _facts(self) -> GivenEvidence:
        """All evidence, by numbers and by names."""
        return self._told.merged(self._known) if self._known else self._told

    def __repr__(self) -> str:
        return self.told(None)

    def told(self, names: Names | None) -> str:
        """Return the set as it is written, its evidence by names of elements if they have any."""
        return " & ".join(self._words(names)) or "RELATIONS"

    def _words(self, names: Names | None) -> list[str]:
        best = max(
            (s for s in NAMED_SETS.items() if s[1].names <= self.names),
            key=lambda s: len(s[1].names),
            default=("", RELATIONS),
        )
        words = [best[0]] if best[1].names else []
        covered = set(best[1].names)
        for n in sorted(self.names):  # the fewest further words that say the rest
            if n not in (_closure(frozenset(covered)) if self.homogeneous else covered):
                words.append("UNIQUE_IMAGE" if n == "unique_image" else n.upper())
                covered.add(n)
        extra = [
            p.told(names) if isinstance(p, Evidence) else str(p)
            for p in self._ordered()
            if isinstance(p, Evidence | OnePerGroup | GroupsById)
            or (isinstance(p, AtMost) and p.k > 1)
        ]
        return words + extra


def _name(p: Property) -> str:
    return "unique_image" if isinstance(p, AtMost) and p.k == 1 else p.name


_KIND_HAS: dict[type[Relation], frozenset[str]] = {
    Partition: frozenset({"reflexive", "symmetric", "transitive", "has_image", "has_preimage"}),
    WeakOrder: frozenset({"reflexive", "transitive", "connex", "has_image", "has_preimage"}),
    LinearOrder: frozenset(
        {"reflexive", "transitive", "connex", "antisymmetric", "has_image", "has_preimage"}
    ),
    Map: frozenset({"has_image", "unique_image"}),
    PartialMap: frozenset({"unique_image"}),
}


def _partition_has(p: Property, partition: Partition) -> bool:
    """Membership without the n x n matrix, for the properties clusterings carry."""
    labels = partition.labels
    if isinstance(p, AtMost):
        return int(partition.sizes().max()) <= p.k
    if isinstance(p, Evidence):
        p.check(partition.shape)
        yes = labels[p.related[:, 0]] == labels[p.related[:, 1]]
        no = labels[p.unrelated[:, 0]] != labels[p.unrelated[:, 1]]
        return bool(yes.all() and no.all())
    if isinstance(p, OnePerGroup):
        both = np.column_stack([labels, p.codes])
        return len(np.unique(both, axis=0)) == len(labels)
    return p.contains(partition.matrix())


def _named(*names: str) -> FeasibleSet:
    return FeasibleSet(_SIMPLE[n] for n in names)


RELATIONS = _named()
REFLEXIVE = _named("reflexive")
SYMMETRIC = _named("symmetric")
ANTISYMMETRIC = _named("antisymmetric")
TRANSITIVE = _named("transitive")
CONNEX = _named("connex")
HAS_IMAGE = _named("has_image")
UNIQUE_IMAGE = _named("unique_image")
HAS_PREIMAGE = _named("has_preimage")
UNIQUE_PREIMAGE = _named("unique_preimage")
PARTIAL_MAPS = UNIQUE_IMAGE
MAPS = HAS_IMAGE & UNIQUE_IMAGE
INJECTIONS = MAPS & UNIQUE_PREIMAGE
BIJECTIONS = INJECTIONS & HAS_PREIMAGE
PREORDERS = REFLEXIVE & TRANSITIVE
EQUIVALENCES = PREORDERS & SYMMETRIC
PARTIAL_ORDERS = PREORDERS & ANTISYMMETRIC
WEAK_ORDERS = PREORDERS & CONNEX
LINEAR_ORDERS = PARTIAL_ORDERS & CONNEX

NAMED_SETS: dict[str, FeasibleSet] = {
    "RELATIONS": RELATIONS,
    "PARTIAL_MAPS": PARTIAL_MAPS,
    "MAPS": MAPS,
    "INJECTIONS": INJECTIONS,
    "BIJECTIONS": BIJECTIONS,
    "EQUIVALENCES": EQUIVALENCES,
    "PREORDERS": PREORDERS,
    "PARTIAL_ORDERS": PARTIAL_ORDERS,
    "WEAK_ORDERS": WEAK_ORDERS,
    "LINEAR_ORDERS": LINEAR_ORDERS,
    "REFLEXIVE": REFLEXIVE,
    "SYMMETRIC": SYMMETRIC,
    "ANTISYMMETRIC": ANTISYMMETRIC,
    "TRANSITIVE": TRANSITIVE,
    "CONNEX": CONNEX,
    "HAS_IMAGE": HAS_IMAGE,
    "UNIQUE_PREIMAGE": UNIQUE_PREIMAGE,
    "HAS_PREIMAGE": HAS_PREIMAGE,
}


def at_most(k: int) -> FeasibleSet:
    """Relations in which every element of A has at most k images.

    Together with EQUIVALENCES: no set has more than k elements.

    Examples
    --------
    >>> import relatum as rt
    >>> e = rt.infer(rt.Problem([4.0, 3.0, 2.0], rt.EQUIVALENCES & rt.at_most(2)), prove=True)
    >>> e.relation.labels.tolist()    # all three would be best, but two is the most
    [0, 0, 1]
    >>> scores = [[3.0, 2.0, 1.0], [-1.0, -2.0, -3.0]]
    >>> two = rt.infer(rt.Problem(scores, rt.HAS_IMAGE & rt.at_most(2)))
    >>> two.relation.matrix().astype(int).tolist()
    [[1, 1, 0], [1, 0, 0]]
    """
    return FeasibleSet([AtMost(k)])


def evidence(
    related: Any = (), unrelated: Any = (), *, must_link: Any = (), cannot_link: Any = ()
) -> FeasibleSet:
    """Relations that contain some given pairs and do not contain some others.

    Parameters
    ----------
    related, unrelated : sequences of pairs (a, b), arrays of shape (k, 2) or tables of two columns
        By names of elements where the problem has them (`names=`, `Problem.from_table` and
        others), else by numbers from 0. Where some names are numbers, a number is a name; where
        none is, it is the number of an element.
    must_link, cannot_link : the same
        Other words for `related` and `unrelated`, which clustering knows.

    Examples
    --------
    >>> evidence(related=[(0, 1)]) <= evidence()
    True
    >>> EQUIVALENCES & evidence(must_link=[("ann", "anne")])
    EQUIVALENCES & evidence(related=[('ann', 'anne')])
    """
    told = GivenEvidence(related, unrelated)
    if must_link != () or cannot_link != ():
        told = told.merged(GivenEvidence(must_link, cannot_link))
    return FeasibleSet([told])


def numbered_evidence(related: Any = (), unrelated: Any = ()) -> FeasibleSet:
    """Return `evidence` by numbers of elements, whatever the elements are called."""
    return FeasibleSet([Evidence(related, unrelated)])


def one_per_group(groups: ArrayLike | NDArray[Any] | Mapping[Any, Any]) -> FeasibleSet:
    """Relations in which no two different elements of one group are related.

    Two clean sources, for instance: one record of each source per entity.

    Parameters
    ----------
    groups : array-like of shape (n,), or mapping of name to group
        The group of each element, in the order of their numbers; or by name, where it may hold
        more than the problem has. A pandas Series with an index of its own goes by its index
        where the problem has names.

    Examples
    --------
    >>> import relatum as rt
    >>> sources = ["a", "a", "b", "b"]    # no source names an entity twice
    >>> scores = [1.0, 5.0, 2.0, 4.0, 3.0, 2.0]
    >>> rt.infer(rt.Problem(scores, rt.EQUIVALENCES)).relation.labels.tolist()
    [0, 0, 0, 0]
    >>> feasible = rt.EQUIVALENCES & rt.one_per_group(sources)
    >>> rt.infer(rt.Problem(scores, feasible), prove=True).relation.labels.tolist()
    [0, 1, 0, 1]
    """
    if isinstance(groups, str):
        raise FeasibleSetError("one_per_group takes one label per element, got a single string.")
    if isinstance(groups, Mapping):
        if not groups:
            raise FeasibleSetError("one_per_group takes one group per element, got an empty one.")
        return FeasibleSet([GroupsById(dict(groups))])
    return FeasibleSet([OnePerGroup(groups)])
