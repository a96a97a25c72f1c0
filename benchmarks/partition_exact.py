"""Exact clustering: learned scores, CP-Lib and modularity, beside HiGHS, SCIP and CP-SAT.

Every result is checked by `relatum.verify`. The peers are measured twice: "plain", with all
triangles written down, as their user would do (writing them does not count), and "lazy",
with what they need to be quick: the triangles that a linear programming cut loop with HiGHS
and our separation finds (its time counts), then rounds of their own branch-and-bound with
violated triangles added until there are none. Ratios are of processor seconds.

    RELATUM_DATA=folder python benchmarks/partition_exact.py [--parts mnist peers cplib ...]
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time
from unittest import mock

import numpy as np
from _machine import machine

import relatum as rt
from relatum.solvers.partition.exact import branch_and_cut

RESULTS = Path(__file__).parent / "results" / "partition_exact.json"
SOLVER = "partition_branch_and_cut"
ROUNDED = 10_000  # CP-SAT wants integers: scores are multiplied by this and rounded


def solve(scores, time_limit):
    """Solve and verify one instance with relatum."""
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    wall, cpu = perf_counter(), process_time()
    e = rt.infer(problem, solver=SOLVER, prove=True, time_limit=time_limit)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    checking = perf_counter()
    report = rt.verify(problem, e)
    return {
        "n": problem.n,
        "value": e.value,
        "gap": e.gap,
        "status": e.status.name,
        "seconds": round(wall, 3),
        "cpu_seconds": round(cpu, 3),
        "verified": bool(report),
        "exact_arithmetic": report.exact,
        "verify_seconds": round(perf_counter() - checking, 3),
        "nodes": e.stats.get("nodes"),
    }


def show(name, r, known=None):
    print(
        f"{name:24s} n={r['n']:4d} {r['status']:9s} value {r['value']:14.4f} gap {r['gap']:9.2g} "
        f"{r['seconds']:8.2f} s (cpu {r['cpu_seconds']:7.2f}) verified {r['verified']} in "
        f"{r['verify_seconds']:.2f} s, {r['nodes']} nodes"
        + ("" if known is None else f", known {known:g}"),
        flush=True,
    )


def read_triangle(path):
    return np.array(path.read_text().split()[1:], dtype=np.float64)


def read_table(path):
    lines = path.read_text().splitlines()
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=False)) for line in lines[1:]]


def part_mnist(folder, args):
    """All learned instances of both kinds."""
    rows = []
    for path in sorted((folder / "mnist-clustering").glob("*.npz")):
        r = solve(np.load(path)["costs"], args.time_limit)
        rows.append({"instance": path.stem, **r})
        show(path.stem, r)
    for n in sorted({r["n"] for r in rows}):
        seconds = [r["seconds"] for r in rows if r["n"] == n]
        proved = sum(r["status"] == "OPTIMAL" and r["verified"] for r in rows if r["n"] == n)
        print(
            f"n={n}: {proved} of {len(seconds)} certified and verified, "
            f"median {np.median(seconds):.2f} s, largest {max(seconds):.2f} s"
        )
    return rows


def part_modularity(folder, args):
    """Karate, dolphins, les miserables."""
    rows = []
    for known in read_table(folder / "modularity" / "values.tsv"):
        path = folder / "modularity" / f"{known['instance']}.txt"
        if path.exists():
            r = solve(read_triangle(path), args.time_limit)
            best = float(known["best_integer_objective"])
            rows.append({"instance": path.stem, "known": best, **r})
            show(path.stem, r, best)
    return rows


def part_cplib(folder, args):
    """Every instance with a proven optimum."""
    rows = []
    for known in read_table(folder / "cplib" / "values.tsv"):
        path = folder / "cplib" / known["family"] / f"{known['instance']}.txt"
        if known["proven_optimal"] != "1" or not path.exists():
            continue
        if args.kinds and (known["difficulty"] or "random") not in args.kinds:
            continue
        r = solve(read_triangle(path), args.time_limit)
        kind, best = known["difficulty"] or "random", float(known["value"])
        rows.append(
            {"family": known["family"], "instance": path.stem, "kind": kind, "known": best, **r}
        )
        show(f"{known['family']}/{path.stem} [{kind}]", r, best)
    for kind in sorted({r["kind"] for r in rows}):
        own = [r for r in rows if r["kind"] == kind]
        proved = sum(r["status"] == "OPTIMAL" and r["verified"] for r in own)
        same = sum(r["value"] == r["known"] for r in own)
        print(f"{kind}: {proved} of {len(own)} certified, {same} reach the known optimum")
    return rows


NOISE = [
    *("Random/CPn35-2", "Random/CPn45-1", "Random/CPn45-2", "Random/CPn45-3", "Random/CPn45-4"),
    *("Random/CPn50-1", "Random/CPn50-2", "Equicut/neg-c-50", "Equicut/neg-c-60"),
    *("Random/CPn50-3", "Random/CPn50-4"),
    *("ClusEdit/ce50-50", "Correlation/corr60-3", "Equicut/neg-c-00", "ClusEdit/ce60-40"),
]


def part_noise(folder, args):
    """Noise of up to 60 elements that cuts leave open: without whole sets and with them."""
    rows = []
    for name in NOISE[: args.noise]:
        (path,) = (folder / "cplib" / name).parent.glob(f"{Path(name).name}.txt*")
        scores = rt.io.read_cplib(path)
        with mock.patch.object(branch_and_cut._Search, "price", return_value=False):
            before = solve(scores, args.before_limit)
        now = solve(scores, args.time_limit)
        rows.append({"instance": name, "before": before, "now": now})
        show(f"{name}, before", before)
        show(f"{name}, now", now)
    return rows


# ------------------------------------------------------------------ the peers


class Triangles:
    """Violated triangles, as rows (ab, bc, ac) of condensed pair numbers."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=np.float64)
        self.n = round((1 + np.sqrt(1 + 8 * len(scores))) / 2)
        self.column = np.zeros((self.n, self.n), dtype=np.int64)
        upper = np.triu_indices(self.n, 1)
        self.column[upper] = np.arange(len(scores))
        self.column += self.column.T
        self.known = set()

    def violated(self, x, least):
        from relatum.kernels.partition.cuts import violated_triangles

        square = np.zeros((self.n, self.n))
        square[np.triu_indices(self.n, 1)] = x
        index, _ = violated_triangles(square + square.T, least)
        rows = []
        for a, b, c in index.tolist():
            key = (min(a, c), b, max(a, c))
            if key not in self.known:
                self.known.add(key)
                rows.append((self.column[a, b], self.column[b, c], self.column[a, c]))
        return np.array(rows, dtype=np.int32).reshape(-1, 3)


