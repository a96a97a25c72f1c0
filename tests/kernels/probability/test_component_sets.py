from __future__ import annotations

import numpy as np
import pytest

from naive import probability as naive
from relatum.kernels.probability.component_sets import component_set_probabilities
from relatum.pair_tables.solve.batching import Component


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_probabilities_are_those_of_all_partitions(n):
    rng = np.random.default_rng(n)
    i, j = np.triu_indices(n, 1)
    for cap in (2, n):
        bits = rng.normal(size=len(i)) * 20
        groups = np.where(rng.random(n) < 0.5, -1, rng.integers(0, 3, n))
        related, unrelated = ([(0, 3)], [(1, 2)]) if n >= 4 else ([], [])
        if n >= 4:
            groups[[0, 3]] = -1
        component = Component(n, i, j, bits, related, unrelated, groups)
        ys = naive.filtered(naive.equivalences(n), related, unrelated, cap)
        for a, b in zip(i, j, strict=True):
            if groups[a] == groups[b] >= 0:
                ys = ys[~ys[:, a, b]]
        scores = np.zeros((n, n))
        scores[i, j] = bits
        p, _ = naive.distribution(scores, ys)
        for y in ys[rng.choice(len(ys), 3)]:
            labels = y.argmax(axis=1)
            found = component_set_probabilities(component.batch(), labels, -2.0, cap, 6)
            for a in range(n):
                exact = p[(ys[:, a] == y[a]).all(axis=1)].sum()
                assert found[a] == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_larger_components_are_left_out():
    found = component_set_probabilities(
        Component(4, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0]).batch(), np.zeros(4, int), -4.0, 9, 3
    )
    assert np.isnan(found).all()
