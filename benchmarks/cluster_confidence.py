"""What the column ``confidence`` costs, and how right it is, without labels and with some.

Cost: `cluster_pairs` with and without it, from file to file. The tables are those of
``pair_tables.py``, at three levels of noise. Runs with and without take turns, in one process;
processor seconds are compared, as the least of each.

Rightness, on the records of RELATUM_DATA: measures are learned from one half of the entities, pairs
of the other half are clustered with the offset and background that the first half teaches, and
labels of half of *its* entities are given; clusters that hold records of the others are judged by
their truth. Reported is the mean loss of a cluster in bits, and mean confidence beside the share
that is right.

    python benchmarks/cluster_confidence.py [--records 1000000] [--pairs 5000000] [--turns 3]
    RELATUM_DATA=folder python benchmarks/cluster_confidence.py --noise --sets cora abt_buy
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from _machine import machine
from calibration import halves

import relatum as rt
from pair_tables import BACKGROUND, make_table, warm_up

RESULTS = Path(__file__).parent / "results" / "cluster_confidence.json"


def run(folder, confidence):
    """Return processor seconds, seconds, and the summary of a run."""
    begun, clock = process_time(), perf_counter()
    found = rt.cluster_pairs(
        folder / "pairs.parquet",
        background=BACKGROUND,
        output=folder / "clusters.parquet",
        confidence=confidence,
    )
    return process_time() - begun, perf_counter() - clock, found.summary


def level(options, noise):
    """Return what confidences cost at one level of noise."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = make_table(folder, options.records, options.pairs, noise)
        taken = {False: [], True: []}
        for _ in range(options.turns):
            for confidence in (False, True):
                *seconds, summary = run(folder, confidence)
                taken[confidence].append(seconds)
    without, with_ = (min(s for s, _ in taken[c]) for c in (False, True))
    return made | {
        "cpu seconds without": without,
        "cpu seconds with": with_,
        "ratio": with_ / without,
        "runs (cpu seconds, seconds)": {"without": taken[False], "with": taken[True]},
        "clusters": summary.clusters,
        "elements with exact confidence": summary.confidences_exact,
    }


def rightness(folder, name, seed):
    """Return what confidences are worth on one split, without labels and with those of a half."""
    train, (pairs, bits, truth, source) = halves(folder, name, seed)
    learned = rt.pair_tables.learn_offset(*train[0].T, *train[1:], background="learned")
    table = pd.DataFrame(pairs, columns=["unique_id_l", "unique_id_r"])
    table["match_weight"] = bits + learned.bits
    groups = None if source is None else dict(enumerate(source.tolist()))
    given = {"background": learned.background, "one_per_group": groups, "confidence": True}
    told = np.random.default_rng([seed, 2]).permutation(truth.max() + 1)[truth] % 2 == 0
    labels = {int(k): int(truth[k]) for k in np.flatnonzero(told)}
    out = {}
    for how, more in (("scores alone", {}), ("labels of a half", {"labels": labels})):
        found = rt.cluster_pairs(table, **given, **more)
        own = found.table.set_index("unique_id")
        sets = own.groupby("cluster_id").groups.values()
        right, sure = [], []
        for elements in (np.asarray(s) for s in sets):
            if told[elements].all():
                continue
            entity = truth[elements]
            whole = np.count_nonzero(truth[own.index] == entity[0])
            right.append((entity == entity[0]).all() and len(elements) == whole)
            sure.append(own.loc[elements[0], "confidence"])
        right, p = np.array(right), np.clip(sure, 1e-9, 1 - 1e-9)
        loss = float(-np.mean(np.log2(np.where(right, p, 1 - p))))
        said = {"loss": loss, "confidence": float(p.mean()), "right": float(right.mean())}
        out[how] = said | {"clusters": len(right), "judged": found.summary.clusters_judged}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--noise", type=float, nargs="*", default=[3.0, 4.0, 5.0])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[], help="of records, such as cora")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=6, help="number of the first split")
    options = parser.parse_args()
    warm_up()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results |= {"machine": machine("duckdb", "pyarrow")}
    results.setdefault("noise", {})
    warnings.simplefilter("ignore")
    for name in options.sets:
        seeds = range(options.first, options.first + options.splits)
        rows = [rightness(Path(os.environ["RELATUM_DATA"]) / "er", name, seed) for seed in seeds]
        results.setdefault("rightness", {})[name] = rows
        for how in rows[0]:
            said = {k: np.round([row[how][k] for row in rows], 3).tolist() for k in rows[0][how]}
            print(f"{name:14} {how:16} {said}", flush=True)
    for noise in options.noise:
        results["noise"][f"{noise:g}"] = row = level(options, noise)
        print(f"noise {noise:g}: {row['ratio']:.2f} times the clustering", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
