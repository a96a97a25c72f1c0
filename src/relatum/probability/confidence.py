"""How probable what a relation says of each element is."""

from __future__ import annotations

import numpy as np

from relatum.array_types import Floats
from relatum.errors import ProblemError
from relatum.probability.posterior import Posterior
from relatum.problem import PartialMap, Partition, Relation, WeakOrder, shown


def confidence_in(posterior: Posterior, relation: Relation) -> Floats:
    """Return a probability per element, or per related pair of a relation of no compact kind.

    See `Probabilities.confidence`.
    """
    if isinstance(relation, Partition):
        return _of_sets(posterior, relation)
    if isinstance(relation, PartialMap):
        return _of_images(posterior, relation)
    if isinstance(relation, WeakOrder):
        n = len(relation.ranks)
        if posterior.ranks is not None and len(np.unique(relation.ranks)) == n:
            return posterior.ranks[np.arange(n), relation.ranks]
        return _of_ranks(posterior, relation)
    if not isinstance(relation, Relation):
        raise ProblemError(
            f"A relation is one such as relatum.Partition(labels), got {shown(relation)}."
        )
    pairs = relation.pairs()
    return posterior.marginals.pairs(pairs[:, 0], pairs[:, 1])[0]


def _of_sets(posterior: Posterior, partition: Partition) -> Floats:
    """Return the probability that the set of an element is exactly right."""
    if posterior.sets is None:
        raise ProblemError(
            "Partitions have sets with probabilities in clusterings (EQUIVALENCES); give a "
            "relation of the problem's kind."
        )
    return posterior.sets(partition.sets())[partition.labels]


def _of_images(posterior: Posterior, relation: PartialMap) -> Floats:
    """Return the probability of an element's image; of none, what all images leave."""
    p = np.empty(len(relation.labels))
    has = np.flatnonzero(relation.labels >= 0)
    p[has] = posterior.marginals.pairs(has, relation.labels[has])[0]
    columns = np.arange(relation.shape[1])
    for a in np.flatnonzero(relation.labels < 0):
        own = posterior.marginals.pairs(np.full(len(columns), a), columns)[0]
        p[a] = max(0.0, 1.0 - float(own.sum()))
    return p


def _of_ranks(posterior: Posterior, order: WeakOrder) -> Floats:
    """Return the mean, over the others, of the probability that the two stand as they do."""
    n = len(order.ranks)
    i, j = np.divmod(np.arange(n * n), n)
    p = posterior.marginals.pairs(i, j)[0].reshape(n, n)
    first = order.ranks[:, None] < order.ranks[None, :]
    tied = order.ranks[:, None] == order.ranks[None, :]
    # a before b: b is not related to a; tied: both are related
    stands = np.where(first, 1.0 - p.T, np.where(tied, p + p.T - 1.0, 1.0 - p))
    np.fill_diagonal(stands, 0.0)
    return stands.sum(axis=1) / max(1, n - 1) if n > 1 else np.ones(1)
