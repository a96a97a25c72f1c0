"""The same tasks with liftings, measures and estimates that the paper does not have."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from relatum.datasets import Digits
from relatum.errors import DegenerateWarning
from relatum.features import BinaryFeatures, PolynomialLifting, RandomMonomials, TensorSketch
from relatum.joint import joint_estimate, partial_evidence
from relatum.measures import BernoulliMeasure, LogisticMeasure
from relatum.problem import LINEAR_ORDERS, LinearOrder
from relatum.reproduction.cells import Cells, clock
from relatum.reproduction.clustering import whole_set
from relatum.reproduction.scores import bilinear_scores
from relatum.reproduction.settings import Settings

_ROWS = 2000  # images lifted at a time
Lifted = tuple[NDArray[Any], NDArray[Any]]


def _lifted(lifting: Any, train: Digits, test: Digits, learned_from: int) -> Lifted:
    """Lift 8 thresholds per pixel, which divide the grey values evenly, some images at a time."""
    thresholds = np.arange(1, 9) * int(train.images.max()) / 9
    code = BinaryFeatures(code="thermometer", thresholds=thresholds).fit(train.images)
    lifting.fit(code.transform(train.images[:learned_from]))

    def lifted(images: NDArray[Any]) -> NDArray[Any]:
        parts = (images[lo : lo + _ROWS] for lo in range(0, len(images), _ROWS))
        return np.concatenate([lifting.transform(code.transform(part)) for part in parts])

    return lifted(train.images), lifted(test.images)


def _thresholds(settings: Settings, train: Digits, test: Digits) -> Lifted:
    sketch = TensorSketch(
        2, settings.measure.components or 1, random_state=settings.seed, clip_tolerance=1e-5
    )
    return _lifted(sketch, train, test, _ROWS)


def _monomials(settings: Settings, train: Digits, test: Digits) -> Lifted:
    side = round(train.images.shape[1] ** 0.5)
    lifting = RandomMonomials(
        settings.measure.components or 1,
        2,
        settings.seed,
        image_shape=(side, side),
        max_distance=6.0,
    )
    return _lifted(lifting, train, test, 5000)


def _polynomial(settings: Settings, train: Digits, test: Digits) -> Lifted:
    width = min(60, train.images.shape[1] // 2)
    lifting = PolynomialLifting(
        width, width * 5 // 12, scale="half", random_state=settings.seed
    ).fit(train.images.astype(np.float32))
    return (
        lifting.transform(train.images.astype(np.float32)),
        lifting.transform(test.images.astype(np.float32)),
    )


# name: (lifting, base-2 logarithm of 1/sigma^2 relative to the mean of |x|^2, for people)
LIFTINGS: dict[str, tuple[Callable[[Settings, Digits, Digits], Lifted], float, str]] = {
    "thresholds": (_thresholds, -8.0, "sketch, d=2, of 8 thresholds per pixel instead of 8 bits"),
    "monomials": (_monomials, -8.0, "random ANDs of 2 thresholds at most 6 pixels apart"),
    "polynomial": (_polynomial, -8.0, "quadratics of 60 principal components, cubics of 25"),
}


def best_liftings(
    cells: Cells, settings: Settings, train: Digits, test: Digits, name: str = "maps"
) -> dict[str, dict[str, Any]]:
    """Return the errors of maps with other liftings, one strength each."""
    found = {}
    for lifting in LIFTINGS:
        key = {
            "lifting": lifting,
            "power": LIFTINGS[lifting][1],
            "components": settings.measure.components,
            "train": len(train.labels),
            "seed": settings.seed,
        }
        found[lifting] = cells.numbers(
            f"beyond/{name}_{lifting}",
            key,
            lambda lifting=lifting: _map_error(settings, lifting, train, test),  # type: ignore[misc]
        )
    return found


def _map_error(settings: Settings, name: str, train: Digits, test: Digits) -> dict[str, Any]:
    lift, power, title = LIFTINGS[name]
    result: dict[str, Any] = {"lifting": title, "relative_power": power}
    with clock(result, "features"):
        x, z = lift(settings, train, test)
    result["components"] = int(x.shape[1])
    measure = LogisticMeasure(
        2.0**power, relative=True, tol=settings.map_tolerance, random_state=settings.seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with clock(result, "train"):
            measure.fit(x, train.labels)
    with clock(result, "test"):
        result["test_error"] = float((measure.predict(z) != test.labels).mean())
    result["train_error"] = float((measure.predict(x) != train.labels).mean())
    result["relative_gap"] = measure.duality_gap_
    return result


def other_images(
    cells: Cells, settings: Settings, name: str, train: Digits, test: Digits
) -> dict[str, Any]:
    """Return one row for another set of images: best lifting, bilinear pairs, clustering."""
    key = {"train": len(train.labels), "test": len(test.labels), "seed": settings.seed}
    maps = cells.numbers(
        f"beyond/{name}_polynomial",
        {**key, "power": LIFTINGS["polynomial"][1]},
        lambda: _map_error(settings, "polynomial", train, test),
    )
    scores, pairs = bilinear_scores(cells, settings, train, test, name=f"bilinear_{name}")
    clusters = whole_set(cells, settings, scores, test, f"bilinear_{name}")
    return {
        "name": name,
        **key,
        "map_error": maps["test_error"],
        "pair_error_stratified": pairs["error_stratified"],
        "pair_error_unstratified": pairs["error_unstratified"],
        "clusters": clusters[-1],
    }


def joint_orders(cells: Cells, settings: Settings) -> dict[str, Any]:
    """Estimate orders from little evidence: measure and order together, or one after the other."""
    key = {"instances": settings.joint_instances, "seed": settings.seed}
    return cells.numbers("beyond/joint_orders", key, lambda: _joint(settings))


def _joint(settings: Settings) -> dict[str, Any]:
    methods: dict[str, dict[str, Any]] = {
        "evidence alone": {"unknown_weight": 0.0},
        "joint": {"exact": True},
    }
    errors: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(settings.joint_instances):
        rng = np.random.default_rng([settings.seed, number])
        classes, known, truth, unknown = _instance(rng)
        for name, options in methods.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)
                found = joint_estimate(
                    classes,
                    LINEAR_ORDERS,
                    measure=BernoulliMeasure(1.5),
                    evidence=known,
                    time_limit=10.0,
                    **options,
                ).estimate.relation
            assert found is not None
            wrong = found.matrix() != truth.matrix()
            errors[name].append(float(wrong[unknown].mean()))
    difference = np.array(errors["joint"]) - np.array(errors["evidence alone"])
    return {
        "instances": settings.joint_instances,
        **{f"error, {name}": float(np.mean(values)) for name, values in errors.items()},
        "difference": float(difference.mean()),
        "difference_standard_error": float(
            difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
        ),
    }


def _instance(rng: np.random.Generator) -> tuple[Any, Any, LinearOrder, Any]:
    """Draw 14 elements in an unknown order, known for 5 of them, and 40 classes that tell it."""
    n, classes, reliability, known = 14, 40, 0.95, 5
    truth = LinearOrder(rng.permutation(n))
    a, b = np.triu_indices(n, 1)
    before = truth.matrix()[a, b]
    says = np.where(rng.random(len(a)) < reliability, before, ~before)
    number = 2 * rng.integers(0, classes // 2, len(a)) + says
    places = np.full(n, -1)
    chosen = rng.permutation(n)[:known]
    places[chosen] = truth.ranks[chosen]
    unknown = (places[a] < 0) | (places[b] < 0)
    return number, partial_evidence(places, LINEAR_ORDERS), truth, (a[unknown], b[unknown])
