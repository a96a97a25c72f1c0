"""Tensor Sketch: exact against its definition, unbiased with the variance of theory and peer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from relatum.errors import DataError, NotFittedError
from relatum.features import BinaryFeatures, ClippingWarning, TensorSketch


@parametrize_with_checks(
    [
        TensorSketch(n_components=16, random_state=0),
        TensorSketch(degree=3, n_components=9, random_state=0, domain="fourier"),
    ]
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def _bits(rows, n, seed=0, share=0.3):
    return (np.random.default_rng(seed).random((rows, n)) < share).astype(np.uint8)


def _kernel(a, b, degree):
    return (1.0 + a.astype(float) @ b.astype(float).T) ** degree


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("m", [1, 6, 11])
def test_integers_are_sketched_exactly(degree, m):
    x = _bits(4, 12)
    sketch = TensorSketch(degree, m, random_state=1).fit(x)
    expected = [naive.tensor_sketch(row, sketch.bucket_, sketch.sign_, m) for row in x]
    for dtype in ("auto", "int32", "float64"):
        z = sketch.set_params(dtype=dtype).fit_transform(x)
        assert z.dtype.kind == ("f" if dtype == "float64" else "i")
        assert np.allclose(z, expected, atol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_reals_are_sketched_by_definition(degree):
    x = np.random.default_rng(0).normal(size=(4, 9))
    sketch = TensorSketch(degree, 10, random_state=1).fit(x)
    expected = [naive.tensor_sketch(row, sketch.bucket_, sketch.sign_, 10) for row in x]
    assert np.allclose(sketch.transform(x), expected)
    assert np.allclose(sketch.transform(x.astype(np.float32)), expected, atol=1e-4)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_single_and_double_precision_give_the_same_integers(degree):
    x = _bits(40, 700)
    z = TensorSketch(degree, 256, random_state=0, dtype="int32").fit_transform(x)
    exact = TensorSketch(degree, 256, random_state=0, dtype="float64").fit_transform(x)
    assert np.array_equal(z, np.rint(exact))
    assert np.abs(exact - np.rint(exact)).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("domain", ["signal", "fourier"])
def test_dense_and_sparse_agree(dtype, domain):
    x = _bits(30, 50).astype(dtype)
    sketch = TensorSketch(2, 64, random_state=0, domain=domain).fit(x)
    for rows in (sparse.csr_matrix(x), sparse.csc_matrix(x)):
        z = sketch.transform(rows)
        assert z.dtype == sketch.transform(x).dtype
        assert np.allclose(z, sketch.transform(x), atol=1e-4)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("m", [64, 65])
def test_fourier_domain_keeps_inner_products(degree, m):
    x = _bits(20, 40).astype(float)
    z = TensorSketch(degree, m, random_state=0).fit_transform(x)
    f = TensorSketch(degree, m, random_state=0, domain="fourier").fit_transform(x)
    assert f.shape == z.shape
    assert np.allclose(f @ f.T, z @ z.T)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_unbiased_with_the_statistics_of_theory_and_peer(degree):
    rng = np.random.default_rng(0)
    x = np.sign(rng.normal(size=(6, 8))) * _bits(6, 8, share=0.6)
    m, repeats = 32, 2000
    truth = _kernel(x, x, degree)
    ours, peers = np.empty((2, repeats, 6, 6))
    for seed in range(repeats):
        z = TensorSketch(degree, m, random_state=seed).fit_transform(x)
        p = PolynomialCountSketch(
            degree=degree, coef0=1, n_components=m, random_state=seed
        ).fit_transform(x)
        ours[seed], peers[seed] = z @ z.T, p @ p.T
    scale = ours.std(axis=0) / np.sqrt(repeats)
    # 36 estimates (21 distinct), each within 5 standard errors of its expectation
    assert (np.abs(ours.mean(axis=0) - truth) <= 5 * scale + 1e-9).all()
    ratio = ours.var(axis=0) / np.maximum(peers.var(axis=0), 1e-12)
    varies = peers.var(axis=0) > 1e-9
    assert varies.any()
    assert np.all((ratio[varies] > 0.7) & (ratio[varies] < 1.4))
    # Pham and Pagh: the variance is at most (3^d - 1) / m times the product of squared norms
    norms = np.diag(truth)
    bound = (3**degree - 1) / m * np.outer(norms, norms)
    assert np.all(ours.var(axis=0) <= 1.1 * bound)


@pytest.mark.slow
def test_count_sketch_variance_is_the_closed_form():
    x = np.random.default_rng(3).normal(size=(1, 6))
    z = np.random.default_rng(4).normal(size=(1, 6))
    m, repeats = 16, 3000
    estimates = np.empty(repeats)
    for seed in range(repeats):
        sketch = TensorSketch(1, m, random_state=seed).fit(x)
        estimates[seed] = (sketch.transform(x) @ sketch.transform(z).T).item()
    a, b = np.append(x, 1.0), np.append(z, 1.0)
    variance = ((a @ a) * (b @ b) + (a @ b) ** 2 - 2 * (a**2) @ (b**2)) / m
    assert abs(estimates.var() / variance - 1) < 0.1


def test_result_depends_on_the_seed_alone():
    x = _bits(70, 30)
    z = TensorSketch(2, 128, random_state=5).fit_transform(x)
    for options in ({"n_jobs": 2, "batch_size": 3}, {"batch_size": 64}, {"n_jobs": 2}):
        again = TensorSketch(2, 128, random_state=5, **options).fit_transform(x)
        assert np.array_equal(z, again)
    assert not np.array_equal(z, TensorSketch(2, 128, random_state=6).fit_transform(x))


def test_integer_type_grows_with_the_entries_and_clipping_is_reported():
    x = _bits(20, 600, share=0.5)
    narrow = TensorSketch(2, 4096, random_state=0).fit(x)
    wide = TensorSketch(3, 64, random_state=0).fit(x)
    assert narrow.dtype_ == np.int8
    assert wide.dtype_ == np.int16
    assert wide.clipped_share_ == 0.0
    exact = wide.transform(x)
    clipped = TensorSketch(3, 64, random_state=0, dtype=np.int8).fit(x)
    beyond = int((np.abs(exact) > 127).sum())
    with pytest.warns(ClippingWarning, match=f"{beyond} of {exact.size} entries"):
        z = clipped.transform(x)
    assert np.array_equal(z, np.clip(exact, -127, 127))
    out = np.empty(exact.shape, dtype=np.int8)
    assert clipped.transform_into(x, out) == beyond
    assert np.array_equal(out, z)


def test_large_integers_stay_exact_or_are_refused():
    x = np.array([[2**20, 3, 0], [1, 2**21, 5]])
    sketch = TensorSketch(2, 8, random_state=0).fit(x)
    expected = [naive.tensor_sketch(row, sketch.bucket_, sketch.sign_, 8) for row in x]
    assert sketch.dtype_ == np.int64
    assert np.array_equal(sketch.transform(x), expected)
    with pytest.raises(DataError, match="too large for an exact sketch; pass dtype='float64'"):
        TensorSketch(2, 8, random_state=0, dtype="int64").fit(x).transform(x * 2**12)


def test_integers_after_a_fit_on_reals_and_reals_after_integers():
    x = _bits(6, 10)
    sketch = TensorSketch(2, 32, random_state=0).fit(x.astype(np.float32))
    assert sketch.transform(x).dtype == np.int32
    assert sketch.fit(x).transform(x.astype(np.float64)).dtype == np.float64


def test_composes_in_a_pipeline_with_bits():
    images = np.random.default_rng(0).integers(0, 256, (9, 4), dtype=np.uint8)
    pipeline = make_pipeline(BinaryFeatures(), TensorSketch(2, 64, random_state=0))
    z = pipeline.fit_transform(images)
    assert z.shape == (9, 64)
    assert z.dtype == np.int8
    assert list(pipeline.get_feature_names_out()[:2]) == ["tensorsketch0", "tensorsketch1"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"degree": 0}, "degree must be at least 1, got 0"),
        ({"n_components": 2.5}, "n_components must be an integer"),
        ({"domain": "time"}, "domain must be one of 'signal', 'fourier', got 'time'"),
        ({"dtype": "int8", "domain": "fourier"}, "dtype must be 'auto', float32, float64"),
        ({"dtype": "nonsense"}, "dtype must be 'auto'"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(DataError, match=message):
        TensorSketch(**params).fit(_bits(3, 4))


def test_bad_input_is_named():
    x = _bits(3, 4)
    sketch = TensorSketch(2, 8, random_state=0)
    with pytest.raises(NotFittedError, match="not fitted"):
        sketch.transform(x)
    sketch.fit(x)
    with pytest.raises(DataError, match="NaN"):
        sketch.transform([[0.0, 1.0, np.nan, 0.0]])
    with pytest.raises(DataError, match="4 features"):
        sketch.transform(_bits(3, 5))
    with pytest.raises(DataError, match=r"needs whole numbers as input, got 0\.5"):
        sketch.set_params(dtype="int16").fit(x).transform(x * 0.5)
    with pytest.raises(DataError, match=r"out must have shape \(3, 8\)"):
        sketch.transform_into(x, np.empty((3, 7)))
    with pytest.raises(DataError, match="cannot be written as uint8"):
        sketch.transform_into(x, np.empty((3, 8), dtype=np.uint8))
