"""The components of a table of scored pairs: arrays in, clusters out.

Every engine (DuckDB, Spark, Dask, a loop) calls the same functions, so every engine finds the
same clusters. They are pure and deterministic: number the elements of a component in the
order of their ids, and neither the order of the rows nor the machine matters.

Three sizes are treated differently:

* up to `SMALL` elements: one kernel for a whole batch of components, always exact where at
  most `EXACT` elements are left when those known to be related are one;
* larger: split into pieces of that size along their weakest pairs (see
  `relatum.pair_tables.solve.splitting`), which the kernel solves;
* up to ``Settings.most_elements`` elements and ``Settings.most_pairs`` pairs, the clusters of
  the pieces are then joined, and elements moved, in the component as a whole.

If a proof is asked for, `relatum.infer` takes over what this leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats, Index
from relatum.errors import EvidenceError, ProblemError
from relatum.inference import infer
from relatum.kernels.tables.component_batch import (
    CONTRADICTORY,
    LARGE,
    OPEN,
    OPTIMAL,
    Components,
    Effort,
    solve_components,
)
from relatum.pair_tables.solve.batching import batch_of
from relatum.pair_tables.solve.splitting import split_component
from relatum.problem import EQUIVALENCES, Partition, Problem, at_most, evidence, one_per_group
from relatum.solvers.partition import SparseSearch, instance_of, renumbered

__all__ = [
    "Component",
    "Components",
    "Settings",
    "Solution",
    "Solutions",
    "component_of",
    "solve_batch",
    "solve_component",
    "usual_search",
]


SMALL = 128
EXACT = 10
UNBOUNDED = 1 << 60
MANY = 100_000  # listed pairs above which the first search must do


@dataclass(frozen=True)
class Settings:
    """What holds for every component.

    Attributes
    ----------
    background : float
        Log-odds, in bits, of pairs inside a component that are not listed; at most 0.
    max_size : int or None
        The largest cluster allowed.
    prove : bool
        Search until optimality is proven, or for `time_limit` seconds a component.
    time_limit : float
        Only used if `prove`, so that results without proof do not depend on the machine.
    most_elements, most_pairs : int
        Components with more are never searched whole, only in pieces.
    search : int
        Iterations of perturbed local search, an element, of small components that neither
        the first search nor enumeration settles. See `usual_search`.
    """

    background: float = 0.0
    max_size: int | None = None
    prove: bool = False
    time_limit: float = 60.0
    most_elements: int = 20_000
    most_pairs: int = 2_000_000
    search: int = 5

    def __post_init__(self) -> None:
        if not -np.inf < self.background <= 0:
            raise ProblemError(
                "The background of a pair table is a finite number of bits, at most 0, so that "
                f"components can be solved on their own; got {self.background}."
            )
        if self.max_size is not None and self.max_size < 1:
            raise ProblemError(f"max_size is at least 1, got {self.max_size}.")
        if not self.time_limit > 0:
            raise ProblemError(
                f"time_limit is a positive number of seconds, got {self.time_limit}."
            )

    @property
    def cap(self) -> int:
        """The largest cluster allowed, as a number."""
        return UNBOUNDED if self.max_size is None else self.max_size

    @property
    def effort(self) -> Effort:
        """The settings of the kernel."""
        return Effort(float(self.background), self.cap, SMALL, EXACT, self.search)


def usual_search(n_pairs: int) -> int:
    """Return `Settings.search` for a table of so many listed pairs: 5, or 0 for large ones."""
    return 5 if n_pairs <= MANY else 0


def _no_pairs() -> Index:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Component:
    """A component of scored pairs.

    Attributes
    ----------
    n : int
        Elements are numbered from 0, in the order of their ids.
    i, j : integer arrays
        The listed pairs, each once, in either direction.
    log_odds : float array
        In bits, finite.
    related, unrelated : integer arrays (k, 2)
        Evidence.
    groups : integer array (n,) or None
        No cluster holds two elements of one group; -1 for elements in no group.
    start : integer array (n,) or None
        Labels of clusters to start from, -1 for elements that are new. Of clusterings that
        are equally probable, this one is kept.
    """

    n: int
    i: ArrayLike
    j: ArrayLike
    log_odds: ArrayLike
    related: ArrayLike = field(default_factory=_no_pairs)
    unrelated: ArrayLike = field(default_factory=_no_pairs)
    groups: ArrayLike | None = None
    start: ArrayLike | None = None

    def batch(self) -> Components:
        """Return a batch of this component alone, pairs in order."""
        i, j = np.asarray(self.i, np.int32), np.asarray(self.j, np.int32)
        low, high = np.minimum(i, j), np.maximum(i, j)
        order = np.lexsort((high, low))
        yes = np.asarray(self.related, np.int32).reshape(-1, 2)
        no = np.asarray(self.unrelated, np.int32).reshape(-1, 2)
        sign = np.repeat([1, 0], [len(yes), len(no)])
        none = np.empty(0, np.int64)
        return Components(
            np.array([0, self.n], np.int64),
            np.array([0, len(i)], np.int64),
            low[order],
            high[order],
            np.asarray(self.log_odds, np.float64)[order],
            np.array([0, len(sign)], np.int64),
            np.column_stack([np.concatenate([yes, no]), sign]).astype(np.int32),
            none if self.groups is None else np.asarray(self.groups, np.int64),
            none if self.start is None else np.asarray(self.start, np.int64),
        )


def component_of(batch: Components, k: int) -> Component:
    """Return one component of a batch."""
    e = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
    p = slice(batch.pair_ptr[k], batch.pair_ptr[k + 1])
    fixed = batch.fixed[batch.fixed_ptr[k] : batch.fixed_ptr[k + 1]].astype(np.int64)
    return Component(
        int(e.stop - e.start),
        batch.i[p],
        batch.j[p],
        batch.log_odds[p],
        fixed[fixed[:, 2] == 1, :2],
        fixed[fixed[:, 2] == 0, :2],
        batch.groups[e] if len(batch.groups) else None,
        batch.start[e] if len(batch.start) else None,
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """The clusters of one component.

    Attributes
    ----------
    labels : int64 array (n,)
        Clusters are numbered from 0 in the order of their first elements.
    value, bound : float
        In bits. No allowed clustering of the component has a value above the bound.
    cut : int
        Pairs with positive log-odds between clusters.
    added : int
        Pairs inside clusters that are not listed with positive log-odds.
    pieces : int
        Into how many pieces the component was split because of its size; 1 if it was not.
    """

    labels: Index
    value: float
    bound: float
    cut: int
    added: int
    pieces: int = 1

    @property
    def gap(self) -> float:
        """Bound minus value, in bits."""
        return max(0.0, self.bound - self.value)


@dataclass(frozen=True, eq=False)
class Solutions:
    """The clusters of a batch of components: the arrays of `Solution`, one behind the other."""

    labels: Index
    value: Floats
    bound: Floats
    cut: Index
    added: Index
    pieces: Index

    @property
    def gap(self) -> Floats:
        """Bound minus value of each component, in bits."""
        return np.maximum(0.0, self.bound - self.value)


def solve_component(component: Component, settings: Settings) -> Solution:
    """Find the most probable clusters of one component.

    Parameters
    ----------
    component : Component
    settings : Settings

    Returns
    -------
    Solution

    Raises
    ------
    EvidenceError
        If evidence, groups and `max_size` leave nothing; see its attribute ``component``.

    Notes
    -----
    Memory beyond the arrays given: about 250 bytes a listed pair, and 500 bytes an element
    or, with up to 2000 elements, 100 bytes a pair of elements.

    Examples
    --------
    >>> chain = Component(3, [0, 1], [1, 2], [3.0, 2.0])
    >>> found = solve_component(chain, Settings(background=-4.0))
    >>> found.labels.tolist(), found.value, found.gap, found.cut, found.added
    ([0, 0, 1], 3.0, 0.0, 1, 0)
    """
    all_ = solve_batch(component.batch(), settings)
    numbers = (int(a[0]) for a in (all_.cut, all_.added, all_.pieces))
    return Solution(all_.labels, float(all_.value[0]), float(all_.bound[0]), *numbers)


def solve_batch(batch: Components, settings: Settings) -> Solutions:
    """Find the most probable clusters of many components; as `solve_component` on each.

    Parameters
    ----------
    batch : Components
        Pairs sorted within each component, the smaller element first.
    settings : Settings
    """
    count = len(batch.element_ptr) - 1
    labels = np.zeros(int(batch.element_ptr[-1]), dtype=np.int64)
    value, bound, state = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.int8)
    pieces = np.ones(count, dtype=np.int64)
    solve_components(batch, settings.effort, labels, value, bound, state)
    for k in np.flatnonzero(state != OPTIMAL).tolist():
        component = component_of(batch, k)
        if state[k] == CONTRADICTORY:
            raise contradiction(component, k)
        own = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
        if state[k] == OPEN and settings.prove:
            start = labels[own].copy()
            proved = _inferred(component, settings, start, float(bound[k]), k)
            labels[own], value[k], bound[k] = proved
        elif state[k] == LARGE:
            result = _solve_large(component, settings, k)
            labels[own], value[k], bound[k], pieces[k] = result
    cut, added = count_changes(batch, labels)
    return Solutions(labels, value, bound, cut, added, pieces)


def count_changes(batch: Components, labels: Index) -> tuple[Index, Index]:
    """Return how many positive pairs are cut, and others added, in each component."""
    count = len(batch.element_ptr) - 1
    owner = np.repeat(np.arange(count), np.diff(batch.pair_ptr))
    first = batch.element_ptr[owner]
    same = labels[first + batch.i] == labels[first + batch.j]
    positive = batch.log_odds > 0
    cut = np.bincount(owner[positive & ~same], minlength=count)
    kept = np.bincount(owner[positive & same], minlength=count)
    part = np.repeat(np.arange(count), np.diff(batch.element_ptr))
    sizes = np.bincount(batch.element_ptr[part] + labels, minlength=len(labels))
    inside = np.zeros(count, dtype=np.int64)
    np.add.at(inside, part, sizes * (sizes - 1) // 2)
    return cut.astype(np.int64), inside - kept


def contradiction(component: Component, k: int) -> EvidenceError:
    """Return the error of a component for which nothing is allowed."""
    error = EvidenceError(
        f"Component {k}, of {component.n} elements, cannot be clustered: some elements that are "
        "known to be related are also known not to be, or of one group, or more than max_size. "
        "Drop one of these."
    )
    error.component = component  # type: ignore[attr-defined]
    error.number = k  # type: ignore[attr-defined]
    return error


def _problem(component: Component, settings: Settings) -> Problem:
    feasible = EQUIVALENCES & evidence(
        np.asarray(component.related).reshape(-1, 2), np.asarray(component.unrelated).reshape(-1, 2)
    )
    if component.groups is not None:
        groups = np.asarray(component.groups)
        alone = np.flatnonzero(groups < 0)
        groups = groups.copy()
        groups[alone] = groups.max(initial=0) + 1 + np.arange(len(alone))
        feasible = feasible & one_per_group(groups)
    if settings.max_size is not None and settings.max_size < component.n:
        feasible = feasible & at_most(settings.max_size)
    return Problem.from_pairs(
        np.asarray(component.i),
        np.asarray(component.j),
        np.asarray(component.log_odds, np.float64),
        n=component.n,
        background=settings.background,
        feasible=feasible,
    )


def _inferred(
    component: Component, settings: Settings, start: Index, bound: float, k: int
) -> tuple[Index, float, float]:
    """Improve a clustering by `relatum.infer`, and its bound."""
    problem = _problem(component, settings)
    found = infer(problem, prove=True, time_limit=settings.time_limit, start=Partition(start))
    if not isinstance(found.relation, Partition):
        raise contradiction(component, k)
    return found.relation.labels, found.value, max(found.value, min(bound, found.bound))


def _solve_large(
    component: Component, settings: Settings, k: int
) -> tuple[Index, float, float, int]:
    """Solve a component that the kernel did not take: in pieces, then as a whole."""
    i, j = np.asarray(component.i, np.int64), np.asarray(component.j, np.int64)
    log_odds = np.asarray(component.log_odds, np.float64)
    related = np.asarray(component.related, np.int64).reshape(-1, 2)
    piece = split_component(component.n, (i, j, log_odds), related, SMALL, UNBOUNDED)
    labels, value, bound, pieces = _solve_pieces(component, settings, piece, k)
    if component.n > settings.most_elements or len(i) > settings.most_pairs:
        return labels, value, bound, pieces
    labels, value = _climb(component, settings, labels, value)
    if settings.prove and bound - value > 1e-9 * (1 + abs(value)):
        labels, value, bound = _inferred(component, settings, labels, bound, k)
    return labels, value, max(value, bound), 1


def _climb(
    component: Component, settings: Settings, labels: Index, value: float
) -> tuple[Index, float]:
    """Join clusters and move elements until nothing gains."""
    instance = instance_of(_problem(component, settings), matrix=False)
    if instance is None or instance.graph is None:
        return labels, value
    search = SparseSearch(instance.graph, instance.rules, lambda: False)
    start = np.zeros(instance.n, dtype=np.int64)
    start[instance.element] = labels
    found = search.climb(renumbered(start), np.random.default_rng(0))
    better = instance.constant + search.value(found)
    if better <= value + 1e-9 * (1 + abs(value)):
        return labels, value
    return Partition(found[instance.element]).labels, better


def _solve_pieces(
    component: Component, settings: Settings, piece: Index, k: int
) -> tuple[Index, float, float, int]:
    """Solve the pieces of a component; clusters do not reach across them."""
    i, j = np.asarray(component.i, np.int64), np.asarray(component.j, np.int64)
    log_odds = np.asarray(component.log_odds, np.float64)
    yes = np.asarray(component.related, np.int64).reshape(-1, 2)
    no = np.asarray(component.unrelated, np.int64).reshape(-1, 2)
    sign = np.repeat([1, 0], [len(yes), len(no)])
    batch, order = batch_of(
        piece,
        (i, j, log_odds),
        np.column_stack([np.concatenate([yes, no]), sign]),
        None if component.groups is None else np.asarray(component.groups, np.int64),
        None if component.start is None else np.asarray(component.start, np.int64),
    )
    found = solve_batch(batch, replace(settings, prove=False))
    first = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr))
    labels = np.empty(component.n, dtype=np.int64)
    labels[order] = first + found.labels
    between = (piece[i] != piece[j]) & (log_odds > 0)
    bound = float(found.bound.sum() + log_odds[between].sum())
    return Partition(labels).labels, float(found.value.sum()), bound, len(batch.element_ptr) - 1
