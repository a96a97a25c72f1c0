"""The top level re-exports lazily."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

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


def test_relatum_can_be_imported_from_a_zip_archive(tmp_path):
    package = Path(relatum.__file__).parent
    archive = tmp_path / "relatum.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in [*package.rglob("*.py"), *package.rglob("*.pyi")]:
            out.write(file, file.relative_to(package.parent))
    code = "import relatum as rt; print(rt.__file__, rt.metrics.kendall([0, 1, 2], [2, 1, 0]))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [str(archive / "relatum" / "__init__.py"), "3"]
