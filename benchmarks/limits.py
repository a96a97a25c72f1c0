"""How far answers come after their time limit, and how soon after Ctrl-C: the worst of all cases.

`infer` promises to return within `time_limit + max(0.2 s, 5 %)`, a bound included, and within half
a second of the first Ctrl-C. Every case is a feasible set, a size, a solver and a limit; the
problems are random, of the kind that is hard for the set. Cases run one after the other in a
process of their own, which is ended where an answer does not come. Reported are the seconds
by which each answer came late, in wall time and in processor time (which is what counts on a
machine that others use: wall time there is theirs, too), whether it has a bound better than that
of the pairs one by one, and the worst cases. `cluster_pairs`, `infer_many` and the estimators are
called as well, and with `--interrupt` the commands get Ctrl-C, once and twice; see
`limits_calls.py`.

    python benchmarks/limits.py                 # everything: an hour or more
    python benchmarks/limits.py --quick         # a few minutes
    python benchmarks/limits.py --busy          # with a process that counts on every processor
    python benchmarks/limits.py --interrupt     # Ctrl-C after half a second instead of a limit
    python benchmarks/limits.py --only preorder --again

What was measured is kept in `results/limits.json`, with the revision, and not measured anew, but
for `--again`, which begins an empty table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _machine import machine
from limits_calls import CALLS, COMMANDS, measure_call, measure_command

import relatum as rt
from relatum.solvers import SOLVERS, trivial_bound

RESULTS = Path(__file__).parent / "results" / "limits.json"
LEAST, SHARE = 0.2, 0.05  # seconds, and share of the limit, by which an answer may be late
REACTION = 0.5  # seconds from Ctrl-C to the answer
PATIENCE = 20.0  # seconds after which a case that is late is ended


@dataclass(frozen=True)
class Case:
    """One call of `infer`."""

    kind: str
    n: int
    solver: str
    prove: bool
    limit: float

    @property
    def key(self) -> str:
        """What the case is called in the results."""
        how = " prove" if self.prove else ""
        return f"{self.kind} {self.n} {self.solver}{how} {self.limit:g}"


def _facts(n: int, rng: np.random.Generator, count: int) -> Any:
    """Return evidence that some order, or partition, satisfies."""
    place = rng.permutation(n)
    pairs = rng.integers(0, n, (count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    before = place[pairs[:, 0]] < place[pairs[:, 1]]
    return rt.evidence(related=np.where(before[:, None], pairs, pairs[:, ::-1]))


def _links(n: int, rng: np.random.Generator) -> Any:
    """Return must-links and cannot-links that go together."""
    truth = rng.integers(0, max(2, n // 6), n)
    pairs = rng.integers(0, n, (2 * n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return rt.evidence(related=pairs[same][: n // 10], unrelated=pairs[~same][: n // 4])


def _dense(feasible: Any) -> Callable[[int], rt.Problem]:
    def make(n: int) -> rt.Problem:
        rng = np.random.default_rng(n)
        return rt.Problem(rng.normal(size=(n, n)), feasible)

    return make


def _dense_with(feasible: Any, facts: Callable[..., Any]) -> Callable[[int], rt.Problem]:
    def make(n: int) -> rt.Problem:
        rng = np.random.default_rng(n)
        return rt.Problem(rng.normal(size=(n, n)), feasible & facts(n, rng))

    return make


def _planted(n: int) -> rt.Problem:
    """Return a clustering of noisy scores, condensed."""
    rng = np.random.default_rng(n)
    truth = rng.integers(0, max(2, n // 20), n)
    i, j = np.triu_indices(n, 1)
    noise = rng.normal(size=len(i), scale=2.0)
    return rt.Problem(noise + np.where(truth[i] == truth[j], 1.0, -1.0), rt.EQUIVALENCES)


def _listed(background: float, feasible: Any = rt.EQUIVALENCES) -> Callable[[int], rt.Problem]:
    """Return a maker of n listed pairs of n / 10 elements, one large component."""

    def make(n: int) -> rt.Problem:
        rng = np.random.default_rng(n)
        elements = max(4, n // 10)
        i, j = rng.integers(0, elements, (2, n))
        key = np.unique(np.minimum(i, j)[i != j] * elements + np.maximum(i, j)[i != j])
        scores = rng.normal(size=len(key), loc=0.2)
        return rt.Problem.from_pairs(
            key // elements,
            key % elements,
            scores,
            n=elements,
            background=background,
            feasible=feasible,
        )

    return make


def _groups(n: int, rng: np.random.Generator) -> Any:
    return rt.one_per_group(rng.integers(0, max(2, n // 3), n))


KINDS: dict[str, tuple[Callable[[int], rt.Problem], tuple[int, ...]]] = {
    "RELATIONS": (_dense(rt.RELATIONS), (100, 2000)),
    "SYMMETRIC": (_dense(rt.SYMMETRIC), (100, 2000)),
    "MAPS": (_dense(rt.MAPS), (100, 2000)),
    "PARTIAL_MAPS": (_dense(rt.PARTIAL_MAPS), (100, 2000)),
    "INJECTIONS": (_dense(rt.INJECTIONS), (100, 1000, 2000)),
    "BIJECTIONS": (_dense(rt.BIJECTIONS), (100, 1000)),
    "TRANSITIVE": (_dense(rt.TRANSITIVE), (10, 40, 150)),
    "PREORDERS": (_dense(rt.PREORDERS), (15, 60, 150, 400)),
    "PREORDERS with evidence": (_dense_with(rt.PREORDERS, lambda n, r: _facts(n, r, n)), (60, 150)),
    "PARTIAL_ORDERS": (_dense(rt.PARTIAL_ORDERS), (15, 60, 150, 400)),
    "PARTIAL_ORDERS with evidence": (
        _dense_with(rt.PARTIAL_ORDERS, lambda n, r: _facts(n, r, n)),
        (60, 150, 400),
    ),
    "WEAK_ORDERS": (_dense(rt.WEAK_ORDERS), (15, 60, 150, 400)),
    "LINEAR_ORDERS": (_dense(rt.LINEAR_ORDERS), (30, 111, 400, 1500)),
    "LINEAR_ORDERS with evidence": (
        _dense_with(rt.LINEAR_ORDERS, lambda n, r: _facts(n, r, n)),
        (111, 400),
    ),
    "EQUIVALENCES": (_dense(rt.EQUIVALENCES), (30, 150, 500, 700, 2000)),
    "EQUIVALENCES planted": (_planted, (150, 1000, 5000)),
    "EQUIVALENCES with evidence": (_dense_with(rt.EQUIVALENCES, _links), (150, 700)),
    "EQUIVALENCES with groups": (_dense_with(rt.EQUIVALENCES, _groups), (150, 700)),
    "at_most(5)": (_dense(rt.EQUIVALENCES & rt.at_most(5)), (30, 150, 500)),
    "listed": (_listed(0.0), (2_000, 200_000)),
    "listed, background -1": (_listed(-1.0), (2_000, 20_000, 200_000)),
    "listed, at_most(5)": (_listed(-1.0, rt.EQUIVALENCES & rt.at_most(5)), (2_000, 200_000)),
    "symmetric transitive": (_dense(rt.SYMMETRIC & rt.TRANSITIVE), (10, 40, 100)),
}
LIMITS = (0.01, 0.2, 1.0, 5.0)
QUICK_LIMITS = (0.01, 0.5)
WITHOUT_CLOCK = ("RELATIONS", "SYMMETRIC", "MAPS", "PARTIAL_MAPS", "INJECTIONS", "BIJECTIONS")


def cases(quick: bool, limits: tuple[float, ...]) -> list[Case]:
    """Return the cases to measure: `auto`, proving or not, and every solver by name."""
    out = []
    for kind, (make, sizes) in KINDS.items():
        chosen = (sizes[len(sizes) // 2], sizes[-1]) if quick and len(sizes) > 2 else sizes
        for n in sorted(set(chosen)):
            problem = make(n)
            out += [Case(kind, n, "auto", p, t) for p, t in product((False, True), limits)]
            named = [s.name for s in SOLVERS.values() if s.refuses(problem) is None]
            some = limits[-1:] if quick else limits
            out += [Case(kind, n, name, False, t) for name, t in product(named, some)]
    return out


def calls(quick: bool, limits: tuple[float, ...], interrupt: bool) -> list[Case]:
    """Return what else is called: commands with Ctrl-C once and twice, or functions."""
    if interrupt:
        return [Case("Ctrl-C", k, kind, False, 0.0) for kind in COMMANDS for k in (1, 2)]
    chosen = limits[-1:] if quick else limits
    return [Case("call", 0, name, False, limit) for name in CALLS for limit in chosen]


def measure(case: Case, interrupt: bool, begin: Callable[[], None]) -> dict[str, Any]:
    """Infer once; return how late the answer came and what it is. `begin` is told when it does."""
    if case.kind in ("call", "Ctrl-C"):
        begin()
    if case.kind == "call":
        return measure_call(case.solver, case.limit)
    if case.kind == "Ctrl-C":
        return measure_command(case.solver, case.n)
    problem = KINDS[case.kind][0](case.n)
    limit = 600.0 if interrupt else case.limit
    begin()
    timer = threading.Timer(case.limit, os.kill, (os.getpid(), signal.SIGINT))
    wall, used = time.perf_counter(), time.process_time()
    if interrupt:
        timer.start()
    e = rt.infer(problem, solver=case.solver, prove=case.prove, time_limit=limit)
    seconds, processor = time.perf_counter() - wall, time.process_time() - used
    timer.cancel()
    return {
        "late": seconds - case.limit,
        "late_processor": processor - case.limit,
        "seconds": seconds,
        "status": e.status.name,
        "value": e.value,
        "bound": e.bound,
        "trivial": float(trivial_bound(problem)[0]),
        "solver": e.solver,
    }


def revision() -> str:
    """Return the commit of the tree that is measured, if there is one."""
    here = Path(__file__).parent
    asked = ["git", "-C", str(here), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _serve(pipe: Any, interrupt: bool) -> None:
    """Measure what is asked for, until there is nothing more."""
    for warm in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PREORDERS, rt.TRANSITIVE, rt.INJECTIONS):
        rt.infer(rt.Problem(np.random.default_rng(0).normal(size=(8, 8)), warm), prove=True)
        rt.infer(rt.Problem(np.random.default_rng(0).normal(size=(70, 70)), warm), time_limit=0.05)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell says so
    pipe.send("ready")
    while (case := pipe.recv()) is not None:
        try:
            pipe.send(measure(case, interrupt, lambda: pipe.send("begun")))
        except (Exception, KeyboardInterrupt) as error:
            pipe.send({"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"})


class Worker:
    """A process that measures; ended and begun anew where an answer does not come."""

    def __init__(self, interrupt: bool) -> None:
        self.interrupt = interrupt
        self.process: Any = None

    def measure(self, case: Case) -> dict[str, Any]:
        """Return what was measured, or that no answer came."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=_serve, args=(other, self.interrupt), daemon=True)
            self.process.start()
            self.pipe.recv()
        self.pipe.send(case)
        begun = self.pipe.recv()  # that the problem is made
        if isinstance(begun, dict):
            return begun
        patience = PATIENCE + (60.0 if case.kind in ("call", "Ctrl-C") else 0.0)
        if self.pipe.poll(case.limit + patience):
            return dict(self.pipe.recv())
        self.end()
        return {"late": PATIENCE, "late_processor": PATIENCE, "error": "no answer"}

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def _count() -> None:
    while True:
        sum(range(1_000_000))


