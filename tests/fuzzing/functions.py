"""Public functions and classes, called with good arguments of which some are made nasty."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import relatum as rt
from fuzzing.values import GOOD, nasty
from relatum.errors import RelatumError

OPTIMAL_GAP = 2.0**-20
NAMES = """
    Problem at_most evidence one_per_group Relation Partition Map PartialMap WeakOrder LinearOrder
    Votes infer infer_many verify explain consensus cluster_pairs encode_sequences
    precedence_counts sample_pairs partial_evidence pair_features joint_estimate
    regularization_path PairBatches RecordBatches PairScorer
"""


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what is called on an object that is made for it."""

    def on(make: str, name: str) -> Callable[..., Any]:
        def call(r: Random, **arguments: Any) -> Any:
            return getattr(GOOD[make](r), name)(**arguments)

        return call

    owners = {"problem": rt.Problem, "feasible": rt.FeasibleSet, "relation": rt.Relation}
    calls = {
        "problem": ("value", "exact_value", "dense", "folded", "restrict", "with_feasible"),
        "feasible": ("contains", "first_violation", "check", "has"),
        "relation": ("matrix", "pairs", "to"),
        "votes": ("log_odds", "distance"),
    }
    owners["votes"] = rt.Votes  # type: ignore[assignment]
    for make, names in calls.items():
        for name in names:
            call = on(make, name)
            call.__signature__ = inspect.signature(getattr(owners[make], name))  # type: ignore[attr-defined]
            yield f"{make}.{name}", call


def _functions() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in NAMES.split():
        found[name] = getattr(rt, name)
    for name in ("from_pairs", "from_sparse", "from_table", "from_networkx"):
        found[f"Problem.{name}"] = getattr(rt.Problem, name)
    for name in ("from_rankings", "from_comparisons"):
        found[f"Votes.{name}"] = getattr(rt.Votes, name)
    for kind in (rt.Partition, rt.Map, rt.LinearOrder, rt.WeakOrder):
        found[f"{kind.__name__}.from_matrix"] = kind.from_matrix
    found["LinearOrder.from_order"] = rt.LinearOrder.from_order
    for module in (rt.io, rt.metrics, rt.testing, rt.plots):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                found[f"{module.__name__}.{name}"] = thing
    for name in ("find_columns", "bits_of", "verify_clusters"):
        found[name] = getattr(rt.pair_tables, name)
    for name in ("read_idx", "read_sentences", "load_images", "data_path"):
        found[name] = getattr(rt.datasets, name)
    return found | dict(_methods())


FUNCTIONS = _functions()
# arguments that are called differently elsewhere
RENAMED = {("Problem.from_sparse", "matrix"): "sparse"}
RENAMED |= {(f"problem.{name}", "relation"): "relation" for name in ("value", "exact_value")}


def _arguments(name: str, r: Random, folder: Path) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for one in inspect.signature(FUNCTIONS[name]).parameters.values():
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) or one.name in ("self", "monitor"):
            continue
        if one.name in ("path", "output", "folder", "out", "certificate"):
            if one.default is one.empty or r.random() < 0.5:
                arguments[one.name] = folder / r.choice(
                    ("out.csv", "out.npz", "out.npy", "out.gz", "out.soc", "out.parquet", "out")
                )
            continue
        made = GOOD.get(RENAMED.get((name, one.name), one.name))
        needed = one.default is one.empty or one.name in ("time_limit", "n_jobs")
        if made is not None and (needed or r.random() < 0.4):
            arguments[one.name] = made(r)
        elif one.default is one.empty:
            arguments[one.name] = nasty(r)
    for one_name in list(arguments):
        if one_name not in ("n_jobs", "count", "largest") and r.random() < 0.25:
            arguments[one_name] = nasty(r)
    return arguments


def run(name: str, r: Random, folder: Path) -> str:
    """Call a function once; say how it went, and raise `AssertionError` if it lied."""
    arguments = _arguments(name, r, folder)
    call = FUNCTIONS[name]
    if "." in name and name.split(".")[0] in ("problem", "feasible", "relation", "votes"):
        arguments["r"] = r
        if name == "feasible.has":
            names = arguments.pop("names", None)
            arguments = {"r": r}
            call = lambda r: GOOD["feasible"](r).has(names)  # noqa: E731
    found = call(**arguments)
    if name in ("PairBatches", "RecordBatches"):
        found = (x for x in found)
    if name.startswith("relatum.plots"):
        _drawn(found)
    if inspect.isgenerator(found):
        found = [x for _, x in zip(range(5), found, strict=False)]
    if name == "infer":
        _check_answer(arguments["problem"], found)
    return "answered"


def _drawn(axes: Any) -> None:
    """Draw what was plotted, and close it."""
    from matplotlib import pyplot

    some = axes.flat[0] if hasattr(axes, "flat") else axes
    some.figure.canvas.draw()
    pyplot.close("all")


def _check_answer(problem: Any, estimate: Any) -> None:
    """Hold an answer to what it says: by the checker, and by enumeration."""
    report = rt.verify(problem, estimate)
    assert report.ok, f"not verified: {report.reason}"
    if max(problem.shape) > 3:
        return
    best, relation = rt.testing.brute_force(problem)
    if relation is None:
        assert estimate.relation is None, "a relation where none is feasible"
        return
    assert estimate.status is not rt.Status.INFEASIBLE, "infeasible, but it is not"
    if estimate.status is rt.Status.OPTIMAL:
        value = problem.exact_value(estimate.relation)
        assert float(problem.exact_value(relation) - value) <= OPTIMAL_GAP, "not the best"
    assert np.isfinite(best)


def is_ours(error: BaseException) -> bool:
    """Say whether an error is typed and says what it says in one line.

    What scikit-learn says when it makes tables of what comes out, or scores of it, is its own.
    """
    steps = [step.filename for step in traceback.extract_tb(error.__traceback__)]
    theirs = any("/sklearn/metrics/" in step or "_set_output.py" in step for step in steps)
    theirs = theirs or "accuracy_score" in str(error)
    if theirs and isinstance(error, ValueError | TypeError | RuntimeError | RuntimeWarning):
        return True
    return isinstance(error, RelatumError) and "\n" not in str(error) and len(str(error)) < 1000
