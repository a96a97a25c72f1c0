"""Pair tables: 10^7 scored pairs of 2 * 10^6 records, from file to file, beside Splink.

A truth is planted (entities of 1 + a geometric number of records), and a table of candidate
pairs made with the faults that real ones have:

* blocking misses a tenth of the true pairs;
* true pairs score 6 bits on average, pairs of different entities -6 bits, both with normal
  noise, whose deviation is the noise level;
* a tenth of the records are damaged: each true pair scores 6 bits less for each such end;
* half of the false candidates are between an entity and its neighbour (households, versions
  of a product), and score 2 bits more than other false ones.

At a noise of 4 bits the scores are close to true log2-odds; at 3 they are too timid, at 5 too
sure. Splink's `cluster_pairwise_predictions_at_threshold` gets the same table, and its best
threshold of several is chosen by the whole truth. relatum has no threshold; its background for
pairs that are not listed is -4 bits at every noise level, its default, or learned from a random
fiftieth of the entities. Every run is a process of its own, with the same limit on the memory
of DuckDB, and writes a Parquet file.

    python benchmarks/pair_tables.py [--noise 3 4 5] [--records 2000000] [--pairs 10000000]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

RESULTS = Path(__file__).parent / "results" / "pair_tables.json"
THRESHOLDS = (0.5, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
BACKGROUND = -4.0
LISTED = 0.9  # of true pairs
LABELLED = 0.02  # of entities, for the learned background
PACKAGES = ("numpy", "duckdb", "pyarrow", "splink")


def machine():
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": {p: version(p) for p in PACKAGES if find_spec(p)},
    }


def plant(records, rng):
    """Entities of 1 + geometric sizes, four records on average; returns the entity of each."""
    sizes = rng.geometric(0.25, size=records // 3)
    return np.repeat(np.arange(len(sizes)), sizes)[:records]


def true_pairs(entity):
    """All pairs of records of one entity; these lie side by side."""
    out = []
    step = 1
    while True:
        a = np.flatnonzero(entity[step:] == entity[:-step])
        if not len(a):
            return np.concatenate(out)
        out.append(np.column_stack([a, a + step]))
        step += 1


def false_pairs(entity, count, rng):
    """Half between random records, half between neighbouring entities, and which are which."""
    n = len(entity)
    first = np.flatnonzero(np.r_[True, entity[1:] != entity[:-1]])
    size = np.diff(np.append(first, n))
    a = rng.integers(0, n, count)
    b = rng.integers(0, n, count)
    near = np.arange(count) % 2 == 0
    other = (entity[a] ^ 1)[near]
    fits = other < len(first)
    other = np.where(fits, other, 0)
    b[near] = first[other] + (rng.random(len(other)) * size[other]).astype(np.int64)
    keep = entity[a] != entity[b]
    return np.column_stack([a, b])[keep], near[keep]


def unique_pairs(pairs, n):
    """Return the rows that list an unordered pair first, in order."""
    key = pairs.min(axis=1) * n + pairs.max(axis=1)
    return np.sort(np.unique(key, return_index=True)[1])


def make_table(folder, records, pairs, noise, seed=0):
    """Write pairs.parquet and nodes.parquet, truth.npz to the folder."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(seed)
    entity = plant(records, rng)
    true = true_pairs(entity)
    true = true[rng.random(len(true)) < LISTED]
    wanted = pairs - len(true)
    false, near = false_pairs(entity, int(wanted * 1.6), rng)
    kept = unique_pairs(false, records)[:wanted]
    false, near = false[kept], near[kept]
    damaged = rng.random(records) < 0.1
    mean = np.concatenate([6.0 - 6.0 * damaged[true].sum(axis=1), np.where(near, -4.0, -6.0)])
    both = np.concatenate([true, false])
    bits = mean + noise * rng.normal(size=len(both))
    order = rng.permutation(len(both))
    flip = rng.random(len(both)) < 0.5
    both[flip] = both[flip][:, ::-1]
    ids = rng.permutation(4 * records)[:records]  # ids say nothing, and have gaps
    left, right = ids[both[order, 0]], ids[both[order, 1]]
    table = pa.table(
        {
            "unique_id_l": left,
            "unique_id_r": right,
            "match_weight": bits[order],
            "match_probability": 1 / (1 + 2.0 ** -bits[order]),
        }
    )
    parquet.write_table(table, folder / "pairs.parquet", row_group_size=500_000)
    parquet.write_table(pa.table({"unique_id": np.sort(ids)}), folder / "nodes.parquet")
    np.savez(folder / "truth.npz", ids=ids, entity=entity)
    return {"records": records, "pairs": len(both), "true pairs listed": len(true)}


