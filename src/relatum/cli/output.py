"""What goes to the terminal: consoles, and numbers that are JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_NAMED = 12  # elements of a cluster that are named
_WIDTH = 90  # letters of these


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to `main`: rich itself would end with the exit code of a failed proof."""
        raise BrokenPipeError


def console(stderr: bool = False) -> Console:
    """Return a console that wraps nothing."""
    return _Console(stderr=stderr, soft_wrap=True)


def table_of(headings: Sequence[str], words: Sequence[str]) -> Table:
    """Return an empty table whose columns are numbers, but for those that hold words."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        justify: Literal["left", "right"] = "left" if heading in words else "right"
        table.add_column(heading, justify=justify, no_wrap=True)
    return table


def show_clusters(
    screen: Console, clusters: Sequence[tuple[str, Sequence[Any]]], most: int, total: int = 0
) -> None:
    """Show clusters, one per line: its name, if it has one, how many elements, and the first.

    Parameters
    ----------
    screen : Console
    clusters : sequence of (name, elements)
    most : int
        Clusters to show, of the `total` (or those given) that there are.
    total : int
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    named = any(name for name, _ in clusters)
    for heading in (["cluster"] if named else []) + ["elements", ""]:
        justify: Literal["left", "right"] = "right" if heading == "elements" else "left"
        table.add_column(heading, justify=justify, no_wrap=True)
    for name, elements in clusters[:most]:
        text = ", ".join(str(x) for x in elements[:_NAMED])
        text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "\u2026"
        text += ", ..." if len(elements) > _NAMED and not text.endswith("\u2026") else ""
        cells = ([escape(str(name)[:40])] if named else []) + [f"{len(elements):,}", escape(text)]
        table.add_row(*cells)
    if clusters:
        screen.print(table)
    more = max(total, len(clusters)) - min(most, len(clusters))
    if more > 0:
        screen.print(f"and {more:,} more; -o writes all of them")


def finite(number: float | None) -> float | None:
    """Return the number, or None where JSON has none: infinity and NaN."""
    return number if number is not None and math.isfinite(number) else None


def echo_json(value: Any) -> None:
    """Print one JSON object on a line."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
