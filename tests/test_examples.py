"""Every example runs, and is listed in the examples' README."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script):
    source = str(Path(__file__).parent.parent / "src")
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
    assert "NOT VERIFIED" not in result.stdout


def test_examples_are_listed():
    listed = (FOLDER / "README.md").read_text()
    assert len(SCRIPTS) >= 8
    gallery = (FOLDER.parent / "docs" / "examples.md").read_text()
    assert all(f"`{script.name}`" in listed for script in SCRIPTS)
    assert all(f"`{script.name}`" in gallery for script in SCRIPTS)
