"""Models by the command line: fit, predict, and what can go wrong."""

from __future__ import annotations

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum.cli.models import fit, predict
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


class Trap:
    """Whoever loads a pickle of it is caught."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_models_of_older_versions_are_refused_and_not_run(table, tmp_path):
    path, _ = table
    old = tmp_path / "old.model"
    joblib.dump({"relatum": "0.1", "kind": "map", "columns": [], "model": Trap()}, old)
    with pytest.raises(DataError, match=r"old\.model is a pickle, .* Fit the model again"):
        predict(old, path, None)


def test_models_saved_from_python(table, tmp_path):
    path, labels = table
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    frame = pd.DataFrame({"v": [float(r[2]) for r in rows], "u": [float(r[0]) for r in rows]})
    out = tmp_path / "m"
    rt.io.save_model(out, rt.MapClassifier().fit(frame, labels))  # names of features are columns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [r.split(",")[1] for r in predict(out, path, None).splitlines()[1:]]
    assert found == labels.tolist()
    rt.io.save_model(out, rt.MapClassifier().fit(frame.to_numpy(), labels))
    with pytest.raises(DataError, match="holds a MapClassifier that names no columns"):
        predict(out, path, None)
    rt.io.save_model(out, rt.MapClassifier().fit(frame, labels), {"columns": ["u"]})
    with pytest.raises(DataError, match="its columns are wrong"):
        predict(out, path, None)
    rt.io.save_model(out, rt.LogisticMeasure().fit(frame, labels))
    with pytest.raises(DataError, match="holds a LogisticMeasure that names no columns"):
        predict(out, path, None)
    rt.io.save_model(out, rt.LinearRanker().fit(["a b"]))
    (tmp_path / "new.txt").write_text("b a\n")
    assert predict(out, tmp_path / "new.txt", None) == "a b\n"


def test_errors(table, tmp_path):
    path, _ = table
    out = tmp_path / "m"
    with pytest.raises(DataError, match="needs --label"):
        fit(path, "map", None, out)
    with pytest.raises(DataError, match="no column 'colour'"):
        fit(path, "map", "colour", out)
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join("c" * 40 + str(k) for k in range(1000)) + "\n")
    with pytest.raises(DataError, match="its columns are 1000, of them c") as caught:
        fit(wide, "map", "k" * 10_000, out)
    assert len(str(caught.value)) < 1500 + len(str(wide))
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
