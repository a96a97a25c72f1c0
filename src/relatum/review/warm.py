"""One component and what is known of it, solved again from where it was.

An answer only ever rules clusterings out, so a bound that was proved with fewer answers still
holds; and clusters that agree with a new answer stay as they are, as good as they were, without any
search. If they do not agree, they are changed as little as the answers ask for, and improved from
there; small components are solved anew as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.errors import EvidenceError
from relatum.inference import infer
from relatum.pair_tables import Component, Settings, problem_of, solve_component
from relatum.problem import Partition, Problem, numbered_evidence, object_array
from relatum.proof import Certificate, Estimate, Status, closes
from relatum.review.facts import Fact
from relatum.solvers.partition import SparseSearch, instance_of, renumbered

ANEW = 128  # elements of components that are also solved from nothing: some hundredths of a second
SURE = 1e-6  # bits that value and bound may be apart by rounding


@dataclass(frozen=True, eq=False)
class Base:
    """A component as the table gives it, or several that answers join.

    Attributes
    ----------
    elements : integer array
        Numbers in the table, sorted.
    ids : sequence
        As users write them.
    component : Component
        Pairs, and what was known before any answer.
    labels : integer array
        The clusters that the table was clustered into.
    gap : float
        Bits, as it was proved then.
    settings : Settings
    """

    elements: Index
    ids: Sequence[Any]
    component: Component
    labels: Index
    gap: float
    settings: Settings

    @property
    def n(self) -> int:
        """How many elements there are."""
        return len(self.elements)

    @cached_property
    def problem(self) -> Problem:
        """The problem without answers."""
        problem = problem_of(self.component, self.settings.background, self.settings.max_size)
        problem.ids = object_array(self.ids)
        return problem

    @cached_property
    def value(self) -> float:
        """The value of the clusters without answers."""
        return self.problem.value(Partition(self.labels))

    @property
    def bound(self) -> float:
        """What no clustering's value is above."""
        return self.value + self.gap

    def place(self, element: int) -> int:
        """Return the number of one of its elements within it."""
        return int(np.searchsorted(self.elements, element))

    def holds(self, element: int) -> bool:
        """Say whether it has an element."""
        place = self.place(element)
        return place < self.n and int(self.elements[place]) == element


@dataclass(frozen=True, eq=False)
class Solved:
    """Clusters of a component given some answers.

    Attributes
    ----------
    base : Base
    facts : frozenset of Fact
        The answers, by numbers in the table.
    labels : integer array
    value, bound : float
        In bits.
    certificate : Certificate or None
        What proves the bound, where that was asked for.
    """

    base: Base
    facts: frozenset[Fact]
    labels: Index
    value: float
    bound: float
    certificate: Certificate | None = None

    @property
    def gap(self) -> float:
        """Bound minus value, in bits; 0 where they differ by rounding only."""
        gap = self.bound - self.value
        return gap if gap > SURE * (1 + abs(self.value) * 1e-6) else 0.0

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.labels.max(initial=-1)) + 1

    @cached_property
    def problem(self) -> Problem:
        """The problem with the answers."""
        return problem_with(self.base, self.facts)

    def component(self) -> Component:
        """Return the component with the answers as evidence."""
        return component_with(self.base, self.facts)

    @cached_property
    def estimate(self) -> Estimate:
        """The clusters as an estimate of the problem."""
        bound = max(self.value, self.bound)
        status = Status.OPTIMAL if closes(self.value, bound) else Status.FEASIBLE
        return Estimate(
            status, Partition(self.labels), self.value, bound, self.certificate, "review"
        )


@dataclass(eq=False)
class Warm:
    """A component that is solved again and again.

    Attributes
    ----------
    base : Base
    """

    base: Base
    proved: list[tuple[frozenset[Fact], float]] = field(default_factory=list)
    last: Solved | None = None
    better: tuple[Index, float] | None = None  # than those of the table, without answers

    def bound(self, facts: frozenset[Fact]) -> float:
        """Return the least bound that is known to hold with these facts."""
        known = [bound for fewer, bound in self.proved if said(fewer) <= said(facts)]
        return min([self.base.bound, *known])

    def solved(self, facts: frozenset[Fact], start: Index | None = None) -> Solved:
        """Return the clusters given facts that hold together.

        Parameters
        ----------
        facts : frozenset of Fact
            They do not contradict each other.
        start : integer array, optional
            Clusters to start from; those of the last time by default.
        """
        if self.last is not None and said(self.last.facts) == said(facts):
            if self.last.facts != facts:
                self.last = replace(self.last, facts=facts)
            return self.last
        if self.last is None and start is None:
            self._replay(facts)
        if start is None:
            start = self._labels()
        fewer = self.last is not None and not said(self.last.facts) <= said(facts)
        if not facts:
            found = Solved(self.base, facts, *self._without(), 0.0)
        elif not fewer and agree(self.base, start, facts):
            found = Solved(self.base, facts, start, self._value(start), 0.0)
        else:
            found = self._searched(facts, [start, self.base.labels])
        self.last = replace(found, bound=max(found.value, self.bound(facts)))
        return self.last

    def _without(self) -> tuple[Index, float]:
        """Return the best clusters that are known without answers, and their value."""
        return (self.base.labels, self.base.value) if self.better is None else self.better

    def _replay(self, facts: frozenset[Fact]) -> None:
        """Take answers one action after the other, as they were given: the same clusters again."""
        actions = sorted({fact.action for fact in facts})
        for action in actions[:-1]:
            self.solved(frozenset(f for f in facts if f.action <= action), self._labels())

    def _labels(self) -> Index:
        return self.base.labels if self.last is None else self.last.labels

    def learn(self, tried: Solved, found: Estimate) -> None:
        """Take over what a search for a proof found, whatever was answered in the meantime.

        Its bound holds with the facts that were known then and any more; its clusters are taken
        if nothing else is known now and they are better.

        Parameters
        ----------
        tried : Solved
            What the search was about.
        found : Estimate
            Of `search_proof`.
        """
        self.proved.append((tried.facts, found.bound))
        now = self.last
        if now is None or not isinstance(found.relation, Partition):
            return
        if said(now.facts) == said(tried.facts) and found.value > now.value:
            now = replace(now, labels=found.relation.labels, value=found.value)
            if not now.facts:
                self.better = now.labels, now.value
        bound = max(now.value, self.bound(now.facts))
        proof = found.certificate if bound == found.bound else None
        self.last = replace(now, bound=bound, certificate=proof)

    def _value(self, labels: Index) -> float:
        return self.base.problem.value(Partition(labels))

    def _searched(self, facts: frozenset[Fact], starts: list[Index]) -> Solved:
        problem, found = problem_with(self.base, facts), list[Index]()
        for start in starts:
            found += _climbed(problem, start)
        if self.base.n <= ANEW or not found:
            found.append(self._anew(facts))
        values = [self._value(labels) for labels in found]
        best = int(np.argmax(values))
        return Solved(self.base, facts, found[best], values[best], 0.0)

    def _anew(self, facts: frozenset[Fact]) -> Index:
        component = component_with(self.base, facts)
        solution = solve_component(component, replace(self.base.settings, prove=False))
        self.proved.append((facts, solution.bound))
        return solution.labels


