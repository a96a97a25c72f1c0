"""Clusters of labelled records by weights that were not learned from them.

What the learned weights do on records they have not seen: every pair is scored by weights that
were learned without the entities of either record. One constant, the offset, is added to all
scores, so that the clusters are right and not the pairs: scores learned pair by pair know nothing
of the constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.metrics import pair_precision_recall_f1
from relatum.records.comparison import Comparison, Levels
from relatum.records.level_bits import Weights

if TYPE_CHECKING:
    from relatum.pair_tables import Offset

SEARCH = 5  # iterations per element, of clusters that are only judged
UNLABELLED_OFFSET = 4.0  # bits, of sources without duplicates: candidates exclude each other
SPREAD = 1.0  # bits: how far from it a few labels may draw; hundreds of pairs outvote it


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Scores of pairs by weights learned without either entity.

    Attributes
    ----------
    comparison : Comparison
    by_fold : list of Weights
    fold : int64 array (records,)
        -1 for records that are not labelled.
    """

    comparison: Comparison
    by_fold: Sequence[Weights]
    fold: Index

    def of_levels(self, levels: Levels, i: Index, j: Index) -> Floats:
        """Return bits of pairs whose levels are known."""
        bits = np.stack([weights.log_odds(levels) for weights in self.by_fold])
        pairs = np.arange(len(i))
        return np.asarray((bits[self.fold[i], pairs] + bits[self.fold[j], pairs]) / 2)

    def __call__(self, i: Index, j: Index) -> Floats:
        """Return bits of pairs of rows."""
        return self.of_levels(self.comparison.levels(i, j), i, j)


@dataclass(frozen=True)
class HeldOut:
    """How good clusters of records are that were not learned from.

    Attributes
    ----------
    offset : float
        In bits.
    precision, recall, f1 : float
        Of related pairs.
    spread : float
        Standard deviation of F1 over folds.
    tried : mapping of offsets to F1
    method : str
        What the offset was chosen by: "given", "f1", or "likelihood" of a matching.
    capped : bool
        Whether labels set no limit to the offset.
    """

    offset: float
    precision: float
    recall: float
    f1: float
    spread: float
    tried: dict[float, float]
    method: str = "given"
    capped: bool = False


def clusters_of(
    n: int,
    pairs: Index,
    bits: Floats,
    score: Callable[[Index, Index], Floats],
    background: float,
    groups: Index | None = None,
) -> Index:
    """Return the most probable clusters of records as numbers, one for each of n records."""
    import pyarrow as pa

    from relatum.pair_tables import cluster_pairs

    table = {"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1], "match_weight": bits}
    known = None
    if groups is not None:
        known = pa.table({"unique_id": np.arange(n), "group": groups})
    found = cluster_pairs(
        pa.table(table),
        background=background,
        score_missing=score,
        one_per_group=known,
        threads=1,
        search=SEARCH,
    ).table
    out = np.arange(n)
    out[found["unique_id"].to_numpy()] = found["cluster_id"].to_numpy()
    return out


@dataclass(frozen=True, eq=False)
class Trial:
    """Labelled records, their candidates, and what they are clustered by."""

    scores: OutOfFold
    pairs: Index
    bits: Floats
    entity: Index
    background: float
    groups: Index | None = None

    def clusters(self, offset: float) -> Index:
        """Return clusters of all records, with an offset."""

        def score(i: Any, j: Any) -> Floats:
            return self.scores(np.asarray(i), np.asarray(j)) + offset

        rest = self.bits + offset, score, self.background, self.groups
        return clusters_of(len(self.entity), self.pairs, *rest)

    def learned_offset(self) -> Offset:
        """Return the offset that `relatum.pair_tables` learns from these scores.

        Of two sources, candidates alone are matched, so that the likelihood of a matching can
        choose. Unlabelled records are left out, but count: pairs of labelled records that are
        wrongly related stand for more such pairs, of others.
        """
        from relatum.pair_tables import Search, Settings, best_offset, labelled_part

        i, j = self.pairs.T
        two = self.groups is not None and len(np.unique(self.groups)) == 2
        score = None if two else self.scores
        case = labelled_part(lambda: [(i, j, self.bits)], self.entity, self.groups, score)
        settings = Settings(self.background, search=SEARCH)
        search = Search(expected=UNLABELLED_OFFSET, spread=SPREAD)
        return best_offset(replace(case, settings=settings), search=search)

    def measured(self, clusters: Index, own: Any) -> tuple[float, float, float]:
        """Return precision, recall and F1 of some records."""
        p, r, f = pair_precision_recall_f1(self.entity[own], clusters[own])
        return float(p), float(r), float(f)


def held_out(trial: Trial, offset: float | None) -> HeldOut:
    """Choose the offset, and say how good held-out clusters are with it.

    Parameters
    ----------
    trial : Trial
    offset : float or None
        If given, it is not chosen.
    """
    known = np.flatnonzero(trial.entity >= 0)
    found = trial.learned_offset() if offset is None else None
    best = found.bits if found is not None else float(offset or 0.0)
    clusters = trial.clusters(best)
    p, r, f = trial.measured(clusters, known)
    by_fold = [
        trial.measured(clusters, np.flatnonzero(trial.scores.fold == fold))[2]
        for fold in range(len(trial.scores.by_fold))
    ]
    if found is None:
        return HeldOut(best, p, r, f, float(np.std(by_fold)), {best: f})
    tried = dict(found.curve) if found.method == "f1" else {best: f}
    return HeldOut(best, p, r, f, float(np.std(by_fold)), tried, found.method, found.capped)
