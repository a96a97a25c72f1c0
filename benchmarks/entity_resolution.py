"""Entity resolution on real records: from raw tables to certified clusters.

For each set and split: candidate pairs are the k nearest records by trigrams of the whole
record; a logistic measure on binned similarities of fields is learned from the candidate pairs of
one half of the entities (and as many random pairs); the records of the other half are clustered
and compared, pair by pair, with the truth. Compared are

* connected components of the pairs above a threshold of probability, what is mostly done;
* the most probable equivalence relation, with unscored pairs at 0 bits, at -4 bits, at the
  log-odds that unscored pairs have in the training half ("learned"), and with every pair inside
  a component of positive pairs scored ("score_missing");
* for two clean sources, the same with at most one record per source and entity.

What `RecordLinker` and its peers do with the same sets is measured by `records.py`; this script
stays for what unscored pairs are worth.

    RELATUM_DATA=... python benchmarks/entity_resolution.py [--sets cora abt_buy] [--splits 3]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _machine import machine
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors

import relatum as rt

RESULTS = Path(__file__).parent / "results"
THRESHOLDS = (0.5, 0.8, 0.9, 0.95)
LEVELS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.85, 0.95, 0.999)
MOST_MORE = 20_000
STRENGTHS = (0.1, 1.0, 10.0, 50.0)
RATIOS = (0.02, 0.1, 0.3, 0.7)
SETS = {
    "cora_k50": ("cora", 50),
    "cora_k10": ("cora", 10),
    "abt_buy": ("abt_buy", 10),
    "fodors_zagat": ("fodors_zagat", 10),
    "febrl1": ("febrl1", 10),
    "febrl2": ("febrl2", 10),
    "febrl3": ("febrl3", 10),
}


# --- raw records -------------------------------------------------------------------------------


def read(path):
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return [
            {k.strip(): (v or "").strip() for k, v in row.items() if k and k.strip()}
            for row in csv.DictReader(file)
        ]


def codes(text):
    """Words with a digit, without punctuation: model numbers and the like."""
    words = re.findall(r"[\w/.-]*\d[\w/.-]*", text)
    return " ".join(w for w in (re.sub(r"[\W_]", "", w) for w in words) if len(w) > 2)


def load(folder, name):
    """Return records, entities, sources (or None), text fields and number fields."""
    if name == "cora":
        records = read(folder / "cora" / "records.csv")
        entity = [row["entity"] for row in read(folder / "cora" / "entities.csv")]
        return records, entity, None, [k for k in records[0] if k != "Entity Id"], []
    if name.startswith("febrl"):
        records = read(folder / "febrl" / f"dataset{name[-1]}.csv")
        entity = [row.pop("rec_id").split("-")[1] for row in records]
        return records, entity, None, list(records[0]), []
    if name == "fodors_zagat":
        records = read(folder / name / "records.csv")
        entity = [row["entity"] for row in read(folder / name / "entities.csv")]
        for row in records:
            row["digits"] = re.sub(r"\D", "", row["phone"])
        # one guide writes telephone numbers as 310/246-1501, the other as 310-246-1501
        source = [int("/" not in row["phone"]) for row in records]
        return records, entity, source, ["name", "addr", "digits", "city", "type"], []
    sides = [read(folder / name / f"{s}.csv") for s in "ab"]
    records = [*sides[0], *sides[1]]
    number = {(s, row["id"]): k for s, side in enumerate(sides) for k, row in enumerate(side)}
    entity = list(range(len(records)))
    for row in read(folder / name / "matches.csv"):
        a, b = number[0, row["a_id"]], number[1, row["b_id"]] + len(sides[0])
        entity[b] = entity[a]
    for row in records:
        row["codes"] = codes(row["name"] + " " + row["description"])
        row["price"] = re.sub(r"[^\d.]", "", row["price"])
    source = [0] * len(sides[0]) + [1] * len(sides[1])
    return records, entity, source, ["name", "description", "codes"], ["price"]


# --- comparison features -----------------------------------------------------------------------


def vectors(texts, analyzer, size):
    if analyzer == "word":
        maker = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True)
    else:
        maker = TfidfVectorizer(analyzer=analyzer, ngram_range=size, sublinear_tf=True)
    try:
        return maker.fit_transform(texts).tocsr()
    except ValueError:  # no words at all
        return sparse.csr_matrix((len(texts), 1))


class Comparison:
    """Binned similarities of the fields of two records; missing values have columns of their own.

    Each similarity becomes one 01-column per level that it reaches (a thermometer), so that the
    log-odds are a step function of it, learned from data.
    """

    def __init__(self, records, texts, numbers):
        self.tables, self.given = [], []
        columns = [[row[f].lower() for row in records] for f in texts]
        columns.append([" ".join(row[f] for f in texts).lower() for row in records])
        for column in columns:
            self.given.append(np.array([bool(t) for t in column]))
            self.tables.append((vectors(column, "char_wb", (2, 3)), vectors(column, "word", None)))
        self.numbers = [np.array([float(row[f] or "nan") for row in records]) for f in numbers]
        self.whole = self.tables[-1][0]

    def __call__(self, i, j):
        parts = []
        for given, tables in zip(self.given, self.tables, strict=True):
            both = given[i] & given[j]
            parts += [both, ~given[i] & ~given[j]]
            for table in tables:
                like = np.asarray(table[i].multiply(table[j]).sum(axis=1)).ravel()
                parts += [both & (like >= level) for level in LEVELS]
        for values in self.numbers:
            a, b = values[i], values[j]
            ratio = np.abs(np.log(np.maximum(a, 0.01) / np.maximum(b, 0.01)))
            parts += [np.isfinite(ratio), *[ratio <= level for level in RATIOS]]
        return np.column_stack(parts).astype(np.int8)


def block(table, records, k, source):
    """Candidate pairs: each record and its k nearest, of the other source if there are two."""
    sides = [(records, records)]
    if source is not None:
        a, b = (records[source[records] == s] for s in (0, 1))
        sides = [(a, b), (b, a)]
    found = []
    for asking, asked in sides:
        near = NearestNeighbors(n_neighbors=min(k + 1, len(asked)), metric="cosine")
        hits = near.fit(table[asked]).kneighbors(table[asking], return_distance=False)
        if source is not None:
            hits = hits[:, :k]
        found.append(np.column_stack([np.repeat(asking, hits.shape[1]), asked[hits.ravel()]]))
    pairs = np.sort(np.concatenate(found), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


# --- clusters ----------------------------------------------------------------------------------


def components(n, pairs):
    graph = sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (n, n))
    return connected_components(graph, directed=False)[1]


def inside(labels):
    """All pairs of elements with the same label."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    pairs = [np.sort(p)[np.column_stack(np.triu_indices(len(p), 1))] for p in parts if len(p) > 1]
    return np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)


