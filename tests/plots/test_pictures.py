"""Pictures show what they should: rectangles, stairs, dots, curves, images."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import relatum as rt
from relatum import plots
from relatum.errors import DataError
from relatum.solvers.control import Progress

SMALL = rt.Problem([1.0, -2.0, 3.0], rt.EQUIVALENCES)

pytest.importorskip("matplotlib")


def _solved(feasible, n=6, seed=0):
    rng = np.random.default_rng(seed)
    problem = rt.Problem(rng.normal(size=(n, n)), feasible)
    return problem, rt.infer(problem, prove=True)


def test_clusters_are_blocks_of_their_sizes():
    problem, e = _solved(rt.EQUIVALENCES)
    axes = plots.relation(problem, e)
    widths = sorted(int(p.get_width()) for p in axes.patches)
    assert widths == sorted(e.relation.sizes().tolist())
    shown = axes.images[0].get_array()
    order = np.concatenate(sorted(e.relation.sets(), key=len, reverse=True))
    both = problem.dense() + problem.dense().T
    assert np.allclose(shown, both[np.ix_(order, order)])


def test_orders_are_stairs_and_maps_are_dots():
    problem, e = _solved(rt.LINEAR_ORDERS)
    with pytest.raises(DataError, match="names are one for each element"):
        plots.relation(problem, e, names=np.array("a"))
    axes = plots.relation(problem, e, names=list("abcdef"))
    assert [t.get_text() for t in axes.get_yticklabels()] == ["abcdef"[k] for k in e.relation.order]
    assert len(axes.lines) == 6
    problem, e = _solved(rt.MAPS)
    axes = plots.relation(problem, e)
    assert sorted(axes.lines[0].get_xdata()) == sorted(e.relation.labels.tolist())
    problem, e = _solved(rt.RELATIONS)
    assert len(plots.relation(problem, e).lines[0].get_xdata()) == e.relation.n_pairs


def test_curves_and_progress():
    axes = plots.curves([1, 2, 4], {"training": [0.1, 0.2, 0.3], "test": [0.3, 0.2, 0.4]})
    assert axes.lines[1].get_ydata().tolist() == pytest.approx([30, 20, 40])
    reports = [Progress(0.1, -np.inf, 9.0, 1, 2), Progress(0.5, 3.0, 4.0, 2, 3)]
    axes = plots.progress(reports)
    assert np.isnan(axes.lines[1].get_ydata()[0])
    assert axes.lines[0].get_ydata().tolist() == [9.0, 4.0]
    e = rt.infer(rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES), prove=True)
    bounds = [plots.progress(x).lines[0].get_ydata() for x in (e, pickle.loads(pickle.dumps(e)))]
    np.testing.assert_array_equal(*bounds)


def test_galleries_and_explanations():
    images = np.arange(5 * 4).reshape(5, 4)
    axes = plots.gallery(images, [1, 0, 1, 1, 0], most=3)
    sheet = axes.images[0].get_array()
    assert sheet[:2, :2].ravel().tolist() == images[0].tolist()  # the largest cluster first
    assert sheet[3:5, 3:5].ravel().tolist() == images[4].tolist()
    with pytest.raises(DataError, match="square"):
        plots.gallery(np.zeros((2, 5)), [0, 1])
    problem = rt.Problem([[0, 5, -1], [5, 0, 4], [-1, 4, 0]], rt.EQUIVALENCES)
    why = rt.explain(problem, rt.infer(problem, prove=True), 0, 2)
    texts = [t.get_text() for t in plots.explanation(why).texts]
    assert {"0", "1", "2"} <= set(texts)


def test_what_cannot_be_drawn():
    problem = rt.Problem(
        np.zeros((3, 3)), rt.EQUIVALENCES & rt.evidence(related=[(0, 1)], unrelated=[(0, 1)])
    )
    with pytest.raises(DataError, match="no relation to draw"):
        plots.relation(problem, rt.infer(problem))
    large = rt.Problem(np.zeros((2001, 2)), rt.MAPS)
    with pytest.raises(DataError, match="at most 2000"):
        plots.relation(large, rt.infer(large))


def test_places_are_bars_from_first_to_last():
    scores = np.array([[0.0, 2.0, 2.0], [2.0, 0.0, 3.0], [-2.0, -3.0, 0.0]])
    problem = rt.Problem(scores, rt.WEAK_ORDERS)
    estimate = rt.infer(problem, prove=True)
    costs = rt.place_costs(problem, estimate.relation)
    axes = rt.plots.places(estimate, costs, names=["a", "b", "c"])
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a  1", "b  1", "c  3"]
    assert [bar.get_width() for bar in axes.patches if bar.get_height() < 0.7] == costs.tolist()
    with pytest.raises(DataError, match="one cost per element"):
        rt.plots.places(estimate, [1.0])


@pytest.mark.parametrize(
    ("draw", "rule"),
    [
        (lambda: plots.relation(3, 4), "of a Problem"),
        (lambda: plots.relation(SMALL, None), "of an Estimate"),
        (lambda: plots.relation(SMALL, rt.infer(rt.Problem([1.0], rt.EQUIVALENCES))), "answers"),
        (lambda: plots.relation(SMALL, rt.infer(SMALL), names=["a"]), "names are one"),
        (lambda: plots.relation(SMALL, rt.infer(SMALL), axes="x"), "axes are"),
        (lambda: plots.curves([1, 2], [1, 2]), "curves by name"),
        (lambda: plots.curves([1, 2], {}), "curves by name"),
        (lambda: plots.curves([0, 2], {"a": [1, 2]}), "positive"),
        (lambda: plots.curves([1, 2], {"a": [1]}), "an error each"),
        (lambda: plots.curves([1, 1j], {"a": [1, 2]}), "list of numbers"),
        (lambda: plots.progress(True), "monitor received"),
        (lambda: plots.progress([1]), "monitor received"),
        (lambda: plots.progress(np.array(1.0)), "monitor received"),
        (lambda: plots.gallery(np.ones((2, 4)), [1]), "label for each image"),
        (lambda: plots.gallery(np.ones((2, 4)), [1, None]), "cannot be sorted"),
        (lambda: plots.gallery(np.array(["a"]), [1]), "images are numbers"),
        (lambda: plots.gallery(np.ones((2, 4)), [1, 2], most=2.5), "most is a whole number"),
        (lambda: plots.explanation(True), "relatum.explain"),
    ],
)
def test_what_is_no_picture_is_refused(draw, rule):
    with pytest.raises(DataError, match=rule) as caught:
        draw()
    assert "\n" not in str(caught.value)


def test_probabilities_stand_beside_the_relation():
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.MAPS, rt.RELATIONS):
        problem, e = _solved(feasible)
        known = rt.probabilities(problem)
        left, right = plots.probabilities(known, e)
        assert "exact, uncalibrated" in right.get_title()
        shown = np.asarray(right.images[0].get_array())
        assert shown.shape == left.images[0].get_array().shape == (6, 6)
        assert np.sort(shown, axis=None) == pytest.approx(np.sort(known.matrix(), axis=None))
    order = e.relation  # of the last, which is not arranged
    assert np.array_equal(shown, known.matrix())
    assert order.n_pairs == len(right.lines[0].get_xdata())
    with pytest.raises(DataError, match=r"what relatum\.probabilities returns"):
        plots.probabilities(np.eye(3), e)
    with pytest.raises(DataError, match="two matplotlib axes"):
        plots.probabilities(known, e, axes=[left])
