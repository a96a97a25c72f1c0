"""Three kinds of relation, and the log-odds they are made of.

Blue pairs speak for being related, red ones against. A map has a dot for each element, a
clustering blocks on the diagonal, an order a staircase.
"""

import numpy as np
from matplotlib.figure import Figure

import relatum as rt

rng = np.random.default_rng(0)
truth = rng.integers(0, 4, 40)
of_labels = 2.0 * (truth[:, None] == np.arange(4)) - 1 + rng.normal(size=(40, 4))
of_pairs = np.where(truth[:, None] == truth, 1.0, -1.0) + rng.normal(size=(40, 40))
place = np.argsort(rng.normal(size=40))
of_order = np.sign(place[None, :] - place[:, None]) + rng.normal(size=(40, 40))

figure = Figure(figsize=(11, 3.4), layout="constrained")
for axes, scores, feasible in zip(
    figure.subplots(1, 3),
    (of_labels, of_pairs, of_order),
    (rt.MAPS, rt.EQUIVALENCES, rt.LINEAR_ORDERS),
    strict=True,
):
    problem = rt.Problem(scores, feasible)
    e = rt.infer(problem, prove=True)
    rt.plots.relation(problem, e, axes)
    axes.set_title(f"{feasible}: {e.status.name}, {e.value:.0f} bits")
figure.savefig("three_relations.png")
