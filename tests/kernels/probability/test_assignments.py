from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from naive import probability as naive
from relatum.kernels.probability.assignments import (
    choose_columns,
    row_probabilities,
    step_backward,
    step_forward,
)
from relatum.kernels.watch import Watch
from relatum.probability.exact.weights import NEVER, split


def _layer(columns, first):
    m, e = np.zeros(1 << columns), np.full(1 << columns, NEVER, np.int32)
    if first:
        m[0], e[0] = 0.5, 1
    else:
        m[:], e[:] = 0.5, 1
    return m, e


def _problem(rng, rows, columns):
    mantissa, places = split(
        rng.normal(size=(rows, columns)) * 20, rng.random((rows, columns)) < 0.8
    )
    exact = np.array(naive.power(mantissa, places), dtype=object).reshape(rows, columns).tolist()
    return mantissa, places, exact, rng.random(rows) < 0.6


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (4, 3), (3, 2)])
def test_steps_add_up_all_choices(shape, again):
    rng = np.random.default_rng(sum(shape))
    rows, columns = shape
    for _ in range(5):
        mantissa, places, exact, skips = _problem(rng, rows, columns)
        choices = list(naive.assignments(exact, skips.tolist(), again))
        f, g = _layer(columns, True), _layer(columns, False)
        before = []
        for row in range(rows):
            before.append((f[0].copy(), f[1].copy()))
            step_forward(*f, mantissa[row], places[row], bool(skips[row]), again, Watch())
        for taken, y in enumerate(naive.power(*f)):
            x = sum(mass for _, mass, columns_ in choices if columns_ == taken)
            assert y == 0 if x == 0 else abs(y / x - 1) < 1e-13
        total = sum(mass for _, mass, _ in choices)
        if total == 0:
            continue
        p = np.zeros(shape)
        first = _layer(columns, False)
        for row in range(rows - 1, -1, -1):
            step_backward(*first, mantissa[row], places[row], bool(skips[row]), again, Watch())
        whole = float(first[0][0]), int(first[1][0])
        assert abs(naive.power([whole[0]], [whole[1]])[0] / total - 1) < 1e-13
        for row in range(rows - 1, -1, -1):
            given = mantissa[row], places[row]
            p[row] = row_probabilities(*before[row], *g, *given, again, *whole, Watch())
            step_backward(*g, *given, bool(skips[row]), again, Watch())
        for a in range(rows):
            for b in range(columns):
                x = sum(mass for choice, mass, _ in choices if choice[a] == b)
                assert p[a, b] == pytest.approx(float(x / total), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("again", [False, True])
def test_choices_are_as_frequent_as_their_probabilities(again):
    rng = np.random.default_rng(7)
    rows, columns, count = 2, 3, 20_000
    mantissa, places = split(rng.normal(size=(rows, columns)))
    exact = np.array(naive.power(mantissa, places), dtype=object).reshape(rows, columns).tolist()
    layers, f = [], _layer(columns, True)
    for row in range(rows):
        layers.append((f[0].copy(), f[1].copy()))
        step_forward(*f, mantissa[row], places[row], True, again, Watch())
    end = np.array([float(x) for x in naive.power(*f)])
    states = rng.choice(len(end), size=count, p=end / end.sum()).astype(np.int64)
    chosen = np.empty((count, rows), int)
    for row in range(rows - 1, -1, -1):
        given = mantissa[row], places[row], True, again
        chosen[:, row] = choose_columns(states, rng.random(count), *layers[row], *given)
    drawn = Counter(map(tuple, chosen.tolist()))
    choices = list(naive.assignments(exact, [True] * rows, again))
    total = sum(mass for _, mass, _ in choices)
    assert set(drawn) <= {choice for choice, _, _ in choices}
    observed = [drawn[choice] for choice, _, _ in choices]
    assert chisquare(observed, [count * float(m / total) for _, m, _ in choices]).pvalue > 1e-4
