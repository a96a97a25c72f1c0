"""How probable the open pairs of a problem are, kept up to date while pairs become known.

Three ways, by kind of problem. What an answer does not touch is not computed again.

* Matchings (two sets, at most one partner each; or clusterings with one element of each of two
  groups): messages, see `relatum.probability.matchings`, from where they were.
* Clusterings: the parts that pairs above `NEAR` bits connect, each on its own; exact for a dozen
  elements. In larger parts, between groups of elements, see `relatum.probability.linkage`.
* All else: `relatum.probabilities` of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import EvidenceError
from relatum.inference import infer
from relatum.probability.asking import probabilities
from relatum.probability.linkage import Known, damped, group_questions
from relatum.probability.matchings import best_matching, matching_probabilities
from relatum.probability.scored import fixed_pairs, scored_pairs
from relatum.problem import (
    EQUIVALENCES,
    Partition,
    Problem,
    Relation,
    SparseScores,
    numbered_evidence,
)
from relatum.solvers.reductions import connected

NEAR = -6.0  # bits: elements that no chain of better pairs connects are taken to be unrelated
EXACT = 12  # elements of parts that are summed over: some ten milliseconds


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """Pairs that may be asked about, and their probabilities.

    Of clusterings, `worth` is the number of pairs that the answer is expected to put right;
    elsewhere it is None.
    """

    i: Index
    j: Index
    probability: Floats
    worth: Floats | None = None


class Beliefs(Protocol):
    """What is believed of open pairs."""

    def open_pairs(self) -> OpenPairs:
        """Return the pairs that may be asked about."""

    def learn(self, i: int, j: int, related: bool) -> None:
        """Take an answer into account."""

    def relation(self) -> Relation:
        """Return the most probable relation given all answers."""


def beliefs_of(problem: Problem, options: dict[str, Any]) -> Beliefs:
    """Return beliefs about a problem; `options` are those of `relatum.probabilities`."""
    if problem.feasible.structure == EQUIVALENCES:
        if _of_two_groups(problem):
            return _Matching(problem)
        return _Clustering(problem, options)
    names = problem.feasible.names
    if names == {"unique_image", "unique_preimage"}:
        return _Matching(problem)
    return _Whole(problem, options)


def open_pairs_of(problem: Problem, labels: Index) -> OpenPairs:
    """Return the open pairs of a clustering problem whose most probable clustering is known.

    Parameters
    ----------
    problem : Problem
        Over clusterings.
    labels : int64 array
        The most probable clustering, or a good one: no search is made. Matchings of two groups do
        not need it.
    """
    if _of_two_groups(problem):
        return _Matching(problem).open_pairs()
    return _Clustering(problem, {"across": False}, labels).open_pairs()


def _of_two_groups(problem: Problem) -> bool:
    groups = problem.feasible.groups
    return len(groups) == 1 and len(np.unique(groups[0].codes)) == 2


def with_answer(problem: Problem, i: int, j: int, related: bool) -> Problem:
    """Return a problem in which a pair is known."""
    yes, no = ([(i, j)], []) if related else ([], [(i, j)])
    return problem.with_feasible(problem.feasible & numbered_evidence(related=yes, unrelated=no))


def contradiction() -> EvidenceError:
    """Return the error of answers that cannot all be right."""
    return EvidenceError(
        "The answers, with what was known before, leave no feasible relation: some of them "
        "contradict each other. Ask again about the pairs of the last answers."
    )


class _Whole:
    """Of any problem: probabilities of the whole, anew after every answer."""

    def __init__(self, problem: Problem, options: dict[str, Any]) -> None:
        self.problem, self.options = problem, options
        self._open: OpenPairs | None = None

    def open_pairs(self) -> OpenPairs:
        if self._open is None:
            found = scored_pairs(self.problem)
            i, j = found.i[found.open], found.j[found.open]
            p = probabilities(self.problem, **self.options).posterior.marginals.pairs(i, j)[0]
            self._open = OpenPairs(i, j, p)
        return self._open

    def learn(self, i: int, j: int, related: bool) -> None:
        self.problem, self._open = with_answer(self.problem, i, j, related), None

    def relation(self) -> Relation:
        found = infer(self.problem).relation
        if found is None:
            raise contradiction()
        return found


class _Matching:
    """Of matchings of listed pairs: messages from where they were."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.square = problem.feasible.structure == EQUIVALENCES
        found = scored_pairs(problem)
        own = found.open
        self.i, self.j, self.bits = found.i[own], found.j[own], found.bits[own]
        if self.square:  # the first group stands in the rows
            codes = problem.feasible.groups[0].codes
            turn = codes[self.i] > codes[self.j]
            self.i, self.j = np.where(turn, self.j, self.i), np.where(turn, self.i, self.j)
        self.matched: list[tuple[int, int]] = []
        self.messages: Floats | None = None
        self._open: OpenPairs | None = None
        for a, b in problem.evidence.related.tolist():
            self.learn(a, b, related=True)

    def open_pairs(self) -> OpenPairs:
        if self._open is None:
            shape = self.problem.shape
            found = matching_probabilities(self.i, self.j, self.bits, shape, self.messages)
            self.messages = found.messages
            self._open = OpenPairs(self.i, self.j, found.probabilities)
        return self._open

    def learn(self, i: int, j: int, related: bool) -> None:
        keep = (self.i != i) | (self.j != j)
        if self.square:
            keep &= (self.i != j) | (self.j != i)
        if related:
            if any(
                i in pair or j in pair if self.square else i == pair[0] or j == pair[1]
                for pair in self.matched
            ):
                raise contradiction()
            self.matched.append((i, j))
            ends = (i, j) if self.square else (i,), (i, j) if self.square else (j,)
            keep &= ~np.isin(self.i, ends[0]) & ~np.isin(self.j, ends[1])
        if self.messages is not None:
            self.messages = self.messages[np.tile(keep, 2)]
        self.i, self.j, self.bits = self.i[keep], self.j[keep], self.bits[keep]
        self._open = None

    def relation(self) -> Relation:
        a, b = best_matching(self.i, self.j, self.bits)
        known = np.array(self.matched, dtype=np.int64).reshape(-1, 2)
        a, b = np.append(a, known[:, 0]), np.append(b, known[:, 1])
        if self.square:
            labels = np.arange(self.problem.n)
            labels[np.maximum(a, b)] = np.minimum(a, b)
            return Partition(labels)
        matrix = np.zeros(self.problem.shape, np.bool_)
        matrix[a, b] = True
        return Relation(matrix)


