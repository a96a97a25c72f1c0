"""Questions: how many answers it takes until F1 is .99, asked in three ways.

"entropy" asks about the pair of largest entropy given everything known (`relatum.questions`),
"score" about the open pair whose score is nearest 0, "random" about any. Scores are those of
``calibration.py``: measures learned from one half of the entities, pairs of the other half; of two
sources also with the learned offset. Answers are always right. F1 is looked at every ten answers;
of clusterings, ten are asked at a time.

    RELATUM_DATA=... python benchmarks/questions.py [--splits 3] [--most 400]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _machine import machine
from calibration import halves

import relatum as rt
from relatum.pair_tables import learn_offset
from relatum.pair_tables.scoring import pairwise_f1
from relatum.probability.beliefs import beliefs_of
from relatum.probability.questions import entropy_of

RESULTS = Path(__file__).parent / "results"
SETS = ("abt_buy_thin", "abt_buy", "fodors_zagat", "febrl3", "cora")
GOAL, EVERY = 0.99, 10


def ask(problem, labels, how, most, step):
    """Return the number of answers until the goal, None if not reached, and F1 on the way."""
    beliefs, rng, curve, count = beliefs_of(problem, {}), np.random.default_rng(0), [], 0
    scores = problem.scores
    n = problem.n
    keys, bits = scores.i * n + scores.j, np.asarray(scores.log_odds)
    while True:
        if count % EVERY == 0:
            curve.append(pairwise_f1(beliefs.relation().labels, labels))
            if curve[-1] >= GOAL:
                return count, curve
        if count >= most:
            return None, curve
        pairs = beliefs.open_pairs()
        own = np.minimum(pairs.i, pairs.j) * n + np.maximum(pairs.i, pairs.j)
        if how == "entropy":
            order = np.argsort(-entropy_of(pairs.probability), kind="stable")
        else:
            at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
            distance = np.where(keys[at] == own, np.abs(bits[at]), np.inf)
            order = np.argsort(distance, kind="stable")
            if how == "random":
                order = rng.permutation(np.flatnonzero(np.isfinite(distance)))
        if not len(order):
            return None, curve
        asked, matched = 0, set()
        for place in order.tolist():
            i, j = int(pairs.i[place]), int(pairs.j[place])
            if asked == step:
                break
            if i in matched or j in matched:
                continue  # one partner each: decided by an answer of this round
            beliefs.learn(i, j, bool(labels[i] == labels[j]))
            asked += 1
            if labels[i] == labels[j] and problem.feasible.groups:
                matched |= {i, j}
        count += asked


def run(folder, name, seed, most):
    train, (pairs, bits, labels, source) = halves(folder, name, seed)
    learned = learn_offset(*train[0].T, *train[1:], background="learned")
    feasible = rt.EQUIVALENCES if source is None else rt.EQUIVALENCES & rt.one_per_group(source)
    out = {"offset": learned.bits}
    for key, offset in {"": 0.0, "_offset": learned.bits}.items():
        if key and source is None:
            continue
        problem = rt.Problem.from_pairs(
            *pairs.T,
            bits + offset,
            n=len(labels),
            background=learned.background,
            feasible=feasible,
        )
        for how in ("entropy", "score", "random"):
            # only entropies change with every answer; clusterings are looked at after ten
            step = 1 if how == "entropy" and source is not None else EVERY
            begin = time.process_time()
            count, curve = ask(problem, labels, how, most, step)
            spent = time.process_time() - begin
            out[how + key] = {"answers": count, "f1": curve, "seconds": spent}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS / "questions.json")
    options = parser.parse_args()
    folder = Path(options.data) / "er"
    if not folder.is_dir():
        print(f"skipped: there are no records in {folder}; name their folder by RELATUM_DATA")
        return 0
    warnings.simplefilter("ignore")
    results = {"machine": machine("scikit-learn"), "most": options.most, "sets": {}}
    for name in options.sets:
        runs = [run(folder, name, seed, options.most) for seed in range(options.splits)]
        results["sets"][name] = runs
        for how in [key for key in runs[0] if key != "offset"]:
            counts = [r[how]["answers"] for r in runs]
            first, last = ([round(r[how]["f1"][k], 3) for r in runs] for k in (0, -1))
            print(f"{name:14} {how:15} answers {counts}, F1 {first} -> {last}", flush=True)
        options.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
