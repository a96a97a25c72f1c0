"""The review: from an answer to a new picture, opening a large table, and answers until F1 is .99.

"picture": components of 10 to 500 records; half of the answers contradict the clusters, so that
they are solved again. Milliseconds of the clock and of the processor, median and largest, from the
answer (written to the disk) to the next question about the component and both pictures.

"opening": planted entities, 10^6 records and their pairs in files: seconds, of the clock and of all
processors, until the table is clustered, the session is open, the overview is drawn, a record is
found, the first question is there, and a component is drawn.

"answers": right answers until pairwise F1 is .99, looked at every ten; the review's questions
beside those nearest 0 bits, which is dedupe's rule: the pair whose probability is nearest 1/2 by
its score. Answers count the same for both. Scores are those of ``calibration.py``: learned from one
half of the entities, pairs of the other half.

    RELATUM_DATA=... python benchmarks/review.py [--parts picture opening answers] [--splits 3]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from _machine import machine
from calibration import halves
from pyarrow import csv, parquet

import relatum as rt
from relatum.pair_tables import learn_offset
from relatum.pair_tables.scoring import pairwise_f1
from relatum.review import Session, corrections
from relatum.review.catalogue import Filter
from relatum.review.web import views
from relatum.review.web.drawing import extract, graph, matrix
from relatum.solvers.reductions import connected

RESULTS = Path(__file__).parent / "results"
SETS = ("abt_buy_thin", "abt_buy", "fodors_zagat", "febrl3", "cora")
SIZES = (10, 20, 50, 100, 200, 500)
WAYS = ("review", "review, clusters", "dedupe", "nearest")
GOAL, EVERY = 0.99, 10


def planted(n, seed, density):
    """Return pairs of one component of n records of about six an entity."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, max(2, n // 6), n)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(truth[i] == truth[j], 0.9, density)
    i, j = i[keep], j[keep]
    bits = np.where(truth[i] == truth[j], 3.0, -3.0) + rng.normal(0, 2.5, len(i))
    chain = np.arange(n - 1)  # so that it is one component
    extra = pa.table(
        {
            "unique_id_l": chain,
            "unique_id_r": chain + 1,
            "match_weight": 0.1 + 0 * bits[:1].repeat(n - 1),
        }
    )
    table = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    listed = set(zip(i.tolist(), j.tolist(), strict=True))
    missing = np.array([(k, k + 1) not in listed for k in chain.tolist()])
    return pa.concat_tables([table, extra.filter(pa.array(missing))]), truth


def time_pictures(folder, answers):
    out = {}
    for n in SIZES:
        for density in (0.1, 1.0):
            pairs, truth = planted(n, 0, density)
            file = folder / f"answers-{n}-{density}.csv"
            session = Session(rt.cluster_pairs(pairs), answers=file)
            root = session.root(0)
            session.solved(root)
            wall, spent, rng = [], [], np.random.default_rng(1)
            for k in range(answers):
                solved = session.solved(root)
                size = solved.base.n
                a, b = rng.choice(size, 2, replace=False).tolist()
                e, f = int(solved.base.elements[a]), int(solved.base.elements[b])
                same = (
                    bool(truth[e] == truth[f])
                    if k % 2
                    else bool(solved.labels[a] != solved.labels[b])
                )
                begin = time.perf_counter(), time.process_time()
                session.answer(e, f, same)
                session.question(root)
                drawn = extract(session.solved(root))
                picture = matrix(drawn) + graph(drawn)
                wall.append(time.perf_counter() - begin[0])
                spent.append(time.process_time() - begin[1])
            told = {
                "records": session.solved(root).base.n,
                "pairs": pairs.num_rows,
                "wall_ms": [1e3 * float(np.median(wall)), 1e3 * max(wall)],
                "cpu_ms": [1e3 * float(np.median(spent)), 1e3 * max(spent)],
                "picture_kb": len(picture) / 1e3,
            }
            out[f"{n} {density}"] = told
            print(f"picture n={n} density={density}", {k: np.round(v, 1) for k, v in told.items()})
    return out


