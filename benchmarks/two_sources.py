"""Two sources without duplicates: components matched and proved, beside the search that they had.

The same tables go to `cluster_pairs` twice in one process: as it is, and with components of two
groups treated as any others, by search and with `prove=True` by branch and cut. Told are the
processor time, the value, and the gap between value and bound in bits. Tables: scored pairs of
Abt-Buy (the half of the entities that the measure of `entity_resolution.py` was not learned on),
as they are and with 4 and 12 bits added, as scores that know of the exclusion have; and made ones.

    python benchmarks/two_sources.py [--data FOLDER] [--records 100000 1000000] [--means -2 -5]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from _machine import machine

import relatum as rt
from relatum.pair_tables.on_duckdb import components
from relatum.pair_tables.solve import component
from relatum.solvers.registry import SOLVERS

RESULTS = Path(__file__).parent / "results" / "two_sources.json"
BACKGROUND = -4.0
MOST_SEARCHED = 200_000  # records up to which the search is measured as well


def made(records, mean, seed=0):
    """Pairs of two sources: everyone's own partner, if there is one, and four others.

    Where these have -2 bits on average, most records are in one component; at -5, in small ones.
    """
    rng = np.random.default_rng(seed)
    n, others = records // 2, 4
    i = np.repeat(np.arange(n), 1 + others)
    j = rng.integers(0, n, len(i))
    j[:: 1 + others] = np.arange(n)
    bits = rng.normal(mean, 3.0, len(i))
    bits[:: 1 + others] = np.where(rng.random(n) < 0.8, rng.normal(8.0, 4.0, n), -6.0)
    _, first = np.unique(i * n + j, return_index=True)
    return i[first], n + j[first], bits[first], np.repeat([0, 1], n)


def abt_buy(folder):
    """Scored pairs of Abt-Buy, numbered, and their sources."""
    from entity_resolution import SETS, load, scored

    name, k = SETS["abt_buy"]
    _, pairs, bits, _, groups, *_ = scored(load(folder, name), k, 0)
    across = groups[pairs[:, 0]] != groups[pairs[:, 1]]
    return *pairs[across].T, bits[across], groups


def measured(pairs, groups, **options):
    """Cluster a table; return processor seconds, value and gap."""
    start = process_time()
    found = rt.cluster_pairs(
        pairs, background=BACKGROUND, one_per_group=groups, threads=1, **options
    )
    seconds, s = process_time() - start, found.summary
    return {"cpu seconds": round(seconds, 3), "value": s.value, "gap": s.bound - s.value,
            "largest component": s.largest_component, "split": s.components_split}  # fmt: skip


def searched(pairs, groups, **options):
    """Cluster a table without matching anything."""

    def none(groups, owner, count):
        return np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)

    without = {name: solver for name, solver in SOLVERS.items() if name != "matching"}
    with (
        patch.dict(SOLVERS, without, clear=True),
        patch.object(component, "solve_two_groups", lambda *_: None),
        patch.object(components, "of_two_groups", none),
    ):
        return measured(pairs, groups, **options)


def compare(name, given, limit):
    """Measure one table all ways."""
    i, j, bits, side = given
    pairs = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    groups = pa.table({"unique_id": np.arange(len(side)), "group": side})
    row = {"records": len(side), "pairs": len(bits), "matched": measured(pairs, groups)}
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "clusters.cert"
        row["with certificate"] = measured(pairs, groups, certificate=proof)
        start = process_time()
        rt.pair_tables.verify_clusters(pairs, proof, one_per_group=groups).raise_if_wrong()
        row["check, cpu seconds"] = round(process_time() - start, 3)
    if len(side) <= MOST_SEARCHED:
        row["searched"] = searched(pairs, groups)
    if len(side) <= MOST_SEARCHED // 10:
        row["searched, prove"] = searched(pairs, groups, prove=True, time_limit=limit)
    for way in ("matched", "with certificate", "searched", "searched, prove"):
        if way in row:
            told = row[way]
            print(f"{name:20} {way:17} {told['cpu seconds']:9.3f} s  value {told['value']:14.3f}"
                  f"  gap {told['gap']:12.3g}  largest {told['largest component']}")  # fmt: skip
    print(f"{name:20} {'check':17} {row['check, cpu seconds']:9.3f} s", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--records", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--means", type=float, nargs="*", default=[-2.0, -5.0])
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of each proof")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    measured(*[pa.table({"unique_id_l": [0], "unique_id_r": [1], "match_weight": [1.0]}), {0: 0}])
    results = {"machine": machine("duckdb"), "tables": {}}
    folder = Path(options.data) / "er"
    if folder.is_dir():
        i, j, bits, side = abt_buy(folder)
        for shift in (0.0, 4.0, 12.0):
            name = f"Abt-Buy, +{shift:g} bits"
            results["tables"][name] = compare(name, (i, j, bits + shift, side), options.limit)
    for records, mean in zip(options.records, options.means, strict=True):
        name = f"made, {records} at {mean:g}"
        results["tables"][name] = compare(name, made(records, mean), options.limit)
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
