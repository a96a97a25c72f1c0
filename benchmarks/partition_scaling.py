"""How time and memory of clustering grow with the number of elements.

Three curves on planted, noisy clusterings: the heuristic on dense scores, the heuristic on
sparse scores (ten scored pairs per element, background -2 bits), and proven optimality. Each
point runs in a process of its own, whose processor time and peak memory are taken. Writes
``benchmarks/results/partition_scaling.json`` and ``docs/images/partition_scaling.png``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SIZES = {
    "dense, heuristic": [500, 1000, 2000, 5000, 10_000],
    "sparse, heuristic": [10_000, 30_000, 100_000, 300_000, 1_000_000],
    "dense, proven": [50, 100, 200, 300, 500],
}


def dense_scores(n: int, rng: np.random.Generator, noise: float = 1.6) -> np.ndarray:
    """Condensed scores of n / 25 planted sets: 1.2 bits for or against, and noise."""
    labels = rng.integers(0, max(2, n // 25), n)
    out = np.empty(n * (n - 1) // 2, dtype=np.float32)
    at = 0
    for a in range(n - 1):
        same = labels[a + 1 :] == labels[a]
        row = np.where(same, 1.2, -1.2) + noise * rng.standard_normal(len(same))
        out[at : at + len(row)] = row
        at += len(row)
    return out


def sparse_problem(n: int, rng: np.random.Generator):
    """Return a problem with sets of five: four scores within its set an element, six without."""
    import relatum as rt

    labels = np.arange(n) // 5
    inside = np.repeat(np.arange(n), 4)
    mates = (inside // 5) * 5 + rng.integers(0, 5, len(inside))
    outside = np.repeat(np.arange(n), 6)
    others = rng.integers(0, n, len(outside))
    i, j = np.concatenate([inside, outside]), np.concatenate([mates, others])
    i, j = np.minimum(i, j), np.maximum(i, j)
    keys = np.unique((i * n + j)[i != j])
    i, j = keys // n, keys % n
    same = labels[i] == labels[j]
    score = np.where(same, 3.0, -3.0) + 2.5 * rng.standard_normal(len(i))
    return rt.Problem.from_pairs(i, j, score, n=n, background=-2.0, feasible=rt.EQUIVALENCES)


def measure(kind: str, n: int) -> dict[str, float]:
    """Run one point in this process."""
    import relatum as rt

    rng = np.random.default_rng(0)
    if kind.startswith("sparse"):
        warm, problem = sparse_problem(200, rng), sparse_problem(n, rng)
    else:
        noise = 1.1 if kind.endswith("proven") else 1.6
        warm = rt.Problem(dense_scores(60, rng, noise), rt.EQUIVALENCES)
        problem = rt.Problem(dense_scores(n, rng, noise), rt.EQUIVALENCES)
    prove = kind.endswith("proven")
    rt.infer(warm, prove=prove, time_limit=60)  # loads all modules
    before = time.process_time()
    e = rt.infer(problem, prove=prove, time_limit=60.0 if prove else 30.0)
    return {
        "n": n,
        "cpu_seconds": time.process_time() - before,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "value": e.value,
        "gap": e.gap,
        "status": e.status.name,
        "solver": e.solver,
    }


def draw(results: dict[str, list[dict[str, float]]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for kind, points in results.items():
        n = [p["n"] for p in points]
        axes[0].loglog(n, [p["cpu_seconds"] for p in points], "o-", label=kind)
        axes[1].loglog(n, [p["peak_gib"] for p in points], "o-", label=kind)
    axes[0].set(xlabel="elements", ylabel="processor seconds", title="time")
    axes[1].set(xlabel="elements", ylabel="GiB", title="peak memory of the process")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--kinds", nargs="*", default=list(SIZES), help="curves to measure anew")
    parser.add_argument("--largest", type=int, default=1_000_000, help="skip larger problems")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return
    output = HERE / "results" / "partition_scaling.json"
    results: dict[str, list[dict[str, float]]] = {}
    if output.is_file():
        results = json.loads(output.read_text())["results"]
    for kind, sizes in SIZES.items():
        if kind not in arguments.kinds:
            continue
        results[kind] = []
        for n in (s for s in sizes if s <= arguments.largest):
            command = [sys.executable, __file__, "--one", kind, str(n)]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            results[kind].append(json.loads(run.stdout))
            p = results[kind][-1]
            print(
                f"{kind:18} n = {n:8,}  {p['cpu_seconds']:8.2f} s  {p['peak_gib']:6.2f} GiB  "
                f"{p['status']:8} gap {p['gap']:.4g} bits ({p['solver']})",
                flush=True,
            )
    machine = {"processor": platform.machine(), "python": platform.python_version()}
    output.write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")
    draw(results, HERE.parent / "docs" / "images" / "partition_scaling.png")


if __name__ == "__main__":
    main()
