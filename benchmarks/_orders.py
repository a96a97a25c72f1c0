"""What the benchmarks of orders share: the machine, LOLIB's reference values, results."""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

from _machine import machine

from relatum.io import read_lolib

RESULTS = Path(__file__).parent / "results"


def data_folder():
    folder = os.environ.get("RELATUM_DATA", "")
    if not folder or not Path(folder).is_dir():
        sys.exit("Set RELATUM_DATA to the folder with the benchmark data.")
    return Path(folder)


def lolib(folder, name):
    """Yield (instance, matrix, reference value or None, its status) of one set of LOLIB."""
    with (folder / "lolib" / "values.tsv").open() as file:
        rows = {(r["set"], r["instance"]): r for r in csv.DictReader(file, delimiter="\t")}
    for path in sorted((folder / "lolib" / name).iterdir()):
        instance = path.name.removesuffix(".gz")
        row = rows.get((name, instance))
        best = float(row["best_known_value"]) if row else None
        yield instance, read_lolib(path), best, row["status"] if row else ""


def recorded(name):
    """Return the results of a file written before, or nothing."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def save(name, results, quiet=False):
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(
        json.dumps(
            {**results, "machine": machine("highspy", "igraph", "ortools", "corankco")}, indent=1
        )
        + "\n"
    )
    if not quiet:
        print(f"written: {path}")
