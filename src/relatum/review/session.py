"""A review: clusters, what people answered about them, and what follows from it.

A `Session` has no page. It reads the answers from their file, keeps every component that answers
touch solved, says what an answer changed, and what to ask next. All it is told is on the disk
before it says so; another session on the same file takes its answers over.
"""

from __future__ import annotations

import getpass
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.errors import DataError
from relatum.explanation import Explanation, explained
from relatum.io import DIFFERENT, SAME, Answer, AnswersFile, require_answerable
from relatum.pair_tables import Clusters, confidence_of
from relatum.review.catalogue import Catalogue, Filter, Row
from relatum.review.changes import Change, Clustering, changes_between
from relatum.review.doubtful import Agenda, Doubtful
from relatum.review.facts import Contradiction, Fact, Ledger, facts_of
from relatum.review.kept import Key, Store
from relatum.review.queue import Queue
from relatum.review.standing import Numbers, Standing
from relatum.review.warm import Solved, search_proof


@dataclass(frozen=True, eq=False)
class Told:
    """What came of an action.

    Attributes
    ----------
    action : int
    changes : list of Change
    contradictions : list of Contradiction
        That were not there before.
    value : float
        By how many bits the value of all clusters changed.
    root : int
        A component that it was about.
    """

    action: int
    changes: list[Change]
    contradictions: list[Contradiction]
    value: float
    root: int


