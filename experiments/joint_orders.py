"""Linear orders from little evidence: joint estimation beside learning from evidence alone.

Elements are in an unknown order. Each pair belongs to one of K classes; a class says, with a
certain reliability, which of the two comes first, but what a class says has to be learned. Known
is the order of some pairs, or the relative order of some of the elements. Reported is the share of
unknown pairs that are put in the wrong order.

    python experiments/joint_orders.py
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

import relatum as rt
from relatum.errors import DegenerateWarning
from relatum.joint.reading import prepare

RESULTS = Path(__file__).parent.parent / "docs" / "results"
FIRST_SEED = 1000  # settings were chosen while looking at seeds below
METHODS = {
    "evidence alone": {"unknown_weight": 0.0},
    "joint, weight 0.1": {"unknown_weight": 0.1},
    "joint, alternation": {},
    "joint, 20 starts": {"n_starts": 20},
    "joint, exact": {"exact": True},
}
SETTINGS = [
    # known, elements, classes, reliability
    ("35 % of the pairs", 14, 10, 0.85),
    ("35 % of the pairs", 14, 40, 0.95),
    ("35 % of the pairs", 18, 20, 0.85),
    ("35 % of the pairs", 18, 60, 0.95),
    ("35 % of the elements", 14, 10, 0.85),
    ("35 % of the elements", 14, 40, 0.95),
]


def instance(known, n, classes, reliability, rng):
    """Classes of the pairs a < b, evidence, and the true order."""
    truth = rt.LinearOrder(rng.permutation(n))
    a, b = np.triu_indices(n, 1)
    before = truth.matrix()[a, b]
    says = np.where(rng.random(len(a)) < reliability, before, ~before)
    number = 2 * rng.integers(0, classes // 2, len(a)) + says
    if known.endswith("pairs"):
        given = rng.random(len(a)) < 0.35
        pairs = np.where(before[:, None], np.column_stack([a, b]), np.column_stack([b, a]))
        return number, rt.evidence(related=pairs[given]), truth
    places = np.full(n, -1)
    chosen = rng.permutation(n)[: round(0.35 * n)]
    places[chosen] = truth.ranks[chosen]
    return number, rt.partial_evidence(places, rt.LINEAR_ORDERS), truth


def errors(setting, seeds, time_limit):
    """Share of unknown pairs in the wrong order, by method, one entry a seed."""
    found = {name: [] for name in METHODS}
    proven = 0
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        rng = np.random.default_rng([seed, setting[1], setting[2]])
        classes, known, truth = instance(*setting, rng)
        table, _, _ = prepare(classes, rt.LINEAR_ORDERS, evidence=known)
        if not table.unknown.any():
            continue
        right = table.targets(truth)
        for name, options in METHODS.items():
            result = rt.joint_estimate(
                classes,
                rt.LINEAR_ORDERS,
                measure=rt.BernoulliMeasure(1.5),
                evidence=known,
                time_limit=time_limit,
                **options,
            )
            proven += name == "joint, exact" and result.optimal
            wrong = table.targets(result.estimate.relation) != right
            found[name].append(float(wrong[table.unknown].mean()))
    return found, proven


def summary(found):
    """Mean error of every method, and its paired difference to evidence alone."""
    base = np.array(found["evidence alone"])
    out = {}
    for name, values in found.items():
        v = np.array(values)
        difference = v - base
        out[name] = {
            "mean error": round(float(v.mean()), 4),
            "difference": round(float(difference.mean()), 4),
            "standard error": round(float(difference.std(ddof=1) / np.sqrt(len(v))), 4),
            "better / equal / worse": [
                int((difference < 0).sum()),
                int((difference == 0).sum()),
                int((difference > 0).sum()),
            ],
        }
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds for each estimate")
    parser.add_argument("--output", type=Path, default=RESULTS / "joint_orders.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    results = []
    for setting in SETTINGS:
        start = perf_counter()
        found, proven = errors(setting, options.seeds, options.time_limit)
        known, n, classes, reliability = setting
        title = f"{known} known, {n} elements, {classes} classes of reliability {reliability}"
        print(f"\n{title} ({perf_counter() - start:.0f} s)")
        told = summary(found)
        print(f"  proven optima: {proven} of {len(found['joint, exact'])}")
        for name, row in told.items():
            print(
                f"  {name:<22}{row['mean error']:8.3f}{row['difference']:+9.3f} "
                f"+- {row['standard error']:.3f}   {row['better / equal / worse']}",
                flush=True,
            )
        results.append(
            {"setting": title, "seeds": options.seeds, "proven": proven, "methods": told}
        )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
