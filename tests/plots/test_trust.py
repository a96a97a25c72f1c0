"""Reliability: shares of true pairs by hand, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.plots.trust import bins_of

pytest.importorskip("matplotlib", reason="install relatum[plots]")


def test_bins_by_hand():
    p = np.array([0.05, 0.07, 0.95, 1.0, 0.5])
    y = np.array([False, True, True, True, False])
    said, share, count = bins_of(p, y)
    assert said == pytest.approx([0.06, 0.5, 0.975])
    assert share.tolist() == [0.5, 0.0, 1.0]
    assert count.tolist() == [2.0, 1.0, 2.0]


def test_probabilities_before_and_after_are_drawn():
    problem = rt.Problem([1.0, -2.0, 3.0], rt.EQUIVALENCES)
    known, truth = rt.probabilities(problem), rt.Partition([0, 0, 1])
    axes = rt.plots.reliability(known, known, truth)
    p = known.matrix()[np.triu_indices(3, 1)]
    said, share, _ = bins_of(p, np.array([True, False, False]))
    for line in axes.lines[1:]:
        assert line.get_xdata() == pytest.approx(said)
        assert line.get_ydata() == pytest.approx(share)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["before", "after"]


def test_arrays_are_drawn_and_others_refused():
    p, y = np.array([0.2, 0.9]), np.array([False, True])
    assert len(rt.plots.reliability(p, None, y).lines) == 2
    for before, truth in ((None, y), (p, y[:1]), (2 * p, y), (p, rt.Partition([0, 0]))):
        with pytest.raises(DataError):
            rt.plots.reliability(before, None, truth)


@pytest.mark.parametrize(
    ("known", "truth"),
    [({"a": 1}, [1]), ([[0.5], [0.1, 0.2]], [1, 0]), (["x"], [1]), ([0.5], ["x"]), ([1j], [1])],
)
def test_what_is_no_list_of_numbers_is_refused(known, truth):
    with pytest.raises(DataError, match=r"Reliability|array"):
        rt.plots.reliability(known, None, truth)
