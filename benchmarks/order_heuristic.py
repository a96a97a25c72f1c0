"""Heuristic linear orders on xLOLIB: gap to the best known values, and a valid bound beside each.

The search runs for a fixed wall-clock time an instance, on two threads; the bound comes from
cutting planes for a further time, and both are checked by `relatum.verify`. On a machine with
other load, `--processor` counts processor time instead: 10 seconds are then 20 processor seconds,
which is what two free cores give in 10 seconds. Every instance is recorded when it is done; with
`--resume`, those recorded are left out.

    RELATUM_DATA=folder python benchmarks/order_heuristic.py --seconds 10 --bound-seconds 15
"""

from __future__ import annotations

import argparse
from statistics import mean
from time import perf_counter, process_time

import numpy as np
from _orders import data_folder, lolib, recorded, save

import relatum as rt
from relatum.solvers.control import Control
from relatum.solvers.order.search import SETTINGS

NAME = "order_heuristic"


def warm_up():
    """Compile the kernels before anything is timed."""
    small = rt.Problem(np.random.default_rng(0).normal(size=(70, 70)), rt.LINEAR_ORDERS)
    rt.infer(small, solver="order_local_search", time_limit=2.0)
    rt.infer(small, solver="order_branch_and_cut", prove=True, time_limit=5.0)


def count_processor_time(cores):
    """Let time limits count the processor seconds used from now on, shared by so many cores."""
    began = process_time()
    Control.seconds = lambda control: (process_time() - began) / cores


def run(instance, matrix, best, args):
    """Search, then bound; return the record."""
    problem = rt.Problem(matrix, rt.LINEAR_ORDERS)
    if args.processor:
        count_processor_time(SETTINGS.chains)
    began, cpu = perf_counter(), process_time()
    e = rt.infer(problem, solver="order_local_search", time_limit=args.seconds, seed=args.seed)
    seconds, cpu = perf_counter() - began, process_time() - cpu
    row = {
        "instance": instance, "n": len(matrix), "value": e.value, "best_known": best,
        "gap_to_best_known_percent": 100 * (best - e.value) / best, "seconds": seconds,
        "cpu_seconds": cpu, "verified": bool(rt.verify(problem, e)),
    }  # fmt: skip
    if args.processor:
        count_processor_time(1)
    if args.bound_seconds:
        proof = rt.infer(
            problem,
            solver="order_branch_and_cut",
            prove=True,
            time_limit=args.bound_seconds,
            start=e.relation,
        )
        row["bound"] = proof.bound
        row["bound_gap_percent"] = 100 * (proof.bound - e.value) / e.value
        row["bound_verified"] = bool(rt.verify(problem, proof))
    print(
        f"{instance:16} value {e.value:.0f} best known {best:.0f} "
        f"gap {row['gap_to_best_known_percent']:.4f} % in {seconds:.1f} s ({cpu:.1f} s cpu), "
        f"bound {row.get('bound', float('nan')):.0f} "
        f"({row.get('bound_gap_percent', float('nan')):.2f} %) "
        f"verified={row['verified'] and row.get('bound_verified', True)}",
        flush=True,
    )
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--bound-seconds", type=float, default=15.0, help="0 for no bounds")
    parser.add_argument("--every", type=int, default=1, help="take every so many instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processor", action="store_true", help="count processor time")
    parser.add_argument("--resume", action="store_true", help="leave out what is recorded")
    parser.add_argument("--part", type=float, default=1e9, help="stop after so many seconds")
    args = parser.parse_args()
    rows = recorded(NAME)["instances"] if args.resume else []
    done = {r["instance"] for r in rows}
    began = perf_counter()
    warm_up()
    for instance, matrix, best, _ in list(lolib(data_folder(), "xLOLIB"))[:: args.every]:
        if instance in done:
            continue
        if perf_counter() - began > args.part:
            print("stopped after a part; --resume goes on")
            break
        rows.append(run(instance, matrix, best, args))
        gap = mean(r["gap_to_best_known_percent"] for r in rows)
        results = {"instances": rows, "mean_gap_percent": gap, "arguments": vars(args)}
        save(NAME, results, quiet=True)
    gap = mean(r["gap_to_best_known_percent"] for r in rows)
    print(f"mean gap to the best known: {gap:.4f} % on {len(rows)} instances")


if __name__ == "__main__":
    main()
