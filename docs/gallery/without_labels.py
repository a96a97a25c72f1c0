"""Clusters of points, without labels.

Neither labels nor the number of clusters are given: how many bits each pair says is learned from
the points themselves. Moons and a blob are found; where clusters overlap it can fail.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

import relatum as rt

moons, side = make_moons(200, noise=0.05, random_state=0)
blob, _ = make_blobs(100, centers=[(3.0, 0.5)], cluster_std=0.25, random_state=0)
x, truth = np.vstack([moons, blob]), np.append(side, np.full(100, 2))
found = rt.PartitionClustering().fit(x)
agreement = rt.metrics.adjusted_rand_score(truth, found.labels_)
print(len(set(found.labels_)), "clusters, adjusted Rand index", round(agreement, 2))

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.scatter(*x.T, s=8, color="gray")
right.scatter(*x.T, s=8, c=found.labels_, cmap="Dark2")
left.set_title("points")
right.set_title("clusters")
figure.savefig("without_labels.png")
