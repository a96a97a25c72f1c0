"""Learning beside LIBLINEAR and scikit-learn, at equal objective, in one run.

The problem: Tensor Sketch (degree 2) of MNIST bits, ten labels, one versus rest, the paper's prior.
Every method is run with looser to tighter tolerances until D_x + R_sigma is within 1e-3 of the
minimum; the first such run counts. Preparing a peer's own data format is not timed.
And: the Bernoulli measure of all pairs of words in 147,952 sentences.

    RELATUM_DATA=folder python benchmarks/learning.py
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from _machine import machine
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from relatum.features import BinaryFeatures, TensorSketch
from relatum.measures import BernoulliMeasure, LogisticMeasure, encode_sequences
from relatum.measures.fit.sdca import natural_lambda
from relatum.measures.objective import LN2, logistic_divergence, logistic_regularizer

RESULTS = Path(__file__).parent / "results"
NEAR = 1e-3


def sketched_mnist(folder, n, m):
    with gzip.open(folder / "mnist" / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 784)[:n]
    with gzip.open(folder / "mnist" / "train-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), dtype=np.uint8, offset=8)[:n]
    bits = BinaryFeatures().fit_transform(images)
    return TensorSketch(2, m, random_state=0, dtype="int8").fit_transform(bits), labels


def relatum_runs(x, y, strength, solver):
    for tol in (3e-3, 1e-3, 3e-4, 1e-4):
        measure = LogisticMeasure(strength, tol=tol, solver=solver, max_epochs=2000)
        yield tol, lambda measure=measure: measure.fit(x, y).coef_


def scikit_learn_runs(x, y, strength, dtype):
    table = x.astype(dtype)

    def fit(tol):
        model = LogisticRegression(
            C=1.0 / natural_lambda(strength), fit_intercept=False, tol=tol, max_iter=5000
        )
        return np.array([model.fit(table, y == k).coef_[0] for k in range(10)]) / LN2

    for tol in (1.0, 3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4):
        yield tol, lambda tol=tol: fit(tol)


def liblinear_runs(x, y, strength, solver):
    from liblinear.liblinearutil import parameter, problem, train

    table = problem(y.astype(float), sparse.csr_matrix(x, dtype=np.float64))
    cost = 1.0 / natural_lambda(strength)

    def fit(tol):
        model = train(table, parameter(f"-s {solver} -c {cost!r} -e {tol!r} -q"))
        theta = np.empty((10, x.shape[1]))
        for k, label in enumerate(model.get_labels()):
            theta[int(label)] = np.array(model.get_decfun(k)[0]) / LN2
        return theta

    # the primal solver (-s 0) is known to need the tighter ones; looser runs would only take time
    for tol in (1.0, 0.3, 0.1, 0.03, 0.01) if solver == 7 else (0.003, 0.001, 0.0003):
        yield tol, lambda tol=tol: fit(tol)


def first_near(runs, objective, minimum):
    """Time the runs from loose to tight; return the first whose objective is near the minimum."""
    for tol, run in runs:
        start = perf_counter(), process_time()
        theta = run()
        spent = perf_counter() - start[0], process_time() - start[1]
        excess = objective(theta) / minimum - 1.0
        if excess <= NEAR:
            return {
                "elapsed": spent[0],
                "processor": spent[1],
                "tolerance": tol,
                "objective above minimum": excess,
            }
    return None


def compare(x, y, strength):
    related = y[:, None] == np.arange(10)
    table = x.astype(np.float64)

    def objective(theta):
        return logistic_divergence(theta, table, related) + logistic_regularizer(theta, strength)

    exact = LogisticMeasure(strength, tol=1e-7, max_epochs=5000).fit(x, y)
    minimum = objective(exact.coef_)
    LogisticMeasure(strength, max_epochs=1, tol=1.0).fit(x[:100], y[:100])  # load
    methods = {
        "relatum": relatum_runs(x, y, strength, "sdca"),
        "relatum, lockstep L-BFGS": relatum_runs(x, y, strength, "lbfgs"),
        "scikit-learn lbfgs, float32": scikit_learn_runs(x, y, strength, np.float32),
        "scikit-learn lbfgs, float64": scikit_learn_runs(x, y, strength, np.float64),
    }
    try:
        import liblinear  # noqa: F401

        methods["LIBLINEAR -s 7"] = liblinear_runs(x, y, strength, 7)
        methods["LIBLINEAR -s 0"] = liblinear_runs(x, y, strength, 0)
    except ImportError:
        print("LIBLINEAR is skipped: liblinear-official is not installed")
    rows = {}
    for name, runs in methods.items():
        rows[name] = first_near(runs, objective, minimum)
        print(f"{name:30s}", rows[name], flush=True)
    again = first_near(relatum_runs(x, y, strength, "sdca"), objective, minimum)
    if again["processor"] < rows["relatum"]["processor"]:
        rows["relatum"] = again
    return {"minimum, bits": minimum, "gap of the minimum": exact.duality_gap_, "methods": rows}


def ratios(methods):
    """How many times the better variant of every peer takes the seconds of ours."""
    ours = methods["relatum"]
    out = {}
    for peer in ("scikit-learn", "LIBLINEAR"):
        found = [r for name, r in methods.items() if name.startswith(peer) and r is not None]
        for clock in ("elapsed", "processor"):
            if found:
                out[f"{peer}, {clock}"] = min(r[clock] for r in found) / ours[clock]
    return out


def words(folder):
    BernoulliMeasure().fit_sequences([0, 1], [0, 2])  # load
    start = perf_counter()
    with gzip.open(folder / "wikipedia" / "union_top3000.txt.gz", "rt") as file:
        lines = file.read().splitlines()
    read = perf_counter()
    tokens, offsets, dictionary = encode_sequences(lines)
    encoded = perf_counter()
    measure = BernoulliMeasure().fit_sequences(tokens, offsets, len(dictionary))
    end = perf_counter()
    return {
        "sentences": len(lines),
        "ordered pairs": float(measure.related_.sum()),
        "classes seen": len(measure.class_ids_),
        "seconds: read": read - start,
        "seconds: encode": encoded - read,
        "seconds: learn": end - encoded,
        "seconds: all": end - start,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--components", type=int, default=8192)
    parser.add_argument("--inverse-sigma-squared", type=float, default=2.0**12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS / "learning.json")
    args = parser.parse_args()
    folder = os.environ.get("RELATUM_DATA", "")
    if not folder or not Path(folder).is_dir():
        raise SystemExit("set RELATUM_DATA to the benchmark data folder")
    warnings.simplefilter("ignore")
    result = {"machine": machine("scikit-learn", "liblinear-official"), "threads": args.threads}
    with threadpool_limits(args.threads):
        x, y = sketched_mnist(Path(folder), args.rows, args.components)
        result["problem"] = {
            "rows": args.rows,
            "components": args.components,
            "labels": 10,
            "inverse_sigma_squared": args.inverse_sigma_squared,
        }
        result["logistic"] = compare(x, y, args.inverse_sigma_squared)
        result["ratios"] = ratios(result["logistic"]["methods"])
        result["words"] = words(Path(folder))
    for name, value in {**result["ratios"], **result["words"]}.items():
        print(f"{name:30s} {value:.3g}")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
