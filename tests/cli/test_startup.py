"""Start-up is quick because of what is not imported; see benchmarks/startup.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import relatum as rt

SOURCE = str(Path(rt.__file__).parent.parent)
# What only learning, other engines, pictures and tables need.
UNUSED = {"sklearn", "joblib", "highspy", "pandas", "pyarrow", "duckdb", "matplotlib"}
AFTER = """
import json, sys
from relatum.cli import main
sys.argv = ["relatum", *{arguments!r}]
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)))
"""


def _imported(*arguments: str) -> set[str]:
    """Run a command in a new process; tell which modules it imported."""
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", AFTER.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [("--help",), ("solve", "--help"), ("--version",)])
def test_help_imports_no_numerics(arguments):
    assert not {"numpy", "scipy", "rich", *UNUSED} & _imported(*arguments)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("x.txt", "4\n4 3 -6\n-1 -5\n1\n", ()),
        ("x.txt", "4\n4 3 -6\n-1 -5\n1\n", ("--prove",)),
        ("x.lop", "3\n0 5 1\n2 0 4\n3 1 0\n", ("--prove",)),
        ("m.txt", "1 2 0\n0 1 3\n", ("--format", "matrix")),
    ],
)
def test_solving_imports_what_it_uses(tmp_path, name, text, options):
    path = tmp_path / name
    path.write_text(text)
    graphs = {"scipy.optimize", "scipy.stats", "scipy.sparse.csgraph", "scipy.sparse.linalg"}
    assert not (UNUSED | graphs) & _imported("solve", str(path), *options)
