"""Whether asking for a proof ever costs value: `prove=True` against the default, side by side.

Both have the same time and seed, in seconds of the processor, so that what else the machine does
decides nothing. Families: linear orders, clusterings of random and of planted scores, clusterings
of several components, listed pairs, weak orders, preorders, partial orders. Reported are both
values and both bounds; a proof's value should never be below, and the default's bound never trivial
where a proof's is not. Where it is below, both ways run three times more: what the clock ends is
not the same twice, and a proof is worse for sure only if it is so every time.

    python benchmarks/proving.py [--limits 0.5 2] [--only orders] [--seeds 1]
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path

import numpy as np
from _machine import machine

import relatum as rt
import relatum.inference
from relatum.solvers import Control, trivial_bound

TINY = 1e-12  # share of the value: rounding
RESULTS = Path(__file__).parent / "results" / "proving.json"


def random(feasible, n, seed=0):
    """Return a problem of random scores."""
    rng = np.random.default_rng([n, seed])
    return rt.Problem(rng.normal(size=(n, n)), feasible)


def planted(n, sets, noise):
    """Return a clustering of noisy scores."""
    rng = np.random.default_rng([n, sets])
    truth = rng.integers(0, sets, n)
    i, j = np.triu_indices(n, 1)
    scores = np.where(truth[i] == truth[j], 1.0, -1.0) + noise * rng.normal(size=len(i))
    return rt.Problem(scores, rt.EQUIVALENCES)


def components(sizes):
    """Return a clustering of random scores that falls into parts of these sizes."""
    rng = np.random.default_rng(sizes)
    n = sum(sizes)
    scores = np.full((n, n), -1.0)
    begin = 0
    for size in sizes:
        scores[begin : begin + size, begin : begin + size] = rng.normal(size=(size, size))
        begin += size
    return rt.Problem(scores, rt.EQUIVALENCES)


def listed(pairs, background, each=10):
    """Return a clustering of listed pairs."""
    rng = np.random.default_rng([pairs, each])
    n = pairs // each
    i, j = rng.integers(0, n, (2, pairs))
    key = np.unique(np.minimum(i, j)[i != j] * n + np.maximum(i, j)[i != j])
    scores = rng.normal(size=len(key), loc=0.2)
    return rt.Problem.from_pairs(
        key // n, key % n, scores, n=n, background=background, feasible=rt.EQUIVALENCES
    )


CASES = {
    "orders 60": lambda: random(rt.LINEAR_ORDERS, 60),
    "orders 111": lambda: random(rt.LINEAR_ORDERS, 111),
    "orders 111 b": lambda: random(rt.LINEAR_ORDERS, 111, 1),
    "orders 111 c": lambda: random(rt.LINEAR_ORDERS, 111, 2),
    "orders 150": lambda: random(rt.LINEAR_ORDERS, 150),
    "orders 250": lambda: random(rt.LINEAR_ORDERS, 250),
    "weak orders 60": lambda: random(rt.WEAK_ORDERS, 60),
    "preorders 60": lambda: random(rt.PREORDERS, 60),
    "preorders 150": lambda: random(rt.PREORDERS, 150),
    "partial orders 30": lambda: random(rt.PARTIAL_ORDERS, 30),
    "partial orders 60": lambda: random(rt.PARTIAL_ORDERS, 60),
    "partial orders 150": lambda: random(rt.PARTIAL_ORDERS, 150),
    "clusters 50": lambda: random(rt.EQUIVALENCES, 50),
    "clusters 100": lambda: random(rt.EQUIVALENCES, 100),
    "clusters 200": lambda: random(rt.EQUIVALENCES, 200),
    "clusters 300": lambda: random(rt.EQUIVALENCES, 300),
    "planted 100": lambda: planted(100, 6, 2.0),
    "planted 300": lambda: planted(300, 15, 3.0),
    "components 80 80 80": lambda: components((80, 80, 80)),
    "components 20 to 150": lambda: components((20, 40, 60, 100, 150)),
    "at most 5 of 100": lambda: random(rt.EQUIVALENCES & rt.at_most(5), 100),
    "listed 2000": lambda: listed(2_000, 0.0),
    "listed 20000": lambda: listed(20_000, 0.0),
    "listed 20000, background -1": lambda: listed(20_000, -1.0),
    "listed 100000 of 50000": lambda: listed(100_000, -0.5, 2),
}


def compared(problem, limit, seed):
    """Infer in both ways; return values, bounds, and what is trivial."""
    row = {"trivial": float(trivial_bound(problem)[0])}
    for name, prove in (("default", False), ("prove", True)):
        e = rt.infer(problem, prove=prove, time_limit=limit, seed=seed)
        row[name] = {"value": e.value, "bound": e.bound, "status": e.status.name}
    row["lost"] = (row["default"]["value"] - row["prove"]["value"]) / abs(row["default"]["value"])
    if row["lost"] > TINY:  # perhaps the clock: both ways again, and again
        again = {
            name: [rt.infer(problem, prove=p, time_limit=limit, seed=seed).value for _ in range(3)]
            for name, p in (("default", False), ("prove", True))
        }
        row["again"] = again
        best = max(row["prove"]["value"], *again["prove"])
        row["always worse"] = best < min(row["default"]["value"], *again["default"])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=float, nargs="*", default=[0.5, 2.0])
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    relatum.inference.Control = functools.partial(Control, clock=time.process_time)
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PREORDERS):  # modules are imported
        rt.infer(random(feasible, 70), time_limit=0.2)
        rt.infer(random(feasible, 8), prove=True)
    found = {}
    found["machine"] = machine()
    rows = found.setdefault("rows", {})
    print(f"{'case':36} {'default':>11} {'prove':>11} {'lost':>8}  gaps")
    for name, make in CASES.items():
        if options.only not in name:
            continue
        problem = make()
        for limit in options.limits:
            for seed in range(options.seeds):
                row = rows[f"{name}, {limit:g} s, seed {seed}"] = compared(problem, limit, seed)
                gaps = []
                for way in ("default", "prove"):
                    value, bound = row[way]["value"], row[way]["bound"]
                    word = " trivial" if bound >= row["trivial"] else ""
                    gaps.append(f"{(bound - value) / abs(value):.2%}{word}")
                print(
                    f"{name + f', {limit:g} s':36} {row['default']['value']:11.3f} "
                    f"{row['prove']['value']:11.3f} {row['lost']:8.3%}  {'  '.join(gaps)}",
                    flush=True,
                )
                options.out.write_text(json.dumps(found, indent=1) + "\n")
    worse = [k for k, row in rows.items() if row["lost"] > TINY]
    better = sum(row["lost"] < -TINY for row in rows.values())
    always = [k for k in worse if rows[k]["always worse"]]
    most = max((rows[k]["lost"] for k in worse), default=0.0)
    print(
        f"{len(rows)} compared; better with a proof: {better}; worse: {len(worse)}, by {most:.3%} "
        f"at most ({', '.join(worse)}), of which worse than any of four runs without: {len(always)}"
    )


if __name__ == "__main__":
    main()
