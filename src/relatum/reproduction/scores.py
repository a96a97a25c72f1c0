"""Log-odds of all pairs of test images, under the measures that clustering is done with."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.datasets import Digits
from relatum.features import count_pairs, sample_pairs
from relatum.measures import LN2, BilinearPairMeasure
from relatum.problem import condensed_places
from relatum.reproduction.all_pairs import PairForm, triangle_rows
from relatum.reproduction.cells import Cells, clock
from relatum.reproduction.pairs import Pairs, learned_path, sketch_of_pairs
from relatum.reproduction.settings import Settings

_PARTS = 20  # cells that the scores of all pairs are computed in


def measure_key(settings: Settings, images: int) -> dict[str, Any]:
    """Return all that the log-odds of pairs of test images depend on."""
    return {
        "lifting": settings.measure.name,
        "pairs": settings.pairs,
        "epochs": settings.pair_epochs,
        "powers": [settings.stratified_power, settings.unstratified_power],
        "seed": settings.seed,
        "images": images,
    }


def sketch_scores(cells: Cells, pairs: Pairs, sample: str) -> dict[str, NDArray[Any]]:
    """Return the log-odds of all pairs of test images, for the measure of one sample.

    The terms that cost most are computed in parts, each of them a cell.

    Returns
    -------
    dict
        "scores", the upper triangle row by row; "cpu", the processor seconds spent.
    """
    key = {**measure_key(pairs.settings, len(pairs.test.labels)), "sample": sample}
    return cells.arrays(f"scores/{sample}", key, lambda: _whole(cells, pairs, sample, key))


def _whole(cells: Cells, pairs: Pairs, sample: str, key: dict[str, Any]) -> dict[str, NDArray[Any]]:
    order = np.argsort(pairs.w.sum(axis=1), kind="stable")  # fewest bits first
    v = np.asfortranarray(pairs.w[order].astype(np.float32))
    forms = Forms(cells, pairs)
    n, cpu = len(v), 0.0
    square = np.zeros((n, n), dtype=np.float32)
    for number, rows in enumerate(_parts(n)):
        part = cells.arrays(
            f"scores/{sample}_{number}",
            {**key, "rows": [rows.start, rows.stop]},
            lambda rows=rows: _part(forms(sample), v, rows),  # type: ignore[misc]
        )
        cpu += float(part["cpu"])
        _place(part["scores"], rows, order, square)
    cost: dict[str, Any] = {}
    with clock(cost, "score"):
        a, b = np.triu_indices(n, 1)
        # a pair was placed on one side of the diagonal, whichever its order was
        scores = square[a, b] + square[b, a]
        del square
        scores += forms(sample).bilinear(pairs.w)[a, b]
    return {"scores": scores, "cpu": np.array(cpu + cost["score_cpu_seconds"])}


def _parts(n: int) -> list[range]:
    """Ranges of rows with about equally many pairs."""
    ends = n - n * np.sqrt(1.0 - np.arange(_PARTS + 1) / _PARTS)
    edges = np.unique(ends.round().astype(int))
    return [range(a, b) for a, b in itertools.pairwise(edges)]


class Forms:
    """The forms of the measures of both samples, made when first asked for."""

    def __init__(self, cells: Cells, pairs: Pairs) -> None:
        self._cells, self._pairs = cells, pairs
        self._made: dict[str, PairForm] = {}

    def __call__(self, sample: str) -> PairForm:
        s = self._pairs.settings
        if sample not in self._made:
            sketch = sketch_of_pairs(s.measure, self._pairs.v.shape[1], s.seed)
            assert sketch is not None
            powers = {"stratified": s.stratified_power, "unstratified": s.unstratified_power}
            learned = learned_path(self._cells, self._pairs, s.measure, sample, s.pair_epochs)
            theta = learned["w"][s.pair_powers.index(powers[sample])] / LN2
            self._made[sample] = PairForm(sketch, theta)
        return self._made[sample]

    def log_odds(self, sample: str, chosen: NDArray[np.intp]) -> Floats:
        """Return the log-odds of the pairs of some test images: the upper triangle."""
        return self(sample).log_odds(self._pairs.w[np.sort(chosen)])


def _part(form: PairForm, v: NDArray[np.float32], rows: range) -> dict[str, NDArray[Any]]:
    cost: dict[str, Any] = {}
    with clock(cost, "score"):
        found = triangle_rows(form, v, rows)
    return {"scores": found, "cpu": np.array(cost["score_cpu_seconds"])}


def _place(
    values: NDArray[np.float32],
    rows: range,
    order: NDArray[np.intp],
    out: NDArray[np.float32],
) -> None:
    """Write the values of sorted rows with later rows to where their elements belong."""
    begin = 0
    for first in rows:
        end = begin + len(order) - first - 1
        out[order[first], order[first + 1 :]] = values[begin:end]
        begin = end


def bilinear_scores(
    cells: Cells, settings: Settings, train: Digits, test: Digits, name: str = "bilinear"
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Return the log-odds of all test images under the bilinear measure, and how it did."""
    key = {"pairs": settings.pairs, "seed": settings.seed, "images": len(test.labels)}

    def learn() -> dict[str, NDArray[Any]]:
        related, total = count_pairs(train.labels)
        count = min(settings.pairs, 2 * min(related, total - related))  # as many of either kind
        i, j, y = sample_pairs(train.labels, count, stratified=True, random_state=settings.seed)
        cost: dict[str, Any] = {}
        with clock(cost, "train"):
            measure = BilinearPairMeasure(settings.bilinear_strength, tol=1e-2)
            measure.fit(train.images, i, j, y)
        with clock(cost, "score"):
            scores = measure.all_log_odds(test.images)
        costs = {name: np.array(value) for name, value in cost.items()}
        return {"scores": np.asarray(scores, dtype=np.float32), **costs}

    found = cells.arrays(f"scores/{name}", key, learn)
    report = {key: float(value) for key, value in found.items() if key != "scores"}
    errors = pair_errors(found["scores"], test.labels)
    report |= {f"error_{sample}": error for sample, error in errors.items()}
    return found["scores"], report


def pair_errors(scores: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """Return the share of all pairs that are classified wrongly one by one."""
    a, b = np.triu_indices(len(labels), 1)
    same = labels[a] == labels[b]
    wrong = (scores > 0) != same
    balanced = (wrong[same].mean() + wrong[~same].mean()) / 2
    return {"unstratified": float(wrong.mean()), "stratified": float(balanced)}


def condensed_subset(scores: NDArray[Any], n: int, chosen: NDArray[np.intp]) -> Floats:
    """Return the log-odds of the pairs of some of `n` elements, from those of all pairs."""
    some = np.sort(chosen)
    i, j = np.triu_indices(len(some), 1)
    return np.asarray(scores[condensed_places(some[i], some[j], n)], dtype=np.float64)
