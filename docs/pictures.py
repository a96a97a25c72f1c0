"""Draw pictures of the README and the tutorials.

Run as ``python docs/pictures.py``; writes ``docs/images/relations.png``, three kinds of relation,
each with its log-odds, ``docs/images/places.png``, a ranking with the bits behind each place, and
``docs/images/probabilities.png``, a clustering with the probabilities of its pairs, and
``docs/images/unlabelled.png``, points clustered without labels.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import relatum as rt
from relatum import plots
from relatum.cli.demo import cases

HERE = Path(__file__).parent
TITLES = {
    0: "a map: digits to labels",
    1: "an equivalence relation: same digit?",
    3: "a linear order: which word first?",
}


def relations() -> None:
    """Draw the first, second and fourth case of the demo."""
    found = list(cases(seed=0))
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[0.8, 1, 1])
    for axis, (number, title) in zip(axes, TITLES.items(), strict=True):
        case = found[number]
        plots.relation(case.problem, case.estimate, axis, names=case.names)
        axis.set_title(title, fontsize=11)
    (HERE / "images").mkdir(exist_ok=True)
    figure.savefig(HERE / "images" / "relations.png", dpi=130)


def places() -> None:
    """Draw the teams of a world cup, from first to last."""
    matches = rt.datasets.load_matches()
    cup = rt.LinearRanker(feasible=rt.WEAK_ORDERS)
    cup.fit_comparisons(matches.first, matches.second, matches.goals)
    costs = rt.place_costs(cup.problem(cup.items_), cup.estimate_.relation)
    axes = plots.places(cup.estimate_, costs, names=cup.items_)
    axes.figure.savefig(HERE / "images" / "places.png", dpi=110)


def probabilities() -> None:
    """Draw a clustering of eighteen digits, and how sure each pair of it is."""
    case = list(cases(seed=0))[1]
    problem = case.problem.restrict(range(18))
    axes = plots.probabilities(rt.probabilities(problem), rt.infer(problem, prove=True))
    axes[0].figure.savefig(HERE / "images" / "probabilities.png", dpi=110)


def six() -> None:
    """Draw the component of the README's table of pairs."""
    import pandas as pd

    rows = [("ann", "anne", 6.0), ("ann", "annie", 5.0), ("anne", "annie", 7.0)]
    rows += [("bob", "rob", 6.0), ("rob", "robert", 5.0), ("anne", "rob", 1.0)]
    pairs = pd.DataFrame(rows, columns=["unique_id_l", "unique_id_r", "match_weight"])
    found = rt.cluster_pairs(pairs, evidence={"unrelated": [("bob", "robert")]})
    drawn = found.plot("ann")
    getattr(drawn, "figure", drawn).savefig(HERE / "images" / "six.png", dpi=90)


def unlabelled() -> None:
    """Draw sets of points with the clusters that are found without labels."""
    import numpy as np
    from sklearn.datasets import make_blobs, make_circles, make_moons

    rng = np.random.default_rng(0)
    round_ones = make_blobs(450, centers=4, cluster_std=0.8, random_state=11)[0]
    noise = rng.uniform(round_ones.min(axis=0) - 1, round_ones.max(axis=0) + 1, (50, 2))
    sets = {
        "moons": make_moons(500, noise=0.06, random_state=1)[0],
        "circles": make_circles(500, factor=0.5, noise=0.05, random_state=1)[0],
        "different widths": make_blobs(500, cluster_std=[1.0, 2.5, 0.5], random_state=12)[0],
        "a tenth of noise": np.vstack([round_ones, noise]),
    }
    figure = Figure(figsize=(12, 3.3), layout="constrained")
    for axis, (name, points) in zip(figure.subplots(1, 4), sets.items(), strict=True):
        model = rt.PartitionClustering().fit(points)
        axis.scatter(*points.T, c=model.labels_, cmap="tab10", vmax=9, s=8)
        separation = min(model.measure_.separation_, 1000.0)
        more = "over " if separation == 1000.0 else ""
        clusters = len(set(model.labels_.tolist()))
        axis.set_title(
            f"{name}: {clusters} clusters, separation {more}{separation:.0f}", fontsize=10
        )
        axis.set(xticks=[], yticks=[])
    figure.savefig(HERE / "images" / "unlabelled.png", dpi=110)


if __name__ == "__main__":
    unlabelled()
    relations()
    places()
    six()
    probabilities()
