"""The paper's experiments from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from relatum.reproduction import FULL, PARTS, QUICK, reproduce


def run(
    size: str, out: Path, parts: Sequence[str], images: Sequence[Path], compute: bool = True
) -> int:
    """Run the experiments, say what they show, and return the exit code."""
    settings = {"quick": QUICK, "full": FULL}[size]
    shown = reproduce(
        settings,
        out,
        parts=parts or tuple(PARTS),
        images=images,
        say=lambda line: click.echo(line),
        compute=compute,
    )
    for claim, holds in shown:
        click.echo(f"{'yes' if holds else 'NO ':3}  {claim}")
    click.echo(f"Numbers, figures and tables are in {out}; begin with {out / 'report.md'}.")
    return 0 if all(holds for _, holds in shown) else 1
