"""Two revisions side by side: processor time and answers, in one run.

Each case is a job of the public interface, run in processes of its own by turns with the sources
of both revisions; kernels are compiled, or loaded, before the clock starts. Reported is the ratio
of the least processor times, new over old, and whether the answers are the same.

    git worktree add ../before <revision>
    RELATUM_DATA=folder python benchmarks/revisions.py --before ../before/src [--cases orders]

Without RELATUM_DATA the cases are those on made-up data.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np

HERE = Path(__file__).parent
DATA = Path(os.environ.get("RELATUM_DATA", "."))


def scores_with_noise(n, sets, noise, seed):
    """Return condensed log-odds of a planted partition, with Gaussian noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, sets, n)
    i, j = np.triu_indices(n, 1)
    return np.where(truth[i] == truth[j], 1.0, -1.0) + noise * rng.normal(size=len(i))


def digest(relation):
    """Return a short word for a relation, from its labels, its ranks or its matrix."""
    for name in ("labels", "ranks"):
        if hasattr(relation, name):
            return hashlib.sha256(np.asarray(getattr(relation, name), np.int64)).hexdigest()[:8]
    return hashlib.sha256(np.ascontiguousarray(relation.matrix(), np.int64)).hexdigest()[:8]


def solve_all(problems, **arguments):
    """Infer all; return what two revisions are compared by."""
    import relatum as rt

    found = [rt.infer(p, time_limit=600.0, **arguments) for p in problems]
    return [[e.status.name, round(e.value, 6), digest(e.relation)] for e in found]


def planted_exact():
    """Exact clusterings of planted partitions."""
    import relatum as rt

    return [
        rt.Problem(scores_with_noise(n, 6, 1.6, n), rt.EQUIVALENCES) for n in (60, 80, 100, 120)
    ], {"prove": True}


def learned_exact():
    """Exact clusterings of images, by learned scores."""
    import relatum as rt

    files = sorted((DATA / "mnist-clustering").glob("*_n[12][07]0_[01].npz"))
    return [rt.Problem(np.load(f)["costs"], rt.EQUIVALENCES) for f in files], {"prove": True}


def cplib_exact():
    """Exact clusterings of CP-Lib."""
    import relatum as rt

    names = ("ABR/cars", "ABR/wildcats", "ABR/zoo", "ABR/soybean-35", "ClusEdit/ce50-20")
    return [
        rt.Problem(rt.io.read_cplib(DATA / "cplib" / f"{k}.txt"), rt.EQUIVALENCES) for k in names
    ], {"prove": True}


