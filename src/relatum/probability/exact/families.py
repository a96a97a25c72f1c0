"""Which exact method takes which feasible set."""

from __future__ import annotations

from types import ModuleType

from relatum.probability.exact import (
    assignments,
    clusterings,
    enumeration,
    independent,
    linear_orders,
    row_counts,
    weak_orders,
)
from relatum.probability.methods import Method, Task, register
from relatum.probability.posterior import Posterior
from relatum.problem import EQUIVALENCES, LINEAR_ORDERS, WEAK_ORDERS, FeasibleSet
from relatum.solvers import Control

PAIRWISE = {"reflexive", "symmetric", "antisymmetric", "connex"}
OF_ROWS = {"has_image", "unique_image"}
OF_REFLEXIVE = {"has_image", "has_preimage"}  # what REFLEXIVE implies
OF_COLUMNS = {"has_preimage", "unique_preimage"}


def family_of(feasible: FeasibleSet, shape: tuple[int, int]) -> ModuleType:
    """Return the module that takes a feasible set."""
    names, structure = set(feasible.names), feasible.structure
    capped = feasible.cap is not None and 1 < feasible.cap < shape[1]
    if structure == EQUIVALENCES:
        return clusterings
    if structure == LINEAR_ORDERS:
        return linear_orders
    if structure == WEAK_ORDERS:
        return weak_orders
    by_pair = names & PAIRWISE
    implied = OF_REFLEXIVE if "reflexive" in names else set()
    if names <= by_pair | implied and not capped:
        return independent
    if "reflexive" in names and names <= {"reflexive"} | implied:
        return row_counts
    if names <= OF_ROWS or (names <= OF_COLUMNS and not capped):
        return row_counts
    if names <= OF_ROWS | OF_COLUMNS and names & {"unique_image", "unique_preimage"}:
        return enumeration if capped else assignments
    return enumeration


def exact_refusal(task: Task) -> str | None:
    """Say why a problem is too large for the method of its feasible set."""
    why: str | None = family_of(task.problem.feasible, task.problem.shape).refusal(task)
    return why


def exact_posterior(task: Task, control: Control) -> Posterior:
    """Return exact probabilities, by the method of the feasible set."""
    family = family_of(task.problem.feasible, task.problem.shape)
    found: Posterior = family.posterior(task, control)
    return found


EXACT = register(Method("exact", exact_refusal, exact_posterior))
