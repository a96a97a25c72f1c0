"""From tables of records to clusters in one estimator."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from relatum.array_types import Floats, Index
from relatum.errors import BlockingWarning, DataError, NotFittedError
from relatum.problem import real_number, shown, switch, whole_number
from relatum.records import training
from relatum.records.blocking import Candidates, candidates, key_codes
from relatum.records.comparison import Comparison
from relatum.records.fields import checked_fields
from relatum.records.held_out import HeldOut, OutOfFold, Trial, held_out
from relatum.records.intake import Records, arrow_table, entity_codes, read_records
from relatum.records.level_bits import Weights
from relatum.records.link_report import LinkReport
from relatum.records.linking import Scorer, cluster_records
from relatum.records.vectors import Frequencies

FOLDS = 3
NEIGHBORS = (10, 20, 40)  # tried in turn, until enough true pairs are candidates
ENOUGH = 0.9  # of true pairs
BACKGROUND = -4.0  # bits, where no labels tell
Monitor = Callable[[str, int, int], Any]


@dataclass(eq=False, repr=False)
class RecordLinker(BaseEstimator):  # type: ignore[misc]
    """Find out which records of a table are of the same entity.

    Pairs of records that are worth comparing are compared field by field. What levels of
    similarity are worth is learned, from records of known entities or without any, and the most
    probable clusters are inferred.

    Parameters
    ----------
    fields : mapping of str to str
        Columns to compare, and their kinds: "text", "name", "exact", "number", "date" or "words".
    source : str, optional
        Column that says where a record comes from.
    one_per_source : bool
        Sources hold no duplicates: no cluster has two records of one source.
    id : str, optional
        Column of ids; by default ``unique_id`` or ``id``, or else the number of the row. Ids may
        be unique within sources only.
    keys : sequence
        Records that share a key are compared, too: names of columns, tuples of names, or
        functions from a record, as a dictionary, to a key.
    neighbors : int or "auto"
        How many of the nearest records, by letters and by words, each is compared with. "auto":
        10; if labels tell that more than a tenth of the true pairs are missed, 20 or 40.
    offset : float or "learned"
        Bits added to all scores; learned from labels so that held-out clusters are right.
    prove : bool
        Prove optimality of clusters, spending up to `time_limit` seconds on a component.
    time_limit : float
    memory_limit : str or int
        For clustering, see `relatum.cluster_pairs`.
    random_state : int
        Of the choice of folds and of random pairs.

    Attributes
    ----------
    weights_ : Weights
        Bits of the levels of every field.
    offset_, background_ : float
    neighbors_ : int
    frequencies_ : mapping
        How often letters, words and values occurred.
    report_ : LinkReport
        Block recall, held-out precision, recall and F1, and what was chosen; print it.

    Examples
    --------
    >>> import relatum as rt
    >>> people = rt.datasets.load_people(200)
    >>> linker = rt.RecordLinker({"given_name": "name", "surname": "name", "born": "date"})
    >>> found = linker.fit(people.records, people.entity).predict(people.records)
    """

    fields: Any = None
    _: KW_ONLY
    source: str | None = None
    one_per_source: bool = False
    id: str | None = None
    keys: Sequence[Any] = ()
    neighbors: int | Literal["auto"] = "auto"
    offset: float | Literal["learned"] = "learned"
    prove: bool = False
    time_limit: float = 60.0
    memory_limit: str | int = "2GB"
    random_state: int = 0

    def __sklearn_tags__(self) -> Any:
        """Say that arrays of numbers are not what it takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def fit(
        self, records: Any, entity: Any = None, *, monitor: Monitor | None = None
    ) -> RecordLinker:
        """Learn what similarities of fields are worth.

        Parameters
        ----------
        records : table
            pandas, polars or pyarrow table, DuckDB relation, or path of CSV or Parquet files.
        entity : one label per record, or the name of a column, optional
            None or NaN for records whose entity is not known.
        monitor : callable (stage, done, total), optional

        Returns
        -------
        self : RecordLinker
        """
        run = _Run(self, monitor)
        table, own = run.read(records)
        known = entity_codes(entity, table, len(own))
        if len(own) < 2:
            raise DataError(f"At least two records are needed to learn from, got {len(own)}.")
        with run.stage("vectors"):
            comparison = Comparison(own, {})
            frequencies = comparison.frequencies
        found = _fit_labelled(run, comparison, table, known)
        self.weights_, self.offset_, self.background_ = (
            found.weights,
            found.offset,
            found.background,
        )
        self.neighbors_, self.measure_ = found.report.neighbors, found.measure
        self.frequencies_: dict[str, Frequencies] = dict(frequencies)
        self.fields_ = dict(self.fields)
        self.report_ = replace(found.report, seconds=dict(run.seconds))
        return self

    def predict(
        self,
        records: Any,
        *,
        evidence: Any = None,
        previous: Any = None,
        certificate: Any = None,
        output: Any = None,
        monitor: Monitor | None = None,
    ) -> Any:
        """Return the most probable clusters of records.

        Parameters
        ----------
        records : table
            With the columns of the table that was learned from.
        evidence, previous, certificate, output
            As for `relatum.cluster_pairs`: ids known to be related or not, earlier clusters, and
            files to write.
        monitor : callable (stage, done, total), optional

        Returns
        -------
        Clusters
        """
        self._require_fitted()
        run = _Run(self, monitor)
        table, own = run.read(records)
        comparison = Comparison(own, self.frequencies_)
        scorer = Scorer(comparison, self.weights_, self.offset_)
        found = run.block(comparison, table, self.neighbors_)
        with run.stage("compare"):
            told = None if monitor is None else lambda done, of: monitor("compare", done, of)
            bits = scorer.of_rows(found.pairs[:, 0], found.pairs[:, 1], told)
        options = {"evidence": evidence, "previous": previous, "certificate": certificate}
        options |= {"output": output, "monitor": monitor, "background": self.background_}
        options |= {"prove": self.prove, "time_limit": self.time_limit}
        options |= {"memory_limit": self.memory_limit}
        return run.clusters(records, scorer, found.pairs, bits, options)

    def fit_predict(self, records: Any, entity: Any = None) -> Any:
        """Learn from records and return their clusters."""
        return self.fit(records, entity).predict(records)

    def explain_pair(self, records: Any, left: Any, right: Any) -> list[tuple[str, str, float]]:
        """Return what speaks for and against a pair of records: field, levels, and bits.

        Parameters
        ----------
        records : table
        left, right : ids
            (source, id) where ids are unique within sources only.
        """
        self._require_fitted()
        own = _Run(self, None).read(records)[1]
        scorer = Scorer(Comparison(own, self.frequencies_), self.weights_, self.offset_)
        return scorer.contributions(left, right)

    def _require_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise NotFittedError("This RecordLinker is not fitted yet: call its fit method.")


