"""Names of elements: what users call them, and the numbers that everything else works with.

Elements are numbered from 0. A problem may have names for them (ids): one list for relations on one
set, two for maps, whose images are other things. Names are any values that are hashable and all
different. Where a problem has names, what users say of elements is looked up among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.errors import ProblemError, RelatumError
from relatum.problem.arguments import is_missing, labels_array, plain_array, shown

SIDES = ("A", "B")
_COMPARED = 20_000  # names among which an unknown one is looked for by its letters
_NEAR = 3  # names that an error shows


class Side:
    """The names of the elements of one set, and their numbers."""

    def __init__(self, names: NDArray[Any]) -> None:
        self.names = names
        self._number: dict[Any, int] | None = None
        self._with_numbers: bool | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self.names, "_number": None, "_with_numbers": self._with_numbers}

    @property
    def numbers_are_names(self) -> bool:
        """Whether some name is a number, so that a number is never the place of an element."""
        if self._with_numbers is None:
            kind = self.names.dtype.kind
            with_objects = kind == "O" and any(isinstance(x, Number) for x in self.names)
            self._with_numbers = kind in "iufcb" or with_objects
        return self._with_numbers

    def find(self, name: Any) -> int | None:
        """Return the number of the element with a name, or None."""
        if self._number is None:
            self._number = {x: k for k, x in enumerate(plain_names(self.names))}
        try:
            return self._number.get(_plain(name))
        except TypeError:  # not hashable
            return None

    def near(self, name: Any) -> list[Any]:
        """Return names that are written much like another."""
        written = {str(x): x for x in plain_names(self.names[:_COMPARED])}
        return [written[x] for x in get_close_matches(str(name), written, _NEAR)]


class Names:
    """What the elements of A and of B are called; None where they are only numbered.

    Parameters
    ----------
    rows, columns : Side or None
        The same object where A = B.
    """

    def __init__(self, rows: Side | None, columns: Side | None) -> None:
        self.sides = rows, columns

    @property
    def arrays(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """The names of A and of B."""
        rows, columns = (None if side is None else side.names for side in self.sides)
        return rows, columns

    def find(self, name: Any, side: int, size: int) -> int | None:
        """Return the number of the element that a name, or a number, means, or None.

        Names win: only where no name is a number does a number mean a place.
        """
        named = self.sides[side]
        found = None if named is None else named.find(name)
        if found is None and _is_whole(name) and (named is None or not named.numbers_are_names):
            return int(name) if 0 <= int(name) < size else None
        return found

    def number(
        self, name: Any, side: int, size: int, what: str, error: type[RelatumError] = ProblemError
    ) -> int:
        """Return the number of the element that a name, or a number, means.

        `what` says where it was met, as the beginning of an error's sentence.
        """
        found = self.find(name, side, size)
        if found is not None:
            return found
        named = self.sides[side]
        if named is None and not _is_whole(name):
            raise error(unnamed(what, name))
        if named is None or (_is_whole(name) and not named.numbers_are_names):
            raise error(
                f"{what} names {name}, but |{SIDES[side]}| has the {size} elements 0 ... "
                f"{size - 1}{'' if named is None else ', which also have names'}."
            )
        near = ", ".join(shown(x) for x in named.near(name))
        first = ", ".join(shown(x) for x in plain_names(named.names[:_NEAR]))
        hint = f"did you mean {near}?" if near else f"names are such as {first}."
        raise error(f"{what} names {shown(name)}, but no element is called so; {hint}")

    def numbers(
        self, names: Any, side: int, size: int, what: str, error: type[RelatumError] = ProblemError
    ) -> Index:
        """Return the numbers of several elements, in the shape in which they are named."""
        given = labels_array([names] if _is_one(names) else names, "Elements", error)
        flat = plain_names(given.ravel())
        found = np.array([self.number(x, side, size, what, error) for x in flat], dtype=np.int64)
        return found.reshape(() if _is_one(names) else given.shape)

    def of(self, k: int, side: int = 0) -> Any:
        """Return the name of an element, or its number if it has none."""
        named = self.sides[side]
        return k if named is None else _plain(named.names[k])

    def restrict(self, elements: Index) -> Names:
        """Return the names of some elements of a relation on one set."""
        return one_set(None if self.sides[0] is None else Side(self.sides[0].names[elements]))


def unnamed(what: str, name: Any) -> str:
    """Return the sentence on a name that is given where elements have only numbers."""
    return (
        f"{what} names {shown(name)}, but the elements of the problem are only numbered, from 0; "
        "give their names to the problem: names=[...]."
    )


def _is_whole(name: Any) -> bool:
    return isinstance(name, int | np.integer) and not isinstance(name, bool)


def _is_one(names: Any) -> bool:
    if isinstance(names, np.ndarray):
        return names.ndim == 0
    return isinstance(names, str | bytes) or not isinstance(names, Iterable)


def _plain(name: Any) -> Any:
    """Return a name as Python has it, so that it is found, and shown, as users write it."""
    if isinstance(name, np.generic) and name.dtype.kind not in "mM":
        return name.item()
    return name


def plain_names(names: NDArray[Any]) -> list[Any]:
    """Return names as a list of Python's own values."""
    return list(names) if names.dtype.kind in "mM" else names.tolist()


