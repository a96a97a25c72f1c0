"""Learning what levels of similarity are worth, from pairs of records whose entities are known.

Learned from are candidates, random pairs, and pairs inside components of positive pairs, which
`score_missing` asks for later and which are of another kind than candidates. Pairs of a large
entity are many and say much the same: a pair counts the less, the larger its entities are.
The strength of the prior is the one that does best on entities that were not learned from.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from relatum.array_types import Flags, Floats, Index
from relatum.records.comparison import Comparison, Levels, Scale
from relatum.records.level_bits import Weights, tables_of, thermometer

STRENGTHS = (0.1, 1.0, 10.0, 50.0)  # of the prior, tried from the weakest on
TOWARDS = (1.0, 10.0, 100.0, 1000.0)  # of one that draws towards a score learned otherwise
LOUDER = 10.0  # times: the prior, which draws all to nothing, hardly touches that score's share
MOST_PAIRS = 200_000  # that are learned from
MOST_INSIDE = 20_000  # of them, inside components
LARGEST_COMPONENT = 300  # records; of larger ones, pairs inside are drawn from so many


@dataclass(frozen=True, eq=False)
class Examples:
    """Pairs of records whose entities are known.

    Attributes
    ----------
    pairs : int64 array (pairs, 2)
    levels : int8 array (scales, pairs)
    related : bool array (pairs,)
    folds : int64 array (pairs, 2)
        The folds of both entities.
    weight : float64 array (pairs,)
        How much a pair counts.
    extra : float64 array (pairs,) or None
        Bits of a score learned without labels.
    """

    pairs: Index
    levels: Levels
    related: Flags
    folds: Index
    weight: Floats
    extra: Floats | None = None

    def chosen(self, rows: Any) -> Examples:
        """Return some of the pairs."""
        extra = None if self.extra is None else self.extra[rows]
        own = self.pairs[rows], self.levels[:, rows], self.related[rows], self.folds[rows]
        return Examples(*own, self.weight[rows], extra)

    def plus(self, other: Examples) -> Examples:
        """Return both, without bits of a score learned otherwise."""
        return Examples(
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.levels, other.levels], axis=1),
            np.concatenate([self.related, other.related]),
            np.concatenate([self.folds, other.folds]),
            np.concatenate([self.weight, other.weight]),
        )


def examples_of(
    comparison: Comparison, pairs: Index, entity: Index, fold: Index, base: Weights | None = None
) -> Examples:
    """Compare pairs of records of known entities.

    Parameters
    ----------
    comparison : Comparison
    pairs : int64 array (pairs, 2)
    entity, fold : int64 arrays (records,)
    base : Weights, optional
        Learned without labels: their score is one more thing to learn from.
    """
    levels = comparison.levels(pairs[:, 0], pairs[:, 1])
    related = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    extra = None if base is None else base.log_odds(levels)
    return Examples(pairs, levels, related, fold[pairs], weight_of(entity, pairs), extra)


def weight_of(entity: Index, pairs: Index) -> Floats:
    """Return how much pairs count: 1 / sqrt(sizes of both entities), 1 for what is not known.

    All related pairs of an entity together then count half its records, not their square.
    """
    sizes = np.append(np.bincount(entity[entity >= 0]), 1)
    return np.asarray(1 / np.sqrt(sizes[entity[pairs]].prod(axis=1)), dtype=np.float64)


def folds_of(entity: Index, count: int, rng: np.random.Generator) -> Index:
    """Return a fold for each record, the same for all records of an entity; -1 if unknown."""
    number = int(entity.max(initial=-1)) + 1
    sizes = np.bincount(entity[entity >= 0], minlength=number)
    order = rng.permutation(number)
    order = order[np.argsort(-sizes[order], kind="stable")]  # large ones are spread over folds
    fold = np.empty(number, dtype=np.int64)
    fold[order] = np.arange(number) % count
    return np.where(entity >= 0, fold[entity] if number else -1, -1)


def fitted(examples: Examples, scales: Sequence[Scale], strength: float, exact: bool) -> Any:
    """Return a `LogisticMeasure` of levels, and the weights that it gives them.

    Parameters
    ----------
    examples : Examples
    scales : sequence of Scale
    strength : float
        Of the prior, 1 / sigma^2.
    exact : bool
        To the usual precision, rather than what is enough to compare strengths.
    """
    from relatum.measures import LogisticMeasure

    more = {"max_epochs": 500} if exact else {"tol": 1e-3, "max_epochs": 500}
    measure = LogisticMeasure(strength, fit_intercept=True, **more)
    weight = examples.weight / examples.weight.mean()
    with warnings.catch_warnings():  # a measure keeps what it has; here, many more would follow
        warnings.filterwarnings("error", ".*it was interrupted", ConvergenceWarning)
        try:
            return measure.fit(_rows(scales, examples), examples.related.astype(int), weight)
        except ConvergenceWarning as warning:
            if "it was interrupted" not in str(warning):  # somebody takes all warnings for errors
                raise
            raise KeyboardInterrupt from None


def _rows(scales: Sequence[Scale], examples: Examples) -> Any:
    rows = thermometer(scales, examples.levels)
    if examples.extra is None:
        return rows
    return np.column_stack([rows, LOUDER * examples.extra]).astype(np.float32)


def weights_of(measure: Any, scales: tuple[Scale, ...], base: Weights | None) -> Weights:
    """Return the bits of levels that a fitted measure gives, those of `base` included."""
    theta = measure.coef_[0]
    count = sum(len(scale.levels) - 1 for scale in scales)
    tables, intercept = tables_of(scales, theta[:count]), float(measure.intercept_[0])
    if len(theta) == count or base is None:
        return Weights(scales, tables, intercept)
    share = LOUDER * float(theta[count])
    tables = [own + share * more for own, more in zip(tables, base.tables, strict=True)]
    return Weights(scales, tables, intercept + share * base.intercept)


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from examples.

    Attributes
    ----------
    strength : float
    losses : mapping of strengths to bits per pair, on entities not learned from
    by_fold : list of Weights
        Learned without the entities of each fold.
    """

    strength: float
    losses: dict[float, float]
    by_fold: list[Weights]


