"""Reading signed networks."""

from __future__ import annotations

import gzip

import pytest

from relatum.errors import DataError
from relatum.io import read_signed_graph


def test_reads_plain_and_gzipped(tmp_path):
    text = "3 2\n0 1 1\n1 2 -2\n"
    (tmp_path / "a").write_text(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a", "a.gz"):
        g = read_signed_graph(tmp_path / name)
        assert (g.n, g.i.tolist(), g.j.tolist(), g.log_odds.tolist()) == (
            3,
            [0, 1],
            [1, 2],
            [1, -2],
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "empty"), ("3 2\n0 1 1\n", "2 edges"), ("3\n", "line 1"), ("3 1\n0 5 1\n", "line 2")],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    (tmp_path / "broken").write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_signed_graph(tmp_path / "broken")
    assert "broken" in str(error.value)


def test_real_networks_have_the_announced_size(data_folder):
    g = read_signed_graph(data_folder / "signed" / "bitcoinotc.txt.gz")
    assert (g.n, len(g.i)) == (5881, 21492)
