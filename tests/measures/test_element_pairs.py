"""Pairs one by one, all at once, and in blocks: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.measures import ElementPairMeasure
from relatum.measures.element_pairs import elements_of


class Products(ElementPairMeasure):
    """Twice the inner product of what is given, less one."""

    def features(self, v):
        return self._checked_width(v, 3)

    def _bits(self, products):
        return 2.0 * products - 1.0


def test_all_pairs_are_those_one_by_one():
    v = np.random.default_rng(0).normal(size=(11, 3))
    i, j = np.triu_indices(11, 1)
    want = 2.0 * (v[i] * v[j]).sum(axis=1) - 1.0
    measure = Products()
    assert np.allclose(measure.log_odds(v, i, j), want)
    assert np.array_equal(measure.predict(v, i, j), want > 0)
    assert np.allclose(measure.predict_proba(v, i, j)[:, 1], 1 / (1 + 2.0**-want))
    for rows in (1, 4, 11, 100):
        assert np.allclose(measure.all_log_odds(v, dtype=np.float64, rows=rows), want)
        square = measure.all_log_odds(v, condensed=False, dtype=np.float64, rows=rows)
        assert np.array_equal(square, square.T)
        assert np.allclose(square[i, j], want)
    assert measure.all_log_odds(v).dtype == np.float32
    with pytest.raises(NotImplementedError):
        ElementPairMeasure().features(v)


def test_input_is_checked():
    with pytest.raises(DataError, match="3 features"):
        Products().all_log_odds(np.ones((2, 4)))
    with pytest.raises(DataError, match="floating point type"):
        Products().all_log_odds(np.ones((2, 3)), dtype=int)
    with pytest.raises(DataError, match="NaN"):
        elements_of([[np.nan]])
