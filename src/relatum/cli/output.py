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
_NAME = 40  # letters of a cluster's name
_LEAST = 30  # letters of its elements, however narrow the terminal is


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


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


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
    shown = [(_cut(str(name), _NAME), f"{len(own):,}", own) for name, own in clusters[:most]]
    wide = max([7, *(len(name) for name, _, _ in shown)]) + 2
    wide = wide if any(name for name, _, _ in shown) else 0
    room = max(_LEAST, screen.width - wide - 10)
    if shown:
        screen.print(f"[bold]{'cluster':<{wide}.{wide}}elements[/bold]", highlight=False)
    for name, count, elements in shown:
        text = ", ".join(str(x) for x in elements[:_NAMED])
        text = _cut(text + ", ..." * (len(elements) > _NAMED), room)
        screen.print(escape(f"{name:<{wide}}{count:>8}  {text}"), highlight=False)
    more = max(total, len(clusters)) - min(most, len(clusters))
    if more > 0:
        screen.print(f"and {more:,} more; -o writes all of them")


def finite(number: float | None) -> float | None:
    """Return the number, or None where JSON has none: infinity and NaN."""
    return number if number is not None and math.isfinite(number) else None


def echo_json(value: Any) -> None:
    """Print one JSON object on a line."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
