"""Components that are looked at: fetched from the table, solved, joined where answers join them.

A component is named by its key, the roots of the components of the table that answers join. What
has answers, or was proved, is kept; of all else, what was looked at last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.pair_tables import Component, Origin, batch_of, component_of
from relatum.problem import Partition
from relatum.review.catalogue import spans_of
from relatum.review.facts import Fact
from relatum.review.warm import Base, Solved, Warm

LOOKED_AT = 64  # components without answers, and sets of components, that are kept
Key = tuple[int, ...]  # the roots of the components that answers join


class Store:
    """Components of a table, and the answers within them.

    Parameters
    ----------
    origin : Origin
        Of the clusters.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.order, self.roots, self.starts = spans_of(np.asarray(origin.roots, np.int64))
        self.facts: dict[Key, frozenset[Fact]] = {}
        self._across: dict[int, list[Fact]] = {}  # by root: that elements of two are different
        self.proved: set[Key] = set()  # what was tried to be
        self._keys: dict[int, Key] = {}  # of roots that answers join with others
        self._warms: dict[Key, Warm] = {}
        self._bases: dict[Key, Base] = {}  # of sets of components that are asked about together

    # --- names of components

    def key(self, root: int) -> Key:
        """Return the roots of the components that are one with a component."""
        return self._keys.get(int(root), (int(root),))

    def root(self, element: int) -> int:
        """Return the first of the components that an element's component is one with."""
        if not 0 <= element < len(self.origin.roots):
            raise DataError(f"There is no element {element}.")
        return self.key(int(self.origin.roots[element]))[0]

    def require(self, root: int) -> None:
        """Refuse what is no component."""
        place = int(np.searchsorted(self.roots, root))
        if place >= len(self.roots) or self.roots[place] != root:
            raise DataError(f"There is no component {root}.")

    def elements(self, key: Iterable[int]) -> Index:
        """Return the elements of components, sorted."""
        places = np.searchsorted(self.roots, np.array(list(key)))
        spans = [self.order[self.starts[p] : self.starts[p + 1]] for p in places.tolist()]
        return np.sort(np.concatenate(spans)).astype(np.int64)

    def touched(self) -> list[Key]:
        """Return the components that are not as the table was clustered, or known better."""
        more = {key for key in self.proved if key not in self.facts and self.key(key[0]) == key}
        return [*self.facts, *sorted(more)]

    def answers(self, key: Key) -> list[Fact]:
        """Return the answers about elements of a component, also those about one of another."""
        more = [fact for root in key for fact in self._across.get(root, ())]
        found = {*self.facts.get(key, frozenset()), *more}
        return sorted(found, key=lambda f: (f.action, f.a, f.b))

    # --- what they are

    def solved(self, key: Key, start: Index | None = None) -> Solved:
        """Return a component as it is now."""
        return self.warm(key).solved(self.facts.get(key, frozenset()), start)

    def warm(self, key: Key) -> Warm:
        """Return a component that is solved again and again."""
        self.load([key])
        return self._warms[key]

    def load(self, keys: Sequence[Key], together: Sequence[Key] = ()) -> None:
        """Fetch components, and sets of them, all that are not there yet at once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._warms]
        sets = [key for key in dict.fromkeys(together) if key not in self._bases]
        if not missing and not sets:
            return
        roots = {root for key in (*missing, *sets) for root in key}
        inside = self.elements(sorted(roots))
        whole = self.origin.access.component(self.origin, inside)
        for key, base in self._parts(missing, inside, whole):
            self._warms[key] = Warm(base)
        for key, base in self._parts(sets, inside, whole):
            self._bases[key] = base
        self._drop(missing, sets)

    def _parts(
        self, keys: list[Key], inside: Index, whole: Component
    ) -> Iterable[tuple[Key, Base]]:
        """Yield components of what was fetched; sets of them may overlap, and are few."""
        while keys:
            taken: set[int] = set()
            now, later = list[Key](), list[Key]()
            for key in keys:
                (later if taken & set(key) else now).append(key)
                taken |= set(key)
            yield from self._disjoint(now, inside, whole)
            keys = later

    def _disjoint(
        self, keys: list[Key], inside: Index, whole: Component
    ) -> Iterable[tuple[Key, Base]]:
        owner = np.full(len(inside), len(keys))
        for k, key in enumerate(keys):
            owner[np.searchsorted(inside, self.elements(key))] = k
        pairs = whole.i, whole.j, whole.log_odds
        batch, order = batch_of(owner, pairs, _fixed(whole), whole.groups)  # type: ignore[arg-type]
        names, gaps = self.origin.ids(inside), self.origin.whole["cluster_gap"]
        codes = self.origin.whole["cluster_id"].take(inside).combine_chunks()
        clusters = codes.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        for k, key in enumerate(keys):
            own = order[batch.element_ptr[k] : batch.element_ptr[k + 1]]
            labels = Partition(np.asarray(clusters, np.int64)[own]).labels
            gap = float(gaps.take(np.array(key)).to_numpy().sum())
            ids = [names[place] for place in own.tolist()]
            part = component_of(batch, k)
            yield key, Base(inside[own], ids, part, labels, gap, self.origin.settings)

    def _drop(self, kept: list[Key], sets: list[Key]) -> None:
        """Forget components without answers that were looked at long ago."""
        busy = {*self.facts, *self.proved, *kept}
        idle = [key for key in self._warms if key not in busy]
        for key in idle[: max(0, len(idle) - LOOKED_AT)]:
            del self._warms[key]
        old = [key for key in self._bases if key not in sets]
        for key in old[: max(0, len(old) - LOOKED_AT)]:
            del self._bases[key]

    def together(self, roots: Sequence[int], facts: Iterable[Fact]) -> Solved:
        """Return components side by side as they are now: one problem, with pairs between them.

        Parameters
        ----------
        roots : sequence of int
            Components; with each, all that are one with it.
        facts : iterable of Fact
            All that is known; what is about other elements is left out.
        """
        keys = list(dict.fromkeys(self.key(root) for root in roots))
        if len(keys) == 1:
            return self.solved(keys[0])
        every = tuple(sorted({root for key in keys for root in key}))
        self.load([key for key in keys if key in self.facts], [every])
        base = self._bases[every]
        labels, used = base.labels + base.n, 0
        for key in keys:
            if key in self.facts or key in self.proved:
                solved = self.solved(key)
                labels[np.searchsorted(base.elements, solved.base.elements)] = solved.labels + used
                used += solved.clusters
        found = Partition(labels).labels
        own = frozenset(f for f in facts if base.holds(f.a) and base.holds(f.b))
        value = base.problem.value(Partition(found))
        return Solved(base, own, found, value, value + base.gap)

    # --- what changes

    def regroup(self, facts: Sequence[Fact]) -> list[Key]:
        """Take other facts; return the components whose facts, or elements, are others now.

        Parameters
        ----------
        facts : sequence of Fact
            Answers that hold together, oldest first.
        """
        roots = self.origin.roots
        ends = [(int(roots[f.a]), int(roots[f.b]), f) for f in facts]
        keys = _joined([(a, b) for a, b, f in ends if f.same and a != b])
        found: dict[Key, set[Fact]] = {}
        across: dict[int, list[Fact]] = {}
        for a, b, fact in ends:
            key = keys.get(a, (a,))
            if key == keys.get(b, (b,)):
                found.setdefault(key, set()).add(fact)
            else:
                across.setdefault(a, []).append(fact)
                across.setdefault(b, []).append(fact)
        now = {key: frozenset(own) for key, own in found.items()}
        changed = [k for k in {*now, *self.facts} if now.get(k) != self.facts.get(k)]
        gone = [key for key in self.facts if key not in now]
        before = {root: self.solved(key) for key in gone for root in key}
        self._keys, self.facts, self._across = keys, now, across
        self.load([key for key in changed if key in now])
        for key in changed:
            if key in now and len(key) > 1:
                self.solved(key, self._start(key, before))
        return changed

    def _start(self, key: Key, before: dict[int, Solved]) -> Index | None:
        """Return the clusters that joined components had before they were joined."""
        warm = self.warm(key)
        base = warm.base
        if warm.last is not None:
            return None
        labels, used = np.empty(base.n, np.int64), 0
        for root in key:
            solved = before.get(root)
            if solved is None and (root,) in self._warms:
                solved = self.solved((root,))
            own = self.elements((root,))
            places = np.searchsorted(base.elements, own)
            if solved is None:
                labels[places] = used + base.labels[places]
            else:
                labels[places] = used + solved.labels[np.searchsorted(solved.base.elements, own)]
            used = int(labels[places].max()) + 1
        return Partition(labels).labels


def _fixed(component: Component) -> Index:
    yes, no = (np.asarray(x, np.int64).reshape(-1, 2) for x in
               (component.related, component.unrelated))  # fmt: skip
    return np.column_stack([np.concatenate([yes, no]), np.repeat([1, 0], [len(yes), len(no)])])


def _joined(pairs: Sequence[tuple[int, int]]) -> dict[int, Key]:
    """Return the sets of roots that pairs join, by each of their roots."""
    sets: dict[int, set[int]] = {}
    for a, b in pairs:
        one = sets.get(a, {a}) | sets.get(b, {b})
        for root in one:
            sets[root] = one
    return {root: tuple(sorted(one)) for root, one in sets.items()}
