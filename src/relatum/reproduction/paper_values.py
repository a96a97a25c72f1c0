"""The paper's own curves and tables (Qu and Andres, 2014), as printed there."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from relatum.array_types import Floats
from relatum.reproduction.settings import Lifting

# Errors that the text quotes, in percent.
QUOTED = {
    "map, d=1": 8.53,
    "map, d=2, m=16384": 3.14,
    "pairs, stratified training and test": 18.1,
    "pairs, stratified training": 15.0,
    "pairs, unstratified": 7.45,
}


def _rows(name: str) -> list[dict[str, str]]:
    text = files("relatum.reproduction").joinpath("paper", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def curve(figure: str, lifting: Lifting, split: str = "") -> tuple[Floats, Floats]:
    """Return 1/sigma^2 and the values of one of the paper's curves; empty if it has none."""
    found = [
        (float(row["inverse_sigma_squared"]), float(row["value"]))
        for row in _rows("curves.csv")
        if (row["figure"], row["split"]) == (figure, split)
        and int(row["degree"]) == lifting.degree
        and (row["components"] or "0") == str(lifting.components or 0)
    ]
    values = np.array(found).reshape(-1, 2)
    return values[:, 0], values[:, 1]


def table(sample: str) -> dict[tuple[str, int], dict[str, float]]:
    """Return a clustering table: (solver, elements) to its columns."""
    return {
        (row["solver"], int(row["n"])): {
            key: float(value)
            for key, value in row.items()
            if key not in ("learned_from", "solver", "n")
        }
        for row in _rows("tables.csv")
        if row["learned_from"] == sample
    }
