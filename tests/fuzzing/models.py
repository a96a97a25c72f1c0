"""Model files: mutated as bytes, as archives, as JSON and as arrays, then loaded and asked."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import relatum as rt
from fuzzing.files import mutated, run_command

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 3))
KINDS = np.repeat(["x", "y", "z"], 4)
PLACES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1,
        2,
        3,
        2**31,
        2**63,
        10**400,
        0.5,
        1e308,
        -0.0,
        "",
        "x",
        "class",
        [],
        {},
    ),
    *([[]], {"array": 0}, {"array": 99}, {"float": "nan"}, {"float": "inf"}, {"tuple": [1, 2]}),
    *({"dict": [[1, 2]]}, {"dtype": "<f8"}, {"type": "float64"}, {"objects": [1], "shape": [1]}),
    *({"objects": [], "shape": [2**40]}, {"feasible": {"names": ["MAPS"]}}, "\ud800", "a" * 3000),
    {"object": {"class": "PCA", "parameters": {}, "learned": {}}},
)


def _models() -> dict[str, Any]:
    sketch = rt.TensorSketch(n_components=8, random_state=0)
    liftings = {
        "bits": rt.BinaryFeatures("quantiles", thresholds=2),
        "lift": rt.MultilinearLifting(2),
        "monomials": rt.RandomMonomials(5, random_state=0),
        "polynomials": rt.PolynomialLifting(2, 1),
        "sketch": sketch,
        "pipe": make_pipeline(StandardScaler(), PCA(2), MinMaxScaler(), rt.PolynomialLifting(2)),
    }
    found: dict[str, Any] = {k: v.fit(ROWS) for k, v in liftings.items()}
    found["map"] = rt.MapClassifier().fit(ROWS, KINDS)
    found["map sketched"] = rt.MapClassifier(sketch).fit(ROWS, KINDS)
    found["sets"] = rt.PartitionClustering(rt.PolynomialLifting(2)).fit(ROWS, KINDS)
    found["unlabelled"] = rt.PartitionClustering().fit(ROWS)
    found["order"] = rt.LinearRanker().fit(["a b c", "a c", "b c"])
    i, j = np.triu_indices(12, 1)
    found["pairs"] = rt.BilinearPairMeasure().fit(ROWS, i, j, KINDS[i] == KINDS[j])
    found["logistic"] = rt.LogisticMeasure(0.1).fit(ROWS, KINDS)
    found["bernoulli"] = rt.BernoulliMeasure().fit([0, 1, 1, 2], [1, 0, 1, 0])
    return found


@cache
def model_files() -> dict[str, bytes]:
    """Return a model file of every kind of model, also those of `relatum fit`."""
    found = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        for name, model in _models().items():
            notes = {"columns": ["u", "v", "w"]} if name in ("map", "sets") else None
            rt.io.save_model(path, model, notes)
            found[name] = path.read_bytes()
    return found


def _spots(node: Any) -> list[tuple[Any, Any]]:
    """Return all places in JSON that hold something: whose, and where there."""
    found: list[tuple[Any, Any]] = []
    keys = (
        list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    )
    for key in keys:
        found.append((node, key))
        found += _spots(node[key])
    return found


def _edited(manifest: Any, r: Random) -> Any:
    manifest = copy.deepcopy(manifest)
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        spots = _spots(manifest)
        if not spots:
            break
        owner, key = r.choice(spots)
        kind = r.randrange(6)
        if kind < 3:
            owner[key] = copy.deepcopy(r.choice(PLACES))
        elif kind == 3:
            other, its = r.choice(spots)
            owner[key], other[its] = copy.deepcopy(other[its]), copy.deepcopy(owner[key])
        elif kind == 4:
            del owner[key]
        elif isinstance(owner, dict):
            owner[
                r.choice(("degree", "coef_", "lifting", "__class__", "fit", "n_features_in_"))
            ] = owner.pop(key)
        else:
            owner.append(copy.deepcopy(owner[key]))
    return manifest


def _changed_array(data: bytes, r: Random) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    kind = r.randrange(8)
    if kind == 0 and array.size and array.dtype.kind == "f":
        array.flat[r.randrange(array.size)] = r.choice((np.nan, np.inf, 1e308, -1e300, 0.0))
    elif kind == 1 and array.size and array.dtype.kind in "iu":
        array.flat[r.randrange(array.size)] = r.choice((0, 1, 7, 100, 127))
    elif kind == 2:
        array = array[: r.randrange(len(array) + 1)] if array.ndim else array[None]
    elif kind == 3:
        array = array.astype(r.choice(("f4", "i8", "f8", "u1", "i4", "U4", "f2", ">f8", "?")))
    elif kind == 4:
        array = array.T
    elif kind == 5:
        array = np.concatenate([array, array]) if array.ndim else array
    elif kind == 6:
        array = np.zeros(r.choice(((0,), (3, 0), (1, 1, 1), ())))
    else:
        array = array.reshape(-1)
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=False)
    return mutated(sink.getvalue(), r) if r.random() < 0.2 else sink.getvalue()


def mutant(data: bytes, r: Random) -> bytes:
    """Return a model file with some damage, of which no word is kept for sure."""
    if r.random() < 0.2:
        return mutated(data, r)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    manifest = json.loads(entries[0][1])
    kind = r.randrange(10)
    if kind < 5:
        try:
            entries[0] = (entries[0][0], json.dumps(_edited(manifest, r)).encode())
        except ValueError:  # it holds itself
            entries[0] = (entries[0][0], b"{}")
    elif kind < 8 and len(entries) > 1:
        k = r.randrange(1, len(entries))
        with np.errstate(all="ignore"):
            try:
                entries[k] = (entries[k][0], _changed_array(entries[k][1], r))
            except (ValueError, TypeError):
                entries[k] = (entries[k][0], b"")
    elif kind == 8 and len(entries) > 2:
        a, b = r.sample(range(1, len(entries)), 2)
        entries[a], entries[b] = (entries[a][0], entries[b][1]), (entries[b][0], entries[a][1])
    else:
        return _rezipped(entries, r)
    return _zipped(entries)


def _zipped(entries: list[tuple[str, bytes]], how: int = zipfile.ZIP_STORED) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", how) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, how)
    return sink.getvalue()


def _rezipped(entries: list[tuple[str, bytes]], r: Random) -> bytes:
    """Return the same content in an archive of another kind, or with tricks."""
    kind = r.randrange(8)
    if kind == 0:
        return _zipped(
            entries, r.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
        )
    if kind == 1:
        return _zipped([*entries, r.choice(entries)])
    if kind == 2:
        return _zipped(entries[::-1])
    if kind == 3:
        return _zipped([("../" + name, data) for name, data in entries])
    if kind == 4:
        return bytes(r.randrange(20)) + _zipped(entries)
    if kind == 5:
        return _zipped(entries) + bytes(r.randrange(20))
    if kind == 6:
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w") as archive:
            for name, data in entries:
                with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                    member.write(data)
        return sink.getvalue()
    data = bytearray(_zipped(entries))  # sizes that lie, in the directory or before the data
    at = [k for k in range(len(data) - 4) if data[k : k + 2] == b"PK"]
    k = min(len(data) - 5, r.choice(at) + r.randrange(4, 46))
    data[k : k + 4] = r.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01\0\0\0", b"\xff\xff\0\0"))
    return bytes(data)


def model(r: Random, folder: Path) -> str:
    """Load a mutated model file and ask the model, in Python or by the command line."""
    name = r.choice(sorted(model_files()))
    path, rows = folder / "m.model", folder / "rows.csv"
    path.write_bytes(mutant(model_files()[name], r))
    if name in ("map", "sets", "order") and r.random() < 0.5:
        text = b"a b\nc a\n" if name == "order" else b"u,v,w\n1,2,3\n0,-1,2.5\n"
        rows.write_bytes(mutated(text, r) if r.random() < 0.3 else text)
        words = ["predict", str(path), str(rows)]
        words += ["-o", str(folder / "out.csv")] if r.random() < 0.5 else []
        return run_command(words)
    loaded = rt.io.load_model(path)
    asked = 0
    for method in ("transform", "predict", "log_odds", "get_feature_names_out", "score"):
        if not hasattr(loaded, method):
            continue
        given = {"predict": [["a", "b"]], "log_odds": [["a", "b"]], "score": [["a b"]]}
        arguments: list[Any] = [ROWS[:2]]
        if name == "order":
            arguments = given[method]
        elif name == "bernoulli":
            arguments = [[0, 1]]
        elif name == "pairs":
            arguments = [ROWS, [0], [1]]
        if method == "get_feature_names_out":
            arguments = []
        if method == "score" and name != "order":
            continue
        found = getattr(loaded, method)(*arguments)
        asked += 1
        if (
            method in ("log_odds", "transform")
            and hasattr(found, "dtype")
            and found.dtype.kind == "f"
        ):
            assert not np.isnan(found).any(), f"{method} of a model from a file is not a number"
    rt.io.save_model(folder / "out.model", loaded)
    (folder / "out.model").unlink()
    return f"loaded, asked {asked}"
