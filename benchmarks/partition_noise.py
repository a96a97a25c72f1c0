"""Clusterings of noise: the default's bound without and with a semidefinite relaxation, in one run.

Every instance is clustered twice by the default, by turns: with the semidefinite bound switched
off (before), and as it is (after). Seconds are of the processor; both bounds are verified, and
where the best known value is known, no bound may be below it. The settings of the bound were chosen
on corr80-9, rand100-100, rand300-5 and p500-100-1 of CP-Lib, which are rows of their own kind.
Learned scores, which are no noise, are to stay as they are.

    RELATUM_DATA=folder python benchmarks/partition_noise.py [--parts cplib generated learned]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
from _machine import machine

import relatum as rt
from relatum.io import read_cplib
from relatum.solvers.partition.bounds import choose

OUTPUT = Path(__file__).parent / "results" / "partition_noise.json"
CHOSEN_ON = "corr80-9", "rand100-100", "rand300-5", "p500-100-1"
CPLIB = (
    *("ClusEdit/ce60-60", "ClusEdit/ce80-40", "Correlation/corr60-3", "Correlation/corr80-2"),
    *("Correlation/corr80-8", "Equicut/neg-tt-80", "Random/CPn65-1", "Random/CPn100-3"),
    *("Random/rand100-5", "Random/rand200-100", "Random/rand200-5", "Random/rand300-100"),
    *("Random/regnier300-50", "Random/rand400-5", "Random/gauss500-100-1", "Random/p500-100-4"),
    *("Random/p500-100-7", "Random/p500-5-1", "Correlation/corr80-9", "Random/rand100-100"),
    *("Random/rand300-5", "Random/p500-100-1"),
)
LEARNED = tuple(
    f"{kind}_n{n}_0" for kind in ("strat", "unstrat") for n in (100, 170, 220, 260, 300)
)


def cplib(folder):
    table = (folder / "cplib" / "values.tsv").read_text().splitlines()[1:]
    best = {f"{line[0]}/{line[1]}": line[3] for line in (row.split("\t") for row in table)}
    for name in CPLIB:
        (path,) = (folder / "cplib" / name).parent.glob(f"{Path(name).name}.txt*")
        known = float(best[name]) if best.get(name) else None
        yield name, rt.Problem(read_cplib(path), rt.EQUIVALENCES), known


def generated(_):
    """Yield signs, normal numbers, and correlations of n / 4 normal numbers per element."""
    for n in (80, 200, 500):
        rng = np.random.default_rng(n)
        few = rng.normal(size=(n, n // 4))
        kinds = {
            "signs": rng.choice([-1.0, 1.0], (n, n)),
            "normal": rng.normal(size=(n, n)),
            "correlations": np.corrcoef(few),
        }
        for kind, matrix in kinds.items():
            yield f"{kind} {n}", rt.Problem(np.triu(matrix, 1), rt.EQUIVALENCES), None


def learned(folder):
    for name in LEARNED:
        with np.load(folder / "mnist-clustering" / f"{name}.npz") as file:
            yield name, rt.Problem(file["costs"], rt.EQUIVALENCES), None


def measured(problem, known):
    """Cluster once; return a row."""
    begin = process_time()
    e = rt.infer(problem)
    row = {"cpu_seconds": round(process_time() - begin, 2), "value": e.value, "bound": e.bound}
    row["gap %"] = round(100 * e.gap / e.value, 2)
    row["status"], row["rows"] = e.status.name, e.certificate.counts()
    row["verified"] = bool(rt.verify(problem, e))
    row["valid"] = known is None or e.bound >= known * (1 - 1e-9)
    return row


def measure(name, problem, known):
    with patch.object(choose, "_of_noise", lambda *_: None):
        before = measured(problem, known)
    row = {"instance": name, "n": problem.n, "before": before, "after": measured(problem, known)}
    return row | {"best known": known, "chosen on": Path(name).name in CHOSEN_ON}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"cplib": cplib, "generated": generated, "learned": learned}
    parser.add_argument("--parts", nargs="*", default=list(parts), choices=list(parts))
    options = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA")
    if not folder or not Path(folder).is_dir():
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    rt.infer(rt.Problem(np.ones((9, 9)), rt.EQUIVALENCES))  # whatever is loaded once
    rows = json.loads(OUTPUT.read_text())["rows"] if OUTPUT.exists() else []
    for part in options.parts:
        rows = [row for row in rows if row["part"] != part]
        for given in parts[part](Path(folder)):
            row = {"part": part, **measure(*given)}
            rows.append(row)
            OUTPUT.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
            told = "  ".join(
                f"{when} {row[when]['gap %']:7.2f} % {row[when]['cpu_seconds']:6.2f} s"
                f" value {row[when]['value']:.8g}"
                for when in ("before", "after")
            )
            sure = all(row[w]["verified"] and row[w]["valid"] for w in ("before", "after"))
            print(f"{row['instance']:24s} n {row['n']:4d} {told}  sound {sure}", flush=True)


if __name__ == "__main__":
    main()
