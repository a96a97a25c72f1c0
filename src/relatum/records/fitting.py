"""How a linker is fitted: with labels, with a few of them, or without.

Without labels, or with too few to hold any out, levels are worth what a mixture says (`mixture`).
With labels a logistic measure learns it (`training`). Where labelled entities are not many, the
score of the mixture is one more thing that it learns from, so that labels correct the mixture only
as far as held-out entities confirm it: the prior draws to the mixture, not to nothing, and
that of the offset to the one that is taken without labels. And where
most records have none, what the mixture is sure of about labelled records and others counts
as known: labelled records alone are few, and so less like each other than all are.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import BlockingWarning, CalibrationWarning, DataError
from relatum.problem import UNSCORED, real_number, shown, switch, whole_number
from relatum.records import training
from relatum.records.blocking import Candidates, candidates, caught_twice, key_codes
from relatum.records.comparison import Comparison, Levels
from relatum.records.fields import checked_fields
from relatum.records.held_out import UNLABELLED_OFFSET, HeldOut, OutOfFold, Trial, held_out
from relatum.records.intake import Records, arrow_table, read_records
from relatum.records.level_bits import Weights
from relatum.records.link_report import LinkReport
from relatum.records.linking import Scorer, cluster_records
from relatum.records.mixture import (
    Mixture,
    categories,
    first_guess,
    learn_mixture,
    sizes_of,
    weights_of_mixture,
)

FOLDS = 3
NEIGHBORS = (10, 20, 40)  # tried in turn, until enough true pairs are candidates
ENOUGH = 0.9  # of true pairs
BACKGROUND = UNSCORED  # bits; all pairs of a component are scored, unless it is very large
FEW = 20  # related pairs, below which none are held out
MANY = 100  # entities of several records, from which on the mixture has nothing to add
SURE = 3.0  # bits, of a mixture that knows the labels
DIFFER = 0.8  # of matches that differ in a field: more, and they are hardly matches
MIXTURE_PAIRS = 500_000  # that a mixture is learned from
Monitor = Callable[[str, int, int], Any]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What fitting finds."""

    weights: Weights
    offset: float
    background: float
    measure: Any
    report: LinkReport