def n_pairs(counts):
    counts = counts.astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def score(folder, name):
    """Pairwise precision, recall and F1 of clusters; records not listed are alone."""
    import pyarrow.parquet as parquet

    found = parquet.read_table(folder / name, columns=["unique_id", "cluster_id"])
    ids, cluster = (found[c].to_numpy() for c in ("unique_id", "cluster_id"))
    truth = np.load(folder / "truth.npz")
    entity = np.full(truth["ids"].max() + 1, -1, np.int64)
    entity[truth["ids"]] = truth["entity"]
    own, number = entity[ids], np.unique(cluster, return_inverse=True)[1].astype(np.int64)
    both = np.unique(number * (own.max() + 1) + own, return_counts=True)[1]
    related, right = n_pairs(np.bincount(number)), n_pairs(both)
    possible = n_pairs(np.bincount(truth["entity"]))
    precision, recall = right / max(1, related), right / possible
    f1 = 2 * precision * recall / max(1e-12, precision + recall)
    return {"precision": precision, "recall": recall, "F1": f1, "clusters": int(number.max()) + 1}


def run_splink(folder, threshold, memory_limit, threads):
    import duckdb
    from splink import DuckDBAPI
    from splink.clustering import cluster_pairwise_predictions_at_threshold

    con = duckdb.connect()
    con.execute(f"SET memory_limit='{memory_limit}'; SET threads={threads}")
    con.execute(f"SET temp_directory='{folder / 'spill'}'")
    api = DuckDBAPI(connection=con)
    start, cpu = perf_counter(), process_time()
    nodes = con.read_parquet(str(folder / "nodes.parquet"))
    edges = con.read_parquet(str(folder / "pairs.parquet"))
    found = cluster_pairwise_predictions_at_threshold(
        api.register(nodes),
        api.register(edges),
        api,
        node_id_column_name="unique_id",
        threshold_match_probability=threshold,
    )
    found.as_duckdbpyrelation().write_parquet(str(folder / "splink.parquet"))
    return {"seconds": perf_counter() - start, "cpu seconds": process_time() - cpu}


