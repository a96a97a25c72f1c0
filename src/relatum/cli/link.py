"""``relatum link``: from a file of records to clusters of those of the same entity."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from relatum.errors import BlockingWarning, DataError, EvidenceError
from relatum.io import load_model, save_model
from relatum.live import silence
from relatum.records import RecordLinker

INTERRUPTED, INFEASIBLE = 130, 3


def run(records: str, options: dict[str, Any], as_json: bool, quiet: bool) -> int:
    """Learn or load, cluster, show; return the exit code."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", BlockingWarning)
            linker, found = _with_progress(records, options, quiet or as_json)
    except KeyboardInterrupt:
        click.echo("relatum: interrupted; nothing was written", err=True)
        return INTERRUPTED
    except EvidenceError as error:
        click.echo(f"relatum: {error}", err=True)
        return INFEASIBLE
    for warning in told:
        if issubclass(warning.category, BlockingWarning):
            click.echo(f"relatum: {warning.message}", err=True)
    if as_json:
        report = {"linker": linker.report_.as_dict(), "clusters": found.summary.as_dict()}
        click.echo(json.dumps(report))
    elif not quiet:
        if options["model"] is None:
            click.echo(f"{linker.report_}\n")
        click.echo(str(found.summary))
        _show(found.table, options["show"])
        for name in ("out", "save"):
            if options[name] is not None:
                click.echo(f"written to {options[name]}")
    return 0


def fields_of(text: str) -> dict[str, str]:
    """Return columns and kinds out of ``title=text,year=exact``."""
    out = {}
    for part in text.split(","):
        name, sign, kind = part.rpartition("=")
        if not sign or not name.strip():
            raise DataError(
                f"--fields names columns and kinds, such as title=text,year=exact; got {part!r}."
            )
        out[name.strip()] = kind.strip()
    return out


def _linker(options: dict[str, Any]) -> RecordLinker:
    if options["model"] is not None:
        if options["fields"] is not None or options["labels"] is not None:
            raise DataError("--model has learned already: leave out --fields and --labels.")
        model = load_model(options["model"])
        if not isinstance(model, RecordLinker):
            raise DataError(f"{options['model']} holds a {type(model).__name__}, not a linker.")
        return model
    if options["fields"] is None:
        raise DataError("--fields is needed, such as --fields title=text,year=exact; or --model.")
    keys = [tuple(name.strip() for name in key.split(",")) for key in options["keys"]]
    return RecordLinker(
        fields_of(options["fields"]),
        source=options["source"],
        one_per_source=options["one_per_source"],
        id=options["id_"],
        keys=keys,
        neighbors="auto" if options["neighbors"] is None else options["neighbors"],
        prove=options["prove"],
    )


def _linked(records: str, options: dict[str, Any]) -> tuple[RecordLinker, Any]:
    linker = _linker(options)
    if options["model"] is None:
        linker.fit(records, options["labels"])
    given = {"evidence": options["evidence"], "previous": options["previous"]}
    found = linker.predict(records, output=options["out"], **given)
    if options["save"] is not None:
        save_model(options["save"], linker)
    return linker, found


def _with_progress(records: str, options: dict[str, Any], silent: bool) -> tuple[RecordLinker, Any]:
    if options["out"] is not None and Path(options["out"]).suffix not in (".parquet", ".csv"):
        raise DataError(f"The output {options['out']} ends in .parquet or .csv.")
    if options["out"] is not None and Path(options["out"]).absolute() == Path(records).absolute():
        raise DataError(f"{records} holds the records: give the clusters another file.")
    with silence(silent):
        return _linked(records, options)


def _show(table: Any, most: int) -> None:
    """Print the ids of some clusters, the largest first."""
    names = table.column_names
    ids = table.column(names[names.index("cluster_id") - 1]).to_pylist()
    members: dict[Any, list[str]] = {}
    for name, id_ in zip(table.column("cluster_id").to_pylist(), ids, strict=True):
        members.setdefault(name, []).append(str(id_))
    several = sorted((m for m in members.values() if len(m) > 1), key=lambda m: (-len(m), m))
    for cluster in several[: max(0, most)]:
        rest = f", and {len(cluster) - 8} more" if len(cluster) > 8 else ""
        click.echo(f"  {len(cluster)} records: {', '.join(cluster[:8])}{rest}")
