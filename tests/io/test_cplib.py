"""Reading CP-Lib."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io import read_cplib


def test_reads_plain_and_gzipped_with_any_line_breaks(tmp_path):
    text = "3\n1 -2\n0.5\n"
    (tmp_path / "a").write_text(text)
    (tmp_path / "b.gz").write_bytes(gzip.compress(text.replace(" ", "\n").encode()))
    for name in ("a", "b.gz"):
        np.testing.assert_array_equal(read_cplib(tmp_path / name), [1.0, -2.0, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\n1 2\n", "3 pairs, but 2"),
        ("2\nx\n", "line 2: 'x'"),
        ("", "line 1"),
        ("2.5\n1", "line 1"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    (tmp_path / "broken").write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_cplib(tmp_path / "broken")
    assert "broken" in str(error.value)


def test_values_of_known_instances_have_the_right_sign(data_folder):
    scores = read_cplib(data_folder / "cplib" / "Artificial" / "am-25-3.txt")
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    assert problem.n == 50
    assert rt.infer(problem).value == 625.0  # the published optimum
