"""Draw the picture of the README: three kinds of relation, each with its log-odds.

Run as ``python docs/pictures.py``; writes ``docs/images/relations.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from relatum.cli.demo import cases

HERE = Path(__file__).parent


def main() -> None:
    """Draw the first, second and fourth case of the demo."""
    a_map, clusters, _, order = cases(seed=0)
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.1), width_ratios=[0.55, 1, 1])
    _draw_map(axes[0], a_map)
    _draw_clusters(axes[1], clusters)
    _draw_order(axes[2], order)
    (HERE / "images").mkdir(exist_ok=True)
    figure.tight_layout(w_pad=2.5)
    figure.savefig(HERE / "images" / "relations.png", dpi=140)


def _show(axis, log_odds, title):
    limit = np.quantile(np.abs(log_odds), 0.97)
    axis.imshow(
        log_odds, cmap="RdBu", vmin=-limit, vmax=limit, interpolation="nearest", aspect="auto"
    )
    axis.set_title(title, fontsize=11)


def _draw_map(axis, case):
    labels = case.estimate.relation.labels[:60]
    order = np.argsort(labels, kind="stable")
    _show(axis, case.problem.dense()[:60][order], "a map: digits to labels")
    axis.plot(labels[order], np.arange(60), "k.", markersize=3)
    axis.set(xlabel="label", ylabel="image", xticks=range(10), yticks=[])


def _draw_clusters(axis, case):
    scores = case.problem.dense()
    scores = scores + scores.T
    sets = sorted(case.estimate.relation.sets(), key=len, reverse=True)
    order = np.concatenate(sets)
    _show(axis, scores[np.ix_(order, order)], "an equivalence relation: same digit?")
    start = 0
    for s in sets:
        axis.add_patch(
            plt.Rectangle((start - 0.5, start - 0.5), len(s), len(s), fill=False, lw=1.3)
        )
        start += len(s)
    axis.set(xlabel="image", ylabel="image", xticks=[], yticks=[])


def _draw_order(axis, case):
    order = case.estimate.relation.order
    words = case.remark.split()
    _show(axis, case.problem.dense()[np.ix_(order, order)], "a linear order: which word first?")
    n = len(order)
    for k in range(n):
        axis.plot([k - 0.5, k + 0.5, k + 0.5], [k - 0.5, k - 0.5, k + 0.5], "k-", lw=1.3)
    axis.set_xticks(range(n), words, rotation=60, ha="right")
    axis.set_yticks(range(n), words)
    axis.set_xlabel("blue: row comes before column")


if __name__ == "__main__":
    main()
