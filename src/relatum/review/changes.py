"""What changed: clusters before and after, set by set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from relatum.review.warm import Solved


@dataclass(frozen=True)
class Change:
    """Clusters that became other clusters.

    Attributes
    ----------
    before, after : tuple of tuples of int
        Clusters, as elements.
    """

    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]

    @property
    def kind(self) -> str:
        """Joined, split, or moved."""
        if len(self.after) == 1:
            return "joined"
        return "split" if len(self.before) == 1 else "moved"


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of some elements: of the components that answers touch, and of all others.

    Attributes
    ----------
    elements : set of int
    solved : mapping of keys to Solved
    base : callable (elements) -> mapping of elements to clusters
        How the table was clustered.
    """

    elements: set[int]
    solved: Mapping[Any, Solved]
    base: Callable[[set[int]], dict[int, Any]]

    def clusters(self) -> dict[int, Any]:
        """Return the cluster of each element."""
        out: dict[int, Any] = {}
        for key, solved in self.solved.items():
            for element, label in zip(
                solved.base.elements.tolist(), solved.labels.tolist(), strict=True
            ):
                if element in self.elements:
                    out[element] = (key, label)
        rest = {e for e in self.elements if e not in out}
        return out | (self.base(rest) if rest else {})


def changes_between(before: Clustering, after: Clustering) -> list[Change]:
    """Return the clusters that are not the same sets before and after.

    Parameters
    ----------
    before, after : Clustering
        Of the same elements, whole components.
    """
    was, now = before.clusters(), after.clusters()
    sets = [_sets(labels) for labels in (was, now)]
    gone = {s for s in sets[0] if s not in set(sets[1])}
    new = {s for s in sets[1] if s not in set(sets[0])}
    out, left = [], sorted({e for s in gone for e in s})
    where = [{e: s for s in kind for e in s} for kind in (gone, new)]
    seen: set[int] = set()
    for element in left:
        if element in seen:
            continue
        todo, inside = [element], {element}
        while todo:
            here = todo.pop()
            for kind in where:
                fresh = set(kind.get(here, ())) - inside
                inside |= fresh
                todo += sorted(fresh)
        seen |= inside
        pair = [tuple(sorted({kind[e] for e in inside if e in kind})) for kind in where]
        out.append(Change(pair[0], pair[1]))
    return out


def _sets(labels: Mapping[int, Any]) -> list[tuple[int, ...]]:
    members: dict[Any, list[int]] = {}
    for element in sorted(labels):
        members.setdefault(labels[element], []).append(element)
    return [tuple(own) for own in members.values()]
