"""The list of solvers names them all."""

from __future__ import annotations

from click.testing import CliRunner

from relatum.cli import cli
from relatum.solvers import SOLVERS


def test_every_solver_is_listed():
    result = CliRunner().invoke(cli, ["solvers"])
    assert result.exit_code == 0
    listed = {line.split()[0]: line.split()[1] for line in result.output.splitlines()[1:] if line}
    for name, solver in SOLVERS.items():
        assert listed[name] == ("yes" if solver.proves else "no")