def large_table(folder, n):
    """Write pairs and records of n records; most entities have one to four."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, n)
    truth = np.repeat(np.arange(n), sizes)[:n]
    order = np.arange(n)
    left, right = [order[:-1]], [order[1:]]
    left.append(order[:-2])
    right.append(order[2:])
    left.append(rng.integers(0, n, n // 4))
    right.append((left[-1] + rng.integers(3, 1000, n // 4)) % n)
    i, j = np.concatenate(left), np.concatenate(right)
    keep = i != j
    i, j = np.minimum(i, j)[keep], np.maximum(i, j)[keep]
    keys = np.unique(i.astype(np.int64) * n + j)
    i, j = keys // n, keys % n
    bits = np.where(truth[i] == truth[j], 5.0, -6.0) + rng.normal(0, 2.5, len(i))
    parquet.write_table(
        pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits}),
        folder / "pairs.parquet",
    )
    names = pa.array([f"person {t}" for t in truth.tolist()])
    towns = pa.array([f"town {k}" for k in (truth % 997).tolist()])
    records = pa.table(
        {"unique_id": order, "name": names, "town": towns, "born": truth % 90 + 1920}
    )
    csv.write_csv(records, folder / "records.csv")
    return len(i)


def time_opening(folder, n):
    pairs = large_table(folder, n)
    out = {"records": n, "pairs": pairs}
    last = time.perf_counter(), time.process_time()

    def lap(name):
        nonlocal last
        now = time.perf_counter(), time.process_time()
        out[name] = {"wall": now[0] - last[0], "cpu": now[1] - last[1]}
        print(f"opening {name}: {out[name]['wall']:.2f} s, {out[name]['cpu']:.2f} of processor")
        last = time.perf_counter(), time.process_time()

    found = rt.cluster_pairs(folder / "pairs.parquet", confidence=True)
    lap("clustering")
    session = Session(found, records=folder / "records.csv", answers=folder / "answers.csv")
    lap("session")
    views.overview(session, {})
    lap("overview")
    session.catalogue.search("person 4711")
    lap("search")
    question = session.question()
    lap("first question")
    session.answer(question.a, question.b, True)
    session.question()
    lap("answer and next question")
    row = session.components(Filter(order="size"), 0, 1)[0][0]
    views.component(session, row.root, {})
    lap("component")
    return out


def labels_of(session):
    codes = session.origin.whole["cluster_id"].combine_chunks().dictionary_encode().indices
    labels = np.array(codes.to_numpy(zero_copy_only=False), dtype=np.int64)
    used = int(labels.max()) + 1
    for solved in session.touched():
        labels[solved.base.elements] = used + solved.labels
        used += solved.clusters
    return labels


def nearest(session, pairs, bits):
    """Yield listed pairs by how near 0 their scores are, but for what follows from answers."""
    for k in np.argsort(np.abs(bits), kind="stable").tolist():
        a, b = pairs[k].tolist()
        if session.ledger.says(a, b) is None:
            yield a, b


def by_target(session, pairs, bits):
    """Yield listed pairs as dedupe asks for them, but for what follows from answers.

    Next is the pair whose probability is nearest a target: the share of answers "different" at
    first, of which dedupe invents one, and of "same" four, and then 1/2, as both have come up.
    """
    p, open_ = 1 / (1 + np.exp2(-np.clip(bits, -60, 60))), np.ones(len(bits), bool)
    while open_.any():
        given = session.file.in_force()
        same = 4 + sum(answer.verdict == "same" for answer in given)
        count = 5 + len(given)
        weight = min(same, count - same)
        target = (0.5 * weight + 10 * (1 - same / count)) / (weight + 10)
        k = int(np.where(open_, np.abs(p - target), np.inf).argmin())
        open_[k] = False
        if session.ledger.says(*pairs[k].tolist()) is None:
            yield tuple(pairs[k].tolist())


def by_worth(session):
    """Yield what the review asks."""
    while (question := session.question()) is not None:
        yield question.a, question.b


def take(session, truth, pair, whole):
    """Answer as the truth is; if both clusters are of one entity, and `whole`, join them."""
    a, b = pair
    same = bool(truth[a] == truth[b])
    if whole and same:
        clusters = [views.cluster_of(session, e)[0] for e in pair]
        if len(set(truth[[*clusters[0], *clusters[1]]].tolist())) == 1 and a not in clusters[1]:
            session.act(corrections.join(*clusters), "join")
            return
    session.answer(a, b, same)


def ask(session, truth, how, most, pairs, bits):
    """Return answers until the goal, None if it is not reached, and F1 on the way."""
    ways = {"nearest": nearest, "dedupe": by_target}
    asked = ways[how](session, pairs, bits) if how in ways else by_worth(session)
    curve = []
    for count in range(most + 1):
        if count % EVERY == 0:
            curve.append(pairwise_f1(labels_of(session), truth))
            if curve[-1] >= GOAL:
                return count, curve
        pair = next(asked, None)
        if pair is None or count == most:
            break
        take(session, truth, pair, how == "review, clusters")
    curve.append(pairwise_f1(labels_of(session), truth))
    return (count if curve[-1] >= GOAL else None), curve


def ceilings(session, truth, pairs):
    """Return F1 if everything were answered that can be: within components, also near them, all.

    "near" is what the review asks about; "listed" what any rule that asks about scored pairs
    could, and what is missing there blocking has lost.
    """
    roots, near = np.asarray(session.origin.roots), session.queue.near
    matched = session.origin.groups is not None
    apart = truth[pairs[:, 0]] != truth[pairs[:, 1]]
    listed = pairs[~apart]
    i, j = np.triu_indices(len(truth), 1)
    same = truth[i] == truth[j]
    i, j = (listed[:, 0], listed[:, 1]) if matched else (i[same], j[same])
    hood = np.empty(len(truth), np.int64)
    beside = set()
    for k in range(len(near)):
        own = near.roots(k)
        if near.is_between(k):
            beside.add(tuple(own))
        else:
            hood[np.isin(roots, own)] = k
    ends = np.sort(np.column_stack([roots[i], roots[j]]), axis=1).tolist()
    askable = (hood[i] == hood[j]) | np.array([tuple(e) in beside for e in ends], bool)
    found = {
        "components": (i[roots[i] == roots[j]], j[roots[i] == roots[j]]),
        "near": (i[askable], j[askable]),
        "listed": (listed[:, 0], listed[:, 1]),
    }
    return {name: pairwise_f1(connected(len(truth), [ends]), truth) for name, ends in found.items()}


def count_answers(data, folder, name, seed, most, ways):
    train, (pairs, bits, truth, source) = halves(data, name, seed)
    learned = learn_offset(*train[0].T, *train[1:], background="learned")
    offset = 0.0 if source is None else learned.bits
    n = len(truth)
    alone = np.setdiff1d(np.arange(n), pairs)
    ids = [np.concatenate([pairs[:, k], alone]) for k in (0, 1)]
    scores = np.concatenate([bits + offset, 0 * alone])
    table = pa.table({"unique_id_l": ids[0], "unique_id_r": ids[1], "match_weight": scores})
    groups = None if source is None else dict(enumerate(np.asarray(source).tolist()))
    out = {}
    for how in ways:
        found = rt.cluster_pairs(table, background=learned.background, one_per_group=groups)
        session = Session(found, answers=folder / f"{name}-{seed}-{how}.csv")
        if "at best" not in out:
            out["at best"] = ceilings(session, truth, pairs)
        begin = time.process_time()
        count, curve = ask(session, truth, how, most, pairs, bits + offset)
        out[how] = {"answers": count, "f1": curve, "seconds": time.process_time() - begin}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("RELATUM_DATA", "data"))
    parts = ["picture", "opening", "answers"]
    parser.add_argument("--parts", nargs="*", default=parts, choices=parts)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=RESULTS / "review.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(options.output.read_text()) if options.output.exists() else {}
    results["machine"] = machine("duckdb", "pyarrow", "scikit-learn")

    def keep():
        options.output.write_text(json.dumps(results, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "picture" in options.parts:
            results["picture"] = time_pictures(folder, 20)
            keep()
        if "opening" in options.parts:
            results["opening"] = time_opening(folder, options.records)
            keep()
        data = Path(options.data) / "er"
        if "answers" in options.parts and not data.is_dir():
            print(f"skipped: there are no records in {data}; name their folder by RELATUM_DATA")
            return 0
        for own in options.sets if "answers" in options.parts else ():
            runs = []
            for seed in range(options.splits):
                runs.append(count_answers(data, folder, own, seed, options.most, options.ways))
                best = {k: round(v, 4) for k, v in runs[-1]["at best"].items()}
                print(f"{own:14} split {seed}: at best {best}", flush=True)
                for how in options.ways:
                    told = runs[-1][how]
                    first, last = round(told["f1"][0], 3), round(told["f1"][-1], 3)
                    print(f"  {how:16} {told['answers']} answers, F1 {first} -> {last}", flush=True)
            results.setdefault("answers", {})[own] = {"most": options.most, "runs": runs}
            keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())
