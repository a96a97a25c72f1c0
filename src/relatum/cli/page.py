"""The demo as one self-contained page: the table and the pictures, nothing fetched."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relatum import plots
from relatum.io.files import write_atomically

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
div.wide { overflow-x: auto; }
figure { margin: 1.5rem 0; } img { max-width: 100%; } figcaption { color: #555; }
code { background: #f3f3f3; padding: 0 .2rem; }
"""


def _picture(axes: Any, caption: str) -> str:
    buffer = io.BytesIO()
    axes.figure.savefig(buffer, format="png", dpi=110)
    data = base64.b64encode(buffer.getvalue()).decode()
    text = html.escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def write_page(
    path: Path,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    cases: Sequence[Any],
    extra: Sequence[tuple[Any, str]] = (),
) -> None:
    """Write the page.

    Parameters
    ----------
    path : Path
    columns, rows
        The table, as text.
    cases : sequence of Case
        Drawn one by one with their remarks.
    extra : sequence of (axes, caption)
        Further pictures.
    """
    pictures = []
    for case in cases:
        axes = plots.relation(case.problem, case.estimate, names=case.names)
        pictures.append(_picture(axes, f"{case.relation.strip(' +')}: {case.remark}"))
    pictures += [_picture(axes, caption) for axes, caption in extra]
    text = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>relatum: the demo</title><style>{STYLE}</style></head><body>"
        "<h1>Maximally probable relations</h1>"
        "<p>Learned from embedded data, inferred, and checked by <code>relatum.verify</code>, "
        "which uses no solver. Value and bound are in bits: no feasible relation is more than "
        "2<sup>gap</sup> times as probable as the one found.</p>"
        f"{_table(columns, rows)}{''.join(pictures)}</body></html>"
    )
    write_atomically(path, text.encode())
