import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from relatum.measures.fit.rows import THREADED_WORK, Rows, computing_type, threads_for


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_sparse_blocks_are_dense_blocks_on_their_columns(constant, dtype):
    rng = np.random.default_rng(0)
    x = (rng.integers(-2, 3, size=(11, 7)) * (rng.random((11, 7)) < 0.3)).astype(dtype)
    index = np.array([4, 1, 9])
    dense, none = Rows(x, np.float32, constant).take(index)
    assert none is None
    np.testing.assert_array_equal(dense[:, :7], x[index])
    block, columns = Rows(sparse.csr_matrix(x), np.float32, constant).take(index)
    full = np.zeros((3, 7 + constant), dtype=np.float32)
    full[:, columns] = block
    np.testing.assert_array_equal(full, dense)
    if constant:
        np.testing.assert_array_equal(dense[:, 7], 1.0)


def test_blocks_of_growing_size_keep_the_constant_column():
    rows = Rows(np.zeros((5, 2), np.int8), np.float64, True)
    for size in (1, 5, 3):
        block, _ = rows.take(slice(0, size))
        np.testing.assert_array_equal(block, [[0, 0, 1]] * size)


def test_mean_square():
    x = np.random.default_rng(1).normal(size=(700, 3))
    assert Rows(x, np.float64).mean_square() == pytest.approx((x**2).sum(axis=1).mean())
    times = np.arange(700) % 4
    repeated = Rows(np.repeat(x, times, axis=0), np.float64).mean_square()
    for rows in (x, sparse.csr_matrix(x)):
        assert Rows(rows, np.float64).mean_square(times * 1.0) == pytest.approx(repeated)


def test_single_precision_only_where_it_is_enough():
    assert computing_type(np.zeros(1, np.int8), 1e-3) is np.float32
    assert computing_type(np.zeros(1, np.int8), 1e-9) is np.float64
    assert computing_type(np.zeros(1), 1e-3) is np.float64


def test_small_products_have_one_thread():
    def threads():
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(limits=2, user_api="blas"):
        with threads_for(THREADED_WORK - 1):
            assert threads() == 1
        with threads_for(THREADED_WORK):
            assert threads() == 2
        assert threads() == 2
