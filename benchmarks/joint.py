"""The joint problems, exactly: relatum beside SCIP on the programs as the paper prints them.

Each instance is solved by both in turn, in this process; processor seconds count, as SCIP and
HiGHS use one thread here. SCIP is given every known pair, the rows of all properties and bounds on
theta that no optimum violates. Where SCIP runs into its limit, the ratio is a lower bound.

    python benchmarks/joint.py
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine
from _printed import solve_as_printed

import relatum as rt
from relatum.errors import DegenerateWarning, MissingDependencyError

RESULTS = Path(__file__).parent / "results"
SETS = {"equivalences": rt.EQUIVALENCES, "linear orders": rt.LINEAR_ORDERS}


def truth_of(kind, n, rng):
    if kind == "equivalences":
        return rt.Partition(rng.integers(0, max(2, n // 4), n))
    return rt.LinearOrder(rng.permutation(n))


def instance(kind, model, n, rng):
    """Classes or features of the pairs a < b, evidence of a tenth of them, and a measure."""
    truth = truth_of(kind, n, rng)
    a, b = np.triu_indices(n, 1)
    y = truth.matrix()[a, b]
    given = rng.random(len(a)) < 0.1
    given[rng.integers(len(a))] = True
    pairs = np.column_stack([a, b])
    if kind == "equivalences":
        known = rt.evidence(related=pairs[given & y], unrelated=pairs[given & ~y])
    else:
        known = rt.evidence(related=np.where(y[:, None], pairs, pairs[:, ::-1])[given])
    if model == "bernoulli":
        says = np.where(rng.random(len(a)) < 0.75, y, ~y)
        return 2 * rng.integers(0, 3, len(a)) + says, known, rt.BernoulliMeasure(2.0)
    noisy = np.where(rng.random((len(a), 3)) < 0.75, y[:, None], ~y[:, None])
    return noisy.astype(float), known, rt.LogisticMeasure(0.5)


def compare(kind, model, n, seed, limit):
    """Solve one instance with both; return seconds, objectives and bounds."""
    x, known, measure = instance(kind, model, n, np.random.default_rng([seed, n]))
    start = process_time()
    ours = rt.joint_estimate(
        x, SETS[kind], measure=measure, evidence=known, exact=True, time_limit=limit
    )
    middle = process_time()
    theirs = solve_as_printed(x, SETS[kind], measure=measure, evidence=known, time_limit=limit)
    end = process_time()
    return {
        "set": kind,
        "model": model,
        "n": n,
        "seed": seed,
        "relatum": {
            "seconds": middle - start,
            "objective": ours.objective,
            "bound": ours.bound,
            "optimal": ours.optimal,
        },
        "SCIP": {
            "seconds": end - middle,
            "objective": theirs.objective,
            "bound": theirs.bound,
            "optimal": theirs.finished,
        },
        "ratio": (end - middle) / (middle - start),
    }


def report(rows):
    """Print one line for every set, model and size; return the same as data."""
    out = []
    for key in dict.fromkeys((r["model"], r["set"], r["n"]) for r in rows):
        own = [r for r in rows if (r["model"], r["set"], r["n"]) == key]
        ratios = [r["ratio"] for r in own]
        total = sum(r["SCIP"]["seconds"] for r in own) / sum(r["relatum"]["seconds"] for r in own)
        both = [r for r in own if r["SCIP"]["optimal"] and r["relatum"]["optimal"]]
        differ = max(
            (abs(r["SCIP"]["objective"] - r["relatum"]["objective"]) for r in both), default=0.0
        )
        line = {
            "model": key[0],
            "set": key[1],
            "n": key[2],
            "instances": len(own),
            "proved by relatum": sum(r["relatum"]["optimal"] for r in own),
            "proved by SCIP": sum(r["SCIP"]["optimal"] for r in own),
            "median ratio": statistics.median(ratios),
            "least ratio": min(ratios),
            "ratio of all seconds": total,
            "largest difference of optima, bits": differ,
        }
        out.append(line)
        print(
            f"{key[0]:<10}{key[1]:<15}n = {key[2]:<4}proved {line['proved by relatum']} and "
            f"{line['proved by SCIP']} of {len(own)}; SCIP takes {line['median ratio']:.1f} times "
            f"as long (median; least {min(ratios):.1f}, in all {total:.1f}); optima differ by "
            f"{differ:.1e}",
            flush=True,
        )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solver")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 12])
    parser.add_argument("--logistic-sizes", type=int, nargs="*", default=[5])
    parser.add_argument("--output", type=Path, default=RESULTS / "joint.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    rows = []
    try:
        for kind in SETS:  # load all modules before anything is timed
            for model in ("bernoulli", "logistic"):
                compare(kind, model, 4, 0, 1.0)
        for model, sizes in (("bernoulli", options.sizes), ("logistic", options.logistic_sizes)):
            for kind in SETS:
                for n in sizes:
                    group = [
                        compare(kind, model, n, seed, options.limit)
                        for seed in range(options.seeds)
                    ]
                    report(group)
                    rows += group
    except MissingDependencyError as error:
        print(f"skipped: {error}")
        return 0
    result = {
        "machine": machine("highspy", "pyscipopt"),
        "limit": options.limit,
        "summary": report(rows),
        "runs": rows,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
