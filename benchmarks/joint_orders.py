"""Linear orders from little evidence: joint estimation beside learning from evidence alone.

Elements are in an unknown order. Each pair belongs to one of K classes; a class says, with a
certain reliability, which of the two comes first, but what a class says has to be learned. Known
is the order of some pairs, or the relative order of some of the elements. Reported is the share of
unknown pairs that are put in the wrong order.

    python benchmarks/joint_orders.py
"""

from __future__ import annotations

import sys

import numpy as np
from _joint import main, outcomes, summary

import relatum as rt

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


def run(setting, seeds, time_limit):
    """Run all methods in one setting and print their errors."""
    known, n, classes, reliability = setting

    def draw(seed):
        return instance(*setting, np.random.default_rng([seed, n, classes]))

    errors, _, proven = outcomes(rt.LINEAR_ORDERS, draw, METHODS, seeds, time_limit)
    title = f"{known} known, {n} elements, {classes} classes of reliability {reliability}"
    print(f"\n{title}: proven optima: {proven} of {len(errors['joint, exact'])}")
    return {"setting": title, "seeds": seeds, "proven": proven, "methods": summary(errors)}


if __name__ == "__main__":
    sys.exit(main(__doc__, SETTINGS, run, "joint_orders"))
