"""Two kinds of pairs told apart by expectation maximisation, against samples of known kinds."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.measures.beta_mixture import BINS, EDGE, MOST_BITS, BetaMixture, fitted_mixture


def histogram(x):
    return np.histogram(x, BINS, (0.0, 1.0))[0].astype(float)


@pytest.mark.parametrize(("share", "shape"), [(0.3, 6.0), (0.05, 12.0), (0.7, 4.0)])
def test_finds_the_mixture_that_made_the_pairs(share, shape):
    rng = np.random.default_rng(0)
    related = rng.random(200_000) < share
    x = np.where(related, rng.beta(shape, 1, len(related)), rng.beta(1, shape, len(related)))
    found = fitted_mixture(histogram(x))
    assert found.share == pytest.approx(share, abs=0.01)
    assert found.shape == pytest.approx(shape, rel=0.05)
    near = np.abs(x - 0.5) < 0.05  # where bits say little, they say what is true
    told = 1 / (1 + 2.0 ** -found.log_odds(x[near]))
    assert told.mean() == pytest.approx(related[near].mean(), abs=0.03)


def test_bits_are_those_of_the_densities_and_never_fall():
    mixture = BetaMixture(0.2, 3.0)
    x = np.linspace(0.1, 0.95, 18)
    density = 0.2 * 3 * x**2, 0.8 * 3 * (1 - x) ** 2
    assert np.allclose(mixture.log_odds(x), np.log2(density[0] / density[1]))
    everywhere = mixture.log_odds(np.linspace(-0.2, 1.2, 200))
    assert (np.diff(everywhere) >= 0).all()
    assert np.abs(everywhere).max() <= MOST_BITS
    assert mixture.log_odds(np.float32([0.5])).dtype == np.float32


def test_lumps_at_the_ends_are_certain():
    for share in (0.001, 0.2, 0.5, 0.9):
        counts = np.zeros(BINS)
        counts[0], counts[-1] = 1e6 * (1 - share), 1e6 * share
        found = fitted_mixture(counts)
        assert found.share == pytest.approx(share, rel=0.05, abs=1e-3)
        assert np.allclose(found.log_odds(np.array([EDGE, 1.0])), [-MOST_BITS, MOST_BITS])
    only = np.zeros(BINS)
    only[-1] = 3.0
    assert fitted_mixture(only).log_odds(np.array([1.0])) == MOST_BITS