def some_labels(folder):
    """Write the entities of a few of them, all their records, to labels.parquet."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    truth = np.load(folder / "truth.npz")
    few = np.random.default_rng(7).random(truth["entity"].max() + 1) < LABELLED
    own = few[truth["entity"]]
    table = {"unique_id": truth["ids"][own], "entity": truth["entity"][own]}
    parquet.write_table(pa.table(table), folder / "labels.parquet")
    return folder / "labels.parquet"


def run_relatum(folder, memory_limit, threads, learned):
    import relatum as rt

    options = {"background": BACKGROUND}
    if learned:
        options = {"background": "learned", "labels": some_labels(folder)}
    start, cpu = perf_counter(), process_time()
    found = rt.cluster_pairs(
        folder / "pairs.parquet",
        memory_limit=memory_limit,
        threads=threads,
        output=folder / "relatum.parquet",
        **options,
    )
    seconds = {"seconds": perf_counter() - start, "cpu seconds": process_time() - cpu}
    return seconds | {"summary": found.summary.as_dict()}


def warm_up():
    """Load everything, so that only the work is timed."""
    import pyarrow as pa

    import relatum as rt

    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 900, (2, 4000))
    table = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": rng.normal(size=4000)})
    rt.cluster_pairs(table, odd_rows="handle")


def run_case(args):
    """Run one case in this process and print what it took as JSON."""
    folder = Path(args.folder)
    if args.case == "make":
        print(json.dumps(make_table(folder, args.records, args.pairs, args.noise[0])))
        return
    if args.case in ("relatum", "learned"):
        warm_up()
        row = run_relatum(folder, args.memory_limit, args.threads, args.case == "learned")
        name = "relatum.parquet"
    else:
        row = run_splink(folder, args.threshold, args.memory_limit, args.threads)
        name = "splink.parquet"
    row["peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(row | score(folder, name)))


def in_process(args, folder, case, noise, threshold=0.5):
    words = [sys.executable, __file__, "--case", case, "--folder", str(folder)]
    words += ["--records", args.records, "--pairs", args.pairs, "--noise", noise]
    words += ["--memory-limit", args.memory_limit, "--threads", args.threads]
    words += ["--threshold", threshold]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def show(name, row):
    print(
        f"{name:18} {row['seconds']:7.1f} s {row['cpu seconds']:7.1f} s CPU {row['peak MiB']:6} MiB"
        f"   precision {row['precision']:.4f} recall {row['recall']:.4f} F1 {row['F1']:.4f}",
        flush=True,
    )


def table_at(args, noise, folder):
    """Make the table of a noise level, unless the folder has it."""
    told = folder / "made.json"
    if not told.exists():
        folder.mkdir(parents=True, exist_ok=True)
        told.write_text(json.dumps(in_process(args, folder, "make", noise)))
    return json.loads(told.read_text())


def run_level(args, level, folder, save):
    """Run all cases at one noise level that it does not have yet."""
    noise = level["noise"]
    level["table"] = table_at(args, noise, folder)
    print(f"noise {noise}: {level['table']}", flush=True)
    for case in ("relatum", "learned"):
        if case not in level:
            level[case] = in_process(args, folder, case, noise)
            save()
        show(f"{case} {level[case]['summary']['background']:.2f}", level[case])
        stages = level[case]["summary"]["seconds"]
        print("  " + ", ".join(f"{k} {v:.1f} s" for k, v in stages.items()))
    if find_spec("splink") is None:
        print("splink is not installed; skipped")
        return
    for threshold in map(str, args.thresholds):
        if threshold not in level["splink"]:
            level["splink"][threshold] = in_process(args, folder, "splink", noise, threshold)
            save()
        show(f"splink at {threshold}", level["splink"][threshold])
    compare(level)
    save()


def compare(level):
    """Add what relatum gains in F1 and takes in time."""
    every = level["splink"].values()
    best = max(every, key=lambda row: row["F1"])
    for case in ("relatum", "learned"):
        own = level[case]
        ratios = {"F1 above the best threshold": own["F1"] - best["F1"]}
        for what in ("seconds", "cpu seconds"):
            ratios[f"{what} / best threshold"] = own[what] / best[what]
            ratios[f"{what} / all thresholds"] = own[what] / sum(row[what] for row in every)
        level[f"{case} beside splink"] = ratios
        for key, value in ratios.items():
            print(f"  {case}: {key}: {value:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, nargs="+", default=[3.0, 4.0, 5.0])
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--thresholds", type=float, nargs="+", default=THRESHOLDS)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", help="a folder in which tables are kept between runs")
    parser.add_argument("--resume", action="store_true", help="keep the rows of an earlier run")
    parser.add_argument("--only-make", action="store_true", help="make the tables, run nothing")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--threshold", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        run_case(args)
        return
    levels = {}
    if args.resume and RESULTS.exists():
        levels = {level["noise"]: level for level in json.loads(RESULTS.read_text())["levels"]}

    def save():
        result = {"machine": machine(), "levels": [levels[k] for k in sorted(levels)]}
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")

    for noise in args.noise:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(args.tables or name) / f"noise{noise:g}"
            if args.only_make:
                table_at(args, noise, folder)
                continue
            level = levels.setdefault(noise, {"noise": noise, "splink": {}})
            run_level(args, level, folder, save)


if __name__ == "__main__":
    main()
