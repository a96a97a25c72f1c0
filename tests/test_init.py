"""The top level re-exports lazily."""

from __future__ import annotations

import subprocess
import sys

import pytest

import relatum


def test_every_public_name_resolves():
    for name in relatum.__all__:
        assert getattr(relatum, name) is not None
        assert name in dir(relatum)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = relatum.nonsense


def test_importing_relatum_imports_no_scikit_learn():
    code = "import sys, relatum; sys.exit('sklearn' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("Partition", "numba"),
        ("metrics", "numba"),
        ("Problem", "numba"),
        ("io", "scipy.sparse"),
        ("plots", "scipy.sparse"),
    ],
)
def test_names_that_compute_little_import_little(name, heavy):
    code = f"import sys, relatum; relatum.{name}; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
