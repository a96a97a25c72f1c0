"""Bounds of sparse clusterings with a background: before and after, in one run.

Planted sets of 20 elements, ten listed pairs an element (half of them inside sets), noise of the
size of the scores, and a background of -0.1 bits. Each size is clustered and bounded by the
default in a process of its own, by turns with the sources of both revisions; seconds are of the
processor. Up to 100,000 elements the bound is verified, and with --plain up to 10,000 by the
second checker as well. Without --before, only what is here is measured.

    git worktree add ../before <revision>
    python benchmarks/partition_background.py --before ../before/src [--sizes 10000 100000 1000000]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from _machine import machine

HERE = Path(__file__).parent
OUTPUT = HERE / "results" / "partition_background.json"
VERIFIED = 100_000
PLAIN = 10_000


def measure(n, plain):
    """Cluster and bound one instance; print what was found."""
    from partition_large import planted

    import relatum as rt

    i, j, c, n, _ = planted(n, 10 * n)
    p = rt.Problem.from_pairs(i, j, c, n=n, background=-0.1, feasible=rt.EQUIVALENCES)
    begin = process_time()
    e = rt.infer(p, solver="partition_local_search", time_limit=3600.0)
    row = {"cpu seconds": round(process_time() - begin, 2), "value": e.value, "bound": e.bound}
    row["gap %"] = round(100 * e.gap / e.value, 3)
    counts = e.certificate.counts()
    row["rows"] = counts.get("transitive", 0) + counts.get("path", 0)
    if n <= VERIFIED:
        row["verified"] = bool(rt.verify(p, e))
    if n <= PLAIN and plain:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bundle.npz"
            rt.io.save_estimate(path, p, e)
            command = [sys.executable, "-m", "relatum.proof.plain", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            row["plain checker"] = done.returncode == 0
    print(json.dumps(row))


def run(source, n, plain):
    """Measure with the sources of one revision, in a process of its own."""
    path = os.pathsep.join([str(source), str(HERE)])
    command = [sys.executable, __file__, "--one", str(n)] + (["--plain"] if plain else [])
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": path}
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the src folder of another revision")
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--plain", action="store_true", help="also ask the second checker")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.plain)
        return
    rows = json.loads(OUTPUT.read_text())["rows"] if OUTPUT.exists() else []
    for n in options.sizes:
        row = {"n": n}
        if options.before:
            row["before"] = run(options.before.resolve(), n, False)
        row["after"] = run(HERE.parent / "src", n, options.plain)
        rows = sorted([r for r in rows if r["n"] != n] + [row], key=lambda r: r["n"])
        OUTPUT.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
        for when in ("before", "after"):
            print(f"{n:9,d} {when:6s} {row.get(when)}", flush=True)


if __name__ == "__main__":
    main()
