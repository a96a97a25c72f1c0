"""Which log-odds to give pairs that nobody scored, if nothing is known: F1 for some constants.

Two kinds of tables, settings fixed beforehand:

* the real records of `entity_resolution.py`, scored in the same way, three splits each; Cora also
  with few candidates per record, so that blocking misses more than half of the true pairs;
* planted entities of 1 to 8 records, scores of 4 bits (true pairs) and -4 bits (look-alikes) with 3
  bits of noise, of which blocking lists all, 90, 70, 50 or 30 percent.

For each table and constant c, F1 and the regret, the F1 lost against the best of the constants; a
default should have a small largest regret and a small mean one.

    RELATUM_DATA=... python benchmarks/background.py [--splits 3]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from _machine import machine
from entity_resolution import SETS, count_pairs, f1, load, scored

import relatum as rt

RESULTS = Path(__file__).parent / "results" / "background.json"
CONSTANTS = (0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
RECALLS = (1.0, 0.9, 0.7, 0.5, 0.3)
REAL = ("cora_k50", "cora_k10", "abt_buy", "fodors_zagat", "febrl1")


def planted(recall, seed, n_entities=800):
    """Pairs of planted entities, of which a share is listed; three look-alikes per record."""
    rng = np.random.default_rng([seed, round(100 * recall)])
    entity = np.repeat(np.arange(n_entities), rng.integers(1, 9, size=n_entities))
    n = len(entity)
    true = np.concatenate(
        [np.column_stack(np.triu_indices(size, 1)) + first
         for first, size in zip(*np.unique(entity, return_index=True, return_counts=True)[1:],
                                strict=True)]
    )  # fmt: skip
    true = true[rng.random(len(true)) < recall]
    others = np.sort(np.column_stack([np.repeat(np.arange(n), 3), rng.integers(0, n, 3 * n)]), 1)
    others = np.unique(others[entity[others[:, 0]] != entity[others[:, 1]]], axis=0)
    pairs = np.concatenate([true, others])
    bits = np.where(entity[pairs[:, 0]] == entity[pairs[:, 1]], 4.0, -4.0)
    return pairs, bits + 3 * rng.normal(size=len(bits)), entity


def scores_of(pairs, bits, truth):
    """F1 for every constant."""
    columns = {"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1], "match_weight": bits}
    out = {}
    for c in CONSTANTS:
        found = rt.cluster_pairs(pa.table(columns), background=c, log_odds="match_weight").table
        labels = np.arange(len(truth)) + len(truth)  # records that no pair names are alone
        labels[found["unique_id"].to_numpy()] = found["cluster_id"].to_numpy()
        out[str(c)] = f1(truth, np.unique(labels, return_inverse=True)[1])
    return out


def tables(folder, splits):
    for name in REAL if folder.is_dir() else ():
        source, k = SETS[name]
        data = load(folder, source)
        for seed in range(splits):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _, pairs, bits, truth, *_ = scored(data, k, seed)
            yield name, pairs, bits, truth
    for recall in RECALLS:
        for seed in range(splits):
            yield f"planted, recall {recall}", *planted(recall, seed)


def summarised(runs):
    out = {}
    for name, parts in runs.items():
        mean = {c: float(np.mean([p["f1"][c] for p in parts])) for c in parts[0]["f1"]}
        best = max(mean.values())
        out[name] = {
            "block_recall": float(np.mean([p["block_recall"] for p in parts])),
            "f1": mean,
            "spread": {c: float(np.ptp([p["f1"][c] for p in parts])) for c in mean},
            "regret": {c: best - value for c, value in mean.items()},
        }
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    runs = {}
    for name, pairs, bits, truth in tables(Path(options.data) / "er", options.splits):
        recall = float((truth[pairs[:, 0]] == truth[pairs[:, 1]]).sum() / count_pairs(truth))
        entry = {"block_recall": recall, "f1": scores_of(pairs, bits, truth)}
        runs.setdefault(name, []).append(entry)
        print(name, {c: round(v, 3) for c, v in entry["f1"].items()}, flush=True)
    sets = summarised(runs)
    regrets = {c: [s["regret"][c] for s in sets.values()] for c in map(str, CONSTANTS)}
    whole = {c: {"mean": float(np.mean(r)), "largest": max(r)} for c, r in regrets.items()}
    results = {"sets": sets, "regret": whole, "machine": machine("scikit-learn")}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    for c, r in whole.items():
        print(f"{c:>6}  mean regret {r['mean']:.3f}, largest {r['largest']:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
