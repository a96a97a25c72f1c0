"""Any other feasible set, if it has few members: all of them, one by one.

Pairs are decided one after another, and what follows is closed before going on, so that little is
tried that is not feasible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats
from relatum.errors import SolverError
from relatum.probability.exact.weights import infeasible, opened, require_time
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior, kind_of
from relatum.problem import FeasibleSet, Problem, Relation
from relatum.proof import Propagator
from relatum.solvers import Control

LARGEST_PAIRS = {False: 25, True: 49}  # open pairs, if chosen automatically and if asked for
MEMBERS = {False: 250_000, True: 2_000_000}  # relations at most


def refusal(task: Task) -> str | None:
    """Say whether there are too many pairs to go through all relations."""
    pairs = task.problem.n_pairs
    if pairs > LARGEST_PAIRS[task.patient]:
        return (
            f"has no sum over {task.problem.feasible.structure}, and goes through all relations "
            f"of at most {LARGEST_PAIRS[task.patient]} pairs, not {pairs}"
        )
    return None


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities by going through every relation."""
    problem = task.problem
    found = opened(problem)
    members = _members(problem, found.related, found.unrelated, task.patient, control)
    if len(members) == 0:
        raise infeasible(problem)
    # whole bits and fractions apart, so that large scores cost no digits
    scores = found.scores.ravel()
    whole = np.floor(scores)
    flat = members.reshape(len(members), -1).astype(np.float64)
    places, rest = flat @ whole, flat @ (scores - whole)
    top = int(places.max())
    weights = np.exp2(np.maximum(places - top, -2000.0) + rest)
    total = math.fsum(weights)
    p = weights / total

    return Posterior(
        DenseMarginals((p @ flat).reshape(problem.shape)),
        found.constant + top + Fraction(math.log2(total)),
        exact=True,
        method="enumeration",
        draw=partial(_draw, members, p, kind_of(problem.feasible)),
    )


def _draw(
    members: Flags, p: Floats, kind: type[Relation], count: int, rng: np.random.Generator
) -> list[Relation]:
    sums = np.cumsum(p)
    chosen = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return [Relation(members[k]).to(kind) for k in chosen]


def _members(
    problem: Problem, related: Flags, unrelated: Flags, patient: bool, control: Control
) -> Flags:
    """Return the matrices of all feasible relations."""
    state = np.full(problem.shape, -1, dtype=np.int8)
    state[unrelated], state[related] = 0, 1
    most, members = MEMBERS[patient], []
    for member in _completions(problem.feasible, state, control):
        members.append(member)
        if len(members) > most:
            raise SolverError(
                f'The method "exact" goes through at most {most} relations of '
                f"{problem.feasible.structure}, and there are more; give evidence that makes them "
                "fewer."
            )
    require_time(control)
    return np.array(members, dtype=np.bool_).reshape(-1, *problem.shape)


def _completions(
    feasible: FeasibleSet, state: NDArray[np.int8], control: Control
) -> Iterator[Flags]:
    """Yield every feasible relation that agrees with a state, until time is up."""
    propagator = Propagator(feasible)
    closure = propagator.close_all(state)
    waiting = [closure.state] if closure.conflict is None else []
    while waiting and not control.expired():
        state = waiting.pop()
        undecided = np.argwhere(state < 0)
        if len(undecided) == 0:
            if feasible.contains(Relation(state == 1)):
                yield state == 1
            continue
        pair = undecided[:1]
        for value in (0, 1):
            closure = propagator.close(state, pair, np.array([value]))
            if closure.conflict is None:
                waiting.append(closure.state)
