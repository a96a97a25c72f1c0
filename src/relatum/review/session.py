"""A review: clusters, what people answered about them, and what follows from it.

A `Session` has no page. It reads the answers from their file, keeps every component that answers
touch solved, says what an answer changed, and what to ask next. All it is told is on the disk
before it says so; another session on the same file takes its answers over.
"""

from __future__ import annotations

import getpass
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.explanation import Explanation, explained
from relatum.io import DIFFERENT, SAME, Answer, AnswersFile
from relatum.pair_tables import Clusters, batch_of, cluster_confidence, component_of, confidence_of
from relatum.problem import Partition
from relatum.review.catalogue import Catalogue, Filter, Row, spans_of
from relatum.review.changes import Change, Clustering, changes_between
from relatum.review.doubtful import Agenda, Doubtful
from relatum.review.facts import Contradiction, Fact, Ledger, facts_of
from relatum.review.queue import Queue
from relatum.review.warm import Base, Solved, Warm

LOOKED_AT = 64  # components without answers that are kept after they were looked at
Key = tuple[int, ...]  # the roots of the components that answers join


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
        whole = self.origin.whole
        if "confidence" in whole.column_names:
            confidence = whole["confidence"].to_numpy()
        else:
            confidence = confidence_of(self.origin)
        self.catalogue = Catalogue(self.origin, confidence, records, id)
        self._order, self._roots, self._starts = spans_of(np.asarray(self.origin.roots, np.int64))
        self._lock = threading.RLock()
        self._warms: dict[Key, Warm] = {}
        self._keys: dict[int, Key] = {}  # of roots that answers join with others
        self._facts: dict[Key, frozenset[Fact]] = {}
        self._applied: list[Answer] = []
        self._numbers: dict[Any, int] = {}  # of ids that answers name
        self._dirty: set[Key] = set()
        self.unknown: list[Answer] = []  # about elements that are not in the table
        self.ledger = self._empty_ledger()
        self.told: dict[int, Told] = {}
        self.queue = Queue(self)
        self.sync()

    # --- components

    def key(self, root: int) -> Key:
        """Return the roots of the components that are one with a component."""
        return self._keys.get(int(root), (int(root),))

    def root(self, element: int) -> int:
        """Return the first of the components that an element's component is one with."""
        if not 0 <= element < len(self.origin.roots):
            raise DataError(f"There is no element {element}.")
        return self.key(int(self.origin.roots[element]))[0]

    def solved(self, root: int) -> Solved:
        """Return a component as it is now."""
        with self._lock:
            place = int(np.searchsorted(self._roots, root))
            if place >= len(self._roots) or self._roots[place] != root:
                raise DataError(f"There is no component {root}.")
            return self._solved(self.key(root))

    def prove(self, root: int, time_limit: float = 10.0) -> Solved:
        """Search for a proof that the clusters of a component are the most probable ones."""
        with self._lock:
            self.solved(root)  # or say that there is none
            key, facts = self.key(root), self._facts.get(self.key(root), frozenset())
            found = self._warm(key).proved_with(facts, time_limit)
            self._dirty.add(key)
            self.queue.forget(key)
            return found

    def explain(self, a: int, b: int, time_limit: float = 2.0) -> Explanation:
        """Say why two elements of one component are together, or are not."""
        root = self.root(a)
        if self.root(b) != root:
            raise DataError("These elements are in two components; nothing speaks for them.")
        solved = self.solved(root)
        ends = solved.base.place(a), solved.base.place(b)
        why = explained(solved.problem, solved.estimate, ends, (time_limit, 0))
        return why.named(solved.base.ids, self.found.contributions)

    def load(self, keys: Sequence[Key]) -> None:
        """Fetch components, all that are not there yet at once."""
        with self._lock:
            missing = [key for key in dict.fromkeys(keys) if key not in self._warms]
            if not missing:
                return
            parts = [self._elements(key) for key in missing]
            inside = np.concatenate(parts)
            owner = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
            by = np.argsort(inside, kind="stable")
            inside, owner = inside[by], owner[by]
            whole = self.origin.access.component(self.origin, inside)
            batch, order = batch_of(
                owner,
                (whole.i, whole.j, whole.log_odds),  # type: ignore[arg-type]
                _fixed(whole),
                whole.groups,
            )
            names, gaps = self.origin.ids(inside), self.origin.whole["cluster_gap"]
            codes = self.origin.whole["cluster_id"].take(inside).combine_chunks()
            clusters = codes.dictionary_encode().indices.to_numpy(zero_copy_only=False)
            for k, key in enumerate(missing):
                own = order[batch.element_ptr[k] : batch.element_ptr[k + 1]]
                labels = Partition(np.asarray(clusters, np.int64)[own]).labels
                gap = float(gaps.take(np.array(key)).to_numpy().sum())
                ids = [names[place] for place in own.tolist()]
                part = component_of(batch, k)
                base = Base(inside[own], ids, part, labels, gap, self.origin.settings)
                self._warms[key] = Warm(base)
            self._drop(missing)

    def _drop(self, kept: list[Key]) -> None:
        """Forget components without answers that were looked at long ago."""
        idle = [key for key in self._warms if key not in self._facts and key not in kept]
        for key in idle[: max(0, len(idle) - LOOKED_AT)]:
            del self._warms[key]

    def _elements(self, key: Key) -> Index:
        places = np.searchsorted(self._roots, np.array(key))
        spans = [self._order[self._starts[p] : self._starts[p + 1]] for p in places.tolist()]
        return np.sort(np.concatenate(spans)).astype(np.int64)

    def _warm(self, key: Key) -> Warm:
        self.load([key])
        return self._warms[key]

    def _solved(self, key: Key, start: Index | None = None) -> Solved:
        return self._warm(key).solved(self._facts.get(key, frozenset()), start)

    # --- what is known

    def sync(self) -> bool:
        """Take over what others have answered; say whether there was anything."""
        with self._lock:
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
        with self._lock:
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
        with self._lock:
            self.sync()
            wanted = self.file.last_action(self.who) if action is None else action
            if wanted is None:
                return None
            about = [a for a in self._applied if a.action == wanted]
            ends = [
                self._numbers[k] for a in about for k in (a.left, a.right) if k in self._numbers
            ]
            number = self.file.undo(wanted, self.who)
            return self._after(number, self.root(ends[0]) if ends else int(self._roots[0]))

    def _after(self, action: int, root: int) -> Told:
        """Take over what was just written, and say what it changed."""
        before, known = self._clusters(), {c.fact for c in self.ledger.contradictions}
        value, touched = self._value(), dict(self._facts)
        self.sync()
        changed = {k for k in {*touched, *self._facts} if touched.get(k) != self._facts.get(k)}
        elements = {int(e) for key in changed for e in self._elements(key)}
        was, now = (
            Clustering(elements, {k: c[k] for k in changed if k in c}, self._base_cluster)
            for c in (before, self._clusters())
        )
        changes = changes_between(was, now)
        new = [c for c in self.ledger.contradictions if c.fact not in known]
        told = Told(action, changes, new, self._value() - value, self.root(root))
        self.told[action] = told
        return told

    def _clusters(self) -> dict[Key, Solved]:
        return {key: self._solved(key) for key in self._facts}

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
        roots, held = self.origin.roots, [f for f in self.ledger.held if f.action]
        ends = [(int(roots[f.a]), int(roots[f.b]), f) for f in held]
        keys = _joined([(a, b) for a, b, f in ends if f.same and a != b])
        facts: dict[Key, set[Fact]] = {}
        for a, b, fact in ends:
            key = keys.get(a, (a,))
            if key == keys.get(b, (b,)):
                facts.setdefault(key, set()).add(fact)
        now = {key: frozenset(found) for key, found in facts.items()}
        changed = [k for k in {*now, *self._facts} if now.get(k) != self._facts.get(k)]
        before = {int(r): self._solved(key) for key in self._facts for r in key if len(key) > 1}
        self._keys, self._facts = keys, now
        self.load([key for key in changed if key in now])
        for key in changed:
            self._dirty.add(key)
            self.queue.forget(key)
            if key in now and len(key) > 1:
                self._solved(key, self._start(key, before))

    def _start(self, key: Key, before: dict[int, Solved]) -> Index | None:
        """Return the clusters that joined components had before they were joined."""
        base = self._warm(key).base
        if self._warms[key].last is not None:
            return None
        labels, used = np.empty(base.n, np.int64), 0
        for root in key:
            solved = before.get(root)
            if solved is None:
                solved = self._solved((root,)) if (root,) in self._warms else None
            own = self._elements((root,))
            places = np.searchsorted(base.elements, own)
            if solved is None:
                labels[places] = used + base.labels[places]
            else:
                labels[places] = used + solved.labels[np.searchsorted(solved.base.elements, own)]
            used = int(labels[places].max()) + 1
        return Partition(labels).labels

    # --- what is asked

    def question(self, root: int | None = None) -> Doubtful | None:
        """Return the question that tells most, of all or about one component."""
        with self._lock:
            if root is not None:
                self.solved(root)  # or say that there is none
            return self.queue.first(None if root is None else self.key(root))

    def skip(self, a: int, b: int) -> None:
        """Do not ask about a pair again in this session."""
        with self._lock:
            self.queue.skip(a, b)

    def left(self) -> int:
        """Return about how many questions are left until no pair is in doubt."""
        with self._lock:
            return self.queue.left()

    def agenda(self, root: int) -> Agenda:
        """Return the questions about a component."""
        with self._lock:
            self.solved(root)  # or say that there is none
            return self.queue.agenda(self.key(root))

    def answers_of(self, root: int) -> list[Fact]:
        """Return the answers that hold about a component, oldest first."""
        return sorted(self._facts.get(self.key(root), ()), key=lambda f: (f.action, f.a, f.b))

    # --- what is shown

    def _value(self) -> float:
        solved = [self._solved(key) for key in self._facts]
        return self.found.summary.value + sum(s.value - s.base.value for s in solved)

    def touched(self) -> list[Solved]:
        """Return all components that answers touch, as they are now."""
        with self._lock:
            return [self._solved(key) for key in self._facts]

    def numbers(self) -> Numbers:
        """Return how many of everything there are now."""
        with self._lock:
            summary, solved = self.found.summary, [self._solved(key) for key in self._facts]
            sizes = Counter(self.catalogue.sizes())
            clusters, bound = summary.clusters, summary.bound
            for s in solved:
                before = np.bincount(s.base.labels)
                clusters += s.clusters - len(before)
                bound += s.bound - s.base.bound
                sizes.subtract(Counter(before.tolist()))
                sizes.update(Counter(np.bincount(s.labels).tolist()))
            joined = sum(len(key) - 1 for key in self._facts)
            value = self._value()
            return Numbers(
                summary.elements,
                clusters,
                summary.components - joined,
                len(self._applied),
                value,
                max(value, bound),
                {k: v for k, v in sorted(sizes.items()) if v > 0},
            )

    def components(self, wanted: Filter, page: int, count: int = 25) -> tuple[list[Row], int]:
        """Return a page of the list of components, and how many there are."""
        with self._lock:
            self._flush()
            return self.catalogue.components(wanted, page * count, count)

    def _flush(self) -> None:
        """Bring the list of components up to date."""
        rows: list[tuple[int, dict[str, Any]]] = []
        for key in sorted(self._dirty):
            now = self.key(key[0])
            for k, root in enumerate(now):
                rows.append((root, self._row(now) if k == 0 else {"n": 0}))
            rows += [(r, self._row(self.key(r))) for r in key if self.key(r) != now]
        self._dirty.clear()
        self.catalogue.update(rows)

    def _row(self, key: Key) -> dict[str, Any]:
        solved = self._solved(key)
        return {
            "n": solved.base.n,
            "clusters": solved.clusters,
            "gap": solved.gap,
            "sure": self.sure(solved),
            "answers": len(self._facts.get(key, ())),
        }

    def sure(self, solved: Solved) -> float:
        """Return how sure the least sure cluster of a component is."""
        found = cluster_confidence(solved.component().batch(), solved.labels, self.origin.settings)[
            0
        ]
        return float(found.min(initial=1.0))

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


def _fixed(component: Any) -> Index:
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
