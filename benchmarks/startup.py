"""Start-up of the command line, beside that of Python and of the packages it stands on.

Every command is run as its own process, several times, in turn; the table gives the least
processor time and wall time, and their ratio to `python -c "import numpy"`. The kernels that
`relatum solve` needs are compiled in a first run that is not counted (its time is told).

    python benchmarks/startup.py --runs 5
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _orders import machine as describe

SOURCE = Path(__file__).parent.parent / "src"
RESULTS = Path(__file__).parent / "results" / "startup.json"
CLIQUES = "4\n4 3 -6\n-1 -5\n1\n"
ORDER = "3\n0 5 1\n2 0 4\n3 1 0\n"
MATRIX = "1 2 0\n0 1 3\n"


def commands(folder: Path) -> dict[str, list[str]]:
    for name, text in (("x.txt", CLIQUES), ("x.lop", ORDER), ("m.txt", MATRIX)):
        (folder / name).write_text(text)
    relatum = ["-c", "from relatum.cli import main; main()"]
    solve = [*relatum, "solve"]
    return {
        "python -c pass": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import numba": ["-c", "import numba"],
        "import sklearn.linear_model": ["-c", "import sklearn.linear_model"],
        "relatum --help": [*relatum, "--help"],
        "relatum solve (clusters)": [*solve, str(folder / "x.txt")],
        "relatum solve --prove (clusters)": [*solve, str(folder / "x.txt"), "--prove"],
        "relatum solve --prove (order)": [*solve, str(folder / "x.lop"), "--prove"],
        "relatum solve (map)": [*solve, str(folder / "m.txt"), "--format", "matrix"],
    }


def run(arguments: list[str]) -> tuple[float, float]:
    """Return (wall seconds, processor seconds) of a process."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        todo = commands(Path(name))
        first = {label: run(arguments)[0] for label, arguments in todo.items()}
        times: dict[str, list[tuple[float, float]]] = {label: [] for label in todo}
        for _ in range(args.runs):
            for label, arguments in todo.items():
                times[label].append(run(arguments))
    base = min(cpu for _, cpu in times["import numpy"])
    print(f"{'command':34} {'first':>7} {'wall s':>7} {'cpu s':>7} {'x numpy':>8}")
    for label, found in times.items():
        wall, cpu = min(w for w, _ in found), min(c for _, c in found)
        row = {"command": label, "first_wall": first[label], "wall": wall, "cpu": cpu}
        rows.append({**row, "ratio_to_numpy": cpu / base})
        print(f"{label:34} {first[label]:7.2f} {wall:7.2f} {cpu:7.2f} {cpu / base:8.1f}")
    RESULTS.write_text(json.dumps({"machine": describe(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
