"""What README and Quickstart promise to newcomers; `make first-hour` follows them for real.

Doctest runs every line of these pages here, where everything is installed. What it cannot see is
whether the install line brings what they import.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
try:
    import first_hour
finally:
    sys.path.remove(str(ROOT / "docs"))

NAMES = {"sklearn": "scikit-learn"}


def test_the_install_line_brings_what_the_pages_import():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in first_hour.extras().split(","):
        wanted += project["optional-dependencies"][extra]
    there = {re.split(r"[<>=\[ ]", name)[0] for name in wanted}
    own = {"relatum", *sys.stdlib_module_names}
    needed = {NAMES.get(name, name) for name in first_hour.imported() - own}
    assert needed >= {"numpy", "pandas"}
    assert needed - there == set()


@pytest.mark.parametrize("page", first_hour.PAGES, ids=lambda page: page.name)
def test_the_first_pages_install_first_and_begin_with_clusters(page):
    text = page.read_text(encoding="utf-8")
    assert "cluster_pairs" in text
    if page.name != "quickstart.md":
        install = text.index("pip install 'relatum[")
        assert install < text.index(">>> "), "the install line comes before any code"
        assert "make demo" not in text[:install]


def test_five_lines_and_when_to_take_something_else():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("k-means", "HDBSCAN", "Splink", "MIP solver"):
        assert name in text
    assert text.index("## Install") < text.index("## Five lines") < text.index("## A matrix of it")
