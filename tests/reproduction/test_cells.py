"""Cells are computed once, for the same settings, and are whole or absent."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.reproduction.cells import Cells, clock


def test_numbers_are_computed_once_for_the_same_settings(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"value": len(calls), "list": [0.5]}

    first = Cells(tmp_path).numbers("a/b", {"n": (1, 2)}, compute)
    again = Cells(tmp_path).numbers("a/b", {"n": (1, 2)}, compute)
    assert first == again == {"value": 1, "list": [0.5]}
    assert Cells(tmp_path).numbers("a/b", {"n": (1, 3)}, compute)["value"] == 2
    assert Cells(tmp_path).numbers("a/b", {"n": (1, 2)}, compute)["value"] == 3


def test_a_computation_that_fails_leaves_nothing(tmp_path):
    def fail():
        raise RuntimeError("stopped")

    cells = Cells(tmp_path)
    with pytest.raises(RuntimeError):
        cells.numbers("a", {}, fail)
    with pytest.raises(RuntimeError):
        cells.arrays("b", {}, fail)
    assert list(tmp_path.iterdir()) == []


def test_arrays_come_back_as_they_were(tmp_path):
    given = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array(7)}
    cells = Cells(tmp_path)
    cells.keep_arrays("s/w", {"seed": 1}, given)
    held = cells.held_arrays("s/w", {"seed": 1})
    assert held is not None
    assert set(held) == {"x", "n"}
    assert held["x"].dtype == np.float32
    assert np.array_equal(held["x"], given["x"])
    assert cells.held_arrays("s/w", {"seed": 2}) is None


@pytest.mark.parametrize("name", ["a.json", "a.npz"])
def test_a_damaged_file_is_computed_anew(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04 not whole")
    cells = Cells(tmp_path)
    assert cells.numbers("a", {}, lambda: {"v": 1}) == {"v": 1}
    assert cells.arrays("a", {}, lambda: {"v": np.ones(1)})["v"][0] == 1


def test_progress_is_told(tmp_path):
    lines = []
    Cells(tmp_path, lines.append).numbers("part/one", {}, lambda: {"error": 0.25})
    assert len(lines) == 1
    assert "part/one: computing" in lines[0]


def test_a_clock_adds_up():
    record = {}
    for _ in range(2):
        with clock(record, "sum"):
            sum(range(200_000))
    before = record["sum_cpu_seconds"]
    with clock(record, "sum"):
        sum(range(200_000))
    assert record["sum_cpu_seconds"] >= before > 0
    assert set(record) == {"sum_cpu_seconds", "sum_wall_seconds"}
