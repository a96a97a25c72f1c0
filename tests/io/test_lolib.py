import gzip

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io import read_lolib


def test_reads_plain_and_gzipped_with_any_line_breaks(tmp_path):
    text = "A comment\n3\n 7 1 2\n 3 8\n4 5 6 9\n"
    (tmp_path / "a").write_text(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    expected = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    for name in ("a", "a.gz"):
        np.testing.assert_array_equal(read_lolib(tmp_path / name), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2\n0 1\n2\n", "3 follow"),
        ("2\n0 1\nx 0\n", "line 3: 'x'"),
        ("2\n0 1\nnan 0\n", "line 3: 'nan'"),
        ("0\n", "line 1"),
        ("words only\n", "number of elements"),
    ],
)
def test_a_broken_file_is_named_with_the_line(tmp_path, text, message):
    (tmp_path / "broken").write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_lolib(tmp_path / "broken")
    assert "broken" in str(error.value)


def test_instances_have_their_announced_size(data_folder):
    for path in sorted((data_folder / "lolib" / "IO").iterdir())[:5]:
        matrix = read_lolib(path)
        assert matrix.shape[0] == int(path.read_text().split()[0])
        assert (np.diagonal(matrix) == 0).all()


def test_more_numbers_beside_the_first_than_it_announces(tmp_path):
    for text, read in (("1 2 3\n", read_lolib), ("1 2 3\n", rt.io.read_cplib)):
        (tmp_path / "x.txt").write_text(text)
        with pytest.raises(
            DataError, match=r"line 1: .* announced.*, but more follow in that line"
        ):
            read(tmp_path / "x.txt")
