"""Candidates are the nearest by brute force, and what shares a key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from relatum.errors import DataError
from relatum.records.blocking import (
    _whole_vectors,
    candidates,
    caught_twice,
    frequent_terms,
    key_codes,
    nearest,
    sharing,
)
from relatum.records.comparison import WHOLE


def vectors(compared, what):
    rarity = compared.frequencies[f"{WHOLE}/{what}"].rarity(1 << (18 if what == "letters" else 20))
    return _whole_vectors(compared.records, what, rarity)


@pytest.mark.parametrize("what", ["letters", "words"])
def test_the_nearest_are_those_of_scikit_learn(compared, what):
    table = vectors(compared, what)
    pairs = np.concatenate([np.column_stack(p) for p in nearest(table, 5, steps=1e9)])
    likes = (table @ table.T).toarray()
    np.fill_diagonal(likes, -1)
    far = NearestNeighbors(n_neighbors=6, metric="cosine").fit(table).kneighbors(table)[0][:, -1]
    for i in range(table.shape[0]):
        own = pairs[pairs[:, 0] == i, 1]
        best = np.sort(likes[i])[::-1][:5]
        assert likes[i, own] == pytest.approx(best[best > 0], abs=1e-5)
        assert (1 - likes[i, own] <= far[i] + 1e-5).all()


def test_more_neighbors_than_records_are_all_of_them():
    table = sparse.csr_array(np.ones((4, 1), np.float32))
    ((i, j),) = nearest(table, 10**9)
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == [
        (a, b) for a in range(4) for b in range(4) if a != b
    ]


def test_only_other_groups_are_near(compared):
    groups = np.arange(len(compared.records)) % 2
    for i, j in nearest(vectors(compared, "letters"), 4, groups):
        assert (groups[i] != groups[j]).all()
        assert len(i) == 4 * len(np.unique(i))


def test_frequent_terms_are_left_out_until_the_steps_suffice(compared):
    table = vectors(compared, "letters")
    fewer = frequent_terms(table, 20_000.0)
    counts = np.bincount(table.indices, minlength=table.shape[1])
    left = np.bincount(fewer.indices, minlength=table.shape[1])
    assert (left.astype(float) ** 2).sum() <= 20_000
    assert set(np.unique(left - counts * (left > 0))) == {0}  # a term is there as a whole, or not
    assert counts[(left == 0) & (counts > 0)].min() >= left.max()
    assert frequent_terms(table, 1e12) is table


def test_true_pairs_are_candidates(compared, people):
    found = candidates(compared.records, compared.frequencies, 10)
    a, b = found.pairs.T
    assert (a < b).all()
    assert len(np.unique(a * 10_000 + b)) == len(found)
    sizes = np.bincount(people.entity)
    true = (sizes * (sizes - 1) // 2).sum()
    same = people.entity[a] == people.entity[b]
    assert same.sum() / true > 0.95
    assert caught_twice(same.astype(float), found.by) == pytest.approx(same.sum() / true, abs=0.05)


def test_records_that_share_a_key_are_candidates():
    codes = np.array([0, 1, 0, -1, 1, 0, -1, *[2] * 60])
    i, j, large = sharing(codes)
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 2), (0, 5), (1, 4), (2, 5)]
    assert large == 1
    assert [len(x) for x in sharing(np.full(3, -1))[:2]] == [0, 0]


def test_keys_are_columns_tuples_or_functions():
    table = pa.table({"a": ["x", "x", None, "y"], "b": [1, 2, 1, 1]})
    found = key_codes(table, ["a", ("a", "b"), lambda row: row["b"], lambda row: ""])
    assert found[0].tolist() == [0, 0, -1, 1]
    assert found[1].tolist() == [0, 1, -1, 2]
    assert found[2].tolist() == [0, 1, 0, 0]
    assert found[3].tolist() == [-1] * 4
    for key in (3, (), ("a", 1), "c", lambda row: [1]):
        with pytest.raises(DataError):
            key_codes(table, [key])


def test_keys_find_what_nearness_does_not(compared):
    codes = np.full(len(compared.records), -1)
    codes[[3, 400]] = 7
    found = candidates(compared.records, compared.frequencies, 1, [codes])
    marked = found.pairs[(found.by & 4) > 0]
    assert marked.tolist() == [[3, 400]]


def test_capture_and_recapture():
    by = np.array([1] * 20 + [2] * 30 + [3] * 60, dtype=np.uint8)
    # 80 by letters, 90 by words, 60 by both: 120 in all, of which 110 were found
    assert caught_twice(np.ones(110), by) == pytest.approx(110 / 120, abs=0.01)
