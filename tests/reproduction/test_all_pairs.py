"""Log-odds of all pairs as a form are those of the sketches of the pairs."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.features import TensorSketch, pair_features
from relatum.reproduction.all_pairs import PairForm, in_signal_domain, triangle_rows


@pytest.mark.parametrize("m", [64, 65])
def test_coefficients_of_the_fourier_domain_give_the_same_products(m):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (5, 9))
    theta = rng.normal(size=m)
    fourier = TensorSketch(2, m, random_state=1, domain="fourier", dtype="float64").fit(x)
    signal = TensorSketch(2, m, random_state=1, dtype="float64").fit(x)
    assert np.allclose(fourier.transform(x) @ theta, signal.transform(x) @ in_signal_domain(theta))


@pytest.mark.parametrize("domain", ["signal", "fourier"])
def test_form_scores_pairs_as_their_sketches(domain):
    rng = np.random.default_rng(2)
    v = rng.integers(0, 2, (17, 30)).astype(np.uint8)
    i, j = np.triu_indices(17, 1)
    x = pair_features(v[i], v[j])
    sketch = TensorSketch(2, 128, random_state=0, domain=domain, dtype="float64").fit(x)
    thetas = rng.normal(size=(2, 128))
    forms = [PairForm(sketch, theta) for theta in thetas]
    rows = np.asfortranarray(v.astype(np.float32))
    for form, theta in zip(forms, thetas, strict=True):
        parts = [triangle_rows(form, rows, part) for part in (range(6), range(6, 16))]
        found = np.concatenate(parts) + form.bilinear(v)[i, j]
        assert np.allclose(found, sketch.transform(x) @ theta, atol=1e-2)
        assert np.allclose(form.log_odds(v), found)


def test_other_degrees_are_refused():
    sketch = TensorSketch(3, 16, random_state=0).fit(np.zeros((1, 4), dtype=np.uint8))
    with pytest.raises(DataError, match="degree 2"):
        PairForm(sketch, np.zeros(16))
