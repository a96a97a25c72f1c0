"""Estimators, liftings and measures, fitted and asked with odd parameters, rows and weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

import relatum as rt
from fuzzing.values import Rude, nasty, numbers

ROWS = 8  # at most, of tables that a case is about


def table(r: Random, rows: int | None = None, columns: int | None = None) -> Any:
    """Return rows of features in one of the kinds that libraries have, mostly good ones."""
    n, d = rows or r.randrange(2, ROWS), columns or r.randrange(1, 4)
    values = np.array([[r.gauss(0, 2) for _ in range(d)] for _ in range(n)])
    shape = r.randrange(10)
    if shape < 2:
        values = np.round(values)
    elif shape < 4:
        values = (values > 0).astype(r.choice((np.uint8, np.int8, bool, float, np.float32)))
    elif shape == 4:
        values = values * r.choice((0.0, 1e-320, 1e30, 1e150, 1e300))
    if r.random() < 0.08:
        values = values.astype(float)
        values[r.randrange(n), r.randrange(d)] = r.choice((np.nan, np.inf, -np.inf, 1e308, 5e-324))
    made: list[Callable[[], Any]] = [
        lambda: values,
        lambda: values,
        lambda: values,
        lambda: values.tolist(),
        lambda: np.asfortranarray(values)[::-1],
        lambda: values.astype(np.float32),
        lambda: values.astype(object),
        lambda: values.astype(">f8"),
        lambda: values.astype(np.longdouble),
        lambda: sp.csr_matrix(values),
        lambda: sp.coo_array(values),
        lambda: pd.DataFrame(values, columns=[f"c{k}" for k in range(d)]),
        lambda: pl.DataFrame({f"c{k}": values[:, k] for k in range(d)}),
        lambda: np.ma.masked_array(values, mask=values > 1),
    ]
    with np.errstate(over="ignore"):
        return r.choice(made)()


def labels(r: Random, n: int) -> Any:
    """Return labels of rows, mostly good ones, of which some may be missing."""
    kind = r.randrange(9)
    if kind < 3:
        return np.array([k % 2 if k < 4 else r.randrange(2) for k in range(n)])
    if kind == 3:
        return np.array([r.choice(("a", "b", "=c")) for _ in range(n)])
    if kind == 4:
        return [r.choice((0, 1, 2, -1)) for _ in range(n)]
    if kind == 5:
        return np.array([[r.randrange(2) for _ in range(3)] for _ in range(n)])
    if kind == 6:
        return pd.Series([r.choice(("x", "y")) for _ in range(n)])
    if kind == 7:
        return [r.choice((0, "a", None, np.nan, 2.5)) for _ in range(n)]
    return np.array([float(r.randrange(2)) for _ in range(n)])


def weights(r: Random, n: int) -> Any:
    """Return weights of rows, mostly good ones."""
    some = [r.choice((0.0, 0.5, 1.0, 2.0, 3.0)) for _ in range(n)]
    odd = (-1.0, np.nan, np.inf, 1e308, 1e-320, None, "x")
    if r.random() < 0.2:
        some[r.randrange(n)] = r.choice(odd)  # type: ignore[call-overload]
    return r.choice(
        (some, np.array(some, dtype=object), [0.0] * n, some[1:], 1.0, None, [1e308] * n)
    )


def _liftings(r: Random) -> Any:
    return r.choice(
        (
            None,
            None,
            rt.TensorSketch(n_components=8),
            rt.PolynomialLifting(2),
            rt.BinaryFeatures("quantiles", thresholds=2),
            rt.MultilinearLifting(2),
            rt.RandomMonomials(5),
        )
    )


def _sequences(r: Random, n: int) -> Any:
    some: list[Any] = [[r.choice("abcd") for _ in range(r.randrange(4))] for _ in range(n)]
    if r.random() < 0.2:
        some[0] = r.choice((None, 3, "a b", [None], [[1]], [np.nan, 1], [1, "1"], [b"x"]))
    return some


LIMITED = {"time_limit": 0.2, "max_iter": 20, "max_epochs": 20, "n_pairs": 50}
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "degree": (1, 2, 3, None, 0, 99),
    "n_components": (1, 2, 4, 0, 2**40),
    "n_cubic": (0, 1, 2, 99),
    "code": ("bits", "thermometer", "quantiles", "x"),
    "thresholds": (1, 3, [0.0, 1.0], [1.0, 0.0], [[0.0], [1.0]], [], "x", 10**9),
    "n_bits": (None, 1, 8, 65, 0),
    "binary": ("auto", True, False),
    "scale": ("common", "each", "x"),
    "domain": ("signal", "frequency", "x"),
    "dtype": (np.uint8, "float32", "auto", np.float64, object, "U3"),
    "image_shape": (None, (1, 2), (2, 2), (0,), 3),
    "max_distance": (None, 1.0, 0.0, -1.0, float("nan")),
    "batch_size": (None, 1, 3, 0),
    "sigma": (2.0, 1.0, 1.5, 0.0, float("nan"), 1e308, "x"),
    "n_classes": (None, 1, 4, 0),
    "inverse_sigma_squared": (1.0, 0.0, 1e-3, 1e300, 1e-300, -1.0),
    "solver": ("auto", "auto", "dual", "lbfgs", "x"),
    "tol": (1e-3, 0.0, 1e300, -1.0),
    "projection": ("discriminant", None, "x"),
    "balance": ("balanced", None, "x"),
    "unknown_weight": (0.1, 0.0, 1.0, -1.0, float("nan")),
    "random_state": (0, None, -1, 2**40),
    "n_jobs": (None, 1),
    "feasible": (None, rt.EQUIVALENCES, rt.MAPS, rt.LINEAR_ORDERS, rt.EQUIVALENCES & rt.at_most(2)),
    "n_starts": (1, 2, 0),
    "time_limit": (0.2, 0.0, -1.0),
}
LEARNERS = tuple(
    """
    MapClassifier PartitionClustering LinearRanker BinaryFeatures MultilinearLifting
    PolynomialLifting RandomMonomials TensorSketch BernoulliMeasure BilinearPairMeasure
    DiffusionPairMeasure LogisticMeasure JointEstimator
