"""Cluster editing: the exact track of the PACE 2021 challenge, proven, beside its winner.

Each graph is a problem of +1 for an edge and -1 for any other pair; the edits are the edges minus
the value. Instances are proven within a time limit, in processor seconds of one core; those left
open may be tried again with more. A proof counts if `relatum.verify` accepts it; where the winner
of the challenge (KaPoCE) proved a number of edits, ours must be the same. Each instance is recorded
when it is done, and those proven, or tried for as long, are left out by the next run.

    RELATUM_DATA=folder python benchmarks/partition_editing.py [--limit 20] [--share 0 4]
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import os
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine

import relatum as rt
import relatum.inference
from relatum.solvers.control import Control

RESULTS = Path(__file__).parent / "results"


def measured(row, folder, limit):
    """Prove one instance and check the proof; return what was found."""
    n, i, j = rt.io.read_pace(folder / "exact" / f"{row['instance']}.gz")
    scores = np.full((n, n), -1.0)
    scores[i, j] = scores[j, i] = 1.0
    problem = rt.Problem(scores[np.triu_indices(n, 1)], rt.EQUIVALENCES)
    began = process_time()
    e = rt.infer(problem, prove=True, time_limit=limit)
    seconds = process_time() - began
    found = {
        "n": n, "edges": len(i), "edits": len(i) - round(e.value),
        "gap": e.gap, "gap_percent_of_value": 100 * e.gap / max(1.0, e.value),
        "proven": e.status.name == "OPTIMAL", "cpu_seconds": round(seconds, 3), "limit": limit,
        "verified": bool(rt.verify(problem, e)), "winner_proved": row["solved"] == "1",
        "winner_edits": int(row["optimal_k"] if row["solved"] == "1" else row["upper_k"]),
    }  # fmt: skip
    proven = found["proven"] and found["winner_proved"]
    found["agrees"] = not proven or found["edits"] == found["winner_edits"]
    return found


def summary(rows):
    """Say how many are proven, within what time, and by whom."""
    ours = [r for r in rows.values() if r["proven"] and r["verified"]]
    out = {
        "instances": len(rows),
        "proven by the winner": sum(r["winner_proved"] for r in rows.values()),
    }
    tried = max(r["limit"] for r in rows.values())
    for limit in (x for x in (1.0, 20.0, 60.0, 300.0) if x <= tried):
        out[f"proven within {limit:g} s"] = sum(r["cpu_seconds"] <= 1.05 * limit for r in ours)
    out["proven by the winner only"] = sum(
        r["winner_proved"] and not r["proven"] for r in rows.values()
    )
    out["open"] = {
        k: round(r["gap_percent_of_value"], 2) for k, r in rows.items() if not r["proven"]
    }
    out["all agree"] = all(r["agrees"] and r["verified"] for r in rows.values())
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), help="this part of so many")
    parser.add_argument("--out", type=Path, default=RESULTS / "partition_editing.json")
    parser.add_argument("--join", type=Path, nargs="*", default=[], help="results of other parts")
    options = parser.parse_args()
    relatum.inference.Control = functools.partial(Control, clock=process_time)
    folder = Path(os.environ["RELATUM_DATA"]) / "pace2021"
    with (folder / "values.tsv").open() as file:
        instances = list(csv.DictReader(file, delimiter="\t"))
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    rows = found.setdefault("rows", {})
    for other in options.join:
        rows |= json.loads(other.read_text())["rows"]
    part, parts = options.share
    for row in [] if options.join else instances[part::parts]:
        old = rows.get(row["instance"])
        if old is None or (not old["proven"] and old["limit"] < options.limit):
            r = rows[row["instance"]] = measured(row, folder, options.limit)
            print(row["instance"], r, flush=True)
        found |= {"summary": summary(rows), "machine": machine()}
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    found |= {"summary": summary(rows), "machine": machine(), "rows": dict(sorted(rows.items()))}
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["summary"], indent=1))


if __name__ == "__main__":
    main()
