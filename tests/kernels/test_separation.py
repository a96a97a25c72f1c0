"""The separation of transitivity equals its plain twin."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from relatum.kernels.separation import first_intransitivity, violated_transitivity


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_violated_rows_equal_the_twin(n):
    rng = np.random.default_rng(n)
    for k in range(30):
        x = rng.random((n, n)) if k % 2 else rng.integers(0, 3, (n, n)) / 2
        index, violation = violated_transitivity(x, 0.01, 10_000)
        expected = naive.violated_transitivity(x.tolist(), 0.01)
        found = {(a, b): v for (a, b, _), v in zip(index.tolist(), violation, strict=True)}
        assert found == pytest.approx({key: value for key, (_, value) in expected.items()})
        for (a, b, c), v in zip(index.tolist(), violation.tolist(), strict=True):
            assert v == pytest.approx(x[a, b] + x[b, c] - x[a, c] - 1)
        assert (np.diff(violation) <= 0).all()
        few, worst = violated_transitivity(x, 0.01, 3)
        assert len(few) == min(3, len(index))
        assert np.array_equal(worst, violation[:3])


def test_rows_violated_alike_come_in_the_order_of_their_pairs():
    x = np.random.default_rng(0).integers(0, 3, (9, 9)) / 2
    index, violation = violated_transitivity(x, 0.01, 10_000)
    key = [(-v, a, b) for v, (a, b, _) in zip(violation.tolist(), index.tolist(), strict=True)]
    assert key == sorted(key)
    assert len({v for v, _, _ in key}) < len(key)


@pytest.mark.parametrize("n", [20, 70])
def test_first_intransitivity_is_the_first(n):
    rng = np.random.default_rng(n)
    rank = rng.permutation(n) // 3
    y = rank[:, None] <= rank[None, :]
    assert first_intransitivity(y) == (-1, -1, -1)
    for _ in range(30):
        a, c = rng.choice(n, 2, replace=False)
        broken = y.copy()
        broken[a, c] ^= True
        found = first_intransitivity(broken)
        triples = broken[:, :, None] & broken[None] & ~broken[:, None]
        expected = np.argwhere(triples & (np.arange(n)[:, None] != np.arange(n))[:, :, None])
        assert found == (tuple(expected[0].tolist()) if len(expected) else (-1, -1, -1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_first_intransitivity_is_one(n):
    for y in naive.relations(n, n):
        a, b, c = first_intransitivity(y)
        assert (a < 0) == naive.is_transitive(y)
        if a >= 0:
            assert y[a, b]
            assert y[b, c]
            assert not y[a, c]
