"""Which problems are sampled."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from relatum.probability.methods import Method, Task, register
from relatum.probability.posterior import Posterior
from relatum.probability.sampling import cluster_walks, order_walks
from relatum.problem import EQUIVALENCES, LINEAR_ORDERS
from relatum.solvers import Control


def _family(task: Task) -> ModuleType | None:
    """Return the module that takes a feasible set."""
    structure = task.problem.feasible.structure
    if structure == EQUIVALENCES:
        return cluster_walks
    return order_walks if structure == LINEAR_ORDERS else None


def sampling_refusal(task: Task) -> str | None:
    """Say why a problem is not sampled."""
    family = _family(task)
    if family is None:
        return (
            "takes clusterings (EQUIVALENCES) and linear orders (LINEAR_ORDERS), not "
            f"{task.problem.feasible.structure}"
        )
    why: str | None = family.refusal(task)
    return why


def sampling_posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities by sampling."""
    family = _family(task)
    assert family is not None
    found: Posterior = family.posterior(task, control)
    return found


def tempering_posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities by sampling at several temperatures at once."""
    return sampling_posterior(replace(task, tempered=True), control)


SAMPLING = register(Method("sampling", sampling_refusal, sampling_posterior))
TEMPERING = register(Method("tempering", sampling_refusal, tempering_posterior))
