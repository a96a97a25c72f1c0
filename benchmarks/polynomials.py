"""Quadratics of principal components, learned here and by scikit-learn.

The images of MNIST, reduced to 16 x 16, are lifted to all monomials of degree at most 2 in 60
principal components, and a logistic measure is learned: by `MapClassifier` with
`PolynomialLifting`, and by scikit-learn's PCA, PolynomialFeatures and LogisticRegression (with
C = 1, its default). Processor time of fitting, in turns, and test error; with the threads that
BLAS takes by itself, and with one.

    RELATUM_DATA=... python benchmarks/polynomials.py [--rows 7291] [--repeats 2]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from threadpoolctl import threadpool_limits

import relatum as rt

RESULTS = Path(__file__).parent / "results"
COMPONENTS = 60
MODELS = {
    "relatum": lambda: rt.MapClassifier(lifting=rt.PolynomialLifting(COMPONENTS, random_state=0)),
    "scikit-learn": lambda: make_pipeline(
        PCA(COMPONENTS, random_state=0), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
    ),
}


def reduced(images):
    """Return images of 16 x 16 pixels: means of four, with a margin of two pixels around."""
    wide = np.pad(images.reshape(-1, 28, 28) / 255.0, ((0, 0), (2, 2), (2, 2)))
    return wide.reshape(-1, 16, 2, 16, 2).mean(axis=(2, 4)).reshape(-1, 256)


def measured(train, test, threads, repeats):
    found = {name: {"seconds": np.inf} for name in MODELS}
    for _ in range(repeats):
        for name, make in MODELS.items():
            with threadpool_limits(limits=threads, user_api="blas"):
                start = process_time()
                model = make().fit(reduced(train.images), train.labels)
                took = process_time() - start
            error = 1.0 - model.score(reduced(test.images), test.labels)
            best = min(found[name]["seconds"], took)
            found[name] = {"seconds": best, "error": float(error)}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=7291)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    if rt.datasets.data_path("mnist") is None:
        print("skipped: there is no folder mnist in RELATUM_DATA")
        return
    train, test = rt.datasets.load_mnist()
    train = rt.datasets.Digits(train.images[: options.rows], train.labels[: options.rows])
    out = {"machine": machine("scikit-learn"), "rows": options.rows, "threads": {}}
    for threads in (None, 1):
        found = measured(train, test, threads, options.repeats)
        ratio = found["relatum"]["seconds"] / found["scikit-learn"]["seconds"]
        out["threads"][str(threads or "as given")] = {**found, "ratio": ratio}
        print(f"BLAS threads {threads or 'as given'}: {ratio:.2f} of scikit-learn's time")
        for name, one in found.items():
            print(f"  {name:13} {one['seconds']:6.1f} s   test error {one['error']:.4f}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "polynomials.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
