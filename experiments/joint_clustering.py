"""Clustering from little evidence: the trap of joint estimation.

Elements are in three unknown clusters. Each pair belongs to one of ten classes; a class says, with
a certain reliability, whether the two are together, but what a class says has to be learned. Known
are the clusters of some elements, or some pairs. At weight 1, the paper's problem, a better
objective means a worse clustering: relating almost nothing, or almost everything, is cheap to
describe. Reported is the share of unknown pairs that are decided wrongly.

    python experiments/joint_clustering.py
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from joint_orders import FIRST_SEED, summary

import relatum as rt
from relatum.errors import DegenerateWarning
from relatum.joint.reading import prepare

RESULTS = Path(__file__).parent.parent / "docs" / "results"
BALANCED = {"balance": "balanced"}
METHODS = {
    "evidence alone": {"unknown_weight": 0.0},
    "evidence alone, balanced": {"unknown_weight": 0.0, **BALANCED},
    "joint, alternation": {},
    "joint, exact": {"exact": True},
    "joint, exact, weight 0.1": {"exact": True, "unknown_weight": 0.1},
    "joint, exact, weight 0.1, balanced": {"exact": True, "unknown_weight": 0.1, **BALANCED},
}
SETTINGS = [
    # known, share of it, elements, reliability
    ("elements", 0.5, 14, 0.85),
    ("pairs", 0.2, 14, 0.8),
]


def instance(known, share, n, reliability, rng):
    """Classes of the pairs a < b, evidence, and the true clustering."""
    labels = rng.integers(0, 3, n)
    a, b = np.triu_indices(n, 1)
    same = labels[a] == labels[b]
    says = np.where(rng.random(len(a)) < reliability, same, ~same)
    number = 2 * rng.integers(0, 5, len(a)) + says
    if known == "elements":
        some = np.where(rng.random(n) < share, labels, -1)
        return number, rt.partial_evidence(some, rt.EQUIVALENCES), rt.Partition(labels)
    given = rng.random(len(a)) < share
    pairs = np.column_stack([a, b])
    told = rt.evidence(related=pairs[given & same], unrelated=pairs[given & ~same])
    return number, told, rt.Partition(labels)


def outcomes(setting, seeds, time_limit):
    """Errors and objectives by method, one entry a seed."""
    errors, objectives = ({name: [] for name in METHODS} for _ in range(2))
    proven = 0
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        rng = np.random.default_rng([seed, round(100 * setting[1])])
        classes, known, truth = instance(*setting, rng)
        table, _, _ = prepare(classes, rt.EQUIVALENCES, evidence=known)
        kinds = np.unique(table.state[~table.unknown])
        if not table.unknown.any() or len(kinds) < 2:
            continue
        right = table.targets(truth)
        for name, options in METHODS.items():
            result = rt.joint_estimate(
                classes,
                rt.EQUIVALENCES,
                measure=rt.BernoulliMeasure(1.5),
                evidence=known,
                time_limit=time_limit,
                **options,
            )
            proven += name == "joint, exact" and result.optimal
            wrong = table.targets(result.estimate.relation) != right
            errors[name].append(float(wrong[table.unknown].mean()))
            objectives[name].append(result.objective)
    return errors, objectives, proven


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds for each estimate")
    parser.add_argument("--output", type=Path, default=RESULTS / "joint_clustering.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    results = []
    for setting in SETTINGS:
        start = perf_counter()
        errors, objectives, proven = outcomes(setting, options.seeds, options.time_limit)
        known, share, n, reliability = setting
        title = f"{share:.0%} of the {known} known, {n} elements, reliability {reliability}"
        used = len(errors["evidence alone"])
        print(
            f"\n{title}: {used} instances, {proven} optima proven ({perf_counter() - start:.0f} s)"
        )
        told = summary(errors)
        for name, row in told.items():
            print(
                f"  {name:<36}{row['mean error']:8.3f}{row['difference']:+9.3f} "
                f"+- {row['standard error']:.3f}   {row['better / equal / worse']}",
                flush=True,
            )
        gain = np.subtract(objectives["joint, alternation"], objectives["joint, exact"])
        print(f"  the exact optimum is {gain.mean():.2f} bits better than alternation on average")
        results.append(
            {
                "setting": title,
                "instances": used,
                "proven": proven,
                "methods": told,
                "bits gained by the exact optimum": round(float(gain.mean()), 3),
            }
        )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