def allowed(limit: float, interrupt: bool) -> float:
    """Return by how much an answer may be late."""
    return REACTION if interrupt else max(LEAST, SHARE * limit)


def _least_late(record: dict[str, Any]) -> float:
    return min(record.get("late", 0.0), record.get("late_processor", 0.0))


def table(found: dict[str, Any], interrupt: bool, most: int) -> str:
    """Return the worst cases of each solver, and a line that sums up."""
    late = sorted(found.items(), key=lambda kv: -kv[1].get("late", 0.0))
    lines = [f"{'case':58} {'late s':>8} {'processor':>9}  bound"]
    for key, r in late[:most]:
        kind = r.get("error", "")
        if "bound" in r:
            kind = "trivial" if r["bound"] >= r["trivial"] else "better"
        lines.append(f"{key:58} {r.get('late', 0):8.3f} {r.get('late_processor', 0):9.3f}  {kind}")
    wall, both = (
        sum(least(r) > allowed(r["limit"], interrupt) for r in found.values())
        for least in (lambda r: r.get("late", 0.0), _least_late)
    )
    failed = sum("error" in r for r in found.values())
    worst = [
        max((least(r) for r in found.values()), default=0.0)
        for least in (lambda r: r.get("late", 0.0), lambda r: r.get("late_processor", 0.0))
    ]
    lines.append(
        f"{len(found)} cases: {wall} later than promised by the clock on the wall, {both} of them "
        f"by that of the processor as well; worst overrun {worst[0]:.2f} s by the wall's, "
        f"{worst[1]:.2f} s by the processor's; "
        f"{failed} without an answer"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and limits")
    parser.add_argument("--busy", action="store_true", help="load every processor beside")
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C instead of a limit")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--again", action="store_true", help="measure anew what is there already")
    parser.add_argument("--worst", type=int, default=25, help="how many cases to print")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    limits = (0.5,) if options.interrupt else (QUICK_LIMITS if options.quick else LIMITS)
    part = "interrupt" if options.interrupt else "limit"
    part += " busy" if options.busy else ""
    record = json.loads(options.out.read_text()) if options.out.exists() else {}
    record["machine"] = machine("highspy")
    if options.again and not options.only:
        record[part] = {}
    found = record.setdefault(part, {})
    record.setdefault("revisions", {})[part] = revision()
    wanted = cases(options.quick, limits) + calls(options.quick, limits, options.interrupt)
    wanted = [c for c in wanted if options.only in c.key]
    others = [
        multiprocessing.Process(target=_count, daemon=True) for _ in range(os.cpu_count() or 1)
    ]
    for other in others if options.busy else []:
        other.start()
    worker = Worker(options.interrupt)
    try:
        for case in wanted:
            if options.again or case.key not in found:
                found[case.key] = {**asdict(case), **worker.measure(case)}
                r = found[case.key]
                if r.get("late", 0.0) > allowed(case.limit, options.interrupt) or "error" in r:
                    print(f"{case.key:58} {r.get('late', 0):8.3f} {r.get('error', '')}", flush=True)
                options.out.write_text(json.dumps(record, indent=1))
    finally:
        worker.end()
        for other in others if options.busy else []:
            other.kill()
    keys = {c.key for c in wanted}
    print(table({k: r for k, r in found.items() if k in keys}, options.interrupt, options.worst))


if __name__ == "__main__":
    main()
