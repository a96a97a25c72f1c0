"""Large clusterings: time, peak memory and value, each case in a process of its own.

Dense: 10,000 MNIST test images, all pairs scored by a bilinear model (quadratics of principal
components, discriminants), against a full Kernighan-Lin run. Sparse: a segmentation of
20,250 superpixels, signed networks, and a planted instance of 10^6 elements and 10^7 pairs.
Bounds are checked by `relatum.verify`, outside the time. Cases measured before are kept, so
the run can be made in parts.

    RELATUM_DATA=folder python benchmarks/partition_large.py [--cases dense cremi ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from _machine import machine

import relatum as rt
from relatum.io import read_multicut, read_signed_graph

RESULTS = Path(__file__).parent / "results"
NETWORKS = ("bitcoinotc", "slashdot-small", "wikielections")
CASES = ("dense", "cremi", *NETWORKS, "planted")
REPEATS = 2  # the first run loads modules and data into caches


def mnist(folder, name):
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz") as file:
        return x.astype(np.float32) / 255, np.frombuffer(file.read(), np.uint8, offset=8)


def mnist_scores(folder):
    """Log-odds of all pairs of test images: a logistic fit of distances of discriminants."""
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    x, y = mnist(folder, "train")
    test, truth = mnist(folder, "t10k")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(x))[:20_000]
    x, y = x[rows], y[rows]
    pca = PCA(30, random_state=0).fit(x)
    upper = np.triu_indices(30)

    def lift(v):
        z = pca.transform(v)
        return np.hstack([z, z[:, upper[0]] * z[:, upper[1]]])

    half = len(x) // 2
    lda = LinearDiscriminantAnalysis().fit(lift(x[:half]), y[:half])
    z, zt = lda.transform(lift(x[half:])), lda.transform(lift(test))
    a, b = rng.integers(0, len(z), (2, 200_000))
    distance = ((z[a] - z[b]) ** 2).sum(axis=1)
    fit = LogisticRegression().fit(np.sqrt(distance)[:, None], y[half:][a] == y[half:][b])
    square = (zt**2).sum(axis=1)
    far = np.maximum(square[:, None] + square[None, :] - 2 * zt @ zt.T, 0)
    far = np.sqrt((far + far.T) / 2)
    scores = (fit.coef_[0, 0] * far + fit.intercept_[0]) / np.log(2)
    # noise of the size of the scores: the raw ones are too easy to tell heuristics apart
    noise = rng.normal(size=scores.shape).astype(np.float32) * 6
    scores = scores.astype(np.float32) + np.triu(noise, 1) + np.triu(noise, 1).T
    np.fill_diagonal(scores, 0)
    return scores, truth


def planted(n=1_000_000, pairs=10_000_000, size=20, seed=0):
    """Plant sets of 20; half of the listed pairs lie inside sets; noisy scores."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) // size
    a = rng.integers(0, n, int(pairs * 1.35))
    b = rng.integers(0, n, len(a))
    inside = rng.random(len(a)) < 0.5
    b[inside] = truth[a[inside]] * size + rng.integers(0, size, int(inside.sum()))
    key = np.unique(np.minimum(a, b) * n + np.maximum(a, b))
    key = key[key // n != key % n]
    key = np.sort(rng.permutation(key)[:pairs])
    i, j = key // n, key % n
    mean = np.where(truth[i] == truth[j], 2.0, -2.0)
    return i, j, (mean + rng.normal(size=len(i)) * 2.0).astype(np.float32), n, truth


def problem_of(case, folder):
    """Problem, and the partition it was made from, if any."""
    if case == "dense":
        scores, truth = mnist_scores(folder / "mnist")
        return rt.Problem(scores, rt.EQUIVALENCES), truth
    if case == "planted":
        i, j, c, n, truth = planted()
        p = rt.Problem.from_pairs(i, j, c, n=n, background=-0.1, feasible=rt.EQUIVALENCES)
        return p, truth
    if case == "cremi":
        listed = read_multicut(folder / "multicut" / "CREMI-C_full.txt.gz")[0]
    else:
        listed = read_signed_graph(folder / "signed" / f"{case}.txt.gz")
    p = rt.Problem.from_pairs(
        listed.i, listed.j, listed.log_odds, n=listed.n, feasible=rt.EQUIVALENCES
    )
    return p, None


def peak_mebibytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(case, solver, folder):
    problem, truth = problem_of(case, folder)
    before = peak_mebibytes()
    row = {"case": case, "solver": solver, "n": problem.n, "pairs": len(problem.log_odds)}
    if problem.log_odds.ndim == 2:
        row["pairs"] = problem.n_pairs
    long = case == "planted" or (case == "dense" and solver == "kernighan_lin")
    for repeat in range(1 if long else REPEATS):
        begin, cpu = perf_counter(), process_time()
        e = rt.infer(problem, solver=solver, time_limit=600.0)
        last = repeat or long
        row["seconds" if last else "seconds of the first run"] = round(perf_counter() - begin, 2)
        row["cpu_seconds"] = round(process_time() - cpu, 2)
    row |= {
        "value": e.value,
        "bound": e.bound,
        "stopped": e.stats["stopped"],
        "sets": e.relation.n_sets,
        "peak MiB": round(peak_mebibytes()),
        "peak MiB of the problem": round(before),
    }
    if solver == "partition_local_search" and case != "planted":
        begin = process_time()
        row["verified"] = bool(rt.verify(problem, e))
        row["verify cpu_seconds"] = round(process_time() - begin, 2)
    if truth is not None:
        row["value of truth"] = problem.value(rt.Partition(truth))
        row["rand index"] = rand_index(e.relation.labels, truth)
    return row


def rand_index(a, b):
    n = len(a)
    both = np.unique(a.astype(np.int64) * (int(b.max()) + 1) + b, return_counts=True)[1]

    def pairs(counts):
        counts = counts.astype(np.float64)
        return float((counts * (counts - 1) / 2).sum())

    joint, first, second = pairs(both), pairs(np.bincount(a)), pairs(np.bincount(b))
    total = n * (n - 1) / 2
    return (total + 2 * joint - first - second) / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=CASES)
    parser.add_argument("--one", nargs=2, metavar=("CASE", "SOLVER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA")
    if not folder or not Path(folder).is_dir():
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    if options.one:
        print(json.dumps(measure(*options.one, Path(folder))))
        return
    output = RESULTS / "partition_large.json"
    RESULTS.mkdir(exist_ok=True)
    rows = json.loads(output.read_text())["rows"] if output.exists() else []
    for case in options.cases:
        solvers = ["partition_local_search", "greedy_contraction", "kernighan_lin"]
        if case == "dense":
            solvers.remove("greedy_contraction")
        if case == "planted":
            solvers.remove("kernighan_lin")
        for solver in solvers:
            command = [sys.executable, __file__, "--one", case, solver]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{case} {solver} failed:\n{done.stderr[-2000:]}")
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            rows = [r for r in rows if (r["case"], r["solver"]) != (case, solver)] + [row]
            output.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
            print(
                f"{case:15s} {solver:24s} n {row['n']:8d} pairs {row['pairs']:9d} "
                f"{row['seconds']:8.2f} s (cpu {row['cpu_seconds']:7.2f}) "
                f"{row['peak MiB']:6d} MiB value {row['value']:.6g} "
                f"bound {row['bound']:.6g} sets {row['sets']} verified {row.get('verified')}",
                flush=True,
            )


if __name__ == "__main__":
    main()
