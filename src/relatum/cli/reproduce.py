"""The paper's experiments from the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from relatum.cli.output import console
from relatum.live import silence
from relatum.reproduction import FULL, PARTS, QUICK, reproduce

Say = Callable[[str], None]


def run(
    size: str, out: Path, parts: Sequence[str], images: Sequence[Path], compute: bool = True
) -> int:
    """Run the experiments, say what they show, and return the exit code."""
    settings = {"quick": QUICK, "full": FULL}[size]
    chosen = parts or tuple(PARTS)
    with _told(len(chosen)) as (say, found):
        shown = reproduce(
            settings, out, parts=chosen, images=images, say=say, found=found, compute=compute
        )
    for claim, holds in shown:
        click.echo(f"{'yes' if holds else 'NO ':3}  {claim}")
    click.echo(f"Numbers, figures and tables are in {out}; begin with {out / 'report.md'}.")
    return 0 if all(holds for _, holds in shown) else 1


@contextmanager
def _told(parts: int) -> Iterator[tuple[Say, Say]]:
    """Yield who hears of each step, and of each part: in a terminal, a bar and what it found."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield click.echo, click.echo
        return
    what = TextColumn("{task.fields[what]}", table_column=None)
    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), what)
    with silence(), Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("", total=parts, what="")
        room = max(20, screen.width - 46)

        def say(line: str) -> None:
            step = line.partition("] ")[2].removesuffix(": computing")
            step = step if len(step) <= room else step[: room - 1] + "\u2026"
            progress.update(task, what=escape(step))

        def found(line: str) -> None:
            name, _, told = line.partition(": ")
            text = f"[bold]{name}[/bold]: {escape(told)}"
            progress.console.print(text, highlight=False, soft_wrap=False)
            progress.advance(task)

        yield say, found