""".split()  # noqa: SIM905
)
METHODS = tuple(
    """
    predict predict_proba decision_function log_odds transform score fit_predict fit_transform
    infer get_feature_names_out theta pair_log_odds predict_many pair_probabilities objective
    all_log_odds features partial_fit fit_pairs fit_comparisons fit_sequences transform_into
""".split()  # noqa: SIM905
)


def _made(name: str, r: Random) -> Any:
    """Return an unfitted learner with some of its parameters changed."""
    kind = getattr(rt, name)
    given: dict[str, Any] = {}
    for one in inspect.signature(kind).parameters:
        if one in LIMITED:
            given[one] = LIMITED[one]
        if one in PARAMETERS and r.random() < 0.15:
            given[one] = r.choice(PARAMETERS[one])
        elif one == "lifting":
            given[one] = _liftings(r)
        elif one == "measure" and name == "JointEstimator":
            given[one] = r.choice((None, rt.LogisticMeasure(max_epochs=20), rt.BernoulliMeasure()))
        elif one in ("prove", "semi_supervised", "stratified", "relative", "fit_intercept"):
            given[one] = r.random() < 0.3
        if one not in ("n_jobs", "verbose", "max_iter", "max_epochs") and r.random() < 0.03:
            given[one] = nasty(r)
    return kind(**given)


def _arguments(
    call: Callable[..., Any], name: str, r: Random, width: int, n: int
) -> dict[str, Any]:
    """Return arguments of a method, mostly good ones."""
    given: dict[str, Any] = {}
    made: dict[str, Callable[[], Any]] = {
        "X": lambda: table(r, n, width),
        "x": lambda: table(r, n, width),
        "v": lambda: table(r, n, width),
        "y": lambda: labels(r, n),
        "classes": lambda: np.array([r.randrange(3) for _ in range(n)]),
        "sample_weight": lambda: weights(r, n),
        "sequences": lambda: _sequences(r, n),
        "items": lambda: [r.choice("abcd") for _ in range(3)],
        "i": lambda: np.arange(n - 1),
        "j": lambda: np.arange(1, n),
        "related": lambda: labels(r, n - 1),
        "tokens": lambda: [0, 1, 2, 0],
        "offsets": lambda: [0, 2, 4],
        "words": lambda: [0, 1],
        "a": lambda: ["a", "b"],
        "b": lambda: ["b", "c"],
        "outcome": lambda: r.choice((["win", "draw"], [1, 0.5], [(1, 2), (0, 0)])),
        "weight": lambda: [1.0, 2.0],
        "first": lambda: [0, 1],
        "second": lambda: [1, 2],
        "result": lambda: r.choice(([1, 0.5], [0, 0])),
        "n_words": lambda: r.choice((3, 2)),
        "evidence": lambda: rt.evidence([(0, 1)], []),
        "out": lambda: np.zeros((n, 8)),
        "rows": lambda: 3,
    }
    for one in inspect.signature(call).parameters.values():
        if one.name in ("self", "monitor") or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        if one.name == "y" and name == "BilinearPairMeasure":
            given["y"] = labels(r, n - 1)
        elif one.name in made and (one.default is one.empty or one.name == "y" or r.random() < 0.3):
            given[one.name] = made[one.name]()
        if one.name in given and r.random() < 0.06:
            given[one.name] = nasty(r) if r.random() < 0.9 else Rude()
    if name == "LogisticMeasure":
        given.pop("classes", None)
    if name == "JointEstimator" and r.random() < 0.7:
        given["x"] = numbers(r, (4, 4, width)) if r.random() < 0.5 else numbers(r, (6, width))
    return given


def learn(r: Random, folder: Path) -> str:
    """Fit a learner and ask it something, holding answers to what must be true of them."""
    name = r.choice(LEARNERS)
    model, n, width = _made(name, r), r.randrange(2, ROWS), r.randrange(1, 4)
    if r.random() < 0.1 and hasattr(model, "set_output"):
        model.set_output(transform=r.choice(("pandas", "polars", "default")))
    if r.random() < 0.95:
        model.fit(**_arguments(model.fit, name, r, width, n))
    for _ in range(2):
        chosen = r.choice(METHODS)
        if not hasattr(model, chosen):
            continue
        call = getattr(model, chosen)
        rows = r.choice((n, 1, 3))
        arguments = _arguments(call, name, r, width if r.random() < 0.95 else width + 1, rows)
        _check(chosen, call(**arguments), arguments)
    return "learned"


def _check(chosen: str, found: Any, arguments: dict[str, Any]) -> None:
    """Say what is not true of an answer, whatever was asked."""
    rows = next((arguments[k] for k in ("X", "x", "v") if k in arguments), None)
    if chosen == "predict_proba":
        array = np.asarray(found)
        assert np.isfinite(array).all(), f"{chosen} is not finite"
        assert ((array >= 0) & (array <= 1)).all(), f"{chosen} beyond 0 and 1"
    numbers = ("log_odds", "decision_function", "theta", "pair_log_odds", "score")
    if chosen in numbers and not hasattr(found, "__next__"):  # blocks one by one are not looked at
        assert not np.isnan(np.asarray(found, dtype=float)).any(), f"{chosen} is not a number"
    if (
        chosen in ("predict", "transform", "fit_predict")
        and hasattr(rows, "shape")
        and "i" not in arguments
    ):
        got = found.shape[0] if hasattr(found, "shape") else len(found)
        assert got == rows.shape[0], f"{chosen} of {rows.shape[0]} rows has {got}"
