"""Run the scripts of the gallery and make a page of them.

A script in ``docs/gallery`` begins with a docstring, its title and what it shows, is short, prints
what it found and saves one picture, ``<its name>.png``. It is run twice, for light and for dark
pages. What it made is kept in ``build/gallery`` until the script or the library changes.

    python docs/galleries.py FOLDER     # write page and pictures there, to look at
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import os
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = HERE / "gallery"
ORDER = (  # those that are not named here come last
    "three_relations",
    "pairs_to_clusters",
    "without_labels",
    "why_a_pair",
    "evidence_changes_it",
    "a_search",
    "a_certificate",
    "a_component",
    "how_sure",
    "reliability",
    "learning_curves",
    "a_ranking",
)
STYLES: dict[str, dict[str, object]] = {
    "light": {"figure.facecolor": "white"},
    "dark": {
        "figure.facecolor": "#1e2129",
        "axes.facecolor": "#1e2129",
        "savefig.facecolor": "#1e2129",
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"),
            "#d5d8e2",
        ),
    },
}
BEGIN = """---
hide:
  - navigation
---

# Gallery

Every picture was drawn while this page was built, by the code beside it, which runs as it stands
(`pip install 'relatum[tables,frames,plots]'`). The scripts are in
`docs/gallery/` of the source.

"""


@dataclass(frozen=True)
class Made:
    """What a script says, prints and draws."""

    name: str
    title: str
    text: str
    code: str
    printed: str
    pictures: dict[str, bytes]  # by style


def scripts() -> list[Path]:
    """Return the scripts in the order of the page."""
    found = {path.stem: path for path in sorted(SCRIPTS.glob("*.py"))}
    return [found.pop(name) for name in ORDER if name in found] + list(found.values())


def read(path: Path) -> tuple[str, str, str]:
    """Return title, text and code of a script."""
    source = path.read_text(encoding="utf-8")
    first = ast.parse(source).body[0]
    docstring = ast.get_docstring(ast.parse(source)) or ""
    title, _, text = docstring.partition("\n")
    code = "\n".join(source.splitlines()[first.end_lineno or 0 :])
    return title.strip().rstrip("."), text.strip(), code.strip()


@contextlib.contextmanager
def within(folder: Path) -> Iterator[None]:
    """Be in a folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(path: Path, style: str, folder: Path) -> tuple[str, bytes]:
    """Run a script in a folder, in one style; return what it prints and its picture."""
    import matplotlib

    printed = io.StringIO()
    with (
        matplotlib.rc_context({**STYLES[style], "savefig.dpi": 120}),
        within(folder),
        contextlib.redirect_stdout(printed),
    ):
        runpy.run_path(str(path), run_name="__main__")
    return printed.getvalue(), (folder / f"{path.stem}.png").read_bytes()


def made(path: Path, kept: Path) -> Made:
    """Return what a script makes; run it unless that is known."""
    folder = kept / f"{path.stem}-{fingerprint(path)}"
    if not (folder / "printed.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for style in STYLES:
            printed, picture = run(path, style, folder)
            (folder / f"{style}.png").write_bytes(picture)
        (folder / "printed.txt").write_text(printed, encoding="utf-8")
    pictures = {style: (folder / f"{style}.png").read_bytes() for style in STYLES}
    printed = (folder / "printed.txt").read_text(encoding="utf-8")
    return Made(path.stem, *read(path), printed, pictures)


def fingerprint(path: Path) -> str:
    """Return what changes when the script, this file or the library does."""
    digest = hashlib.sha256()
    library = sorted((HERE.parent / "src" / "relatum").rglob("*.py*"))
    for file in [path, Path(__file__), *(f for f in library if f.suffix in (".py", ".pyx"))]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def section(example: Made) -> str:
    """Return one example as Markdown."""
    pictures = "\n".join(
        f"![{example.title}]({example.name}-{style}.png#only-{style})" for style in STYLES
    )
    printed = f"\n```text\n{example.printed.rstrip()}\n```\n" if example.printed.strip() else ""
    head = f"## {example.title} {{ #{example.name} }}\n\n{example.text}\n\n{pictures}\n"
    return f"{head}\n```python\n{example.code}\n```\n{printed}\n"


def overview(examples: list[Made]) -> str:
    """Return small pictures that lead to the examples."""
    cards = []
    for example in examples:
        pictures = "".join(
            f"![]({example.name}-{style}.png#only-{style}){{ loading=lazy }}" for style in STYLES
        )
        cards.append(f"[{pictures} {example.title}](#{example.name})")
    return '<div class="cards" markdown>\n' + "\n".join(cards) + "\n</div>\n\n"


def pages(root: Path) -> dict[str, str | bytes]:
    """Return the files of the gallery by name: the page, and its pictures."""
    examples = [made(path, root / "build" / "gallery") for path in scripts()]
    files: dict[str, str | bytes] = {
        f"{example.name}-{style}.png": picture
        for example in examples
        for style, picture in example.pictures.items()
    }
    return {"index.md": BEGIN + overview(examples) + "".join(map(section, examples)), **files}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, content in pages(HERE.parent).items():
        data = content.encode() if isinstance(content, str) else content
        (target / name).write_bytes(data)
