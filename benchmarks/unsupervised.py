"""Clusters without labels: `PartitionClustering().fit(X)` beside k-means, Ward and HDBSCAN.

Invented sets (blobs, stretched, of different widths, moons, circles, with noise) of five seeds, and
five random samples of real ones: three quarters of iris, wine, breast cancer and scikit-learn's
digits, and 2,000 test images of MNIST. **k-means and Ward are told the true number of clusters**;
HDBSCAN (scikit-learn's defaults) and we are told nothing. All get the same columns, scaled to
variance 1 where units differ. Elements that HDBSCAN calls noise count as clusters of their own;
points that were added as noise do not count. Settings were chosen on invented sets of seeds from
1000 on and on training images of MNIST; seeds 0 to 4 were looked at once before they were final, so
that the table has 10 to 14. Adjusted Rand index, share of wrong pairs, number of
clusters, processor time.

    RELATUM_DATA=... python benchmarks/unsupervised.py [--first 10] [--seeds 5] [--only digits]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np
from _machine import machine
from sklearn import datasets
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

import relatum as rt
from relatum.features import of_different_units

RESULTS = Path(__file__).parent / "results"
N = 500


def blobs(seed, k=5, d=2, spread=1.0, n=N):
    return datasets.make_blobs(n, centers=k, n_features=d, cluster_std=spread, random_state=seed)


def stretched(seed):
    x, y = datasets.make_blobs(N, random_state=seed)
    return x @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def noisy(seed):
    x, y = datasets.make_blobs(450, centers=4, cluster_std=0.8, random_state=seed)
    rng = np.random.default_rng(seed)
    more = rng.uniform(x.min(axis=0) - 1, x.max(axis=0) + 1, (50, 2))
    return np.vstack([x, more]), np.append(y, np.full(50, -1))


def part_of(load):
    def sample(seed):
        x, y = load(return_X_y=True)
        rows = np.random.default_rng(seed).permutation(len(x))[: 3 * len(x) // 4]
        return x[rows], y[rows]

    return sample


def mnist(seed):
    test = rt.datasets.load_mnist()[1]
    rows = np.random.default_rng(seed).permutation(len(test.labels))[:2000]
    return test.images[rows].reshape(2000, -1) / 255.0, test.labels[rows]


SETS = {
    "5 blobs": blobs,
    "8 blobs, 10 dimensions": lambda s: blobs(s, 8, 10, 2.0),
    "20 blobs, 5 dimensions": lambda s: blobs(s, 20, 5),
    "3 blobs, 50 dimensions": lambda s: blobs(s, 3, 50, 3.0),
    "3 stretched blobs": stretched,
    "3 blobs of widths 1, 2.5, 0.5": lambda s: blobs(s, 3, 2, [1.0, 2.5, 0.5]),
    "3 blobs of 400, 80, 30": lambda s: blobs(s, None, 3, n=[400, 80, 30]),
    "4 blobs and a tenth of noise": noisy,
    "moons, noise .05": lambda s: datasets.make_moons(N, noise=0.05, random_state=s),
    "moons, noise .08": lambda s: datasets.make_moons(N, noise=0.08, random_state=s),
    "circles, noise .05": lambda s: datasets.make_circles(
        N, factor=0.5, noise=0.05, random_state=s
    ),
    "iris": part_of(datasets.load_iris),
    "wine": part_of(datasets.load_wine),
    "breast cancer": part_of(datasets.load_breast_cancer),
    "digits": part_of(datasets.load_digits),
    "MNIST": mnist,
}
METHODS = {
    "relatum": lambda k: rt.PartitionClustering(),
    "k-means, true k": lambda k: KMeans(k, n_init=10, random_state=0),
    "Ward, true k": lambda k: AgglomerativeClustering(k),
    "HDBSCAN": lambda k: HDBSCAN(copy=True),
}


def judged(x, y, make):
    real = y >= 0
    k = len(set(y[real]))
    start = process_time()
    model = make(k).fit(x)
    took = process_time() - start
    found = np.array(model.labels_)
    alone = found < 0
    found[alone] = found.max() + 1 + np.arange(alone.sum())
    return {
        "ari": float(adjusted_rand_score(y[real], found[real])),
        "wrong": float(rt.metrics.rand_error(y[real], found[real])),
        "clusters": len(set(found[~alone])),
        "seconds": took,
        "separation": float(model.measure_.separation_) if hasattr(model, "measure_") else None,
    }


def measured(name, seeds):
    found = {method: [] for method in METHODS}
    for seed in seeds:
        x, y = SETS[name](seed)
        if of_different_units(x):
            x = x / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        for method, make in METHODS.items():
            found[method].append(judged(x, y, make))
    return found


def summary(runs):
    keys = ("ari", "wrong", "clusters", "seconds")
    out = {key: float(np.mean([one[key] for one in runs])) for key in keys}
    out["ari spread"] = float(np.std([one["ari"] for one in runs]))
    return out | {"runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(SETS))
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    file = RESULTS / "unsupervised.json"
    out = {"machine": machine("scikit-learn"), "seeds": list(seeds), "sets": {}}
    if file.exists() and options.only != list(SETS):
        out["sets"] = json.loads(file.read_text(encoding="utf-8"))["sets"]
    for name in options.only:
        if name == "MNIST" and rt.datasets.data_path("mnist") is None:
            print("MNIST skipped: there is no folder mnist in RELATUM_DATA")
            continue
        found = {method: summary(runs) for method, runs in measured(name, seeds).items()}
        out["sets"][name] = found
        print(name)
        for method, one in found.items():
            ratio = found["relatum"]["seconds"] / max(one["seconds"], 1e-9)
            print(
                f"  {method:16} ARI {one['ari']:5.2f} +- {one['ari spread']:.2f}   wrong pairs "
                f"{100 * one['wrong']:5.1f} %   {one['clusters']:5.1f} clusters   "
                f"{one['seconds']:6.2f} s, ours {ratio:.1f} times",
                flush=True,
            )
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
