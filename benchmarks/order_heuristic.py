"""Heuristic linear orders on xLOLIB: gap to the best known values, and a valid bound beside each.

The search runs for a fixed wall-clock time an instance and one thread; the bound comes from
cutting planes for a further time, and both are checked by `relatum.verify`.

    RELATUM_DATA=folder python benchmarks/order_heuristic.py --seconds 10 --bound-seconds 20
"""

from __future__ import annotations

import argparse
from statistics import mean
from time import perf_counter, process_time

import numpy as np
from _orders import data_folder, lolib, save

import relatum as rt


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--bound-seconds", type=float, default=20.0, help="0 for no bounds")
    parser.add_argument("--every", type=int, default=1, help="take every so many instances")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    small = rt.Problem(np.random.default_rng(0).normal(size=(70, 70)), rt.LINEAR_ORDERS)
    rt.infer(small, solver="order_local_search", time_limit=2.0)
    rt.infer(small, solver="order_branch_and_cut", prove=True, time_limit=5.0)
    rows = []
    for instance, matrix, best, _ in list(lolib(data_folder(), "xLOLIB"))[:: args.every]:
        problem = rt.Problem(matrix, rt.LINEAR_ORDERS)
        began, cpu = perf_counter(), process_time()
        e = rt.infer(problem, solver="order_local_search", time_limit=args.seconds, seed=args.seed)
        seconds, cpu = perf_counter() - began, process_time() - cpu
        row = {
            "instance": instance, "n": len(matrix), "value": e.value, "best_known": best,
            "gap_to_best_known_percent": 100 * (best - e.value) / best, "seconds": seconds,
            "cpu_seconds": cpu,
            "verified": bool(rt.verify(problem, e)),
        }  # fmt: skip
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
        rows.append(row)
        print(
            f"{instance:16} value {e.value:.0f} best known {best:.0f} "
            f"gap {row['gap_to_best_known_percent']:.4f} % in {seconds:.1f} s ({cpu:.1f} s cpu), "
            f"bound {row.get('bound', float('nan')):.0f} "
            f"({row.get('bound_gap_percent', float('nan')):.2f} %) "
            f"verified={row['verified'] and row.get('bound_verified', True)}",
            flush=True,
        )
    gap = mean(r["gap_to_best_known_percent"] for r in rows)
    print(f"mean gap to the best known: {gap:.4f} % on {len(rows)} instances")
    save("order_heuristic", {"instances": rows, "mean_gap_percent": gap, "arguments": vars(args)})


if __name__ == "__main__":
    main()