class Highs:
    """HiGHS with rows added between runs: first linear programs, then branch-and-bound."""

    def __init__(self, scores):
        import highspy

        self.h = highspy.Highs()
        self.h.setOptionValue("output_flag", False)
        self.h.setOptionValue("threads", 1)
        self.kind = highspy.HighsVarType.kInteger
        m = len(scores)
        self.h.addVars(m, np.zeros(m), np.ones(m))
        self.h.changeColsCost(m, np.arange(m, dtype=np.int32), np.asarray(scores, np.float64))
        self.h.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self.m = m

    def add(self, rows):
        r = len(rows)
        start = np.arange(0, 3 * r, 3, dtype=np.int32)
        coefficients = np.tile([1.0, 1.0, -1.0], r)
        inf = np.full(r, -self.h.inf)
        self.h.addRows(
            r, inf, np.ones(r), 3 * r, start, rows.ravel().astype(np.int32), coefficients
        )

    def integers(self):
        self.h.changeColsIntegrality(
            self.m, np.arange(self.m, dtype=np.int32), np.full(self.m, self.kind)
        )

    def solve(self, seconds):
        self.h.setOptionValue("time_limit", self.h.getRunTime() + max(0.1, float(seconds)))
        self.h.run()
        x = np.array(self.h.getSolution().col_value)
        return x, self.h.getInfo().objective_function_value

    def optimal(self):
        return self.h.getModelStatus().name == "kOptimal"


def lp_triangles(triangles, engine, deadline):
    """Add triangles to HiGHS until its linear program satisfies all; return them all."""
    pool = []
    while perf_counter() < deadline:
        x, _ = engine.solve(deadline - perf_counter())
        rows = triangles.violated(x, 1e-4)
        if not len(rows):
            break
        engine.add(rows)
        pool.append(rows)
    return np.concatenate(pool) if pool else np.empty((0, 3), dtype=np.int32)


