"""The ranking that agrees best with votes, and a proof that it is best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relatum.aggregate.votes import Method, Votes
from relatum.errors import DataError
from relatum.inference import infer
from relatum.io import Rankings
from relatum.problem import (
    LINEAR_ORDERS,
    WEAK_ORDERS,
    FeasibleSet,
    Problem,
    WeakOrder,
    distinct_names,
    shown,
    switch,
)
from relatum.proof import Estimate


@dataclass(frozen=True, eq=False)
class Consensus:
    """A consensus ranking and how sure it is the best.

    Attributes
    ----------
    estimate : Estimate
    problem : Problem
        What was solved; ``rt.verify(problem, estimate)`` re-proves it.
    votes : Votes

    Examples
    --------
    >>> import relatum as rt
    >>> found = consensus([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]])
    >>> found.estimate.status.name
    'OPTIMAL'
    >>> bool(rt.verify(found.problem, found.estimate))
    True
    """

    estimate: Estimate
    problem: Problem
    votes: Votes

    @property
    def classes(self) -> list[list[Any]]:
        """Names from first to last, in lists of those that are tied."""
        relation = self.estimate.relation
        if relation is None:
            return []
        names = self.votes.names
        return [[names[a] for a in c] for c in relation.to(WeakOrder).classes()]

    @property
    def ranking(self) -> list[Any]:
        """Names from first to last; ties in the order of the elements."""
        return [name for tied in self.classes for name in tied]

    @property
    def distance(self) -> float:
        """The sum of Kemeny-Snell distances of the votes to the consensus."""
        relation = self.estimate.relation
        return np.inf if relation is None else self.votes.distance(relation)


def consensus(
    votes: Votes | Rankings | Iterable[Iterable[Any]],
    *,
    ties: bool = False,
    method: Method = "kemeny",
    sigma: float = 2.0,
    feasible: FeasibleSet | None = None,
    prove: bool = True,
    **arguments: Any,
) -> Consensus:
    """Find the ranking that agrees best with votes.

    Parameters
    ----------
    votes : Votes, Rankings or list of lists
        Lists hold names from first to last, see `Votes.from_lists`; what else there is to say of
        votes (counts, places, comparisons) is said by the functions of `Votes`.
    ties : bool
        Whether the consensus may have ties (a weak order).
    method : "kemeny" or "bernoulli"
        See `relatum.aggregate`.
    sigma : float
        Parameter of the prior, for "bernoulli".
    feasible : FeasibleSet, optional
        Further constraints, such as evidence, by the names of the votes, intersected with the
        orders.
    prove : bool
        Ask for proven optimality.
    **arguments
        Passed on to `relatum.infer`.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> result = consensus([["ann", "bob", "cy"], ["ann", "cy", "bob"], ["bob", "ann", "cy"]])
    >>> result.ranking, result.distance, result.estimate.status.name
    (['ann', 'bob', 'cy'], 4.0, 'OPTIMAL')
    """
    if isinstance(votes, Rankings):
        votes = Votes.from_rankings(votes)
    elif not isinstance(votes, Votes):
        votes = Votes.from_lists(votes)
    orders = WEAK_ORDERS if switch(ties, "ties", DataError) else LINEAR_ORDERS
    if feasible is not None:
        if not isinstance(feasible, FeasibleSet):
            raise DataError(
                "feasible is a set such as relatum.evidence(related=[(0, 1)]), got "
                f"{shown(feasible)}."
            )
        orders = orders & feasible
    problem = Problem(votes.log_odds(method, sigma), orders, names=distinct_names(votes.names))
    return Consensus(infer(problem, prove=prove, **arguments), problem, votes)
