"""The list of solvers as a table."""

from __future__ import annotations

from rich.table import Table

import relatum.solvers
from relatum.cli.output import console


def show() -> None:
    """Print one line per solver."""
    table = Table(box=None, header_style="bold")
    for heading in ("solver", "proves", "what it is for"):
        table.add_column(heading, no_wrap=heading != "what it is for")
    for solver in relatum.solvers.SOLVERS.values():
        table.add_row(solver.name, "yes" if solver.proves else "no", solver.summary)
    console().print(table)
