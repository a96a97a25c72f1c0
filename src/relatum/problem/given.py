"""What users say of elements by id before there is a problem: evidence and groups to be looked up.

A feasible set is a value of its own, and does not know what the elements of a problem are called.
So `relatum.evidence` keeps pairs as they are given; when the set meets a problem, names become
numbers. Numbers that users give are looked up too where names are numbers: ids win.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.array_types import Flags, Index
from relatum.errors import EvidenceError, FeasibleSetError
from relatum.problem.arguments import MOST_ELEMENTS, labels_array, plain_array, shown
from relatum.problem.names import Names, unnamed
from relatum.problem.properties import (
    EMPTY_PAIRS,
    Evidence,
    OnePerGroup,
    Property,
    Shape,
    some_pairs,
)

Named = tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, eq=False)
class GivenEvidence(Evidence):
    """Evidence as users give it: pairs of numbers, and pairs of names.

    Attributes
    ----------
    related, unrelated : integer arrays of shape (k, 2)
        The pairs that are given by numbers, which may be ids.
    by_name : (pairs, pairs)
        Those that are given otherwise, related and unrelated.
    """

    by_name: tuple[Named, Named] = ((), ())

    def __init__(
        self, related: Any = (), unrelated: Any = (), by_name: tuple[Named, Named] = ((), ())
    ) -> None:
        numbers, names = [], []
        for what, pairs, more in zip(
            ("related", "unrelated"), (related, unrelated), by_name, strict=True
        ):
            counted, called = split_pairs(pairs, what)
            numbers.append(counted)
            names.append(tuple(dict.fromkeys((*more, *called))))
        super().__init__(*numbers)
        object.__setattr__(self, "by_name", (names[0], names[1]))

    def merged(self, other: Evidence) -> GivenEvidence:
        more = other.by_name if isinstance(other, GivenEvidence) else ((), ())
        return GivenEvidence(
            np.concatenate([self.related, other.related]),
            np.concatenate([self.unrelated, other.unrelated]),
            (self.by_name[0] + more[0], self.by_name[1] + more[1]),
        )

    def numbered(self, names: Names | None, shape: Shape) -> Evidence:
        """Return the same by numbers of elements of a problem."""
        if names is None:
            self.require_numbers()
            return Evidence(self.related, self.unrelated)
        return Evidence(
            *(
                self._looked_up(names, shape, what, pairs, called)
                for what, pairs, called in zip(
                    ("related", "unrelated"),
                    (self.related, self.unrelated),
                    self.by_name,
                    strict=True,
                )
            )
        )

    def _looked_up(
        self, names: Names, shape: Shape, what: str, pairs: Index, called: Named
    ) -> Index:
        ids = any(side is not None and side.numbers_are_names for side in names.sides)
        given = [*(pairs.tolist() if ids else ()), *called]
        found = [
            [names.number(x, k, shape[k], f"Evidence '{what}'", EvidenceError) for k, x in ends]
            for ends in (enumerate(pair) for pair in given)
        ]
        looked_up = np.array(found, dtype=np.int64).reshape(-1, 2)
        return looked_up if ids else np.concatenate([pairs, looked_up])

    def require_numbers(self) -> None:
        """Refuse pairs that are not given by numbers, where nothing knows names."""
        for what, called in zip(("related", "unrelated"), self.by_name, strict=True):
            for pair in called:
                name = next(x for x in pair if not _is_number(x))
                raise EvidenceError(unnamed(f"Evidence '{what}'", name))

    def contains(self, matrix: Flags) -> bool:
        self.require_numbers()
        return super().contains(matrix)

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        self.require_numbers()
        return super().fixed(shape)

    def check(self, shape: Shape) -> None:
        self.require_numbers()
        super().check(shape)

    def __len__(self) -> int:
        return super().__len__() + len(self.by_name[0]) + len(self.by_name[1])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GivenEvidence)
            and super().__eq__(other)
            and all(set(a) == set(b) for a, b in zip(self.by_name, other.by_name, strict=True))
        )

    def __hash__(self) -> int:
        return hash((super().__hash__(), *map(frozenset, self.by_name)))

    def __str__(self) -> str:
        return self.told(None)

    def _listed(self, what: str, pairs: Index, names: Any) -> list[str]:
        called = self.by_name[what == "unrelated"]
        return super()._listed(what, pairs, names) + [f"({a!r}, {b!r})" for a, b in called[:5]]


def _is_number(x: Any) -> bool:
    """Say whether something can be the number of an element."""
    whole = isinstance(x, int | np.integer) and not isinstance(x, bool)
    return whole and 0 <= int(x) < MOST_ELEMENTS


def split_pairs(pairs: Any, what: str) -> tuple[Index, Named]:
    """Return the pairs that are given by numbers of elements, and those that can only be names."""
    columns = getattr(pairs, "columns", None)
    if columns is not None and len(columns) == 2:  # a table of two columns
        ends = [labels_array(pairs[name], "Columns of evidence", EvidenceError) for name in columns]
        pairs = list(zip(*(end.tolist() for end in ends), strict=True))
    given = _list_of(pairs, what)
    with suppress(ValueError, OverflowError):  # ragged lists, or numbers larger than 64 bits
        array = np.asarray(given)
        if array.size == 0 and len(given) == 0:
            return EMPTY_PAIRS, ()
        if array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == 2:
            plain = ((array >= 0) & (array < MOST_ELEMENTS)).all(axis=1)
            called = [(a, b) for a, b in array[~plain].tolist()]
            return some_pairs(array[plain], what), tuple(called)
    called = [_two_ends(pair, what) for pair in given]
    numbers = [pair for pair in called if all(_is_number(x) for x in pair)]
    others = [pair for pair in called if not all(_is_number(x) for x in pair)]
    return some_pairs(numbers, what), tuple(others)


def _list_of(pairs: Any, what: str) -> Any:
    """Return what can be gone through pair by pair."""
    if isinstance(pairs, np.ma.MaskedArray):
        plain_array(pairs, f"Pairs (a, b) in the list of pairs '{what}' of evidence", EvidenceError)
    try:
        if isinstance(pairs, str | bytes | Mapping):
            raise TypeError
        return pairs if isinstance(pairs, np.ndarray) and pairs.ndim else list(pairs)
    except Exception:  # also what classes that are not ours raise
        raise EvidenceError(f"{_rule(what)}, got {shown(pairs)}.") from None


def _two_ends(pair: Any, what: str) -> tuple[Any, Any]:
    try:
        if isinstance(pair, str | bytes | Mapping | set | frozenset):
            raise TypeError
        a, b = (x.item() if isinstance(x, np.generic) else x for x in pair)
        hash((a, b))
    except Exception:
        raise EvidenceError(f"{_rule(what)}, got {shown(pair)} as one of them.") from None
    return a, b


def _rule(what: str) -> str:
    return f"Evidence '{what}' is a list of pairs (a, b) of names or numbers of elements"


@dataclass(frozen=True, eq=False)
class GroupsById(Property):
    """`OnePerGroup` by a mapping from names to groups, before it meets a problem.

    Parameters
    ----------
    groups : mapping of name to group
        Of every element of the problem, and perhaps of others.
    """

    groups: Mapping[Any, Any]
    name = "one_per_group"
    homogeneous = True

    def numbered(self, names: Names | None, shape: Shape) -> OnePerGroup:
        """Return the same by numbers of elements of a problem."""
        named = None if names is None else names.sides[0]
        found = {}
        for name, group in self.groups.items():
            k = None if named is None else named.find(name)
            if k is None and _is_number(name) and (named is None or not named.numbers_are_names):
                k = int(name)
            if k is not None:
                found[k] = group
        missing = [k for k in range(shape[0]) if k not in found]
        if missing:
            first = missing[0] if names is None else names.of(missing[0])
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise FeasibleSetError(
                f"one_per_group has no group for {shown(first)}{more}; the mapping gives every "
                "element one, and one of its own to an element of no known group."
            )
        return OnePerGroup([found[k] for k in range(shape[0])])

    def contains(self, matrix: Flags) -> bool:
        return self.numbered(None, (matrix.shape[0], matrix.shape[1])).contains(matrix)

    def fixed(self, shape: Shape) -> tuple[Index, Index]:
        return self.numbered(None, shape).fixed(shape)

    def check(self, shape: Shape) -> None:
        super().check(shape)
        self.numbered(None, shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GroupsById) and dict(self.groups) == dict(other.groups)

    def __hash__(self) -> int:
        return hash((self.name, len(self.groups)))

    @property
    def sentence(self) -> str:
        return "relates no two elements of one group"

    def __str__(self) -> str:
        return f"one_per_group({len(self.groups)} elements by name)"