def capped():
    """Exact clusterings into sets of at most three."""
    import relatum as rt

    return [
        rt.Problem(scores_with_noise(n, n // 3, 1.0, n), rt.EQUIVALENCES & rt.at_most(3))
        for n in (24, 30, 36)
    ], {"prove": True}


def dense_search():
    """Heuristic clusterings, dense."""
    import relatum as rt

    return [
        rt.Problem(scores_with_noise(n, 10, 4.0, n).astype(np.float32), rt.EQUIVALENCES)
        for n in (200, 600, 1500)
    ], {"solver": "partition_local_search"}


def sparse_search():
    """Heuristic clusterings of listed pairs, with and without a background."""
    import relatum as rt

    rng = np.random.default_rng(0)
    out = []
    for background in (0.0, -1.0):
        n = 20_000
        truth = rng.integers(0, n // 8, n)
        near = np.argsort(truth, kind="stable")
        i = np.repeat(np.arange(n), 6)
        j = (i + rng.integers(1, 9, len(i))) % n
        i, j = near[i], near[j]
        keep = i < j
        i, j = i[keep], j[keep]
        first = np.unique(i * n + j, return_index=True)[1]
        i, j = i[first], j[first]
        c = np.where(truth[i] == truth[j], 1.5, -1.5) + 1.5 * rng.normal(size=len(i))
        out.append(
            rt.Problem.from_pairs(i, j, c, n=n, background=background, feasible=rt.EQUIVALENCES)
        )
    return out, {}


def orders():
    """Exact linear orders of random tournaments."""
    import relatum as rt

    rng = np.random.default_rng(1)
    out = []
    for n in (20, 30, 40, 60):
        c = rng.integers(0, 10, (n, n)).astype(float)
        c += np.triu(rng.integers(0, 7, (n, n)), 1)
        np.fill_diagonal(c, 0.0)
        out.append(rt.Problem(c, rt.LINEAR_ORDERS))
        out.append(rt.Problem(c + 1e-3 * rng.random((n, n)), rt.LINEAR_ORDERS))
    return out, {"prove": True}


def lolib_exact():
    """Exact linear orders of LOLIB."""
    import relatum as rt

    files = sorted((DATA / "lolib" / "IO").iterdir())[:12]
    files += sorted((DATA / "lolib" / "SGB").iterdir())[:4]
    files += sorted((DATA / "lolib" / "RandB").iterdir())[:1]
    return [rt.Problem(rt.io.read_lolib(f), rt.LINEAR_ORDERS) for f in files], {"prove": True}


def sentences():
    """Many small linear orders at once."""
    import relatum as rt

    rng = np.random.default_rng(2)
    problems = [
        rt.Problem(rng.normal(size=(n, n)), rt.LINEAR_ORDERS)
        for n in rng.integers(4, 14, 4000).tolist()
    ]
    return problems, None


def preorders():
    """Exact weak orders, partial orders and preorders."""
    import relatum as rt

    rng = np.random.default_rng(3)
    out = []
    for n, family in ((14, rt.WEAK_ORDERS), (12, rt.PARTIAL_ORDERS), (12, rt.PREORDERS)):
        place = rng.integers(0, n // 2, n)
        c = np.where(place[:, None] <= place, 1.0, -1.0) * rng.integers(1, 5, (n, n))
        c[rng.random((n, n)) < 0.08] *= -1
        out.append(rt.Problem(c, family))
    return out, {"prove": True}


def general():
    """Exact relations of an intersection that no family of its own solves."""
    import relatum as rt

    rng = np.random.default_rng(4)
    feasible = rt.TRANSITIVE & rt.ANTISYMMETRIC & rt.HAS_IMAGE
    return [rt.Problem(rng.normal(size=(n, n)), feasible) for n in (6, 7, 8)], {"prove": True}


def pair_table():
    """Clusters of a table of about a million scored pairs, with DuckDB."""
    import pyarrow

    rng = np.random.default_rng(5)
    n = 600_000
    i = rng.integers(0, n, 1_800_000)
    j = np.minimum(n - 1, (i // 4) * 4 + rng.integers(0, 7, len(i)))
    keys = np.unique(np.minimum(i, j)[i != j] * n + np.maximum(i, j)[i != j])
    i, j = keys // n, keys % n
    c = np.where(i // 4 == j // 4, 3.0, -3.0) + 3.0 * rng.normal(size=len(i))
    return pyarrow.table({"unique_id_l": i, "unique_id_r": j, "match_weight": c}), None


def learning():
    """Learn from a sketch of scikit-learn's digits."""
    import relatum as rt

    (x, y), _ = ((d[0], d[1]) for d in rt.datasets.load_digits())
    lifted = rt.TensorSketch(2, 1024, random_state=0).fit_transform(np.asarray(x, float))
    return (lifted, np.asarray(y)), None


def sketches():
    """Tensor sketches of bits and of numbers, dense and sparse, and products of columns."""
    from scipy import sparse

    rng = np.random.default_rng(6)
    bits = (rng.random((1500, 784)) < 0.2).astype(np.float64)
    return (bits, sparse.csr_array(bits), bits[:, :120] * rng.normal(size=(1500, 120))), None


def job_of(case):
    """Return what is timed: a function without arguments that returns what is compared."""
    import relatum as rt

    given, arguments = CASES[case]()
    if case == "sentences":
        return lambda: [
            round(sum(e.value for e in rt.infer_many(given, n_jobs=1)), 6),
        ]
    if case == "pair_table":

        def clusters():
            found = rt.cluster_pairs(given, background=-4.0)
            return [found.summary.clusters, round(found.summary.value, 4)]

        return clusters
    if case == "learning":

        def learned():
            lifted, y = given
            fit = rt.LogisticMeasure(64.0, random_state=0).fit(lifted, y)
            return [round(float(np.mean(fit.log_odds(lifted).argmax(axis=1) == y)), 6)]

        return learned
    if case == "sketches":

        def sketched():
            sums = []
            for x, degree in zip(given, (2, 2, 3), strict=True):
                lifted = rt.TensorSketch(degree, 2048, random_state=0).fit_transform(x)
                sums.append(round(float(np.abs(lifted).sum()), 4))
            sums.append(round(float(rt.MultilinearLifting(2).fit_transform(given[2]).sum()), 4))
            return sums

        return sketched
    return lambda: solve_all(given, **arguments)


CASES = {
    "planted_exact": planted_exact,
    "learned_exact": learned_exact,
    "cplib_exact": cplib_exact,
    "capped": capped,
    "dense_search": dense_search,
    "sparse_search": sparse_search,
    "orders": orders,
    "lolib_exact": lolib_exact,
    "sentences": sentences,
    "preorders": preorders,
    "general": general,
    "pair_table": pair_table,
    "learning": learning,
    "sketches": sketches,
}
NEED_DATA = {"learned_exact", "cplib_exact", "lolib_exact"}


def measure(case):
    """Run one case for at least a second in this process; print the mean time and the answer."""
    job = job_of(case)
    answer = job()
    began, runs = process_time(), 0
    while process_time() - began < 1.0:
        job()
        runs += 1
    print(json.dumps({"seconds": (process_time() - began) / runs, "answer": answer}))


def run_with(source, case):
    """Measure one case in a process of its own, with the sources of one revision."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", case]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{case} with {source} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(case, sources, repeat):
    """Run a case by turns; return the least seconds of each revision and the answers."""
    runs = [[run_with(source, case) for source in sources] for _ in range(repeat)]
    seconds = [min(turn[k]["seconds"] for turn in runs) for k in (0, 1)]
    return {
        "case": case,
        "before": round(seconds[0], 4),
        "now": round(seconds[1], 4),
        "ratio": round(seconds[1] / seconds[0], 3),
        "same answers": runs[0][0]["answer"] == runs[0][1]["answer"],
        "answers": None
        if runs[0][0]["answer"] == runs[0][1]["answer"]
        else [runs[0][0]["answer"], runs[0][1]["answer"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="src folder of the other revision")
    parser.add_argument("--now", type=Path, default=HERE.parent / "src")
    parser.add_argument("--cases", nargs="*", default=sorted(CASES))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    if options.before is None:
        print("Skipped: name the src folder of another revision with --before.")
        return
    rows = []
    for case in options.cases:
        if case in NEED_DATA and "RELATUM_DATA" not in os.environ:
            print(f"{case:15} skipped: set RELATUM_DATA")
            continue
        row = compare(case, (options.before.resolve(), options.now.resolve()), options.repeat)
        rows.append(row)
        same = "same answers" if row["same answers"] else f"answers differ: {row['answers']}"
        print(
            f"{case:15} before {row['before']:8.3f} s  now {row['now']:8.3f} s  "
            f"ratio {row['ratio']:.2f}  {same}",
            flush=True,
        )
    if rows:
        mean = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))
        print(f"geometric mean of the ratios {mean:.3f}, largest {max(r['ratio'] for r in rows)}")


if __name__ == "__main__":
    main()
