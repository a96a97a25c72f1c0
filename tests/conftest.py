"""Shared fixtures."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder named by RELATUM_DATA; tests that need it are skipped where it is absent."""
    folder = os.environ.get("RELATUM_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set RELATUM_DATA to the benchmark data folder to run this test")
    return Path(folder)


@pytest.fixture(autouse=True)
def interrupts_as_in_a_terminal() -> Iterator[None]:
    """Undo what some shells do to background jobs: ignore Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
