"""Matrices of log-odds as arrays of numpy and as lines of numbers."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.matrices import read_matrix, write_matrix

MATRIX = np.array([[0.1, -2.0, 3e-300], [1e300, 0.0, -1 / 3]])


@pytest.mark.parametrize("name", ["x.npy", "x.txt", "x.txt.gz"])
def test_every_bit_comes_back(tmp_path, name):
    write_matrix(tmp_path / name, MATRIX)
    np.testing.assert_array_equal(read_matrix(tmp_path / name), MATRIX)


def test_numpy_reads_what_is_written_and_the_other_way_round(tmp_path):
    write_matrix(tmp_path / "x.npy", MATRIX)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), MATRIX)
    write_matrix(tmp_path / "x.txt.gz", MATRIX)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "x.txt.gz"), MATRIX)
    np.savez(tmp_path / "one.npz", anything=MATRIX)
    np.savez(tmp_path / "named.npz", log_odds=MATRIX, other=MATRIX + 1)
    for name in ("one.npz", "named.npz"):
        np.testing.assert_array_equal(read_matrix(tmp_path / name), MATRIX)


def test_commas_and_spaces_separate_numbers(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"1, 2.5\n-3 4e1\n")
    np.testing.assert_array_equal(read_matrix(tmp_path / "x.txt"), [[1, 2.5], [-3, 40]])
    (tmp_path / "y.txt.gz").write_bytes(gzip.compress(b"7\n"))
    np.testing.assert_array_equal(read_matrix(tmp_path / "y.txt.gz"), [[7]])


def test_arrays_that_are_no_log_odds(tmp_path):
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    with pytest.raises(DataError, match="log-odds are numbers"):
        read_matrix(tmp_path / "text.npy")
    np.savez(tmp_path / "two.npz", a=MATRIX, b=MATRIX)
    with pytest.raises(DataError, match="holds the arrays a, b; name the one"):
        read_matrix(tmp_path / "two.npz")
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="not a whole array of numpy"):
        read_matrix(tmp_path / "pickled.npy")
    whole = (tmp_path / "two.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a whole array of numpy"):
        read_matrix(tmp_path / "cut.npz")


@pytest.mark.parametrize("wrong", [[1.0, 2.0], np.zeros((0, 3)), 3.0])
def test_only_matrices_are_written(tmp_path, wrong):
    with pytest.raises(DataError, match="rows and columns"):
        write_matrix(tmp_path / "x.txt", wrong)
    assert not (tmp_path / "x.txt").exists()


def test_arrays_that_do_not_fit_into_memory_are_not_read(tmp_path, monkeypatch):
    array = np.zeros((500, 500))
    np.save(tmp_path / "x.npy", array)
    np.savez_compressed(tmp_path / "x.npz", log_odds=array)  # 2 MB in a few KB
    np.savetxt(tmp_path / "x.txt", array, "%g")
    for name in ("x.npy", "x.npz", "x.txt"):
        assert read_matrix(tmp_path / name).shape == (500, 500)
    monkeypatch.setenv("RELATUM_MEMORY", "1MB")
    for name in ("x.npy", "x.npz", "x.txt"):
        with pytest.raises(
            DataError, match=rf"{name}: .* takes .* MB of memory, and there are 1 MB"
        ):
            read_matrix(tmp_path / name)


def test_announced_sizes_are_not_believed(tmp_path, monkeypatch):
    monkeypatch.setenv("RELATUM_MEMORY", "1GB")
    head = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, head)
    with pytest.raises(DataError, match="1000000 x 1000000 entries takes 8 TB"):
        read_matrix(tmp_path / "x.npy")
    (tmp_path / "x.lop").write_text("1000000\n1 2\n")
    with pytest.raises(DataError, match=r"line 1: a matrix of 1000000 x 1000000 .* takes 16 TB"):
        rt.io.read_lolib(tmp_path / "x.lop")
    (tmp_path / "x.txt").write_text("1000000\n1 2\n")
    with pytest.raises(DataError, match=r"line 1: a list of all 499999500000 pairs"):
        rt.io.read_cplib(tmp_path / "x.txt")
    (tmp_path / "x.soi").write_text(
        "# DATA TYPE: soi\n# NUMBER ALTERNATIVES: 1000000\n" + "1: 5\n" * 200
    )
    with pytest.raises(DataError, match=r"rankings of 1000000 elements takes .* GB"):
        rt.io.read_preflib(tmp_path / "x.soi")
