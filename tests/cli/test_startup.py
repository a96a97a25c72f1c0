"""Start-up is quick because of what is not imported and not compiled; see benchmarks/startup.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import relatum as rt

SOURCE = str(Path(rt.__file__).parent.parent)
AFTER = """
import json, sys
from relatum.cli import main
sys.argv = ["relatum", *{arguments!r}]
try:
    main()
except SystemExit:
    pass
counts = [0, 0]
for name, module in list(sys.modules.items()):
    if name.startswith("relatum.kernels"):
        for value in vars(module).values():
            if hasattr(value, "stats") and getattr(value, "__module__", "") == name:
                counts[0] += sum(value.stats.cache_hits.values())
                counts[1] += sum(value.stats.cache_misses.values())
packages = sorted({{name.split(".")[0] for name in sys.modules}})
print(json.dumps({{"packages": packages, "hits": counts[0], "misses": counts[1]}}))
"""


def _after(*arguments: str) -> dict:
    """Run a command in a new process; tell what it imported and compiled."""
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", AFTER.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("arguments", [("--help",), ("solve", "--help"), ("--version",)])
def test_help_imports_no_numerics(arguments):
    heavy = {"numpy", "numba", "scipy", "sklearn", "highspy", "rich", "matplotlib", "pandas"}
    assert not heavy & set(_after(*arguments)["packages"])


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("x.txt", "4\n4 3 -6\n-1 -5\n1\n", ()),
        ("x.txt", "4\n4 3 -6\n-1 -5\n1\n", ("--prove",)),
        ("x.lop", "3\n0 5 1\n2 0 4\n3 1 0\n", ("--prove",)),
    ],
)
def test_the_second_solve_compiles_nothing(tmp_path, name, text, options):
    path = tmp_path / name
    path.write_text(text)
    _after("solve", str(path), *options)
    second = _after("solve", str(path), *options)
    assert second["misses"] == 0
    assert second["hits"] > 0
    # what only learning, pictures and tables need
    assert not {"sklearn", "matplotlib", "pandas", "pyarrow", "highspy"} & set(second["packages"])
