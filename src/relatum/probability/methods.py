"""Which methods there are to find probabilities, and which one takes a problem.

A method says why it refuses a problem, or runs. "auto" takes the first registered that does not
refuse; exact methods are registered first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relatum.errors import SolverError
from relatum.probability.posterior import Posterior
from relatum.problem import Problem, shown
from relatum.solvers import Control


@dataclass(frozen=True)
class Task:
    """What is asked of a method.

    Attributes
    ----------
    problem : Problem
    draws : int
        How many draws a sampler makes.
    seed : int
    across : bool
        Whether elements may be related that no chain of scored pairs connects.
    patient : bool
        Whether the method was asked for by name: then it may take its time.
    tempered : bool
        Whether a sampler also draws at higher temperatures, and exchanges relations with them.
    """

    problem: Problem
    draws: int = 2000
    seed: int = 0
    across: bool = True
    patient: bool = False
    tempered: bool = False


@dataclass(frozen=True)
class Method:
    """One way to find probabilities.

    Attributes
    ----------
    name : str
    refuses : callable (task) -> str or None
        Why the method does not take the problem: the end of a sentence that begins with it.
    run : callable (task, control) -> Posterior
        Polls `control.expired` and raises a `SolverError` if time is up before there is a
        result at all.
    """

    name: str
    refuses: Callable[[Task], str | None]
    run: Callable[[Task, Control], Posterior]


METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Make a method available by its name, after those that are."""
    METHODS[method.name] = method
    return method


def choose_method(name: str, task: Task) -> Method:
    """Return the method asked for, or the first that takes the problem; refuse in a sentence."""
    if not isinstance(name, str) or name not in {"auto", *METHODS}:
        known = ", ".join(f'"{m}"' for m in ("auto", *METHODS))
        raise SolverError(f"The method of probabilities is one of {known}, got {shown(name)}.")
    asked = list(METHODS.values()) if name == "auto" else [METHODS[name]]
    reasons = []
    for method in asked:
        why = method.refuses(task)
        if why is None:
            return method
        reasons.append(f'"{method.name}" {why}')
    raise SolverError(
        f"No method finds probabilities of {task.problem}: {'; '.join(reasons)}."
        if name == "auto"
        else f"The method {reasons[0]}."
    )
