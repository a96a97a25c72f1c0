"""The embedded sentences, and those of text files."""

from __future__ import annotations

import gzip

import pytest

from relatum.datasets import load_sentences, read_sentences
from relatum.errors import DataError


def test_sentences_are_lists_of_words():
    sentences = load_sentences()
    assert len(sentences) == 100
    assert all(len(s) > 1 and all(word.strip() == word and word for word in s) for s in sentences)
    assert len({tuple(s) for s in sentences}) == 100


def test_sentences_of_any_text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The cat's asleep.\n\nYes!\na well-known fact\n", encoding="utf-8")
    expected = [["the", "cat's", "asleep"], ["a", "well-known", "fact"]]
    assert read_sentences(path) == expected
    zipped = tmp_path / "text.txt.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read_sentences(zipped) == expected
    assert read_sentences(path, ["a", "fact", "well-known"]) == expected[1:]


def test_running_text_is_cut_into_sentences(tmp_path):
    path = tmp_path / "prose.txt"
    path.write_text("One day it\nrained. Did it stop? It did.", encoding="utf-8")
    found = read_sentences(path, split=True)
    assert found == [["one", "day", "it", "rained"], ["did", "it", "stop"], ["it", "did"]]


def test_a_missing_text_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.txt"):
        read_sentences(tmp_path / "nothing.txt")
