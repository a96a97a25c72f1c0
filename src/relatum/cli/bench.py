"""``relatum bench``: solvers side by side on one's own files."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from relatum.cli.output import console, echo_json, finite, table_of
from relatum.errors import RelatumError
from relatum.inference import infer
from relatum.problem import Problem
from relatum.proof import verify
from relatum.solvers import SOLVERS, solver_named

COLUMNS = ("solver", "status", "value", "bound", "gap", "seconds", "verified")


def _names(problem: Problem, wanted: tuple[str, ...]) -> list[str]:
    if wanted:
        for name in wanted:
            if name != "auto":
                solver_named(name)
        return list(dict.fromkeys(wanted))
    return [s.name for s in SOLVERS.values() if s.refuses(problem) is None]


def _warm_up(problem: Problem, name: str, prove: bool) -> None:
    """Compile kernels on a small part of the problem, so that times compare searches."""
    if not problem.feasible.homogeneous:
        return
    try:
        infer(problem.restrict(np.arange(min(8, problem.n))), name, prove=prove, time_limit=5.0)
    except RelatumError:
        return  # the problem itself will tell


def compare(problem: Problem, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run solvers on a problem one after the other; return a row each.

    Parameters
    ----------
    problem : Problem
    options : mapping
        ``solvers`` (names; all that fit if empty), ``prove``, ``time_limit`` and ``seed``.
    """
    rows: list[dict[str, Any]] = []
    for name in _names(problem, options["solvers"]):
        _warm_up(problem, name, options["prove"])
        started = time.perf_counter()
        try:
            e = infer(problem, name, **{k: v for k, v in options.items() if k != "solvers"})
        except RelatumError as error:
            rows.append({"solver": name, "status": "REFUSED", "message": str(error)})
            continue
        rows.append(
            {
                "solver": name,
                "status": e.status.name,
                "value": finite(e.value),
                "bound": finite(e.bound),
                "gap": finite(e.gap),
                "seconds": time.perf_counter() - started,
                "verified": bool(verify(problem, e)),
            }
        )
        if e.stats.get("interrupted"):
            rows[-1]["interrupted"] = True  # Ctrl-C: keep what there is
            break
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    table = table_of(COLUMNS, words=("solver", "status", "verified"))
    best = max((r["value"] for r in rows if r.get("value") is not None), default=math.nan)
    for r in rows:
        if r["status"] == "REFUSED":
            table.add_row(r["solver"], r["status"])
            continue
        value = "-" if r["value"] is None else f"{r['value']:.6f}"
        if r["value"] is not None and math.isclose(r["value"], best, rel_tol=1e-9, abs_tol=1e-6):
            value = f"[bold]{value}[/bold]"
        table.add_row(
            r["solver"],
            r["status"],
            value,
            "-" if r["bound"] is None else f"{r['bound']:.6f}",
            "-" if r["gap"] is None else "0" if r["gap"] < 1e-6 else f"{r['gap']:.6g}",
            f"{r['seconds']:.2f}",
            "yes" if r["verified"] else "NO",
        )
    return table


def run(problems: Mapping[str, Problem], options: Mapping[str, Any], as_json: bool) -> int:
    """Compare and print; return 0, or 1 if some certificate does not hold."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, problem in problems.items():
        rows = found[name] = compare(problem, options)
        if not as_json:
            _show(name, problem, rows)
        if rows and rows[-1].get("interrupted"):
            break
    if as_json:
        echo_json(found)
    return int(any(r.get("verified") is False for rows in found.values() for r in rows))


def _show(name: str, problem: Problem, rows: list[dict[str, Any]]) -> None:
    screen = console()
    screen.print(f"[bold]{escape(name)}[/bold]: {escape(repr(problem))}", highlight=False)
    screen.print(_table(rows))
    for r in rows:
        if r["status"] == "REFUSED":
            screen.print(escape(r["message"].splitlines()[0]), highlight=False)
        if r.get("interrupted"):
            screen.print("stopped by Ctrl-C: the rest was not run")
