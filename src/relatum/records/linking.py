"""Records scored and clustered: candidates, their log-odds, and the most probable clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.problem import shown
from relatum.records.comparison import CHUNK, Comparison
from relatum.records.intake import Records
from relatum.records.level_bits import Weights

TWINS = 500  # records with the same values, from which on they are taken for one at once


@dataclass(frozen=True, eq=False)
class Scorer:
    """Log-odds of pairs of records, with an offset.

    Attributes
    ----------
    comparison : Comparison
    weights : Weights
    offset : float
        Bits added to every score.
    """

    comparison: Comparison
    weights: Weights
    offset: float

    @property
    def records(self) -> Records:
        """The records that it knows."""
        return self.comparison.records

    def of_rows(self, i: Index, j: Index, told: Callable[[int, int], Any] | None = None) -> Floats:
        """Return bits of pairs of rows, in parts that fit into memory."""
        out = np.empty(len(i))
        for start in range(0, len(i), CHUNK):
            part = slice(start, start + CHUNK)
            levels = self.comparison.levels(i[part], j[part])
            out[part] = self.weights.log_odds(levels) + self.offset
            if told is not None:
                told(min(start + CHUNK, len(i)), len(i))
        return out

    @cached_property
    def _row_of(self) -> dict[Any, int]:
        return {self.records.id_of(row): row for row in range(len(self.records))}

    def rows(self, ids: Any) -> Index:
        """Return the rows of ids: (source, id) where ids are unique within sources only."""
        import pyarrow as pa
        import pyarrow.compute as pc

        records = self.records
        if records.within_sources or len(ids) < 100:
            return np.array([self.row(x) for x in _plain(ids)], dtype=np.int64)
        found = pc.index_in(pa.array(ids).cast(records.ids.type), value_set=records.ids)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)

    def row(self, id_: Any) -> int:
        """Return the row of one id."""
        try:
            return self._row_of[id_]
        except (KeyError, TypeError):
            raise DataError(
                f"There is no record with the id {shown(id_)}; ids are such as "
                f"{shown(self.records.id_of(0)) if len(self.records) else 'those given'}."
            ) from None

    def __call__(self, left: Any, right: Any) -> Floats:
        """Return bits of pairs of ids."""
        return self.of_rows(self.rows(left), self.rows(right))

    def contributions(self, left: Any, right: Any) -> list[tuple[str, str, float]]:
        """Return what speaks for and against a pair of ids: field, levels, and bits.

        The last two are what every pair begins with, and the offset; all bits add up to the score.
        """
        i, j = np.array([self.row(left)]), np.array([self.row(right)])
        levels = self.comparison.levels(i, j)[:, 0].tolist()
        found = self.weights.contributions(levels)
        found.append(("(any pair)", "", self.weights.intercept))
        return [*found, ("(offset)", "", self.offset)] if self.offset else found


def _plain(ids: Any) -> list[Any]:
    return ids.tolist() if hasattr(ids, "tolist") else list(ids)


def pair_table(records: Records, pairs: Index, bits: Floats) -> Any:
    """Return scored pairs as `relatum.cluster_pairs` takes them.

    Records without any candidate are listed as pairs with themselves, so that they are clusters
    of their own.
    """
    import pyarrow as pa

    alone = np.ones(len(records), np.bool_)
    alone[pairs.ravel()] = False
    lone = np.flatnonzero(alone)
    left, right = (np.concatenate([pairs[:, k], lone]) for k in (0, 1))
    name = records.id_name
    columns: dict[str, Any] = {}
    if records.within_sources:
        columns["source_dataset_l"] = records.sources.take(pa.array(left))
        columns["source_dataset_r"] = records.sources.take(pa.array(right))
    columns[f"{name}_l"] = records.ids.take(pa.array(left))
    columns[f"{name}_r"] = records.ids.take(pa.array(right))
    columns["match_weight"] = np.concatenate([bits, np.zeros(len(lone))])
    return pa.table(columns)


def groups_of(records: Records) -> Any:
    """Return what `one_per_group` takes for records with at most one of each source."""
    import pyarrow as pa

    if records.within_sources:
        return "source_dataset"
    return pa.table({records.id_name: records.ids, "group": records.sources})


def twins_of(scorer: Scorer) -> list[tuple[Any, Any]]:
    """Return chains, pairs of ids, through records with the same values, where these are very many.

    They are related to all others alike. So, if their own score is positive, some most probable
    clustering has them in one cluster; and their pairs are too many to be scored one by one.
    """
    records = scorer.records
    codes = np.column_stack([column.codes for column in records.columns.values()])
    given = np.flatnonzero((codes >= 0).any(axis=1))
    number, sizes = np.unique(codes[given], axis=0, return_inverse=True, return_counts=True)[1:]
    out = []
    for many in np.flatnonzero(sizes >= TWINS).tolist():
        rows = given[number.ravel() == many]
        if scorer.of_rows(rows[:1], rows[1:2])[0] > 0:
            ids = [records.id_of(row) for row in rows.tolist()]
            out += list(pairwise(ids))
    return out


def _with_twins(evidence: Any, twins: list[tuple[Any, Any]]) -> Any:
    """Return evidence with twins as related; that of a table is left as it is."""
    if not twins or not (evidence is None or isinstance(evidence, Mapping)):
        return evidence
    known = {} if evidence is None else dict(evidence)
    if known.get("unrelated"):  # which may concern twins
        return evidence
    return {**known, "related": [*known.get("related", ()), *twins]}


def cluster_records(
    scorer: Scorer, pairs: Index, bits: Floats, apart: bool, options: Mapping[str, Any]
) -> Any:
    """Return the most probable `Clusters` of records.

    Parameters
    ----------
    scorer : Scorer
    pairs, bits : candidates, and their scores
    apart : bool
        At most one record of each source in a cluster.
    options : mapping
        For `relatum.cluster_pairs`.
    """
    from relatum.pair_tables import cluster_pairs

    records = scorer.records
    if not apart:
        options = {**options, "evidence": _with_twins(options.get("evidence"), twins_of(scorer))}
    return cluster_pairs(
        pair_table(records, pairs, bits),
        score_missing=scorer,
        one_per_group=groups_of(records) if apart else None,
        left=f"{records.id_name}_l",
        right=f"{records.id_name}_r",
        **options,
    )
