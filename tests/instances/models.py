"""Fitted models of every class that a file may hold, and what they say of some elements."""

from __future__ import annotations

import json
import zipfile
from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import relatum as rt
from relatum.io.models.stored_arrays import arrays_of, manifest_of, packed


def elements():
    """Three sets of elements, told apart by their features; and labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.5, size=(30, 3)) + 4 * np.repeat(np.eye(3), 10, axis=0)
    return X, np.repeat(["x", "y", "z"], 10)


def liftings():
    """Liftings by name, not fitted."""
    return {
        "none": None,
        "bits": rt.BinaryFeatures(code="quantiles", thresholds=3, dtype=np.float32),
        "thresholds": rt.BinaryFeatures(code="thermometer", thresholds=[0.5, 2.0]),
        "sketch": rt.TensorSketch(2, 8, random_state=1),
        "fourier": rt.TensorSketch(3, 8, random_state=1, domain="fourier", dtype="float32"),
        "monomials": rt.RandomMonomials(3, random_state=1),
        "multilinear": rt.MultilinearLifting(2),
        "polynomial": rt.PolynomialLifting(2, 2, random_state=1),
        "pipeline": make_pipeline(StandardScaler(), PCA(2), rt.PolynomialLifting(2)),
        "scaled": make_pipeline(MinMaxScaler(), "passthrough", rt.MultilinearLifting(3)),
    }


X, Y = elements()
SEVERAL = np.column_stack([Y == "x", Y != "y"]).astype(int)
PARTLY = np.where(np.arange(30) % 2, np.repeat([0, 1, 2], 10), -1)
RULES = rt.EQUIVALENCES & rt.at_most(12) & rt.one_per_group(np.arange(30) % 15)
KNOWN = rt.evidence(related=[(0, 1)], unrelated=[(0, 29)])
CODE = rt.BinaryFeatures(code="quantiles", thresholds=4)
PLAIN = rt.BilinearPairMeasure(projection=None)
THINGS = [1, "two", (3, 4.5)]

# By name: an unfitted model, what it is fitted to, and what it then says.
MODELS = {
    f"map {name}": (rt.MapClassifier(lifting), (X, Y), lambda m: m.log_odds(X))
    for name, lifting in liftings().items()
} | {
    "map two": (rt.MapClassifier(), (X, Y == "x"), lambda m: m.predict_proba(X)),
    "map named": (rt.MapClassifier(), (X, Y.astype(object)), lambda m: m.predict(X)),
    "map several": (rt.MapClassifier(), (X, SEVERAL), lambda m: m.predict(X)),
    "map joint": (rt.MapClassifier(semi_supervised=True), (X, PARTLY), lambda m: m.predict(X)),
    "records": (
        rt.RecordLinker({"surname": "exact", "born": "date"}),
        (rt.datasets.load_people(40).records,),
        lambda m: np.concatenate(m.tables_),
    ),
    "sets": (
        rt.PartitionClustering(feasible=RULES & KNOWN, n_pairs=200),
        (X, Y),
        lambda m: m.predict(X),
    ),
    "sets plain": (rt.PartitionClustering(measure=PLAIN), (X, Y), lambda m: m.log_odds(X)),
    "sets unlabelled": (
        rt.PartitionClustering(measure=rt.DiffusionPairMeasure(4)),
        (X,),
        lambda m: m.log_odds(X),
    ),
    "sets of codes": (
        rt.PartitionClustering(CODE, rt.LogisticMeasure(), n_pairs=200),
        (X, Y),
        lambda m: m.log_odds(X),
    ),
    "order": (
        rt.LinearRanker(feasible=rt.WEAK_ORDERS),
        (["a b c", "a c", "b c"],),
        lambda m: m.log_odds(["c", "a", "b"]),
    ),
    "order of things": (
        rt.LinearRanker(),
        ([THINGS, THINGS[::-2]],),
        lambda m: m.log_odds(THINGS[::-1]),
    ),
    "bernoulli": (
        rt.BernoulliMeasure(1.5, n_classes=9),
        ([0, 0, 7], [1, 0, 0]),
        lambda m: m.log_odds([7, 0, 3]),
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), rt.MapClassifier()),
        (X, Y),
        lambda m: m.predict(X),
    ),
}


@cache
def fitted(name):
    """Return a model by name, fitted; what it says is ``said(name, model)``."""
    model, data, _ = MODELS[name]
    return clone(model).fit(*data)


def said(name, model):
    """Return what a model, or another in its place, says of some elements."""
    return MODELS[name][2](model)


def opened(path):
    """Return the manifest and the arrays of a model file."""
    with path.open("rb") as file:
        return manifest_of(file), arrays_of(file)


def written(path, manifest, arrays):
    """Write a model file by hand."""
    path.write_bytes(packed(manifest, arrays))
    return path


def zipped(path, entries, compression=zipfile.ZIP_STORED):
    """Write an archive of any entries."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in entries:
            text = data if isinstance(data, bytes) else json.dumps(data)
            archive.writestr(name, text)
    return path
