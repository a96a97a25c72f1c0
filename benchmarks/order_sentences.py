"""Order the words of 10,000 sentences exactly, from the rest of the sentences.

As in the paper: the Bernoulli measure counts, in all other sentences, how often one word
comes before another; the most probable order of a sentence's words is then found and
certified. One core. Times of counting and ordering are processor seconds.

    RELATUM_DATA=folder python benchmarks/order_sentences.py --sigma 2
"""

from __future__ import annotations

import argparse
import gzip
from time import perf_counter, process_time

import numpy as np
from _orders import data_folder, save

import relatum as rt


def kendall(order):
    """Return the share of the pairs that an order of 0 ... n - 1 turns round."""
    rank = np.argsort(order)
    i, j = np.triu_indices(len(order), 1)
    return float((rank[i] > rank[j]).mean())


def rate_with_evidence(bits, shown):
    """Order all sentences once more, told which words come first and last; return how fast."""
    problems = []
    for b, s in zip(bits, shown, strict=True):
        first, last = int(np.argmin(s)), int(np.argmax(s))
        rest = [k for k in range(len(s)) if k not in (first, last)]
        known = [(first, k) for k in rest] + [(k, last) for k in rest]
        problems.append(rt.Problem(b, rt.LINEAR_ORDERS & rt.evidence(related=known)))
    cpu = process_time()
    estimates = rt.infer_many(problems, n_jobs=1, prove=True)
    cpu = process_time() - cpu
    verified = sum(bool(rt.verify(p, e)) for p, e in zip(problems[:500], estimates, strict=False))
    return {
        "optimal": sum(e.status is rt.Status.OPTIMAL for e in estimates),
        "verified": verified, "of": min(500, len(problems)),
        "sentences_per_cpu_second": len(estimates) / cpu,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--sigma", type=float, default=2.0)
    parser.add_argument("--verify", type=int, default=10_000, help="how many to re-prove")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with gzip.open(data_folder() / "wikipedia" / "union_top3000.txt.gz", "rt") as file:
        lines = file.read().splitlines()
    rng = np.random.default_rng(args.seed)
    held_out = np.zeros(len(lines), dtype=bool)
    held_out[rng.choice(len(lines), args.sentences, replace=False)] = True
    encoded = rt.encode_sequences(lines)
    tokens = np.split(encoded.tokens, encoded.offsets[1:-1])
    rest = [t for t, out in zip(tokens, held_out, strict=True) if not out]
    flat = np.concatenate(rest)
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in rest])])
    rt.precedence_counts([0, 1], [0, 2], 2)  # load
    known = rt.LINEAR_ORDERS & rt.evidence(related=[(0, 1)])
    for feasible in (rt.LINEAR_ORDERS, known):  # load all; the large one is left to branch and cut
        warm = [rt.Problem(rng.normal(size=(n, n)), feasible) for n in (5, 5, 30)]
        rt.infer_many(warm, n_jobs=1, prove=True, time_limit=30)
    cpu = process_time()
    measure = rt.BernoulliMeasure(sigma=args.sigma)
    measure.fit_sequences(flat, offsets, len(encoded.words))
    counting = process_time() - cpu
    # words come to the solver sorted, so that it cannot profit from their true order
    true = [t for t, out in zip(tokens, held_out, strict=True) if out]
    shown = [np.argsort(t, kind="stable") for t in true]
    cpu = process_time()
    bits = [measure.pair_log_odds(t[s]) for t, s in zip(true, shown, strict=True)]
    problems = [rt.Problem(b, rt.LINEAR_ORDERS) for b in bits]
    scoring = process_time() - cpu
    began, cpu = perf_counter(), process_time()
    estimates = rt.infer_many(problems, n_jobs=1, prove=True)
    wall, cpu = perf_counter() - began, process_time() - cpu
    optimal = sum(e.status is rt.Status.OPTIMAL for e in estimates)
    began = perf_counter()
    verified = sum(
        bool(rt.verify(p, e))
        for p, e in zip(problems[: args.verify], estimates[: args.verify], strict=True)
    )
    checking = perf_counter() - began
    distance = float(
        np.mean([kendall(s[e.relation.order]) for s, e in zip(shown, estimates, strict=True)])
    )
    chance = float(np.mean([kendall(rng.permutation(len(t))) for t in true]))
    with_evidence = rate_with_evidence(bits, shown)
    results = {
        "sentences": len(estimates), "optimal": optimal, "verified": verified,
        "of": min(args.verify, len(estimates)), "verify_seconds": checking,
        "learned_from": len(rest), "counting_cpu_seconds": counting,
        "scoring_cpu_seconds": scoring, "ordering_cpu_seconds": cpu, "ordering_seconds": wall,
        "sentences_per_cpu_second": len(estimates) / cpu,
        "kendall_distance": distance, "kendall_distance_of_chance": chance,
        "sigma": args.sigma, "with_evidence": with_evidence,
    }  # fmt: skip
    for key, value in results.items():
        print(f"{key:28} {value}")
    save("order_sentences", results)


if __name__ == "__main__":
    main()
