"""Reading multicut instances."""

from __future__ import annotations

import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io import read_multicut


def test_reads_instances_comments_and_the_heading(tmp_path):
    (tmp_path / "two").write_text("# two\n3 2 -1.5\n0 1 -1.5\n1 2 4\n2 1\n0 1 2\n\n")
    first, second = read_multicut(tmp_path / "two")
    assert (first.n, first.optimum, first.i.tolist(), first.j.tolist()) == (3, -1.5, [0, 1], [1, 2])
    assert first.log_odds.tolist() == [-1.5, 4.0]
    assert (second.n, second.optimum) == (2, None)
    (tmp_path / "headed").write_text("MULTICUT\n0 4 1\n2 3 -1\n")
    (only,) = read_multicut(tmp_path / "headed")
    assert (only.n, only.log_odds.tolist()) == (5, [1.0, -1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 2\n0 1 1\n", "line 1: 2 edges"),
        ("3 1\n0 3 1\n", "line 2: elements"),
        ("3 1\n0 1\n", "line 2: a pair"),
        ("3 1\n1 1 5\n", "line 2: a pair has two different"),
        ("3\n", "line 1: an instance begins"),
        ("# nothing\n", "no instance"),
        ("MULTICUT\n", "no edges"),
        ("3 1\n0 1 inf\n", "line 2: 'inf'"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    (tmp_path / "broken").write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_multicut(tmp_path / "broken")
    assert "broken" in str(error.value)


def test_stated_optima_are_reached_in_the_stated_sense(data_folder):
    for listed in read_multicut(data_folder / "multicut" / "knott-3d-150.txt.gz")[:3]:
        p = rt.Problem.from_pairs(
            listed.i, listed.j, listed.log_odds, n=listed.n, feasible=rt.EQUIVALENCES
        )
        cut = listed.log_odds.sum() - rt.infer(p, solver="partition_memetic", time_limit=5).value
        assert cut == pytest.approx(listed.optimum, abs=1e-4)
