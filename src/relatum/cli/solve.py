"""``relatum solve`` and ``relatum verify``: from a file to a relation and back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.markup import escape

from relatum.cli.output import console, echo_json, finite, show_clusters, table_of
from relatum.errors import DataError
from relatum.inference import infer
from relatum.io import (
    Request,
    load_bundle,
    load_estimate,
    parse_set,
    read_evidence,
    read_problem,
    save_estimate,
    write_rows,
)
from relatum.io.files import require_writable, write_lines
from relatum.live import silence
from relatum.problem import (
    Partition,
    Problem,
    Relation,
    WeakOrder,
)
from relatum.proof import Estimate, Status, verify

if TYPE_CHECKING:
    from relatum.probability import Probabilities

SHOWN = 20  # sets, ranks or pairs on the screen
EXIT_CODES = {
    Status.OPTIMAL: 0,
    Status.FEASIBLE: 0,
    Status.INFEASIBLE: 3,
    Status.BOUND_ONLY: 4,
}


def load_problem(
    path: Path,
    kind: str | None = None,
    file_format: str | None = None,
    evidence_path: Path | None = None,
    background: float | None = None,
    number: int = 0,
    columns: dict[str, str] | None = None,
) -> Problem:
    """Read a problem and its evidence."""
    feasible = None if kind is None else parse_set(kind)
    request = Request(path, feasible, file_format, background, number, columns or {})
    problem = read_problem(request)
    if evidence_path is None:
        return problem
    facts = read_evidence(evidence_path, problem)
    return problem.with_feasible(problem.feasible & facts)


def run_solve(
    problem: Problem,
    options: dict[str, Any],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    sure: bool = False,
) -> int:
    """Infer, write, show; return the exit code.

    With `sure`, what the relation says of each element comes with its probability.
    """
    if out is not None:
        _require_output(out)
    with silence(quiet or as_json):
        estimate = infer(problem, **options)
    known = None
    if sure and estimate.relation is not None:
        from relatum.probability import probabilities  # which most do not ask for

        known = probabilities(
            problem, time_limit=options.get("time_limit", 60.0), seed=options.get("seed", 0)
        )
    if out is not None:
        _write(out, problem, estimate, known)
    if as_json:
        echo_json(_summary(problem, estimate, known))
    elif not quiet:
        _show(problem, estimate, out, known)
    return EXIT_CODES[estimate.status]


def _rows(
    problem: Problem, estimate: Estimate, known: Probabilities | None
) -> tuple[list[str], list[list[Any]]]:
    """Return the relation as a table: column names and rows, with probabilities if known."""
    columns, rows = _plain_rows(problem, estimate)
    if known is None or estimate.relation is None:
        return columns, rows
    p = known.confidence(estimate.relation)
    if isinstance(estimate.relation, WeakOrder):
        p = p[estimate.relation.order]  # rows are from first to last
    return [*columns, "probability"], [
        [*row, round(float(x), 12)] for row, x in zip(rows, p, strict=True)
    ]


def _plain_rows(problem: Problem, estimate: Estimate) -> tuple[list[str], list[list[Any]]]:
    """Return the relation as a table: column names and rows."""
    relation = estimate.relation
    if relation is None:
        return ["message"], [[estimate.message]]
    columns = relation.table(problem.names)
    if isinstance(relation, WeakOrder):  # from first to last
        columns = {k: columns[k][relation.order] for k in ("rank", "element")}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return list(columns), [list(row) for row in rows]


def _summary(problem: Problem, e: Estimate, known: Probabilities | None) -> dict[str, Any]:
    columns, rows = _rows(problem, e, known)
    plain = [[v.item() if isinstance(v, np.generic) else v for v in row] for row in rows]
    told: dict[str, Any] = {}
    if known is not None and e.relation is not None:
        told = {
            "log2_probability": finite(known.of(e.relation)),
            "log2_normalizer": finite(known.log2_normalizer),
            "probabilities": known.method,
            "exact": known.exact,
            "calibrated": known.calibrated,
        }
    return {
        "status": e.status.name,
        "message": e.message,
        "value": finite(e.value),
        "bound": finite(e.bound),
        "gap": finite(e.gap),
        "solver": e.solver,
        "seconds": e.stats.get("seconds"),
        "stopped": bool(e.stats.get("stopped", False)),
        **told,
        "columns": columns,
        "rows": plain,
    }


def _require_output(out: Path) -> None:
    """Refuse an output that cannot be written, before the search."""
    if out.suffix not in (".csv", ".json", ".npz"):
        raise DataError(
            f"The output {out} ends in .csv (the relation), .json (relation and numbers) or .npz "
            "(everything, for `relatum verify`)."
        )
    require_writable(out)


def _write(out: Path, problem: Problem, estimate: Estimate, known: Probabilities | None) -> None:
    if out.suffix == ".npz":
        save_estimate(out, problem, estimate)
    elif out.suffix == ".json":
        summary = json.dumps(
            _summary(problem, estimate, known), allow_nan=False, ensure_ascii=False
        )
        write_lines(out, [summary])
    else:
        write_rows(out, *_rows(problem, estimate, known))


def _show(problem: Problem, e: Estimate, out: Path | None, known: Probabilities | None) -> None:
    screen = console()
    screen.print(f"[bold]{escape(repr(problem))}[/bold]", highlight=False)
    screen.print(f"{e.status.name}: {escape(e.message)}")
    if e.relation is not None:
        gap = "0" if e.gap < 1e-6 else f"{e.gap:.6g}"
        screen.print(f"value {e.value:.6f} bits, bound {e.bound:.6f}, gap {gap} bits")
        screen.print(escape(repr(e.relation)), highlight=False)
        _show_relation(screen, problem, e.relation)
    if known is not None and e.relation is not None:
        _show_probability(screen, known, e.relation)
        p = known.confidence(e.relation)
        screen.print(f"what it says of each: {p.min():.3f} to {p.max():.3f}, mean {p.mean():.3f}")
    seconds = float(e.stats.get("seconds", 0.0))
    screen.print(f"solver {e.solver}, {seconds:.2f} s")
    if e.stats.get("stopped") and e.status in (Status.FEASIBLE, Status.BOUND_ONLY):
        why = "by Ctrl-C" if e.stats.get("interrupted") else "by the time limit"
        screen.print(f"stopped {why}: this is the best so far")
    if out is not None:
        screen.print(f"written to {escape(str(out))}")


def _show_probability(screen: Console, known: Probabilities, relation: Relation) -> None:
    """Say how probable the relation is, or why that is not known."""
    how = f"{'exact' if known.exact else 'estimated'} by {known.method}"
    said = "calibrated" if known.calibrated else "uncalibrated"
    bits = known.of(relation)
    if math.isnan(bits):
        why = known.diagnostics.get("log2 Z", "unknown")
        screen.print(escape(f"probabilities {how}, {said}; log2 Z {why}"))
    else:
        screen.print(f"probability 2^{bits:.4f} of this relation, {how}, {said}")


def _show_relation(screen: Console, problem: Problem, relation: Relation) -> None:
    """Show the first sets, ranks or pairs, by ids."""
    if isinstance(relation, Partition):
        sets = [[problem.name_of(k) for k in s.tolist()] for s in relation.sets()]
        show_clusters(screen, [("", one) for one in sets if len(one) > 1], SHOWN)
        alone = sum(len(one) == 1 for one in sets)
        if alone:
            screen.print(f"{alone:,} alone")
        return
    columns, rows = _plain_rows(problem, Estimate(Status.FEASIBLE, relation, 0.0, 0.0))
    table = table_of(columns, words=("element", "a", "b"))
    for row in rows[:SHOWN]:
        table.add_row(*(escape(str(cell)) for cell in row))
    screen.print(table)
    if len(rows) > SHOWN:
        screen.print(f"and {len(rows) - SHOWN:,} more; -o writes all of them")


def run_verify(problem: Problem | None, bundle: Path, as_json: bool) -> int:
    """Check a bundle; return 0 if everything it claims is proved, else 1.

    Without a problem, that of the bundle itself is meant.
    """
    if problem is None:
        problem, estimate = load_bundle(bundle)
    else:
        estimate = load_estimate(bundle, problem)
    report = verify(problem, estimate)
    if as_json:
        echo_json({"ok": report.ok, "reason": report.reason, "exact": report.exact})
    else:
        click.echo(("verified: " if report.ok else "NOT verified: ") + report.reason)
    return 0 if report.ok else 1
