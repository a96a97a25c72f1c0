"""Calibration: offsets of two-source matchings, maps of clusterings, on what was not learned from.

* Offsets. Records of one half of the entities are scored out of fold (three folds of entities),
  and the offset learned from them; those of the other half are scored by a measure of the whole
  first half and clustered with and without it. "thin": one side of half of the entities deleted.
  F1 is the mean over three ways to break ties.
* Maps. Clusterings of digits, from the scores in ``mnist-clustering``: whole files of 100 images of
  ten digits, probabilities by sampling, learned from three of five files and measured on the other
  two, five choices; and 15 images of three digits, probabilities exact, all ten choices.
* Orders of the words of 800 Wikipedia sentences, 4 to 12 different words each, from how often words
  precede each other in all other sentences; learned from one half, measured on the other, and the
  other way round. Probabilities are exact.

    RELATUM_DATA=... python benchmarks/calibration.py [--splits 3] [--parts maps orders offsets]
    RELATUM_DATA=... python benchmarks/calibration.py --first 3  # splits no rule was chosen on

The rules of `learn_offset` (twice the standard error, likelihood for two groups) were chosen after
looking at the splits 0, 1 and 2. Splits from 3 on are kept apart in the results.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import sys
import warnings
from pathlib import Path

import entity_resolution as er
import numpy as np
from _machine import machine

import relatum as rt
from relatum.pair_tables import learn_offset
from relatum.pair_tables.options import Settings
from relatum.pair_tables.scoring import pairwise_f1
from relatum.pair_tables.solve.labelled import Labelled, clusters_at, pairs_once

RESULTS = Path(__file__).parent / "results"
LONG = 600.0  # seconds: nothing is to depend on how busy the machine is
SETS = {
    "abt_buy_thin": ("abt_buy", 10),
    "abt_buy": ("abt_buy", 10),
    "fodors_zagat": ("fodors_zagat", 10),
    "cora": ("cora", 50),
    "febrl3": ("febrl3", 10),
}


def thinned(data, seed):
    """Delete one side of half of the entities."""
    records, entity, source, texts, numbers = data
    entity, source = np.unique(entity, return_inverse=True)[1], np.array(source)
    rng = np.random.default_rng([seed, 7])
    chosen = rng.permutation(entity.max() + 1)[: (entity.max() + 1) // 2]
    side = np.full(entity.max() + 1, -1)
    side[chosen] = rng.integers(0, 2, len(chosen))
    keep = np.flatnonzero(side[entity] != source)
    return [records[k] for k in keep], entity[keep], source[keep], texts, numbers


def halves(folder, name, seed):
    """Return scored pairs of two halves of the entities: out of fold, and by the first half."""
    kind, k = SETS[name]
    data = er.load(folder, kind)
    if name.endswith("thin"):
        data = thinned(data, seed)
    records, entity, source, texts, numbers = data
    compare = er.Comparison(records, texts, numbers)
    entity = np.unique(entity, return_inverse=True)[1]
    source = None if source is None else np.array(source)
    count = entity.max() + 1
    half = np.random.default_rng(seed).permutation(count) < count // 2
    train, test = np.flatnonzero(half[entity]), np.flatnonzero(~half[entity])
    rng = np.random.default_rng([seed, 1])

    def fit(pairs, some):
        others = rng.choice(some, size=(len(pairs), 2))
        others = others[others[:, 0] != others[:, 1]]
        return er.learn(compare, entity, np.concatenate([pairs, others]))

    pairs, fold = er.block(compare.whole, train, k, source), rng.integers(0, 3, count)
    own, bits = fold[entity[pairs]], np.zeros(len(pairs))
    for f in range(3):
        measure = fit(pairs[(own != f).all(axis=1)], train[fold[entity[train]] != f])
        at = own[:, 0] == f
        bits[at] = measure.log_odds(compare(*pairs[at].T))
    out = [_side(entity, source, train, pairs, bits)]
    candidates = er.block(compare.whole, test, k, source)
    bits = fit(pairs, train).log_odds(compare(*candidates.T))
    return [*out, _side(entity, source, test, candidates, bits)]


def _side(entity, source, elements, pairs, bits):
    place = np.full(len(entity), -1)
    place[elements] = np.arange(len(elements))
    labels = np.unique(entity[elements], return_inverse=True)[1]
    return place[pairs], bits, labels, None if source is None else source[elements]


def offsets(folder, name, seed):
    """Return F1 of the second half without an offset, and with those of the first."""
    train, test = halves(folder, name, seed)
    pairs, bits, labels, source = test
    out = {}
    for method in ("f1", "auto"):
        learned = learn_offset(*train[0].T, *train[1:], background="learned", method=method)
        case = Labelled(
            pairs_once(*pairs.T, bits, len(labels)), labels, source, Settings(learned.background)
        )
        out[method] = {"bits": learned.bits, "capped": learned.capped}
        for key, x in (("f1", learned.bits), ("without", 0.0)):
            ties = [clusters_at(case, x, learned.background, tie) for tie in range(3)]
            out[method][key] = float(np.mean([pairwise_f1(c, labels) for c in ties]))
    return out


def clusterings(folder, kind, number, count=8, n=15):
    """Return small problems of three digits each, and their truths."""
    data = np.load(folder / f"{kind}_n100_{number}.npz")
    labels, rng = data["labels"], np.random.default_rng(number)
    whole = rt.Problem(data["costs"].astype(float), rt.EQUIVALENCES)
    out = []
    for _ in range(count):
        digits = rng.choice(10, 3, replace=False)
        chosen = np.sort(rng.permutation(np.flatnonzero(np.isin(labels, digits)))[:n])
        out.append((whole.restrict(chosen), rt.Partition(labels[chosen])))
    return out


def whole_files(folder, kind):
    """Return the five problems of 100 images, and their truths, one list each."""
    out = []
    for number in range(5):
        data = np.load(folder / f"{kind}_n100_{number}.npz")
        problem = rt.Problem(data["costs"].astype(float), rt.EQUIVALENCES)
        out.append([(problem, rt.Partition(data["labels"]))])
    return out


def maps(files, choices):
    """Return log-loss, reliability and Rand error before and after, over choices of files."""
    rows = []
    for chosen in choices:
        train = [case for k in chosen for case in files[k]]
        test = [case for k in range(len(files)) if k not in chosen for case in files[k]]
        learned = rt.calibrate(*map(list, zip(*train, strict=True)), time_limit=LONG)
        rows.append(_measured(learned, test))
        rows[-1]["map"] = [learned.of_score, learned.of_logit, learned.constant]
    return {key: np.mean([r[key] for r in rows], axis=0).tolist() for key in rows[0]} | {
        "spread": {key: np.std([r[key] for r in rows], axis=0).tolist() for key in rows[0]}
    }


def _measured(learned, test):
    """Return what calibration does to problems that it was not learned from."""
    p, q, y, s, errors = [], [], [], [], []
    for problem, truth in test:
        i, j = np.triu_indices(problem.n, 1)
        given = rt.probabilities(problem, time_limit=LONG)
        p.append(given.pairs(i, j))
        q.append(learned.probabilities(given).pairs(i, j))
        bits = problem.dense()
        s.append(1 / (1 + 2.0 ** -(bits + _other(problem, bits))[i, j]))
        y.append(_true(truth, i, j))
        found = [rt.infer(x).relation for x in (problem, learned.apply(problem, time_limit=LONG))]
        errors.append([np.mean(_true(f, i, j) != y[-1]) for f in found])
    p, q, s, y = (np.concatenate(x) for x in (p, q, s, y))
    return {
        "rand": np.mean(errors, axis=0),
        "loss": [loss(x, y) for x in (s, p, q)],
        "sure": [precision(x, y) for x in (p, q)],
        "off": [off(x, y) for x in (p, q)],
    }


def _other(problem, bits):
    """Return what the other direction of a pair adds to its score."""
    return bits.T if problem.feasible.has("symmetric") else -bits.T


def _true(relation, i, j):
    if isinstance(relation, rt.Partition):
        return relation.labels[i] == relation.labels[j]
    return relation.ranks[i] <= relation.ranks[j]


def sentences(folder, count=800, sigma=2.0):
    """Return orders of words, and the true ones; words are sorted, so that nothing is told."""
    with gzip.open(folder / "wikipedia" / "union_top3000.txt.gz", "rt") as file:
        encoded = rt.encode_sequences(file.read().splitlines())
    tokens = np.split(encoded.tokens, encoded.offsets[1:-1])
    fit = [k for k, t in enumerate(tokens) if 4 <= len(t) <= 12 and len(set(t.tolist())) == len(t)]
    chosen = set(np.random.default_rng(0).choice(fit, count, replace=False).tolist())
    rest = [t for k, t in enumerate(tokens) if k not in chosen]
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in rest])])
    measure = rt.BernoulliMeasure(sigma=sigma)
    measure.fit_sequences(np.concatenate(rest), offsets, len(encoded.words))
    out = []
    for k in sorted(chosen):
        order = np.argsort(tokens[k], kind="stable")  # the place of each word, by its number
        problem = rt.Problem(measure.pair_log_odds(tokens[k][order]), rt.LINEAR_ORDERS)
        out.append((problem, rt.LinearOrder.from_order(np.argsort(order))))
    return out


def loss(p, y):
    p = np.clip(p, 2.0**-30, 1 - 2.0**-30)
    return float(-np.log2(np.where(y, p, 1 - p)).mean())


def precision(p, y):
    """Share of true pairs among those with a probability above .95."""
    return float(y[p > 0.95].mean()) if (p > 0.95).any() else float("nan")


def off(p, y):
    """Mean distance between probability and share of true pairs, over ten bins."""
    bins = np.minimum((10 * p).astype(int), 9)
    return float(sum(abs((p - y)[bins == b].sum()) for b in range(10)) / len(p))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--parts", nargs="*", default=["maps", "orders", "offsets"])
    parser.add_argument("--output", type=Path, default=RESULTS / "calibration.json")
    options = parser.parse_args()
    folder = Path(options.data)
    if not (folder / "er").is_dir():
        print(f"skipped: there are no records in {folder}; name their folder by RELATUM_DATA")
        return 0
    warnings.simplefilter("ignore")  # offsets that run away are told in the table
    results = json.loads(options.output.read_text()) if options.output.exists() else {"maps": {}}
    results["machine"] = machine("scikit-learn")
    part = results.setdefault(
        "offsets" if options.first == 0 else f"offsets from {options.first}", {}
    )
    for kind in ("strat", "unstrat") if options.first == 0 and "maps" in options.parts else ():
        own = folder / "mnist-clustering"
        turns = [[(k + d) % 5 for d in range(3)] for k in range(5)]
        few = [clusterings(own, kind, k) for k in range(5)]
        results["maps"][kind] = maps(few, list(itertools.combinations(range(5), 3)))
        results["maps"][f"{kind}, 100 images"] = maps(whole_files(own, kind), turns)
        for key in (kind, f"{kind}, 100 images"):
            print(key, results["maps"][key], flush=True)
    if options.first == 0 and "orders" in options.parts:
        cases = sentences(folder)
        halves_ = [cases[::2], cases[1::2]]
        results["maps"]["sentences"] = maps(halves_, [[0], [1]])
        print("sentences", results["maps"]["sentences"], flush=True)
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    for name in SETS if "offsets" in options.parts else ():
        seeds = range(options.first, options.first + options.splits)
        part[name] = runs = [offsets(folder / "er", name, seed) for seed in seeds]
        for method in ("f1", "auto"):
            own = [r[method] for r in runs]
            shown = [f"{np.mean([r[k] for r in own]):.3f}" for k in ("without", "f1", "bits")]
            print(f"{name:14} {method:5} F1 {shown[0]} -> {shown[1]} offset {shown[2]}", flush=True)
        options.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
