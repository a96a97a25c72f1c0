"""Equivalence relations on test images: exact and Kernighan-Lin, small sets and the whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.datasets import Digits
from relatum.inference import infer
from relatum.metrics import rand_error, variation_of_information
from relatum.problem import EQUIVALENCES, Problem
from relatum.proof import Estimate, Status, verify
from relatum.reproduction.cells import Cells, NotComputed, clock
from relatum.reproduction.scores import measure_key
from relatum.reproduction.settings import Settings

SOLVERS: dict[str, dict[str, Any]] = {
    "exact": {"solver": "partition_branch_and_cut", "prove": True},
    "kl": {"solver": "kernighan_lin"},
    "search": {"solver": "partition_local_search"},
}


def subset(labels: Index, size: int, stratified: bool, seed: int) -> NDArray[np.intp]:
    """Draw elements at random; `stratified`: equally many of each label, as far as they go."""
    rng = np.random.default_rng([seed, size])
    if not stratified:
        return np.sort(rng.choice(len(labels), size, replace=False))
    names = np.unique(labels)
    share = [size // len(names) + (k < size % len(names)) for k in range(len(names))]
    parts = [
        rng.choice(np.flatnonzero(labels == name), count, replace=False)
        for name, count in zip(names, share, strict=True)
    ]
    return np.sort(np.concatenate(parts))


def clusterings(
    cells: Cells,
    settings: Settings,
    log_odds: Callable[[NDArray[np.intp]], Floats],
    labels: Index,
    name: str,
) -> list[dict[str, Any]]:
    """Cluster random subsets exactly, each optimum re-proven by the checker, and by Kernighan-Lin.

    Parameters
    ----------
    log_odds : callable
        Gives the log-odds of all pairs of some images.
    name : {"stratified", "unstratified"} or other
        The measure; subsets have equally many images of each digit unless it is "unstratified".
    """
    rows = []
    for size in settings.sizes:
        for number in range(settings.subsets):
            chosen = subset(labels, size, name != "unstratified", settings.seed + number)

            def run(method: str, chosen: NDArray[np.intp] = chosen) -> dict[str, Any]:
                problem = Problem(log_odds(chosen), EQUIVALENCES)
                return _one(problem, labels[chosen], method, settings)

            key = _key(settings, len(labels), name)
            for method in ("exact", "kl"):
                cell = f"clustering/{name}_{method}_{size}_{number}"
                with suppress(NotComputed):
                    rows.append(cells.numbers(cell, key, partial(run, method)))
    return rows


def _key(settings: Settings, n: int, name: str) -> dict[str, Any]:
    """Return all that a clustering depends on."""
    return {
        **measure_key(settings, n),
        "measure": name,
        "bilinear_strength": settings.bilinear_strength,
        "limit": settings.time_limit,
    }


def _one(problem: Problem, truth: Index, method: str, settings: Settings) -> dict[str, Any]:
    result: dict[str, Any] = {"method": method, "n": len(truth)}
    with clock(result, "infer"):
        estimate = infer(
            problem, time_limit=settings.time_limit, seed=settings.seed, **SOLVERS[method]
        )
    return {**result, **_judged(problem, estimate, truth)}


def _judged(problem: Problem, estimate: Estimate, truth: Index) -> dict[str, Any]:
    found = estimate.relation
    assert found is not None
    labels = found.labels  # type: ignore[attr-defined]
    count = len(truth) * (len(truth) - 1) // 2
    return {
        "status": estimate.status.name,
        "value": estimate.value,
        "bound": estimate.bound,
        "relative_gap": estimate.gap / max(abs(estimate.value), 1.0),
        "verified": bool(verify(problem, estimate)),
        "optimal": estimate.status is Status.OPTIMAL,
        "rand_error": rand_error(truth, labels),
        "vi_nats": variation_of_information(truth, labels, unit="nats"),
        "sets": int(labels.max()) + 1,
        "objective_per_pair": -estimate.value / count,
    }


def whole_set(
    cells: Cells, settings: Settings, scores: NDArray[Any], test: Digits, name: str
) -> list[dict[str, Any]]:
    """Cluster all test images, by Kernighan-Lin and by local search."""
    rows = []
    problem: Problem | None = None
    for method in ("kl", "search"):

        def run(method: str = method) -> dict[str, Any]:
            nonlocal problem
            if problem is None:
                problem = Problem(scores, EQUIVALENCES)
            return _one(problem, test.labels, method, settings)

        key = _key(settings, len(test.labels), name)
        with suppress(NotComputed):
            rows.append(cells.numbers(f"clustering/{name}_{method}_whole", key, run))
    return rows


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return means and standard deviations by method and size."""
    out = []
    for method, n in sorted({(r["method"], r["n"]) for r in rows}):
        some = [r for r in rows if (r["method"], r["n"]) == (method, n)]
        line: dict[str, Any] = {
            "method": method,
            "n": n,
            "subsets": len(some),
            "optimal": sum(r["optimal"] for r in some),
            "verified": sum(r["verified"] for r in some),
        }
        for column in COLUMNS:
            values = np.array([r[column] for r in some])
            line[column] = float(values.mean())
            line[f"{column}_sd"] = float(values.std(ddof=1)) if len(some) > 1 else 0.0
        out.append(line)
    return out


COLUMNS = (
    "rand_error",
    "vi_nats",
    "sets",
    "objective_per_pair",
    "infer_cpu_seconds",
    "infer_wall_seconds",
    "relative_gap",
)
