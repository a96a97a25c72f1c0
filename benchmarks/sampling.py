"""Probabilities by sampling: against exact ones, a plain sampler, and two seeds with each other.

    RELATUM_DATA=... python benchmarks/sampling.py [--parts coverage seeds] [--first 1000]

"coverage": 200 problems of 10 to 16 elements, clusterings (all pairs scored, listed pairs with a
background, evidence, caps, groups) and linear orders with and without evidence, sampled and summed
over exactly. The method is what "auto" takes of up to 100 elements where sums are too large,
"tempering"; ``--method sampling`` measures chains that exchange nothing. Counted are open pairs
within one, two and four standard errors, the mean square in standard errors (1 if these are right),
and the same of log2 Z. How much errors are widened was chosen on the problems 0 to 199
(``--first 0``); those from 1000 on chose nothing.

"seeds": The plain sampler moves single elements of clusterings, in NumPy. Both start at the same
clustering, and are compared by effective draws of the value per processor second, which is how
many times as long the plain one takes for as many: our walk alone, with a draw after every round,
and all that `probabilities` does, start and log2 Z included. On MNIST clusterings and LOLIB's
orders of 50 elements, whose scores are divided by their median size, differences of two seeds are
given in standard errors (mean square: 1 if these are right), and as they are; the method is
"auto".
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time

import numpy as np
from _orders import data_folder, lolib, save

import relatum as rt
from relatum.probability.exact.cluster_parts import parts_of
from relatum.probability.methods import Task
from relatum.probability.sampling.chains import effective, walk
from relatum.probability.sampling.cluster_walks import chains_of
from relatum.probability.sampling.neighbours import neighbours_of
from relatum.solvers import Control


def plain(scores, labels, sweeps, rng):
    """Return values after every sweep of a plain sampler."""
    labels, n, values = labels.copy(), len(labels), np.empty(sweeps)
    for k in range(sweeps):
        for v in rng.integers(0, n, n):
            labels[v] = n
            gain = np.bincount(labels, weights=scores[v], minlength=n + 1)[:n]
            sizes = np.bincount(labels, minlength=n + 1)[:n]
            free = np.flatnonzero(sizes == 0)
            gain[free[1:]] = -np.inf
            p = np.exp2(gain - gain.max())
            labels[v] = np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right")
        values[k] = scores[labels[:, None] == labels[None, :]].sum() / 2
    return values


def against_plain(problem, sweeps):
    """Return effective draws per processor second, of both."""
    start = rt.infer(problem).relation
    scores = problem.dense()
    scores = scores + scores.T
    begun = process_time()
    values = plain(scores, start.labels, sweeps, np.random.default_rng(0))
    theirs = effective(values[sweeps // 5 :].reshape(2, -1)) / (process_time() - begun)
    (part,) = parts_of(Task(problem))
    near = neighbours_of(part, problem)
    chains, sets = chains_of(near, start.labels, problem.n), len(start.sets())
    begun = process_time()
    walks = walk(chains, problem.n, 1600, (problem.n, sets // 2 + 2), (0,), Control())
    walked = effective(walks.values) / (process_time() - begun)
    begun = process_time()
    found = rt.probabilities(problem, time_limit=LONG)
    ours = found.diagnostics["effective draws of the value"] / (process_time() - begun)
    return {
        "plain": theirs,
        "walk": walked,
        "all": ours,
        "ratio of the walk": walked / theirs,
        "ratio of all": ours / theirs,
    }


def two_seeds(problem):
    """Return how far two seeds are apart."""
    first, other = (rt.probabilities(problem, seed=s, time_limit=LONG) for s in (0, 1))
    p, q, error = first.marginals, other.marginals, np.hypot(first.error, other.error)
    open_ = (p > 0.02) & (p < 0.98) & (error > 0)
    both = first.log2_normalizer, other.log2_normalizer
    apart = [d.diagnostics.get("error of log2 Z", np.nan) for d in (first, other)]
    square = float(np.mean(((p - q)[open_] / error[open_]) ** 2)) if open_.any() else 0.0
    return {
        "method": [first.method, other.method],
        "open pairs": int(open_.sum()),
        "mean square in errors": square,
        "largest difference": float(np.abs(p - q).max()),
        "largest in errors": float(np.abs((p - q)[open_] / error[open_]).max(initial=0.0)),
        "within 2": float((np.abs(p - q)[open_] < 2 * error[open_]).mean()) if open_.any() else 1.0,
        "log2 Z": [None if np.isnan(z) else z for z in both],
        "error of log2 Z": [None if np.isnan(e) else e for e in apart],
        "temperatures": first.diagnostics["temperatures"],
        "warnings": [first.diagnostics["warning"], other.diagnostics["warning"]],
    }


LONG = 600.0  # seconds: nothing is to depend on how busy the machine is
KINDS = ("plain", "listed", "evidence", "cap", "groups", "order", "order with evidence")


def small(kind, seed):
    """Return a made-up problem of 10 to 16 elements, at most 14 if a clustering."""
    rng = np.random.default_rng([seed, 41])
    scale = (0.7, 1.5, 3.0)[seed % 3]
    if kind.startswith("order"):
        n, known = int(rng.integers(10, 17)), []
        if kind != "order":
            place = rng.permutation(n)
            some = rng.integers(0, n, (n, 2)).tolist()
            known = [(a, b) for a, b in some if place[a] < place[b]]
        scores = scale * rng.normal(size=(n, n))
        return rt.Problem(scores, rt.LINEAR_ORDERS & rt.evidence(known))
    n = int(rng.integers(10, 15))
    i, j = np.triu_indices(n, 1)
    scores, feasible = scale * rng.normal(size=len(i)), rt.EQUIVALENCES
    if kind == "listed":
        kept = rng.random(len(i)) < 0.4
        given = i[kept], j[kept], scores[kept]
        return rt.Problem.from_pairs(*given, n=n, background=-0.5, feasible=feasible)
    if kind == "evidence":
        feasible = feasible & rt.evidence([(0, 1), (2, 3)], [(0, 4), (5, 6)])
    if kind == "cap":
        feasible = feasible & rt.at_most(4)
    if kind == "groups":
        feasible = feasible & rt.one_per_group(np.arange(n) // 2)
    return rt.Problem(scores, feasible)


def coverage(count, first, method):
    """Return how far sampled probabilities are from exact ones, in their standard errors."""
    rows = {kind: [] for kind in KINDS}
    for seed in range(first, first + count):
        kind = KINDS[seed % len(KINDS)]
        problem = small(kind, seed)
        truth = rt.probabilities(problem, method="exact")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = rt.probabilities(problem, method=method, draws=1600, seed=seed, time_limit=LONG)
        open_ = found.error > 0
        z = ((found.marginals - truth.marginals)[open_] / found.error[open_]).ravel()
        error = found.diagnostics.get("error of log2 Z", np.nan)
        off = (found.log2_normalizer - truth.log2_normalizer) / error
        rows[kind].append((z, off, error, bool(told)))
    return {kind: _covered(own) for kind, own in rows.items()} | {
        "all": _covered([row for own in rows.values() for row in own])
    }


def _covered(rows):
    z = np.concatenate([row[0] for row in rows])
    off, error = (np.array([row[k] for row in rows]) for k in (1, 2))
    known = np.isfinite(off)
    return {
        "problems": len(rows),
        "pairs": len(z),
        "within 1": float((np.abs(z) < 1).mean()),
        "within 2": float((np.abs(z) < 2).mean()),
        "within 4": float((np.abs(z) < 4).mean()),
        "beyond 4": int((np.abs(z) >= 4).sum()),
        "largest": float(np.abs(z).max()),
        "mean square": float((z**2).mean()),
        "log2 Z found": int(known.sum()),
        "log2 Z within 2": float((np.abs(off[known]) < 2).mean()),
        "log2 Z within 4": float((np.abs(off[known]) < 4).mean()),
        "log2 Z, largest": float(np.abs(off[known]).max()),
        "log2 Z, median error": float(np.median(error[known])),
        "warnings": sum(row[3] for row in rows),
    }


def seeds(folder, results):
    for name in ("strat_n100_0", "strat_n300_0", "unstrat_n300_0"):
        with np.load(folder / "mnist-clustering" / f"{name}.npz") as file:
            problem = rt.Problem(file["costs"].astype(float), rt.EQUIVALENCES)
        results[name] = two_seeds(problem)
        results[name].update(against_plain(problem, 60_000 // problem.n))
        print(name, results[name], flush=True)
    some = (m for m in lolib(folder, "IO") if len(m[1]) == 50)
    for instance, scores, *_ in list(some)[:3]:
        size = float(np.median(np.abs(scores - scores.T)[~np.eye(len(scores), dtype=bool)]))
        results[instance] = two_seeds(rt.Problem(scores / max(1.0, size), rt.LINEAR_ORDERS))
        print(instance, results[instance], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="*", default=["coverage", "seeds"])
    parser.add_argument("--count", type=int, default=200, help="problems of coverage")
    parser.add_argument("--first", type=int, default=1000, help="the first of them")
    parser.add_argument("--method", default="tempering", help="of coverage")
    options = parser.parse_args()
    results = {"method of coverage": options.method, "first": options.first}
    if "coverage" in options.parts:
        results["coverage"] = coverage(options.count, options.first, options.method)
        for kind, row in results["coverage"].items():
            print(kind, row, flush=True)
    if "seeds" in options.parts:
        seeds(data_folder(), results)
    save("sampling", results)


if __name__ == "__main__":
    main()
