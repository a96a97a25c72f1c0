"""What a benchmark ran on: recorded beside every result."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version


def machine(*packages):
    """Describe the machine, with the versions of numpy, scipy and other packages."""
    found = {}
    for name in ("numpy", "scipy", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "packages": found,
    }
