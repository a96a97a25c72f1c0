from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from naive import probability as naive
from relatum.kernels.probability.row_counts import draw_row, row_count_probabilities
from relatum.probability.exact.weights import split


@pytest.mark.parametrize(("least", "most"), [(0, -1), (1, -1), (0, 1), (1, 1), (0, 3), (1, 2)])
def test_sums_are_those_over_all_subsets(least, most):
    rng = np.random.default_rng(least)
    rows, columns = 6, 5
    w, we = split(rng.normal(size=(rows, columns)) * 30, rng.random((rows, columns)) < 0.8)
    forced = ((rng.random((rows, columns)) < 0.1) & (w > 0)).astype(np.uint8)
    p, mantissa, places = row_count_probabilities(w, we, forced, least, most)
    for a in range(rows):
        weights = naive.power(w[a], we[a])
        subsets = list(naive.row_subsets(weights, forced[a], least, most))
        total = sum(mass for _, mass in subsets)
        found = naive.power([mantissa[a]], [places[a]])[0]
        assert found == 0 if total == 0 else abs(found / total - 1) < 1e-13
        for b in range(columns if total else 0):
            x = sum(mass for taken, mass in subsets if taken[b]) / total
            assert p[a, b] == pytest.approx(float(x), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("least", "most"), [(1, -1), (1, 1), (0, 2)])
def test_draws_are_as_frequent_as_their_probabilities(least, most):
    rng = np.random.default_rng(2)
    count, columns = 20_000, 4
    w, we = split(rng.normal(size=(1, columns)))
    forced = np.zeros(columns, np.uint8)
    drawn = Counter(
        map(
            tuple, draw_row(w[0], we[0], forced, least, most, rng.random((count, columns))).tolist()
        )
    )
    subsets = list(naive.row_subsets(naive.power(w, we), forced, least, most))
    total = sum(mass for _, mass in subsets)
    assert set(drawn) <= {taken for taken, _ in subsets}
    observed = [drawn[taken] for taken, _ in subsets]
    assert chisquare(observed, [count * float(m / total) for _, m in subsets]).pvalue > 1e-4
