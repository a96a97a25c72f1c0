"""Exact clusterings of 500 and 1,000 images with learned scores, now and by an earlier revision.

All pairs of random MNIST test images are scored by four measures: a weighted distance of
principal components (``metric``) and of linear discriminants (``discriminants``), both of
`partition_blocks.py`, and the paper's polynomials of degree 2, m = 16,384, learned from
250,000 pairs, as many of one digit as of two (``stratified``) or as they come (``unstratified``).
Each run is a process of its own, stopped by its processor time; every estimate is checked by
`relatum.verify`, outside the time. Rows measured before are kept, so the run can be made in parts.

    git worktree add ../before <revision>
    RELATUM_DATA=folder python benchmarks/partition_thousand.py [--before ../before/src]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from _machine import machine

RESULTS = Path(__file__).parent / "results" / "partition_thousand.json"
KINDS = ("metric", "discriminants", "stratified", "unstratified")
SIZES = (500, 1000)
POWER = 21  # base-2 logarithm of 1/sigma^2 of the paper's measures


def metric_instances(kind, folder, wanted):
    """Yield size, seed and the scores of all pairs of some test images."""
    from partition_blocks import learned_scores

    scores = learned_scores(folder, kind == "discriminants")
    for n, seed in wanted:
        chosen = np.sort(np.random.default_rng(seed).permutation(len(scores))[:n])
        yield n, seed, scores[np.ix_(chosen, chosen)][np.triu_indices(n, 1)]


def polynomial_instances(kind, folder, wanted):
    """Yield size, seed and the scores of all pairs of some test images, drawn as in the paper."""
    from relatum.datasets import load_images
    from relatum.reproduction.cells import Cells
    from relatum.reproduction.clustering import subset
    from relatum.reproduction.pairs import Pairs
    from relatum.reproduction.scores import Forms
    from relatum.reproduction.settings import FULL

    powers = {"pair_powers": (POWER,), "stratified_power": POWER, "unstratified_power": POWER}
    settings = replace(FULL, pairs=250_000, pair_epochs=1, **powers)
    train, test = load_images(folder)
    with tempfile.TemporaryDirectory() as cells:
        forms = Forms(Cells(Path(cells)), Pairs(settings, train, test))
        for n, seed in wanted:
            chosen = subset(test.labels, n, kind == "stratified", seed)
            yield n, seed, forms.log_odds(kind, chosen)


def prepare(kind, folder, scores, sizes, seeds):
    """Write the scores of instances of a kind, those that are not there."""
    scores.mkdir(parents=True, exist_ok=True)
    wanted = [(n, seed) for n in sizes for seed in seeds]
    wanted = [w for w in wanted if not (scores / f"{kind}_{w[0]}_{w[1]}.npy").exists()]
    make = polynomial_instances if kind.endswith("stratified") else metric_instances
    for n, seed, values in make(kind, folder, wanted) if wanted else ():
        np.save(scores / f"{kind}_{n}_{seed}.npy", values)


def measure(path, limit):
    """Solve and verify one instance in this process."""
    import relatum as rt
    import relatum.inference
    from relatum.solvers.control import Control

    relatum.inference.Control = functools.partial(Control, clock=time.process_time)
    scores = np.load(path)
    warm = rt.Problem(scores[: 60 * 59 // 2], rt.EQUIVALENCES)
    rt.infer(warm, prove=True, time_limit=10.0)  # loads all modules
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    before = time.process_time()
    e = rt.infer(problem, prove=True, time_limit=limit)
    row = {
        "n": problem.n, "status": e.status.name, "value": e.value, "gap": e.gap,
        "gap_percent": 100 * e.gap / e.value, "cpu_seconds": time.process_time() - before,
        "limit": limit, "rounds": e.stats.get("rounds"), "nodes": e.stats.get("nodes"),
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }  # fmt: skip
    before = time.process_time()
    row["verified"] = bool(rt.verify(problem, e))
    return row | {"verify cpu_seconds": time.process_time() - before}


def run(path, limit, source):
    """Measure an instance with the sources of a revision."""
    command = [sys.executable, __file__, "--one", str(path), str(limit)]
    environment = os.environ | ({"PYTHONPATH": str(source)} if source else {})
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--limit", type=float, default=300.0, help="processor seconds")
    parser.add_argument("--before", type=Path, help="sources of an earlier revision")
    parser.add_argument("--before-limit", type=float, default=300.0)
    parser.add_argument("--before-only", action="store_true", help="measure nothing else anew")
    parser.add_argument("--scores", type=Path, default=Path(tempfile.gettempdir()) / "thousand")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], float(options.one[1]))))
        return
    if not os.environ.get("RELATUM_DATA"):
        print("Set RELATUM_DATA to the benchmark data folder; nothing was run.")
        return
    folder = Path(os.environ["RELATUM_DATA"]) / "mnist"
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": {}}
    for kind in options.kinds:
        prepare(kind, folder, options.scores, options.sizes, options.seeds)
        for n in options.sizes:
            for seed in options.seeds:
                revisions = {} if options.before_only else {"now": (options.limit, None)}
                if options.before:
                    revisions["before"] = (options.before_limit, options.before.resolve())
                for name, (limit, source) in revisions.items():
                    path = options.scores / f"{kind}_{n}_{seed}.npy"
                    row = run(path, limit, source)
                    found["rows"][f"{kind}, {n}, {seed}, {name}"] = row
                    found["machine"] = machine()
                    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
                    print(f"{kind:13} {n:5} {seed} {name:6} {row}", flush=True)


if __name__ == "__main__":
    main()
