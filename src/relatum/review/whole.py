"""A review of a ranking or a classification: which comes first, which label.

The same loop as for clusters, on a problem that is solved as a whole: answers are evidence, what
contradicts earlier ones is set aside and named, and the question that tells most comes next.
"""

from __future__ import annotations

import getpass
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError, DegenerateWarning
from relatum.inference import infer
from relatum.io import Answer, AnswersFile, require_answerable
from relatum.probability import entropy_of, probabilities
from relatum.problem import LINEAR_ORDERS, MAPS, LinearOrder, Map, Problem, numbered_evidence
from relatum.proof import Estimate, find_conflict
from relatum.review.doubtful import DOUBT, LEAST_BITS

FIRST, LABEL = "first", "label"  # verdicts: left comes before right, left has the label right
LIMITS = {"draws": 500, "time_limit": 1.0}  # of probabilities, where they are sampled
SECONDS = 2.0  # for a new estimate
CHOICES = 6  # labels that are offered


@dataclass(frozen=True)
class Choice:
    """A question with several answers.

    Attributes
    ----------
    element : int
        Of a classification, the element; of a ranking, the first of two.
    options : tuple of int
        Labels, the most probable first; or the two elements of a ranking.
    probability : tuple of float
        Of each option.
    bits : float
        What the answer tells.
    """

    element: int
    options: tuple[int, ...]
    probability: tuple[float, ...]
    bits: float


@dataclass(frozen=True)
class Said:
    """An answer by numbers: a before b, or a has the label b."""

    a: int
    b: int
    action: int
    who: str = ""


