"""Models by the command line: fit, predict, and what can go wrong."""

from __future__ import annotations

import sys
from importlib import import_module

import joblib
import numpy as np
import pytest

import relatum as rt
from relatum.cli.models import FORMER_NAMES, fit, predict
from relatum.errors import DataError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(["x", "y", "z"], 20)
    centres = {"x": (0, 0), "y": (5, 0), "z": (0, 5)}
    lines = ["u,kind,v"]
    for name in labels:
        u, v = centres[name] + rng.normal(scale=0.3, size=2)
        lines.append(f"{u},{name},{v}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, labels


def test_maps_and_clusterings(table, tmp_path):
    path, labels = table
    said = fit(path, "map", "kind", tmp_path / "map.model")
    assert "60 elements with 2 features and 3 labels" in said
    rows = predict(tmp_path / "map.model", path, None).splitlines()
    assert rows[0] == "element,label"
    assert [r.split(",")[1] for r in rows[1:]] == labels.tolist()
    fit(path, "equivalence", "kind", tmp_path / "sets.model")
    predict(tmp_path / "sets.model", path, tmp_path / "sets.csv")
    found = [r.split(",")[1] for r in (tmp_path / "sets.csv").read_text().splitlines()[1:]]
    assert rt.metrics.rand_error(labels, found) == 0.0


def test_orders(tmp_path):
    path = tmp_path / "sequences.txt"
    path.write_text("a b c\na c\nb c\n")
    assert "3 items from 3 sequences" in fit(path, "order", None, tmp_path / "m")
    (tmp_path / "new.txt").write_text("c a b\nc b\n")
    assert predict(tmp_path / "m", tmp_path / "new.txt", None) == "a b c\nb c\n"


def renamed(monkeypatch):
    """Give classes the module names that older versions of the library wrote into models."""
    for old, new in FORMER_NAMES:
        module = import_module(f"relatum.{new}")
        monkeypatch.setitem(sys.modules, f"relatum.{old}", module)
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                monkeypatch.setattr(value, "__module__", f"relatum.{old}")


def test_models_of_older_versions_are_read(table, tmp_path, monkeypatch):
    path, labels = table
    out = tmp_path / "old.model"
    with monkeypatch.context() as patch:
        renamed(patch)
        fit(path, "equivalence", "kind", out)
    assert b"relatum.relation" in out.read_bytes()
    with pytest.raises(ModuleNotFoundError, match=r"relatum\.(certificate|estimate|relation)"):
        joblib.load(out)
    found = [r.split(",")[1] for r in predict(out, path, None).splitlines()[1:]]
    assert rt.metrics.rand_error(labels, found) == 0.0
    assert "relatum.relation" not in sys.modules


def test_errors(table, tmp_path):
    path, _ = table
    out = tmp_path / "m"
    with pytest.raises(DataError, match="needs --label"):
        fit(path, "map", None, out)
    with pytest.raises(DataError, match="no column 'colour'"):
        fit(path, "map", "colour", out)
    with pytest.raises(DataError, match="line 2: 'x' in column 'kind' is not a finite number"):
        fit(path, "map", "u", out)
    assert not out.exists()
    with pytest.raises(DataError, match="not a model"):
        predict(path, path, None)
    with pytest.raises(DataError, match="There is no file"):
        predict(tmp_path / "none", path, None)
    fit(path, "map", "kind", out)
    (tmp_path / "less.csv").write_text("u\n1\n")
    with pytest.raises(DataError, match="no column 'v'"):
        predict(out, tmp_path / "less.csv", None)