def run_highs(scores, limit):
    begin = perf_counter()
    triangles, engine = Triangles(scores), Highs(scores)
    lp_triangles(triangles, engine, begin + limit)
    engine.integers()
    while perf_counter() < begin + limit:
        x, value = engine.solve(begin + limit - perf_counter())
        rows = triangles.violated(np.round(x), 0.5)
        if not len(rows) and perf_counter() < begin + limit:
            return perf_counter() - begin, value
        engine.add(rows)
    return None, None


def run_scip(scores, limit):
    from pyscipopt import Model, quicksum

    begin = perf_counter()
    triangles, engine = Triangles(scores), Highs(scores)
    pool = [lp_triangles(triangles, engine, begin + limit)]
    while perf_counter() < begin + limit:
        model = Model()
        model.hideOutput()
        x = [model.addVar(vtype="B", obj=-float(c)) for c in scores]
        for rows in pool:
            for i, j, k in rows.tolist():
                model.addCons(x[i] + x[j] - x[k] <= 1)
        model.setParam("limits/time", max(0.1, begin + limit - perf_counter()))
        model.setObjective(quicksum(-float(c) * v for c, v in zip(scores, x, strict=True)))
        model.optimize()
        if model.getStatus() != "optimal":
            return None, None
        point = np.array([model.getVal(v) for v in x])
        rows = triangles.violated(np.round(point), 0.5)
        if not len(rows):
            return perf_counter() - begin, -model.getObjVal()
        pool.append(rows)
    return None, None


def cpsat_worker(path, limit):
    """Run in a process of its own: OR-tools and HiGHS cannot be loaded into one."""
    from ortools.sat.python import cp_model

    with Path(path).open("rb") as file:
        scores, pool, seconds_before = pickle.load(file)
    triangles = Triangles(scores)
    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{k}") for k in range(len(scores))]
    for i, j, k in pool.tolist():
        model.add_bool_or([~x[i], ~x[j], x[k]])
    weights = np.rint(np.asarray(scores, dtype=np.float64) * ROUNDED).astype(int).tolist()
    model.maximize(sum(w * v for w, v in zip(weights, x, strict=True)))
    begin = perf_counter() - seconds_before
    while perf_counter() - begin < limit:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 2
        solver.parameters.max_time_in_seconds = max(0.1, limit - (perf_counter() - begin))
        if solver.solve(model) != cp_model.OPTIMAL:
            break
        point = np.array([solver.value(v) for v in x], dtype=float)
        rows = triangles.violated(point, 0.5)
        if not len(rows):
            print(json.dumps([perf_counter() - begin, solver.objective_value / ROUNDED]))
            return
        for i, j, k in rows.tolist():
            model.add_bool_or([~x[i], ~x[j], x[k]])
    print(json.dumps([None, None]))


def in_process(scores, pool, seconds, limit):
    """Run CP-SAT with these rows in another process; ``seconds`` have been spent on them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.pickle"
        with path.open("wb") as file:
            pickle.dump((scores, pool, seconds), file)
        command = [sys.executable, __file__, "--cpsat", str(path), "--peer-limit", str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_cpsat(scores, limit):
    begin = perf_counter()
    pool = lp_triangles(Triangles(scores), Highs(scores), begin + limit)
    return in_process(scores, pool, perf_counter() - begin, limit)


def all_triangles(scores):
    """Every row x_ab + x_bc - x_ac <= 1, as columns (ab, bc, ac)."""
    column = Triangles(scores).column
    a, b, c = np.array(list(combinations(range(len(column)), 3))).T
    ab, bc, ac = column[a, b], column[b, c], column[a, c]
    orders = [(ab, bc, ac), (ab, ac, bc), (ac, bc, ab)]
    return np.concatenate([np.column_stack(rows) for rows in orders]).astype(np.int32)


def plain_highs(scores, limit):
    engine = Highs(scores)
    engine.add(all_triangles(scores))
    engine.integers()
    begin = perf_counter()
    _, value = engine.solve(limit)
    return (perf_counter() - begin, value) if engine.optimal() else (None, None)


def plain_scip(scores, limit):
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    x = [model.addVar(vtype="B") for _ in scores]
    for i, j, k in all_triangles(scores).tolist():
        model.addCons(x[i] + x[j] - x[k] <= 1)
    model.setObjective(quicksum(-float(c) * v for c, v in zip(scores, x, strict=True)))
    model.setParam("limits/time", float(limit))
    begin = perf_counter()
    model.optimize()
    if model.getStatus() != "optimal":
        return None, None
    return perf_counter() - begin, -model.getObjVal()


def plain_cpsat(scores, limit):
    return in_process(scores, all_triangles(scores), 0.0, limit)


# name, variant: package, and a function that returns seconds and value, or None twice
PEERS = {
    ("HiGHS", "plain"): ("highspy", plain_highs),
    ("SCIP", "plain"): ("pyscipopt", plain_scip),
    ("CP-SAT", "plain"): ("ortools", plain_cpsat),
    ("HiGHS", "lazy"): ("highspy", run_highs),
    ("SCIP", "lazy"): ("pyscipopt", run_scip),
    ("CP-SAT", "lazy"): ("ortools", run_cpsat),
}


def processor_seconds():
    """Seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