def most_probable(n, pairs, bits, background, groups, limit):
    feasible = rt.EQUIVALENCES
    if groups is not None:
        feasible = feasible & rt.one_per_group(groups)
    problem = rt.Problem.from_pairs(*pairs.T, bits, n=n, background=background, feasible=feasible)
    start = time.process_time()
    found = rt.infer(problem, prove=True, time_limit=limit)
    assert rt.verify(problem, found)
    seconds = time.process_time() - start
    return found.relation.labels, {"gap": found.gap, "value": found.value, "seconds": seconds}


def learn(compare, entity, pairs):
    """Fit the logistic measure to labelled pairs, with the prior that does best on entities unseen.

    A half of the labelled entities judges the measures that the other half gives.
    """
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    x = compare(*pairs.T)
    y = (entity[pairs[:, 0]] == entity[pairs[:, 1]]).astype(int)
    side = np.random.default_rng(0).random(entity.max() + 1) < 0.5
    first, second = (np.flatnonzero((side[entity[pairs]] == s).all(axis=1)) for s in (True, False))
    losses = []
    for strength in STRENGTHS:
        trial = rt.LogisticMeasure(strength, fit_intercept=True, tol=1e-3)
        bits = trial.fit(x[first], y[first]).log_odds(x[second])
        losses.append(np.logaddexp2(0, np.where(y[second] == 1, -bits, bits)).mean())
    best = STRENGTHS[int(np.argmin(losses))]
    return rt.LogisticMeasure(best, fit_intercept=True, max_epochs=500).fit(x, y)


