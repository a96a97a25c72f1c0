"""What the column ``confidence`` costs: `cluster_pairs` with and without it, from file to file.

The tables are those of ``pair_tables.py``, at three levels of noise. Runs with and without take
turns, in one process; processor seconds are compared, as the least of each.

    python benchmarks/cluster_confidence.py [--records 1000000] [--pairs 5000000] [--turns 3]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from _machine import machine

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--noise", type=float, nargs="*", default=[3.0, 4.0, 5.0])
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    warm_up()
    results = {"machine": machine("duckdb", "pyarrow"), "noise": {}}
    for noise in options.noise:
        results["noise"][f"{noise:g}"] = row = level(options, noise)
        print(f"noise {noise:g}: {row['ratio']:.2f} times the clustering", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
