"""What users know of the elements of a Spark table, by id, as Spark DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relatum.errors import DataError, EvidenceError
from relatum.pair_tables.columns import Columns, no_evidence_column

__all__ = ["Extras", "element", "extras_of"]

GROUP_BITS = (1 << 52) - 1  # hashes of groups stay exact as floating point numbers


@dataclass(frozen=True)
class Extras:
    """What is known besides the scores.

    An element is its id, or a struct of ``source`` and ``id``.

    Attributes
    ----------
    related, unrelated : DataFrame with columns ``a`` and ``b``, or None
    groups : DataFrame with columns ``node`` and ``group_code`` (integers), or None
    score_missing : callable (ids, ids) -> bits, or None
        It travels to the tasks, with all it holds.
    """

    related: Any = None
    unrelated: Any = None
    groups: Any = None
    score_missing: Any = None


def element(name: str, source: str | None) -> Any:
    """Return an element as one column: an id, or a struct of source and id."""
    from pyspark.sql import functions as fn

    own = fn.col(quoted(name))
    if source is None:
        return own
    both = fn.struct(fn.col(quoted(source)).alias("source"), own.alias("id"))
    return fn.when(own.isNotNull() & fn.col(quoted(source)).isNotNull(), both)


def quoted(name: str) -> str:
    """Return a column's name as Spark reads it, whatever signs it has."""
    return "`" + name.replace("`", "``") + "`"


def extras_of(
    pairs: Any, columns: Columns, evidence: Any, one_per_group: Any, score_missing: Any = None
) -> Extras:
    """Read evidence and groups as users give them.

    Parameters
    ----------
    pairs : Spark DataFrame
    columns : Columns
    evidence : mapping, Spark DataFrame or None
        ``{"related": [(id, id), ...], "unrelated": [...]}``, or a table of pairs of ids with a
        column ``related``.
    one_per_group : str, mapping, Spark DataFrame or None
        A name such as "source_dataset" for columns of `pairs` with the endings ``_l`` and ``_r``;
        otherwise ids to groups.
    score_missing : callable (ids, ids) -> bits, optional
    """
    related, unrelated = _evidence(pairs, columns, evidence)
    groups = None if one_per_group is None else _groups(pairs, columns, one_per_group)
    return Extras(related, unrelated, groups, score_missing)


def _evidence(pairs: Any, columns: Columns, evidence: Any) -> tuple[Any, Any]:
    from pyspark.sql import functions as fn

    if evidence is None:
        return None, None
    ends = (
        element(columns.left, columns.source_left).alias("a"),
        element(columns.right, columns.source_right).alias("b"),
    )
    if not isinstance(evidence, Mapping):
        missing = [n for n in (columns.left, columns.right, "related") if n not in evidence.columns]
        if missing:
            raise no_evidence_column(missing[0], evidence.columns)
        flag = fn.col("related").cast("boolean")
        table = evidence.select(*ends, flag.alias("related"))
        return table.where("related").drop("related"), table.where("NOT related").drop("related")
    unknown = set(evidence) - {"related", "unrelated"}
    if unknown:
        raise EvidenceError(
            "evidence is {'related': [(id, id), ...], 'unrelated': [...]}, or a table of pairs of "
            f"ids with a column 'related'; got the key {sorted(map(str, unknown))[0]!r}."
        )
    schema = pairs.select(*ends).schema
    found = []
    for name in ("related", "unrelated"):
        rows = [tuple(pair) for pair in evidence.get(name, ())]
        found.append(pairs.sparkSession.createDataFrame(rows, schema) if rows else None)
    return found[0], found[1]


def _groups(pairs: Any, columns: Columns, given: Any) -> Any:
    from pyspark.sql import functions as fn

    own = element(columns.left, columns.source_left).alias("node")
    if isinstance(given, str):
        for ending in ("_l", "_r"):
            if given + ending not in pairs.columns:
                raise DataError(
                    f"one_per_group={given!r} names the columns {given}_l and {given}_r; the table "
                    f"of pairs has no column {given + ending!r}."
                )
        right = element(columns.right, columns.source_right).alias("node")
        table = pairs.select(own, fn.col(quoted(f"{given}_l")).alias("value")).union(
            pairs.select(right, fn.col(quoted(f"{given}_r")).alias("value"))
        )
    elif isinstance(given, Mapping):
        kind = pairs.select(own).schema["node"].dataType.simpleString()
        rows = [(k, str(v)) for k, v in given.items() if v is not None]
        table = pairs.sparkSession.createDataFrame(rows, f"node {kind}, value string")
    else:
        table = _group_table(columns, given)
    table = table.where("node IS NOT NULL AND value IS NOT NULL").distinct()
    twice = table.groupBy("node").count().where("count > 1").select("node").limit(1).collect()
    if twice:
        raise DataError(f"one_per_group= gives the element {twice[0][0]} two values; give it one.")
    return table.select(
        "node", fn.xxhash64("value").bitwiseAND(fn.lit(GROUP_BITS)).alias("group_code")
    )


def _group_table(columns: Columns, given: Any) -> Any:
    from pyspark.sql import functions as fn

    ids = [n for n in (columns.source_name, columns.id_name) if n is not None]
    others = [n for n in given.columns if n not in ids]
    missing = [n for n in ids if n not in given.columns]
    if missing or len(others) != 1:
        raise DataError(
            f"one_per_group= is a table with the columns {', '.join(ids)} and one of groups; it "
            f"has the columns {', '.join(given.columns)}."
        )
    own = element(columns.id_name, columns.source_name).alias("node")
    return given.select(own, fn.col(quoted(others[0])).alias("value"))
