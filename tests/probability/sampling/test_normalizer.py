from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relatum.errors import SolverError
from relatum.probability.sampling.chains import Walks
from relatum.probability.sampling.normalizer import Gain, log2_sum, total

BITS = np.append(0.0, -np.linspace(0.5, 4.0, 300))  # values of some relations, the best first


def _walks(factor, level, each=150):
    """Independent draws."""
    p = np.exp2(factor * BITS)
    rng = np.random.default_rng([level, 7])
    chosen = rng.choice(len(BITS), size=(8, each), p=p / p.sum())
    return Walks(chosen[..., None].astype(np.uint16), factor * BITS[chosen], True)


def test_the_sum_is_found_within_its_error():
    found = log2_sum(_walks(1.0, 1, 500), _walks, np.asarray)
    assert found.levels > 2
    assert 0.01 < found.error < 0.4
    assert abs(found.bits - np.log2(np.exp2(BITS).sum())) < 4 * found.error


def test_ties_that_never_end_and_lack_of_time_are_said():
    rng = np.random.default_rng(0)
    tied = Walks(rng.integers(0, 50, (8, 100, 1)).astype(np.uint16), np.zeros((8, 100)), True)
    assert "frequent" in log2_sum(tied, _walks, np.asarray).why

    def late(factor, level):
        raise SolverError("no time")

    found = log2_sum(_walks(1.0, 1), late, np.asarray)
    assert found.bits is None
    assert "no time" in found.why


def test_parts_add_up():
    said = {}
    parts = [(1.0, Gain(2.0, 0.3, 2)), (0.5, Gain(1.0, 0.4, 5))]
    bits, error = total(parts, Fraction(10), said)
    assert bits == Fraction(29, 2)
    assert error == pytest.approx(0.5)
    assert said["temperatures"] == 5
    assert total([*parts, (0.0, Gain(None, why="so"))], Fraction(0), said)[0] is None
    assert said["log2 Z"] == "unknown: so"
