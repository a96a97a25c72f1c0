"""Every public name is documented with an example and has a place in the reference; examples run.

That snippets of pages run, and print what the pages say, is checked by `test_console_snippets` and
by doctest. Here: what is left out nowhere, and the scripts of the gallery.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import relatum as rt

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
try:
    import galleries
    import hooks
finally:
    sys.path.remove(str(DOCS))

MODULES = ("relatum", *(f"relatum.{name}" for name in hooks.PUBLIC_MODULES))
PUBLIC = [
    f"{module}.{name}"
    for module in MODULES
    for name in sorted(import_module(module).__all__)
    if callable(getattr(import_module(module), name)) and not name.startswith("_")
]
PAGES = sorted((DOCS / "reference").glob("*.md"))
SETS = [name for name in rt.__all__ if isinstance(getattr(rt, name), rt.FeasibleSet)]


def thing(called: str) -> object:
    module, name = called.rsplit(".", 1)
    return getattr(import_module(module), name)


@pytest.mark.parametrize("called", PUBLIC)
def test_every_public_name_has_an_example(called):
    text = inspect.getdoc(thing(called)) or ""
    assert re.search(r"^Examples\n-+\n", text, re.MULTILINE), f"{called} has no section Examples"
    assert ">>> " in text.split("Examples\n", 1)[1]


def test_every_public_name_is_in_the_reference():
    lists = [m for page in PAGES for m in hooks.NAMES.finditer(page.read_text(encoding="utf-8"))]
    listed = [name for match in lists for name, _ in hooks.listed(match)]
    assert len(listed) == len(set(listed))
    wanted = {"rt." + called.removeprefix("relatum.") for called in PUBLIC}
    assert len(wanted) > 120
    assert sorted(wanted - set(listed)) == []


def test_every_named_set_is_in_the_reference_with_its_numbers():
    """The numbers of relations on one, two and three elements are those of enumeration."""
    from relatum.testing import _members

    page = (DOCS / "reference" / "sets.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([\d, ]+) \|$", page, re.MULTILINE))
    assert sorted(rows) == sorted(SETS)
    assert len(SETS) == 19
    for name, counts in rows.items():
        found = [len(_members(getattr(rt, name), (n, n))) for n in (1, 2, 3)]
        assert counts == ", ".join(map(str, found)), name


def test_pages_are_in_the_navigation():
    """A page that nobody finds is not there."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = set(re.findall(r"[\w/]+\.md", navigation))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert there - listed == {"results/report.md"}
    assert listed - there == {"gallery/index.md"}  # made while the documentation is built


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=str)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target and not target.endswith("gallery/index.md"):
            assert (page.parent / target).exists(), f"{page.name} leads to {target}"


def test_code_is_shown_and_copied_without_prompts():
    shown = hooks.on_page_content(
        '<div class="language-pycon highlight"><pre><code><span class="gp">&gt;&gt;&gt; </span>'
        '<span class="n">a</span>\n<span class="go">1</span>\n</code></pre></div>'
    )
    assert "&gt;" not in shown
    assert 'data-copy="a"' in shown
    assert '<span class="go">1</span>' in shown
    assert hooks.on_page_markdown("```python\n>>> a\n```") == "```pycon\n>>> a\n```"


SCRIPTS = galleries.scripts()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_gallery(script, tmp_path):
    pytest.importorskip("matplotlib")
    title, text, code = galleries.read(script)
    assert title
    assert text
    assert len(code.splitlines()) < 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed, picture = galleries.run(script, "dark", tmp_path)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000
    assert "Traceback" not in printed


def test_the_gallery_is_in_order():
    assert [path.stem for path in SCRIPTS] == list(galleries.ORDER)


@pytest.mark.slow
def test_the_documentation_builds_without_warnings(tmp_path):
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path))
        build(config)
    shown = (tmp_path / "quickstart" / "index.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt;" not in shown
    assert (tmp_path / "gallery" / "three_relations-dark.png").stat().st_size > 5000
