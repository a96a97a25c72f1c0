from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from relatum.errors import SolverError
from relatum.probability.sampling.chains import Walks
from relatum.probability.sampling.normalizer import (
    Gain,
    log2_sum,
    log2_sum_from_count,
    total,
)

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


def test_the_sum_is_found_from_the_number_of_relations():
    found = log2_sum_from_count(_walks(1.0, 1, 500), _walks, np.log2(len(BITS)), 4.0)
    assert found.factors[0] == 1.0
    assert (np.diff(found.factors) < 0).all()
    assert found.factors[-1] < 1e-3
    assert 0.0 < found.error < 0.2
    assert abs(found.bits - np.log2(np.exp2(BITS).sum())) < 4 * found.error + 1e-3

    def late(factor, level):
        raise SolverError("no time")

    ended = log2_sum_from_count(_walks(1.0, 1), late, 8.0, 4.0)
    assert ended.bits is None
    assert "no time" in ended.why


def test_a_wide_step_gets_one_in_between():
    """Values that deviate far more where it is hot."""
    rare = np.append(np.zeros(2), -np.linspace(0, 400, 2000))
    global BITS
    kept, BITS = BITS, rare
    try:
        found = log2_sum_from_count(_walks(1.0, 1, 500), _walks, np.log2(len(rare)), 400.0)
    finally:
        BITS = kept
    assert abs(found.bits - np.log2(np.exp2(rare).sum())) < 4 * found.error + 0.05


def test_value_and_bound_are_kept():
    said = {}
    assert total([(0.0, Gain(5.0, 0.1))], Fraction(0), said, (5.2, 90.0))[0] == Fraction(5.2)
    assert total([(0.0, Gain(5.0, 0.1))], Fraction(0), said, (7.0, 90.0))[0] is None
    assert "is not between 7 and 90" in said["log2 Z"]
    said = {"warning": None}
    total([(0.0, Gain(5.0, 3.0))], Fraction(0), said)
    assert "standard error of 3 bits" in said["warning"]
