"""Every command in the documentation runs, and prints what the page says.

Snippets are fenced as ``console``: lines that begin with ``$`` are run by the shell, in one
folder per page, and what follows is compared with standard output and standard error together,
white space folded, ``...`` standing for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import relatum

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
CLUSTERS = ("from pyspark", "from distributed")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITH_COMMANDS = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


def _commands(page: Path) -> list[tuple[str, str]]:
    """Return (command, expected output) of a page, in order."""
    found: list[tuple[str, str]] = []
    for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if language != "console":
            continue
        for line in text.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].strip(), ""))
            else:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """A shell in which `relatum` and `relatum-check` are this source."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, module in (("relatum", "relatum.cli"), ("relatum-check", "relatum.proof.plain")):
        script = folder / name
        call = f"import sys\nfrom {module} import main\nsys.exit(main())\n"
        script.write_text(f"#!{sys.executable}\n{call}")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    found = os.pathsep.join([str(folder), os.environ["PATH"]])
    return {**os.environ, "PYTHONPATH": path, "PATH": found, "COLUMNS": "120"}


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands_print_what_the_page_says(page, tmp_path, environment):
    work = tmp_path / "work"
    work.mkdir()
    checker = doctest.OutputChecker()
    for command, expected in _commands(page):
        done = subprocess.run(
            command,
            shell=True,
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert checker.check_output(expected, done.stdout, FLAGS), (
            f"$ {command}\nexpected:\n{expected}\ngot:\n{done.stdout}"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_snippet_is_run(page):
    """Python snippets are doctests, commands are console snippets.

    Those that need a cluster of machines are compiled, and the names they use exist.
    """
    for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python" and any(name in text for name in CLUSTERS):
            compile(text, str(page), "exec")
            assert all(hasattr(relatum, name) for name in re.findall(r"\brt\.(\w+)", text))
        elif language in ("python", "pycon"):
            assert ">>> " in text, text
        elif "relatum " in text:
            assert language == "console", text


def test_the_documentation_of_files_has_commands():
    assert ROOT / "docs" / "files.md" in WITH_COMMANDS