def search_proof(tried: Solved, time_limit: float) -> Estimate:
    """Search for a proof that clusters are the most probable ones, starting from them."""
    start = Partition(tried.labels)
    return infer(tried.problem, prove=True, time_limit=time_limit, start=start)


def said(facts: frozenset[Fact]) -> set[tuple[int, int, bool]]:
    """Return what facts say, whoever said it."""
    return {(min(f.a, f.b), max(f.a, f.b), f.same) for f in facts}


def component_with(base: Base, facts: frozenset[Fact]) -> Component:
    """Return a component in which facts are known."""
    given = base.component
    yes, no = _ends(base, facts, True), _ends(base, facts, False)
    related = np.concatenate([np.asarray(given.related, np.int64).reshape(-1, 2), yes])
    unrelated = np.concatenate([np.asarray(given.unrelated, np.int64).reshape(-1, 2), no])
    return replace(given, related=related, unrelated=unrelated, start=None)


def problem_with(base: Base, facts: frozenset[Fact]) -> Problem:
    """Return the problem of a component in which facts are known."""
    if not facts:
        return base.problem
    yes, no = _ends(base, facts, True), _ends(base, facts, False)
    return base.problem.with_feasible(base.problem.feasible & numbered_evidence(yes, no))


def agree(base: Base, labels: Index, facts: frozenset[Fact]) -> bool:
    """Say whether clusters are as facts say."""
    yes, no = _ends(base, facts, True), _ends(base, facts, False)
    together = labels[yes[:, 0]] == labels[yes[:, 1]]
    apart = labels[no[:, 0]] != labels[no[:, 1]]
    return bool(together.all() and apart.all())


def _ends(base: Base, facts: frozenset[Fact], same: bool) -> Index:
    pairs = sorted((min(f.a, f.b), max(f.a, f.b)) for f in facts if f.same == same)
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return np.searchsorted(base.elements, ends).astype(np.int64)


def _climbed(problem: Problem, labels: Index) -> list[Index]:
    """Change clusters until they are as is known, in two ways, and improve them."""
    instance = instance_of(problem, matrix=False)
    if instance is None or instance.graph is None:
        raise EvidenceError(
            "The answers contradict each other; take one of them back."
        )  # not reached where facts were taken one by one
    search = SparseSearch(instance.graph, instance.rules, lambda: False)
    no = instance.element[problem.evidence.unrelated]
    out = []
    for start in _starts(instance.element, labels, no):
        if not problem.feasible.contains(Partition(start[instance.element])):
            continue
        found = search.climb(renumbered(start), np.random.default_rng(0))
        out.append(Partition(found[instance.element]).labels)
    return out


def _starts(element: Index, labels: Index, apart: Index) -> list[Index]:
    """Return labels of what is known to be one: clusters joined, or only what must be moved."""
    m, k = int(element.max(initial=-1)) + 1, int(labels.max(initial=-1)) + 1
    first = np.full(m, -1, np.int64)
    first[element[::-1]] = labels[::-1]
    mixed = np.unique(element[labels != first[element]])
    joined = np.arange(k)
    for block in mixed.tolist():
        own = joined[labels[element == block]]
        joined[np.isin(joined, own)] = own.min()
    moved = first.copy()
    moved[mixed] = k + np.arange(len(mixed))
    return [_parted(element, start, apart) for start in (joined[first], moved)]


def _parted(element: Index, start: Index, apart: Index) -> Index:
    """Take the smaller of two that are known to be different out of their cluster."""
    fresh = int(start.max(initial=-1)) + 1
    for a, b in apart.tolist():
        if start[a] == start[b]:
            smaller = np.count_nonzero(element == a) < np.count_nonzero(element == b)
            start[a if smaller else b] = fresh
            fresh += 1
    return start