@dataclass(frozen=True, eq=False)
class _Fitted:
    weights: Weights
    offset: float
    background: float
    measure: Any
    report: LinkReport


class _Run:
    """One call of fit or predict: settings checked, stages timed."""

    def __init__(self, linker: RecordLinker, monitor: Monitor | None) -> None:
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
        return replace(found, table=in_kind_of(records, found.table))


def _fit_labelled(run: _Run, comparison: Comparison, table: Any, entity: Index) -> _Fitted:
    linker, scales = run.linker, comparison.scales
    n, rng = len(entity), np.random.default_rng(linker.random_state)
    known = np.flatnonzero(entity >= 0)
    _require_related(entity)
    fold = training.folds_of(entity, FOLDS, rng)
    found, recall, neighbors = _enough_candidates(run, comparison, table, entity)
    own = (entity[found.pairs] >= 0).all(axis=1)
    pairs = found.pairs[own]
    with run.stage("compare"):
        some = _some(pairs, training.MOST_PAIRS // 2, rng)
        others = training.random_pairs(known, len(some), rng)
        if linker.one_per_source and comparison.records.source_codes is not None:
            source = comparison.records.source_codes
            others = others[source[others[:, 0]] != source[others[:, 1]]]
        every = training.unique_pairs(n, some, others)
        examples = training.examples_of(comparison, every, entity, fold)
    _require_learnable(examples)
    with run.stage("learn"):
        first = training.learn_by_folds(examples, scales, None)
    scores = OutOfFold(comparison, first.by_fold, fold)
    with run.stage("compare"):
        bits = scores(pairs[:, 0], pairs[:, 1])
        inside = training.components(n, pairs[bits > 0])
        inside = training.pairs_inside(inside, training.MOST_INSIDE, rng)
        every = training.unique_pairs(n, every, inside)
        examples = training.examples_of(comparison, every, entity, fold)
    with run.stage("learn"):
        learned = training.learn_by_folds(examples, scales, None)
        measure = training.fitted(examples, scales, learned.strength, True)
        weights = training.weights_of(measure, scales, None)
    scores = OutOfFold(comparison, learned.by_fold, fold)
    with run.stage("calibrate"):
        best, background = _calibrated(run, scores, pairs, entity)
    report = LinkReport(
        "labels",
        n,
        len(known),
        len(np.unique(entity[known])),
        len(found),
        neighbors,
        recall,
        len(every),
        int(examples.related.sum()),
        learned.strength,
        best.offset,
        background,
        best.precision,
        best.recall,
        best.f1,
        best.spread,
        best.tried,
    )
    return _Fitted(weights, best.offset, background, measure, report)


def _calibrated(run: _Run, scores: OutOfFold, pairs: Index, entity: Index) -> tuple[HeldOut, float]:
    """Choose offset and background on held-out clusters."""
    linker = run.linker
    bits = scores(pairs[:, 0], pairs[:, 1])
    groups = scores.comparison.records.source_codes if linker.one_per_source else None
    trial = Trial(scores, pairs, bits, entity, BACKGROUND, groups)
    given = None if linker.offset == "learned" else float(linker.offset)
    return held_out(trial, given), BACKGROUND


def _enough_candidates(
    run: _Run, comparison: Comparison, table: Any, entity: Index
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
        warnings.warn(
            f"Only {recall:.0%} of the true pairs of labelled records are candidates: others are "
            "found only if a third record links them. Give keys= that true pairs share, or more "
            "neighbors=.",
            BlockingWarning,
            stacklevel=4,
        )
    return found, recall, neighbors


def _some(pairs: Index, most: int, rng: np.random.Generator) -> Index:
    if len(pairs) <= most:
        return pairs
    return pairs[np.sort(rng.choice(len(pairs), most, replace=False))]


def _require_related(entity: Index) -> None:
    sizes = np.bincount(entity[entity >= 0])
    if not (sizes > 1).any():
        raise DataError(
            "No two records have the same entity, so that there is nothing to learn from; label "
            "more records, or none: fit(records) learns without labels."
        )


def _require_learnable(examples: training.Examples) -> None:
    if not training.learnable(examples):
        raise DataError(
            "Too few of the labelled records are of the same entity, or of different ones, to "
            "learn from; label more of them."
        )
