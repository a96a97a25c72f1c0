"""How things stand: how many of everything there are, how good that is, and the list of components.

The table was clustered once; what answers or proofs have changed since is counted anew, and the
list of components in the catalogue is brought up to date when somebody looks at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relatum.pair_tables import Summary, cluster_confidence
from relatum.review.catalogue import Catalogue
from relatum.review.kept import Key, Store
from relatum.review.warm import Solved


@dataclass(frozen=True)
class Numbers:
    """How many of everything there are now, and how good the clusters are."""

    elements: int
    clusters: int
    components: int
    answers: int
    value: float
    bound: float
    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """Bound minus value, in bits."""
        gap = self.bound - self.value
        return gap if gap > 1e-6 * (1 + abs(self.value) * 1e-3) else 0.0


class Standing:
    """How a review stands.

    Parameters
    ----------
    summary : Summary
        Of the clusters as the table gave them.
    catalogue : Catalogue
    store : Store
    """

    def __init__(self, summary: Summary, catalogue: Catalogue, store: Store) -> None:
        self.summary, self.catalogue, self.store = summary, catalogue, store
        self._dirty: set[Key] = set()

    def touched(self) -> list[Solved]:
        """Return all components that answers or proofs touch, as they are now."""
        return [self.store.solved(key) for key in self.store.touched()]

    def value(self) -> float:
        """Return the value of all clusters, in bits."""
        return self.summary.value + sum(s.value - s.base.value for s in self.touched())

    def numbers(self, answers: int) -> Numbers:
        """Return how many of everything there are now."""
        sizes = Counter(self.catalogue.sizes())
        clusters, bound = self.summary.clusters, self.summary.bound
        for s in self.touched():
            before = np.bincount(s.base.labels)
            clusters += s.clusters - len(before)
            bound += s.bound - s.base.bound
            sizes.subtract(Counter(before.tolist()))
            sizes.update(Counter(np.bincount(s.labels).tolist()))
        joined, value = sum(len(key) - 1 for key in self.store.facts), self.value()
        return Numbers(
            self.summary.elements,
            clusters,
            self.summary.components - joined,
            answers,
            value,
            max(value, bound),
            {k: v for k, v in sorted(sizes.items()) if v > 0},
        )

    # --- the list of components

    def note(self, keys: Iterable[Key]) -> None:
        """Note that components are others now, or have other facts."""
        self._dirty |= set(keys)

    def flush(self) -> None:
        """Bring the list of components up to date."""
        roots = {root for key in self._dirty for root in key}
        keys = {self.store.key(root) for root in roots}
        rows = list[tuple[int, dict[str, Any]]]()
        for key in sorted(keys):
            rows += [(root, {"n": 0}) for root in key[1:]]  # the first stands for all
            rows.append((key[0], self._row(key)))
        self._dirty.clear()
        self.catalogue.update(rows)

    def _row(self, key: Key) -> dict[str, Any]:
        solved = self.store.solved(key)
        return {
            "n": solved.base.n,
            "clusters": solved.clusters,
            "gap": solved.gap,
            "sure": self.sure(solved),
            "answers": len(self.store.answers(key)),
        }

    def sure(self, solved: Solved) -> float:
        """Return how sure the least sure cluster of a component is."""
        batch, settings = solved.component().batch(), self.store.origin.settings
        found = cluster_confidence(batch, solved.labels, settings)[0]
        return float(found.min(initial=1.0))
