"""Certified linear orders on LOLIB, and beside general solvers in one run.

Every estimate is checked by `relatum.verify`, whose time is listed apart. Peers get the same
matrices: HiGHS as a MIP with all 3-dicycle rows, igraph's exact feedback arc set and CP-SAT,
the latter two in processes of their own. Ratios compare processor time (one thread each) within
this run; of theirs, building the model is left out, of ours nothing. Where we take less than
0.1 s, our time is the median of several repetitions, as many as the record says.

    RELATUM_DATA=folder python benchmarks/order_exact.py --sets IO SGB MB RandB --peers
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
from _orders import data_folder, lolib, recorded, save

import relatum as rt

LIMITS = {"IO": 20.0, "SGB": 20.0, "MB": 60.0, "RandB": 60.0}
QUICK, REPETITIONS = 0.1, 7  # seconds below which a time is a median of so many
# of RandB, those that take us so little that a peer stopped at its limit says something
RANDOM_PEERS = ["p40-01", "p40-16", "p40-17", "p44-40", "p44-46", "p44-47"]


def warm_up():
    """Compile the kernels before anything is timed."""
    rng = np.random.default_rng(0)
    for n in (8, 30):
        c = rng.integers(0, 100, (n, n)).astype(float)
        problem = rt.Problem(c, rt.LINEAR_ORDERS)
        rt.verify(problem, rt.infer(problem, prove=True, time_limit=20, solver="order_dp"))
        rt.verify(problem, rt.infer(problem, prove=True, time_limit=20))


def ours(matrix, limit):
    """Infer within so many processor seconds, whatever else the machine does; then verify.

    Returns the estimate, seconds, processor seconds, how often these were taken, whether it is
    verified, and the seconds of that.
    """
    problem = rt.Problem(matrix, rt.LINEAR_ORDERS)
    e, seconds, cpu = timed(problem, limit)
    runs = [(seconds, cpu)]
    while runs[0][1] < QUICK and len(runs) < REPETITIONS:
        runs.append(timed(problem, limit)[1:])
    seconds, cpu = (median(r[k] for r in runs) for k in range(2))
    began = perf_counter()
    verified = bool(rt.verify(problem, e))
    return e, seconds, cpu, len(runs), verified, perf_counter() - began


def timed(problem, limit):
    """Infer once; return the estimate, seconds and processor seconds."""
    began, cpu = perf_counter(), process_time()
    until = cpu + limit
    e = rt.infer(
        problem,
        prove=True,
        time_limit=20 * limit,
        monitor=lambda progress: process_time() > until,
    )
    return e, perf_counter() - began, process_time() - cpu


def run_set(folder, name, limit, args, results):
    """Run the instances of a set that are not in the results yet, recording each."""
    rows = results.setdefault(name, [])
    done = {r["instance"] for r in rows}
    chosen = list(lolib(folder, name))[:: args.every]
    if args.instances:
        chosen = sorted(
            (c for c in chosen if c[0] in args.instances), key=lambda c: args.instances.index(c[0])
        )
    for instance, matrix, best, status in chosen:
        if instance in done:
            continue
        if perf_counter() > args.until or (args.most and len(rows) >= args.most):
            print("stopped after a part; --resume goes on")
            break
        e, seconds, cpu, times, verified, checking = ours(matrix, limit)
        rows.append(
            {
                "instance": instance, "n": len(matrix), "status": e.status.name,
                "value": e.value, "bound": e.bound, "reference": best,
                "reference_status": status, "gap_percent": 100 * e.gap / abs(e.value),
                "seconds": seconds, "cpu_seconds": cpu, "repetitions": times, "verified": verified,
                "verify_seconds": checking, "nodes": e.stats["nodes"], "limit": limit,
            }
        )  # fmt: skip
        save(args.name, results, quiet=True)
        r = rows[-1]
        print(
            f"{instance:12} n={r['n']:3} {r['status']:8} value {r['value']:.0f} "
            f"reference {best} gap {r['gap_percent']:.3f} % {cpu:.2f} s cpu "
            f"{seconds:.2f} s verified={verified}",
            flush=True,
        )
    summary(name, rows)


def summary(name, rows):
    """Print how many are certified, and the times."""
    certified = [r for r in rows if r["status"] == "OPTIMAL" and r["verified"]]
    reached = [r for r in rows if r["reference"] and r["value"] >= r["reference"]]
    print(
        f"== {name}: {len(certified)} of {len(rows)} certified, {len(reached)} reach the "
        f"reference; cpu median {median(r['cpu_seconds'] for r in rows):.3f} s, "
        f"max {max(r['cpu_seconds'] for r in rows):.3f} s"
    )


def by_highs(matrix, limit):
    """Solve the MIP with all 3-dicycle rows; return (cpu seconds, value or None)."""
    import highspy

    n = len(matrix)
    d = matrix - matrix.T
    column = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", float(limit))
    model.setOptionValue("threads", 1)
    for i, j in column:
        model.addVar(0.0, 1.0)
        model.changeColCost(column[i, j], float(d[i, j]))
        model.changeColIntegrality(column[i, j], highspy.HighsVarType.kInteger)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for i, j, k in combinations(range(n), 3):
        index = np.array([column[i, j], column[j, k], column[i, k]], dtype=np.int32)
        model.addRow(0.0, 1.0, 3, index, np.array([1.0, 1.0, -1.0]))
    cpu = process_time()
    model.run()
    cpu = process_time() - cpu
    done = model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    base = sum(matrix[j, i] for i, j in column)
    return cpu, model.getInfo().objective_function_value + base if done else None


IGRAPH = """
import json, resource, sys
from time import process_time
import igraph
n, edges, weights, limit = json.load(sys.stdin)
graph = igraph.Graph(n=n, edges=edges, directed=True)
began = process_time()
stop = int(began + limit) + 1
resource.setrlimit(resource.RLIMIT_CPU, (stop, stop))
arcs = graph.feedback_arc_set(weights=weights, method="ip_ti")
print(json.dumps([process_time() - began, arcs]))
"""


def by_igraph(matrix, limit):
    """Solve by igraph's exact feedback arc set, which knows no limit, in a process of its own.

    Returns (cpu seconds, value), or the limit and None if it was stopped there.
    """
    d = matrix - matrix.T
    a, b = np.nonzero(d > 0)
    given = [len(matrix), np.column_stack([a, b]).tolist(), d[a, b].tolist(), limit]
    done = _python(IGRAPH, given)
    if done.returncode < 0:
        return limit, None
    if done.returncode:
        raise ImportError(done.stderr.strip().splitlines()[-1])
    seconds, arcs = json.loads(done.stdout)
    upper = np.maximum(matrix, matrix.T)[np.triu_indices(len(matrix), 1)].sum()
    return seconds, float(upper - d[a, b][arcs].sum())


def _python(program, given):
    """Run a program, which reads JSON, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )


CP_SAT = """
import json, sys
from itertools import combinations
from ortools.sat.python import cp_model
d, limit = json.load(sys.stdin)
n = len(d)
m = cp_model.CpModel()
x = {p: m.new_bool_var("") for p in combinations(range(n), 2)}
for i, j, k in combinations(range(n), 3):
    m.add_linear_constraint(x[i, j] + x[j, k] - x[i, k], 0, 1)
m.maximize(sum(int(d[i][j]) * v for (i, j), v in x.items()))
s = cp_model.CpSolver()
s.parameters.num_workers, s.parameters.max_time_in_seconds = 1, limit
status = s.solve(m)
print(json.dumps([s.wall_time, s.objective_value if status == cp_model.OPTIMAL else None]))
"""


def by_cp_sat(matrix, limit):
    """Solve by CP-SAT in a process of its own; return (seconds, value or None)."""
    d = (matrix - matrix.T).astype(int).tolist()
    done = _python(CP_SAT, [d, limit])
    if done.returncode:
        raise ImportError(done.stderr.strip().splitlines()[-1])
    seconds, value = json.loads(done.stdout)
    base = matrix.T[np.triu_indices(len(matrix), 1)].sum()
    return seconds, None if value is None else value + base


def run_peers(folder, args, results):
    """Peers on every instance of IO with 40 to 50 elements, some of RandB, each beside ours."""
    peers = {
        "HiGHS MIP": lambda m: by_highs(m, args.peer_limit),
        "igraph ip_ti": lambda m: by_igraph(m, args.peer_limit),
        "CP-SAT": lambda m: by_cp_sat(m, args.peer_limit),
    }
    rows = results.setdefault("peers", [])
    done = {r["instance"] for r in rows}
    instances = [i for i in lolib(folder, "IO") if 40 <= len(i[1]) <= 50]
    instances += [i for i in lolib(folder, "RandB") if i[0] in RANDOM_PEERS]
    for instance, matrix, _, _ in instances:
        if instance in done or perf_counter() > args.until:
            continue
        e, _, cpu, times, verified, _ = ours(matrix, args.peer_limit)
        row = {"instance": instance, "n": len(matrix), "value": e.value, "relatum": cpu}
        row["repetitions"] = times
        row["certified"] = verified and e.status.name == "OPTIMAL"
        for peer, call in peers.items():
            if peer == "CP-SAT" and instance not in args.cp_sat:
                continue
            try:
                seconds, value = call(matrix)
            except ImportError as error:
                print(f"skipped {peer}: {error}")
                continue
            agrees = value is None or math.isclose(value, e.value, abs_tol=0.5)
            row[peer] = {"seconds": seconds, "value": value, "ratio": seconds / cpu}
            print(
                f"{instance:12} n={len(matrix)} relatum {cpu:.4f} s, {peer} {seconds:.2f} s"
                f"{'' if value is not None else ' (limit)'}: {seconds / cpu:.0f} times"
                f"{'' if agrees else '  VALUES DIFFER'}",
                flush=True,
            )
        rows.append(row)
        save(args.name, results, quiet=True)
    for peer in peers:
        ratios = sorted(r[peer]["ratio"] for r in rows if peer in r)
        if ratios:
            print(
                f"== {peer}: {len(ratios)} instances, ratio least {ratios[0]:.0f}, median "
                f"{median(ratios):.0f}; certified by us {sum(r['certified'] for r in rows)}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=["IO", "SGB", "MB", "RandB"])
    parser.add_argument("--limit", type=float, help="processor seconds per instance")
    parser.add_argument("--most", type=int, default=0, help="instances of each set; 0 for all")
    parser.add_argument("--every", type=int, default=1, help="take every so many instances")
    parser.add_argument("--instances", nargs="*", help="only these, in this order")
    parser.add_argument("--peers", action="store_true", help="also run the general solvers")
    parser.add_argument("--peer-limit", type=float, default=60.0)
    parser.add_argument(
        "--cp-sat", nargs="*", default=["be75eec", "t65n11xx", "p40-01"], help="where it runs too"
    )
    parser.add_argument("--name", default="order_exact", help="of the file of results")
    parser.add_argument("--resume", action="store_true", help="leave out what is recorded")
    parser.add_argument("--part", type=float, default=1e9, help="stop after so many seconds")
    args = parser.parse_args()
    folder = data_folder()
    results = recorded(args.name) if args.resume else {}
    results = {"arguments": vars(args).copy(), **results}
    args.until = perf_counter() + args.part
    warm_up()
    for name in args.sets:
        run_set(folder, name, args.limit or LIMITS.get(name, 60.0), args, results)
    if args.peers:
        run_peers(folder, args, results)
    save(args.name, results)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
