"""Pairs of handwritten digits, same or not: the sketch of pair features, and the bilinear measure.

    RELATUM_DATA=folder python experiments/pairs_mnist.py --model sketch
    RELATUM_DATA=folder python experiments/pairs_mnist.py --model bilinear

Training pairs are drawn from the 60,000 training images, test pairs from the 10,000 test images;
neither features of all pairs nor their sketches are ever held.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import mnist
import numpy as np

from relatum.features import (
    BinaryFeatures,
    PairBatches,
    TensorSketch,
    pair_features,
    sample_pairs,
)
from relatum.measures import BilinearPairMeasure, LogisticMeasure


def test_sets(labels, count):
    """Pairs of test images, stratified and not."""
    return {
        "stratified": sample_pairs(labels, count, stratified=True, random_state=1),
        "unstratified": sample_pairs(labels, count, stratified=False, random_state=2),
    }


def error_of_batches(measure, batches):
    wrong = sum(
        int((predicted != y).sum())
        for predicted, (_, y) in zip(measure.predict(batches), _targets(batches), strict=True)
    )
    return wrong / batches.n_pairs


def _targets(batches):
    for lo in range(0, batches.n_pairs, batches.batch_size):
        yield None, batches.y[lo : lo + batches.batch_size]


def sketch(settings):
    """One reading of streamed sketches of pair features, by dual ascent."""
    train, labels = mnist.load("train")
    test, test_labels = mnist.load("t10k")
    code = BinaryFeatures().fit(train)
    v, w = code.transform(train), code.transform(test)
    result = {"model": "sketch", **settings}
    result["memory before, GiB"] = round(mnist.peak_gib(), 2)
    i, j, y = sample_pairs(
        labels, settings["pairs"], stratified=settings["stratified"], random_state=0
    )
    lifting = TensorSketch(
        2, settings["components"], random_state=0, domain=settings["domain"], n_jobs=2
    ).fit(pair_features(v[i[:256]], v[j[:256]]))
    batches = PairBatches(v, i, j, y, batch_size=1024, lifting=lifting)
    measure = LogisticMeasure(
        2.0 ** settings["log2 strength"], max_epochs=settings["epochs"], tol=1e-2
    )
    with mnist.clock(result, "features and training"):
        measure.fit(batches)
    result["peak memory above images, GiB"] = round(
        mnist.peak_gib() - result["memory before, GiB"], 2
    )
    result["relative duality gap"] = measure.duality_gap_
    result["gap is exact"] = measure.gap_is_exact_
    with mnist.clock(result, "test"):
        result["test error"] = {
            name: error_of_batches(
                measure, PairBatches(w, a, b, t, batch_size=1024, lifting=lifting)
            )
            for name, (a, b, t) in test_sets(test_labels, settings["test pairs"]).items()
        }
    return result


def bilinear(settings):
    """Bilinear scores of discriminants, from pixels."""
    train, labels = mnist.load("train")
    test, test_labels = mnist.load("t10k")
    result = {"model": "bilinear", **settings}
    result["memory before, GiB"] = round(mnist.peak_gib(), 2)
    i, j, y = sample_pairs(
        labels, settings["pairs"], stratified=settings["stratified"], random_state=0
    )
    measure = BilinearPairMeasure(2.0 ** settings["log2 strength"], tol=1e-2)
    with mnist.clock(result, "features and training"):
        measure.fit(train, i, j, y)
    result["relative duality gap"] = measure.duality_gap_
    result["iterations"] = measure.n_iter_
    result["test error"] = {
        name: float((measure.predict(test, a, b) != t).mean())
        for name, (a, b, t) in test_sets(test_labels, settings["test pairs"]).items()
    }
    with mnist.clock(result, "scores of all pairs of test images"):
        scores = measure.all_log_odds(test)
    a, b = np.triu_indices(len(test), 1)
    result["error on all pairs"] = float(
        ((scores > 0) != (test_labels[a] == test_labels[b])).mean()
    )
    result["peak memory above images, GiB"] = round(
        mnist.peak_gib() - result["memory before, GiB"], 2
    )
    return result


MODELS = {"sketch": (sketch, 22.0), "bilinear": (bilinear, 7.0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(MODELS), default="sketch")
    parser.add_argument("--pairs", type=int, default=500_000)
    parser.add_argument("--test-pairs", type=int, default=50_000)
    parser.add_argument("--unstratified", action="store_true", help="training pairs as they come")
    parser.add_argument("--log2-strength", type=float)
    parser.add_argument("--components", type=int, default=16384)
    parser.add_argument("--domain", choices=("signal", "fourier"), default="fourier")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    run, usual = MODELS[args.model]
    settings = {
        "pairs": args.pairs,
        "test pairs": args.test_pairs,
        "stratified": not args.unstratified,
        "log2 strength": usual if args.log2_strength is None else args.log2_strength,
    }
    if args.model == "sketch":
        settings |= {"components": args.components, "domain": args.domain, "epochs": args.epochs}
    name = f"pairs_mnist_{args.model}" + ("_unstratified" if args.unstratified else "")
    mnist.write(run(settings), name, args.output)


if __name__ == "__main__":
    main()
