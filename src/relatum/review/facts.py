"""What answers say together: which of them hold, and which contradict earlier ones.

Answers are taken in the order in which they were given. One that, with those before it, leaves no
clustering is set aside, and the answers that it contradicts are named: a shortest chain of "same"
and at most one "different". Taking back any one of them resolves it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from relatum.problem import EQUIVALENCES, Problem, at_most, evidence, object_array, one_per_group
from relatum.proof import find_conflict


@dataclass(frozen=True)
class Fact:
    """An answer about two elements, by their numbers.

    Attributes
    ----------
    a, b : int
    same : bool
    action : int
        0 for what was known before any answer.
    who : str
    """

    a: int
    b: int
    same: bool
    action: int = 0
    who: str = ""


@dataclass(frozen=True)
class Contradiction:
    """An answer that was set aside, and the answers that leave no room for it.

    Attributes
    ----------
    fact : Fact
        What was set aside.
    against : tuple of Fact
        Empty if properties, such as one record per source, rule it out alone.
    """

    fact: Fact
    against: tuple[Fact, ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that contradict each other, the one that was set aside last."""
        return (*self.against, self.fact)

    def elements(self) -> list[int]:
        """Return the elements that it is about."""
        return sorted({end for fact in self.facts for end in (fact.a, fact.b)})

    def sentence(self, names: dict[int, Any], groups: Any = None, cap: int | None = None) -> str:
        """Say what contradicts what, as `relatum.infer` would."""
        own = self.elements()
        place = {element: k for k, element in enumerate(own)}
        ends = {
            same: [(place[f.a], place[f.b]) for f in self.facts if f.same == same]
            for same in (True, False)
        }
        feasible = EQUIVALENCES & evidence(related=ends[True], unrelated=ends[False])
        if groups is not None:
            codes = [int(groups[e]) if groups[e] >= 0 else -1 - k for k, e in enumerate(own)]
            feasible = feasible & one_per_group(codes)
        if cap is not None and cap < len(own):
            feasible = feasible & at_most(cap)
        problem = Problem.from_pairs([], [], [], n=len(own), feasible=feasible)
        problem.ids = object_array([names[element] for element in own])
        found = find_conflict(problem)
        if found is not None:
            return found.message
        return "No clustering is allowed that these answers leave."


@dataclass(eq=False)
class Ledger:
    """Facts that hold together, as sets of elements that are the same.

    Attributes
    ----------
    groups : integer array or None
        No set holds two elements of one group; -1 for elements in no group.
    cap : int or None
        The largest set allowed.
    """

    groups: Any = None
    cap: int | None = None
    held: list[Fact] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    _parent: dict[int, int] = field(default_factory=dict)
    _members: dict[int, list[int]] = field(default_factory=dict)
    _links: dict[int, list[tuple[int, Fact]]] = field(default_factory=dict)
    _apart: dict[int, dict[int, Fact]] = field(default_factory=dict)  # set: other set: why

    def add(self, facts: Iterable[Fact]) -> None:
        """Take facts, one after the other; set aside what contradicts those before it."""
        for fact in facts:
            against = self._against(fact)
            if against is not None:
                self.contradictions.append(Contradiction(fact, self._needed(fact, against)))
                continue
            self.held.append(fact)
            (self._join if fact.same else self._part)(fact)

    def find(self, element: int) -> int:
        """Return the element that stands for all that are the same."""
        root = element
        while self._parent.get(root, root) != root:
            root = self._parent[root]
        while self._parent.get(element, element) != root:
            self._parent[element], element = root, self._parent[element]
        return root

    def members(self, element: int) -> list[int]:
        """Return all elements that are the same as one."""
        return self._members.get(self.find(element), [element])

    def _against(self, fact: Fact) -> tuple[Fact, ...] | None:
        """Return the facts that leave no room for one; None if there is room."""
        a, b = self.find(fact.a), self.find(fact.b)
        if not fact.same:
            return self._chain(fact.a, fact.b) if a == b else None
        if a == b:
            return None
        why = self._apart.get(a, {}).get(b)
        if why is not None:
            ends = (why.a, why.b) if self.find(why.a) == a else (why.b, why.a)
            return (*self._chain(fact.a, ends[0]), *self._chain(ends[1], fact.b), why)
        return self._broken_rule(fact)

    def _needed(self, fact: Fact, against: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Drop facts one by one while the rest still leaves no room; rules may decide alone."""
        if self.groups is None and self.cap is None:
            return against  # a shortest chain
        for out in against:
            less = Ledger(self.groups, self.cap)
            rest = tuple(f for f in against if f != out)
            if less._against_all([*rest, fact]):
                against = rest
        return against

    def _against_all(self, facts: Sequence[Fact]) -> bool:
        """Say whether facts leave no room for each other."""
        for fact in facts:
            if self._against(fact) is not None:
                return True
            (self._join if fact.same else self._part)(fact)
        return False

    def _broken_rule(self, fact: Fact) -> tuple[Fact, ...] | None:
        left, right = self.members(fact.a), self.members(fact.b)
        if self.cap is not None and len(left) + len(right) > self.cap:
            inside = {*left, *right}
            return tuple(f for f in self.held if f.same and f.a in inside)
        if self.groups is None:
            return None
        own = {int(self.groups[x]): x for x in left if self.groups[x] >= 0}
        for y in right:
            x = own.get(int(self.groups[y]))
            if x is not None:
                return (*self._chain(fact.a, x), *self._chain(y, fact.b))
        return None

    def _chain(self, start: int, end: int) -> tuple[Fact, ...]:
        """Return a shortest chain of facts that say that two elements are the same."""
        before: dict[int, tuple[int, Fact] | None] = {start: None}
        queue = deque([start])
        while queue and end not in before:
            here = queue.popleft()
            for there, fact in self._links.get(here, ()):
                if there not in before:
                    before[there] = (here, fact)
                    queue.append(there)
        out: list[Fact] = []
        step = before.get(end)
        while step is not None:
            out.append(step[1])
            step = before[step[0]]
        return tuple(reversed(out))

    def _join(self, fact: Fact) -> None:
        self._links.setdefault(fact.a, []).append((fact.b, fact))
        self._links.setdefault(fact.b, []).append((fact.a, fact))
        a, b = self.find(fact.a), self.find(fact.b)
        if a == b:
            return
        if len(self.members(a)) < len(self.members(b)):
            a, b = b, a
        self._members[a] = self.members(a) + self.members(b)
        self._members.pop(b, None)
        self._parent[b] = a
        for other, why in self._apart.pop(b, {}).items():
            self._apart[other].pop(b, None)
            self._apart.setdefault(a, {}).setdefault(other, why)
            self._apart[other].setdefault(a, why)

    def _part(self, fact: Fact) -> None:
        a, b = self.find(fact.a), self.find(fact.b)
        self._apart.setdefault(a, {}).setdefault(b, fact)
        self._apart.setdefault(b, {}).setdefault(a, fact)

    def has_room(self, a: int, b: int) -> bool:
        """Say whether two elements may be the same: no rule and no answer forbids it."""
        return self._against(Fact(a, b, True)) is None

    def says(self, a: int, b: int) -> bool | None:
        """Return what follows of two elements: the same, different, or nothing."""
        first, second = self.find(a), self.find(b)
        if first == second:
            return True
        return False if second in self._apart.get(first, {}) else None


def facts_of(rows: Sequence[Sequence[int]]) -> list[Fact]:
    """Return what was known before, rows of two elements and 1 or 0, as facts."""
    return [Fact(int(a), int(b), bool(same)) for a, b, same in rows]
