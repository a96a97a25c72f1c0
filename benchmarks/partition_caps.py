"""Clusterings into sets of at most k elements: sets with prices beside rows about pairs.

Three kinds of random scores: Gaussian, planted sets of about eight with noise, and scores that
fall with the distance of points in the plane (where the cap decides everything). Each instance
is given to `capped_partitions` (whole sets, prices of elements) and to
`partition_branch_and_cut` (pairs, with a row for the cap of each element), and the heuristic
`partition_local_search` is compared with the best value proved. Every estimate is checked by
`relatum.verify`. Times are processor seconds.

    python benchmarks/partition_caps.py --sizes 20 40 60 --caps 2 3 5 10 --seeds 1 --limit 10
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine

import relatum as rt
from relatum.solvers import SOLVERS

EXACT = ("capped_partitions", "partition_branch_and_cut")
HEURISTIC = "partition_local_search"
RESULTS = Path(__file__).parent / "results" / "partition_caps.json"


def scores(kind, n, seed):
    """Return log-odds of all pairs, condensed."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    if kind == "gauss":
        return rng.normal(size=len(i))
    if kind == "planted":
        truth = rng.integers(0, max(2, n // 8), n)
        return rng.normal(size=len(i)) * 2 + np.where(truth[i] == truth[j], 1.5, -1.5)
    x = rng.normal(size=(n, 2))
    distance = np.linalg.norm(x[i] - x[j], axis=1)
    return 3 * (np.median(distance) - distance)


def run(problem, solver, limit):
    """Infer within so many processor seconds and verify; return the record."""
    reason = SOLVERS[solver].refuses(problem)
    if reason is not None:
        return {"solver": solver, "status": "REFUSED", "value": -np.inf, "reason": reason}
    begin = process_time()
    e = rt.infer(
        problem,
        solver=solver,
        time_limit=20 * limit,
        monitor=lambda progress: process_time() - begin > limit,
    )
    seconds = process_time() - begin
    begin = process_time()
    report = rt.verify(problem, e)
    assert report, report.reason
    return {
        "solver": solver,
        "status": e.status.name,
        "value": e.value,
        "gap_percent": 100 * e.gap / max(1e-12, abs(e.value)),
        "seconds": seconds,
        "verify_seconds": process_time() - begin,
        "nodes": int(e.stats.get("nodes", 0)),
    }


def shown(r):
    """Return a cell of the table."""
    if r["status"] == "REFUSED":
        return f"{'refused':>33}"
    how = "proven" if r["status"] == "OPTIMAL" else f"gap {r['gap_percent']:.2f} %"
    return f"{r['seconds']:7.2f} s {how:>12} {r['nodes']:4d} nodes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=["gauss", "planted", "points"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 40, 60])
    parser.add_argument("--caps", nargs="+", type=int, default=[2, 3, 5, 10])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=10.0, help="processor seconds each")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    for solver in (*EXACT, HEURISTIC):  # load
        run(rt.Problem(scores("gauss", 12, 0), rt.EQUIVALENCES & rt.at_most(3)), solver, 60.0)
    rows = []
    print(
        "kind        n  cap  sets with prices                       pairs                ", end=""
    )
    print("                  heuristic below best")
    for kind, n, cap, seed in product(args.kinds, args.sizes, args.caps, range(args.seeds)):
        problem = rt.Problem(scores(kind, n, 1 + seed), rt.EQUIVALENCES & rt.at_most(cap))
        found = [run(problem, solver, args.limit) for solver in (*EXACT, HEURISTIC)]
        best = max(r["value"] for r in found)
        below = 100 * (best - found[2]["value"]) / abs(best)
        print(f"{kind:8} {n:4d} {cap:4d}  ", *map(shown, found[:2]), f"  {below:.2f} %", flush=True)
        found = [r for r in found if r["status"] != "REFUSED"]
        rows += [{"kind": kind, "n": n, "cap": cap, "seed": seed, **r} for r in found]
    args.output.parent.mkdir(exist_ok=True)
    result = {"machine": machine("relatum", "highspy"), "limit": args.limit, "runs": rows}
    args.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
