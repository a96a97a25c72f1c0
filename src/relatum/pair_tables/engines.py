"""Which engine holds a table of pairs, and the way to Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from relatum.errors import DataError
from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.result import Clusters, Summary
from relatum.pair_tables.solve.component import Settings, usual_search

__all__ = ["on_spark", "spark_asked"]


def spark_asked(pairs: Any, engine: str) -> bool:
    """Say whether Spark is to do it, and refuse what does not fit."""
    if engine not in ("auto", "duckdb", "spark"):
        raise DataError(f'engine is "auto", "duckdb" or "spark", got {engine!r}.')
    frame = any(c.__module__.startswith("pyspark.sql") for c in type(pairs).__mro__)
    if engine == "spark" and not frame:
        raise DataError(
            f'engine="spark" takes a Spark DataFrame, got {type(pairs).__name__}; make one with '
            "spark.read or spark.createDataFrame."
        )
    if engine == "duckdb" and frame:
        raise DataError(
            'engine="duckdb" does not read Spark DataFrames; write the pairs to Parquet files.'
        )
    return frame


def on_spark(
    pairs: Any,
    names: tuple[str, str, str | None, str | None],
    settings: Settings,
    odd_rows: str,
    given: Mapping[str, Any],
    refused: Mapping[str, Any],
) -> Clusters:
    """Cluster a Spark DataFrame."""
    for name, value in refused.items():
        if value is not None:
            raise DataError(
                f"{name}= is not available on Spark; write the pairs to Parquet files and pass "
                "their path."
            )
    spark: Any = import_module("relatum.pair_tables.on_spark.engine")
    columns = find_columns(pairs.columns, *names)
    search = given.get("search")
    if search is None:
        search = usual_search(pairs.count())
    settings = replace(settings, search=int(search))
    known = (given["evidence"], given["one_per_group"], given["score_missing"])
    extras = spark.extras_of(pairs, columns, *known)
    table, numbers = spark.cluster_spark(pairs, columns, settings, extras, odd_rows)
    numbers = {**numbers, "background": settings.background}
    return Clusters(table, Summary.of(numbers))
