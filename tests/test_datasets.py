"""The embedded data are what their documentation says."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits as peer

from relatum.datasets import load_digits, load_sentences


def test_digits_are_those_of_scikit_learn():
    train, test = load_digits()
    assert len(train.images) == len(train.labels) == 1000
    assert len(test.images) == len(test.labels) == 797
    assert np.array_equal(np.concatenate([train.images, test.images]), peer().data)
    assert np.array_equal(np.concatenate([train.labels, test.labels]), peer().target)


def test_sentences_are_lists_of_words():
    sentences = load_sentences()
    assert len(sentences) == 100
    assert all(len(s) > 1 and all(word.strip() == word and word for word in s) for s in sentences)
    assert len({tuple(s) for s in sentences}) == 100
