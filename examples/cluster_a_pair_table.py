"""A table of scored pairs in a file: clusters, doubts, reasons, and what new facts change."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import relatum as rt

rng = np.random.default_rng(0)
entity = np.repeat(np.arange(400), rng.integers(1, 6, size=400))
names = np.array([f"record-{k:04d}" for k in range(len(entity))])


def scored(count):
    """Candidate pairs with log-odds: true ones score 4 bits on average, false ones -4."""
    a = rng.integers(0, len(entity) - 6, count)
    b = a + rng.integers(1, 7, count)
    bits = np.where(entity[a] == entity[b], 4.0, -4.0) + 3 * rng.normal(size=count)
    _, first = np.unique(a * len(entity) + b, return_index=True)
    columns = {"unique_id_l": names[a], "unique_id_r": names[b], "match_weight": bits}
    return pa.table({name: column[first] for name, column in columns.items()})


def f1(found):
    table = found.table.sort_by("unique_id")
    own = np.searchsorted(names, table["unique_id"].to_numpy(zero_copy_only=False))
    clusters = np.unique(table["cluster_id"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    return rt.metrics.pair_precision_recall_f1(entity[own], clusters)[2]


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "pairs.parquet"
    pairs = scored(30_000)
    parquet.write_table(pairs, path)
    found = rt.cluster_pairs(path, output=Path(folder) / "clusters.parquet")
    print(found.summary)
    print(f"pairwise F1 {f1(found):.3f}")
    print(found.table.slice(0, 4).to_pandas().to_string(index=False))

    print("\nin most doubt:")
    for doubt in found.uncertain(3):
        print(f"{doubt};\n  {found.explain(doubt.a, doubt.b)}")
    found.save(Path(folder) / "records.clusters")
    loaded = rt.load_clusters(Path(folder) / "records.clusters")
    problem, estimate = loaded.problem(doubt.a), loaded.estimate(doubt.a)
    print(f"the last is of a component of {problem.n} records, worth {estimate.value:.1f} bits")

    known = {"related": [(names[0], names[-1])], "unrelated": [(names[1], names[2])]}
    again = rt.cluster_pairs(path, evidence=known, previous=found)
    print("\nwith two facts, of which one is odd:")
    print(again.summary.changes)
    print(f"{again.summary.components_reused} components were kept as they were")
