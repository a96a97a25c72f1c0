"""What clusters were made of: elements, pairs and rules, from which any component can be had again.

An `Origin` is kept by `relatum.pair_tables.Clusters`. It holds some bytes per element, never the
pairs: those of a component are fetched from where the table is, when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.pair_tables.columns import Columns
from relatum.pair_tables.options import Given, Plan, Settings
from relatum.pair_tables.solve.batching import Component, Components, Pairs, problem_of
from relatum.pair_tables.solve.proving import packed_certificate
from relatum.problem import Partition, Problem, float_up, nearest_float, object_array, shown
from relatum.proof import Certificate, Estimate, Status, closes

KEPT_PARTS = 8  # components that are kept for the next question
KEPT_PAIRS = 1_000_000  # of the largest of these: 16 MB
CERTIFIED_ELEMENTS = (
    20_000  # of the largest components whose bound is proved when they are asked for
)


@dataclass(frozen=True, eq=False)
class Part:
    """One component, or several, by ids: its pairs, what is known, and its clusters."""

    elements: Index  # numbers in the table, sorted
    ids: Sequence[Any]  # as users write them: ids, or (source, id)
    component: Component
    labels: Index  # the cluster of each element, numbered from 0
    gap: float  # bits, as the run stated it
    settings: Settings

    @cached_property
    def problem(self) -> Problem:
        """The problem that it is on its own, with ids."""
        problem = problem_of(self.component, self.settings.background, self.settings.max_size)
        problem.ids = object_array(self.ids)
        return problem

    @cached_property
    def estimate(self) -> Estimate:
        """Its clusters, value and bound, and what proves the bound where that takes no search."""
        relation = Partition(self.labels)
        exact = self.problem.exact_value(relation)
        value, bound = nearest_float(exact), float_up(exact + Fraction(self.gap))
        proof = self._certificate(bound)
        bound = bound if proof is None else max(bound, proof.bound)
        status = Status.OPTIMAL if closes(value, bound) else Status.FEASIBLE
        return Estimate(status, relation, value, bound, proof, "cluster_pairs")

    def place(self, element: int) -> int:
        """Return the number of one of its elements in its problem."""
        return int(np.searchsorted(self.elements, element))

    def _certificate(self, bound: float) -> Certificate | None:
        if self.component.n > CERTIFIED_ELEMENTS:
            return None
        found = packed_certificate(self.problem, self.labels)
        return found if found.bound <= bound or closes(bound, found.bound) else None


class Access(Protocol):
    """How an engine fetches pairs again."""

    def component(self, origin: Origin, elements: Index) -> Component:
        """Return some elements as one component."""
        ...

    def batches(self, origin: Origin) -> Iterator[tuple[Components, Index]]:
        """Yield the whole table in batches of whole components, and the elements of each."""
        ...

    def scored(self, origin: Origin) -> Pairs:
        """Return all pairs that `score_missing` scored: numbers of elements, and bits."""
        ...

    def between(self, origin: Origin, above: float) -> Pairs:
        """Return listed pairs above some bits whose elements are of two components."""
        ...

    def has_fields(self, origin: Origin) -> bool:
        """Say whether the table of pairs tells what the fields behind its scores say."""
        ...

    def fields(self, origin: Origin, a: int, b: int) -> list[tuple[str, str, float]]:
        """Return what the fields behind a pair's score say: field, level and bits."""
        ...

    def copy(self, origin: Origin, path: Path) -> None:
        """Write the columns of the table of pairs that matter to a Parquet file."""
        ...


