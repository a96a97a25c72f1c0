"""Features of pairs by definition; batches are lazy and re-iterable; draws are uniform."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from relatum.errors import DataError, NotFittedError
from relatum.features import PairBatches, TensorSketch, pair_features, sample_pairs


def _bits(rows, n, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (rows, n), dtype=np.uint8)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float64])
def test_pair_features_by_definition_and_invariant(dtype):
    a, b = _bits(20, 9, 1).astype(dtype), _bits(20, 9, 2).astype(dtype)
    x = pair_features(a, b)
    assert x.dtype == np.uint8
    p, q = a.astype(int), b.astype(int)
    assert np.array_equal(x, np.hstack([p * q, p + q - 2 * p * q]))
    assert np.array_equal(x, pair_features(b, a))
    rows = pair_features(sparse.csr_matrix(a.astype(float)), sparse.csc_matrix(b.astype(float)))
    assert rows.dtype == np.uint8
    assert np.array_equal(rows.toarray(), x)
    assert np.array_equal(pair_features(a[0], b[0]), x[0])


def test_batches_are_the_rows_of_the_whole_again_and_again():
    v = _bits(12, 7)
    i, j = np.array(list(combinations(range(12), 2))).T
    y = np.arange(len(i))
    whole = pair_features(v[i], v[j])
    for elements in (v, sparse.csr_matrix(v), v.astype(bool), v.tolist()):
        batches = PairBatches(elements, i, j, y, batch_size=10)
        assert (len(batches), batches.n_pairs) == (7, 66)
        for _ in range(2):
            xs, ys = zip(*batches, strict=True)
            assert [x.shape[0] for x in xs] == [10] * 6 + [6]
            dense = [x.toarray() if sparse.issparse(x) else x for x in xs]
            assert np.array_equal(np.vstack(dense), whole)
            assert np.array_equal(np.concatenate(ys), y)
    x, none = PairBatches(v, i, j, batch_size=10)[-1]
    assert none is None
    assert np.array_equal(x, whole[60:])
    assert list(PairBatches(v, [], [])) == []
    with pytest.raises(IndexError, match="batch 7 of 7"):
        PairBatches(v, i, j, batch_size=10)[7]


def test_batches_are_lifted():
    v = _bits(12, 7)
    i, j, y = sample_pairs(np.arange(12) % 3, 40, random_state=0)
    whole = pair_features(v[i], v[j])
    sketch = TensorSketch(2, 32, random_state=0).fit(whole)
    lifted = np.vstack([x for x, _ in PairBatches(v, i, j, y, batch_size=16, lifting=sketch)])
    assert np.array_equal(lifted, sketch.transform(whole))
    with pytest.raises(NotFittedError, match="not fitted"):
        PairBatches(v, i, j, y, lifting=TensorSketch())


def test_memory_is_that_of_a_batch():
    n, width, pairs, size = 50, 256, 20_000, 100
    v = _bits(n, width)
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, (2, pairs))
    batches = PairBatches(v, i, j, batch_size=size)
    batches[0]
    tracemalloc.start()
    total = sum(int(x.sum()) for x, _ in batches)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total > 0
    # the features of all pairs would take pairs * 2 * width bytes, 10 MB
    assert peak < 10 * size * 2 * width


@pytest.mark.parametrize("stratified", [False, True])
def test_drawn_pairs_are_distinct_and_labelled(stratified):
    labels = np.array(["a", "b", "c", "b", "a", "b", "a", "d"])
    related = sum(labels[p] == labels[q] for p, q in combinations(range(8), 2))
    count = 2 * related if stratified else 28
    i, j, y = sample_pairs(labels, count, stratified=stratified, random_state=3)
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == count
    assert (i < j).all()
    assert np.array_equal(y, labels[i] == labels[j])
    assert y.sum() == related
    again = sample_pairs(labels, count, stratified=stratified, random_state=3)
    assert all(np.array_equal(p, q) for p, q in zip((i, j, y), again, strict=True))


@pytest.mark.parametrize("stratified", [False, True])
def test_draws_are_uniform(stratified):
    labels = [0, 1, 1, 0, 2, 1]
    seen = dict.fromkeys(combinations(range(6), 2), 0)
    repeats = 3000
    for seed in range(repeats):
        i, j, _ = sample_pairs(labels, 4, stratified=stratified, random_state=seed)
        for pair in zip(i.tolist(), j.tolist(), strict=True):
            seen[pair] += 1
    related = {pair for pair in seen if labels[pair[0]] == labels[pair[1]]}
    for pair, count in seen.items():
        share = 4 / 15
        if stratified:
            share = 2 / len(related) if pair in related else 2 / (15 - len(related))
        deviation = np.sqrt(repeats * share * (1 - share))
        assert abs(count - repeats * share) < 5 * deviation


def test_large_populations_are_drawn_without_listing_them():
    labels = np.arange(200_000) % 10
    for stratified in (False, True):
        i, j, y = sample_pairs(labels, 1001, stratified=stratified, random_state=0)
        assert len(np.unique(i * 200_000 + j)) == 1001
        assert (i < j).all()
        assert j.max() < 200_000
        assert not stratified or y.sum() == 500


def test_memory_of_a_draw_is_that_of_the_pairs_drawn():
    labels = np.arange(5000) % 10  # 12.5 million pairs, 100 MB if they were listed
    tracemalloc.start()
    i, j, _ = sample_pairs(labels, 400_000, random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(np.unique(i * 5000 + j)) == 400_000
    assert peak < 12 * 8 * 400_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: pair_features(v, v[:2]), r"shapes \(5, 3\) and \(2, 3\)"),
        (lambda v: pair_features(v, v + 1), "v_b must be 01-features.*got an entry 2"),
        (lambda v: pair_features(v * np.nan, v), "v_a must be 01-features.*nan"),
        (lambda v: pair_features(v, sparse.csr_matrix(v)), "both be dense or both be sparse"),
        (lambda v: pair_features(v.astype(str), v), "v_a must be a vector or matrix of 0 and 1"),
        (lambda v: pair_features([[1], [1, 0]], v), "v_a must be a rectangular array"),
        (lambda v: PairBatches(v[0], [0], [1]), "one row per element"),
        (lambda v: PairBatches(v, [0, 1], [1]), "equally long, got 2 in i"),
        (lambda v: PairBatches(v, [0], [1], [1, 0]), r"shape \(2,\) of y"),
        (lambda v: PairBatches(v, [0], [5]), "j must hold rows of v, 0 to 4, got 5"),
        (lambda v: PairBatches(v, [-1], [3]), "i must hold rows of v, 0 to 4, got -1"),
        (lambda v: PairBatches(v, [0.5], [3]), "i must be a vector of integers"),
        (lambda v: PairBatches(v, [0], [3], batch_size=0), "batch_size must be a positive integer"),
        (lambda v: PairBatches(v, [0], [3], batch_size="many"), "positive integer, got 'many'"),
        (lambda v: PairBatches(v, [0], [3], batch_size=float("nan")), "positive integer, got nan"),
        (lambda v: sample_pairs(v, 2), "labels must be a vector"),
        (lambda v: sample_pairs([0, 1], -1), "n_pairs must be a non-negative integer"),
        (lambda v: sample_pairs([0, 1], 2), "there are 1 pairs, fewer than the 2 asked for"),
        (lambda v: sample_pairs([0, 1], 2, stratified=True), "there are 0 related pairs"),
        (lambda v: sample_pairs([0, 0], 1, stratified=True), "there are 0 unrelated pairs"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call(_bits(5, 3).astype(float))
