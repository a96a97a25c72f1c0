"""Why a pair is related, or is not: what the opposite would cost, and what decides it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import ProblemError
from relatum.inference import infer
from relatum.live import seen
from relatum.problem import (
    EQUIVALENCES,
    Partition,
    Problem,
    Relation,
    SparseScores,
    WeakOrder,
    condensed_places,
    numbered_evidence,
    shown,
)
from relatum.proof import Estimate, Status

__all__ = ["Cost", "Explanation", "Fields", "Link", "explain", "explained", "place_costs"]

Fields: TypeAlias = Callable[[Any, Any], Iterable[tuple[str, str, float]]]


@dataclass(frozen=True)
class Cost:
    """How many bits forcing a pair costs: the true cost lies between two numbers.

    Attributes
    ----------
    low, high : float
        In bits; equal, up to rounding, where both problems were solved to optimality.
        Infinite if properties or evidence rule the case out.
    """

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the cost is known, up to a millionth of a bit."""
        return self.low == self.high or self.high - self.low <= 1e-5

    def __str__(self) -> str:
        if math.isinf(self.low):
            return "impossible"
        if self.exact:
            return f"{self.high:.3g} bits"
        return f"between {self.low:.3g} and {self.high:.3g} bits"


@dataclass(frozen=True)
class Link:
    """One pair of a chain: its log-odds, and whether the estimate relates it.

    Attributes
    ----------
    a, b : int or id
    log_odds : float
    related : bool
    fields : tuple of (field, level, bits)
        Where records are compared field by field: what each says of the pair, and with how many
        bits; positive ones speak for it. Largest first.
    """

    a: Any
    b: Any
    log_odds: float
    related: bool
    fields: tuple[tuple[str, str, float], ...] = ()

    def __str__(self) -> str:
        said = [f"{name} {level} {bits:+.3g}" for name, level, bits in self.fields]
        return f"{self.a} - {self.b} ({self.log_odds:.3g} bits): {', '.join(said)}"


@dataclass(frozen=True)
class Explanation:
    """What `explain` returns.

    Attributes
    ----------
    pair : (int, int)
        Or two ids, where clusters of a table explain themselves.
    related : bool
        Whether the estimate relates the pair.
    log_odds : float
        The pair's own log-odds, in bits.
    together, apart : Cost
        What forcing the pair to be related, or unrelated, costs against the optimum.
    chain : tuple of Link
        From the one element to the other through the pairs of largest log-odds: of all
        chains, the one whose weakest pair is strongest. For a related pair it stays in
        their set; for an unrelated one it shows what speaks for relating them, and the
        links that are not related are where the estimate cuts it.
    sentence : str

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> why = rt.explain(problem, rt.infer(problem, prove=True), 1, 2)
    >>> why.related, why.log_odds, [(link.a, link.b) for link in why.chain]
    (True, -1.0, [(1, 0), (0, 2)])
    >>> print(why.sentence)
    1 and 2 are related, though their own log-odds are -1 bits: 1-0 (4), 0-2 (3) decide it.
    Forcing them apart would cost 2 bits.
    """

    pair: tuple[Any, Any]
    related: bool
    log_odds: float
    together: Cost
    apart: Cost
    chain: tuple[Link, ...]
    sentence: str

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(str(link) for link in self.chain if link.fields)])

    def named(self, names: Any, fields: Fields | None = None) -> Explanation:
        """Return the same by names of elements, and with what their fields say of each pair.

        Parameters
        ----------
        names : sequence, or callable (number, "A" or "B") -> name
            The name of each element, or `Problem.name_of`.
        fields : callable (name, name) -> list of (field, level, bits), optional
        """
        name_of = names if callable(names) else lambda k, _: names[k]
        chain = []
        for link in self.chain:
            a, b = name_of(link.a, "A"), name_of(link.b, "B")
            said = () if fields is None else sorted(fields(a, b), key=lambda f: -f[2])
            own = tuple((str(f), str(level), float(bits)) for f, level, bits in said)
            chain.append(Link(a, b, link.log_odds, link.related, own))
        pair = name_of(self.pair[0], "A"), name_of(self.pair[1], "B")
        other = self.apart if self.related else self.together
        sentence = _sentence(*pair, self.related, self.log_odds, other, tuple(chain), " - ")
        return replace(self, pair=pair, chain=tuple(chain), sentence=sentence)


