"""What to ask next: the pairs whose answers tell most, and a loop that asks them.

An answer that is always right tells as many bits as the pair's entropy given everything known: most
where its probability is 1/2. Where the score of a pair is near 0 its probability need not be: other
pairs may have decided it. In clusterings an answer tells of more than its pair: whether two large
sets are one matters more than whether two elements are. There, questions are ranked by the number
of pairs that the answer is expected to put right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import DataError, ProblemError
from relatum.probability.beliefs import OpenPairs, beliefs_of
from relatum.problem import Problem, Relation, numbered_evidence, shown, whole_number

Cost = Callable[[Index, Index], Any]


@dataclass(frozen=True)
class Question:
    """A pair to ask about.

    Attributes
    ----------
    i, j : int
        Elements of the problem.
    probability : float
        That they are related, given everything known.
    entropy : float
        What the answer tells of the pair, in bits.
    ids : tuple or None
        The ids of the elements, if the problem has ids.
    worth : float
        What questions are ranked by, per cost: of clusterings, how many pairs the answer is
        expected to put right; the entropy of others.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> best = rt.questions(problem, 1)[0]
    >>> (best.i, best.j), round(best.probability, 2), round(best.entropy, 2)
    ((1, 2), 0.72, 0.85)
    """

    i: int
    j: int
    probability: float
    entropy: float
    ids: tuple[Any, Any] | None = None
    worth: float = 0.0


@dataclass(frozen=True, eq=False)
class Asked:
    """What came of asking.

    Attributes
    ----------
    problem : Problem
        With the answers as evidence.
    relation : Relation
        The most probable one given the answers, as far as a search found it; `relatum.infer` of
        the problem also bounds it. In a clustering of more than a dozen connected elements, an
        answer moves whole groups: scores between the same two groups count as one or two
        independent ones there, see the page on questions.
    answers : list of (Question, bool)
        In the order in which they were asked.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> asked = rt.learn_by_asking(problem, lambda i, j: (i, j) == (0, 1), 2)
    >>> asked.relation.labels.tolist(), len(asked.answers)
    ([0, 0, 1], 2)
    """

    problem: Problem
    relation: Relation
    answers: list[tuple[Question, bool]]

    def __repr__(self) -> str:
        yes = sum(related for _, related in self.answers)
        told = sum(question.entropy for question, _ in self.answers)
        return (
            f"Asked({len(self.answers)} answers, {yes} related, {told:.1f} bits expected of them, "
            f"{self.problem})"
        )


def questions(
    problem: Problem, k: int = 1, cost: Cost | None = None, **options: Any
) -> list[Question]:
    """Return the pairs whose answers tell most.

    Parameters
    ----------
    problem : Problem
    k : int
        How many. No two of them have an element in common, as long as there are such: answers
        about one element tell much the same.
    cost : callable (i, j) -> costs, optional
        What the answers to pairs, arrays of elements, cost: what is worth most per cost comes
        first.
    **options
        For `relatum.probabilities`, where that is asked.

    Returns
    -------
    list of Question
        Fewer than `k` if there are not as many open pairs.

    Examples
    --------
    Whether 0 and 1 are related is nearly certain; whether 2 belongs to them is not.

    >>> from relatum.problem import EQUIVALENCES
    >>> first = questions(Problem([9.0, 2.0, -2.5], EQUIVALENCES))[0]
    >>> (first.i, first.j), round(first.probability, 2), round(first.entropy, 2)
    ((0, 2), 0.42, 0.98)
    """
    _require(problem, cost)
    count = whole_number(k, "The number of questions, k,", least=0)
    return _best(problem, beliefs_of(problem, options).open_pairs(), count, cost)


def learn_by_asking(
    problem: Problem,
    oracle: Callable[[int, int], bool],
    k: int,
    *,
    batch: int = 1,
    cost: Cost | None = None,
    **options: Any,
) -> Asked:
    """Ask about the pairs that tell most, one after the other, and learn from the answers.

    Parameters
    ----------
    problem : Problem
    oracle : callable (i, j) -> bool
        Whether two elements are related: a person, or the truth.
    k : int
        How many questions to ask at most.
    batch : int
        How many to ask at a time, before what they tell is taken into account.
    cost : callable, optional
        As for `questions`.
    **options
        For `relatum.probabilities`, where that is asked.

    Returns
    -------
    Asked

    Examples
    --------
    >>> from relatum.problem import EQUIVALENCES
    >>> told = learn_by_asking(Problem([9.0, 2.0, -2.5], EQUIVALENCES), lambda i, j: True, 1)
    >>> told.relation.labels.tolist()
    [0, 0, 0]
    """
    _require(problem, cost)
    left = whole_number(k, "The number of questions, k,", least=0)
    step = whole_number(batch, "batch", least=1)
    if not callable(oracle):
        raise DataError(f"oracle is a function of two elements, got {type(oracle).__name__}.")
    beliefs, answers = beliefs_of(problem, options), list[tuple[Question, bool]]()
    while left > 0:
        found = _best(problem, beliefs.open_pairs(), min(step, left), cost)
        if not found:
            break
        for question in found:
            related = _answer(oracle, question)
            beliefs.learn(question.i, question.j, related)
            answers.append((question, related))
        left -= len(found)
    known: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for question, related in answers:
        known[related].append((question.i, question.j))
    told = problem.feasible & numbered_evidence(related=known[True], unrelated=known[False])
    return Asked(problem.with_feasible(told), beliefs.relation(), answers)


def _answer(oracle: Callable[[int, int], bool], question: Question) -> bool:
    related = oracle(question.i, question.j)
    if not isinstance(related, bool | np.bool_):
        raise DataError(
            f"The oracle says True or False of the pair ({question.i}, {question.j}), got "
            f"{shown(related)}."
        )
    return bool(related)


def _require(problem: Any, cost: Any) -> None:
    if not isinstance(problem, Problem):
        raise ProblemError(f"Questions are about a relatum.Problem, got {type(problem).__name__}.")
    if cost is not None and not callable(cost):
        raise DataError(f"cost is a function of two arrays, got {type(cost).__name__}.")


def _best(problem: Problem, pairs: OpenPairs, count: int, cost: Cost | None) -> list[Question]:
    """Return the pairs of most worth per cost, if possible without a common element."""
    entropy = entropy_of(pairs.probability)
    worth = entropy if pairs.worth is None else pairs.worth
    if cost is not None:
        costs = np.broadcast_to(np.asarray(cost(pairs.i, pairs.j), np.float64), entropy.shape)
        if not (costs > 0).all():
            raise DataError("Costs of questions are positive numbers, one for each pair.")
        worth = worth / costs
    order = np.lexsort((pairs.j, pairs.i, -worth))
    square = problem.shape[0] == problem.shape[1]
    taken: set[tuple[int, int]] = set()
    chosen: list[int] = []
    later: list[int] = []
    for place in order[: 50 * count].tolist():
        ends = {(0, int(pairs.i[place])), (0 if square else 1, int(pairs.j[place]))}
        if len(chosen) == count:
            break
        if ends & taken:
            later.append(place)
        else:
            chosen.append(place)
            taken |= ends
    chosen = (chosen + later)[:count]
    out = []
    for place in chosen:
        i, j = int(pairs.i[place]), int(pairs.j[place])
        unnamed = problem.names is None
        names = None if unnamed else (problem.name_of(i), problem.name_of(j, "B"))
        p, told, most = (float(x[place]) for x in (pairs.probability, entropy, worth))
        out.append(Question(i, j, p, told, names, most))
    return out


def entropy_of(p: Floats) -> Floats:
    """Return the entropy, in bits, of something that has a probability.

    Examples
    --------
    >>> entropy_of(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 1.0, 0.0]
    """
    q = np.clip(p, 1e-300, 1.0), np.clip(1 - p, 1e-300, 1.0)
    return np.asarray(np.abs(p * np.log2(q[0]) + (1 - p) * np.log2(q[1])))