class Whole:
    """A review of one problem over linear orders or maps.

    Parameters
    ----------
    problem : Problem
    answers : path
        The file of answers, ``.csv``.
    who : str, optional

    Examples
    --------
    >>> import tempfile
    >>> scores = [[0, 0.2, 3.0], [0, 0, 2.0], [0, 0, 0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     review = Whole(Problem(scores, LINEAR_ORDERS), Path(folder) / "answers.csv", "ann")
    ...     asked = review.question()
    ...     moved = review.answer(1, 0)
    ...     asked.options, moved, review.order()
    ((0, 1), [(0, 0, 1), (1, 1, 0)], [1, 0, 2])
    """

    def __init__(
        self, problem: Problem, answers: str | Path = "answers.csv", who: str | None = None
    ) -> None:
        if problem.feasible <= LINEAR_ORDERS:
            self.verdict = FIRST
        elif problem.feasible <= MAPS:
            self.verdict = LABEL
        else:
            raise DataError(
                "Reviewed as a whole are linear orders and maps; clusters are reviewed by their "
                f"table of pairs. Got {problem.feasible}."
            )
        self.base = self.problem = problem
        self.who = who
        if who is None:
            with suppress(KeyError, OSError, ImportError):
                self.who = getpass.getuser()
        self.file = AnswersFile(answers)
        require_answerable(answers)
        self.held: list[Said] = []
        self.aside: list[tuple[Said, str]] = []
        self.unknown: list[Answer] = []
        self.told: dict[int, list[tuple[int, int, int]]] = {}
        self.skipped: set[tuple[int, ...]] = set()
        self._lock = threading.RLock()
        self._applied: list[Answer] = []
        self._numbers = [
            {self.name(k, side): k for k in range(problem.shape[side])} for side in (0, 1)
        ]
        self._estimate: Estimate | None = None
        self._known: Floats | None = None
        self.sync()

    def close(self) -> None:
        """Close what is open, which is nothing: answers are in their file."""

    @property
    def is_order(self) -> bool:
        """Whether it is a ranking."""
        return self.verdict == FIRST

    def name(self, k: int, side: int = 0) -> str:
        """Return what an element, or a label, is called."""
        return str(self.base.name_of(k, "A" if self.is_order or side == 0 else "B"))

    # --- answers

    def sync(self) -> bool:
        """Take over what others have answered; say whether there was anything."""
        with self._lock:
            self.file.refresh()
            last: dict[Any, Answer] = {}
            for answer in self.file.in_force():
                if answer.verdict == self.verdict:  # who answers again means the last answer
                    key = answer.who, answer.pair if self.is_order else answer.left
                    last.pop(key, None)
                    last[key] = answer
            answers = list(last.values())
            if answers == self._applied:
                return False
            new = answers[len(self._applied) :]
            if answers[: len(self._applied)] != self._applied:
                new, self.held, self.aside, self.unknown = answers, [], [], []
            self._applied = answers
            for answer in new:
                self._take(answer)
            self.problem, self._known = self._with(self.held), None
            self._solve()
            return True

    def _take(self, answer: Answer) -> None:
        ends = self._numbers[0].get(answer.left), self._numbers[1].get(answer.right)
        if ends[0] is None or ends[1] is None:
            self.unknown.append(answer)
            return
        said = Said(ends[0], ends[1], answer.action, answer.who)
        conflict = find_conflict(self._with([*self.held, said]))
        if conflict is None:
            self.held.append(said)
        else:
            self.aside.append((said, conflict.message))

    def _with(self, held: Sequence[Said]) -> Problem:
        if not held:
            return self.base
        known = numbered_evidence(related=[(s.a, s.b) for s in held])
        return self.base.with_feasible(self.base.feasible & known)

    def against(self, said: Said) -> list[Said]:
        """Return the answers that leave no room for one that was set aside."""
        conflict = find_conflict(self._with([*self.held, said]))
        if conflict is None:
            return []
        named = {tuple(pair) for pair in conflict.evidence.related.tolist()}
        return [s for s in self.held if (s.a, s.b) in named]

    def answer(self, a: int, b: int) -> list[tuple[int, int, int]]:
        """Take an answer: a comes before b, or a has the label b; return what it changed.

        Returns
        -------
        list of (element, before, after)
            Places or labels, of elements that have another one now.
        """
        with self._lock:
            for k, end in enumerate((a, b)):
                if not 0 <= end < self.base.shape[k]:
                    raise DataError(f"There is no element {end}.")
            if self.is_order and a == b:
                raise DataError("An element does not come before itself; name two.")
            self.sync()
            ends = self.name(a), self.name(b, 1)
            action = self.file.append([(*ends, self.verdict)], str(self.who or ""), "question")
            return self._after(action)

    def undo(self, action: int | None = None) -> int | None:
        """Take an action back, by default the last one; return the number of doing so."""
        with self._lock:
            self.sync()
            wanted = self.file.last_action(str(self.who or "")) if action is None else action
            if wanted is None:
                return None
            number = self.file.undo(wanted, str(self.who or ""))
            self._after(number)
            return number

    def _after(self, action: int) -> list[tuple[int, int, int]]:
        before = self.values()
        self.sync()
        now = self.values()
        moved = np.flatnonzero(before != now)
        changes = [(int(k), int(before[k]), int(now[k])) for k in moved]
        self.told[action] = changes
        return changes

    # --- what is found

    def _solve(self) -> None:
        start = None if self._estimate is None else self._estimate.relation
        if start is not None and not self.problem.feasible.contains(start):
            start = None
        self._estimate = infer(self.problem, start=start, time_limit=SECONDS)

    @property
    def estimate(self) -> Estimate:
        """The most probable relation given the answers."""
        if self._estimate is None:
            self._solve()
        assert self._estimate is not None
        return self._estimate

    def values(self) -> Index:
        """Return the place, or the label, of each element."""
        relation = self.estimate.relation
        if isinstance(relation, LinearOrder):
            return np.asarray(relation.ranks)
        if isinstance(relation, Map):
            return np.asarray(relation.labels)
        raise DataError(f"Nothing was found: {self.estimate.message}")

    def order(self) -> list[int]:
        """Return elements from first to last; of maps, as they are numbered."""
        values = self.values()
        places = np.argsort(values, kind="stable") if self.is_order else np.arange(len(values))
        return [int(k) for k in places]

    def known(self) -> Floats:
        """Return how probable each pair is, given all answers."""
        if self._known is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)  # good enough to ask by
                self._known = probabilities(self.problem, **LIMITS).matrix()  # type: ignore[arg-type]
        return self._known

    # --- what is asked

    def question(self) -> Choice | None:
        """Return the question that tells most; None if nothing is in doubt."""
        with self._lock:
            p = self.known()
            return self._pair(p) if self.is_order else self._label(p)

    def _pair(self, p: Floats) -> Choice | None:
        a, b = np.triu_indices(len(p), 1)
        bits = entropy_of(p[a, b])
        for k in np.argsort(-bits, kind="stable").tolist():
            pair = int(a[k]), int(b[k])
            if bits[k] <= LEAST_BITS:
                return None
            if pair not in self.skipped:
                chance = float(p[pair])
                return Choice(pair[0], pair, (chance, 1 - chance), float(bits[k]))
        return None

    def _label(self, p: Floats) -> Choice | None:
        safe = np.clip(p, 1e-300, 1)
        bits = np.abs((p * np.log2(safe)).sum(axis=1))
        for k in np.argsort(-bits, kind="stable").tolist():
            if p[k].max() >= 1 - DOUBT:
                continue
            if (k,) not in self.skipped:
                best = np.argsort(-p[k], kind="stable")[:CHOICES]
                chances = tuple(float(x) for x in p[k, best])
                return Choice(k, tuple(int(x) for x in best), chances, float(bits[k]))
        return None

    def skip(self, choice: Sequence[int]) -> None:
        """Do not ask about a pair, or an element, again."""
        self.skipped.add(tuple(choice))

    def left(self) -> int:
        """Return about how many questions are left.

        Of a ranking, neighbours whose order is in doubt; of a classification, elements whose label
        is.
        """
        p = self.known()
        if not self.is_order:
            return int(np.count_nonzero(p.max(axis=1) < 1 - DOUBT))
        order = np.array(self.order())
        return int(np.count_nonzero(p[order[:-1], order[1:]] < 1 - DOUBT))

    def proved(self, time_limit: float = 10.0) -> Estimate:
        """Search for a proof, starting from what is there."""
        with self._lock:
            start = self.estimate.relation
            found = infer(self.problem, prove=True, start=start, time_limit=time_limit)
            self._estimate = replace(found) if found.relation is not None else self._estimate
            return self.estimate
