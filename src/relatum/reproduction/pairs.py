"""Classification of pairs of images: error against the strength of the prior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.datasets import Digits
from relatum.features import BinaryFeatures, PairBatches, TensorSketch, sample_pairs
from relatum.measures import LN2
from relatum.reproduction.cells import Cells, clock
from relatum.reproduction.settings import Lifting, Settings
from relatum.reproduction.streamed_path import StreamedPath

_BATCH = 1024  # pairs whose features are held at a time
SAMPLES = {"stratified": True, "unstratified": False}


class Pairs:
    """Bits of training and test images, and the pairs that are drawn of them."""

    def __init__(self, settings: Settings, train: Digits, test: Digits) -> None:
        self.settings = settings
        code = BinaryFeatures().fit(train.images)
        self.v: NDArray[Any] = np.asarray(code.transform(train.images))
        self.w: NDArray[Any] = np.asarray(code.transform(test.images))
        self.train, self.test = train, test

    def key(self, lifting: Lifting) -> dict[str, Any]:
        """Return all that the measures learned from training pairs depend on."""
        s = self.settings
        return {
            "lifting": lifting.name,
            "pairs": s.pairs,
            "powers": list(s.pair_powers),
            "seed": s.seed,
            "images": len(self.train.labels),
        }

    def training(self, stratified: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Draw the training pairs."""
        s = self.settings
        return sample_pairs(self.train.labels, s.pairs, stratified=stratified, random_state=s.seed)

    def testing(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return all pairs of some test images, drawn at random."""
        rng = np.random.default_rng(self.settings.seed)
        count = min(self.settings.test_images, len(self.test.labels))
        chosen = np.sort(rng.choice(len(self.test.labels), count, replace=False))
        a, b = np.triu_indices(count, 1)
        i, j = chosen[a], chosen[b]
        return i, j, self.test.labels[i] == self.test.labels[j]


def sketch_of_pairs(lifting: Lifting, width: int, seed: int) -> TensorSketch | None:
    """Return the lifting of features of pairs, in the Fourier domain; None for d = 1."""
    if lifting.components is None:
        return None
    sketch = TensorSketch(
        lifting.degree, lifting.components, random_state=seed, domain="fourier", batch_size=32
    )
    return sketch.fit(np.zeros((1, 2 * width), dtype=np.uint8))


def learned_path(
    cells: Cells, pairs: Pairs, lifting: Lifting, sample: str, epochs: int
) -> dict[str, NDArray[Any]]:
    """Return coefficients for all strengths after some readings of the training pairs."""
    s = pairs.settings
    name = f"pairs/{lifting.name}_{sample}"
    key = {**pairs.key(lifting), "sample": sample}
    held = cells.held_arrays(name, key)
    if held is not None and int(held["epochs"]) >= epochs:
        return held
    i, j, y = pairs.training(SAMPLES[sample])
    width = lifting.components or 2 * pairs.v.shape[1]
    sketch = sketch_of_pairs(lifting, pairs.v.shape[1], s.seed)
    batches = PairBatches(pairs.v, i, j, y, batch_size=_BATCH, lifting=sketch)
    strengths = 2.0 ** np.array(s.pair_powers, dtype=float)
    square = float((np.asarray(batches[0][0], dtype=np.float64) ** 2).sum(axis=1).mean())
    path = StreamedPath(strengths, y, width, square, s.seed)
    cost: dict[str, Any] = {}
    if held is not None:
        path.w, path.duals, path.centre = held["w"], held["duals"], held["centre"]
        path.epochs, path.gaps = int(held["epochs"]), held["gaps"]
        cost = {"train_cpu_seconds": float(held["cpu"]), "train_wall_seconds": float(held["wall"])}
    while path.epochs < epochs:
        with clock(cost, "train"):
            path.read(batches, _teller(cells, f"{name}: reading {path.epochs + 1}", len(y)))
        held = {
            "w": path.w,
            "duals": path.duals,
            "centre": path.centre,
            "proximal": path.proximal,
            "epochs": np.array(path.epochs),
            "gaps": path.gaps,
            "cpu": np.array(cost["train_cpu_seconds"]),
            "wall": np.array(cost["train_wall_seconds"]),
        }
        cells.keep_arrays(name, key, held)
    assert held is not None
    return held


def _teller(cells: Cells, what: str, total: int) -> Any:
    told = 0

    def tell(seen: int) -> None:
        nonlocal told
        if seen * 5 // total > told:
            told = seen * 5 // total
            cells.say(f"{what}, {seen:,} of {total:,} pairs")

    return tell


def pair_curves(
    cells: Cells, pairs: Pairs, lifting: Lifting, epochs: int | None = None
) -> dict[str, Any]:
    """Return the errors on test pairs of the measures learned from both samples.

    All pairs of the test images are unstratified; the error on stratified ones is the mean of
    the errors among related and among unrelated pairs.
    """
    s = pairs.settings
    epochs = s.readings(lifting) if epochs is None else epochs
    key = {**pairs.key(lifting), "epochs": epochs, "test_images": s.test_images}
    return cells.numbers(
        f"pairs/{lifting.name}_errors_{epochs}",
        key,
        lambda: _errors(cells, pairs, lifting, epochs),
    )


def _errors(cells: Cells, pairs: Pairs, lifting: Lifting, epochs: int) -> dict[str, Any]:
    learned = {sample: learned_path(cells, pairs, lifting, sample, epochs) for sample in SAMPLES}
    i, j, y = pairs.testing()
    sketch = sketch_of_pairs(lifting, pairs.v.shape[1], pairs.settings.seed)
    batches = PairBatches(pairs.w, i, j, y, batch_size=_BATCH, lifting=sketch)
    theta = np.concatenate([learned[sample]["w"] for sample in SAMPLES]) / LN2
    cost: dict[str, Any] = {}
    wrong = np.zeros((2, len(theta)))
    with clock(cost, "test"):
        for x, targets in batches:
            scores = np.asarray(x, dtype=np.float32) @ theta.astype(np.float32).T
            errors = (scores > 0) != np.asarray(targets)[:, None]
            for related in (0, 1):
                wrong[related] += errors[np.asarray(targets) == related].sum(axis=0)
    counts = np.array([[np.count_nonzero(~y)], [np.count_nonzero(y)]])
    overall, balanced = wrong.sum(axis=0) / len(y), (wrong / counts).mean(axis=0)
    out: dict[str, Any] = {"test_pairs": len(y), **cost}
    strengths = len(pairs.settings.pair_powers)
    for number, sample in enumerate(SAMPLES):
        part = slice(number * strengths, (number + 1) * strengths)
        out[sample] = {
            "powers": list(pairs.settings.pair_powers),
            "epochs": int(learned[sample]["epochs"]),
            "error_unstratified": overall[part].tolist(),
            "error_stratified": balanced[part].tolist(),
            "proximal": learned[sample]["proximal"].tolist(),
            "relative_gaps": learned[sample]["gaps"].tolist(),
            "train_cpu_seconds": float(learned[sample]["cpu"]),
            "train_wall_seconds": float(learned[sample]["wall"]),
        }
    return out
