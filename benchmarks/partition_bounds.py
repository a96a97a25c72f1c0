"""Bounds of clusterings that a heuristic found: packing, the default, and with time.

Each instance is clustered by the local search. Then three bounds are computed and verified:
that of the packing alone, the one `infer` reports, and the one it reports when a proof is
wanted and the solver is still the heuristic (with a time limit). Where the optimum is known,
no bound may be below it. Instances measured before are kept, so the run can be made in
parts.

    RELATUM_DATA=folder python benchmarks/partition_bounds.py [--parts mnist cplib sparse]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine
from partition_large import NETWORKS, problem_of

import relatum as rt
from relatum.io import read_cplib
from relatum.solvers.control import Control
from relatum.solvers.partition.bounds.choose import affordable_bound
from relatum.solvers.partition.bounds.known import Known
from relatum.solvers.partition.bounds.packing import packing_bound

OUTPUT = Path(__file__).parent / "results" / "partition_bounds.json"


def mnist(folder):
    for path in sorted((folder / "mnist-clustering").glob("*.npz")):
        with np.load(path) as file:
            yield path.stem, rt.Problem(file["costs"], rt.EQUIVALENCES), None


def cplib(folder):
    table = (folder / "cplib" / "values.tsv").read_text().splitlines()[1:]
    for family, name, _, value, proven, *_ in (line.split("\t") for line in table):
        found = list((folder / "cplib" / family).glob(f"{name}.txt*"))
        if found and proven == "1":
            scores = read_cplib(found[0])
            yield f"{family}/{name}", rt.Problem(scores, rt.EQUIVALENCES), float(value)


def sparse(folder):
    for case in (*NETWORKS, "cremi"):
        yield case, problem_of(case, folder)[0], None


def checked(problem, bound, proof):
    certificate = rt.Certificate(bound, proof)
    e = rt.Estimate(rt.Status.BOUND_ONLY, None, -np.inf, bound, certificate, "bounds")
    return bool(rt.verify(problem, e))


def measure(name, problem, optimum, limit):
    begin = process_time()
    e = rt.infer(problem, solver="partition_local_search")
    row = {"instance": name, "n": problem.n, "pairs": problem.n_pairs, "value": e.value}
    row["infer cpu_seconds"] = round(process_time() - begin, 2)
    if optimum is not None:
        row["optimum"] = optimum
    ways = {
        "packing": lambda: packing_bound(problem, Known(), Control()),
        "default": lambda: affordable_bound(problem, Control(time_limit=limit), e.relation),
        "thorough": lambda: affordable_bound(
            problem, Control(time_limit=limit, prove=True), e.relation
        ),
    }
    for way, bound_of in ways.items():
        begin = process_time()
        bound, proof = bound_of()
        row[way] = {
            "bound": bound,
            "gap": (bound - e.value) / max(1e-9, abs(e.value)),
            "cpu_seconds": round(process_time() - begin, 2),
            "rows": sum(len(c) for c in proof.cuts),
            "verified": checked(problem, bound, proof),
        }
        below = max(e.value, -np.inf if optimum is None else optimum) - bound
        row[way]["valid"] = bool(below <= 1e-9 * (1 + abs(bound)))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"mnist": mnist, "cplib": cplib, "sparse": sparse}
    parser.add_argument("--parts", nargs="*", default=list(parts), choices=list(parts))
    parser.add_argument(
        "--names", nargs="*", help="only instances whose name contains one of these"
    )
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each bound")
    options = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA")
    if not folder or not Path(folder).is_dir():
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    rows = json.loads(OUTPUT.read_text())["rows"] if OUTPUT.exists() else []
    for part in options.parts:
        for name, problem, optimum in parts[part](Path(folder)):
            if options.names and not any(some in name for some in options.names):
                continue
            row = {"part": part, **measure(name, problem, optimum, options.limit)}
            rows = [r for r in rows if (r["part"], r["instance"]) != (part, name)] + [row]
            OUTPUT.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
            told = " ".join(
                f"{way} {row[way]['gap']:.2%} ({row[way]['cpu_seconds']} s)"
                for way in ("packing", "default", "thorough")
            )
            sure = all(
                row[w]["valid"] and row[w]["verified"] for w in ("packing", "default", "thorough")
            )
            print(
                f"{name:28s} n {problem.n:6d} value {row['value']:.8g} {told} sound {sure}",
                flush=True,
            )


if __name__ == "__main__":
    main()