@seen("explaining")
def explain(
    problem: Problem,
    estimate: Estimate,
    a: Any,
    b: Any,
    *,
    time_limit: float = 10.0,
    seed: int = 0,
) -> Explanation:
    """Say what forcing a pair together or apart would cost, and which pairs decide it.

    Parameters
    ----------
    problem : Problem
    estimate : Estimate
        An estimate of the problem, with a relation.
    a, b : names or numbers of elements
        The pair; by names, and so is the answer, where the problem has them.
    time_limit : float
        Seconds for the one further inference. If the estimate and that inference are
        optimal, costs are exact; otherwise they are bracketed by values and bounds.
    seed : int

    Examples
    --------
    >>> from relatum.problem import EQUIVALENCES
    >>> problem = Problem([[0, 5, -1], [5, 0, 4], [-1, 4, 0]], EQUIVALENCES)
    >>> why = explain(problem, infer(problem, prove=True), 0, 2)
    >>> print(why)
    0 and 2 are related, though their own log-odds are -2 bits: 0-1 (10), 1-2 (8) decide it.
    Forcing them apart would cost 6 bits.
    >>> why.apart.exact
    True
    >>> problem = Problem([5.0, -2.0, 4.0], EQUIVALENCES, names=["ann", "bob", "cy"])
    >>> print(explain(problem, infer(problem, prove=True), "ann", "bob"))
    ann and bob are related, as their own log-odds are 5 bits: ann - bob (5) decides it.
    Forcing them apart would cost 3 bits.
    """
    if not isinstance(problem, Problem) or not isinstance(estimate, Estimate):
        raise ProblemError(
            "explain takes a relatum.Problem and what relatum.infer says of it, got "
            f"{shown(problem)} and {shown(estimate)}."
        )
    relation = estimate.relation
    if relation is None:
        raise ProblemError(
            f"The estimate has no relation to explain: {estimate.message} Run infer first."
        )
    if relation.shape != problem.shape:
        raise ProblemError(
            f"The estimate is of shape {relation.shape}, the problem of {problem.shape}."
        )
    first, second = problem.numbers(a, "A"), problem.numbers(b, "B")
    for given, number in ((a, first), (b, second)):
        if number.ndim:
            raise ProblemError(
                f"explain speaks of one pair: a and b are an element each, got {shown(given)}."
            )
    why = explained(problem, estimate, (int(first), int(second)), (time_limit, seed))
    return why if problem.names is None else why.named(problem.name_of)


def explained(
    problem: Problem, estimate: Estimate, pair: tuple[int, int], limits: tuple[float, int]
) -> Explanation:
    """Explain a pair of elements by their numbers, within limits: seconds, and the seed."""
    relation, (a, b) = estimate.relation, pair
    assert relation is not None
    related = (a, b) in relation
    own = Cost(0.0, estimate.gap)
    other = _cost_of_opposite(problem, estimate, pair, related, limits)
    together, apart = (own, other) if related else (other, own)
    log_odds = pair_log_odds(problem, np.array([a]), np.array([b]))[0]
    chain = _chain(problem, relation, a, b)
    sentence = _sentence(a, b, related, float(log_odds), other, chain)
    return Explanation((a, b), related, float(log_odds), together, apart, chain, sentence)


