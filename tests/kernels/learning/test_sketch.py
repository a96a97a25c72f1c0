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
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_count_sketches_equal_their_twin(count, dtype):
    rng = np.random.default_rng(count)
    n, m = 23, 7
    x = (rng.integers(-3, 4, (5, n)) * (rng.random((5, n)) < 0.4)).astype(dtype)
    bucket, sign = _hashes(rng, count, n, m)
    expected = np.array(
        [[naive.count_sketch(row, bucket[k], sign[k], m) for k in range(count)] for row in x]
    )
    real = np.float32 if dtype == np.uint8 else np.float64
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


@pytest.mark.parametrize("m", [1, 2, 7, 8])
def test_halfcomplex_equals_its_twin(m):
    signal = np.random.default_rng(m).normal(size=(3, m))
    out = np.empty((3, m))
    kernels.halfcomplex(fft.rfft(signal), out)
    assert np.allclose(out, [naive.unitary_reals(row) for row in signal])


def test_round_and_clip_equals_its_twin():
    values = np.array([[-300.2, -127.4, -127.6, 0.4], [0.6, 127.4, 127.6, -2.0]])
    out = np.empty(values.shape, dtype=np.int8)
    clipped, doubtful = kernels.round_and_clip(values, 127, 0.3, out)
    assert (out.tolist(), clipped, doubtful) == naive.round_and_clip(values, 127, 0.3)
    assert (clipped, doubtful) == (3, 6)