def learned_background(pairs, bits, entity):
    """Return the log-odds of unscored pairs that a third record links, counted on labels."""
    import pyarrow as pa

    columns = {"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1], "match_weight": bits}
    labels = {int(k): int(entity[k]) for k in np.unique(pairs)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # block recall is told in the table
        found = rt.cluster_pairs(pa.table(columns), background="learned", labels=labels)
    return found.summary.background


def scored(data, k, seed):
    """Learn on one half of the entities; return the other half, and what it is scored by."""
    records, entity, source, texts, numbers = data
    compare = Comparison(records, texts, numbers)
    _, entity = np.unique(entity, return_inverse=True)
    source = None if source is None else np.array(source)
    half = np.random.default_rng(seed).permutation(entity.max() + 1) < (entity.max() + 1) // 2
    train, test = np.flatnonzero(half[entity]), np.flatnonzero(~half[entity])
    rng = np.random.default_rng([seed, 1])

    pairs = block(compare.whole, train, k, source)
    related = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    others = rng.choice(train, size=(len(pairs), 2))
    others = others[others[:, 0] != others[:, 1]]
    measure = learn(compare, entity, np.concatenate([pairs, others]))
    # the pairs that score_missing will ask for are of another kind: learn from such, too
    bits = measure.log_odds(compare(*pairs.T))
    more = inside(components(len(entity), pairs[bits > 0]))
    more = rng.permutation(more)[:MOST_MORE]
    measure = learn(compare, entity, np.concatenate([pairs, others, more]))
    out = {
        "block_recall_training": float(related.sum() / count_pairs(entity[train])),
        "learned_background": learned_background(
            pairs, measure.log_odds(compare(*pairs.T)), entity
        ),
        "inverse_sigma_squared": measure.inverse_sigma_squared,
    }
    place = np.full(len(entity), -1)
    place[test] = np.arange(len(test))
    candidates = block(compare.whole, test, k, source)
    bits = measure.log_odds(compare(*candidates.T))
    truth, groups = entity[test], None if source is None else source[test]
    return test, place[candidates], bits, truth, groups, (measure, compare), out


def run(data, k, seed, limit):
    """Learn on one half of the entities, cluster the other."""
    test, pairs, bits, truth, groups, (measure, compare), told = scored(data, k, seed)
    n, learned = len(test), told["learned_background"]
    out = {
        "records": n,
        "pairs": len(pairs),
        "block_recall": float(
            (truth[pairs[:, 0]] == truth[pairs[:, 1]]).sum() / count_pairs(truth)
        ),
        **told,
        "f1": {},
        "search": {},
    }
    p = 1 / (1 + 2.0**-bits)
    for t in THRESHOLDS:
        out["f1"][f"components_{t}"] = f1(truth, components(n, pairs[p > t]))
    extra, extra_bits = missing(
        pairs, bits, n, test, groups, lambda i, j: measure.log_odds(compare(i, j))
    )
    full, full_bits = np.concatenate([pairs, extra]), np.append(bits, extra_bits)
    variants = {
        "background_0": (pairs, bits, 0.0, None),
        "background_-4": (pairs, bits, -4.0, None),
        "background_learned": (pairs, bits, learned, None),
        "score_missing": (full, full_bits, 0.0, None),
    }
    if groups is not None:
        variants["one_per_source"] = (pairs, bits, learned, groups)
    for name, (listed, values, background, known) in variants.items():
        labels, out["search"][name] = most_probable(n, listed, values, background, known, limit)
        out["f1"][name] = f1(truth, labels)
    return out


def missing(pairs, bits, n, test, groups, score):
    """Score every pair inside a component of positive pairs that was no candidate."""
    every = inside(components(n, pairs[bits > 0]))
    new = every[~np.isin(every @ [n, 1], pairs @ [n, 1])]
    values = [
        score(*test[part].T) for part in np.array_split(new, len(new) // 100_000 + 1) if len(part)
    ]
    return new, np.concatenate([np.empty(0), *values])


def count_pairs(labels):
    sizes = np.unique(labels, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def f1(truth, labels):
    return float(rt.metrics.pair_precision_recall_f1(truth, labels)[2])


# --- table -------------------------------------------------------------------------------------


def summarise(runs):
    out = {}
    for key in ("block_recall", "block_recall_training", "learned_background", "records", "pairs"):
        out[key] = float(np.mean([r[key] for r in runs]))
    for key in ("f1", "search"):
        names = runs[0][key]
        if key == "f1":
            out[key] = {m: float(np.mean([r[key][m] for r in runs])) for m in names}
            out["spread"] = {m: float(np.ptp([r[key][m] for r in runs])) for m in names}
        else:
            out["largest_gap"] = {m: max(r[key][m]["gap"] for r in runs) for m in names}
    return out


def show(results):
    names = []
    for entry in results["sets"].values():
        names += [m for m in entry["mean"]["f1"] if m not in names]
    print(f"{'':20}" + "".join(f"{name:>14}" for name in results["sets"]))
    for m in names:
        cells = [e["mean"]["f1"].get(m) for e in results["sets"].values()]
        print(f"{m:20}" + "".join(f"{'' if c is None else f'{c:.3f}':>14}" for c in cells))
    cells = [e["mean"]["block_recall"] for e in results["sets"].values()]
    print(f"{'block recall':20}" + "".join(f"{c:14.3f}" for c in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each proof")
    parser.add_argument("--output", type=Path, default=RESULTS / "entity_resolution.json")
    options = parser.parse_args()
    folder = Path(options.data) / "er"
    if not folder.is_dir():
        print(f"skipped: there are no records in {folder}; name their folder by RELATUM_DATA")
        return 0
    results = {"sets": {}}
    if options.output.is_file():
        results = json.loads(options.output.read_text())
    results["machine"] = machine("scikit-learn")
    for name in options.sets:
        source, k = SETS[name]
        data = load(folder, source)
        runs = [run(data, k, seed, options.limit) for seed in range(options.splits)]
        results["sets"][name] = {"k": k, "mean": summarise(runs), "runs": runs}
        options.output.write_text(json.dumps(results, indent=1) + "\n")
        show({"sets": {name: results["sets"][name]}})
        print([r["inverse_sigma_squared"] for r in runs], flush=True)
    results["sets"] = {name: results["sets"][name] for name in SETS if name in results["sets"]}
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
