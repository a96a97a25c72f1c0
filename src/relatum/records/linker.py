"""From tables of records to clusters in one estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from relatum.errors import DataError, NotFittedError
from relatum.live import line, silence
from relatum.problem import shown
from relatum.records.comparison import Comparison, scales_of
from relatum.records.fitting import Monitor, Run, fit_records
from relatum.records.intake import entity_codes
from relatum.records.level_bits import Weights
from relatum.records.link_report import LinkReport
from relatum.records.linking import Scorer
from relatum.records.vectors import Frequencies


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
        Bits added to all scores; learned from labels so that held-out clusters are right. Where
        more records are linked than were learned from, a learned one falls by a quarter of a bit
        for each doubling, as chance look-alikes grow with the number of records.
    prove : bool
        Prove optimality of clusters, spending up to `time_limit` seconds on all of them.
    time_limit : float
    memory_limit : str or int
        For clustering, see `relatum.cluster_pairs`.
    random_state : int
        Of the choice of folds and of random pairs.

    Attributes
    ----------
    tables_, intercept_ : list of float64 arrays, float
        Bits of the levels of every scale, and of any pair; `weights_` puts them together.
    offset_, background_ : float
    neighbors_ : int
    measure_ : LogisticMeasure or None
        None if it was learned without labels, or with too few.
    fields_ : dict
    counted_, told_ : dict
        What `frequencies_` and `report_` are made of.

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
        with silence(monitor is not None), line("learning", True) as shown:
            return self._fit(records, entity, shown.say if monitor is None else monitor)

    def _fit(self, records: Any, entity: Any, monitor: Monitor) -> RecordLinker:
        run = Run(self, monitor)
        table, own = run.read(records)
        known = entity_codes(entity, table, len(own))
        if len(own) < 2:
            raise DataError(f"At least two records are needed to learn from, got {len(own)}.")
        with run.stage("vectors"):
            comparison = Comparison(own, {})
            frequencies = comparison.frequencies
        found = fit_records(run, comparison, table, known)
        # plain values and arrays, which model files can hold; properties make more of them
        self.tables_ = [np.asarray(bits) for bits in found.weights.tables]
        self.intercept_ = found.weights.intercept
        self.offset_, self.background_ = found.offset, found.background
        self.neighbors_, self.measure_ = found.report.neighbors, found.measure
        self.counted_ = {k: (f.places, f.counts, f.total) for k, f in frequencies.items()}
        self.fields_ = dict(run.fields)
        self.told_ = asdict(replace(found.report, seconds=dict(run.seconds)))
        return self

    @property
    def weights_(self) -> Weights:
        """Bits of the levels of every field."""
        self._require_fitted()
        return Weights(scales_of(self.fields_), self.tables_, self.intercept_)

    @property
    def frequencies_(self) -> dict[str, Frequencies]:
        """How often letters, words and values occurred."""
        self._require_fitted()
        return {key: Frequencies(*counted) for key, counted in self.counted_.items()}

    @property
    def report_(self) -> LinkReport:
        """What was learned and how good it is; print it."""
        self._require_fitted()
        return LinkReport(**self.told_)

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
        options = {"evidence": evidence, "previous": previous, "certificate": certificate}
        options["output"] = output
        with silence(monitor is not None), line("linking") as shown:
            return self._predict(records, options, shown.say if monitor is None else monitor)

    def _predict(self, records: Any, options: dict[str, Any], monitor: Monitor) -> Any:
        run = self._run(monitor)
        table, own = run.read(records)
        comparison = Comparison(own, self.frequencies_)
        scorer = Scorer(comparison, self.weights_, self._offset(len(own)))
        found = run.block(comparison, table, self.neighbors_)
        with run.stage("compare"):
            told = partial(monitor, "compare")
            bits = scorer.of_rows(found.pairs[:, 0], found.pairs[:, 1], told)
        options |= {"monitor": monitor, "background": self.background_}
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
        own = self._run(None).read(records)[1]
        scorer = Scorer(Comparison(own, self.frequencies_), self.weights_, self._offset(len(own)))
        return scorer.contributions(left, right)

    def _run(self, monitor: Monitor | None) -> Run:
        """Return a call of a fitted linker, with the fields that it was fitted to."""
        self._require_fitted()
        run = Run(self, monitor)
        if run.fields != self.fields_:
            raise DataError(
                f"This linker was fitted to the fields {shown(self.fields_)}, and fields= is now "
                f"{shown(run.fields)}: call its fit method again."
            )
        run.fields = self.fields_  # in the order in which levels were learned
        return run

    def _offset(self, records: int) -> float:
        """Return the offset for so many records; one that was given is left as it is."""
        return self.report_.shifted(records) if self.offset == "learned" else self.offset_

    def _require_fitted(self) -> None:
        if not hasattr(self, "tables_"):
            raise NotFittedError("This RecordLinker is not fitted yet: call its fit method.")
