import itertools

import numpy as np
import pytest

import naive
from relatum.errors import DataError
from relatum.measures.sequences import encode_sequences, precedence_counts


def test_words_become_numbers_and_back():
    lines = ["the cat sat", "", "the dog sat on the cat"]
    tokens, offsets, words = encode_sequences(lines)
    again = [" ".join(words[t] for t in tokens[a:b]) for a, b in itertools.pairwise(offsets)]
    assert again == lines
    listed = encode_sequences([line.split() for line in lines])
    np.testing.assert_array_equal(listed.tokens, tokens)


def test_a_dictionary_fixes_the_numbers():
    assert encode_sequences(["b a"], ["a", "b", "c"]).tokens.tolist() == [1, 0]
    with pytest.raises(DataError, match=r"Sequence 1 .*'d'"):
        encode_sequences(["a", "a d"], ["a", "b"])


def test_counts():
    sequences = [[0, 1, 0], [2, 1], []]
    tokens, offsets = [0, 1, 0, 2, 1], [0, 3, 5, 5]
    np.testing.assert_array_equal(
        precedence_counts(tokens, offsets), naive.precedences(sequences, 3)
    )
    assert precedence_counts(tokens, offsets, 5).shape == (5, 5)
    assert precedence_counts([], [0]).shape == (0, 0)


@pytest.mark.parametrize(
    ("tokens", "offsets", "n"),
    [
        ([0, 1], [0, 1], None),
        ([0, 1], [1, 2], None),
        ([0, 1, 2], [0, 2, 1, 3], None),
        ([0, 1], [], None),
        ([0, -1], [0, 2], None),
        ([0, 3], [0, 2], 3),
        ([0.5, 1.0], [0, 2], None),
        ([[0, 1]], [0, 2], None),
    ],
)
def test_bad_sequences(tokens, offsets, n):
    with pytest.raises(DataError, match=r"offsets|tokens"):
        precedence_counts(tokens, offsets, n)


@pytest.mark.parametrize("n_words", [{}, "3", 2.5, -1, True])
def test_the_number_of_words_is_a_whole_number(n_words):
    with pytest.raises(DataError, match="n_words is a whole number"):
        precedence_counts([0, 1], [0, 2], n_words)
