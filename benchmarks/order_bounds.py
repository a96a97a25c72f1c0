"""Bounds of default orders, beside the 3-dicycle bound and an earlier revision.

For matrices of xLOLIB, and larger ones made in the same way (entries drawn from a matrix of
LOLIB), the default answer of `infer` within some time: its value, how far that is below the best
known, its gap, and how far the gap is from that of the 3-dicycle bound, to which the relaxation is
run once for long. With `--before`, the sources of another revision answer as well, in the same
run. Time limits count processor time: what the searching threads use is halved, so that a busy
machine changes nothing. Every answer is checked by `relatum.verify`. Rows measured before are kept.

    git worktree add ../before <revision>
    RELATUM_DATA=folder python benchmarks/order_bounds.py --before ../before/src [--limits 1 10]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from _machine import machine
from _orders import RESULTS, data_folder, lolib

HERE = Path(__file__).parent
NAMES = (
    "be75eec_150", "t59b11xx_150", "t65f11xx_150", "tiw56n54_150", "t75n11xx_150",
    "be75oi_250", "t59f11xx_250", "t70n11xx_250", "tiw56r54_250", "stabu3_250",
)  # fmt: skip
MADE = ("made_500", "made_1000", "made_1500")
THREADS = 2  # on which the search runs


def matrix_of(name):
    """Return a matrix, and its best known value or None."""
    if not name.startswith("made"):
        return next((m, best) for i, m, best, _ in lolib(data_folder(), "xLOLIB") if i == name)
    n = int(name.split("_")[1])
    drawn = np.asarray(next(m for i, m, _, _ in lolib(data_folder(), "IO") if i == "be75eec"))
    entries = drawn[~np.eye(len(drawn), dtype=bool)]
    return np.random.default_rng(n).choice(entries, size=(n, n)) * (1 - np.eye(n)), None


def shared_clock():
    """Return seconds of the processor, of which those of other threads count as shared."""
    main = time.pthread_getcpuclockid(threading.main_thread().ident)

    def clock():
        own = time.clock_gettime(main)
        return own + (time.process_time() - own) / THREADS

    return clock


def answer(name, limit, seed):
    """Infer in this process; return what is compared."""
    import relatum as rt
    import relatum.inference
    from relatum.solvers.control import Control

    clock = shared_clock()
    relatum.inference.Control = functools.partial(Control, clock=clock)
    rt.infer(rt.Problem(np.random.default_rng(0).normal(size=(70, 70)), rt.LINEAR_ORDERS))
    matrix, best = matrix_of(name)
    problem = rt.Problem(matrix, rt.LINEAR_ORDERS)
    began = clock()
    e = rt.infer(problem, time_limit=limit, seed=seed)
    seconds = clock() - began
    out = {"value": e.value, "gap_percent": 100 * (e.bound - e.value) / e.value}
    if best is not None:
        out["below_best_known_percent"] = 100 * (best - e.value) / best
    return out | {"seconds": seconds, "verified": bool(rt.verify(problem, e))}


def dicycle_bound(name, rounds=60):
    """Run the relaxation with 3-dicycle rows alone until it hardly moves; return its bound."""
    from relatum.solvers.order.relaxation import OrderRelaxation

    matrix, _ = matrix_of(name)
    d = (matrix - matrix.T).astype(np.float64)
    relaxation = OrderRelaxation(d)
    relaxation.start_from_packing()
    threshold, bounds = 0.05, []
    for k in range(rounds):
        if relaxation.separate(relaxation.point(), threshold, 2) == 0.0:
            threshold *= 0.4
        bounds.append(relaxation.lp.run(min(240, 60 * (k + 1))))
        relaxation.lp.drop_idle()
        if len(bounds) > 6 and bounds[-6] - min(bounds[-5:]) < 1e-4 * abs(bounds[-1]):
            break
    return min(bounds) + float(np.tril(matrix, -1).sum())


def elsewhere(source, *arguments):
    """Run a part in a process with the sources of a revision."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(HERE / "order_bounds.py"), "--part", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run(options, rows):
    """Measure what is missing; keep every row when it is done."""
    sources = {"after": HERE.parent / "src"}
    if options.before:
        sources = {"before": options.before.resolve(), **sources}
    for name in options.names:
        limit_key = f"{name}, 3-dicycle bound"
        if limit_key not in rows and not name.startswith("made"):
            rows[limit_key] = {"bound": elsewhere(sources["after"], "limit", name)}
        for limit in options.limits:
            for seed in range(options.seeds):
                for which, source in sources.items():
                    key = f"{name}, {limit:g} s, seed {seed}, {which}"
                    if key not in rows:
                        row = rows[key] = elsewhere(source, "answer", name, limit, seed)
                        if limit_key in rows:
                            bound = row["value"] * (1 + row["gap_percent"] / 100)
                            missing = 100 * (bound - rows[limit_key]["bound"]) / row["value"]
                            row["points_above_3_dicycle"] = missing
                        yield key, row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="sources of the revision before")
    parser.add_argument("--names", nargs="*", default=[*NAMES, *MADE])
    parser.add_argument("--limits", type=float, nargs="*", default=[10.0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="forget the rows measured before")
    parser.add_argument("--part", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        kind, name, *rest = options.part
        if kind == "limit":
            print(json.dumps(dicycle_bound(name)))
        else:
            print(json.dumps(answer(name, float(rest[0]), int(rest[1]))))
        return
    path = RESULTS / "order_bounds.json"
    found = json.loads(path.read_text()) if path.exists() and not options.again else {}
    rows = found.setdefault("rows", {})
    found["machine"] = machine()
    for key, row in run(options, rows):
        words = " ".join(f"{k} {v:.3f}" for k, v in row.items() if isinstance(v, float))
        print(f"{key:40} {words} verified {row['verified']}", flush=True)
        path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
