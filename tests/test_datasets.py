"""The embedded data are what their documentation says; files are read, or refused clearly."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from sklearn.datasets import load_digits as peer

from relatum import datasets
from relatum.datasets import (
    data_path,
    fetch_mnist,
    load_digits,
    load_images,
    load_mnist,
    load_sentences,
    read_idx,
    read_sentences,
)
from relatum.errors import DataError


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


def idx(array, code=8):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def test_matches_are_those_of_a_whole_tournament():
    """32 teams in 8 groups, each of 6 matches; then 16 that lose one by one: 64 matches."""
    found = datasets.load_matches()
    assert found.goals.shape == (64, 2)
    assert int(found.goals.sum()) == 172  # what FIFA counted
    played = Counter([*found.first, *found.second])
    assert Counter(played.values()) == {3: 16, 4: 8, 5: 4, 7: 4}


@pytest.mark.parametrize(("dtype", "code"), [("u1", 8), ("i2", 11), ("f8", 14)])
@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_come_back_as_they_were(tmp_path, dtype, code, zipped):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    data = idx(array, code)
    path = tmp_path / "some-idx3"
    path.write_bytes(gzip.compress(data) if zipped else data)
    found = read_idx(path)
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    ("data", "rule"), [(b"GIF89a", "not an idx file"), (idx(np.zeros((2, 2), "u1"))[:-1], "cut")]
)
def test_other_files_are_refused(tmp_path, data, rule):
    path = tmp_path / "labels"
    path.write_bytes(data)
    with pytest.raises(DataError, match=rule):
        read_idx(path)


def write_set(folder, count=5):
    folder.mkdir()
    rng = np.random.default_rng(0)
    for part in ("train", "t10k"):
        images = rng.integers(0, 255, (count, 4, 4)).astype(np.uint8)
        labels = np.arange(count, dtype=np.uint8)
        (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    return images


def test_a_folder_in_the_format_of_mnist(tmp_path, monkeypatch):
    images = write_set(tmp_path / "mnist")
    train, test = load_images(tmp_path / "mnist")
    assert train.images.shape == (5, 16)
    assert np.array_equal(test.images, images.reshape(5, 16))
    assert test.labels.tolist() == [0, 1, 2, 3, 4]
    monkeypatch.setenv("RELATUM_DATA", str(tmp_path))
    assert data_path("mnist") == tmp_path / "mnist"
    assert data_path("absent") is None
    assert np.array_equal(load_mnist()[1].images, test.images)


def test_a_missing_file_is_named_with_the_way_to_get_it(tmp_path):
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte.*fetch_mnist"):
        load_images(tmp_path)


def test_images_without_labels_are_refused(tmp_path):
    write_set(tmp_path / "set")
    (tmp_path / "set" / "t10k-labels-idx1-ubyte.gz").write_bytes(idx(np.zeros(4, np.uint8)))
    with pytest.raises(DataError, match="one label per image"):
        load_images(tmp_path / "set")


@pytest.mark.parametrize(("dtype", "code"), [(">f4", 13), (">i4", 12)])
def test_images_that_are_no_bytes_are_refused(tmp_path, dtype, code):
    """They would be cut to bytes: 256 becomes 0."""
    for part in ("train", "t10k"):
        head = struct.pack(">HBB3I", 0, code, 3, 1, 1, 2)
        body = np.array([256, 1], dtype).tobytes()
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(head + body)
        labels = struct.pack(">HBBIB", 0, 8, 1, 1, 3)
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    with pytest.raises(DataError, match="images are bytes"):
        load_images(tmp_path)


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04 cut short"])
def test_a_damaged_copy_of_mnist_is_named(tmp_path, data):
    kept = datasets._kept(tmp_path)
    kept.parent.mkdir(parents=True)
    kept.write_bytes(data)
    with pytest.raises(DataError, match=r"is damaged.*Remove it"):
        datasets.fetch_mnist(tmp_path)


def test_mnist_is_fetched_once_and_kept(tmp_path, monkeypatch):
    calls = []

    def fetch(name, **options):
        calls.append(name)
        rng = np.random.default_rng(0)
        images = rng.integers(0, 255, (60005, 3)).astype(float)
        return SimpleNamespace(data=images, target=np.full(60005, "7"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.delenv("RELATUM_DATA", raising=False)
    with pytest.raises(DataError, match=r"MNIST is not here.*fetch_mnist"):
        load_mnist()
    train, test = fetch_mnist()
    assert (len(train.labels), len(test.labels)) == (60000, 5)
    assert test.labels.tolist() == [7] * 5
    assert np.array_equal(load_mnist()[1].images, test.images)
    assert np.array_equal(fetch_mnist()[1].images, test.images)
    assert calls == ["mnist_784"]


def test_no_network_is_said_clearly(tmp_path, monkeypatch):
    def fetch(*args, **options):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(DataError, match=r"no route to host.*RELATUM_DATA"):
        fetch_mnist(tmp_path)
    assert list(tmp_path.rglob("*.npz")) == []


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
    assert set(datasets.__all__) >= {"load_mnist", "read_sentences"}


def test_invented_people_are_written_down_several_times():
    people = datasets.load_people(300, seed=1)
    assert people.records.num_rows == len(people.entity)
    sizes = np.bincount(people.entity)
    assert sizes.min() == 1
    assert sizes.max() == 4
    same = [
        people.records["surname"][int(k)].as_py()
        for k in np.flatnonzero(np.isin(people.entity, np.flatnonzero(sizes == 4)))
    ]
    alike = np.array(same).reshape(-1, 4)
    assert 0.4 < (alike[:, 0] == alike[:, 1]).mean() < 1  # mistakes are made, but not always
    again = datasets.load_people(300, seed=1)
    assert again.records.equals(people.records)
    assert not datasets.load_people(300, seed=2).records.equals(people.records)


def test_people_of_several_sources_are_in_each_at_most_once():
    people = datasets.load_people(200, sources=3)
    seen = list(zip(people.records["source"].to_pylist(), people.entity.tolist(), strict=True))
    assert len(seen) == len(set(seen))
    assert {source for source, _ in seen} == {"a", "b", "c"}
    assert [source for source, _ in seen] == sorted(source for source, _ in seen)
    clean = datasets.load_people(50, mistakes=0.0, copies=2)
    assert clean.records["id"].to_pylist() == list(range(len(clean.entity)))
