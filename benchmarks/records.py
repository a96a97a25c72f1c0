"""From raw records to entities, beside peers.

For each set and split by entity, methods learn from the records of one half of the entities and
link the records of the other, which is compared with the truth pair by pair. Compared are

* `relatum.RecordLinker`, with the labels of the training half, learned from the records of that
  half or of both, and without any labels;
* Splink, learned by its own EM without labels: connected components at thresholds .5 and .9, at
  the threshold that is best on the training half, and at the one that is best on the test half,
  which nobody knows ("oracle"); for two sources without duplicates also its single best links;
* `relatum.cluster_pairs` on Splink's scores;
* logistic regression of scikit-learn on binned similarities: components, and for two sources the
  optimal assignment, at the same kinds of thresholds;
* dedupe, trained on labelled pairs of the training half, at the same kinds of thresholds.

Splink and scikit-learn get the same candidates: each record and its k nearest by letter groups.
What the order of records or of ids decides is averaged over several orders. Times are of the
processor.

    RELATUM_DATA=... python benchmarks/records.py [--sets cora abt_buy] [--splits 3]
        [--first-split 10] [--peers splink dedupe] [--scale 1000000] [--shifts]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

import _records_linker
import _records_peers
import _records_scale
import _records_splink
import numpy as np
from _machine import machine
from _records_judge import block_recall
from _records_sets import SETS, split

RESULTS = Path(__file__).parent / "results"
PEERS = {
    "relatum": ("relatum", _records_linker.run),
    "splink": ("splink", _records_splink.run),
    "sklearn": ("sklearn", _records_peers.logistic),
    "dedupe": ("dedupe", _records_peers.dedupe),
}


class Clock:
    """Adds up processor time by name."""

    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def __call__(self, name):
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


def one_split(folder, name, seed, peers, repeats):
    task = split(folder, name, seed)
    clock, methods, notes = Clock(), {}, {}
    for peer in peers:
        try:
            methods |= PEERS[peer][1](task, repeats, clock)
        except Exception as error:  # one peer that fails must not hide the others
            traceback.print_exc()
            notes[peer] = f"failed: {type(error).__name__}: {error}"
    notes |= methods.pop("notes", {})
    return {
        "records": len(task.test),
        "candidates": len(task.candidates["test"]),
        "block_recall": block_recall(task.candidates["test"], task.entity, task.test),
        "methods": methods,
        "seconds": clock.seconds,
        "notes": notes,
    }


def summarise(runs):
    """Return mean and spread (largest minus smallest) over splits."""
    names = dict.fromkeys(m for run in runs for m in run["methods"])
    out = {}
    for m in names:
        found = [run["methods"][m] for run in runs if m in run["methods"]]
        out[m] = {k: float(np.mean([f[k] for f in found])) for k in found[0]}
        out[m]["spread"] = float(np.ptp([f["f1"] for f in found]))
    seconds = dict.fromkeys(s for run in runs for s in run["seconds"])
    return {
        "methods": out,
        "seconds": {
            s: float(np.mean([run["seconds"][s] for run in runs if s in run["seconds"]]))
            for s in seconds
        },
        "block_recall": float(np.mean([run["block_recall"] for run in runs])),
    }


def show(results):
    """Print a table in Markdown: mean F1 and, after a slash, its spread over splits."""
    sets = results["sets"]
    print("\n| F1, mean / spread | " + " | ".join(sets) + " |")
    print("|---|" + "---|" * len(sets))
    for m in dict.fromkeys(m for s in sets.values() for m in s["mean"]["methods"]):
        cells = [s["mean"]["methods"].get(m) for s in sets.values()]
        told = ["" if c is None else f"{c['f1']:.3f} / {c['spread']:.3f}" for c in cells]
        print(f"| {m} | " + " | ".join(told) + " |")
    print("\n| processor seconds | " + " | ".join(sets) + " |")
    print("|---|" + "---|" * len(sets))
    for m in dict.fromkeys(m for s in sets.values() for m in s["mean"]["seconds"]):
        cells = [s["mean"]["seconds"].get(m) for s in sets.values()]
        print(f"| {m} | " + " | ".join("" if c is None else f"{c:.1f}" for c in cells) + " |")
    recalls = [f"{s['mean']['block_recall']:.3f}" for s in sets.values()]
    print("| block recall of the peers' candidates | " + " | ".join(recalls) + " |")


def merged(old, new):
    """Return a run with what was measured now, and what other peers gave before."""
    for key in ("methods", "seconds"):
        new[key] = {**old.get(key, {}), **new[key]}
    return new


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--repeats", type=int, default=3, help="orders of records, for ties")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--scale", type=int, default=0, help="records made, instead of the sets")
    parser.add_argument("--shifts", action="store_true", help="offsets where more are linked")
    parser.add_argument("--output", type=Path, default=RESULTS / "records.json")
    options = parser.parse_args()
    results = {"sets": {}}
    if options.output.is_file():
        results = json.loads(options.output.read_text())
    results["machine"] = machine("scikit-learn", "splink", "duckdb", "dedupe")
    if options.scale:
        results.setdefault("scale", {})[str(options.scale)] = _records_scale.run(options.scale)
        options.output.write_text(json.dumps(results, indent=1) + "\n")
        return 0
    if options.shifts:
        results["shifts"] = _records_scale.shifts()
        options.output.write_text(json.dumps(results, indent=1) + "\n")
        return 0
    folder = Path(options.data) / "er"
    if not folder.is_dir():
        print(f"skipped: there are no records in {folder}; name their folder by RELATUM_DATA")
        return 0
    peers = []
    for peer in options.peers:
        if find_spec(PEERS[peer][0]):
            peers.append(peer)
        else:
            print(f"skipped: {peer} is not installed; the extra `bench` brings it")
    for name in options.sets:
        before = results["sets"].get(name, {}).get("runs", [])
        runs = []
        for number in range(options.splits):
            seed = options.first_split + number
            found = {"split": seed, **one_split(folder, name, seed, peers, options.repeats)}
            old = [run for k, run in enumerate(before) if run.get("split", k) == seed]
            runs.append(merged(old[0], found) if old else found)
        results["sets"][name] = {"mean": summarise(runs), "runs": runs}
        results["sets"] = {s: results["sets"][s] for s in SETS if s in results["sets"]}
        options.output.write_text(json.dumps(results, indent=1) + "\n")
        show({"sets": {name: results["sets"][name]}})
        sys.stdout.flush()
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
