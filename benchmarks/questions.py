"""Questions: how many answers it takes until F1 is .99, asked in several ways.

"worth" asks what `relatum.questions` ranks first: of matchings the pair of largest entropy given
everything known, of clusterings the pair whose answer should put most pairs right. "score" asks
about the open pair whose score is nearest 0, "random" about any; the relation is then the most
probable one given the answers (`relatum.infer`). "score, groups" asks as "score" does, but learns
from answers as `relatum.learn_by_asking` does: what comes of asking, and what of learning? Scores
are those of ``calibration.py``: measures learned from one half of the entities, pairs of the
other half; of two sources also with the learned offset. Answers are always right. F1 of
clusterings is looked at every ten answers; by worth, five are asked at a time, by score ten.

    RELATUM_DATA=... python benchmarks/questions.py [--splits 3] [--most 400]
    RELATUM_DATA=... python benchmarks/questions.py --sets cora --most 1200 --first 3

What questions between groups assume (`relatum.probability.linkage`) was chosen on the training
halves of Cora's splits 0, 1 and 2, with scores out of fold.
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
from relatum.probability.beliefs import beliefs_of, with_answer
from relatum.probability.questions import _best
from relatum.probability.scored import fixed_pairs

RESULTS = Path(__file__).parent / "results"
SETS = ("abt_buy_thin", "abt_buy", "fodors_zagat", "febrl3", "cora")
WAYS = ("worth", "score", "score, groups", "random")
GOAL, EVERY = 0.99, 10


def ask(problem, labels, how, most, step, every):
    """Return the number of answers until the goal, None if not reached, and F1 on the way."""
    beliefs, rng, curve, count = beliefs_of(problem, {}), np.random.default_rng(0), [], 0
    plain = _Plain(problem) if how in ("score", "random") and not problem.feasible.groups else None
    while True:
        if count % every == 0:
            found = beliefs.relation() if plain is None else plain.relation()
            curve.append(pairwise_f1(found.labels, labels))
            if curve[-1] >= GOAL:
                return count, curve
        if count >= most:
            return None, curve
        if how == "worth":
            i, j = _by_worth(problem, beliefs, step)
        else:
            i, j = _by_score(plain, problem, beliefs, how, rng)
        if not len(i):
            return None, curve
        asked, matched = 0, set()
        for a, b in zip(i.tolist(), j.tolist(), strict=True):
            if asked == step:
                break
            if a in matched or b in matched:
                continue  # one partner each: decided by an answer of this round
            related = bool(labels[a] == labels[b])
            (beliefs if plain is None else plain).learn(a, b, related)
            asked += 1
            if related and problem.feasible.groups:
                matched |= {a, b}
        count += asked


class _Plain:
    """Answers as evidence, and nothing else."""

    def __init__(self, problem):
        self.problem, self.last = problem, None

    def learn(self, i, j, related):
        self.problem = with_answer(self.problem, i, j, related)

    def relation(self):
        start = self.last
        if start is not None and not self.problem.feasible.contains(start):
            start = None
        self.last = rt.infer(self.problem, start=start, time_limit=5.0).relation
        return self.last


def _by_worth(problem, beliefs, step):
    found = _best(problem, beliefs.open_pairs(), step, None)
    return np.array([q.i for q in found]), np.array([q.j for q in found])


def _by_score(plain, problem, beliefs, how, rng):
    """Return open scored pairs, those nearest 0 first, or in any order."""
    scores = problem.scores
    i, j, bits = scores.i, scores.j, np.asarray(scores.log_odds)
    if problem.feasible.groups:
        pairs = beliefs.open_pairs()
        n = problem.n
        own = np.minimum(pairs.i, pairs.j) * n + np.maximum(pairs.i, pairs.j)
        open_ = np.isin(i * n + j, own)
    else:
        now = plain.problem if plain is not None else _told(beliefs)
        open_ = ~fixed_pairs(now, i, j)
    i, j, bits = i[open_], j[open_], bits[open_]
    order = rng.permutation(len(i)) if how == "random" else np.argsort(np.abs(bits), kind="stable")
    return i[order], j[order]


def _told(beliefs):
    """Return the problem with the answers that beliefs were told."""
    told = beliefs.problem
    for part in beliefs.parts:
        known = part.problem.evidence
        yes, no = (part.elements[x] for x in (known.related, known.unrelated))
        told = told.with_feasible(told.feasible & rt.evidence(related=yes, unrelated=no))
    return told


def run(folder, name, seed, most, ways):
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
        for how in ways:
            if how == "score, groups" and source is not None:
                continue
            # what is worth most changes with every answer; scores do not
            every = EVERY if source is None else 1
            step = min(every, 5) if how == "worth" else every
            begin = time.process_time()
            count, curve = ask(problem, labels, how, most, step, every)
            spent = time.process_time() - begin
            out[how + key] = {"answers": count, "f1": curve, "seconds": spent}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--output", type=Path, default=RESULTS / "questions.json")
    options = parser.parse_args()
    folder = Path(options.data) / "er"
    if not folder.is_dir():
        print(f"skipped: there are no records in {folder}; name their folder by RELATUM_DATA")
        return 0
    warnings.simplefilter("ignore")
    results = json.loads(options.output.read_text()) if options.output.exists() else {"sets": {}}
    results["machine"] = machine("scikit-learn")
    for name in options.sets:
        seeds = range(options.first, options.first + options.splits)
        runs = [run(folder, name, seed, options.most, options.ways) for seed in seeds]
        key = name if options.first == 0 else f"{name} from {options.first}"
        results["sets"][key] = runs
        for how in [key for key in runs[0] if key != "offset"]:
            counts = [r[how]["answers"] for r in runs]
            first, last = ([round(r[how]["f1"][k], 3) for r in runs] for k in (0, -1))
            print(f"{name:14} {how:15} answers {counts}, F1 {first} -> {last}", flush=True)
        options.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