@dataclass(frozen=True, eq=False)
class Origin:
    """What a run was given, what it found, and how to fetch components.

    Attributes
    ----------
    given, plan : Given, Plan
    columns : Columns
    settings : Settings
        As they were used: the background may have been learned.
    whole : Arrow table
        Elements in the order of their ids: source, if any, id, ``cluster_id``, ``cluster_size``,
        ``cluster_gap`` and ``component``, a hash.
    roots : integer array (n,)
        The smallest element of each element's component.
    fixed : integer array (k, 3)
        Evidence: two elements and 1 or 0.
    groups : integer array (n,) or None
    access : Access
        How pairs are fetched from where they are.
    offset : float
        Bits that were added to every listed score.
    size : int or None
        Bytes of the files that hold the pairs, if they are in files.
    """

    given: Given
    plan: Plan
    columns: Columns
    settings: Settings
    whole: Any
    roots: Index
    fixed: Index
    groups: Index | None
    access: Access
    offset: float = 0.0
    size: int | None = None
    _parts: dict[tuple[int, ...], Part] = field(default_factory=dict)

    def opened(self) -> Given:
        """Return what was given, if the pairs can still be those that the clusters were made of."""
        now = None if self.size is None else bytes_of(self.given.pairs)
        if now != self.size:
            what = f"{now:,} bytes instead of {self.size:,}" if now else "there are none now"
            raise DataError(
                f"The pairs in {self.given.pairs} are not those that the clusters were made of "
                f"({what}); cluster them again."
            )
        return self.given

    def number(self, id_: Any) -> int:
        """Return the number of an element, by its id."""
        names = [n for n in (self.columns.source_name, self.columns.id_name) if n is not None]
        values = [id_] if len(names) == 1 else id_
        if len(names) == 2 and not (isinstance(id_, tuple | list) and len(id_) == 2):
            raise DataError(f"An element is named by (source, id), got {shown(id_)}.")
        found = _place([self.whole[name] for name in names], values)
        if found < 0:
            first = self.ids(np.arange(min(3, len(self.roots))))
            such = f", such as {', '.join(map(repr, first))}" if first else ""
            raise DataError(
                f"There is no element {shown(id_)}; elements are the ids of the table of "
                f"pairs{such}."
            )
        return found

    def ids(self, elements: Index) -> list[Any]:
        """Return the ids of elements, as users write them."""
        names = [n for n in (self.columns.source_name, self.columns.id_name) if n is not None]
        columns = [self.whole[name].take(np.asarray(elements)).to_pylist() for name in names]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def part(self, *elements: int) -> Part:
        """Return the component of an element, or those of several as one."""
        key = tuple(sorted({int(self.roots[k]) for k in elements}))
        if key in self._parts:
            return self._parts[key]
        inside = np.flatnonzero(np.isin(self.roots, np.array(key, dtype=self.roots.dtype)))
        component = self.access.component(self, inside)
        codes = self.whole["cluster_id"].take(inside).combine_chunks().dictionary_encode().indices
        labels = Partition(np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)).labels
        gaps = self.whole["cluster_gap"].take(np.array(key)).to_numpy()
        ids, gap = self.ids(inside), float(gaps.sum())
        part = Part(inside, ids, component, labels, gap, self.settings)
        if len(np.asarray(component.i)) <= KEPT_PAIRS:
            while len(self._parts) >= KEPT_PARTS:
                self._parts.pop(next(iter(self._parts)))
            self._parts[key] = part
        return part


def bytes_of(path: str | Path) -> int:
    """Return how many bytes the files have that a path or glob names."""
    files = [str(path)] if Path(path).is_file() else glob(str(path), recursive=True)  # noqa: PTH207
    return sum(Path(file).stat().st_size for file in files)


def _place(columns: list[Any], values: Sequence[Any]) -> int:
    """Return the first row whose cells equal values; -1 if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    mask = None
    for column, value in zip(columns, values, strict=True):
        value = value.item() if isinstance(value, np.generic) else value
        try:
            wanted = pa.scalar(value, column.type)
            if wanted.as_py() != value:  # 0.5 is not 0
                return -1
            own = pc.equal(column, wanted)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return -1
        mask = own if mask is None else pc.and_(mask, own)
    return int(pc.index(mask, pa.scalar(True)).as_py())
