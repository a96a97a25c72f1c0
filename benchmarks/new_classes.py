"""Classes that nobody has seen: measures of pairs learned from some classes cluster others.

Half of the classes are learned from, the other half are clustered, for several random halves:
images of MNIST and scikit-learn's digits (five classes and five), and 60 invented classes that
differ in 4 of 12 columns while the others are louder noise. Beside each other: the bilinear
measure as it is by default, one whose rank and strength were chosen on classes held out within
those learned from, the measure without labels, and k-means and Ward, **which are told the true
number of clusters**. Share of wrong pairs, and what calling no two elements related would get.

    RELATUM_DATA=... python benchmarks/new_classes.py [--seeds 3]
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _machine import machine
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import relatum as rt
from relatum.measures import DiscriminantProjection

RESULTS = Path(__file__).parent / "results"
CANDIDATES = [
    rt.BilinearPairMeasure(strength, projection=DiscriminantProjection(components, rank), tol=1e-2)
    for components, rank in ((10, 4), (20, 6), (60, 12))
    for strength in (1.0, 100.0, 1e4)
]


def invented(rng):
    labels = np.repeat(np.arange(60), 20)
    signal = rng.normal(size=(60, 4))[labels] + 0.15 * rng.normal(size=(1200, 4))
    return np.hstack([signal, 2.0 * rng.normal(size=(1200, 8))]), labels


def mnist(rng):
    train = rt.datasets.load_mnist()[0]
    rows = rng.permutation(len(train.labels))[:3000]
    return train.images[rows].reshape(3000, -1) / 255.0, train.labels[rows]


SETS = {"invented": invented, "digits": lambda rng: load_digits(return_X_y=True), "MNIST": mnist}


def judged(truth, found):
    return {
        "wrong": float(rt.metrics.rand_error(truth, found)),
        "ari": float(adjusted_rand_score(truth, found)),
        "clusters": len(set(found.tolist())),
    }


def clusterings(old, labels, new, k):
    """Yield the name and the clusters of each way."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    default = rt.PartitionClustering(n_pairs=40_000).fit(old, labels)
    yield "bilinear, default", default.predict(new)
    chosen = rt.choose_for_new_classes(CANDIDATES, old, labels, n_folds=4, n_pairs=10_000)
    print(
        f"    bits per pair on classes held out: {chosen.bits.min():.2f} to "
        f"{chosen.bits.max():.2f}, of a constant {chosen.baseline:.2f}"
    )
    best = rt.PartitionClustering(measure=clone(chosen.best), n_pairs=40_000).fit(old, labels)
    yield "bilinear, chosen on held-out classes", best.predict(new)
    yield "without labels", rt.PartitionClustering().fit_predict(new)
    yield "k-means, true k", KMeans(k, n_init=10, random_state=0).fit_predict(new)
    yield "Ward, true k", AgglomerativeClustering(k).fit_predict(new)
    yield "all apart", np.arange(len(new))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    out = {"machine": machine("scikit-learn"), "seeds": options.seeds, "sets": {}}
    for name, make in SETS.items():
        if name == "MNIST" and rt.datasets.data_path("mnist") is None:
            print("MNIST skipped: there is no folder mnist in RELATUM_DATA")
            continue
        print(name)
        runs = {}
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            x, y = make(rng)
            kinds = rng.permutation(np.unique(y))
            seen = np.isin(y, kinds[: len(kinds) // 2])
            k = len(kinds) - len(kinds) // 2
            for method, found in clusterings(x[seen], y[seen], x[~seen], k):
                runs.setdefault(method, []).append(judged(y[~seen], np.asarray(found)))
        out["sets"][name] = runs
        for method, found in runs.items():
            wrong, ari = ([one[key] for one in found] for key in ("wrong", "ari"))
            print(
                f"  {method:38} wrong pairs {100 * np.mean(wrong):5.1f} +- "
                f"{100 * np.std(wrong):4.1f} %   ARI {np.mean(ari):5.2f} +- {np.std(ari):.2f}   "
                f"{np.mean([one['clusters'] for one in found]):6.1f} clusters",
                flush=True,
            )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "new_classes.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
