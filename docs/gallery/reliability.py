"""Whether probabilities can be trusted, and what calibration does.

Scores err by element rather than by pair, so raw probabilities are too sure. A map learned from
thirty labelled problems mends that, on problems that it has not seen.
"""

import numpy as np

import relatum as rt


def make(seed, n=9):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    points = np.eye(3)[truth] + rng.normal(scale=0.42, size=(n, 3))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    return rt.Problem((8 - 6.5 * distance)[np.triu_indices(n, 1)], rt.EQUIVALENCES), truth


cases = [make(seed) for seed in range(30)]
learned = rt.calibrate([p for p, _ in cases], [rt.Partition(t) for _, t in cases])
upper, raw, mended, true = np.triu_indices(9, 1), [], [], []
for problem, truth in (make(seed) for seed in range(100, 200)):
    known = rt.probabilities(problem)
    raw.append(known.matrix()[upper])
    mended.append(learned.probabilities(known).matrix()[upper])
    true.append((truth[:, None] == truth)[upper])
axes = rt.plots.reliability(*map(np.concatenate, (raw, mended, true)))
axes.figure.savefig("reliability.png")
