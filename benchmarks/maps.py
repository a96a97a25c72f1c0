"""Maps by `infer` beside numpy's argmax, which reads the array once.

The same float32 array for both; runs alternate and the best of each counts.

    python benchmarks/maps.py --elements 1000000 --labels 100
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter

import numpy as np
from _machine import machine

import relatum as rt

RESULTS = Path(__file__).parent / "results"


def seconds(work):
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = (arguments.elements, arguments.labels)
    c = rng.standard_normal(shape, dtype=np.float32)
    rt.infer(rt.Problem(c[:10], rt.MAPS))  # imports
    best = {"argmax and one reading sum": np.inf, "building the problem": np.inf, "infer": np.inf}
    for _ in range(arguments.repeats):
        took, (labels, _) = seconds(lambda: (c.argmax(axis=1), c.sum()))
        best["argmax and one reading sum"] = min(best["argmax and one reading sum"], took)
        took, problem = seconds(lambda: rt.Problem(c, rt.MAPS))
        best["building the problem"] = min(best["building the problem"], took)
        took, estimate = seconds(lambda p=problem: rt.infer(p))
        best["infer"] = min(best["infer"], took)
        assert np.array_equal(estimate.relation.labels, labels)
        assert estimate.status is rt.Status.OPTIMAL
    base = best["argmax and one reading sum"]
    print(f"{shape[0]} x {shape[1]} float32, best of {arguments.repeats}")
    for name, took in best.items():
        print(f"{name:<28} {took:8.3f} s   {took / base:5.2f} of numpy")
    ratio = (best["infer"] + best["building the problem"]) / base
    print(f"{'problem and infer':<28} {'':>10}   {ratio:5.2f} of numpy")
    RESULTS.mkdir(exist_ok=True)
    result = {"machine": machine(), "shape": shape, "seconds": best, "ratio": ratio}
    (RESULTS / "maps.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
