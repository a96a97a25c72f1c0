"""Shared fixtures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder named by RELATUM_DATA; tests that need it are skipped where it is absent."""
    folder = os.environ.get("RELATUM_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set RELATUM_DATA to the benchmark data folder to run this test")
    return Path(folder)
