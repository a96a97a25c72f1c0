"""The demo as one self-contained page: questions, pictures and answers, nothing fetched."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relatum.io.files import write_atomically

STYLE = """
:root { --paper: #fff; --ink: #1c2430; --soft: #5b6675; --line: #d9dee6; --card: #f5f7fa;
        --for: #2166ac; --against: #c0392b; --told: #e08600; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ef; --soft: #9aa5b4; --line: #333c49; --card: #1c222c;
          --for: #6fb1ee; --against: #ee8374; --told: #ffb84d; } }
* { box-sizing: border-box; }
body { font: 17px/1.55 system-ui, sans-serif; margin: 0; background: var(--paper);
       color: var(--ink); }
header, main, footer { max-width: 56rem; margin: 0 auto; padding: 1rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .6rem; }
section { border-top: 1px solid var(--line); padding: 1.6rem 0 1rem; }
.asked { color: var(--soft); margin: 0 0 1rem; }
.answer { background: var(--card); border-left: .3rem solid var(--for); padding: .7rem 1rem;
          margin: 1rem 0; }
.answer strong { font-size: 1.1rem; }
figure { margin: 1rem 0; } figure div { overflow-x: auto; }
figcaption, footer { color: var(--soft); font-size: .9rem; }
svg { display: block; width: 100%; height: auto; font-family: system-ui, sans-serif; }
svg.small { max-width: 26rem; } svg.middle { max-width: 38rem; } svg.large { max-width: 46rem; }
svg image { image-rendering: pixelated; } svg text { fill: var(--ink); }
svg .block { fill: none; stroke: #10151c; stroke-width: 1.4; }
svg .told { fill: none; stroke: var(--told); stroke-width: 3; }
svg .for { stroke: var(--for); stroke-width: 2; fill: none; }
svg .against { stroke: var(--against); stroke-width: 2; stroke-dasharray: 3 3; fill: none; }
img { max-width: 100%; height: auto; border-radius: .3rem; }
.big { font-size: 1.35rem; margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: right; white-space: nowrap; padding: .3rem .5rem; }
th, td { border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } div.wide { overflow-x: auto; }
code { background: var(--card); padding: 0 .25rem; border-radius: .2rem; }
@media (max-width: 40rem) {
  body { font-size: 16px; } h1 { font-size: 1.6rem; } svg.large { min-width: 34rem; }
  svg.middle { min-width: 26rem; } }
"""
DARK: dict[Any, Any] = {
    "figure.facecolor": "#1c222c",
    "axes.facecolor": "#1c222c",
    "savefig.facecolor": "#1c222c",
    "text.color": "#e6e9ef",
    "axes.labelcolor": "#e6e9ef",
    "axes.edgecolor": "#9aa5b4",
    "xtick.color": "#e6e9ef",
    "ytick.color": "#e6e9ef",
}


@dataclass(frozen=True)
class Section:
    """A question, pictures of its answer, and the answer in a sentence."""

    title: str
    asked: str
    figures: Sequence[str]  # HTML
    found: str = ""
    sure: str = ""
    more: Sequence[str] = field(default_factory=tuple)  # HTML


def figure(picture: str, caption: str) -> str:
    """Return a picture with what it shows."""
    return f"<figure><div>{picture}</div><figcaption>{html.escape(caption)}</figcaption></figure>"


def sized(drawing: str, size: str) -> str:
    """Return a drawing that is small, middle or large."""
    return drawing.replace("<svg ", f'<svg class="{size}" ', 1)


def picture(draw: Callable[[], Any], told: str) -> str:
    """Return a picture by matplotlib, drawn for light and for dark pages."""
    import matplotlib

    sources = []
    styles: tuple[dict[Any, Any], ...] = ({}, DARK)
    for style in styles:
        buffer = io.BytesIO()
        with matplotlib.rc_context(style):
            draw().figure.savefig(buffer, format="png", dpi=110)
        sources.append("data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode())
    text = html.escape(told)
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{sources[1]}">'
        f'<img alt="{text}" src="{sources[0]}"></picture>'
    )


def _section(one: Section) -> str:
    sure = f"<br>{html.escape(one.sure)}" if one.sure else ""
    said = f"<strong>{html.escape(one.found)}</strong>{sure}"
    answer = f'<p class="answer">{said}</p>' if one.found else ""
    return (
        f"<section><h2>{html.escape(one.title)}</h2>"
        f'<p class="asked">{html.escape(one.asked)}</p>'
        f"{''.join(one.figures)}{answer}{''.join(one.more)}</section>"
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def write_page(
    path: Path, sections: Sequence[Section], columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Write the page.

    Parameters
    ----------
    path : Path
    sections : sequence of Section
    columns, rows
        The table of all answers, as text.
    """
    text = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>relatum: the demo</title><style>{STYLE}</style></head><body>"
        "<header><h1>What is most probable, as a whole?</h1>"
        "<p>A measure was learned from examples: for every pair it says, in bits, how strongly it "
        "speaks for the two being related (blue) or against it (red). Pairs contradict each other. "
        "<code>relatum</code> finds the relation that is most probable as a whole, says how far "
        "from the best it can be, and proves it: <code>relatum.verify</code> checked every answer "
        "below without a solver.</p></header>"
        f"<main>{''.join(map(_section, sections))}"
        f"<section><h2>All answers</h2>{_table(columns, rows)}</section></main>"
        "<footer><p>Value and bound are in bits: no feasible relation is more than 2<sup>gap</sup> "
        "times as probable as the one found. Written by <code>relatum demo</code>.</p></footer>"
        "</body></html>"
    )
    write_atomically(path, text.encode())
