"""``relatum cluster``: from a file of scored pairs to a file of clusters."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from relatum.errors import BlockingWarning, CalibrationWarning, DataError, EvidenceError
from relatum.pair_tables import Clusters, cluster_pairs, verify_clusters

TABLES = (".parquet", ".csv", ".tsv")
INTERRUPTED = 130
INFEASIBLE = 3


def run(
    pairs: str, out: Path, groups: str | None, options: dict[str, Any], as_json: bool, quiet: bool
) -> int:
    """Cluster, write, show; return the exit code."""
    if out.suffix not in (".parquet", ".csv"):
        raise DataError(f"The output {out} ends in .parquet or .csv.")
    options = {key: value for key, value in options.items() if value is not None}
    for name in ("background", "offset"):
        options[name] = _bits(name, options[name])
    if groups is not None:
        options["one_per_group"] = Path(groups) if groups.endswith(TABLES) else groups
    try:
        found = _with_progress(pairs, out, options, quiet or as_json)
    except KeyboardInterrupt:
        click.echo("relatum: interrupted; nothing was written", err=True)
        return INTERRUPTED
    except EvidenceError as error:
        click.echo(f"relatum: {error}", err=True)
        return INFEASIBLE
    if as_json:
        click.echo(json.dumps(found.summary.as_dict()))
    elif not quiet:
        click.echo(str(found.summary))
        click.echo(f"written to {out}")
        if found.certificate is not None:
            click.echo(f"certificate in {options['certificate']}")
    return 0


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


def _with_progress(pairs: str, out: Path, options: dict[str, Any], silent: bool) -> Clusters:
    console = Console(stderr=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", BlockingWarning)
        warnings.simplefilter("always", CalibrationWarning)
        if silent or not console.is_terminal:
            found = cluster_pairs(pairs, output=out, **options)
        else:
            with Live(Text("reading"), console=console, transient=True) as live:

                def show(stage: str, done: int, total: int) -> None:
                    live.update(Text(f"{stage} {done}/{total}" if total else stage))

                found = cluster_pairs(pairs, output=out, monitor=show, **options)
    for warning in told:
        if issubclass(warning.category, BlockingWarning | CalibrationWarning):
            click.echo(f"relatum: {warning.message}", err=True)
    return found
