"""What users know of the elements of a Spark table, by id, as Spark DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions as fn

from relatum.errors import DataError
from relatum.pair_tables.columns import (
    Columns,
    evidence_pairs,
    require_evidence_columns,
    require_group_columns,
    two_values,
)
from relatum.pair_tables.options import Given

GROUP_BITS = (1 << 52) - 1  # hashes of groups stay exact as floating point numbers


@dataclass(frozen=True)
class Known:
    """What is known besides the scores; an element is its id, or a struct of source and id."""

    related: Any = None  # columns a and b
    unrelated: Any = None
    groups: Any = None  # columns node and group_code, an integer
    labels: Any = None  # columns node and value

    def with_groups(self, rows: Any) -> Any:
        """Add the groups of both elements, if there are groups."""
        if self.groups is None:
            return rows
        for end in ("a", "b"):
            code = fn.col("group_code").alias(f"group_{end}")
            rows = rows.join(self.groups.select(fn.col("node").alias(end), code), end, "left")
        return rows

    def may_join(self) -> Any:
        """Say which pairs groups leave a choice: of different groups, or of none."""
        if self.groups is None:
            return fn.lit(True)
        return ~fn.col("group_a").eqNullSafe(fn.col("group_b")) | fn.isnull("group_a")


def read_known(given: Given, columns: Columns) -> Known:
    """Read evidence and groups as users give them."""
    related, unrelated = _evidence(given.pairs, columns, given.evidence)
    groups, labels = given.one_per_group, given.labels
    groups = None if groups is None else _groups(given.pairs, columns, groups)
    if labels is not None:
        labels = once(values_of(given.pairs, columns, labels, "labels"), "labels")
    return Known(related, unrelated, groups, labels)


def _element(name: str, source: str | None) -> Any:
    """Return an element as one column: an id, or a struct of source and id."""
    own = fn.col(quoted(name))
    if source is None:
        return own
    both = fn.struct(fn.col(quoted(source)).alias("source"), own.alias("id"))
    return fn.when(own.isNotNull() & fn.col(quoted(source)).isNotNull(), both)


def ends_of(columns: Columns) -> tuple[Any, Any]:
    """Return both elements of a row, as columns a and b."""
    return (
        _element(columns.left, columns.source_left).alias("a"),
        _element(columns.right, columns.source_right).alias("b"),
    )


def quoted(name: str) -> str:
    """Return a column's name as Spark reads it, whatever signs it has."""
    return "`" + name.replace("`", "``") + "`"


def _evidence(pairs: Any, columns: Columns, evidence: Any) -> tuple[Any, Any]:
    if evidence is None:
        return None, None
    if not isinstance(evidence, Mapping):
        require_evidence_columns(columns, evidence.columns)
        flag = fn.col("related").cast("boolean")
        table = evidence.select(*ends_of(columns), flag.alias("related"))
        return table.where("related").drop("related"), table.where("NOT related").drop("related")
    schema, session = pairs.select(*ends_of(columns)).schema, pairs.sparkSession
    yes, no = (
        session.createDataFrame(rows, schema) if rows else None for rows in evidence_pairs(evidence)
    )
    return yes, no


def _groups(pairs: Any, columns: Columns, given: Any) -> Any:
    a, b = ends_of(columns)
    if isinstance(given, str):
        names = require_group_columns(given, pairs.columns)
        left, right = (fn.col(quoted(name)).alias("value") for name in names)
        table = pairs.select(a.alias("node"), left).union(pairs.select(b, right))
    else:
        table = values_of(pairs, columns, given, "one_per_group")
    code = fn.xxhash64("value").bitwiseAND(fn.lit(GROUP_BITS)).alias("group_code")
    return once(table, "one_per_group").select("node", code)


def once(table: Any, what: str) -> Any:
    """Return a table of values without nulls; refuse elements with two."""
    table = table.where("node IS NOT NULL AND value IS NOT NULL").distinct()
    twice = table.groupBy("node").count().where("count > 1").select("node").limit(1).collect()
    if twice:
        raise two_values(what, twice[0][0])
    return table


def values_of(pairs: Any, columns: Columns, given: Any, what: str) -> Any:
    """Return columns node and value of a mapping from ids, or of a table."""
    if isinstance(given, Mapping):
        kind = pairs.select(ends_of(columns)[0]).schema["a"].dataType.simpleString()
        own = {k: v for k, v in given.items() if v is not None}
        whole = bool(own) and all(type(v) is int for v in own.values())
        rows = [(k, v if whole else str(v)) for k, v in own.items()]
        value = "bigint" if whole else "string"
        return pairs.sparkSession.createDataFrame(rows, f"node {kind}, value {value}")
    if not hasattr(given, "select"):  # of pandas
        given = pairs.sparkSession.createDataFrame(given)
    return _value_table(columns, given, what)


def _value_table(columns: Columns, given: Any, what: str) -> Any:
    ids = [n for n in (columns.source_name, columns.id_name) if n is not None]
    others = [n for n in given.columns if n not in ids]
    missing = [n for n in ids if n not in given.columns]
    if missing or len(others) != 1:
        raise DataError(
            f"{what}= is a table with the columns {', '.join(ids)} and one of "
            f"{'groups' if what == 'one_per_group' else what}; it "
            f"has the columns {', '.join(given.columns)}."
        )
    own = _element(columns.id_name, columns.source_name).alias("node")
    return given.select(own, fn.col(quoted(others[0])).alias("value"))
