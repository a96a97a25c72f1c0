"""Curves of maps are what the measures learned one by one give."""

from __future__ import annotations

import numpy as np
import pytest

from instances.reproduction import TINY
from relatum.datasets import load_digits
from relatum.features import BinaryFeatures, TensorSketch
from relatum.measures import LogisticMeasure
from relatum.reproduction.maps import sketches
from relatum.reproduction.settings import Lifting


def test_sketches_are_those_of_the_bits():
    train, test = load_digits()
    lifting = Lifting(2, 64)
    x, z = sketches(lifting, [train.images, test.images], seed=3)
    code = BinaryFeatures().fit(train.images)
    sketch = TensorSketch(2, 64, random_state=3, dtype="float64").fit(code.transform(train.images))
    exact = sketch.transform(code.transform(test.images))
    assert z.dtype == np.int8
    assert np.allclose(z, np.clip(exact, -127, 127), atol=1e-6)
    assert len(x) == len(train.images)


@pytest.mark.parametrize("lifting", TINY.liftings)
def test_errors_are_near_those_of_a_measure_learned_alone(tiny, lifting):
    train, test = load_digits()
    fits = tiny.results("maps")[lifting.name]
    assert [fit["power"] for fit in fits] == list(TINY.powers_of_maps(lifting))
    x, z = sketches(lifting, [train.images, test.images], TINY.seed)
    for fit in fits:
        measure = LogisticMeasure(2.0 ** fit["power"], tol=1e-3).fit(x, train.labels)
        error = np.mean(measure.predict(z) != test.labels)
        assert fit["relative_gap"] <= TINY.map_tolerance
        assert abs(fit["test_error"] - error) < 0.02
