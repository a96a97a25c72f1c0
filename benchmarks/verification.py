"""What it takes to check a certificate, and whether both checkers agree.

Two parts, each in one run:

* ``large``: a dense clustering of 10,000 elements (5 * 10**7 pairs) and a sparse one of a million
  (10**7 listed pairs) are solved and verified; reported are processor seconds of both, their
  ratio and, with ``--before SRC``, the ratio to the checker of another revision on the same rows
  and multipliers.
* ``plain``: estimates of made-up problems over all kinds of sets and, with RELATUM_DATA, of
  CP-Lib, LOLIB, images and modularity are written to bundles, which `relatum.verify` and the
  plain checker (a process of its own, standard library only) both check.

    RELATUM_DATA=folder python benchmarks/verification.py [--parts large plain] [--before SRC]

Writes ``benchmarks/results/verification.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np

HERE = Path(__file__).parent
DATA = Path(os.environ.get("RELATUM_DATA", "."))
LARGE = {"dense": 10_000, "sparse": 1_000_000}
CUT = "cut_"  # entries of a file of rows: cut_<family>_index and cut_<family>_multipliers


def large_problem(kind: str, n: int):
    """Return a planted, noisy clustering problem."""
    import relatum as rt

    sys.path.insert(0, str(HERE))
    from partition_scaling import dense_scores, sparse_problem

    rng = np.random.default_rng(0)
    if kind == "sparse":
        return sparse_problem(n, rng)
    return rt.Problem(dense_scores(n, rng), rt.EQUIVALENCES)


def solve_large(kind: str, n: int, path: str) -> dict[str, float]:
    """Solve in this process, verify, and leave rows and multipliers for other revisions."""
    import relatum as rt

    problem = large_problem(kind, n)
    start = process_time()
    e = rt.infer(problem, time_limit=60.0)
    solved = process_time()
    report = rt.verify(problem, e)
    done = process_time()
    cuts = getattr(e.certificate.proof, "cuts", ())
    arrays = {"labels": e.relation.labels, "bound": np.array(e.bound)}
    for cut in cuts:
        arrays[f"{CUT}{cut.family}_index"] = cut.index
        arrays[f"{CUT}{cut.family}_multipliers"] = cut.multipliers
    np.savez(path, **arrays)
    return {
        "solve": solved - start,
        "verify": done - solved,
        "ok": bool(report),
        "rows": sum(len(c) for c in cuts),
        "gap_share": e.gap / e.bound,
    }


def verify_large(kind: str, n: int, path: str) -> dict[str, float]:
    """Verify rows and multipliers of a file with the revision of this process."""
    import relatum as rt
    from relatum.proof.certificate import Certificate, Cuts, Leaf

    problem = large_problem(kind, n)
    with np.load(path) as given:
        labels, bound = given["labels"], float(given["bound"])
        names = [k[len(CUT) : -len("_index")] for k in given.files if k.endswith("_index")]
        cuts = tuple(
            Cuts(k, given[f"{CUT}{k}_index"], given[f"{CUT}{k}_multipliers"]) for k in names
        )
    relation = rt.Partition(labels)
    certificate = Certificate(bound, Leaf(cuts))
    e = rt.Estimate(rt.Status.FEASIBLE, relation, problem.value(relation), bound, certificate)
    start = process_time()
    report = rt.verify(problem, e)
    return {"verify": process_time() - start, "ok": bool(report)}


def run(source: Path, *arguments: str) -> dict[str, float]:
    """Run one measurement in a process with the sources of one revision."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--one", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def large(before: Path | None, scale: float) -> dict[str, dict[str, float]]:
    """Measure the large problems; print and return a line for each."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, full in LARGE.items():
            n, path = int(full * scale), str(Path(folder) / f"{kind}.npz")
            line = run(HERE.parent / "src", "solve", kind, str(n), path)
            text = (
                f"{kind:7} n = {n:9,}  {line['rows']:10,} rows  solve {line['solve']:6.1f} s  "
                f"verify {line['verify']:6.1f} s  ratio {line['verify'] / line['solve']:.2f}"
            )
            if before is not None:
                now, then = (
                    run(s, "verify", kind, str(n), path) for s in (HERE.parent / "src", before)
                )
                line["before"], line["ratio_to_before"] = then, now["verify"] / then["verify"]
                text += f"  now / before {line['ratio_to_before']:.2f}"
            print(text, "verified" if line["ok"] else "REFUSED", flush=True)
            results[kind] = line
    return results


def made_up():
    """Yield names and problems over all kinds of sets."""
    import relatum as rt

    rng = np.random.default_rng(0)
    sets = {
        "equivalences": (rt.EQUIVALENCES, (8, 14, 20)),
        "capped": (rt.EQUIVALENCES & rt.at_most(3), (9, 14)),
        "linear orders": (rt.LINEAR_ORDERS, (8, 14, 20)),
        "weak orders": (rt.WEAK_ORDERS, (5, 7)),
        "partial orders": (rt.PARTIAL_ORDERS, (5, 7)),
        "preorders": (rt.PREORDERS, (5, 7)),
        "maps": (rt.MAPS, (10, 30)),
        "bijections": (rt.BIJECTIONS, (10, 30)),
        "transitive": (rt.TRANSITIVE, (4, 5)),
    }
    for name, (feasible, sizes) in sets.items():
        for n in sizes:
            for scores in (rng.normal(size=(n, n)) * 3, rng.integers(-5, 6, (n, n)) * 1.0):
                yield name, rt.Problem(scores, feasible)


def from_data():
    """Yield names and problems of the data folder, the smallest of each set first."""
    import relatum as rt

    def smallest(pattern, count):
        return sorted(DATA.glob(pattern), key=lambda p: (p.stat().st_size, p.name))[:count]

    for path in smallest("cplib/*/*.txt", 12):
        yield "CP-Lib", rt.Problem(rt.io.read_cplib(path), rt.EQUIVALENCES)
    for path in smallest("mnist-clustering/*.npz", 10):
        yield "images", rt.Problem(np.load(path)["costs"], rt.EQUIVALENCES)
    for path in [p for p in smallest("lolib/**/*", 40) if p.is_file() and p.suffix != ".tsv"][:12]:
        try:
            yield "LOLIB", rt.Problem(rt.io.read_lolib(path), rt.LINEAR_ORDERS)
        except rt.errors.RelatumError:
            continue  # a description, not a matrix


def plain(limit: float) -> dict[str, dict[str, int]]:
    """Check bundles with both checkers; print and return counts of what they said."""
    import relatum as rt

    checker = HERE.parent / "src" / "relatum" / "proof" / "plain.py"
    said: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, problem) in enumerate([*made_up(), *from_data()]):
            e = rt.infer(problem, prove=True, time_limit=limit)
            path = str(Path(folder) / f"{number}.npz")
            rt.io.save_estimate(path, problem, e)
            first = bool(rt.verify(problem, e))
            command = [sys.executable, "-I", str(checker), path]
            second = subprocess.run(command, capture_output=True, check=False).returncode
            if second == 2:
                word = "too large for the plain one"
            else:
                agree = first == (second == 0)
                word = ("both verify" if first else "both refuse") if agree else "DISAGREE"
            said.setdefault(name, Counter())[word] += 1
    for name, counts in said.items():
        print(f"{name:16}", ", ".join(f"{v} {k}" for k, v in counts.items()), flush=True)
    return {k: dict(v) for k, v in said.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--parts", nargs="*", default=["large", "plain"])
    parser.add_argument("--before", type=Path, help="sources of the revision to compare with")
    parser.add_argument("--scale", type=float, default=1.0, help="of the large problems")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds to prove each problem")
    arguments = parser.parse_args()
    if arguments.one:
        what, kind, n, path = arguments.one
        job = solve_large if what == "solve" else verify_large
        print(json.dumps(job(kind, int(n), path)))
        return
    output = HERE / "results" / "verification.json"
    results = json.loads(output.read_text()) if output.is_file() else {}
    if "large" in arguments.parts:
        results["large"] = large(arguments.before, arguments.scale)
    if "plain" in arguments.parts:
        results["plain"] = plain(arguments.limit)
    output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
