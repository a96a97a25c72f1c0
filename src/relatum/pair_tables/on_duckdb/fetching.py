"""Pairs fetched again by DuckDB from where the table is: of some elements, or all in batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.kernels.tables.places import merge_duplicates, sort_rows
from relatum.pair_tables.columns import SAME, bits_of
from relatum.pair_tables.on_duckdb.components import (
    Units,
    batch_at,
    fill_buckets,
    link_pairs,
    sorted_pairs,
)
from relatum.pair_tables.on_duckdb.known import Known
from relatum.pair_tables.on_duckdb.reading import open_pairs, read_source
from relatum.pair_tables.on_duckdb.store import Workspace
from relatum.pair_tables.on_duckdb.tables import column_names, connect, quoted
from relatum.pair_tables.origin import Origin
from relatum.pair_tables.solve.batching import (
    Component,
    Components,
    Pairs,
    batch_of,
    facts_of,
    pairs_of,
)
from relatum.pair_tables.solve.unlisted import with_missing
from relatum.problem import object_array

MOST_BETWEEN = 2_000_000  # pairs between components that are kept: 48 MB


class DuckDBAccess:
    """Pairs fetched by DuckDB: what `relatum.pair_tables.origin.Access` asks for."""

    def component(self, origin: Origin, elements: Index) -> Component:
        """Return some elements as one component."""
        return fetch_component(origin, elements)

    def batches(self, origin: Origin) -> Iterator[tuple[Components, Index]]:
        """Yield the whole table in batches of whole components, and the elements of each."""
        return batches_of(origin)

    def scored(self, origin: Origin) -> Pairs:
        """Return all pairs that `score_missing` scored: numbers of elements, and bits."""
        return scored_pairs(origin)

    def between(self, origin: Origin, above: float) -> Pairs:
        """Return listed pairs above some bits whose elements are of two components."""
        return pairs_between(origin, above)

    def has_fields(self, origin: Origin) -> bool:
        """Say whether the table of pairs tells what the fields behind its scores say."""
        with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
            space = Workspace.of(origin.plan, Path(folder))
            with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
                open_pairs(con, origin.opened(), space.folder)
                return any(name.startswith("bf_") for name in column_names(con, "pairs"))

    def fields(self, origin: Origin, a: int, b: int) -> list[tuple[str, str, float]]:
        """Return what the fields behind a pair's score say: field, level and bits."""
        return fields_of_pair(origin, a, b)

    def copy(self, origin: Origin, path: Path) -> None:
        """Write the columns of the table of pairs that matter to a Parquet file."""
        copy_pairs(origin, path)


def fetch_component(origin: Origin, elements: Index) -> Component:
    """Return some elements as one component: listed pairs, evidence and groups among them.

    Parameters
    ----------
    origin : Origin
    elements : int64 array
        Sorted; all elements of one component, or of several.
    """
    pairs = _listed(origin, elements)
    place = np.full(len(origin.roots), -1, dtype=np.int64)
    place[elements] = np.arange(len(elements))
    fixed = origin.fixed[(place[origin.fixed[:, :2]] >= 0).all(axis=1)]
    ends = place[fixed[:, :2]]
    groups = None if origin.groups is None else origin.groups[elements].astype(np.int64)
    yes, no = (ends[fixed[:, 2] == known] for known in (1, 0))
    component = Component(len(elements), *pairs, yes, no, groups)
    return _with_missing(origin, elements, component)


def pairs_between(origin: Origin, above: float) -> Pairs:
    """Return listed pairs above some bits whose elements are of two components, the best first.

    Parameters
    ----------
    origin : Origin
    above : float
        Bits, as they count: with the offset. The best `MOST_BETWEEN` are returned.
    """
    parts, kept = [_no_pairs()], 0
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(origin.plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            source = read_source(con, origin.opened(), space)
            _require_same(source.n == origin.whole.num_rows)
            for a, b, bits in source.batches():
                keep = bits + origin.offset > above  # not of NaN
                keep &= origin.roots[a] != origin.roots[b]
                low, high = np.minimum(a, b)[keep], np.maximum(a, b)[keep]
                parts.append((low.astype(np.int64), high.astype(np.int64), bits[keep]))
                kept += len(low)
                if kept > 2 * MOST_BETWEEN:
                    parts = [_best(parts)]
                    kept = len(parts[0][0])
    low, high, bits = _best(parts)
    return low, high, bits + origin.offset


def _no_pairs() -> Pairs:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)


