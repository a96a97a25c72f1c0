"""Images of digits are what their documentation says; files are read, or refused clearly."""

from __future__ import annotations

import gzip
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from sklearn.datasets import load_digits as peer

from relatum.datasets import data_path, fetch_mnist, load_digits, load_images, load_mnist, read_idx
from relatum.datasets.images import _kept
from relatum.errors import DataError


def test_digits_are_those_of_scikit_learn():
    train, test = load_digits()
    assert len(train.images) == len(train.labels) == 1000
    assert len(test.images) == len(test.labels) == 797
    assert np.array_equal(np.concatenate([train.images, test.images]), peer().data)
    assert np.array_equal(np.concatenate([train.labels, test.labels]), peer().target)


def idx(array, code=8):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, code, array.ndim, *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


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
    kept = _kept(tmp_path)
    kept.parent.mkdir(parents=True)
    kept.write_bytes(data)
    with pytest.raises(DataError, match=r"is damaged.*Remove it"):
        fetch_mnist(tmp_path)


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