class Run:
    """One call of fit or predict: settings checked, stages timed."""

    def __init__(self, linker: Any, monitor: Monitor | None) -> None:
        self.fields = checked_fields(linker.fields)
        for name in ("source", "id"):
            value = getattr(linker, name)
            if value is not None and not isinstance(value, str):
                raise DataError(f"{name}= is the name of a column, got {shown(value)}.")
        if switch(linker.one_per_source, "one_per_source", DataError) and linker.source is None:
            raise DataError("one_per_source=True needs source=, the column of sources.")
        if isinstance(linker.keys, str) or not isinstance(linker.keys, Sequence):
            raise DataError(f"keys= is a list of keys, got {shown(linker.keys)}.")
        if linker.neighbors != "auto":
            whole_number(linker.neighbors, "neighbors", error=DataError)
        if linker.offset != "learned":
            real_number(linker.offset, 'offset, in bits or "learned",', DataError)
        whole_number(linker.random_state, "random_state", least=0, error=DataError)
        if monitor is not None and not callable(monitor):
            raise DataError(f"monitor is a function, got {type(monitor).__name__}.")
        self.linker, self.monitor = linker, monitor
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell the monitor of a stage, and measure what it takes of the processor."""
        if self.monitor is not None:
            self.monitor(name, 0, 0)
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start

    def read(self, records: Any) -> tuple[Any, Records]:
        """Return a table of records, and what is compared of it."""
        with self.stage("read"):
            table = arrow_table(records)
            return table, read_records(table, self.fields, self.linker.id, self.linker.source)

    def block(self, comparison: Comparison, table: Any, neighbors: int) -> Candidates:
        """Return the candidates."""
        with self.stage("block"):
            keys = key_codes(table, self.linker.keys)
            rest = neighbors, keys, bool(self.linker.one_per_source)
            return candidates(comparison.records, comparison.frequencies, *rest)

    def clusters(
        self, records: Any, scorer: Scorer, pairs: Index, bits: Floats, options: dict[str, Any]
    ) -> Any:
        """Return clusters, in a table of the kind that the records came in."""
        from relatum.pair_tables import in_kind_of

        apart = bool(self.linker.one_per_source)
        with self.stage("cluster"):
            found = cluster_records(scorer, pairs, bits, apart, options)
        table = in_kind_of(records, found.table)
        return replace(found, table=table, contributions=scorer.contributions)


def fit_records(run: Run, comparison: Comparison, table: Any, entity: Index) -> Fitted:
    """Learn from records of which some, all or none have a known entity.

    Parameters
    ----------
    run : Run
    comparison : Comparison
    table : Arrow table
    entity : int64 array (records,)
        -1 where it is not known.
    """
    if not (entity >= 0).any():
        return _fit_unlabelled(run, comparison, table, entity)
    _require_related(entity, comparison.records.source_codes if run.linker.one_per_source else None)
    found, recall, neighbors = _enough_candidates(run, comparison, table, entity)
    known = np.flatnonzero(entity >= 0)
    report = LinkReport(
        "labels",
        len(entity),
        len(known),
        len(np.unique(entity[known])),
        len(found),
        neighbors,
        recall,
    )
    rng = np.random.default_rng(run.linker.random_state)
    fold = training.folds_of(entity, FOLDS, rng)
    with run.stage("compare"):
        examples = _first_examples(run, comparison, found, entity, fold, rng)
    related = int(examples.related.sum())
    if related < FEW or not training.learnable(examples):
        weights, share = _mixture(run, comparison, found, entity)
        offset = _given_offset(run)
        report = replace(report, learned_from="labels and records", examples=len(found))
        report = replace(report, related=share, offset=offset, background=BACKGROUND)
        report = replace(report, among=len(entity))
        return Fitted(weights, offset, BACKGROUND, None, report)
    base = None
    if np.count_nonzero(np.bincount(entity[known]) > 1) < MANY:
        base = _mixture(run, comparison, found, np.full(len(entity), -1))[0]
        if 2 * len(known) < len(entity) and not run.linker.one_per_source:
            sure = _mixture(run, comparison, found, entity)[0]
            examples = _with_neighbors(comparison, found, entity, fold, (examples, sure))
    return _fit_labelled(run, comparison, found, (entity, fold), (examples, base), report)


def _first_examples(
    run: Run,
    comparison: Comparison,
    found: Candidates,
    entity: Index,
    fold: Index,
    rng: np.random.Generator,
) -> training.Examples:
    """Return labelled candidates, and as many random pairs."""
    pairs = found.pairs[(entity[found.pairs] >= 0).all(axis=1)]
    some = _some(pairs, training.MOST_PAIRS // 2, rng)
    others = training.random_pairs(np.flatnonzero(entity >= 0), len(some), rng)
    source = comparison.records.source_codes
    if run.linker.one_per_source and source is not None:
        others = others[source[others[:, 0]] != source[others[:, 1]]]
    every = training.unique_pairs(len(entity), some, others)
    return training.examples_of(comparison, every, entity, fold)


def _with_neighbors(
    comparison: Comparison,
    found: Candidates,
    entity: Index,
    fold: Index,
    known: tuple[training.Examples, Weights],
) -> training.Examples:
    """Add pairs of a labelled record and another, if a mixture is sure of them."""
    examples, mixture = known
    ends = entity[found.pairs] >= 0
    pairs = found.pairs[ends.sum(axis=1) == 1]
    levels = comparison.levels(pairs[:, 0], pairs[:, 1])
    bits = mixture.log_odds(levels)
    sure = np.abs(bits) > SURE
    folds = np.repeat(fold[pairs[sure]].max(axis=1)[:, None], 2, axis=1)  # of the labelled one
    weight = training.weight_of(entity, pairs[sure])
    more = training.Examples(pairs[sure], levels[:, sure], bits[sure] > 0, folds, weight)
    return examples.plus(more)


def _fit_labelled(
    run: Run,
    comparison: Comparison,
    found: Candidates,
    known: tuple[Index, Index],
    first: tuple[training.Examples, Weights | None],
    report: LinkReport,
) -> Fitted:
    scales, (entity, fold), (examples, base) = comparison.scales, known, first
    n, rng = len(entity), np.random.default_rng([run.linker.random_state, 1])
    pairs = found.pairs[(entity[found.pairs] >= 0).all(axis=1)]
    with run.stage("learn"):
        if base is not None:
            examples = replace(examples, extra=base.log_odds(examples.levels))
        learned = training.learn_by_folds(examples, scales, base)
    with run.stage("compare"):
        bits = OutOfFold(comparison, learned.by_fold, fold)(pairs[:, 0], pairs[:, 1])
        inside = training.components(n, pairs[bits > 0])
        inside = training.pairs_inside(inside, training.MOST_INSIDE, rng)
        inside = inside[~np.isin(inside @ [n, 1], examples.pairs @ [n, 1])]
        more = training.examples_of(comparison, inside, entity, fold)
        examples = examples.plus(more)
        if base is not None:
            examples = replace(examples, extra=base.log_odds(examples.levels))
    with run.stage("learn"):
        learned = training.learn_by_folds(examples, scales, base)
        measure = training.fitted(examples, scales, learned.strength, True)
        weights = training.weights_of(measure, scales, base)
    with run.stage("calibrate"):
        scores = OutOfFold(comparison, learned.by_fold, fold)
        best, background = _calibrated(run, scores, pairs, entity)
    report = replace(
        report,
        learned_from="labels" if base is None else "labels and records",
        examples=len(examples.related),
        related=int(examples.related.sum()),
        strength=learned.strength,
        offset=best.offset,
        among=n,
        background=background,
        precision=best.precision,
        recall=best.recall,
        f1=best.f1,
        spread=best.spread,
        offsets=best.tried,
    )
    return Fitted(weights, best.offset, background, measure, report)


def _fit_unlabelled(run: Run, comparison: Comparison, table: Any, entity: Index) -> Fitted:
    asked = run.linker.neighbors
    neighbors = NEIGHBORS[0] if asked == "auto" else int(asked)
    found = run.block(comparison, table, neighbors)
    source = comparison.records.source_codes
    if run.linker.one_per_source and source is not None and not source.any():
        raise DataError(
            "All records are of one source, and with one_per_source=True only records of different "
            "sources are compared; check source=, or leave one_per_source out."
        )
    if not len(found):
        raise DataError(
            "No two records have a word or three letters in common, so that there is nothing to "
            "learn from; check fields=."
        )
    weights, share = _mixture(run, comparison, found, entity, warn=True)
    offset = _given_offset(run)
    bits = Scorer(comparison, weights, 0.0).of_rows(found.pairs[:, 0], found.pairs[:, 1])
    recall = caught_twice(1 / (1 + np.exp2(-np.clip(bits, -60, 60))), found.by)
    if recall < ENOUGH:
        _warn_of(recall, "probable pairs")
    report = LinkReport("records", len(entity), 0, 0, len(found), neighbors, recall)
    report = replace(report, examples=len(found), related=share, offset=offset, among=len(entity))
    return Fitted(weights, offset, BACKGROUND, None, replace(report, background=BACKGROUND))


def _given_offset(run: Run) -> float:
    if run.linker.offset != "learned":
        return float(run.linker.offset)
    return UNLABELLED_OFFSET if run.linker.one_per_source else 0.0


def _mixture(
    run: Run, comparison: Comparison, found: Candidates, entity: Index, warn: bool = False
) -> tuple[Weights, int]:
    """Return what levels are worth by a mixture, and how many candidates match by it."""
    rng, scales = np.random.default_rng([run.linker.random_state, 2]), comparison.scales
    with run.stage("compare"):
        pairs = _some(found.pairs, MIXTURE_PAIRS, rng)
        levels: Levels = comparison.levels(pairs[:, 0], pairs[:, 1])
    with run.stage("learn"):
        a, b = entity[pairs].T
        known = np.where((a >= 0) & (b >= 0), a == b, -1).astype(np.int8)
        start = first_guess(scales, levels, pairs)
        ends = pairs if run.linker.one_per_source else None
        mixture = learn_mixture(categories(scales, levels), sizes_of(scales), start, known, ends)
    if warn:
        _warn_of_differences(mixture, comparison)
    return weights_of_mixture(mixture, scales), round(mixture.share * len(found))


def _warn_of_differences(mixture: Mixture, comparison: Comparison) -> None:
    """Warn if pairs taken for matches mostly differ in a field, as those of a household do."""
    other = zip(comparison.fields, mixture.m, strict=True)
    differ = [name for name, shares in other if shares[0] > DIFFER]
    if differ:
        warnings.warn(
            f"Pairs that look most like matches mostly differ in {', '.join(differ)}: they may be "
            "of one household or the like, and no two records of one entity. Label some records, "
            "or leave out the fields that they have in common.",
            CalibrationWarning,
            stacklevel=6,
        )


def _calibrated(run: Run, scores: OutOfFold, pairs: Index, entity: Index) -> tuple[HeldOut, float]:
    """Choose offset and background on held-out clusters."""
    linker = run.linker
    bits = scores(pairs[:, 0], pairs[:, 1])
    groups = scores.comparison.records.source_codes if linker.one_per_source else None
    trial = Trial(scores, pairs, bits, entity, BACKGROUND, groups)
    given = None if linker.offset == "learned" else float(linker.offset)
    best = held_out(trial, given)
    if best.capped:
        warnings.warn(
            f"Labels set no limit to the offset, which is {best.offset:+.3g} bits here: nearly "
            "every labelled record may have a partner. Give offset= if others may have none.",
            CalibrationWarning,
            stacklevel=5,
        )
    most = _given_offset(run)
    if given is None and best.offset > most and 2 * np.count_nonzero(entity >= 0) < len(entity):
        best = held_out(trial, most)  # labelled records alone are too few to be mistaken for others
    return best, BACKGROUND


def _enough_candidates(
    run: Run, comparison: Comparison, table: Any, entity: Index
) -> tuple[Candidates, float, int]:
    """Return candidates, the share of true pairs among them, and how many neighbors they took."""
    asked = run.linker.neighbors
    sizes = np.bincount(entity[entity >= 0])
    true = int((sizes * (sizes - 1) // 2).sum())
    for neighbors in NEIGHBORS if asked == "auto" else (int(asked),):
        found = run.block(comparison, table, neighbors)
        a, b = entity[found.pairs].T
        recall = float(np.count_nonzero((a == b) & (a >= 0)) / true)
        if recall >= ENOUGH:
            break
    if recall < ENOUGH:
        _warn_of(recall, "true pairs of labelled records")
    return found, recall, neighbors


def _warn_of(recall: float, which: str) -> None:
    warnings.warn(
        f"Only {recall:.0%} of the {which} are candidates: others are found only if a third record "
        "links them. Give keys= that true pairs share, or more neighbors=.",
        BlockingWarning,
        stacklevel=5,
    )


def _some(pairs: Index, most: int, rng: np.random.Generator) -> Index:
    if len(pairs) <= most:
        return pairs
    return pairs[np.sort(rng.choice(len(pairs), most, replace=False))]


def _require_related(entity: Index, source: Index | None) -> None:
    """Raise `DataError` if labels relate no two records, of two sources where these are apart."""
    sizes = np.bincount(entity[entity >= 0])
    if not (sizes > 1).any():
        raise DataError(
            "No two records have the same entity, so that there is nothing to learn from; label "
            "more records, or none: fit(records) learns without labels."
        )
    if source is None:
        return
    known = np.flatnonzero(entity >= 0)
    pairs = np.unique(np.column_stack([entity[known], source[known]]), axis=0)
    if not (np.bincount(pairs[:, 0]) > 1).any():
        raise DataError(
            "No two records of different sources have the same entity, and with "
            "one_per_source=True only such are compared; check source= and the labels, or leave "
            "one_per_source out."
        )
