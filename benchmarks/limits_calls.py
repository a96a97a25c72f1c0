"""Time limits and Ctrl-C of what calls `infer`: tables, many problems, estimators, commands.

`limits.py` runs these as well. What a call does besides inference (reading a table, scoring pairs)
has no limit, and is measured by the same call at a limit at which nothing can be searched, or
without a proof. Commands run in a process of their own; Ctrl-C comes once they have computed for
half a second, by the clock of the processor, and again, at once, for the second.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import relatum as rt

Call = Callable[[float], object]  # does its work with this limit


def _table(sizes: tuple[int, ...]) -> Any:
    """Return a table of random scores whose components have these sizes."""
    import pyarrow as pa

    rng = np.random.default_rng(sizes)
    left, right = [], []
    for begin, size in zip(np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
        i, j = np.triu_indices(size, 1)
        left.append(begin + i)
        right.append(begin + j)
    a, b = np.concatenate(left), np.concatenate(right)
    scores = rng.normal(size=len(a))
    return pa.table({"unique_id_l": a, "unique_id_r": b, "match_weight": scores})


def _clusters(sizes: tuple[int, ...]) -> tuple[Call, Call, int]:
    table = _table(sizes)

    def run(limit: float) -> object:
        return rt.cluster_pairs(table, prove=True, time_limit=limit, threads=1)

    return run, lambda limit: rt.cluster_pairs(table, threads=1), 1


def _many(prove: bool) -> tuple[Call, Call, int]:
    rng = np.random.default_rng(0)
    problems = [rt.Problem(rng.normal(size=(150, 150)), rt.EQUIVALENCES) for _ in range(3)]

    def run(limit: float) -> object:
        return rt.infer_many(problems, n_jobs=1, prove=prove, time_limit=limit)

    return run, lambda limit: None, len(problems)


def _estimated(estimator: Any, fit: tuple[Any, ...], x: Any) -> tuple[Call, Call, int]:
    """Return inference by a fitted estimator, and the scoring of its pairs alone."""
    fitted = estimator.set_params(time_limit=60.0).fit(*fit)

    def run(limit: float) -> object:
        return fitted.set_params(time_limit=limit).infer(x)

    return run, lambda limit: fitted.log_odds(x), 1


def _clustering() -> tuple[Call, Call, int]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 20)
    x = rng.normal(size=(20, 5))[y] + 1.5 * rng.normal(size=(400, 5))
    return _estimated(rt.PartitionClustering(prove=True), (x[:60], y[:60]), x)


def _ranker() -> tuple[Call, Call, int]:
    rng = np.random.default_rng(0)
    sequences = [rng.permutation(80)[:40].tolist() for _ in range(40)]
    return _estimated(rt.LinearRanker(), (sequences,), list(range(80)))


def _maps() -> tuple[Call, Call, int]:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 5)), rng.integers(0, 10, 400)
    return _estimated(rt.MapClassifier(), (x, y), x)


def _joint() -> tuple[Call, Call, int]:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 6, (60, 60))
    classes = np.triu(classes, 1) + np.triu(classes, 1).T
    pairs = [(int(a), int(a) + 1) for a in range(0, 40, 2)]
    facts = rt.evidence(related=pairs[:10], unrelated=pairs[10:])
    upper = classes[np.triu_indices(60, 1)]

    def run(limit: float) -> object:
        return rt.JointEstimator(
            feasible=rt.EQUIVALENCES, evidence=facts, time_limit=limit, n_starts=20
        ).fit(upper)

    return run, lambda limit: None, 1


# what makes the call, the same without what is limited, and how many limits it may take
CALLS: dict[str, Callable[[], tuple[Call, Call, int]]] = {
    "cluster_pairs prove, 150": lambda: _clusters((150,)),
    "cluster_pairs prove, 700": lambda: _clusters((700,)),
    "cluster_pairs prove, 3 x 100": lambda: _clusters((100, 100, 100)),
    "cluster_pairs prove, 40 x 50": lambda: _clusters((50,) * 40),
    "infer_many, 3 x 150": lambda: _many(False),
    "infer_many prove, 3 x 150": lambda: _many(True),
    "PartitionClustering.infer 400": _clustering,
    "LinearRanker.infer 80": _ranker,
    "MapClassifier.infer 400": _maps,
    "JointEstimator.fit 60": _joint,
}


def measure_call(name: str, limit: float) -> dict[str, Any]:
    """Return by how much a call came late."""
    run, besides, times = CALLS[name]()
    run(1e-3), besides(1e-3)  # modules are imported
    rest = _seconds(besides, limit)
    used = _seconds(run, limit)
    late = [u - r - times * limit for u, r in zip(used, rest, strict=True)]
    return {"late": late[0], "late_processor": late[1], "limits": times, "seconds": used[0]}


def _seconds(call: Call, limit: float) -> tuple[float, float]:
    wall, used = time.perf_counter(), time.process_time()
    call(limit)
    return time.perf_counter() - wall, time.process_time() - used


def _file(folder: Path, kind: str) -> list[str]:
    """Write an instance that takes long; return the command that solves it."""
    rng = np.random.default_rng(0)
    if kind == "cluster":
        import pyarrow.parquet as pq

        pq.write_table(_table((150, 150)), folder / "pairs.parquet")
        out = str(folder / "out.csv")
        return ["cluster", str(folder / "pairs.parquet"), "--prove", "-o", out]
    n = {"order": 150, "PREORDERS": 400, "equivalence": 300}[kind]
    np.savetxt(folder / "scores.csv", rng.normal(size=(n, n)), delimiter=",")
    return ["solve", str(folder / "scores.csv"), "--as", kind, "--format", "matrix", "--prove"]


COMMANDS = ("order", "PREORDERS", "equivalence", "cluster")


def measure_command(kind: str, presses: int) -> dict[str, Any]:
    """Press Ctrl-C once or twice; return how long the command went on."""
    main = [sys.executable, "-m", "relatum"]
    before = os.times().children_user
    subprocess.run([*main, "--version"], capture_output=True, check=True)
    begin = os.times().children_user - before  # seconds of the processor until anything is done
    with tempfile.TemporaryDirectory() as name:
        command = [*main, *_file(Path(name), kind)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        while process.poll() is None and _processor(process.pid) < begin + 1.5:
            time.sleep(0.02)
        used, wall = _processor(process.pid), time.perf_counter()
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        processor = used
        while process.poll() is None and time.perf_counter() < wall + 30:
            processor = max(processor, _processor(process.pid))
            time.sleep(0.01)
        late = time.perf_counter() - wall
        process.kill()
        process.communicate()
    return {"late": late, "late_processor": processor - used, "returned": process.returncode}


def _processor(pid: int) -> float:
    """Return the seconds that a running process has computed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