def part_peers(folder, args):
    """Instances of 100 elements beside the general solvers, in one run.

    Instances measured before are kept, unless --fresh: the run can be made in parts.
    """
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows = [] if args.fresh else before.get("peers", [])
    done = {r["instance"] for r in rows}
    paths = sorted((folder / "mnist-clustering").glob("*_n100_*.npz"), reverse=True)
    for path in paths[:: max(1, len(paths) // args.peer_instances)]:
        if path.stem in done:
            continue
        scores = np.load(path)["costs"].astype(np.float64)
        r = {"instance": path.stem, **solve(scores, args.time_limit)}
        show(path.stem, r)
        for (name, variant), (package, run) in PEERS.items():
            if variant not in args.variants:
                continue
            if find_spec(package) is None:
                print(f"  {name}: skipped, {package} is not installed")
                continue
            begin = processor_seconds()
            seconds, value = run(scores, args.peer_limit)
            spent = processor_seconds() - begin  # of "plain", with writing the rows
            cpu = None if seconds is None else min(seconds, spent)
            r[f"{name}, {variant}"] = {"seconds": seconds, "cpu_seconds": cpu, "value": value}
            if seconds is None:
                least = args.peer_limit / r["seconds"]
                print(f"  {name}, {variant}: not solved, more than {least:.0f} times", flush=True)
            else:
                ratio = cpu / r["cpu_seconds"]
                print(f"  {name}, {variant}: {cpu:.2f} s, value {value:.4f}, {ratio:.1f} times")
        rows.append({"peer_limit": args.peer_limit, **r})
        RESULTS.write_text(
            json.dumps(
                before | {"peers": rows, "machine": machine("highspy", "pyscipopt", "ortools")},
                indent=1,
            )
            + "\n"
        )
    for variant in args.variants:
        least = min(ratio_to_best(r, variant) for r in rows)
        print(f"{variant}: the best peer takes at least {least:.1f} times as long")
    return rows


def ratio_to_best(r, variant):
    """How many times as long the best peer took, or at least if none finished."""
    found = [v for k, v in r.items() if k.endswith(f", {variant}")]
    return min(
        [
            r["peer_limit"] / r["seconds"]
            if v["seconds"] is None
            else v["cpu_seconds"] / r["cpu_seconds"]
            for v in found
        ],
        default=float("nan"),
    )


PARTS = {
    "mnist": part_mnist,
    "peers": part_peers,
    "modularity": part_modularity,
    "cplib": part_cplib,
    "noise": part_noise,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--before-limit", type=float, default=60.0, help="noise, without sets")
    parser.add_argument("--noise", type=int, default=len(NOISE), help="how many of these")
    parser.add_argument("--peer-limit", type=float, default=60.0)
    parser.add_argument("--variants", nargs="*", default=["plain", "lazy"])
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs beside peers")
    parser.add_argument("--peer-instances", type=int, default=10)
    parser.add_argument("--kinds", nargs="*", default=[], help="easy, non-trivial, ...: CP-Lib")
    parser.add_argument("--cpsat", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cpsat:
        cpsat_worker(args.cpsat, args.peer_limit)
        return
    folder = Path(os.environ.get("RELATUM_DATA", ""))
    if not os.environ.get("RELATUM_DATA") or not folder.is_dir():
        print("Set RELATUM_DATA to the benchmark data folder; nothing was run.")
        return
    solve(np.random.default_rng(0).normal(size=20 * 19 // 2), 10.0)  # load
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in args.parts:
        print(f"-- {part} --", flush=True)
        results[part] = PARTS[part](folder, args)
        results["machine"] = machine("highspy", "pyscipopt", "ortools")
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
