"""What each family costs: processor time and memory against size.

Made-up problems, planted and noisy, of growing size; each point runs in a process of its own, which
reports the processor seconds of the call, how far memory rose above the data and the imports, and
the gap. Times are those of one machine: the time to sort ten million numbers with NumPy, taken in
the same process, stands beside every one, and the pictures show the ratio. A call that reaches its
time limit of a minute on the clock says so. Writes ``benchmarks/results/costs.json`` and
``docs/images/costs-light.png`` and ``costs-dark.png``.

    python benchmarks/costs.py [--only "orders, proven"] [--draw]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "costs.json"
PICTURES = HERE.parent / "docs" / "images"
LIMIT = 60.0  # seconds on the clock
SIZES = {
    "maps, ten labels": [1_000, 10_000, 100_000, 1_000_000],
    "clusterings, dense": [100, 300, 1_000, 3_000],
    "clusterings, dense, proven": [50, 100, 200, 300],
    "clusterings, sparse": [1_000, 10_000, 100_000],
    "clusterings, table of pairs": [1_000, 10_000, 100_000, 300_000],
    "orders": [25, 50, 100, 200],
    "orders, proven": [10, 20, 40, 80],
    "preorders": [10, 20, 40, 80],
    "preorders, proven": [6, 9, 12, 15],
    "probabilities of clusterings, exact": [8, 11, 14, 17],
}


def planted_matrix(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return condensed scores of n / 25 planted sets: 1.2 bits for or against, and noise."""
    labels = rng.integers(0, max(2, n // 25), n)
    a, b = np.triu_indices(n, 1)
    return np.where(labels[a] == labels[b], 1.2, -1.2) + 1.6 * rng.standard_normal(len(a))


def planted_pairs(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scored pairs of sets of five: about four within its set an element, three without."""
    inside, outside = np.repeat(np.arange(n), 4), np.repeat(np.arange(n), 3)
    i = np.concatenate([inside, outside])
    mates = (inside // 5) * 5 + rng.integers(0, 5, len(inside))
    j = np.concatenate([np.minimum(mates, n - 1), rng.integers(0, n, len(outside))])
    keys = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[i != j])
    i, j = keys // n, keys % n
    score = np.where(i // 5 == j // 5, 3.0, -3.0) + 2.0 * rng.standard_normal(len(i))
    return i, j, score


def planted_order(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return log-odds of a planted order: half a bit for or against, and noise."""
    place = rng.permutation(n)
    return 0.5 * np.sign(place[None, :] - place[:, None]) + rng.standard_normal((n, n))


def call_of(family: str, n: int, rng: np.random.Generator, folder: Path):
    """Return a call that answers a problem of a family, its data made."""
    import relatum as rt

    proven = "proven" in family

    def ask(scores, feasible):
        problem = rt.Problem(scores, feasible)
        return lambda: rt.infer(problem, prove=proven, time_limit=LIMIT).gap

    if family.startswith("maps"):
        return ask(rng.standard_normal((n, 10)), rt.MAPS)
    if "table" in family:
        import pyarrow as pa
        import pyarrow.parquet as pq

        i, j, score = planted_pairs(n, rng)
        table = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": score})
        pq.write_table(table, folder / "pairs.parquet")
        return lambda: rt.cluster_pairs(str(folder / "pairs.parquet")).summary.gap
    if "sparse" in family:
        problem = rt.Problem.from_pairs(
            *planted_pairs(n, rng), n=n, background=-0.5, feasible=rt.EQUIVALENCES
        )
        return lambda: rt.infer(problem, time_limit=LIMIT).gap
    if family.startswith("probabilities"):
        problem = rt.Problem(planted_matrix(n, rng), rt.EQUIVALENCES)
        return lambda: 0.0 * rt.probabilities(problem).matrix().sum()
    if family.startswith("clusterings"):
        return ask(planted_matrix(n, rng), rt.EQUIVALENCES)
    preorder = family.startswith("preorders")
    return ask(planted_order(n, rng), rt.PREORDERS if preorder else rt.LINEAR_ORDERS)


def resident() -> int:
    """Return the bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def measure(family: str, n: int) -> dict:
    """Return what one point costs."""
    rng = np.random.default_rng(n)
    with tempfile.TemporaryDirectory() as folder:
        call_of(family, 6, rng, Path(folder))()  # what it uses is imported
        call = call_of(family, n, rng, Path(folder))
        before, peak, done = resident(), [0], threading.Event()

        def watch() -> None:
            while not done.wait(0.005):
                peak[0] = max(peak[0], resident())

        watcher = threading.Thread(target=watch)
        watcher.start()
        wall, started = time.perf_counter(), time.process_time()
        gap = float(call())
        seconds, wall = time.process_time() - started, time.perf_counter() - wall
        peak[0] = max(peak[0], resident())
        done.set()
        watcher.join()
    numbers = rng.random(10_000_000)
    started = time.process_time()
    np.sort(numbers)
    return {
        "family": family,
        "n": n,
        "seconds": seconds,
        "megabytes": (peak[0] - before) / 1e6,
        "gap": gap,
        "limit": bool(wall > 0.95 * LIMIT and "table" not in family),
        "sort_seconds": time.process_time() - started,
    }


def in_process(family: str, n: int) -> dict:
    """Measure one point in a process of its own."""
    command = [sys.executable, __file__, "--one", family, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def draw(points: list[dict], style: str) -> None:
    """Draw time and memory against size."""
    import matplotlib
    from matplotlib.figure import Figure

    sys.path.insert(0, str(HERE.parent / "docs"))
    import galleries

    with matplotlib.rc_context(galleries.STYLES[style]):
        figure = Figure(figsize=(11, 5.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, family in enumerate(SIZES):
            own = [p for p in points if p["family"] == family]
            sizes, look = [p["n"] for p in own], {"color": f"C{k}", "marker": "osv^D"[k % 5]}
            look |= {"linestyle": ":" if "proven" in family else "-", "markersize": 4}
            left.plot(sizes, [p["seconds"] / p["sort_seconds"] for p in own], label=family, **look)
            right.plot(sizes, [max(p["megabytes"], 0.1) for p in own], **look)
        left.axhline(1.0, color="0.6", lw=0.8)
        left.set(ylabel="processor time / time to sort ten million numbers")
        right.set(ylabel="MB of memory above the data")
        for axes in (left, right):
            axes.set(xscale="log", yscale="log", xlabel="elements (labels not counted)")
        figure.legend(
            *left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
        )
        figure.savefig(PICTURES / f"costs-{style}.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("FAMILY", "N"))
    parser.add_argument("--only", choices=SIZES, help="measure one family, keep the others")
    parser.add_argument("--draw", action="store_true", help="draw what was measured")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return
    known = json.loads(RESULTS.read_text())["points"] if RESULTS.exists() else []
    families = [given.only] if given.only else [] if given.draw else list(SIZES)
    points = [p for p in known if p["family"] not in families]
    for family in families:
        for n in SIZES[family]:
            points.append(in_process(family, n))
            print(
                "{family:38} {n:9,} {seconds:8.2f} s {megabytes:8.1f} MB gap {gap:.3g}".format(
                    **points[-1]
                )
            )
    from benchmarks._machine import machine

    points.sort(key=lambda p: (list(SIZES).index(p["family"]), p["n"]))
    RESULTS.write_text(
        json.dumps({"machine": machine(), "limit": LIMIT, "points": points}, indent=1)
    )
    for style in ("light", "dark"):
        draw(points, style)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    main()