@dataclass(eq=False)
class _Part:
    """Elements that may be related, and what is believed of their pairs."""

    elements: Index
    problem: Problem
    labels: Index | None = None  # of the most probable clustering, if it is known
    known: bool = False  # whether these labels are given, and not to be improved
    i: Index = field(default_factory=lambda: np.empty(0, np.int64))
    j: Index = field(default_factory=lambda: np.empty(0, np.int64))
    p: Floats = field(default_factory=lambda: np.empty(0))
    worth: Floats = field(default_factory=lambda: np.empty(0))
    done: bool = False


class _Clustering:
    """Of clusterings: part by part; only the part of an answer is computed again."""

    def __init__(
        self, problem: Problem, options: dict[str, Any], labels: Index | None = None
    ) -> None:
        self.problem, self.options = problem, options
        found = scored_pairs(problem)
        near = (found.bits > NEAR) & found.open
        yes = problem.evidence.related
        self.part = connected(problem.n, [(found.i[near], found.j[near]), (yes[:, 0], yes[:, 1])])
        by = np.argsort(self.part, kind="stable")
        sizes = np.bincount(self.part)
        self.place = np.empty(problem.n, np.int64)
        self.parts = []
        for elements in np.split(by, np.cumsum(sizes)[:-1]):
            self.place[elements] = np.arange(len(elements))
            own = None if labels is None else np.unique(labels[elements], return_inverse=True)[1]
            self.parts.append(_Part(elements, problem.restrict(elements), own, own is not None))
        self._open: OpenPairs | None = None

    def open_pairs(self) -> OpenPairs:
        for part in self.parts:
            if not part.done:
                self._look(part)
                self._open = None
        if self._open is None:
            i = np.concatenate([part.elements[part.i] for part in self.parts])
            j = np.concatenate([part.elements[part.j] for part in self.parts])
            p = np.concatenate([part.p for part in self.parts])
            self._open = OpenPairs(i, j, p, np.concatenate([part.worth for part in self.parts]))
        return self._open

    def _look(self, part: _Part) -> None:
        n, part.done = len(part.elements), True
        if n > EXACT:
            if part.labels is None or not part.known:
                part.labels = _solved(part)
            found = group_questions(_known(part))
            part.i, part.j, part.p, part.worth = found.i, found.j, found.probability, found.worth
            return
        i, j = (x.astype(np.int64) for x in np.triu_indices(n, 1))
        open_ = ~fixed_pairs(part.problem, i, j)
        part.i, part.j, part.labels = i[open_], j[open_], None
        if not len(part.i):
            part.p, part.worth = np.empty(0), np.empty(0)
            return
        exact = probabilities(part.problem, **(self.options | {"method": "exact"})).matrix()
        part.p = exact[part.i, part.j]
        # whoever is with i and not with j, and the other way round, changes sides with them
        with_one = exact + exact @ (1.0 - exact)  # i itself counts as one
        moved = with_one[part.i, part.j] * with_one[part.j, part.i]
        part.worth = np.minimum(part.p, 1 - part.p) * moved

    def learn(self, i: int, j: int, related: bool) -> None:
        part = self.parts[self.part[i]]
        if self.part[i] != self.part[j]:
            return  # taken to be unrelated in any case
        a, b = sorted((int(self.place[i]), int(self.place[j])))
        part.problem, part.done = with_answer(part.problem, a, b, related), False
        part.known = False

    def relation(self) -> Relation:
        labels, used = np.zeros(self.problem.n, np.int64), 0
        for part in self.parts:
            if len(part.elements) > 1:
                if part.labels is None or not part.done:
                    part.labels = _solved(part)
                labels[part.elements] = used + part.labels
            else:
                labels[part.elements] = used
            used = int(labels[part.elements].max()) + 1
        return Partition(labels)


def _solved(part: _Part) -> Index:
    """Return the most probable clustering; after answers, of damped scores where it is large."""
    problem, start = part.problem, None
    if part.labels is not None:
        start = Partition(part.labels)
        if len(part.elements) > EXACT:
            dense = problem.dense()
            new = damped(dense + dense.T, part.labels)
            feasible = problem.feasible
            problem = Problem(new[np.triu_indices(len(new), 1)], feasible)
        if not problem.feasible.contains(start):
            start = None  # the last answer says otherwise
    found = infer(problem, start=start, time_limit=5.0).relation
    if not isinstance(found, Partition):
        raise contradiction()
    return found.labels


def _known(part: _Part) -> Known:
    """Return what is known of a large part whose labels are."""
    assert part.labels is not None
    problem, n = part.problem, len(part.elements)
    scores, state = problem.dense(), problem.state
    listed = ~np.eye(n, dtype=np.bool_)
    if isinstance(problem.scores, SparseScores):
        listed[:] = False
        listed[problem.scores.i, problem.scores.j] = True
        listed |= listed.T
    together, apart = (state == 1) | (state.T == 1), (state == 0) | (state.T == 0)
    np.fill_diagonal(together, False)
    return Known(scores + scores.T, listed, part.labels, together, apart)
