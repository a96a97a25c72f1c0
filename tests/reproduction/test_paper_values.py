"""The paper's numbers are the ones that its text quotes."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.reproduction.paper_values import QUOTED, curve, table
from relatum.reproduction.settings import FULL, Lifting


@pytest.mark.parametrize(
    ("lifting", "power", "name"),
    [(Lifting(1), 7, "map, d=1"), (Lifting(2, 16384), 11, "map, d=2, m=16384")],
)
def test_smallest_errors_of_maps(lifting, power, name):
    x, y = curve("map-error", lifting, "test")
    assert 100 * y.min() == pytest.approx(QUOTED[name], abs=0.005)
    assert x[y.argmin()] == 2**power


def test_error_of_pairs():
    x, y = curve("pairs-error-test-unstratified", Lifting(2, 16384), "test")
    error = 100 * y[x == 2**22][0]
    assert error == pytest.approx(QUOTED["pairs, stratified training"], abs=0.05)


def test_curves_cover_the_range_for_every_lifting():
    for lifting in FULL.liftings:
        x, _ = curve("map-error", lifting, "train")
        assert np.all(np.diff(np.log2(x)) == 1)
        assert x[0] == 2
    assert len(curve("map-error", Lifting(2, 77), "test")[0]) == 0


def test_tables_have_the_rows_of_the_paper():
    first, second = table("stratified"), table("unstratified")
    assert [n for method, n in first if method == "exact"] == [100, 170, 220]
    assert [n for method, n in second if method == "kl"] == [100, 170, 220, 260, 300, 10000]
    assert first["kl", 10000]["rand_error_percent"] == 7.11
    assert second["exact", 300]["seconds"] == 107.71
