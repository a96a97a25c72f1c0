"""Pair tables: Spark on one machine finds the clusters that DuckDB finds.

The table is that of benchmarks/pair_tables.py, smaller. Compared are the clusters, set by set,
and the summaries; times are told, but Spark is for tables that no single machine holds.

    python benchmarks/pair_tables_spark.py [--records 200000] [--pairs 1000000]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np

import relatum as rt
from pair_tables import BACKGROUND, make_table

RESULTS = Path(__file__).parent / "results" / "pair_tables_spark.json"
NUMBERS = ("elements", "clusters", "components", "largest_component", "pairs_cut", "pairs_added")


def session(partitions):
    """Spark with two local threads, each task tried up to four times."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(name, "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", str(partitions))
    builder = builder.config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def same_sets(one, other):
    """Say whether two clusterings (ids, clusters) have the same sets."""
    a, b = (t.sort_values("unique_id") for t in (one, other))
    if not np.array_equal(a["unique_id"], b["unique_id"]):
        return False
    pairs = set(zip(a["cluster_id"], b["cluster_id"], strict=True))
    return len(pairs) == a["cluster_id"].nunique() == b["cluster_id"].nunique()


def timed(function):
    begin = perf_counter()
    found = function()
    return found, perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--noise", type=float, default=4.0)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if find_spec("pyspark") is None:
        print("pyspark is not installed: nothing to compare.")
        return
    warnings.simplefilter("ignore")  # pyspark does not know pandas 3 yet
    packages = ("numpy", "duckdb", "pyarrow", "pandas", "pyspark")
    out = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "packages": {p: version(p) for p in packages},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out["table"] = make_table(folder, options.records, options.pairs, options.noise)
        path = str(folder / "pairs.parquet")
        known, seconds = timed(lambda: rt.cluster_pairs(path, background=BACKGROUND, threads=2))
        out["duckdb"] = {**known.summary.as_dict(), "total": seconds}
        spark, seconds = timed(lambda: session(8))
        out["spark start"] = seconds
        frame = spark.read.parquet(path)
        found, seconds = timed(lambda: rt.cluster_pairs(frame, background=BACKGROUND))
        out["spark"] = {**found.summary.as_dict(), "total": seconds}
        clusters = found.table.toPandas()
        spark.stop()
    out["same clusters"] = same_sets(known.table.to_pandas(), clusters)
    options.output.write_text(json.dumps(out, indent=1, default=str) + "\n")
    print(f"{out['table']['pairs']} pairs of {options.records} records")
    print(f"{'':20}{'DuckDB':>14}{'Spark local[2]':>16}")
    for key in ("total", *NUMBERS, "value", "bound"):
        print(f"{key:20}{out['duckdb'][key]:14.1f}{out['spark'][key]:16.1f}")
    print("the same clusters:", out["same clusters"])


if __name__ == "__main__":
    main()
