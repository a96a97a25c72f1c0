"""``relatum fit`` and ``relatum predict``: models from tables and sequences, kept in files.

A model file is a pickle written by joblib: load only files that you trust.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from relatum import __version__
from relatum.errors import DataError
from relatum.estimators import LinearRanker, MapClassifier, PartitionClustering
from relatum.io.bundle import write_atomically
from relatum.io.pair_tables import read_rows
from relatum.io.text import read_text

__all__ = ["fit", "predict"]


def _table(path: Path, wanted: list[str] | None = None) -> tuple[list[str], NDArray[np.float64]]:
    """Return (column names, numbers) of the columns of a CSV file that are wanted."""
    names, rows = read_rows(path)
    missing = [n for n in wanted or [] if n not in names]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}; its columns are {', '.join(names)}.")
    chosen = names if wanted is None else wanted
    places = [names.index(n) for n in chosen]
    out = np.empty((len(rows), len(places)))
    for line, row in enumerate(rows):
        for k, place in enumerate(places):
            try:
                out[line, k] = float(row[place])
            except ValueError:
                raise DataError(
                    f"{path}, line {line + 2}: {row[place]!r} in column {names[place]!r} is not a "
                    "number."
                ) from None
    return chosen, out


def _labels(path: Path, column: str) -> NDArray[Any]:
    names, rows = read_rows(path)
    if column not in names:
        raise DataError(f"{path} has no column {column!r}; its columns are {', '.join(names)}.")
    return np.array([row[names.index(column)].strip() for row in rows])


def fit(path: Path, kind: str, label: str | None, out: Path) -> str:
    """Learn a model from a file, write it, and say what was learned."""
    if kind == "order":
        sequences = [line.split() for line in read_text(path).splitlines() if line.strip()]
        model: Any = LinearRanker(prove=False).fit(sequences)
        columns: list[str] = []
        said = f"the order of {len(model.items_)} items from {len(sequences)} sequences"
    else:
        if label is None:
            raise DataError(f"Learning a {kind} needs --label, the column with the labels.")
        names, _ = read_rows(path)
        columns = [n for n in names if n != label]
        y = _labels(path, label)
        _, x = _table(path, columns)
        model = MapClassifier() if kind == "map" else PartitionClustering()
        model.fit(x, y)
        said = f"{len(x)} elements with {len(columns)} features and {len(set(y))} labels"
    buffer = io.BytesIO()
    content = {"relatum": __version__, "kind": kind, "columns": columns, "model": model}
    joblib.dump(content, buffer)
    write_atomically(out, buffer.getvalue())
    return f"Learned from {said}; the model is in {out}."


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    try:
        content = joblib.load(path)
        if "relatum" not in content:
            raise ValueError("no model of relatum")
    except Exception as error:  # whatever a damaged pickle raises
        raise DataError(f"{path} is not a model written by 'relatum fit' ({error}).") from None
    return dict(content)


def predict(model_path: Path, path: Path, out: Path | None) -> str:
    """Apply a model to a file; return the result as CSV text, and write it if asked to."""
    content = _load(model_path)
    model = content["model"]
    if content["kind"] == "order":
        lines = [line.split() for line in read_text(path).splitlines() if line.strip()]
        text = "\n".join(" ".join(s) for s in model.predict_many(lines)) + "\n"
    else:
        _, x = _table(path, content["columns"])
        heading = "label" if content["kind"] == "map" else "set"
        rows = [f"{k},{value}" for k, value in enumerate(model.predict(x))]
        text = "\n".join([f"element,{heading}", *rows]) + "\n"
    if out is not None:
        write_atomically(out, text.encode())
    return text
