"""``relatum solve`` and ``relatum verify``: from a file to a relation and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.live import Live
from rich.text import Text

from relatum.errors import DataError
from relatum.estimate import Estimate, Status
from relatum.inference import infer
from relatum.io.bundle import load_estimate, save_estimate, write_atomically
from relatum.io.problems import Request, parse_set, read_evidence, read_problem
from relatum.problem import Problem
from relatum.relation import PartialMap, Partition, WeakOrder
from relatum.solvers.control import Progress
from relatum.verification import verify

__all__ = ["EXIT_CODES", "load_problem", "run_solve", "run_verify"]

EXIT_CODES = {
    Status.OPTIMAL: 0,
    Status.FEASIBLE: 0,
    Status.INFEASIBLE: 3,
    Status.BOUND_ONLY: 4,
}


def load_problem(
    path: Path,
    kind: str | None,
    file_format: str | None,
    evidence_path: Path | None,
    background: float | None,
    number: int,
) -> Problem:
    """Read a problem and its evidence."""
    feasible = None if kind is None else parse_set(kind)
    request = Request(path, feasible, file_format, background, number)
    problem = read_problem(request)
    if evidence_path is None:
        return problem
    facts = read_evidence(evidence_path, problem)
    return problem.with_feasible(problem.feasible & facts)


def run_solve(
    problem: Problem, options: dict[str, Any], out: Path | None, as_json: bool, quiet: bool
) -> int:
    """Infer, show, write; return the exit code."""
    estimate = _with_progress(problem, options, quiet or as_json)
    if out is not None:
        _write(out, problem, estimate)
    if as_json:
        click.echo(json.dumps(_summary(problem, estimate)))
    elif not quiet:
        _show(problem, estimate, out)
    return EXIT_CODES[estimate.status]


def _with_progress(problem: Problem, options: dict[str, Any], silent: bool) -> Estimate:
    console = Console(stderr=True)
    if silent or not console.is_terminal:
        return infer(problem, **options)
    with Live(Text("reading"), console=console, refresh_per_second=4, transient=True) as live:

        def show(p: Progress) -> None:
            live.update(
                Text(
                    f"{p.seconds:6.1f} s   value {p.value:.4f}   bound {p.bound:.4f}   "
                    f"gap {p.bound - p.value:.4f} bits   nodes {p.nodes}   rows {p.rows}"
                )
            )

        return infer(problem, monitor=show, **options)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _names(problem: Problem) -> Callable[[int], Any]:
    ids = problem.ids
    return (lambda k: k) if ids is None else (lambda k: ids[k])


def _rows(problem: Problem, estimate: Estimate) -> tuple[list[str], list[list[Any]]]:
    """Return the relation as a table: column names and rows."""
    name, relation = _names(problem), estimate.relation
    if relation is None:
        return ["message"], [[estimate.message]]
    if isinstance(relation, Partition):
        return ["element", "set"], [[name(k), s] for k, s in enumerate(relation.labels.tolist())]
    if isinstance(relation, WeakOrder):
        order = relation.order.tolist()
        return ["rank", "element"], [[int(relation.ranks[k]), name(k)] for k in order]
    if isinstance(relation, PartialMap):
        return ["element", "label"], [[k, b] for k, b in enumerate(relation.labels.tolist())]
    return ["a", "b"], [[name(a), name(b)] for a, b in relation.pairs().tolist()]


def _summary(problem: Problem, e: Estimate) -> dict[str, Any]:
    columns, rows = _rows(problem, e)
    plain = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in rows]
    return {
        "status": e.status.name,
        "message": e.message,
        "value": _finite(e.value),
        "bound": _finite(e.bound),
        "gap": _finite(e.gap),
        "solver": e.solver,
        "seconds": e.stats.get("seconds"),
        "columns": columns,
        "rows": plain,
    }


def _write(out: Path, problem: Problem, estimate: Estimate) -> None:
    if out.suffix == ".npz":
        save_estimate(out, problem, estimate)
    elif out.suffix == ".json":
        write_atomically(out, json.dumps(_summary(problem, estimate)).encode())
    elif out.suffix == ".csv":
        columns, rows = _rows(problem, estimate)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        write_atomically(out, ("\n".join(lines) + "\n").encode())
    else:
        raise DataError(
            f"The output {out} ends in .csv (the relation), .json (relation and numbers) or .npz "
            "(everything, for `relatum verify`)."
        )


def _show(problem: Problem, e: Estimate, out: Path | None) -> None:
    console = Console(soft_wrap=True)
    console.print(f"[bold]{problem!r}[/bold]", highlight=False)
    console.print(f"{e.status.name}: {e.message}")
    if e.relation is not None:
        gap = "0" if e.gap < 1e-6 else f"{e.gap:.6g}"
        console.print(f"value {e.value:.6f} bits, bound {e.bound:.6f}, gap {gap} bits")
        console.print(f"{e.relation!r}", highlight=False)
    console.print(f"solver {e.solver}, {e.stats.get('seconds', 0.0):.2f} s")
    if out is not None:
        console.print(f"written to {out}")


def run_verify(problem: Problem, bundle: Path, as_json: bool) -> int:
    """Check a bundle; return 0 if everything it claims is proved, else 1."""
    estimate = load_estimate(bundle, problem)
    report = verify(problem, estimate)
    if as_json:
        click.echo(json.dumps({"ok": report.ok, "reason": report.reason, "exact": report.exact}))
    else:
        click.echo(("verified: " if report.ok else "NOT verified: ") + report.reason)
    return 0 if report.ok else 1
