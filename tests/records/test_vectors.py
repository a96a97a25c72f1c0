"""Vectors of texts against scikit-learn's, which keeps a vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from relatum.records.vectors import (
    Frequencies,
    codes_in,
    row_products,
    term_counts,
    weighted,
)

TEXTS = ["ann lee", "anne lee", "bob", "bob bob lee", "", "zo\u00eb x", "a", "lee, ann"]


def cosines(texts, kind):
    table = term_counts(texts, kind)
    found = Frequencies.of(table, np.ones(len(texts)))
    vectors = weighted(table, found.rarity(table.shape[1]))
    i, j = np.triu_indices(len(texts))
    return row_products(vectors, i, j)


@pytest.mark.parametrize("kind", ["letters", "words"])
def test_similarities_are_those_of_scikit_learn(kind):
    options = {"analyzer": "char_wb", "ngram_range": (2, 3)}
    if kind == "words":
        options = {"token_pattern": r"\w+"}
    cleaned = [" ".join(text.replace(",", " ").split()) for text in TEXTS]
    peer = TfidfVectorizer(sublinear_tf=True, **options).fit_transform(cleaned)
    i, j = np.triu_indices(len(TEXTS))
    expected = np.asarray((peer @ peer.T).todense())[i, j]
    assert np.abs(cosines(TEXTS, kind) - expected).max() < 1e-5


def test_words_with_digits_are_codes():
    assert codes_in("sony ps-lx350h, 33 rpm 1.5.0") == "pslx350h 150"
    assert codes_in("a" * 1_000_000) == ""  # in linear time: quadratic would take hours
    same = cosines(["a x-100", "b x100", "c x200"], "codes")
    assert same[[0, 1, 2]] == pytest.approx([1, 1, 0])


def test_parts_make_the_same_table(monkeypatch):
    whole = term_counts(TEXTS, "letters")
    monkeypatch.setattr("relatum.records.vectors.CHUNK", 3)
    assert (term_counts(TEXTS, "letters") != whole).nnz == 0
    assert term_counts([], "words").shape[0] == 0


def test_counts_of_two_tables_add_up():
    first, second = (term_counts(part, "words") for part in (TEXTS[:3], TEXTS[3:]))
    both = Frequencies.of(first, np.ones(3)).plus(Frequencies.of(second, np.ones(5)))
    whole = Frequencies.of(term_counts(TEXTS, "words"), np.ones(8))
    assert np.array_equal(both.places, whole.places)
    assert np.array_equal(both.counts, whole.counts)
    assert both.total == whole.total == 8
    lee = Frequencies.of(term_counts(["lee"], "words"), np.ones(1)).places[0]
    assert whole.counts[whole.places == lee] == 4
