"""The list of solvers names them all."""

from __future__ import annotations

from click.testing import CliRunner

from relatum.cli import cli
from relatum.solvers import SOLVERS


def test_every_solver_is_listed():
    result = CliRunner().invoke(cli, ["solvers"])
    assert result.exit_code == 0
    rows = [line.split() for line in result.output.splitlines()]
    listed = {row[0]: row[1] for row in rows if len(row) > 1 and row[0] in SOLVERS}
    for name, solver in SOLVERS.items():
        assert listed[name] == ("yes" if solver.proves else "no")
