"""What to ask next about a component, and how many questions are left.

Questions are those of `relatum.questions`, in the same order: by how many pairs the answer is
expected to put right. Probabilities are exact where a dozen elements may be related, and between
groups of elements where there are more; in matchings of two sources, those of the matching.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.probability import OpenPairs, entropy_of, open_pairs_of
from relatum.problem import SparseScores
from relatum.review.facts import Ledger
from relatum.review.near import largest_of
from relatum.review.warm import Solved

DOUBT = 0.05  # a pair is in doubt if its probability is above this, and below 1 minus this
LEAST = 0.01  # pairs that an answer must be expected to put right
KEPT = 64  # questions of a component


@dataclass(frozen=True)
class Doubtful:
    """A question: whether two elements are the same.

    Attributes
    ----------
    a, b : int
        Numbers in the table.
    probability : float
        That they are, given the scores and all answers.
    bits : float
        What the answer tells of the pair, in bits.
    worth : float
        What questions are ranked by: how many pairs the answer is expected to put right.
    """

    a: int
    b: int
    probability: float
    bits: float
    worth: float


@dataclass(frozen=True, eq=False)
class Agenda:
    """Questions about one component, the one that is worth most first.

    Attributes
    ----------
    questions : list of Doubtful
        Only what is worth asking; some dozens at most.
    left : int
        How many questions it is likely to take until no pair is in doubt: if every answer is the
        more probable one. One at least while there is something to ask.
    """

    questions: list[Doubtful]
    left: int


LEAST_BITS = float(entropy_of(np.array([DOUBT]))[0])  # of questions that are about one pair only


def agenda_of(solved: Solved, ledger: Ledger, between: Index | None = None) -> Agenda:
    """Return the questions about a component.

    Parameters
    ----------
    solved : Solved
    ledger : Ledger
        All that was answered: what follows from it is not asked.
    between : integer array, optional
        A part of each element: only pairs of two parts are asked about.
    """
    if solved.base.n < 2:
        return Agenda([], 0)
    pairs = _open_pairs(solved)
    if between is not None:
        pairs = _chosen(pairs, between[pairs.i] != between[pairs.j])
    bits, worth = entropy_of(pairs.probability), worth_of(pairs)
    order = np.lexsort((pairs.j, pairs.i, -worth))
    order = order[worth[order] > LEAST]
    out: list[Doubtful] = []
    for k in order.tolist():
        a, b = (int(solved.base.elements[x[k]]) for x in (pairs.i, pairs.j))
        if ledger.says(a, b) is None and ledger.has_room(a, b):
            out.append(Doubtful(a, b, *(float(x[k]) for x in (pairs.probability, bits, worth))))
            if len(out) == KEPT:
                break
    return Agenda(out, max(1, likely_left(solved.base.n, pairs)) if out else 0)


def worth_of(pairs: OpenPairs) -> Floats:
    """Return how many pairs answers are expected to put right; of matchings, the pair itself.

    Examples
    --------
    >>> pair = np.array([0]), np.array([1]), np.array([0.9])
    >>> worth_of(OpenPairs(*pair)).round(2).tolist()
    [0.1]
    """
    if pairs.worth is not None:
        return pairs.worth
    return np.minimum(pairs.probability, 1 - pairs.probability)  # in the order of the entropy


def _open_pairs(solved: Solved) -> OpenPairs:
    """Return all pairs in doubt; of a component larger than neighbourhoods are, by scores alone."""
    groups = solved.problem.feasible.groups
    if solved.base.n <= largest_of(groups[0].codes if groups else None):
        return open_pairs_of(solved.problem, solved.labels)
    scores = solved.base.problem.scores
    assert isinstance(scores, SparseScores)
    bits = np.clip(np.asarray(scores.log_odds, np.float64), -60, 60)
    p: Floats = 1 / (1 + np.exp2(-bits))
    return OpenPairs(scores.i, scores.j, p)


def _chosen(pairs: OpenPairs, keep: Flags) -> OpenPairs:
    worth = None if pairs.worth is None else pairs.worth[keep]
    return OpenPairs(pairs.i[keep], pairs.j[keep], pairs.probability[keep], worth)


def likely_left(n: int, pairs: OpenPairs, doubt: float = DOUBT) -> int:
    """Return how many questions are likely to be left.

    Elements that are surely the same are one. Of the others, the pairs in most doubt are asked
    first, and every answer is the more probable one; what follows from answers is not asked.

    Parameters
    ----------
    n : int
        How many elements there are.
    pairs : OpenPairs
    doubt : float

    Examples
    --------
    Whether 2 belongs to 0 and 1 is one question, not two.

    >>> i, j = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> likely_left(3, OpenPairs(i, j, np.array([0.99, 0.6, 0.55])))
    1
    """
    from scipy.sparse import coo_array  # slow to import: only where it is used
    from scipy.sparse.csgraph import connected_components

    p, sure = pairs.probability, pairs.probability >= 1 - doubt
    ends = pairs.i[sure], pairs.j[sure]
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(n, n))
    block: Index = connected_components(graph, directed=False)[1].astype(np.int64)
    asked = (p > doubt) & ~sure & (block[pairs.i] != block[pairs.j])
    low = np.minimum(block[pairs.i[asked]], block[pairs.j[asked]])
    high = np.maximum(block[pairs.i[asked]], block[pairs.j[asked]])
    p = p[asked]
    order = np.argsort(np.abs(p - 0.5), kind="stable")
    return _asked(low[order].tolist(), high[order].tolist(), (p[order] >= 0.5).tolist())


def _asked(low: list[int], high: list[int], same: list[bool]) -> int:
    """Return how many of these pairs are asked about, if each is answered as it is expected."""
    one: dict[int, int] = {}
    apart: dict[int, set[int]] = {}
    count = 0

    def find(k: int) -> int:
        while k in one:
            k = one[k]
        return k

    for left, right, related in zip(low, high, same, strict=True):
        a, b = find(left), find(right)
        if a == b or b in apart.get(a, ()):
            continue
        count += 1
        if not related:
            apart.setdefault(a, set()).add(b)
            apart.setdefault(b, set()).add(a)
            continue
        if len(apart.get(a, ())) < len(apart.get(b, ())):
            a, b = b, a
        one[b] = a
        for other in apart.pop(b, set()):
            apart[other].discard(b)
            apart[other].add(a)
            apart.setdefault(a, set()).add(other)
    return count
