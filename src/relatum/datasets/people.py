"""Invented persons, written down several times with mistakes, to link their records."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import numpy as np

from relatum.array_types import Index

__all__ = ["People", "load_people"]

_GIVEN = """james mary robert patricia john jennifer michael linda david elizabeth william barbara
richard susan joseph jessica thomas sarah charles karen ann anna anne maria marie carla dmitri elena
farid grace hugo ines jonas katya liam mona nils olga peter petra ruth stefan stephen tania omar
yusuf wanda xenia zoe bruno clara dora emil frida georg hanna igor julia klaus lena marta"""
_SYLLABLES = """b br c d f g gr h k kr l m n p r s st t v w
a e i o u ai ei ou
berg dal field ford ham holm ini ka land ley man mann mont ner off per sen son stein wood
street road avenue lane square hill"""
_FIRST, _MIDDLE, _LAST, _ROADS = (line.split() for line in _SYLLABLES.splitlines())
_KEYS = "qwertyuiop asdfghjkl zxcvbnm 1234567890"


class People(NamedTuple):
    """Records of persons, and who they are.

    Attributes
    ----------
    records : Arrow table
        ``id``, ``given_name``, ``surname``, ``street``, ``town``, ``postcode``, ``born``, ``phone``
        and, where there are sources, ``source``; null where nothing is known.
    entity : int64 array (records,)
        The person of each record.

    Examples
    --------
    >>> import relatum as rt
    >>> people = rt.datasets.load_people(100)
    >>> len(people.records) == len(people.entity)
    True
    """

    records: Any
    entity: Index


def load_people(
    persons: int = 500, *, copies: int = 4, sources: int = 0, mistakes: float = 1.0, seed: int = 0
) -> People:
    """Invent records of persons, with mistakes as people and scanners make them.

    Letters are left out, doubled, swapped or those of the next key; values are missing; names
    are swapped or abbreviated; days and months are swapped; people move. Many persons share a name
    or a town, some a household. Nobody in it is real.

    Parameters
    ----------
    persons : int
    copies : int
        Each person has from one to so many records.
    sources : int
        If not 0, each person has at most one record in each of so many sources instead.
    mistakes : float
        Mean number of mistakes in a record.
    seed : int

    Examples
    --------
    >>> people = load_people(3, seed=1)
    >>> people.records.column_names[:4], people.entity.tolist()
    (['id', 'given_name', 'surname', 'street'], [0, 0, 1, 1, 1, 1, 2])
    """
    import pyarrow as pa

    rng = random.Random(seed)
    town_names = [_invented(rng) + rng.choice(("ton", "burg", "ville", "")) for _ in range(80)]
    surnames = [_invented(rng) for _ in range(max(50, int(4 * persons**0.7)))]
    rows: list[list[str | None]] = []
    entity: list[int] = []
    person: list[str] = []
    for number in range(persons):
        person = _person(rng, surnames, town_names, person)
        if sources:
            chosen = [k for k in range(sources) if rng.random() < 0.7] or [rng.randrange(sources)]
            origin = [chr(ord("a") + k) for k in chosen]
        else:
            origin = [""] * rng.randint(1, copies)
        for name in origin:
            rows.append([*_damaged(rng, person, mistakes), name])
            entity.append(number)
    order = list(range(len(rows)))
    if sources:  # each source after the other, as tables come
        order.sort(key=lambda k: (str(rows[k][-1]), k))
    names = ["given_name", "surname", "street", "town", "postcode", "born", "phone", "source"]
    columns: dict[str, Any] = {"id": pa.array(range(len(rows)), pa.int64())}
    for k, name in enumerate(names if sources else names[:-1]):
        columns[name] = pa.array([rows[row][k] for row in order], pa.string())
    return People(pa.table(columns), np.array(entity, dtype=np.int64)[order])


def _invented(rng: random.Random) -> str:
    middle = rng.choice(_MIDDLE) + rng.choice(_FIRST) + rng.choice(_MIDDLE)
    return rng.choice(_FIRST) + middle[: rng.choice((2, 9))] + rng.choice(_LAST)


def _person(
    rng: random.Random, surnames: list[str], towns: list[str], last: list[str]
) -> list[str]:
    given = rng.choice(_GIVEN.split())
    born = f"{rng.randint(1930, 2009)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if last and rng.random() < 0.15:  # of one household
        return [given, *last[1:5], born, last[6]]
    surname = surnames[int(len(surnames) * rng.random() ** 2)]  # some are frequent
    street = f"{rng.randint(1, 200)} {_invented(rng)} {rng.choice(_ROADS)}"
    town = int(len(towns) * rng.random() ** 2)
    phone = f"0{rng.randint(100, 999)} {rng.randint(100_000, 999_999)}"
    return [given, surname, street, towns[town], str(1000 + 37 * town), born, phone]


def _damaged(rng: random.Random, person: list[str], mistakes: float) -> list[str | None]:
    """Return a person's values with mistakes, and some missing."""
    values: list[str | None] = list(person)
    for k, share in enumerate((0.02, 0.02, 0.1, 0.1, 0.15, 0.1, 0.3)):
        if rng.random() < share:
            values[k] = None
    count = 0
    while rng.random() < mistakes / (1 + mistakes):  # geometric, of that mean
        count += 1
        kind, k = rng.random(), rng.randrange(len(values))
        value = values[k]
        if kind < 0.06:
            values[0], values[1] = values[1], values[0]
        elif kind < 0.12 and values[0]:
            values[0] = values[0][:1]
        elif kind < 0.2 and values[5] and re.match(r"\d{4}-\d\d-(0\d|1[012])$", values[5]):
            year, month, day = values[5].split("-")
            values[5] = f"{year}-{day}-{month}"
        elif kind < 0.26 and values[2]:
            values[2] = f"{rng.randint(1, 200)} {_invented(rng)} {rng.choice(_ROADS)}"
        elif value:
            values[k] = _mistyped(rng, value)
    return values


def _mistyped(rng: random.Random, text: str) -> str:
    k, kind = rng.randrange(len(text)), rng.random()
    if kind < 0.25 and len(text) > 1:
        return text[:k] + text[k + 1 :]
    if kind < 0.4:
        return text[:k] + text[k] + text[k:]
    if kind < 0.6 and k + 1 < len(text):
        return text[:k] + text[k + 1] + text[k] + text[k + 2 :]
    place = _KEYS.find(text[k])
    return text[:k] + _KEYS[(place + rng.choice((-1, 1))) % len(_KEYS)].strip() + text[k + 1 :]
