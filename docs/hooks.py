"""What our pages need beyond Markdown, done while mkdocs builds them.

- Code is shown, and copied, without prompts. The sources keep theirs, for doctest runs them.
- A line ``<!-- names of relatum.metrics -->`` becomes the documentation of every public name of
  that room; ``<!-- names of relatum.problem: Problem, evidence -->`` of these.
- ``<!-- table of costs -->`` becomes a table of what benchmarks measured (`docs/tables.py`).
- The gallery is made of the scripts in ``docs/gallery``, which are run (`docs/galleries.py`).
"""

from __future__ import annotations

import html
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

import galleries  # noqa: E402
import tables  # noqa: E402

PUBLIC_MODULES = ("datasets", "errors", "io", "metrics", "plots", "testing")
REFERENCE = HERE / "reference"
OVERVIEW = re.compile(r"^<!-- overview of all names -->$", re.MULTILINE)
NAMES = re.compile(r"^<!-- names of relatum\.(\w+)(?:: ([\w, \n]+))? -->$", re.MULTILINE)
FENCE = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)
BLOCK = re.compile(r'<div class="(language-(?:pycon|console)) highlight">(.*?)</div>', re.DOTALL)
PROMPT = re.compile(r'<span class="gp">.*?</span>')
DIRECTIVE = re.compile(r" *# doctest: \+[A-Z_]+$", re.MULTILINE)


def names_of(room: str) -> list[str]:
    """Return the public names of a room, as users write them after ``rt.``, in order.

    Rooms that are public themselves (`relatum.metrics`) list them; those of others are in
    ``__init__.pyi``.
    """
    if room in PUBLIC_MODULES:
        return [f"{room}.{name}" for name in sorted(import_module(f"relatum.{room}").__all__)]
    listed = (HERE.parent / "src" / "relatum" / "__init__.pyi").read_text(encoding="utf-8")
    return re.findall(rf"^from relatum\.{room} import \w+ as (\w+)$", listed, re.MULTILINE)


def listed(match: re.Match[str]) -> list[tuple[str, str]]:
    """Return what a line lists: names as users write them, and what mkdocstrings calls them."""
    room, chosen = match[1], match[2]
    names = [name.strip() for name in chosen.split(",")] if chosen else names_of(room)
    own = f"{room}."
    return [(f"rt.{x}", f"relatum.{x if x.startswith(own) else own + x}") for x in names]


def documented(match: re.Match[str]) -> str:
    """Return the lines that make mkdocstrings document the names."""
    return "\n".join(
        f"::: {identifier}\n    options:\n      heading: {name}\n"
        f"      toc_label: {name.rsplit('.', 1)[1]}\n"
        for name, identifier in listed(match)
    )


def overview(_: re.Match[str] | None = None) -> str:
    """Return a table of all names: where each is documented, and what it is in a sentence."""
    lines = ["| name | what it is |", "|---|---|"]
    for page in sorted(REFERENCE.glob("*.md")):
        for match in NAMES.finditer(page.read_text(encoding="utf-8")):
            for name, identifier in listed(match):
                said = sentence(identifier)
                lines.append(f"| [`{name}`][{identifier}] | {said} |")
    return "\n".join([lines[0], lines[1], *sorted(lines[2:], key=str.lower)])


def sentence(identifier: str) -> str:
    """Return the first sentence of a documentation."""
    module, name = identifier.rsplit(".", 1)
    thing = getattr(import_module(module), name)
    said = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return said if callable(thing) else ""


def on_files(files: Any, config: Any) -> Any:
    """Add the gallery: a page and its pictures."""
    from mkdocs.structure.files import File

    for name, content in galleries.pages(Path(config["config_file_path"]).parent).items():
        files.append(File.generated(config, f"gallery/{name}", content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Say which code has prompts, and name what a page of the reference documents."""
    markdown = DIRECTIVE.sub("", OVERVIEW.sub(overview, tables.filled(markdown)))
    return FENCE.sub("```pycon\n", NAMES.sub(documented, markdown))


def on_page_content(text: str, **_: Any) -> str:
    """Take the prompts away, and say what the button copies: code without what it prints."""
    return BLOCK.sub(without_prompts, text)


def without_prompts(block: re.Match[str]) -> str:
    """Return a block of code as it is shown."""
    kind, inside = block[1], block[2]
    typed = [line for line in inside.split("\n") if '<span class="gp">' in line]
    text = "\n".join(html.unescape(re.sub(r"<[^>]*>", "", PROMPT.sub("", x))) for x in typed)
    copied = html.escape(text, quote=True)
    return f'<div class="{kind} highlight" data-copy="{copied}">{PROMPT.sub("", inside)}</div>'
