"""The whole reproduction, at its smallest: complete, resumable, and clear about what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from instances.reproduction import TINY
from relatum.errors import DataError
from relatum.reproduction import FULL, PARTS, reproduce

KILLED = """
import os, signal, sys
from pathlib import Path
from relatum.reproduction import reproduce
from instances.reproduction import TINY

seen = 0

def say(line):
    global seen
    seen += line.endswith("computing")
    if seen == 6:
        os.kill(os.getpid(), signal.SIGKILL)

reproduce(TINY, Path(sys.argv[1]), parts=sys.argv[2:], say=say)
"""


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if "seconds" not in k and k != "cpu"}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def test_every_part_is_there_and_every_claim_holds(tiny):
    assert {path.stem for path in tiny.folder.glob("*.json")} == set(PARTS)
    assert tiny.checks
    assert all(holds for claim, holds in tiny.checks if "random" not in claim)
    report = (tiny.folder / "report.md").read_text()
    for part in PARTS:
        assert f"## {part.capitalize()}" in report


def test_machine_and_settings_are_told(tiny):
    told = json.loads((tiny.folder / "maps.json").read_text())
    assert told["machine"]["cores"] == os.cpu_count()
    assert told["settings"]["name"] == "tiny"


def test_a_killed_run_continues_and_ends_the_same(tiny, tmp_path):
    parts = ["maps", "pairs", "orders"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, str(tmp_path), *parts]
    run = subprocess.run(command, check=False, env=paths)
    assert run.returncode == -signal.SIGKILL
    cells = sorted(p for p in (tmp_path / "cells").rglob("*") if p.suffix in (".json", ".npz"))
    assert cells
    kept = {path: path.stat().st_mtime_ns for path in cells if "duals" not in path.name}
    lines = []
    reproduce(TINY, tmp_path, parts=parts, say=lines.append)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    computed = {line.split()[-2] for line in lines if line.endswith("computing")}
    assert any(cell.startswith("orders") for cell in computed)
    assert not any(cell.startswith("maps") for cell in computed)
    for part in parts:
        again = json.loads((tmp_path / f"{part}.json").read_text())["results"]
        assert without_times(again) == without_times(tiny.results(part))


def test_nothing_is_computed_twice(tiny):
    lines, found = [], []
    parts = ["orders", "maps"]
    reproduce(TINY, tiny.folder, parts=parts, say=lines.append, found=found.append)
    assert lines == []
    assert sorted(line.split(":")[0] for line in found) == sorted(parts)


def test_what_is_there_is_reported_and_nothing_computed(tiny, tmp_path):
    cells = tmp_path / "cells"
    shutil.copytree(tiny.folder / "cells", cells)
    for path in (cells / "clustering").glob("*_whole.json"):
        path.unlink()
    next((cells / "maps").glob("d1_*/1.json")).unlink()
    shutil.rmtree(cells / "orders")
    lines, found = [], []
    reproduce(TINY, tmp_path, say=lines.append, compute=False, found=found.append)
    assert lines == []
    assert [line for line in found if "left out" in line] == [
        line for line in found if line.startswith("orders")
    ]
    assert len(found) > 1
    assert not (tmp_path / "orders.json").exists()
    maps = json.loads((tmp_path / "maps.json").read_text())["results"]
    assert [fit["power"] for fit in maps["d1"]] == [5]
    found = json.loads((tmp_path / "equivalences.json").read_text())["results"]
    assert {row["n"] for row in found["bilinear"]["rows"]} == set(TINY.sizes)


def test_unknown_parts_are_refused(tmp_path):
    with pytest.raises(DataError, match="the parts are maps, pairs"):
        reproduce(TINY, tmp_path, parts=["graphs"])


def test_missing_data_are_named_with_the_way_to_get_them(tmp_path, monkeypatch):
    monkeypatch.delenv("RELATUM_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    with pytest.raises(DataError, match=r"RELATUM_DATA[\s\S]*fetch_mnist"):
        reproduce(FULL, tmp_path, parts=["maps"])
    with pytest.raises(DataError, match=r"RELATUM_DATA must name a folder with wikipedia"):
        reproduce(FULL, tmp_path, parts=["orders"])
