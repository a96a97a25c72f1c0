"""`probabilities` and `sample`: check what is asked, choose a method, run it."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

from relatum.errors import DegenerateWarning, ProblemError
from relatum.live import seen
from relatum.probability.answer import Probabilities
from relatum.probability.methods import Task, choose_method
from relatum.problem import Problem, Relation, shown, switch, whole_number
from relatum.solvers import Control

DRAWS = 2000


@seen("summing up")
def probabilities(
    problem: Problem,
    *,
    method: str = "auto",
    draws: int = DRAWS,
    time_limit: float = 60.0,
    seed: int = 0,
    across: bool = True,
) -> Probabilities:
    """Return how probable pairs, sets and relations are, given that the relation is feasible.

    Every feasible relation y has the probability 2^value(y) / Z, with Z the sum over all of them.

    Parameters
    ----------
    problem : Problem
    method : str
        "auto": exact where that takes about a second; "tempering" up to 100 elements, and where
        "sampling" says that it does poorly; "sampling" otherwise. "exact": also where it takes
        longer, up to sizes that it names when it refuses. "sampling", for clusterings and linear
        orders: random walks, with standard errors; a warning says if they are poor.
        "tempering": the same, with hotter chains that exchange relations with them; two to four
        times as slow, for where equally probable relations have nothing probable in between.
    draws : int
        How many relations a method that samples draws, at least; exact methods do not need it.
    time_limit : float
        Seconds. An exact sum that is not complete by then is an error; sampling returns what it
        has, with a warning, and is only then independent of time if there was enough.
    seed : int
        The same seed gives the same result.
    across : bool
        For clusterings: whether elements may be related that no chain of scored pairs connects.
        False conditions on that they are not, so that each connected component has probabilities of
        its own; this is how tables of pairs are clustered.

    Returns
    -------
    Probabilities

    Examples
    --------
    >>> from relatum.problem import EQUIVALENCES
    >>> p = probabilities(Problem([2.0, -1.0, 3.0], EQUIVALENCES))
    >>> p.matrix().round(3).tolist()
    [[1.0, 0.678, 0.559], [0.678, 1.0, 0.814], [0.559, 0.814, 1.0]]
    >>> p
    Probabilities(3 x 3, EQUIVALENCES, exact by sums over partitions, uncalibrated, ...)
    """
    task, limit = _task(problem, draws, time_limit, seed, across), float(time_limit)
    task = Task(task.problem, task.draws, task.seed, task.across, method != "auto")
    chosen = choose_method(method, task)
    found = chosen.run(task, Control(time_limit=limit, seed=task.seed))
    told = found.diagnostics.get("warning")
    if told:
        warnings.warn(str(told), DegenerateWarning, stacklevel=3)  # behind `seen`
    return Probabilities(problem, found)


@seen("drawing")
def sample(
    problem: Problem,
    draws: int = 1,
    *,
    seed: int = 0,
    method: str = "auto",
    time_limit: float = 60.0,
    across: bool = True,
) -> list[Relation]:
    """Draw relations with their probabilities, independently where exact sums are possible.

    Otherwise they are from random walks, some rounds over all elements apart.

    Parameters
    ----------
    problem : Problem
    draws : int
    seed : int
        The same seed draws the same relations.
    method, time_limit, across
        As in `probabilities`.

    Examples
    --------
    >>> from relatum.problem import LINEAR_ORDERS
    >>> [r.order.tolist() for r in sample(Problem([[0, 20], [0, 0]], LINEAR_ORDERS), 3)]
    [[0, 1], [0, 1], [0, 1]]
    """
    count = whole_number(draws, "The number of draws", least=0)
    found = probabilities(
        problem,
        method=method,
        draws=max(1, count),
        time_limit=time_limit,
        seed=seed,
        across=across,
    )
    return found.sample(count, seed)


def _task(problem: Any, draws: Any, time_limit: Any, seed: Any, across: Any) -> Task:
    if not isinstance(problem, Problem):
        raise ProblemError(
            f"probabilities are of a relatum.Problem, got {type(problem).__name__}; build one with "
            "Problem(log_odds, feasible)."
        )
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if not number or not time_limit > 0:
        raise ProblemError(
            f"time_limit is a positive number of seconds, got {shown(time_limit)}; "
            "float('inf') sets no limit."
        )
    return Task(
        problem,
        whole_number(draws, "The number of draws"),
        whole_number(seed, "seed", least=0, most=1 << 64),
        switch(across, "across"),
    )
