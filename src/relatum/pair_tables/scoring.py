"""Pairs that nobody scored: what labelled elements say of them, and how to score them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import BlockingWarning, DataError
from relatum.pair_tables.options import Tuning

Batch = tuple[NDArray[np.integer], NDArray[np.integer], Floats]  # ends of pairs, and their bits


@dataclass(frozen=True, eq=False)
class PairScorer:
    """A measure and the features of records, as a callable for `score_missing`.

    Parameters
    ----------
    measure : fitted measure
        A measure of elements such as `BilinearPairMeasure`, or one of the features that
        `combine` makes.
    ids : sequence
        The id of each row of `features`; (source, id) where there are sources.
    features : array (records, features)
    combine : callable (rows, rows) -> features of pairs, optional
        `relatum.pair_features` by default, for 01-features.

    Examples
    --------
    >>> import relatum as rt
    >>> import numpy as np
    >>> x = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]])
    >>> i, j, y = rt.sample_pairs([0, 0, 1, 1], 6, random_state=0)
    >>> measure = rt.LogisticMeasure().fit(rt.pair_features(x[i], x[j]), y)
    >>> score = rt.PairScorer(measure, ["a", "b", "c", "d"], x)
    >>> score(["a", "a"], ["b", "c"]).shape
    (2,)
    """

    measure: Any
    ids: Sequence[Any]
    features: Any
    combine: Any = None

    def __call__(self, left: Sequence[Any], right: Sequence[Any]) -> Floats:
        """Return the log-odds of pairs of ids, in bits."""
        number = {id_: k for k, id_ in enumerate(_plain(self.ids))}
        try:
            a = np.array([number[x] for x in _plain(left)], dtype=np.int64)
            b = np.array([number[x] for x in _plain(right)], dtype=np.int64)
        except KeyError as error:
            raise DataError(
                f"PairScorer has no features of the record {error.args[0]!r}; give it every record "
                "that the table of pairs names."
            ) from None
        out = np.empty(len(a))
        step = Tuning.scorer_pairs
        for s in range(0, len(a), step):
            part = slice(s, s + step)
            out[part] = self._log_odds(a[part], b[part])
        return out

    def _log_odds(self, a: Index, b: Index) -> Any:
        # scikit-learn behind both takes longer to import than most tables to cluster
        from relatum.features import pair_features
        from relatum.measures import ElementPairMeasure

        if isinstance(self.measure, ElementPairMeasure):
            rows, both = np.unique(np.concatenate([a, b]), return_inverse=True)
            return self.measure.log_odds(self.features[rows], both[: len(a)], both[len(a) :])
        combine = pair_features if self.combine is None else self.combine
        return self.measure.log_odds(combine(self.features[a], self.features[b]))


def _plain(ids: Any) -> list[Any]:
    return ids.tolist() if hasattr(ids, "tolist") else list(ids)


def _n_pairs(counts: NDArray[Any]) -> int:
    counts = counts.astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def block_recall(batches: Iterable[Batch], labels: Index) -> float:
    """Return the share of true pairs, of labelled elements, that are listed; warn below 0.9.

    Parameters
    ----------
    batches : iterable of (i, j, bits)
        The listed pairs.
    labels : int64 array (n,)
        -1 for elements without a label.
    """
    true = _n_pairs(np.bincount(labels[labels >= 0]))
    if true == 0:
        return math.nan
    listed = 0
    for i, j, _ in batches:
        listed += int(np.count_nonzero((labels[i] >= 0) & (labels[i] == labels[j])))
    recall = min(1.0, listed / true)
    warn_of_recall(recall, stacklevel=7)  # whoever called cluster_pairs
    return recall


def warn_of_recall(recall: float, stacklevel: int) -> None:
    """Warn if many true pairs were not scored."""
    if recall < 0.9:
        warnings.warn(
            f"Only {recall:.0%} of the true pairs of labelled elements were scored: a background "
            "tells true pairs that nobody scored apart from nothing. Score them with "
            "score_missing=, or block less strictly.",
            BlockingWarning,
            stacklevel=stacklevel,
        )


def learned_background(batches: Iterable[Batch], labels: Index, total: int | None = None) -> float:
    """Return the log-odds of pairs that are not listed although a third element links them.

    Only such pairs matter: a background decides whether two elements that are linked to a
    third one belong together. Pairs of labelled elements are counted. Whole entities may have
    been labelled, so that a partner in one's own entity is more often labelled than another:
    true pairs are divided by the share of likely partners, by their scores, that have a label,
    and false ones by the share of all elements. Labelled entities, or elements, should be a
    random choice. False pairs are counted at the upper end of what chance allows: few labels
    give a background too low rather than too high, which would join what it should not.
    `total` is the number of all elements, if `labels` has only some of them.

    Returns
    -------
    float
        At most 0, the bits of "as likely as not".
    """
    from scipy.sparse import coo_array  # slow to import, and only needed here

    chosen = _enough(labels)
    n = len(chosen)
    if not n:
        raise DataError(
            "A background is learned from elements with labels, and no element of the table has "
            "one; give labels of its ids, or the background as a number of bits."
        )
    number = np.full(len(labels), -1, dtype=np.int64)
    number[chosen] = np.arange(n)
    rows: list[Any] = [np.empty((0, 2), np.int64)]
    listed: list[Any] = [np.empty(0, np.int64)]
    partners = np.zeros(2)  # how many likely partners have a label, and how many there are
    for i, j, w in batches:
        for a, b in ((i, j), (j, i)):
            own = number[a] >= 0
            known, bits = number[b[own]] >= 0, w[own]
            likely = 1 / (1 + np.exp2(-np.clip(bits, -60, 60)))
            partners += likely[known].sum(), likely.sum()
            rows.append(np.column_stack([number[a[own]], b[own]])[bits > 0])
        both = (number[i] >= 0) & (number[j] >= 0)
        ends = np.sort(number[np.column_stack([i[both], j[both]])], axis=1)
        listed.append(ends[:, 0] * n + ends[:, 1])
    ends = np.concatenate(rows)
    shape = (n, len(labels))
    graph = coo_array((np.ones(len(ends), np.int32), (ends[:, 0], ends[:, 1])), shape=shape).tocsr()
    near = (graph @ graph.T).tocoo()
    upper = near.row < near.col
    keys = near.row[upper].astype(np.int64) * n + near.col[upper]
    keys = np.setdiff1d(keys, np.concatenate(listed))
    same = labels[chosen[keys // n]] == labels[chosen[keys % n]]
    true, false = int(np.count_nonzero(same)), int(np.count_nonzero(~same))
    own, other = (partners[0] + 0.5) / (partners[1] + 0.5), n / max(1, total or len(labels))
    most = false + 2 * math.sqrt(false) + 2
    return min(0.0, math.log2((true + 0.5) / own) - math.log2(most / other))


def _enough(labels: Index) -> Index:
    """Return labelled elements, whole entities, at most about `Tuning.labelled_elements`."""
    chosen, most = np.flatnonzero(labels >= 0), Tuning.labelled_elements
    if len(chosen) <= most:
        return chosen
    few = np.random.default_rng(0).random(int(labels.max()) + 1) < most / len(chosen)
    return chosen[few[labels[chosen]]]  # at random: neighbours are as rare as others


def pairwise_f1(clusters: Index, labels: Index) -> float:
    """Return the F1 of related pairs among labelled elements."""
    own = labels >= 0
    c = np.unique(clusters[own], return_inverse=True)[1]
    t = np.unique(labels[own], return_inverse=True)[1]
    both = np.unique(c * (t.max(initial=0) + 1) + t, return_counts=True)[1]
    related, true = _n_pairs(np.bincount(c)), _n_pairs(np.bincount(t))
    return 2 * _n_pairs(both) / max(1, related + true)
