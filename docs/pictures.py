"""Draw pictures of the README and the tutorials.

Run as ``python docs/pictures.py``; writes ``docs/images/relations.png``, three kinds of relation,
each with its log-odds, ``docs/images/places.png``, a ranking with the bits behind each place, and
``docs/images/probabilities.png``, a clustering with the probabilities of its pairs.
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


if __name__ == "__main__":
    relations()
    places()
    six()
    probabilities()
