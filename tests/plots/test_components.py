"""Pictures of components: blocks of the clusters' sizes, conflicts counted, 2 to 200 elements."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum import plots
from relatum.errors import DataError
from relatum.plots.components import READABLE

pytest.importorskip("matplotlib")


def planted(n, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) // 5
    a, b = np.triu_indices(n, 1)
    same = truth[a] == truth[b]
    keep = rng.random(len(a)) < np.where(same, 0.9, 8 / n)
    a, b = a[keep], b[keep]
    bits = np.where(same[keep], 4.0, -4.0) + 3 * rng.normal(size=len(a))
    problem = rt.Problem.from_pairs(a, b, bits, n=n, background=-0.5, feasible=rt.EQUIVALENCES)
    problem.ids = np.array([f"record number {k} of many, a long name" for k in range(n)])
    return problem, rt.infer(problem)


@pytest.mark.parametrize("n", [2, 3, 12, 60, 200])
def test_clusters_conflicts_and_names_are_there(n):
    problem, estimate = planted(n)
    figure = plots.component(problem, estimate)
    left, right = figure.axes[:2]
    labels = estimate.relation.labels
    blocks = sorted(int(p.get_width()) for p in left.patches)
    assert blocks == sorted(estimate.relation.sizes().tolist())
    s = problem.scores
    same = labels[s.i] == labels[s.j]
    cut = int(((s.log_odds > 0) & ~same).sum())
    against = int(((s.log_odds < 0) & same).sum())
    marks = [len(line.get_xdata()) // 2 for line in left.lines]
    assert marks == [cut, against]
    inside, *others = (c for c in right.collections if hasattr(c, "get_segments"))
    assert [len(c.get_segments()) for c in others] == [cut, against]
    assert len(inside.get_segments()) == int(((s.log_odds > 0) & same).sum())
    told = [t.get_text() for t in right.get_legend().get_texts()]
    assert told[1] == f"positive, cut ({cut})"
    assert len(right.texts) == (n if n <= 40 else 0)
    assert all(len(t.get_text()) <= 24 for t in right.texts)
    points = right.collections[-1].get_offsets()
    far = np.linalg.norm(points[:, None] - points[None, :], axis=2) + np.eye(n)
    assert far.min() > 1e-3  # nobody hides another


def test_of_large_components_the_surroundings_are_drawn():
    problem, estimate = planted(400)
    figure = plots.component(problem, estimate, element=333)
    left, right = figure.axes[:2]
    assert left.images[0].get_array().shape == (READABLE, READABLE)
    assert f"{READABLE} of 400 elements" in right.get_title()
    labels = estimate.relation.labels
    own = int((labels == labels[333]).sum())
    assert own in [int(p.get_width()) for p in left.patches]


def test_matrices_of_all_scores_are_drawn_too():
    rng = np.random.default_rng(0)
    problem = rt.Problem(rng.normal(size=(210, 210)), rt.EQUIVALENCES)
    figure = plots.component(problem, rt.infer(problem, time_limit=2))
    assert not np.ma.getmaskarray(figure.axes[0].images[0].get_array())[0, 1]
    orders = rt.Problem(rng.normal(size=(4, 4)), rt.LINEAR_ORDERS)
    with pytest.raises(DataError, match="no clusters"):
        plots.component(orders, rt.infer(orders))
