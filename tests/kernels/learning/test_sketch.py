"""Every sketch kernel equals its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft, sparse

import naive
from relatum.kernels.learning import sketch as kernels


def _hashes(rng, count, n, m):
    bucket = rng.integers(0, m, (count, n + 1)).astype(np.int32)
    sign = rng.choice([-1, 1], (count, n + 1)).astype(np.int8)
    return bucket, sign


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("narrow", [True, False])
def test_count_sketches_equal_their_twin(count, real, narrow):
    rng = np.random.default_rng(count)
    n, m = 23, 7
    dtype = np.uint8 if narrow else real
    x = (rng.integers(-3, 4, (5, n)) * (rng.random((5, n)) < 0.4)).astype(dtype)
    bucket, sign = _hashes(rng, count, n, m)
    expected = np.array(
        [[naive.count_sketch(row, bucket[k], sign[k], m) for k in range(count)] for row in x]
    )
    for array in (x, bucket, sign):
        array.flags.writeable = False
    rows = sparse.csr_matrix(x)
    csr = (rows.indptr, rows.indices, rows.data.astype(real))
    for run, data in ((kernels.count_sketch_dense, x), (kernels.count_sketch_csr, csr)):
        sketches, squares = np.full((5, m, count), 9, dtype=real), np.empty((5, count))
        run(data, bucket, sign, sketches, squares)
        assert np.array_equal(sketches, expected.transpose(0, 2, 1))
        assert np.allclose(squares, (expected**2).sum(axis=2))


@pytest.mark.parametrize("m", [1, 2, 7, 8])
def test_one_complex_transform_serves_two_real_sketches(m):
    rng = np.random.default_rng(m)
    c = rng.normal(size=(4, 3, m))
    product = np.empty((3, m // 2 + 1), dtype=np.complex128)
    kernels.pair_spectrum(fft.fft(c[0] + 1j * c[1]), product, True)
    kernels.pair_spectrum(fft.fft(c[2] + 1j * c[3]), product, False)
    expected = np.prod([[naive.fourier(row) for row in ck] for ck in c], axis=0)
    assert np.allclose(product, expected[:, : m // 2 + 1])
    single = np.empty((3, m // 2 + 1), dtype=np.complex64)
    kernels.pair_spectrum(fft.fft(c[0] + 1j * c[1]).astype(np.complex64), single, True)
    kernels.pair_spectrum(fft.fft(c[2] + 1j * c[3]).astype(np.complex64), single, False)
    assert np.allclose(single, product, atol=1e-4)


@pytest.mark.parametrize("m", [1, 2, 7, 8])
@pytest.mark.parametrize("types", [("c8", "f4"), ("c16", "f4"), ("c16", "f8")])
@pytest.mark.parametrize("step", [1, 2])
def test_halfcomplex_equals_its_twin(m, types, step):
    signal = np.random.default_rng(m).normal(size=(3, m))
    wide = np.full((3, step * m), 7.0, dtype=types[1])
    out = wide[:, ::step]
    kernels.halfcomplex(fft.rfft(signal).astype(types[0]), out)
    tolerance = 1e-12 if types == ("c16", "f8") else 1e-6
    assert np.allclose(out, [naive.unitary_reals(row) for row in signal], atol=tolerance)
    assert (wide[:, 1::2] == 7.0).all() or step == 1


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("whole", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("step", [1, 2])
def test_round_and_clip_equals_its_twin(real, whole, step):
    values = np.array([[-300.2, -127.4, -127.6, 0.4], [0.6, 127.4, 127.6, -2.0]], dtype=real)
    out = np.full((2, 4 * step), 7, dtype=whole)[:, ::step]
    clipped, doubtful = kernels.round_and_clip(values, 127, 0.3, out)
    assert (out.tolist(), clipped, doubtful) == naive.round_and_clip(values, 127, 0.3)
    assert (clipped, doubtful) == (3, 6)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_many_numbers_are_rounded_as_few_are(real):
    values = (1e4 * np.random.default_rng(0).normal(size=(3, 1000))).astype(real)
    out = np.empty(values.shape, dtype=np.int16)
    clipped, doubtful = kernels.round_and_clip(values, 20_000, 0.25, out)
    assert np.array_equal(out, np.clip(np.rint(values), -20_000, 20_000))
    assert clipped == np.count_nonzero(np.abs(np.rint(values)) > 20_000)
    assert doubtful == np.count_nonzero(np.abs(values - np.rint(values)) > 0.25)
