"""Texts in tables do not become formulas, and come back as they were."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relatum as rt
from relatum.io import csv_text, read_rows, write_rows
from relatum.io.files.formulas import guarded, unguarded

IDS = ["=1+1", "-x", "+3", "@a", "'=q", "''-5", "'ann", "ann", "-5", "1e5", "=", "-", "'", "'-5"]


@given(st.text(alphabet="'=+-@\t\r.e059 x", max_size=8))
def test_what_is_guarded_comes_back(text):
    assert unguarded(guarded(text)) == text


@given(st.text(alphabet="'=+-@\t\r.e059 x", min_size=1, max_size=8))
def test_nothing_that_is_written_is_a_formula(text):
    """A spreadsheet takes a cell for a formula by its first sign, unless it is a number."""
    written = guarded(text)
    if written[:1] in "=+-@\t\r":
        float(written)  # or this raises


def test_numbers_stay_numbers():
    for number in (-4.5, 0, np.float64(-1e-300), float("-inf"), None, True):
        assert guarded(number) is number
    for text in ("-4.5", "+3", "-1e-300", "-.5", "12."):
        assert guarded(text) == text
    for text in ("-4.5x", "+3+4", "--1", "-", "-1 000", "=1", "-inf"):
        assert guarded(text) == "'" + text


def test_tables_that_we_write_and_read(tmp_path):
    path = tmp_path / "x.csv"
    write_rows(path, ["element", "=set"], [[name, -k] for k, name in enumerate(IDS)])
    with path.open(newline="") as file:
        seen = list(csv.reader(file))
    assert all(cell[0] not in "=@" for row in seen for cell in row)
    assert [row[1] for row in seen[1:]] == [str(-k) for k in range(len(IDS))]
    names, rows = read_rows(path)
    assert names == ["element", "=set"]
    assert [row[0] for row in rows] == IDS


def test_commands_and_engines_agree_on_ids(tmp_path):
    pytest.importorskip("duckdb")
    pairs, clusters = tmp_path / "pairs.csv", tmp_path / "clusters.csv"
    bits = np.full(len(IDS) - 1, 3.0)
    rt.io.write_pair_table(pairs, IDS[:-1], IDS[1:], bits)
    assert list(rt.io.read_pair_table(pairs)["unique_id_l"]) == IDS[:-1]
    problem = rt.io.read_problem(rt.io.Request(pairs))
    assert set(problem.ids) == set(IDS)
    found = rt.cluster_pairs(str(pairs), output=clusters)
    assert set(found.table["unique_id"].to_pylist()) == set(IDS)
    assert "\n=" not in clusters.read_text()
    assert '"=' not in clusters.read_text()
    again = rt.cluster_pairs(str(pairs), previous=str(clusters))
    assert again.summary.changes.unchanged == found.summary.clusters
    assert again.summary.changes.new == again.summary.changes.gone == 0


def test_text_that_is_printed():
    text = csv_text(["element", "label"], [[0, "=x"], [1, -2.5]])
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["element", "label"], ["0", "'=x"], ["1", "-2.5"]]
