"""What goes to the terminal: consoles, and numbers that are JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import click
from rich.console import Console
from rich.table import Table


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


def finite(number: float | None) -> float | None:
    """Return the number, or None where JSON has none: infinity and NaN."""
    return number if number is not None and math.isfinite(number) else None


def echo_json(value: Any) -> None:
    """Print one JSON object on a line."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))
