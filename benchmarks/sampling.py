"""Probabilities by sampling: against a plain sampler, and two seeds against each other.

    RELATUM_DATA=... python benchmarks/sampling.py

The plain sampler moves single elements of clusterings, in NumPy. Both start at the same
clustering, and are compared by effective draws of the value per processor second: our walk alone,
with a draw after every round, and all that `probabilities` does, start and log2 Z included. On
MNIST clusterings and LOLIB's orders of 50 elements, whose scores are divided by their median size,
differences of two seeds are given in standard errors (mean square: 1 if these are right), and as
they are.
"""

from __future__ import annotations

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
    found = rt.probabilities(problem, method="sampling")
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
    first, other = (rt.probabilities(problem, method="sampling", seed=s) for s in (0, 1))
    p, q, error = first.marginals, other.marginals, np.hypot(first.error, other.error)
    open_ = (p > 0.02) & (p < 0.98) & (error > 0)
    both = first.log2_normalizer, other.log2_normalizer
    square = float(np.mean(((p - q)[open_] / error[open_]) ** 2)) if open_.any() else 0.0
    return {
        "open pairs": int(open_.sum()),
        "mean square in errors": square,
        "largest difference": float(np.abs(p - q).max()),
        "log2 Z": [None if np.isnan(z) else z for z in both],
        "error of log2 Z": first.diagnostics.get("error of log2 Z"),
        "warnings": [first.diagnostics["warning"], other.diagnostics["warning"]],
    }


def main():
    folder, results = data_folder(), {}
    for name in ("strat_n100_0", "strat_n300_0"):
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
    save("sampling", results)


if __name__ == "__main__":
    main()
