"""``relatum cluster``: from a file of scored pairs to clusters, shown and, if asked to, written."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from relatum.cli.output import console, show_clusters
from relatum.errors import BlockingWarning, CalibrationWarning, DataError, EvidenceError
from relatum.live import silence
from relatum.pair_tables import Clusters, cluster_pairs, require_savable, verify_clusters

TABLES = (".parquet", ".csv", ".tsv")
INTERRUPTED = 130
INFEASIBLE = 3
SHOWN = 10  # clusters on the screen


def run(
    pairs: str,
    out: Path | None,
    groups: str | None,
    options: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> int:
    """Cluster, write if asked to, show; return the exit code."""
    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise DataError(f"The output {out} ends in .parquet or .csv.")
    save = options.pop("save")
    if save is not None:
        require_savable(save)
    options = {key: value for key, value in options.items() if value is not None}
    for name in ("background", "offset"):
        options[name] = _bits(name, options[name])
    if groups is not None:
        options["one_per_group"] = Path(groups) if groups.endswith(TABLES) else groups
    try:
        found = _with_progress(pairs, out, options, quiet or as_json)
        if save is not None:
            found.save(save)
    except KeyboardInterrupt:
        click.echo("relatum: interrupted; nothing was written", err=True)
        return INTERRUPTED
    except EvidenceError as error:
        click.echo(f"relatum: {error}", err=True)
        return INFEASIBLE
    if as_json:
        click.echo(json.dumps(found.summary.as_dict()))
    elif not quiet:
        certificate = options.get("certificate")
        _show(found, {"written to": out, "saved to": save, "certificate in": certificate})
    return 0


def _show(found: Clusters, written: dict[str, Path | None]) -> None:
    """Show the summary, the first clusters by id, and where everything went."""
    import pyarrow.compute as pc

    screen, table = console(), found.table
    screen.print(escape(str(found.summary)), highlight=False)
    larger = table.filter(pc.greater(table["cluster_size"], 1))
    names = pc.unique(larger["cluster_id"])
    first = names.slice(0, SHOWN)
    rows = larger.filter(pc.is_in(larger["cluster_id"], value_set=first))
    members: dict[Any, list[str]] = {name: [] for name in first.to_pylist()}
    ids = table.column_names[: table.column_names.index("cluster_id")]
    for row in rows.select([*ids, "cluster_id"]).to_pylist():
        members[row.pop("cluster_id")].append(" ".join(str(x) for x in row.values()))
    screen.print()
    show_clusters(screen, [(str(k), v) for k, v in members.items()], SHOWN, len(names))
    alone = table.num_rows - larger.num_rows
    if alone:
        screen.print(f"{alone:,} element{'s' * (alone > 1)} alone", highlight=False)
    for what, path in written.items():
        if path is not None:
            screen.print(f"{what} {escape(str(path))}", highlight=False)


def run_verify(
    pairs: str, certificate: Path, clusters: Path | None, given: dict[str, Any], as_json: bool
) -> int:
    """Check the certificate of a table's clusters; return 0 if everything is proved, else 1."""
    report = verify_clusters(
        pairs,
        certificate,
        clusters=clusters,
        background=given["background"],
        evidence=given["evidence_path"],
    )
    if as_json:
        click.echo(json.dumps(report.as_dict(), allow_nan=False, ensure_ascii=False))
        return 0 if report.ok else 1
    click.echo(("verified: " if report.ok else "NOT verified: ") + report.reason)
    if report.ok:
        click.echo(f"value {report.value!r} bits, bound {report.bound!r}")
        for fact in report.stated:
            click.echo(f"taken from the certificate: {fact}")
    return 0 if report.ok else 1


def _bits(name: str, text: str) -> Any:
    if text == "learned":
        return text
    try:
        return float(text)
    except ValueError:
        raise DataError(f"--{name} is a number of bits or 'learned', got {text!r}.") from None


def _with_progress(pairs: str, out: Path | None, options: dict[str, Any], silent: bool) -> Clusters:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", BlockingWarning)
        warnings.simplefilter("always", CalibrationWarning)
        with silence(silent):
            found = cluster_pairs(pairs, output=out, **options)
    for warning in told:
        if issubclass(warning.category, BlockingWarning | CalibrationWarning):
            click.echo(f"relatum: {warning.message}", err=True)
    return found