def _cost_of_opposite(
    problem: Problem,
    estimate: Estimate,
    pair: tuple[int, int],
    related: bool,
    limits: tuple[float, int],
) -> Cost:
    """Infer under the opposite evidence and compare."""
    a, b = pair
    if related and problem.feasible.has("reflexive") and a == b:
        return Cost(math.inf, math.inf)
    forced = numbered_evidence(**{"unrelated" if related else "related": [pair]})
    opposite = problem.with_feasible(problem.feasible & forced)
    start = _start(opposite, estimate.relation, pair, related)
    e = infer(opposite, prove=True, time_limit=limits[0], start=start, seed=limits[1])
    if e.status is Status.INFEASIBLE:
        return Cost(math.inf, math.inf)
    low = max(0.0, estimate.value - e.bound)
    high = math.inf if e.relation is None else max(low, estimate.bound - e.value)
    return Cost(low, high)


def _start(
    problem: Problem, relation: Relation | None, pair: tuple[int, int], related: bool
) -> Relation | None:
    """Change a clustering as little as possible so that the pair is as forced."""
    if not isinstance(relation, Partition):
        return None
    labels = relation.labels.copy()
    a, b = pair
    if related:
        labels[b] = labels.max() + 1
    else:
        labels[labels == labels[b]] = labels[a]
    start = Partition(labels)
    return start if problem.feasible.contains(start) else None


def pair_log_odds(problem: Problem, a: Index, b: Index) -> Floats:
    """Return what relating some pairs adds to the value; both directions in symmetric sets."""
    scores, n = problem.scores, problem.n
    symmetric = problem.feasible.has("symmetric")
    if isinstance(scores, SparseScores):
        low, high = (np.minimum(a, b), np.maximum(a, b)) if symmetric else (a, b)
        keys = scores.i * problem.shape[1] + scores.j
        wanted = low * problem.shape[1] + high
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found = keys[place] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
        listed = scores.log_odds[place] if len(keys) else np.zeros(len(wanted))
        rest = np.where(a == b, 0.0, scores.background)
        return np.where(found, listed, rest).astype(np.float64)
    c = scores.log_odds
    if c.ndim == 1:
        place = condensed_places(a, b, n)
        return np.where(a == b, 0.0, c[np.minimum(place, c.size - 1)]).astype(np.float64)
    there = c[a, b].astype(np.float64)
    return there + np.where(a == b, 0.0, c[b, a]) if symmetric else there


def _chain(problem: Problem, relation: Relation, a: int, b: int) -> tuple[Link, ...]:
    """Return the widest chain of pairs from a to b."""
    nodes = [a, b]
    if problem.feasible <= EQUIVALENCES and isinstance(relation, Partition) and a != b:
        i, j = _candidate_pairs(problem, relation, a, b)
        path = _widest_path(problem, i, j, a, b)
        nodes = path if len(path) else nodes
    ends = np.array(nodes[:-1]), np.array(nodes[1:])
    values = pair_log_odds(problem, *ends)
    return tuple(
        Link(int(p), int(q), float(v), (int(p), int(q)) in relation)
        for p, q, v in zip(*ends, values, strict=True)
    )


def _candidate_pairs(problem: Problem, relation: Partition, a: int, b: int) -> tuple[Index, Index]:
    """Pairs that a chain may use: those of the set of a and b, or all that are positive."""
    labels = relation.labels
    elements = np.arange(problem.n)
    if labels[a] == labels[b]:
        elements = np.flatnonzero(labels == labels[a])
    if isinstance(problem.scores, SparseScores):
        inside = np.zeros(problem.n, dtype=np.bool_)
        inside[elements] = True
        s = problem.scores
        keep = inside[s.i] & inside[s.j] & (s.log_odds > 0) & (s.i != s.j)
        return s.i[keep], s.j[keep]
    rows = [(elements[k], elements[k + 1 :]) for k in range(len(elements) - 1)]
    found_i, found_j = [], []
    for i, others in rows:
        first = np.full(len(others), i)
        good = others[pair_log_odds(problem, first, others) > 0]
        found_i.append(np.full(len(good), i))
        found_j.append(good)
    return np.concatenate(found_i), np.concatenate(found_j)


