"""Which question comes next: of the components, and neighbours, that may have most to tell.

Neighbourhoods, see `relatum.review.near`, are looked at one after the other, in the order of how
many pairs a question may put right by their sizes, by how sure their clusters are, and by the
scores between them; and only until a question is found that the next one will hardly beat, or
enough was looked at. That is counted in elements, not in seconds: the question does not depend on
what else the machine does. What was looked at is remembered until an answer changes it, and the
next question looks further.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

import numpy as np

from relatum.array_types import Index
from relatum.probability import EXACT, NEAR
from relatum.review.catalogue import Catalogue
from relatum.review.doubtful import DOUBT, LEAST, Agenda, Doubtful, agenda_of
from relatum.review.facts import Ledger
from relatum.review.kept import Key, Store
from relatum.review.near import Neighbourhoods, largest_of, neighbourhoods

WORK = 1000  # elements that are looked at before a question is asked: some tenths of a second
EACH = 20  # elements that looking at any neighbourhood is like
AT_ONCE = 32  # neighbourhoods that are fetched together
FETCHED = 20_000  # elements that are, at most
PRIOR = 20  # neighbourhoods of one question each that count before any was looked at
ENOUGH = 0.98  # of what the next neighbourhood may have to tell


class Asking(Protocol):
    """What a session tells of its components."""

    catalogue: Catalogue
    ledger: Ledger
    store: Store


class Queue:
    """Questions about all components of a session."""

    def __init__(self, session: Asking) -> None:
        self.session = session
        self._next = 0  # the first neighbourhood that was not looked at
        self._components: dict[Key, Agenda] = {}
        self._agendas: dict[int, Agenda] = {}  # of neighbourhoods
        self._holding: dict[int, set[int]] = {}  # neighbourhoods that were looked at, by root
        self._stale: set[int] = set()
        self._heap: list[tuple[float, int]] = []
        self._skipped: set[tuple[int, int]] = set()

    # --- where questions are

    @cached_property
    def near(self) -> Neighbourhoods:
        """Which components are asked about together."""
        origin, store = self.session.store.origin, self.session.store
        told = np.zeros(len(store.roots))
        for root, guess, _ in self.session.catalogue.most_to_tell(0.0, EXACT, DOUBT):
            told[np.searchsorted(store.roots, root)] = guess
        sizes = np.asarray(origin.whole["cluster_size"].to_numpy(), np.int64)
        pairs = origin.access.between(origin, NEAR)
        found = pairs[0].astype(np.int64), pairs[1].astype(np.int64), pairs[2]
        roots = np.asarray(origin.roots, np.int64)
        return neighbourhoods(roots, found, told, sizes, largest_of(origin.groups))

    @cached_property
    def _order(self) -> Index:
        """Neighbourhoods that may have something to tell, those with most of it first."""
        guess = self.near.guess
        order = np.argsort(-guess, kind="stable")
        return order[guess[order] > LEAST]

    # --- questions

    def agenda(self, key: Key) -> Agenda:
        """Return the questions about a component alone."""
        if key not in self._components:
            solved = self.session.store.solved(key)
            self._components[key] = agenda_of(solved, self.session.ledger)
        return self._components[key]

    def _look(self, k: int) -> None:
        """Look at a neighbourhood."""
        store, ledger = self.session.store, self.session.ledger
        roots = self.near.roots(k)
        solved = store.together(roots, ledger.held)
        between = None
        if self.near.is_between(k):
            between = np.array([store.root(e) for e in solved.base.elements.tolist()])
        self._agendas[k] = agenda_of(solved, ledger, between)
        self._stale.discard(k)
        for root in store.origin.roots[solved.base.elements].tolist():
            self._holding.setdefault(int(root), set()).add(k)
        self._push(k)

    def forget(self, roots: Iterable[int]) -> None:
        """Look at components anew: an answer has changed them."""
        for root in roots:
            for key in [key for key in self._components if root in key]:
                del self._components[key]
            self._stale |= self._holding.get(int(root), set())

    def skip(self, a: int, b: int) -> None:
        """Do not ask about a pair again."""
        self._skipped.add((min(a, b), max(a, b)))

    def first(self, key: Key | None = None) -> Doubtful | None:
        """Return the best question, of all or about one component; None if nothing is in doubt."""
        if key is not None:
            return self._open(self.agenda(key))
        for k in sorted(self._stale):
            self._look(k)
        best, work = self._best(), 0
        while self._next < len(self._order):
            k = int(self._order[self._next])
            guess, n = float(self.near.guess[k]), int(self.near.size[k])
            if best is not None and (best.worth >= ENOUGH * guess or work >= WORK):
                break
            self._fetch()
            self._look(k)
            self._next += 1
            best, work = self._best(), work + EACH + n
        return best

    def _fetch(self) -> None:
        """Fetch the next neighbourhoods, several at once."""
        if self._next % AT_ONCE:
            return
        store, sets, total = self.session.store, list[Key](), 0
        for k in self._order[self._next : self._next + AT_ONCE].tolist():
            keys = {store.key(root) for root in self.near.roots(k)}
            total += int(self.near.size[k])
            if total > FETCHED:
                break
            sets.append(tuple(sorted({root for key in keys for root in key})))
        store.load([key for key in sets if len(key) == 1], [key for key in sets if len(key) > 1])

    def _open(self, agenda: Agenda) -> Doubtful | None:
        for question in agenda.questions:
            if (min(question.a, question.b), max(question.a, question.b)) not in self._skipped:
                return question
        return None

    def _push(self, k: int) -> None:
        question = self._open(self._agendas[k])
        if question is not None:
            heapq.heappush(self._heap, (-question.worth, k))

    def _best(self) -> Doubtful | None:
        while self._heap:
            worth, k = self._heap[0]
            question = self._open(self._agendas[k])
            if question is not None and -question.worth == worth:
                return question
            heapq.heappop(self._heap)
            if question is not None:
                self._push(k)
        return None

    def left(self) -> int:
        """Return about how many questions are left until no pair is in doubt.

        Of neighbourhoods that were not looked at yet, as many each as of those that were, and
        about one each as long as there are few of these.
        """
        known = sum(agenda.left for agenda in self._agendas.values())
        unseen = int(np.count_nonzero(self.near.guess[self._order[self._next :]] > DOUBT))
        each = (known + PRIOR) / (len(self._agendas) + PRIOR)
        return known + round(unseen * each)

    @property
    def looked_at(self) -> tuple[int, int]:
        """How many neighbourhoods in doubt were looked at, and how many there are."""
        return self._next, len(self._order)
