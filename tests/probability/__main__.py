"""Exact probabilities against enumeration, as often as asked for: all families, up to six elements.

    PYTHONPATH=src:tests python -m probability [--count 2000] [--families EQUIVALENCES MAPS]

Prints, per family, how many problems had evidence, a cap, groups, ties and scores of a thousand
bits, how many had no feasible relation, and the largest error. Stops at the first that is wrong.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from probability.random_problems import FAMILIES, random_problem
from probability.test_exactness import check


def seen_in(family, seed):
    """What is special about a problem."""
    problem, scores, ys = random_problem(family, seed, 1)
    known = len(problem.evidence.related) + len(problem.evidence.unrelated)
    size = float(np.abs(scores).max())
    said = {
        "evidence": known > 0,
        "cap": problem.feasible.cap is not None,
        "groups": bool(problem.feasible.groups),
        "ties": bool((scores == np.round(scores)).all()),
        "50 bits": 20 < size <= 200,
        "1000 bits": size > 200,
        "infeasible": len(ys) == 0,
    }
    return [key for key, is_so in said.items() if is_so]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    options = parser.parse_args()
    for family in options.families:
        worst, kinds = 0.0, Counter()
        for seed in range(options.first, options.first + options.count):
            worst = max(worst, check(family, seed, larger=1))
            kinds.update(seen_in(family, seed))
        print(f"{family}: {options.count}, largest error {worst:.1e}, {dict(kinds)}", flush=True)


if __name__ == "__main__":
    main()