def learn_by_folds(
    examples: Examples,
    scales: tuple[Scale, ...],
    base: Weights | None,
    strengths: Sequence[float] | None = None,
) -> Learned:
    """Choose the strength of the prior on held-out entities, and learn without each fold."""
    if strengths is None:
        strengths = STRENGTHS if base is None else TOWARDS
    found: dict[float, list[Weights]] = {s: [] for s in strengths}
    lost = {s: np.zeros(2) for s in strengths}  # bits, and what the pairs count
    for fold in range(int(examples.folds.max()) + 1):
        learn = examples.chosen(np.flatnonzero((examples.folds != fold).all(axis=1)))
        judge = examples.chosen(np.flatnonzero((examples.folds == fold).all(axis=1)))
        for strength in strengths:
            weights = weights_of(fitted(learn, scales, strength, False), scales, base)
            bits = weights.log_odds(judge.levels)
            each = np.logaddexp2(0, np.where(judge.related, -bits, bits))
            lost[strength] += judge.weight @ each, judge.weight.sum()
            found[strength].append(weights)
    means = {s: float(bits / max(1e-300, total)) for s, (bits, total) in lost.items()}
    best = min(means, key=lambda s: means[s])
    return Learned(best, means, found[best])


def learnable(examples: Examples) -> bool:
    """Say whether every fold leaves related and unrelated pairs to learn from."""
    for fold in range(int(examples.folds.max(initial=-1)) + 1):
        rest = examples.related[(examples.folds != fold).all(axis=1)]
        if not rest.any() or rest.all():
            return False
    return True


def components(n: int, pairs: Index) -> Index:
    """Return the number of each record's component."""
    graph = sparse.coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def pairs_inside(labels: Index, most: int, rng: np.random.Generator) -> Index:
    """Return pairs of records with the same label, at most about so many, drawn at random."""
    order = np.argsort(labels, kind="stable")
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    found = [np.empty((0, 2), np.int64)]
    for part in np.split(order, cuts):
        if len(part) > 1:
            some = part
            if len(part) > LARGEST_COMPONENT:
                some = rng.choice(part, LARGEST_COMPONENT, replace=False)
            found.append(np.sort(some)[np.column_stack(np.triu_indices(len(some), 1))])
    every = np.concatenate(found)
    if len(every) > most:
        every = every[np.sort(rng.choice(len(every), most, replace=False))]
    return every


def random_pairs(rows: Index, count: int, rng: np.random.Generator) -> Index:
    """Return pairs of different records, the smaller first, drawn at random."""
    pairs: Index = np.sort(rng.choice(rows, size=(count, 2)), axis=1)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]], dtype=np.int64)


def unique_pairs(n: int, *parts: Index) -> Index:
    """Return pairs of all parts, each once."""
    every = np.concatenate(parts)
    keys = np.unique(every[:, 0] * n + every[:, 1])
    return np.column_stack([keys // n, keys % n])
