"""Elements of a problem by name: their numbers, and relations that are said by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from relatum.errors import ProblemError
from relatum.problem.arguments import is_missing, shown
from relatum.problem.feasible import (
    EQUIVALENCES,
    LINEAR_ORDERS,
    MAPS,
    PARTIAL_MAPS,
    WEAK_ORDERS,
    FeasibleSet,
)
from relatum.problem.names import Names, names_of, one_set
from relatum.problem.properties import Evidence, Property
from relatum.problem.relation import LinearOrder, Map, PartialMap, Partition, Relation, WeakOrder

Said = dict[int, Any]


class NamedElements:
    """What a problem knows of its elements: they have numbers, and perhaps names."""

    _names: Names | None
    feasible: FeasibleSet

    @property
    def shape(self) -> tuple[int, int]:
        """(|A|, |B|)."""
        raise NotImplementedError

    @property
    def ids(self) -> NDArray[Any] | None:
        """What the elements of A are called, in the order of their numbers; None without names."""
        return None if self._names is None else self._names.arrays[0]

    @ids.setter
    def ids(self, names: Any) -> None:
        self._names = names_of(names, self.shape, self.feasible.homogeneous)

    @property
    def names(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None] | None:
        """What the elements of A and those of B are called; the same array where A = B."""
        return None if self._names is None else self._names.arrays

    def numbers(self, names: Any, of: Literal["A", "B"] = "A") -> NDArray[np.int64]:
        """Return the numbers of elements by their names, in the same shape.

        Parameters
        ----------
        names : one name, or array-like of names
            Where no name is a number, numbers of elements stay what they are.
        of : "A" or "B"
            The set that they are of.

        Examples
        --------
        >>> import relatum as rt
        >>> problem = rt.Problem([2.0], rt.EQUIVALENCES, names=["ann", "bob"])
        >>> problem.numbers(["bob", "ann"]).tolist()
        [1, 0]
        """
        if of not in ("A", "B"):
            raise ProblemError(f"of is 'A' or 'B', the set that elements are of, got {shown(of)}.")
        side = 1 if of == "B" else 0
        known = self._names or one_set(None)
        return known.numbers(names, side, self.shape[side], "The call")

    def name_of(self, element: int, of: Literal["A", "B"] = "A") -> Any:
        """Return what an element is called: its number, where it has no name."""
        return (self._names or one_set(None)).of(int(element), 1 if of == "B" else 0)

    def told(self, rule: Property | FeasibleSet) -> str:
        """Return a property, or a set, as it is written, evidence by names of elements."""
        return rule.told(self._names) if isinstance(rule, Evidence | FeasibleSet) else str(rule)

    def relation_of(self, said: Any) -> Relation:
        """Return the relation that a mapping, or a pandas Series, says by names of elements.

        Parameters
        ----------
        said : mapping or Series by name
            For equivalence relations the label of each element, any value: elements that are not
            named are alone, and what the problem has no element for is passed over, so that
            yesterday's clusters will do. For orders the rank of each, smaller first, and for maps
            the image of each; elements without any (None) only where maps are partial.

        Examples
        --------
        >>> import relatum as rt
        >>> p = rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES, names=["ann", "bob", "cy"])
        >>> p.relation_of({"bob": "x", "cy": "x"}).labels.tolist()
        [0, 1, 1]
        """
        return relation_by_name(said, self.feasible, self.shape, self._names or one_set(None))


def relation_by_name(
    said: Any, feasible: FeasibleSet, shape: tuple[int, int], names: Names
) -> Relation:
    """Return the relation of the kind of a feasible set that is said by names of elements."""
    items = said if isinstance(said, Mapping) else _series(said)
    if feasible <= EQUIVALENCES:
        return _partition(_numbered(items, names, shape[0], others=True), shape[0])
    found = _numbered(items, names, shape[0])
    if feasible <= WEAK_ORDERS:
        kind = LinearOrder if feasible <= LINEAR_ORDERS else WeakOrder
        return kind([_rank(found, k, names) for k in range(shape[0])])
    if feasible <= PARTIAL_MAPS:
        return _map(found, shape, names, partial=not feasible <= MAPS)
    raise ProblemError(
        f"Names say a clustering, a ranking or a map, not one of {feasible.structure}; give a "
        "relation, such as relatum.Relation(matrix)."
    )


def _series(said: Any) -> Mapping[Any, Any]:
    if not (hasattr(said, "index") and hasattr(said, "items")) or callable(said.index):
        raise ProblemError(
            "start is a relation such as relatum.Partition(labels), or a mapping or a pandas "
            f"Series by names of elements, got {type(said).__name__} {shown(said)}."
        )
    return dict(said.items())


def _numbered(items: Mapping[Any, Any], names: Names, size: int, others: bool = False) -> Said:
    """Return what is said by numbers; with `others`, names that no element has are passed over."""
    found = {}
    for name, value in items.items():
        k = names.find(name, 0, size)
        if k is not None:
            found[k] = value
        elif not others:
            names.number(name, 0, size, "start")  # which says what is wrong
    if not found:
        first = next(iter(items), None)
        raise ProblemError(
            f"start says nothing of any element of the problem; it names {shown(first)}, the "
            f"problem has {shown(names.of(0))}."
        )
    return found


def _partition(found: Said, n: int) -> Partition:
    number: dict[Any, int] = {}
    labels = np.arange(n) + len(found)  # alone
    for k, label in found.items():
        if not is_missing(label):
            try:
                labels[k] = number.setdefault(label, len(number))
            except TypeError:
                raise ProblemError(f"Labels are hashable, got {shown(label)}.") from None
    return Partition(labels)


def _rank(found: Said, k: int, names: Names) -> Any:
    if k not in found or is_missing(found[k]):
        raise ProblemError(f"start has no rank for {shown(names.of(k))}; an order ranks them all.")
    return found[k]


def _map(found: Said, shape: tuple[int, int], names: Names, partial: bool) -> PartialMap:
    labels = np.full(shape[0], -1, dtype=np.int64)
    for k, image in found.items():
        if not is_missing(image):
            labels[k] = names.number(image, 1, shape[1], "start")
    without = np.flatnonzero(labels < 0)
    if partial:
        return PartialMap(labels, shape[1])
    if without.size:
        raise ProblemError(f"start has no image for {shown(names.of(int(without[0])))}.")
    return Map(labels, shape[1])
