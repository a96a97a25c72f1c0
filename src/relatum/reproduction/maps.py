"""Classification of images: error against the strength of the prior, and seconds."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from relatum.datasets import Digits
from relatum.features import BinaryFeatures, TensorSketch
from relatum.measures import LogisticMeasure
from relatum.reproduction.cells import Cells, NotComputed, clock
from relatum.reproduction.settings import Lifting, Settings

_ROWS = 2000  # images whose bits are held at a time
_HOPELESS = 0.95  # relative gap of dual variables that are no start for the next fit


def maps(cells: Cells, settings: Settings, train: Digits, test: Digits) -> dict[str, Any]:
    """Return, for every lifting, the fits along the path of strengths."""
    found = {}
    for lifting in settings.liftings:
        found[lifting.name] = curve(cells, settings, lifting, train, test)
    return found


def sketches(lifting: Lifting, images: list[NDArray[np.uint8]], seed: int) -> list[NDArray[Any]]:
    """Return the lifted bits of several sets of images, of the narrowest exact type."""
    code: Any = BinaryFeatures().fit(images[0])
    if lifting.components is None:
        return [code.transform(some) for some in images]
    sketch = TensorSketch(lifting.degree, lifting.components, random_state=seed, clip_tolerance=0.0)
    # int8 holds nearly all entries at degree 2; those few beyond are clipped, as counted there
    if lifting.degree == 2:
        sketch.clip_tolerance = 1e-5
    sketch.fit(code.transform(images[0][:_ROWS]))
    out = []
    for some in images:
        rows = np.empty((len(some), lifting.components), dtype=_wide_enough(sketch))
        for begin in range(0, len(some), _ROWS):
            part = slice(begin, begin + _ROWS)
            sketch.transform_into(code.transform(some[part]), rows[part])
        out.append(rows)
    return out


def _wide_enough(sketch: TensorSketch) -> np.dtype[Any]:
    return sketch.dtype_ if sketch.degree == 2 else np.dtype(np.int16)


class _Features:
    """Lifted training and test images, made when first asked for, and what making them cost."""

    def __init__(self, lifting: Lifting, train: Digits, test: Digits, seed: int) -> None:
        self._given = lifting, [train.images, test.images], seed
        self.cost: dict[str, Any] = {}

    @cached_property
    def made(self) -> list[NDArray[Any]]:
        with clock(self.cost, "features"):
            return sketches(*self._given)


def curve(
    cells: Cells, settings: Settings, lifting: Lifting, train: Digits, test: Digits
) -> list[dict[str, Any]]:
    """Fit one lifting for all strengths, from weak to strong, each started from the one before.

    Where the one before is far from its optimum, its dual variables are large and nearly cancel:
    a start from zero is better then.
    """
    powers = settings.powers_of_maps(lifting)
    features = _Features(lifting, train, test, settings.seed)
    name = f"maps/{lifting.name}_{len(train.labels)}"
    start: NDArray[Any] | None = None
    fits = []
    for number, power in enumerate(powers):
        key = {
            "lifting": lifting.name,
            "train": len(train.labels),
            "powers": list(powers[: number + 1]),
            "tolerance": settings.map_tolerance,
            "epochs": settings.map_epochs,
            "seed": settings.seed,
        }
        state = cells.held_arrays(f"{name}_duals", key)

        def fit(power: int = power, key: dict[str, Any] = key) -> dict[str, Any]:
            nonlocal start
            x, z = features.made
            model = _model(settings, lifting, power)
            images = (x, train.labels), (z, test.labels)
            before = start
            result, start = _fit(model, *images, before)
            if before is not None and result["relative_gap"] > _HOPELESS:
                result, start = _fit(model, *images, None)
            result["power"] = power
            cells.keep_arrays(f"{name}_duals", key, {"duals": start})
            return {**result, **features.cost}

        with suppress(NotComputed):
            fits.append(cells.numbers(f"{name}/{power}", key, fit))
            if state is not None:
                start = state["duals"]
            if fits[-1]["relative_gap"] > _HOPELESS:
                start = None
    return fits


def _model(settings: Settings, lifting: Lifting, power: int) -> LogisticMeasure:
    # of few features, Newton's method or L-BFGS finishes what dual ascent does slowly
    solver = "auto" if lifting.degree == 1 else "sdca"
    return LogisticMeasure(
        2.0**power,
        solver=solver,
        tol=settings.map_tolerance,
        max_epochs=settings.map_epochs if solver == "sdca" else 100,
        random_state=settings.seed,
    )


def _fit(
    measure: LogisticMeasure,
    train: tuple[NDArray[Any], NDArray[Any]],
    test: tuple[NDArray[Any], NDArray[Any]],
    start: NDArray[Any] | None,
) -> tuple[dict[str, Any], NDArray[Any]]:
    result: dict[str, Any] = {}
    with warnings.catch_warnings():
        # a weak prior may not converge in the epochs allowed: the gap reported says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        with clock(result, "train"):
            duals = measure._fit_from(*train, None, start)
    with clock(result, "test"):
        wrong = measure.predict(test[0]) != test[1]
    result["test_error"] = float(wrong.mean())
    result["train_error"] = float((measure.predict(train[0]) != train[1]).mean())
    result["relative_gap"] = measure.duality_gap_
    result["epochs"] = measure.n_iter_
    return result, duals