def _best(parts: list[Pairs]) -> Pairs:
    """Return the best of some pairs, each once, in the order of their scores and elements."""
    low, high, bits = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
    by = np.lexsort((-bits, high, low))
    first = np.append(True, (np.diff(low[by]) != 0) | (np.diff(high[by]) != 0))[: len(by)]
    own = np.sort(by[first]) if len(by) else by
    own = own[np.lexsort((high[own], low[own], -bits[own]))][:MOST_BETWEEN]
    return low[own], high[own], bits[own]


def _listed(origin: Origin, elements: Index) -> Pairs:
    """Return the listed pairs of some elements, each once, numbered among them."""
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(origin.plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            view = open_pairs(con, origin.opened(), space.folder)
            con.register("members", _members(origin, elements))
            joins = (
                f"JOIN members l ON l.id = ({view.left}) JOIN members r ON r.id = ({view.right})"
            )
            parts = list(view.read("l.k", "r.k", view.score, joins=joins))
    columns = zip(*parts, strict=True) if parts else [[np.empty(0)]] * 3
    a, b, score = (np.concatenate(list(column)) for column in columns)
    bits = bits_of(score, origin.columns.is_probability)
    keep = (a != b) & ~np.isnan(bits)
    a, b = a[keep].astype(np.int64), b[keep].astype(np.int64)
    low, high = np.minimum(a, b), np.maximum(a, b)
    low, high, bits = sort_rows(low, high, bits[keep] + origin.offset, 0, len(elements))
    kept = merge_duplicates(low, high, bits, SAME, np.zeros(3, dtype=np.int64))
    return low[:kept], high[:kept], bits[:kept]


def _members(origin: Origin, elements: Index) -> Any:
    """Return the ids of elements as the view of pairs names them, and their numbers."""
    columns, rows = origin.columns, origin.whole.take(elements)
    own = rows[columns.id_name].combine_chunks()
    if columns.source_name is not None:
        source = rows[columns.source_name].combine_chunks()
        own = pa.StructArray.from_arrays([source, own], ["source", "id"])
    return pa.table({"id": own, "k": np.arange(len(elements))})


def _with_missing(origin: Origin, elements: Index, component: Component) -> Component:
    """Score what is not listed, as the run did: component by component."""
    score, most = _shifted(origin), origin.settings.tuning.scored_elements
    if score is None:
        return component
    roots = origin.roots[elements]
    batch, order = batch_of(roots, pairs_of(component), facts_of(component), component.groups)
    _, (i, j, bits) = with_missing(batch, most, _named(origin, elements[order]), score)
    listed = pairs_of(component)
    return replace(
        component,
        i=np.concatenate([listed[0], order[i]]),
        j=np.concatenate([listed[1], order[j]]),
        log_odds=np.concatenate([listed[2], bits]),
    )


def batches_of(origin: Origin, scored: bool = True) -> Iterator[tuple[Components, Index]]:
    """Yield the whole table in batches of whole components, and the elements of each.

    ``scored`` says whether what is not listed is scored, where the run did that.
    """
    score, most = _shifted(origin), origin.settings.tuning.scored_elements
    filled = scored and score is not None
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(origin.plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            source = read_source(con, origin.opened(), space)
            _require_same(source.n == origin.whole.num_rows)  # numbers in what is known fit
            groups = None if origin.groups is None else origin.groups.astype(np.int64)
            known = Known(origin.fixed, groups)
            linked = link_pairs(source, known, space, False, origin.offset)
        _require_same(np.array_equal(linked.roots, origin.roots))
        n = len(linked.roots)
        units = Units(linked.roots, np.bincount(linked.roots, minlength=n), np.zeros(n, np.bool_))
        buckets = fill_buckets(linked, units, known, origin.settings.tuning, space, filled)
        for k, spool in enumerate(buckets.spools):
            starts = buckets.starts[buckets.bounds[k] : buckets.bounds[k + 1] + 1]
            elements = buckets.order[int(starts[0]) : int(starts[-1])]
            pairs, _ = sorted_pairs(spool, int(starts[0]), len(elements))
            batch = batch_at(buckets, known, starts, pairs)
            if filled and score is not None:
                batch, _ = with_missing(batch, most, _named(origin, elements), score)
            yield batch, elements


def _require_same(same: bool) -> None:
    """Refuse pairs of other elements or components, whose numbers would mean something else."""
    if not same:
        raise DataError(
            "The pairs are not those that the clusters were made of: they have other elements or "
            "components; cluster them again."
        )


def _shifted(origin: Origin) -> Callable[[Any, Any], Any] | None:
    """Return what scores missing pairs, with the offset that listed ones have."""
    score, offset = origin.given.score_missing, origin.offset
    if score is None or not offset:
        return score
    return lambda a, b: np.asarray(score(a, b), dtype=np.float64) + offset


def _named(origin: Origin, elements: Index) -> Callable[[Index], Any]:
    return lambda places: object_array(origin.ids(elements[places]))


def scored_pairs(origin: Origin) -> Pairs:
    """Return all pairs that `score_missing` scored: numbers of elements, and what it said."""
    score, most = origin.given.score_missing, origin.settings.tuning.scored_elements
    parts = []
    for batch, elements in batches_of(origin, scored=False):
        if score is not None:
            _, (i, j, bits) = with_missing(batch, most, _named(origin, elements), score)
            parts.append((elements[i], elements[j], bits))
    i, j, bits = (np.concatenate(list(column)) for column in zip(*parts, strict=True))
    return i, j, bits


def fields_of_pair(origin: Origin, a: int, b: int) -> list[tuple[str, str, float]]:
    """Return what Splink's columns say of a pair: field, level and bits, if the table has them.

    Columns are ``bf_FIELD``, a factor of the odds, ``bf_tf_adj_FIELD``, how rare the value is, and
    ``gamma_FIELD``, the level of agreement.
    """
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(origin.plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            view = open_pairs(con, origin.opened(), space.folder)
            names = column_names(con, "pairs")
            factors = [name for name in names if name.startswith("bf_")]
            levels = [name for name in names if name.startswith("gamma_")]
            if not factors:
                return []
            con.register("members", _members(origin, np.array(sorted((a, b)))))
            casts = ", ".join(f"TRY_CAST({quoted(n)} AS DOUBLE)" for n in factors + levels)
            row = con.execute(
                f"SELECT {casts} FROM pairs JOIN members l ON l.id = ({view.left}) JOIN members r "
                f"ON r.id = ({view.right}) WHERE l.k <> r.k LIMIT 1"
            ).fetchone()
    found = {} if row is None else dict(zip(factors + levels, row, strict=True))
    out = []
    for name in factors:
        factor, field = found.get(name), name.removeprefix("bf_")
        if factor is not None and factor > 0 and np.isfinite(factor):
            level = found.get(f"gamma_{field}")
            told = "" if level is None else "missing" if level == -1 else f"level {level:g}"
            if field.startswith("tf_adj_"):
                field, told = field.removeprefix("tf_adj_"), "how rare it is"
            out.append((field, told, float(np.log2(factor))))
    return out


def copy_pairs(origin: Origin, path: Path) -> None:
    """Write the columns of the table of pairs that matter to a Parquet file."""
    with tempfile.TemporaryDirectory(prefix="relatum-") as folder:
        space = Workspace.of(origin.plan, Path(folder))
        with closing(connect(space.folder, space.memory // 2, space.threads)) as con:
            view = open_pairs(con, origin.opened(), space.folder)
            names = view.columns.names()
            if isinstance(origin.given.one_per_group, str):
                more = (origin.given.one_per_group + end for end in ("_l", "_r"))
                names += [name for name in more if name not in names]
            query = f"SELECT {', '.join(map(quoted, names))} FROM pairs"
            con.execute(
                f"COPY ({query}) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT PARQUET)"
            )
