"""``relatum fit`` and ``relatum predict``: models from tables and sequences, kept in files.

Model files hold JSON and arrays (`relatum.io.save_model`): what is in one is never run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats
from relatum.errors import DataError, RelatumError
from relatum.estimators import LinearRanker, MapClassifier, PartitionClustering
from relatum.io import csv_text, numbered_rows, read_model, save_model
from relatum.io.files import numbered_lines, require_writable, write_atomically

Table = tuple[list[str], list[tuple[int, list[str]]]]


def _column(table: Table, name: str, path: Path) -> int:
    if name not in table[0]:
        there = ", ".join(table[0])
        there = there if len(there) < 500 else f"{len(table[0])}, of them {there[:500]}..."
        raise DataError(f"{path} has no column {name[:200]!r}; its columns are {there}.")
    return table[0].index(name)


def _features(table: Table, wanted: list[str], path: Path) -> Floats:
    """Return the numbers of the columns that are wanted."""
    places = [_column(table, name, path) for name in wanted]
    out = np.empty((len(table[1]), len(places)))
    for k, (line, row) in enumerate(table[1]):
        for column, place in enumerate(places):
            try:
                out[k, column] = float(row[place])
            except ValueError:
                out[k, column] = np.nan
            if not np.isfinite(out[k, column]):
                raise DataError(
                    f"{path}, line {line}: {row[place][:60]!r} in column {wanted[column]!r} is not "
                    "a finite number."
                )
    if not len(out):
        raise DataError(f"{path}, line 1: there are no rows below the heading.")
    return out


def _sequences(path: Path) -> list[list[str]]:
    found = [line.split() for _, line in numbered_lines(path)]
    if not found:
        raise DataError(f"{path}, line 1: the file is empty; a line holds the items of a sequence.")
    return found


@contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Turn what scikit-learn says of data into an error that names their file."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, RelatumError):
            raise
        raise DataError(f"{path}: {str(error).splitlines()[0]}") from None


def fit(path: Path, kind: str, label: str | None, out: Path) -> str:
    """Learn a model from a file, write it, and say what was learned."""
    require_writable(out)
    columns: list[str] = []
    if kind == "order":
        sequences = _sequences(path)
        model: Any = LinearRanker(prove=False).fit(sequences)
        said = f"the order of {len(model.items_)} items from {len(sequences)} sequences"
    else:
        if label is None:
            raise DataError(f"Learning a {kind} needs --label, the column with the labels.")
        table = numbered_rows(path)
        place = _column(table, label, path)
        columns = [n for n in table[0] if n != label]
        x = _features(table, columns, path)
        y = np.array([row[place].strip() for _, row in table[1]])
        model = MapClassifier() if kind == "map" else PartitionClustering()
        with _told_of(path):
            model.fit(x, y)
        said = f"{len(x)} elements with {len(columns)} features and {len(set(y))} labels"
    save_model(out, model, {"columns": columns})
    return f"Learned from {said}; the model is in {out}."


def _load(path: Path) -> tuple[Any, list[str]]:
    """Return the model in a file and the columns that it takes."""
    model, notes = read_model(path)
    if isinstance(model, LinearRanker):
        return model, []
    columns = notes.get("columns", getattr(model, "feature_names_in_", None))
    if columns is None or not isinstance(model, MapClassifier | PartitionClustering):
        raise DataError(
            f"{path} holds a {type(model).__name__} that names no columns of a table: 'relatum "
            "predict' takes what 'relatum fit' has written."
        )
    columns = list(columns) if isinstance(columns, list | tuple | np.ndarray) else []
    if len(columns) != model.n_features_in_ or not all(isinstance(c, str) for c in columns):
        raise DataError(f"{path} is damaged (its columns are wrong); write it with 'relatum fit'.")
    if hasattr(model, "feature_names_in_"):  # columns are put into their order here
        del model.feature_names_in_
    return model, list(columns)


def _predicted(model: Any, given: Any) -> str:
    """Return what a model says of sequences or rows, as text."""
    if isinstance(model, LinearRanker):
        return "\n".join(" ".join(s) for s in model.predict_many(given)) + "\n"
    heading = "label" if isinstance(model, MapClassifier) else "set"
    return csv_text(["element", heading], enumerate(model.predict(given).tolist()))


def predict(model_path: Path, path: Path, out: Path | None) -> str:
    """Apply a model to a file; return the result as CSV text, and write it if asked to."""
    if out is not None:
        require_writable(out)
    model, columns = _load(model_path)
    given: Any = _sequences(path) if isinstance(model, LinearRanker) else None
    if given is None:
        given = _features(numbered_rows(path), columns, path)
    try:
        text = _predicted(model, given)
    except AttributeError as error:  # what was learned is not all there
        raise DataError(
            f"{model_path} is damaged ({error}); write it with 'relatum fit'."
        ) from error
    if out is not None:
        write_atomically(out, text.encode())
    return text
