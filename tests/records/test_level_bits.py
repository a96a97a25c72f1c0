"""Bits of levels add up to the scores of the logistic measure that they come from."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.records.comparison import Scale
from relatum.records.level_bits import Weights, tables_of, thermometer

SCALES = (
    Scale("a", "missing", ("given", "one missing", "both missing")),
    Scale("a", "letters", ("other", "similar", "the same")),
    Scale("b", "value", ("other", "the same")),
)
LEVELS = np.array([[0, 0, 0, 1, 2], [0, 1, 2, 0, 0], [1, 0, 1, 0, 1]], dtype=np.int8)


def test_a_thermometer_has_a_column_for_each_level_reached():
    expected = [[0, 0, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 1]]
    assert thermometer(SCALES, LEVELS).tolist() == expected


def test_tables_give_what_the_measure_gives():
    rows = thermometer(SCALES, LEVELS)
    measure = rt.LogisticMeasure(0.5, fit_intercept=True).fit(rows, [1, 0, 1, 0, 1])
    tables = tables_of(SCALES, measure.coef_[0])
    weights = Weights(SCALES, tables, float(measure.intercept_[0]))
    assert weights.log_odds(LEVELS) == pytest.approx(measure.log_odds(rows), abs=1e-5)


def test_contributions_add_up_to_the_score():
    weights = Weights(SCALES, [np.array(t) for t in ([0, -1, 2.0], [0, 3, 7.0], [0, 4.0])], -5.0)
    found = weights.contributions([0, 1, 1])
    assert found == [("a", "letters similar", 3.0), ("b", "value the same", 4.0)]
    score = weights.log_odds(np.array([[0], [1], [1]], dtype=np.int8))[0]
    assert sum(bits for _, _, bits in found) - 5 == score == 2
    assert weights.contributions([1, 0, 0]) == [("a", "one missing", -1.0), ("b", "other", 0.0)]
