"""Certificates of pair tables: what it costs to write one and to check it, beside clustering.

The tables are those of `pair_tables.py`. Clustering without a certificate, clustering with one and
checking it run side by side, each in a process of its own, several times in turn; processor time
and time of the clock are told as ratios to clustering without one.

    python benchmarks/verification_tables.py [--noise 3 4 5] [--pairs 1000000] [--repeat 3]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from pair_tables import BACKGROUND, machine, make_table, warm_up

RESULTS = Path(__file__).parent / "results" / "verification_tables.json"
CASES = ("cluster", "certify", "verify")


def run_case(case, folder, memory_limit, threads):
    """Run one case and print what it took as JSON."""
    import relatum as rt

    warm_up()
    pairs, proof = folder / "pairs.parquet", folder / "clusters.cert"
    options = {"memory_limit": memory_limit, "threads": threads}
    start, cpu = perf_counter(), process_time()
    row = {}
    if case == "verify":
        answer = rt.pair_tables.verify_clusters(pairs, proof, background=BACKGROUND, **options)
        answer.raise_if_wrong()
        row = answer.as_dict()
    else:
        where = proof if case == "certify" else None
        found = rt.cluster_pairs(pairs, background=BACKGROUND, certificate=where, **options)
        row = {"value": found.summary.value, "bound": found.summary.bound}
    row |= {"seconds": perf_counter() - start, "cpu seconds": process_time() - cpu}
    row["peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(row))


def in_process(case, folder, args):
    words = [sys.executable, __file__, "--case", case, "--folder", str(folder)]
    words += ["--memory-limit", args.memory_limit, "--threads", str(args.threads)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(noise, args):
    """Return ratios of one noise level."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told = make_table(folder, args.pairs // 5, args.pairs, noise)
        rows = {case: [] for case in CASES}
        for _ in range(args.repeat):
            for case in CASES:
                rows[case].append(in_process(case, folder, args))
        size = (folder / "clusters.cert").stat().st_size
    plain = rows["cluster"]
    ratio = {
        case: {
            key: round(median(a[key] / b[key] for a, b in zip(rows[case], plain, strict=True)), 2)
            for key in ("seconds", "cpu seconds")
        }
        for case in CASES[1:]
    }
    last = rows["verify"][-1]
    ways = {key: last[key] for key in ("components", *(k for k in last if k.startswith("by_")))}
    peaks = {case: max(row["peak MiB"] for row in rows[case]) for case in CASES}
    gaps = {case: rows[case][-1]["bound"] - rows[case][-1]["value"] for case in CASES}
    more = {"ratio": ratio, "proved": ways, "peak MiB": peaks, "gap": gaps}
    return {"noise": noise, **told, **more, "bytes of the certificate": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, nargs="+", default=[3.0, 4.0, 5.0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case is not None:
        run_case(args.case, args.folder, args.memory_limit, args.threads)
        return
    rows = []
    for noise in args.noise:
        rows.append(measure(noise, args))
        print(json.dumps(rows[-1], indent=1))
        RESULTS.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
