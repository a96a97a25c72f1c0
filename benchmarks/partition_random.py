"""Random scores of 1,000 and more elements, over several seeds, before and after, in one run.

`partition_memetic` on CP-Lib's random instances with all pairs, by the sources of two revisions by
turns, each run in a process of its own. The limit is in processor seconds of all threads: 120 are
a minute on two cores that have nothing else to do. A tenth of it is kept for a bound, as ever.
Settings were chosen on other random instances, but for the replicas of 1,000 elements.

Runs already in the results are skipped, so a long measurement can be made in parts.

    git worktree add ../before <revision>
    RELATUM_DATA=folder python benchmarks/partition_random.py --before ../before/src
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

HERE = Path(__file__).parent
OUTPUT = HERE / "results" / "partition_random.json"
NAMES = ("p1000-2", "p1000-4", "p1500-4", "p1500-5")
TIMES = (2, 10, 20, 60, 120)


def run(name, seed, seconds):
    """Return the values that one run reaches, by processor time; what a process of its own does."""
    import relatum as rt
    from relatum.io import read_cplib
    from relatum.solvers.control import Control
    from relatum.solvers.partition.search.heuristics import memetic

    problem = rt.Problem(read_cplib(path_of(name)), rt.EQUIVALENCES)
    trace = []
    begun, wall = process_time(), perf_counter()

    def watch(progress):
        trace.append((progress.seconds, progress.value))
        return False

    control = Control(time_limit=seconds, seed=seed, monitor=watch, clock=process_time)
    value = problem.value(memetic(problem, control).relation)
    reached = {
        f"at {t} s": max((v for s, v in trace if s <= t), default=None)
        for t in TIMES
        if t < seconds
    }
    ended = {"processor seconds": process_time() - begun, "seconds": perf_counter() - wall}
    return {**reached, "value": value, **ended}


def path_of(name):
    """Return the file of an instance."""
    return next((Path(os.environ["RELATUM_DATA"]) / "cplib" / "Random").glob(f"{name}.txt*"))


def best_known():
    """Return the best known values, by instance."""
    table = Path(os.environ["RELATUM_DATA"]) / "cplib" / "values.tsv"
    rows = (line.split("\t") for line in table.read_text().splitlines()[1:])
    return {name: float(value) for _, name, _, value, *_ in rows if value}


def in_a_process(sources, job):
    """Run one job with the sources of a revision."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    command = [sys.executable, str(Path(__file__).resolve()), "--job", json.dumps(job)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def summary(rows):
    """Return percent below the best known value: median and worst over seeds."""
    table = {}
    for revision in ("before", "after"):
        for name in sorted({row["instance"] for row in rows}):
            some = [r for r in rows if (r["instance"], r["revision"]) == (name, revision)]
            for when in ("at 10 s", "at 20 s", "at 60 s", "value"):
                gaps = [100 * (r["known"] - r[when]) / r["known"] for r in some if r.get(when)]
                if gaps:
                    table.setdefault(f"{name} {revision}", {"seeds": len(gaps)})[when] = {
                        "median": round(float(np.median(gaps)), 3),
                        "worst": round(max(gaps), 3),
                    }
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="sources of the earlier revision")
    parser.add_argument("--names", nargs="*", default=list(NAMES))
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--most", type=int, default=1 << 30, help="runs to make at most")
    parser.add_argument("--job", help="what a process of its own does")
    options = parser.parse_args()
    if options.job:
        print(json.dumps(run(*json.loads(options.job))))
        return
    if "RELATUM_DATA" not in os.environ:
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    rows = json.loads(OUTPUT.read_text())["rows"] if OUTPUT.exists() else []
    done = {(r["instance"], r["seed"], r["revision"], r["limit"]) for r in rows}
    revisions = {"after": HERE.parent / "src"}
    if options.before:
        revisions["before"] = options.before
    jobs = [
        (name, seed, revision, options.seconds)
        for seed in options.seeds
        for name in options.names
        for revision in revisions
    ]
    known = best_known()
    for name, seed, revision, limit in [job for job in jobs if job not in done][: options.most]:
        found = in_a_process(revisions[revision], (name, seed, limit))
        said = {"instance": name, "seed": seed, "revision": revision, "limit": limit}
        rows.append({**said, "known": known[name], **found})
        gap = 100 * (known[name] - found["value"]) / known[name]
        print(f"{name} seed {seed} {revision}: {gap:.3f} % below", flush=True)
        result = {"summary": summary(rows), "rows": rows}
        OUTPUT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