def one_set(side: Side | None) -> Names:
    """Return the names of a relation on one set."""
    return Names(side, side)


def names_of(given: Any, shape: tuple[int, int], homogeneous: bool) -> Names | None:
    """Return the names that a user gives to a problem.

    Parameters
    ----------
    given : sequence, or tuple of two sequences (of which one may be None), or None
    shape : (int, int)
    homogeneous : bool
        Whether the relations are on one set, so that there is one list of names.
    """
    if given is None or isinstance(given, Names):
        return given
    two = isinstance(given, tuple) and len(given) == 2 and all(_lists(x) for x in given)
    if two and not homogeneous:
        rows, columns = (_side(x, n, s) for x, n, s in zip(given, shape, SIDES, strict=True))
        return Names(rows, columns)
    if shape[0] != shape[1]:
        raise ProblemError(
            f"names are two lists where |A| = {shape[0]} and |B| = {shape[1]}: names=(those of A, "
            "those of B), of which one may be None."
        )
    return one_set(_side(given, shape[0], "A"))


def count_of(given: Any, homogeneous: bool) -> int | tuple[int, int] | None:
    """Return how many elements names say that there are; None if they do not say."""
    if given is None or not hasattr(given, "__len__"):
        return None
    two = isinstance(given, tuple) and len(given) == 2 and all(_lists(x) for x in given)
    if two and not homogeneous:
        rows, columns = (0 if x is None or not hasattr(x, "__len__") else len(x) for x in given)
        return (rows, columns) if rows and columns else None
    return len(given)


def _lists(part: Any) -> bool:
    return part is None or (isinstance(part, Iterable) and not isinstance(part, str | bytes))


def _side(given: Any, size: int, side: str) -> Side | None:
    if given is None:
        return None
    if not _lists(given) or isinstance(given, set | frozenset):  # sets are in no order
        raise ProblemError(f"names are a list with one name per element, got {shown(given)}.")
    names = labels_array(given, "names")
    if names.ndim != 1:
        raise ProblemError(
            f"names are a list with one name per element, got an array of shape {names.shape}; "
            "names of several parts are tuples."
        )
    if len(names) != size:
        raise ProblemError(
            f"names are one per element, but |{side}| = {size} and there are {len(names)} names."
        )
    _require_different(names)
    return Side(names)


def _require_different(names: NDArray[Any]) -> None:
    listed = plain_names(names)
    missing = next((k for k, x in enumerate(listed) if is_missing(x)), None)
    if missing is not None:
        raise ProblemError(f"Element {missing} has no name (None or NaN); give it one.")
    seen: dict[Any, int] = {}
    for k, name in enumerate(listed):
        try:
            first = seen.setdefault(name, k)
        except TypeError:
            raise ProblemError(
                f"Names are hashable, such as texts, numbers and tuples, got {shown(name)}."
            ) from None
        if first != k:
            raise ProblemError(
                f"Names are all different, but elements {first} and {k} are both called "
                f"{shown(name)}."
            )


def distinct_names(names: Sequence[Any]) -> Sequence[Any] | None:
    """Return names if they are fit to be names of a problem, else None."""
    try:
        return list(names) if len(set(names)) == len(names) else None
    except TypeError:
        return None


def names_of_frame(table: Any, homogeneous: bool) -> Any:
    """Return names that a square or other pandas DataFrame of log-odds has by itself, or None.

    Those of its rows and columns, unless they are merely numbered from 0 or not all different.
    """
    index: Any = getattr(table, "index", None)
    columns: Any = getattr(table, "columns", None)
    if index is None or not all(hasattr(axis, "is_unique") for axis in (index, columns)):
        return None
    rows, images = (None if is_counted(x) or not x.is_unique else x for x in (index, columns))
    if not homogeneous:
        return None if rows is None and images is None else (rows, images)
    if rows is None or images is None or len(rows) != len(images):
        return None
    listed = plain_array(rows, "names").tolist(), plain_array(images, "names").tolist()
    if listed[0] == listed[1]:
        return rows
    if set(listed[0]) == set(listed[1]):
        raise ProblemError(
            "Rows and columns of the table name the same elements in different orders; bring them "
            "into one: table.loc[names, names]."
        )
    return None


def is_counted(axis: Any) -> bool:
    """Say whether an index of pandas only counts from 0."""
    return type(axis).__name__ == "RangeIndex" and axis.start == 0 and axis.step == 1
