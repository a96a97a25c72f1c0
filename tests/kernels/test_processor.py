"""The processor's abilities as the operating system tells them."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from relatum.kernels._processor import runs_x86_64_v3

NEEDED = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "popcnt", "abm"}


def test_it_agrees_with_the_operating_system():
    listing = Path("/proc/cpuinfo")
    if not listing.is_file() or platform.machine() != "x86_64":
        pytest.skip("the operating system does not list what its processor can do")
    flags = next(line for line in listing.read_text().splitlines() if line.startswith("flags"))
    assert runs_x86_64_v3() == (set(flags.split()) >= NEEDED)
