"""What sums over linear and weak orders have in common: what they refuse, and who comes first."""

from __future__ import annotations

from relatum.probability.exact.weights import Open, Weights, infeasible, opened, split
from relatum.probability.methods import Task
from relatum.problem import Problem, require_memory


def ranking_refusal(task: Task, kind: str, largest: dict[bool, int]) -> str | None:
    """Say whether there are too many elements.

    Parameters
    ----------
    task : Task
    kind : str
        What relations are called.
    largest : dict
        How many elements they may have, if chosen automatically (False) and if asked for by name.
    """
    n, most = task.problem.n, largest[task.patient]
    if n <= most:
        return None
    way = "" if task.patient else f" ({largest[True]} if asked for by name)"
    return f"takes {kind} of at most {most} elements{way}, and these are {n}"


def opened_ranking(problem: Problem, bytes_: int) -> tuple[Open, Weights]:
    """Return what is open, and the weights of "b before a": b is related to a, and a not to b.

    Parameters
    ----------
    problem : Problem
    bytes_ : int
        That sums take, per subset of the elements.
    """
    found, n = opened(problem), problem.n
    if problem.feasible.cap is not None and problem.feasible.cap < n:
        raise infeasible(problem)  # the first is related to all
    require_memory(
        bytes_ << n,
        f"The sums over the subsets of {n} elements",
        "give evidence that makes the problem smaller, or ask about parts of it",
    )
    return found, split(found.scores, ~found.unrelated & ~found.related.T)
