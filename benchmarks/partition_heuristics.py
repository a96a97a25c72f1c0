"""Heuristic clustering of CP-Lib instances beside GAEC + KL, Leiden and pycombo, in one run.

All times are seconds of CPU (of all threads), so that other load on the machine matters
little: 120 s of it are 60 s on two cores. One run of `partition_memetic` gives its best value at
every time; a peer's value is compared with it at the time the peer took (0.1 s at least).
Building a peer's graph does not count against the peer. A run ends early where it reaches the
best known value.

Instances already in the results are skipped, so a long run can be made in parts; --fresh
begins anew. Best known values are those of CP-Lib; where it names none, the best value seen.

    RELATUM_DATA=folder python benchmarks/partition_heuristics.py [--families ABR] [--seconds 10]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time

import numpy as np

import relatum as rt
from relatum.io import read_cplib
from relatum.solvers.control import Control
from relatum.solvers.partition.search.heuristics import local_search, memetic

RESULTS = Path(__file__).parent / "results"
PEERS = {"GAEC + KL": "bioimage-cpp", "Leiden": "igraph", "pycombo": "pycombo"}
LEAST = 0.1
TIMES = (1, 10, 20, 60, 120)


def by_processor(time_limit, monitor=None, seed=0):
    """Return a control whose clock is the processor time of this process."""
    return Control(time_limit=time_limit, monitor=monitor, seed=seed, clock=process_time)


def machine():
    packages = ["numpy", "scipy"]
    for name in PEERS.values():
        try:
            version(name)
            packages.append(name)
        except PackageNotFoundError:
            print(f"{name} is not installed: skipped.")
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }


def value_of(scores, labels):
    labels = np.asarray(labels)
    i, j = np.triu_indices(len(labels), 1)
    return float(scores[labels[i] == labels[j]].sum())


def gaec_kl(scores, n):
    from bioimage_cpp.graph import UndirectedGraph, multicut

    graph = UndirectedGraph.from_edges(n, np.column_stack(np.triu_indices(n, 1)))
    objective = multicut.MulticutObjective(graph, scores)
    solver = multicut.ChainedMulticutSolvers(
        [multicut.GreedyAdditiveMulticut(), multicut.KernighanLinMulticut()]
    )
    begin = process_time()
    labels = solver.optimize(objective)
    return process_time() - begin, labels


def leiden(scores, n):
    import igraph

    i, j = np.triu_indices(n, 1)
    keep = scores != 0
    graph = igraph.Graph(n, np.column_stack([i[keep], j[keep]]).tolist())
    begin = process_time()
    found = graph.community_leiden(
        objective_function="CPM", weights=scores[keep].tolist(), resolution=0.0, n_iterations=-1
    )
    return process_time() - begin, found.membership


def pycombo(scores, n):
    import pycombo

    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = scores
    matrix = (matrix + matrix.T).tolist()
    begin = process_time()
    labels, _ = pycombo.execute(matrix, treat_as_modularity=True)
    return process_time() - begin, [labels[v] for v in range(n)]


def ours(problem, seconds, goal=np.inf):
    """Values of one run of `partition_memetic` over time, and of `partition_local_search`."""
    trace = []

    def watch(progress):
        trace.append((progress.seconds, progress.value))
        return bool(progress.value >= goal)

    memetic(problem, by_processor(seconds, watch))
    begin = process_time()
    quick = problem.value(local_search(problem, by_processor(seconds)).relation)
    return trace, quick, process_time() - begin


def at_time(trace, seconds):
    reached = [value for t, value in trace if t <= max(seconds, LEAST)]
    return max(reached, default=-np.inf)


def measure(path, known, seconds, peers):
    scores = read_cplib(path)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    n = problem.n
    row = {"instance": path.name.split(".")[0], "n": n, "known": known, "peers": {}}
    trace, row["local search"], row["local search seconds"] = ours(
        problem, seconds, known or np.inf
    )
    row["seconds"] = trace[-1][0]
    row["value"] = at_time(trace, np.inf)
    row["limit"] = seconds
    for t in TIMES:
        if t <= seconds or row["seconds"] < seconds:  # ended by itself: nothing would change
            row[f"at {t} s"] = at_time(trace, t)
    for name, run in peers.items():
        took, labels = run(scores, n)
        value = value_of(scores, labels)
        row["peers"][name] = {"seconds": took, "value": value, "ours then": at_time(trace, took)}
    return row


def text(row):
    known = row["known"] or row["value"]
    gap = 100 * (known - row["value"]) / abs(known)
    parts = [
        f"{row['instance']:16s} n {row['n']:5d} {row['value']:10.0f} gap {gap:7.3f} % "
        f"(10 s: {100 * (known - row['at 10 s']) / abs(known):6.3f} %) in {row['seconds']:5.1f} s; "
        f"local {100 * (known - row['local search']) / abs(known):6.3f} % "
        f"{row['local search seconds']:5.2f} s"
    ]
    for name, peer in row["peers"].items():
        gap = 100 * (known - peer["value"]) / abs(known)
        worse = " OURS WORSE" if peer["ours then"] < peer["value"] else ""
        parts.append(f"{name} {gap:6.3f} % {peer['seconds']:.2f} s{worse}")
    return " | ".join(parts)


def gaps(rows, when):
    """Percent below the best known value at a time, of the rows that say both."""
    return [
        100 * (r["known"] - r[when]) / abs(r["known"]) for r in rows if r["known"] and when in r
    ]


def summary(rows):
    proven = [r for r in rows if r["proven"]]
    comparisons = [p for r in rows for p in r["peers"].values()]
    random = [r for r in rows if r["family"] == "Random"]
    return {
        "instances": len(rows),
        "proven optima": len(proven),
        "reached": sum(r["value"] >= r["known"] for r in proven),
        "comparisons": len(comparisons),
        "worse at equal time": sum(p["ours then"] < p["value"] for p in comparisons),
        "better at equal time": sum(p["ours then"] > p["value"] for p in comparisons),
        "largest gap to best known, %": max(gaps(rows, "value"), default=None),
        "random": {
            f"at {t} s": {
                "measured": len(gaps(random, f"at {t} s")),
                "largest gap, %": max(gaps(random, f"at {t} s"), default=None),
            }
            for t in TIMES
        },
    }


def instances(folder, families, names):
    table = (folder / "cplib" / "values.tsv").read_text().splitlines()[1:]
    for family, name, _, value, proven, *_ in (line.split("\t") for line in table):
        found = list((folder / "cplib" / family).glob(f"{name}.txt*"))
        if found and (not families or family in families) and (not names or name in names):
            yield found[0], family, float(value) if value else None, proven == "1"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--names", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--output", default="partition_heuristics.json")
    options = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA")
    if not folder or not Path(folder).is_dir():
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    about = machine()
    every = {"GAEC + KL": gaec_kl, "Leiden": leiden, "pycombo": pycombo}
    peers = {name: run for name, run in every.items() if PEERS[name] in about["packages"]}
    warm = rt.Problem(np.random.default_rng(0).normal(size=4950), rt.EQUIVALENCES)
    ours(warm, 2.0)  # loads all modules
    RESULTS.mkdir(exist_ok=True)
    output = RESULTS / options.output
    rows = [] if options.fresh or not output.exists() else json.loads(output.read_text())["rows"]
    done = {row["instance"] for row in rows}
    for path, family, known, proven in instances(Path(folder), options.families, options.names):
        if path.name.split(".")[0] in done:
            continue
        row = measure(path, known, options.seconds, peers)
        rows.append({"family": family, "proven": proven, **row})
        print(text(row), flush=True)
        result = {"machine": about, "summary": summary(rows), "rows": rows}
        output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
