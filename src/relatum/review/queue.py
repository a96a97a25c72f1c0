"""Which component to ask about: those that may have most to tell first, and the best question.

Components are looked at one after the other, in the order of how many pairs a question may put
right by their size and by how sure their clusters are, and only until a question is found that the
next one will hardly beat, or enough was looked at. That is counted in elements, not in seconds:
the question does not depend on what else the machine does. What was looked at is remembered until
an answer changes it, and the next question looks further.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol

from relatum.probability import EXACT
from relatum.review.catalogue import Catalogue
from relatum.review.doubtful import DOUBT, LEAST, Agenda, Doubtful, agenda_of
from relatum.review.facts import Ledger
from relatum.review.warm import Solved

WORK = 1000  # elements that are looked at before a question is asked: some tenths of a second
EACH = 20  # elements that looking at any component is like
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
        self._roots = session.catalogue.most_to_tell(LEAST, EXACT, DOUBT)
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
        best, work = self._best(), 0
        while self._next < len(self._roots):
            _, guess, n = self._roots[self._next]
            if best is not None and (best.worth >= ENOUGH * guess or work >= WORK):
                break
            self._look_further()
            best, work = self._best(), work + EACH + n
        return best

    def _look_further(self) -> None:
        batch = [root for root, _, _ in self._roots[self._next : self._next + AT_ONCE]]
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
            heapq.heappush(self._heap, (-question.worth, key))

    def _best(self) -> Doubtful | None:
        while self._heap:
            worth, key = self._heap[0]
            agenda = self._agendas.get(key)
            question = None if agenda is None else self._open(agenda)
            if question is not None and -question.worth == worth:
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
