"""Bounds of dense clusterings of 10,000 images: the packing, and blocks of a design.

Scores of all pairs of the MNIST test images, by three measures learned on training images:
a weighted distance of principal components (``metric``: a quarter of the pairs of different
digits are scored as the same), the same of linear discriminants (``discriminants``), and those of
`partition_large.py`, with noise of their own size (``noise``). The default's bound is the packing;
with ``prove=True`` what is left of the time goes into blocks. Time limits count processor time,
halved for the threads that bound blocks, as two free cores would take it. Bounds are checked by
`relatum.verify`, outside the time. Each run is a process of its own; rows measured before are kept.

    RELATUM_DATA=folder python benchmarks/partition_blocks.py [--cases metric] [--limits 0 120]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from _machine import machine
from partition_large import mnist, mnist_scores

RESULTS = Path(__file__).parent / "results" / "partition_blocks.json"
CASES = ("metric", "discriminants", "noise")
THREADS = 2


def learned_scores(folder, discriminants):
    """Return log-odds of all pairs of test images, by a logistic model of two places."""
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    x, y = mnist(folder, "train")
    test, _ = mnist(folder, "t10k")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(x))[:20_000]
    x, y = x[rows], y[rows]
    places = PCA(60 if discriminants else 40, svd_solver="covariance_eigh").fit(x)
    z, zt = places.transform(x), places.transform(test)
    if discriminants:
        half = len(x) // 2
        lda = LinearDiscriminantAnalysis().fit(z[:half], y[:half])
        z, zt, y = lda.transform(z[half:]), lda.transform(zt), y[half:]
    a, b = rng.integers(0, len(z), 400_000), rng.integers(0, len(z), 400_000)
    same = y[a] == y[b]
    kept = same | (rng.random(len(a)) < 1 / 9)  # as many of one digit as of two
    a, b, same = a[kept], b[kept], same[kept]
    unit = 1.0 if discriminants else 10.0
    features = np.hstack([(z[a] - z[b]) ** 2, z[a] * z[b]]) / unit
    fit = LogisticRegression(max_iter=200).fit(features, same)
    apart, along = np.split((fit.coef_[0] / unit).astype(np.float32), 2)
    zt = zt.astype(np.float32)
    own = (zt**2) @ apart
    scores = own[:, None] + own[None, :] + (zt * (along - 2 * apart)) @ zt.T
    scores = (scores + np.float32(fit.intercept_[0])) / np.float32(np.log(2))
    scores = ((scores + scores.T) / 2).astype(np.float32)
    np.fill_diagonal(scores, 0)
    return scores


def shared_clock():
    """Return seconds of the processor, of which those of other threads count as shared."""
    main = time.pthread_getcpuclockid(threading.main_thread().ident)

    def clock():
        own = time.clock_gettime(main)
        return own + (time.process_time() - own) / THREADS

    return clock


def measure(case, limit, folder):
    """Infer in this process; return the rows of the default and of the proof."""
    import relatum as rt
    import relatum.inference
    from relatum.solvers.control import Control

    clock = shared_clock()
    relatum.inference.Control = functools.partial(Control, clock=clock)
    scores = mnist_scores(folder)[0] if case == "noise" else learned_scores(folder, case[0] == "d")
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    began = clock()
    e = rt.infer(problem, prove=limit > 0, time_limit=limit or 600.0)
    seconds = clock() - began
    trivial = float(np.maximum(scores, 0).sum(dtype=np.float64))
    row = {
        "case": case, "limit": limit, "value": e.value, "bound": e.bound, "seconds": seconds,
        "cpu_seconds": time.process_time(), "gap_percent": 100 * (e.bound - e.value) / e.value,
        "trivial_gap_percent": 100 * (trivial - e.value) / e.value,
        "sets": len(np.unique(e.relation.labels)),
        "rows": sum(len(c) for c in e.certificate.proof.cuts),
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip
    print(json.dumps(row), file=sys.stderr, flush=True)
    began = time.process_time()
    row["verified"] = bool(rt.verify(problem, e))
    return row | {"verify cpu_seconds": time.process_time() - began}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=CASES)
    parser.add_argument("--limits", type=float, nargs="*", default=[0.0, 120.0], help="0: default")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = Path(os.environ["RELATUM_DATA"]) / "mnist"
    if options.part:
        print(json.dumps(measure(options.part[0], float(options.part[1]), folder)))
        return
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": {}}
    for case in options.cases:
        for limit in options.limits:
            command = [sys.executable, __file__, "--part", case, str(limit)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            row = json.loads(done.stdout.splitlines()[-1])
            found["rows"][f"{case}, {'default' if not limit else f'{limit:g} s'}"] = row
            found["machine"] = machine()
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
            print(f"{case:14} limit {limit:g}: {row}", flush=True)


if __name__ == "__main__":
    main()