class Session:
    """A review of clusters.

    Parameters
    ----------
    found : Clusters
        Of `relatum.cluster_pairs`, `relatum.load_clusters` or `relatum.RecordLinker`.
    records : table or path, optional
        Records of the elements.
    answers : path
        The file of answers, ``.csv``; made with the first answer if it is not there.
    id : str, optional
        The column of ids of the records; ``unique_id`` or ``id`` by default.
    who : str, optional
        Who answers; the name of the account by default.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> from relatum.pair_tables import cluster_pairs
    >>> pairs = pa.table({"unique_id_l": ["a", "b"], "unique_id_r": ["b", "c"],
    ...                   "match_weight": [7.0, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = Session(cluster_pairs(pairs), answers=Path(folder) / "answers.csv")
    ...     question = session.question()
    ...     told = session.answer(question.a, question.b, same=True)
    ...     [sorted(session.names(c)) for c in told.changes[0].after], session.numbers().clusters
    ([['a', 'b', 'c']], 1)
    """

    def __init__(
        self,
        found: Clusters,
        *,
        records: Any = None,
        answers: str | Path = "answers.csv",
        id: str | None = None,  # noqa: A002
        who: str | None = None,
    ) -> None:
        if found.origin is None:
            raise DataError(
                "These clusters do not know the table that they were made of; make them with "
                "cluster_pairs on DuckDB."
            )
        if not found.origin.whole.num_rows:
            raise DataError("There is nothing to review: the table of pairs is empty.")
        self.found, self.origin = found, found.origin
        self.who = _somebody() if who is None else who
        columns = self.origin.columns
        names = [columns.left, columns.right]
        if columns.source_left is not None and columns.source_right is not None:
            names = [columns.source_left, columns.left, columns.source_right, columns.right]
        self.file = AnswersFile(answers, names)
        require_answerable(answers)
        whole = self.origin.whole
        if "confidence" in whole.column_names:
            confidence = whole["confidence"].to_numpy()
        else:
            confidence = confidence_of(self.origin)
        self.catalogue = Catalogue(self.origin, confidence, records, id)
        self.lock = threading.RLock()
        self._applied: list[Answer] = []
        self._held: list[Fact] = []
        self._numbers: dict[Any, int] = {}  # of ids that answers name
        self.unknown: list[Answer] = []  # about elements that are not in the table
        self.ledger = self._empty_ledger()
        self.told: dict[int, Told] = {}
        self.store = Store(self.origin)
        self._has_fields = self.origin.access.has_fields(self.origin)
        self.standing = Standing(found.summary, self.catalogue, self.store)
        self.queue = Queue(self)
        self.sync()

    def close(self) -> None:
        """Close what is open; all answers are in their file."""
        with self.lock:
            self.catalogue.close()

    # --- components

    def key(self, root: int) -> Key:
        """Return the roots of the components that are one with a component."""
        return self.store.key(root)

    def root(self, element: int) -> int:
        """Return the first of the components that an element's component is one with."""
        return self.store.root(element)

    def solved(self, root: int) -> Solved:
        """Return a component as it is now."""
        with self.lock:
            self.store.require(root)
            return self.store.solved(self.key(root))

    def prove(self, root: int, time_limit: float = 10.0) -> Solved:
        """Search for a proof that the clusters of a component are the most probable ones.

        Others may answer in the meantime: what is found holds with their answers, too.
        """
        tried = self.solved(root)
        found = search_proof(tried, time_limit)
        with self.lock:
            key = tuple(sorted({int(r) for r in self.origin.roots[tried.base.elements]}))
            if self.key(root) == key:  # or answers have joined, or parted, it
                self.store.warm(key).learn(tried, found)
                self.store.proved.add(key)
                self.standing.note([key])
                self.queue.forget(key)
            return self.solved(root)

    def both(self, a: int, b: int) -> Solved:
        """Return the component of two elements as it is now, or those of both as one."""
        with self.lock:
            return self.store.together([self.root(a), self.root(b)], self.ledger.held)

    def explain(self, a: int, b: int, time_limit: float = 2.0) -> Explanation:
        """Say why two elements are together, or are not."""
        solved = self.both(a, b)
        ends = solved.base.place(a), solved.base.place(b)
        why = explained(solved.problem, solved.estimate, ends, (time_limit, 0))
        return why.named(solved.base.ids, self.found.contributions)

    def fields(self, a: int, b: int) -> list[tuple[str, str, float]]:
        """Return what fields say of a pair, most first: field, level and bits, where it is known.

        Of records that were linked here, as the linker compared them; of a table of Splink, as its
        columns say.
        """
        names = self.names([a, b])
        if self.found.contributions is not None:
            found = list(self.found.contributions(names[0], names[1]))
        elif self._has_fields:
            found = self.origin.access.fields(self.origin, a, b)
        else:
            return []
        return sorted(found, key=lambda row: -abs(row[2]))

    def bits_between(self, a: int, b: int) -> float | None:
        """Return the score of elements of two components, if it was listed and is not low."""
        with self.lock:
            return self.queue.near.bits_of(a, b)

    def beside(self, root: int, count: int) -> list[tuple[int, int, float]]:
        """Return the best listed pairs of a component and others: an element of each, and bits."""
        with self.lock:
            key = self.key(root)
            found = self.queue.near.beside(self.store.elements(key), 10 * count)
            return [(a, b, x) for a, b, x in found if self.root(a) != self.root(b)][:count]

    # --- what is known

    def sync(self) -> bool:
        """Take over what others have answered; say whether there was anything."""
        with self.lock:
            self.file.refresh()
            answers = [a for a in self.file.in_force() if a.verdict in (SAME, DIFFERENT)]
            if answers == self._applied:
                return False
            self._apply(answers)
            return True

    def answer(self, a: int, b: int, same: bool, how: str = "question") -> Told:
        """Take an answer about two elements."""
        return self.act([(a, b, same)], how)

    def act(self, pairs: Sequence[tuple[int, int, bool]], how: str) -> Told:
        """Take several answers as one action: on the disk first, then into account."""
        with self.lock:
            ends = [int(e) for a, b, _ in pairs for e in (a, b)]
            if any(a == b for a, b, _ in pairs):
                raise DataError("An element is the same as itself; name two.")
            for end in ends:
                self.root(end)
            names = self.catalogue.keys(ends)
            rows = [(names[a], names[b], SAME if same else DIFFERENT) for a, b, same in pairs]
            self.sync()
            action = self.file.append(rows, self.who, how)
            return self._after(action, self.root(ends[0]))

    def undo(self, action: int | None = None) -> Told | None:
        """Take an action back, by default the last one of whoever is here."""
        with self.lock:
            self.sync()
            wanted = self.file.last_action(self.who) if action is None else action
            if wanted is None:
                return None
            about = [a for a in self._applied if a.action == wanted]
            ends = [
                self._numbers[k] for a in about for k in (a.left, a.right) if k in self._numbers
            ]
            number = self.file.undo(wanted, self.who)
            return self._after(number, self.root(ends[0]) if ends else int(self.store.roots[0]))

    def _after(self, action: int, root: int) -> Told:
        """Take over what was just written, and say what it changed."""
        before, known = self._clusters(), {c.fact for c in self.ledger.contradictions}
        value, touched = self.standing.value(), dict(self.store.facts)
        self.sync()
        changed = {
            k for k in {*touched, *self.store.facts} if touched.get(k) != self.store.facts.get(k)
        }
        elements = {int(e) for key in changed for e in self.store.elements(key)}
        was, now = (
            Clustering(elements, {k: c[k] for k in changed if k in c}, self._base_cluster)
            for c in (before, self._clusters())
        )
        changes = changes_between(was, now)
        new = [c for c in self.ledger.contradictions if c.fact not in known]
        told = Told(action, changes, new, self.standing.value() - value, self.root(root))
        self.told[action] = told
        return told

    def _clusters(self) -> dict[Key, Solved]:
        return {key: self.store.solved(key) for key in self.store.facts}

    def _base_cluster(self, elements: set[int]) -> dict[int, Any]:
        """Return the clusters of elements as the table was clustered."""
        own = sorted(elements)
        return dict(zip(own, self.origin.whole["cluster_id"].take(own).to_pylist(), strict=True))

    def _empty_ledger(self) -> Ledger:
        ledger = Ledger(self.origin.groups, self.origin.settings.max_size)
        ledger.add(facts_of(self.origin.fixed.tolist()))
        return ledger

    def _apply(self, answers: list[Answer]) -> None:
        known = len(self._applied)
        if answers[:known] == self._applied:  # nothing was taken back
            new = answers[known:]
        else:
            new, self.ledger, self.unknown = answers, self._empty_ledger(), []
        self._look_up(new)
        facts = []
        for answer in new:
            ends = self._numbers.get(answer.left), self._numbers.get(answer.right)
            if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
                self.unknown.append(answer)
                continue
            same = answer.verdict == SAME
            facts.append(Fact(ends[0], ends[1], same, answer.action, answer.who))
        self.ledger.add(facts)
        self._applied = answers
        self._regroup()

    def _look_up(self, answers: list[Answer]) -> None:
        ends = {end for answer in answers for end in (answer.left, answer.right)}
        missing = [end for end in ends if end not in self._numbers]
        self._numbers |= self.catalogue.numbers(missing)

    def _regroup(self) -> None:
        """Join components that answers join, and solve again what has other facts than before."""
        held = [f for f in self.ledger.held if f.action]
        changed = self.store.regroup(held)
        self.standing.note(changed)
        other = {*held} ^ {*self._held}  # also of two components
        self._held = held
        ends = {end for fact in other for end in (fact.a, fact.b)}
        roots = {int(self.origin.roots[end]) for end in ends}
        self.standing.note([self.key(root) for root in roots])
        self.queue.forget(roots)
        self.queue.forget({root for key in changed for root in key})

    # --- what is asked

    def question(self, root: int | None = None) -> Doubtful | None:
        """Return the question that tells most, of all or about one component."""
        with self.lock:
            if root is not None:
                self.solved(root)  # or say that there is none
            return self.queue.first(None if root is None else self.key(root))

    def skip(self, a: int, b: int) -> None:
        """Do not ask about a pair again in this session."""
        with self.lock:
            self.queue.skip(a, b)

    def left(self) -> int:
        """Return about how many questions are left until no pair is in doubt."""
        with self.lock:
            return self.queue.left()

    def agenda(self, root: int) -> Agenda:
        """Return the questions about a component."""
        with self.lock:
            self.solved(root)  # or say that there is none
            return self.queue.agenda(self.key(root))

    def answers_of(self, root: int) -> list[Fact]:
        """Return the answers that hold about a component, oldest first."""
        return self.store.answers(self.key(root))

    # --- what is shown

    def touched(self) -> list[Solved]:
        """Return all components that answers touch, as they are now."""
        with self.lock:
            return self.standing.touched()

    def numbers(self) -> Numbers:
        """Return how many of everything there are now."""
        with self.lock:
            return self.standing.numbers(len(self._applied))

    def components(self, wanted: Filter, page: int, count: int = 25) -> tuple[list[Row], int]:
        """Return a page of the list of components, and how many there are."""
        with self.lock:
            self.standing.flush()
            return self.catalogue.components(wanted, page * count, count)

    def sure(self, solved: Solved) -> float:
        """Return how sure the least sure cluster of a component is."""
        return self.standing.sure(solved)

    def used(self) -> list[Answer]:
        """Return what was known before and the answers that hold together, oldest first."""
        with self.lock:
            known = [f for f in self.ledger.held if not f.action]
            names = self.catalogue.keys([end for f in known for end in (f.a, f.b)])
            out = [
                Answer(names[f.a], names[f.b], SAME if f.same else DIFFERENT, how="known before")
                for f in known
            ]
            held = {(f.a, f.b, f.same, f.action, f.who) for f in self.ledger.held}
            for answer in self._applied:
                ends = (self._numbers.get(end) for end in (answer.left, answer.right))
                if (*ends, answer.verdict == SAME, answer.action, answer.who) in held:
                    out.append(answer)
            return out

    def names(self, elements: Sequence[int]) -> list[Any]:
        """Return the ids of elements as users write them."""
        return self.origin.ids(np.asarray(list(elements), dtype=np.int64))

    def contradictions(self) -> list[tuple[Contradiction, str]]:
        """Return what contradicts itself, and a sentence on each."""
        out = []
        for found in self.ledger.contradictions:
            own = found.elements()
            names = dict(zip(own, map(_one_name, self.names(own)), strict=True))
            out.append((found, found.sentence(names, self.origin.groups, self.ledger.cap)))
        return out


def _one_name(name: Any) -> str:
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _somebody() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "somebody"
