"""A small clustering problem, and one run of the demo that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from relatum.cli import cli

CLIQUES = "4\n4 3 -6\n-1 -5\n1\n"  # values of {0, 1, 2}, {3}: 6


@pytest.fixture
def cliques(tmp_path) -> Path:
    path = tmp_path / "cliques.txt"
    path.write_text(CLIQUES)
    return path


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> tuple[str, Path]:
    """What `relatum demo` prints, and the page it writes if matplotlib is there."""
    page = tmp_path_factory.mktemp("page") / "demo.html"
    result = CliRunner().invoke(cli, ["demo", "--quick", "--page", str(page)])
    assert result.exit_code == 0, result.output
    return result.output, page
