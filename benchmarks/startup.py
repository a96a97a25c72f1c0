"""What a process pays before its first answer, beside what importing its packages costs.

Every case is a process of its own, by turns with processes that only import the packages that the
case stands on. A case is run warm and cold. Cold means a copy of the package that was never used:
no bytecode of it, no cache of compiled kernels; what numpy and others keep is there. Reported are
the least and the median of processor time and wall time, and the ratio of the least processor
times of a case and of its packages. Answers do not count here: `revisions.py` compares them.

    python benchmarks/startup.py [--runs 5] [--cases clusters_50 order_30] [--check]

With the sources of another revision, both are run side by side:

    git worktree add ../before <revision>
    python benchmarks/startup.py --before ../before/src
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from _machine import machine
from revisions import scores_with_noise

SOURCE = Path(__file__).parent.parent / "src"
RESULTS = Path(__file__).parent / "results" / "startup.json"

# What a case stands on, and would import in any case.
PACKAGES = {
    "python": "pass",
    "sparse": "import numpy, scipy.sparse",
    "learning": "import sklearn.datasets, sklearn.decomposition, sklearn.preprocessing",
    "tables": "import numpy, duckdb, pyarrow.compute",
}
README = "[[0, 4, 3, -6], [4, 0, -1, -5], [3, -1, 0, 1], [-6, -5, 1, 0]]"
COMMAND = "from relatum.cli import main; main()"
FILES = {
    "x.txt": "4\n4 3 -6\n-1 -5\n1\n",
    "x.lop": "3\n0 5 1\n2 0 4\n3 1 0\n",
    "m.txt": "1 2 0\n0 1 3\n",
}


@dataclass(frozen=True)
class Case:
    """A process, what it stands on, and what it may take."""

    code: str
    packages: str = "sparse"
    arguments: tuple[str, ...] = ()
    most: float | None = None  # times the processor time of importing the packages
    most_seconds: float | None = None  # of wall time


def _infer(problem: str, options: str = "") -> str:
    return f"import numpy as np, relatum as rt; rt.infer(rt.Problem({problem}){options})"


def _command(*arguments: str, most_seconds: float | None = None) -> Case:
    return Case(COMMAND, arguments=arguments, most_seconds=most_seconds)


CASES = {
    "clusters_4": Case(_infer(f"{README}, rt.EQUIVALENCES"), most=2.0),
    "clusters_4_proof": Case(_infer(f"{README}, rt.EQUIVALENCES", ", prove=True"), most=3.0),
    "clusters_50": Case(_infer("np.load('50.npy'), rt.EQUIVALENCES"), most=3.0),
    "clusters_50_proof": Case(
        _infer("np.load('50.npy'), rt.EQUIVALENCES", ", prove=True"), most=3.0
    ),
    "order_30": Case(_infer("np.load('30.npy'), rt.LINEAR_ORDERS"), most=3.0),
    "iris": Case(
        "import relatum as rt; from sklearn.datasets import load_iris; "
        "rt.PartitionClustering().fit(*load_iris(return_X_y=True))",
        "learning",
        most=1.5,
    ),
    "pairs_2000": Case(
        "import relatum as rt; rt.cluster_pairs('pairs.parquet')", "tables", most=1.5
    ),
    "demo": _command("demo", most_seconds=5.0),
    "help": _command("--help"),
    "solve_clusters": _command("solve", "x.txt"),
    "solve_clusters_proof": _command("solve", "x.txt", "--prove"),
    "solve_order_proof": _command("solve", "x.lop", "--prove"),
    "solve_map": _command("solve", "m.txt", "--format", "matrix"),
}


def write_data(folder: Path) -> None:
    """Write what the cases read."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    rng = np.random.default_rng(30)
    np.save(folder / "50.npy", scores_with_noise(50, 6, 1.0, 50))
    np.save(folder / "30.npy", rng.integers(0, 10, (30, 30)).astype(np.float64))
    import pyarrow
    from pyarrow import parquet

    n = 1200
    i = rng.integers(0, n, 3 * n)
    j = np.minimum(n - 1, (i // 4) * 4 + rng.integers(0, 7, len(i)))
    keys = np.unique(np.minimum(i, j)[i != j] * n + np.maximum(i, j)[i != j])[:2000]
    i, j = keys // n, keys % n
    bits = np.where(i // 4 == j // 4, 3.0, -3.0) + 3.0 * rng.normal(size=len(i))
    table = pyarrow.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    parquet.write_table(table, folder / "pairs.parquet")


class Place:
    """A copy of a revision's package, with a place for compiled kernels beside it."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        unused = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / "relatum", folder / "src" / "relatum", ignore=unused)

    def run(self, code: str, arguments: tuple[str, ...], data: Path) -> tuple[float, float]:
        """Return processor seconds and wall seconds of a process in the folder of the data."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "NUMBA_CACHE_DIR": str(self.folder / "kernels"),  # of revisions that compile kernels
        }
        # if it is set, a warm process would have no bytecode either
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = time.perf_counter()
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            command, env=environment, cwd=data, capture_output=True, text=True, check=False
        )
        wall = time.perf_counter() - wall
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{code} {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure(
    sources: dict[str, Path], cases: list[str], runs: int, cold_before: int, folder: Path
) -> tuple[dict[str, list], dict[tuple[str, str, str], list]]:
    """Run everything by turns; return the times of packages, and those of cases."""
    data = folder / "data"
    data.mkdir()
    write_data(data)
    warm = {name: Place(source, folder / name) for name, source in sources.items()}
    packages: dict[str, list] = {name: [] for name in PACKAGES}
    found: dict[tuple[str, str, str], list] = {}
    for place in warm.values():
        own = f"import relatum; assert relatum.__file__.startswith({str(place.folder)!r})"
        place.run(own, (), data)
        for name in cases:  # not counted: bytecode is written and kernels are compiled
            place.run(CASES[name].code, CASES[name].arguments, data)
    for turn in range(runs):
        for name, code in PACKAGES.items():
            packages[name].append(warm["now"].run(code, (), data))
        for name in cases:
            case = CASES[name]
            for revision, source in sources.items():
                times = found.setdefault((name, revision, "warm"), [])
                times.append(warm[revision].run(case.code, case.arguments, data))
                if turn < (runs if revision == "now" else cold_before):
                    with tempfile.TemporaryDirectory(dir=folder) as fresh:
                        times = found.setdefault((name, revision, "cold"), [])
                        place = Place(source, Path(fresh))
                        times.append(place.run(case.code, case.arguments, data))
    return packages, found


def summary(times: list[tuple[float, float]]) -> dict[str, float]:
    """Return least and median of processor time and wall time."""
    cpu, wall = zip(*times, strict=True)
    numbers = {"cpu": min(cpu), "cpu_median": median(cpu)}
    numbers |= {"wall": min(wall), "wall_median": median(wall)}
    return {name: round(value, 4) for name, value in numbers.items()}


def rows_of(packages: dict[str, list], found: dict[tuple[str, str, str], list]) -> list[dict]:
    """Return a row per case, revision and state: times, ratio, goal, and whether it is met."""
    least = {name: min(cpu for cpu, _ in times) for name, times in packages.items()}
    rows = []
    for (name, revision, state), times in found.items():
        case, row = CASES[name], {"case": name, "revision": revision, "state": state}
        numbers = summary(times)
        ratio = numbers["cpu"] / least[case.packages]
        row |= numbers | {"packages": case.packages, "ratio": round(ratio, 3)}
        if case.most is not None:
            row |= {"most_ratio": case.most, "met": ratio <= case.most}
        if case.most_seconds is not None:
            row |= {"most_seconds": case.most_seconds, "met": row["wall"] <= case.most_seconds}
        rows.append(row)
    return rows


def show(packages: dict[str, list], rows: list[dict]) -> None:
    columns = ("cpu", "cpu_median", "wall", "wall_median")
    print(f"{'':34} {'cpu s':>7} {'median':>7} {'wall s':>7} {'median':>7} {'ratio':>7}  goal")
    for name, times in packages.items():
        numbers = summary(times)
        print(f"{name:34} {' '.join(f'{numbers[k]:7.3f}' for k in columns)}  {PACKAGES[name]}")
    for r in rows:
        goal = ""
        if "most_ratio" in r:
            goal = f"{r['most_ratio']:g} x {r['packages']}"
        elif "most_seconds" in r:
            goal = f"{r['most_seconds']:g} s of wall time"
        if goal and not r["met"]:
            goal += ", MISSED"
        label = f"{r['case']:21} {r['revision']:6} {r['state']:5}"
        numbers = " ".join(f"{r[k]:7.3f}" for k in columns)
        print(f"{label} {numbers} {r['ratio']:7.2f}  {goal}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="src folder of another revision")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--cold-before", type=int, default=1, help="cold runs of the other revision, if it compiles"
    )
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    options = parser.parse_args()
    sources = {"now": SOURCE}
    if options.before is not None:
        sources["before"] = options.before.resolve()
    with tempfile.TemporaryDirectory() as name:
        packages, found = measure(
            sources, options.cases, options.runs, options.cold_before, Path(name)
        )
    rows = rows_of(packages, found)
    show(packages, rows)
    if options.cases == list(CASES):
        RESULTS.write_text(
            json.dumps(
                {
                    "machine": machine("scikit-learn", "duckdb", "pyarrow"),
                    "packages": {PACKAGES[k]: summary(times) for k, times in packages.items()},
                    "rows": rows,
                },
                indent=1,
            )
            + "\n"
        )
    missed = [r for r in rows if r["revision"] == "now" and not r.get("met", True)]
    for r in missed:
        print(f"missed: {r['case']}, {r['state']}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
