"""Clusterings of noise: what the default and a proof report, of two revisions by turns in one run.

Each revision has a process of its own, which is given one problem after the other; both solve the
same one by turns. Seconds are of the processor; every bound is verified, with the seconds that
takes, and where the best known value is known, no bound may be below it. The settings of the
semidefinite bound and of the search were chosen on CHOSEN_ON. Learned scores, which are no noise,
are to stay as they are; of `proofs`, the limit is in seconds of the clock, so the machine has to be
quiet.

    git worktree add ../before <revision>
    RELATUM_DATA=folder python benchmarks/partition_noise.py --before ../before/src [--parts ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np

OUTPUT = Path(__file__).parent / "results" / "partition_noise.json"
CHOSEN_ON = (
    *("corr80-9", "rand100-100", "rand200-100", "rand300-5", "p500-100-1", "p500-100-4"),
    *("p500-100-7", "p500-5-1", "gauss500-100-1", "rand500-5", "signs 500", "unif700-100-2"),
    *("p1000-2", "p1500-3"),
)
CPLIB = (
    *("ClusEdit/ce60-60", "ClusEdit/ce80-40", "Correlation/corr60-3", "Correlation/corr80-2"),
    *("Correlation/corr80-8", "Equicut/neg-tt-80", "Random/CPn65-1", "Random/CPn100-3"),
    *("Random/rand100-5", "Random/rand200-5", "Random/rand300-100", "Random/regnier300-50"),
    *("Random/rand400-5", "Random/gauss500-100-2", "Random/rand500-5", "Random/p500-5-3"),
    *("Random/p500-5-7", "Random/p500-5-10", "Correlation/corr80-9", "Random/rand100-100"),
    *("Random/rand200-100", "Random/rand300-5", "Random/gauss500-100-1", "Random/p500-5-1"),
    *("Random/p500-100-1", "Random/p500-100-4", "Random/p500-100-7", "Random/unif700-100-2"),
    *("Random/unif800-100-3", "Random/p1000-2", "Random/p1000-4", "Random/p1500-3"),
)
GENERATED = tuple(f"{k} {n}" for n in (80, 200, 500) for k in ("signs", "normal", "correlations"))
LEARNED = tuple(
    f"{kind}_n{n}_0" for kind in ("strat", "unstrat") for n in (100, 170, 220, 260, 300)
)
PROOFS = tuple(
    f"{name} {limit}"
    for limit in (1, 5)
    for name in (
        *("Correlation/corr80-2", "Random/rand100-5", "Random/rand200-5", "Random/rand300-100"),
        "Random/rand500-5",
    )
)
PARTS = {"cplib": CPLIB, "generated": GENERATED, "learned": LEARNED, "proofs": PROOFS}


def of_cplib(folder, name):
    import relatum as rt
    from relatum.io import read_cplib

    (path,) = (folder / "cplib" / name).parent.glob(f"{Path(name).name}.txt*")
    return rt.Problem(read_cplib(path), rt.EQUIVALENCES)


def best_known(folder, name):
    table = (folder / "cplib" / "values.tsv").read_text().splitlines()[1:]
    best = {f"{line[0]}/{line[1]}": line[3] for line in (row.split("\t") for row in table)}
    return float(best[name]) if best.get(name) else None


def generated(name):
    """Return signs, normal numbers, or correlations of n / 4 normal numbers per element."""
    import relatum as rt

    kind, n = name.split()[0], int(name.split()[1])
    rng = np.random.default_rng(n)
    few = rng.normal(size=(n, n // 4))
    kinds = {
        "signs": rng.choice([-1.0, 1.0], (n, n)),
        "normal": rng.normal(size=(n, n)),
        "correlations": np.corrcoef(few),
    }
    return rt.Problem(np.triu(kinds[kind], 1), rt.EQUIVALENCES)


def measured(folder, part, name):
    """Cluster once; return a row."""
    import relatum as rt

    arguments, known = {}, None
    if part == "generated":
        problem = generated(name)
    elif part == "learned":
        with np.load(folder / "mnist-clustering" / f"{name}.npz") as file:
            problem = rt.Problem(file["costs"], rt.EQUIVALENCES)
    else:
        if part == "proofs":
            name, limit = name.split()
            arguments = {"prove": True, "time_limit": float(limit)}
        problem, known = of_cplib(folder, name), best_known(folder, name)
    begin = process_time()
    e = rt.infer(problem, **arguments)
    row = {"cpu_seconds": round(process_time() - begin, 2), "value": e.value, "bound": e.bound}
    row["gap %"] = round(100 * e.gap / e.value, 2)
    row["status"], row["rows"] = e.status.name, e.certificate.counts()
    begin = process_time()
    row["verified"] = bool(rt.verify(problem, e))
    row["verify_seconds"] = round(process_time() - begin, 2)
    row["valid"] = known is None or e.bound >= known * (1 - 1e-9)
    return problem.n, known, row


def work(folder):
    """Answer the lines that come in, one problem each."""
    import relatum as rt

    rt.infer(rt.Problem(np.ones((9, 9)), rt.EQUIVALENCES))  # whatever is loaded once
    for line in sys.stdin:
        print(json.dumps(measured(folder, *json.loads(line))), flush=True)


class Revision:
    """A process that works with the sources of a revision."""

    def __init__(self, source):
        environment = os.environ | {"PYTHONPATH": str(source)}
        command = [sys.executable, __file__, "--work"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)

    def ask(self, part, name):
        self.process.stdin.write(json.dumps([part, name]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--before", type=Path, help="sources of the other revision")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA")
    if not folder or not Path(folder).is_dir():
        print("RELATUM_DATA names no folder: nothing measured.")
        return
    if options.work:
        work(Path(folder))
        return
    from _machine import machine

    here = Path(__file__).resolve().parent.parent / "src"
    revisions = {"before": Revision(options.before or here), "after": Revision(here)}
    rows = json.loads(OUTPUT.read_text())["rows"] if OUTPUT.exists() else []
    for part in options.parts:
        rows = [row for row in rows if row["part"] != part]
        for name in PARTS[part]:
            row = {"part": part, "instance": name}
            for when, revision in revisions.items():
                row["n"], row["best known"], row[when] = revision.ask(part, name)
            row["chosen on"] = name.split("/")[-1].split(" ")[0] in CHOSEN_ON or name in CHOSEN_ON
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
