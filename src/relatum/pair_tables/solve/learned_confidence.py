"""How sure clusters are, learned from labels: how often those that seemed so sure were right.

By the scores alone, clusters seem too sure: what one score gets wrong, its neighbours get wrong,
too, and entities may be torn apart before pairs are scored. A cluster whose elements all have
labels can be judged: it is right if they are of one entity, and no other element is of it. From
such clusters a logistic map is learned, from the log-odds that the scores gave, and whether the
cluster is a single element. Its prior is that the scores are right: few labels change little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relatum.array_types import Flags, Floats, Index

SUREST = 1e-9  # confidences nearer to 0 or 1 count as this one: sums of scores go far beyond
_USUAL = np.array([0.0, 1.0, 0.0])  # constant, slope, constant of single elements: nothing changed
_SPREAD = np.array([2.0, 0.5, 2.0])  # how far from these they may well be, in nats


class Judged(NamedTuple):
    """Clusters all of whose elements have labels, by their smallest element."""

    first: Index
    single: Flags
    right: Flags


def judged_clusters(first: Index, labels: Index) -> Judged:
    """Say which clusters can be judged by labels, and which of them are right.

    Parameters
    ----------
    first : int64 array (n,)
        The smallest element of each element's cluster.
    labels : int64 array (n,)
        True entities; -1 for elements without a label.
    """
    n, known = len(first), labels >= 0
    sizes = np.bincount(first, minlength=n)
    whole = (sizes > 0) & (np.bincount(first[known], minlength=n) == sizes)
    mixed = np.bincount(first[labels != labels[first]], minlength=n) > 0
    entity = np.bincount(labels[known], minlength=1)
    found = np.flatnonzero(whole)
    right = ~mixed[found] & (sizes[found] == entity[labels[found]])
    return Judged(found, sizes[found] == 1, right)


def learned_confidence(confidence: Floats, first: Index, labels: Index) -> tuple[Floats, int]:
    """Return confidences as labels teach them, and how many clusters could be judged.

    Parameters
    ----------
    confidence : float array (n,)
        Of each element's cluster, by the scores alone.
    first, labels : int64 arrays (n,)
        As of `judged_clusters`.
    """
    judged = judged_clusters(first, labels)
    if not len(judged.first):
        return confidence, 0
    map_ = _fitted(_features(confidence[judged.first], judged.single), judged.right)
    single = np.bincount(first, minlength=len(first))[first] == 1
    return 1.0 / (1.0 + np.exp(-_features(confidence, single) @ map_)), len(judged.first)


def _features(confidence: Floats, single: Flags) -> Floats:
    p = np.clip(confidence, SUREST, 1.0 - SUREST)
    odds = np.log(p) - np.log1p(-p)
    return np.column_stack([np.ones(len(odds)), odds, single])


def _fitted(x: Floats, right: Flags) -> Floats:
    """Return the most probable map; its slope is not negative, so that no order is turned."""
    from scipy.optimize import minimize  # not before it is needed: it takes long to import
    from scipy.special import expit

    sign = np.where(right, 1.0, -1.0)

    def cost(map_: Floats) -> tuple[float, Floats]:
        away = (map_ - _USUAL) / _SPREAD
        margin = sign * (x @ map_)
        value = np.logaddexp(0.0, -margin).sum() + 0.5 * (away @ away)
        return float(value), away / _SPREAD - x.T @ (sign * expit(-margin))

    free = (None, None)
    found = minimize(cost, _USUAL, jac=True, method="L-BFGS-B", bounds=[free, (0.0, None), free])
    return np.asarray(found.x)
