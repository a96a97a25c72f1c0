"""Which component to ask about: those that are least sure first, and of these the best question.

Components are looked at one after the other, in the order of how sure their clusters are, and only
until a question is found that the next one will hardly beat, or the time for it is up. What was
looked at is remembered until an answer changes it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from relatum.probability import entropy_of
from relatum.review.catalogue import Catalogue
from relatum.review.doubtful import DOUBT, Agenda, Doubtful, agenda_of
from relatum.review.facts import Ledger
from relatum.review.warm import Solved

SECONDS = 0.1  # for looking at more components before a question is asked
AT_ONCE = 32  # components that are fetched together
PRIOR = 20  # components of one question each that count before any was looked at
ENOUGH = 0.98  # of what the next component may have to tell


class Components(Protocol):
    """What a session tells of its components."""

    catalogue: Catalogue
    ledger: Ledger

    def key(self, root: int) -> tuple[int, ...]:
        """Return the roots of the components that are one with a component."""
        ...

    def load(self, keys: Sequence[tuple[int, ...]]) -> None:
        """Fetch components."""
        ...

    def solved(self, root: int) -> Solved:
        """Return a component as it is now."""
        ...


class Queue:
    """Questions about all components of a session."""

    def __init__(self, session: Components) -> None:
        self.session = session
        found = session.catalogue.least_sure(1 - DOUBT, 1 << 31)
        self._roots = [root for root, _ in found]
        self._sure = np.array([sure for _, sure in found])
        self._next = 0  # the first component that was not looked at
        self._agendas: dict[tuple[int, ...], Agenda] = {}
        self._stale: set[tuple[int, ...]] = set()
        self._heap: list[tuple[float, tuple[int, ...]]] = []
        self._skipped: set[tuple[int, int]] = set()

    def agenda(self, key: tuple[int, ...]) -> Agenda:
        """Return the questions about a component."""
        if key not in self._agendas or key in self._stale:
            self.session.load([key])
            found = agenda_of(self.session.solved(key[0]), self.session.ledger)
            self._agendas[key] = found
            self._stale.discard(key)
            self._push(key)
        return self._agendas[key]

    def forget(self, key: tuple[int, ...]) -> None:
        """Look at a component anew: an answer has changed it."""
        for root in key:
            for old in [k for k in self._agendas if root in k] if len(key) > 1 else [(root,)]:
                self._agendas.pop(old, None)
        now = self.session.key(key[0])
        self._stale.add(now)
        for root in key:
            self._stale.add(self.session.key(root))

    def skip(self, a: int, b: int) -> None:
        """Do not ask about a pair again."""
        self._skipped.add((min(a, b), max(a, b)))

    def first(self, key: tuple[int, ...] | None = None) -> Doubtful | None:
        """Return the best question, of all or about one component; None if nothing is in doubt."""
        if key is not None:
            return self._open(self.agenda(key))
        for stale in sorted(self._stale):
            if self.session.key(stale[0]) == stale:
                self.agenda(stale)
        self._stale.clear()
        best, end = self._best(), time.perf_counter() + SECONDS
        while self._next < len(self._roots):
            worth = 0.0 if best is None else best.bits
            if worth >= ENOUGH * self._guess() or (best and time.perf_counter() > end):
                break
            self._look_further()
            best = self._best()
        return best

    def _guess(self) -> float:
        """Return what the next component may have to tell."""
        return float(entropy_of(np.maximum(0.5, self._sure[self._next : self._next + 1]))[0])

    def _look_further(self) -> None:
        batch = self._roots[self._next : self._next + AT_ONCE]
        if self._next % AT_ONCE == 0:
            self.session.load([self.session.key(root) for root in batch])
        self.agenda(self.session.key(batch[0]))
        self._next += 1

    def _open(self, agenda: Agenda) -> Doubtful | None:
        for question in agenda.questions:
            if (min(question.a, question.b), max(question.a, question.b)) not in self._skipped:
                return question
        return None

    def _push(self, key: tuple[int, ...]) -> None:
        question = self._open(self._agendas[key])
        if question is not None:
            heapq.heappush(self._heap, (-question.bits, key))

    def _best(self) -> Doubtful | None:
        while self._heap:
            worth, key = self._heap[0]
            agenda = self._agendas.get(key)
            question = None if agenda is None else self._open(agenda)
            if question is not None and -question.bits == worth:
                return question
            heapq.heappop(self._heap)
            if question is not None:
                self._push(key)
        return None

    def left(self) -> int:
        """Return about how many questions are left until no pair is in doubt.

        Of components that were not looked at yet, as many each as of those that were, and about
        one each as long as there are few of these.
        """
        known = sum(agenda.left for agenda in self._agendas.values())
        unseen = len(self._roots) - self._next
        each = (known + PRIOR) / (len(self._agendas) + PRIOR)
        return known + round(unseen * each)

    @property
    def looked_at(self) -> tuple[int, int]:
        """How many components in doubt were looked at, and how many there are."""
        return self._next, len(self._roots)
