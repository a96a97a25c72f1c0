"""The command line.

Commands import what they need when they run, so that ``relatum --help`` is quick.
"""

from __future__ import annotations

import sys

import click

from relatum import __version__
from relatum.errors import RelatumError

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="relatum")
def cli() -> None:
    """Estimate maximally probable maps, equivalence relations and linear orders."""


@cli.command("demo")
@click.option("--seed", default=0, show_default=True, help="Seed of every random choice.")
@click.option("--quick", is_flag=True, help="Use fewer elements.")
def demo_command(seed: int, quick: bool) -> None:
    """Run the three classical cases, and one with evidence, on embedded data."""
    from relatum.cli.demo import run

    run(seed, quick)


@cli.command("solvers")
def solvers_command() -> None:
    """List the solvers: what each is for, and whether it proves optimality."""
    from relatum.cli.solvers import show

    show()


def main() -> None:
    """Run the command line; errors of the user are one line, without a traceback."""
    try:
        cli()
    except RelatumError as error:
        click.echo(f"relatum: {error}", err=True)
        sys.exit(2)
