"""Settings are consistent: what clustering needs is what learning provides."""

from __future__ import annotations

import pytest

from instances.reproduction import TINY
from relatum.reproduction.settings import FULL, QUICK, Lifting


@pytest.mark.parametrize("settings", [FULL, QUICK, TINY], ids=lambda s: s.name)
def test_measures_of_clustering_are_learned(settings):
    assert settings.measure in settings.liftings
    assert settings.stratified_power in settings.pair_powers
    assert settings.unstratified_power in settings.pair_powers
    assert settings.liftings[0] == Lifting(1)
    assert all(sigma > 1 for sigma in settings.sigmas)


def test_the_full_reproduction_is_the_papers():
    assert [(x.degree, x.components) for x in FULL.liftings[1:]] == [
        (d, m) for d in (2, 3) for m in (8192, 16384)
    ]
    assert (FULL.pairs, FULL.sentences, FULL.subsets) == (500_000, 10_000, 10)
    assert FULL.sizes == (100, 170, 220, 260, 300)
    assert (min(FULL.pair_powers), max(FULL.pair_powers)) == (1, 35)
    assert max(FULL.measure_map_powers) == max(FULL.map_powers) == 29


def test_names():
    assert Lifting(2, 64).name == "d2_m64"
    assert Lifting(1).title == "d=1"
    assert FULL.readings(FULL.measure) >= FULL.readings(Lifting(1)) >= 1