def _widest_path(problem: Problem, i: Index, j: Index, a: int, b: int) -> list[int]:
    """Path whose least log-odds is largest, by a spanning tree of largest log-odds."""
    if not len(i):
        return []
    n = problem.n
    order = np.argsort(-pair_log_odds(problem, i, j), kind="stable")
    rank = np.empty(len(i))
    rank[order] = np.arange(1, len(i) + 1)  # all positive, as csgraph wants them
    from scipy.sparse import coo_array  # slow to import: only where it is used
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    tree = minimum_spanning_tree(coo_array((rank, (i, j)), shape=(n, n)).tocsr())
    _, before = breadth_first_order(tree, a, directed=False)
    path = [b]
    while path[-1] != a:
        step = int(before[path[-1]])
        if step < 0:
            return []
        path.append(step)
    return path[::-1]


def _sentence(
    a: Any,
    b: Any,
    related: bool,
    own: float,
    other: Cost,
    chain: tuple[Link, ...],
    dash: str = "-",
) -> str:
    shown = ", ".join(f"{k.a}{dash}{k.b} ({k.log_odds:.3g})" for k in chain)
    how = "are related" if related else "are unrelated"
    agrees = (own > 0) == related
    text = (
        f"{a} and {b} {how}, {'as' if agrees else 'though'} their own log-odds are {own:.3g} bits"
    )
    if related:
        text += f": {shown} decide{'s' * (len(chain) == 1)} it."
    else:
        cut = [k for k in chain if not k.related]
        for_it = [k for k in cut if k.log_odds > 0]
        if for_it:
            text += f"; the best chain for relating them, {shown}, is cut at "
            text += ", ".join(f"{k.a}{dash}{k.b}" for k in cut) + "."
        else:
            text += ", and no chain of positive pairs connects them."
    if math.isinf(other.low):
        return f"{text} Properties and evidence allow nothing else."
    force = "apart" if related else "together"
    return f"{text} Forcing them {force} would cost {other}."


def place_costs(problem: Problem, relation: Relation) -> Floats:
    """Return the bits behind each place of a ranking: what moving one element alone would cost.

    For each element, the least loss of value among all other places in the ranking, all other
    elements staying as they are. Evidence is not looked at. Negative if a move would gain, which
    no move of an optimal ranking does unless evidence forbids it.

    Parameters
    ----------
    problem : Problem
        Of linear or weak orders.
    relation : LinearOrder or WeakOrder

    Examples
    --------
    >>> from relatum.problem import LINEAR_ORDERS, LinearOrder
    >>> scores = [[0, 3, 1], [-3, 0, 4], [-1, -4, 0]]
    >>> place_costs(Problem(scores, LINEAR_ORDERS), LinearOrder([0, 1, 2])).tolist()
    [6.0, 6.0, 8.0]
    """
    if not isinstance(relation, WeakOrder) or relation.shape != problem.shape:
        raise ProblemError(
            f"Places are those of a linear or weak order of {problem.n} elements, got "
            f"{shown(relation)}."
        )
    scores, classes = problem.dense(), [np.asarray(c) for c in relation.classes()]
    ties = not problem.feasible.has("antisymmetric")
    costs = np.full(problem.n, np.inf)
    for place, tied in enumerate(classes):
        for a in tied.tolist():
            rest = [c[c != a] for c in classes]
            before = np.array([scores[a, c].sum() for c in rest])  # a before the class
            after = np.array([scores[c, a].sum() for c in rest])
            # a between the classes k - 1 and k, and level with the class k
            between = np.append(0, np.cumsum(after)) + np.append(np.cumsum(before[::-1])[::-1], 0)
            level = between[:-1] + after
            own = level[place] if len(tied) > 1 else between[place]
            here = [place, place + 1] if len(tied) == 1 else []
            others = [np.delete(between, here)]
            if ties:
                others.append(np.delete(level, place))
            costs[a] = own - np.concatenate(others).max(initial=-np.inf)
    return costs
