"""Clustering from little evidence: the trap of joint estimation.

Elements are in three unknown clusters. Each pair belongs to one of ten classes; a class says, with
a certain reliability, whether the two are together, but what a class says has to be learned. Known
are the clusters of some elements, or some pairs. At weight 1, the paper's problem, a better
objective means a worse clustering: relating almost nothing, or almost everything, is cheap to
describe. Reported is the share of unknown pairs that are decided wrongly.

    python benchmarks/joint_clustering.py
"""

from __future__ import annotations

import sys

import numpy as np
from _joint import main, outcomes, summary

import relatum as rt

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


def run(setting, seeds, time_limit):
    """Run all methods in one setting and print their errors."""
    known, share, n, reliability = setting

    def draw(seed):
        return instance(*setting, np.random.default_rng([seed, round(100 * share)]))

    errors, objectives, proven = outcomes(rt.EQUIVALENCES, draw, METHODS, seeds, time_limit)
    title = f"{share:.0%} of the {known} known, {n} elements, reliability {reliability}"
    used = len(errors["evidence alone"])
    print(f"\n{title}: {used} instances, {proven} optima proven")
    told = summary(errors)
    gain = np.subtract(objectives["joint, alternation"], objectives["joint, exact"])
    print(f"  the exact optimum is {gain.mean():.2f} bits better than alternation on average")
    return {
        "setting": title,
        "instances": used,
        "proven": proven,
        "methods": told,
        "bits gained by the exact optimum": round(float(gain.mean()), 3),
    }


if __name__ == "__main__":
    sys.exit(main(__doc__, SETTINGS, run, "joint_clustering"))
