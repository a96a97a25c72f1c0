"""The components of a table of scored pairs: arrays in, clusters out.

Every engine (DuckDB, Spark, Dask, a loop) calls the same functions, so every engine finds the
same clusters. They are pure and deterministic: number the elements of a component in the
order of their ids, and neither the order of the rows nor the machine matters.

Three sizes are treated differently:

* up to ``Tuning.kernel_elements`` elements: one kernel for a whole batch of components, always
  exact where at most ``Tuning.exact_elements`` are left when those known to be related are one;
* larger: split into pieces of that size along their weakest pairs (see
  `relatum.pair_tables.solve.splitting`), which the kernel solves;
* up to ``Settings.most_elements`` elements and ``Settings.most_pairs`` pairs, the clusters of
  the pieces are then joined, and elements moved, in the component as a whole.

Components of two groups are a matching each, which is found and proved whatever their size, see
`relatum.pair_tables.solve.two_groups`.

If a proof is asked for, `relatum.infer` takes over what this leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.errors import EvidenceError
from relatum.kernels.tables.component_batch import (
    CONTRADICTORY,
    KEPT,
    LARGE,
    OPEN,
    OPTIMAL,
    solve_components,
)
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.batching import (
    Component,
    Components,
    batch_of,
    component_of,
    ends_of,
    facts_of,
    pairs_of,
    problem_of,
)
from relatum.pair_tables.solve.splitting import split_elements
from relatum.pair_tables.solve.two_groups import Certificates, Found, solve_two_groups
from relatum.problem import Partition
from relatum.proof import Certificate

LEAST_SECONDS = 0.01  # for the proof of a component, if that is left: in less, nothing is begun


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
    """The clusters of a batch of components: the arrays of `Solution`, one behind the other.

    ``certificates`` holds, by number of the component, those that `relatum.infer` gave, and those
    of components of two groups.
    """

    labels: Index
    value: Floats
    bound: Floats
    cut: Index
    added: Index
    pieces: Index
    certificates: Mapping[int, Certificate] = field(default_factory=dict)

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
    Memory beyond the arrays given: about 250 bytes per listed pair, and 500 bytes per element
    or, with up to 2000 elements, 100 bytes per pair of elements.

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


def solve_batch(batch: Components, settings: Settings, gaps: Floats | None = None) -> Solutions:
    """Find the most probable clusters of many components; as `solve_component` on each.

    Parameters
    ----------
    batch : Components
        Pairs sorted within each component, the smaller element first.
    settings : Settings
    gaps : float64 array, optional
        Gaps of components that keep the clusters they start from, -1 for those to be solved.
    """
    count = len(batch.element_ptr) - 1
    kept = np.zeros(count, dtype=np.bool_) if gaps is None else gaps >= 0
    labels = np.zeros(int(batch.element_ptr[-1]), dtype=np.int64)
    value, bound, pieces = np.zeros(count), np.zeros(count), np.ones(count, dtype=np.int64)
    state = np.where(kept, KEPT, OPTIMAL).astype(np.int8)
    if gaps is not None and kept.any():
        labels = _start_labels(batch)
        value[kept] = _values(batch, labels, settings.background)[kept]
        bound[kept] = value[kept] + gaps[kept]
    pairs = _solve_two_groups(batch, settings, kept)
    if pairs is not None:
        state[pairs.taken] = KEPT
    solve_components(batch, settings.effort, labels, value, bound, state)
    if pairs is not None:
        inside = np.repeat(pairs.taken, np.diff(batch.element_ptr))
        labels[inside], state[pairs.taken] = pairs.labels[inside], OPTIMAL
        value[pairs.taken] = _values(batch, labels, settings.background)[pairs.taken]
        bound[pairs.taken] = (value + pairs.bound_over)[pairs.taken]
    certificates: dict[int, Certificate] = {}
    contradictory = np.flatnonzero(state == CONTRADICTORY)
    if len(contradictory):
        k = int(contradictory[0])
        raise _contradiction(component_of(batch, k), k)
    for k, left in _in_turn(batch, np.flatnonzero((state != OPTIMAL) & ~kept), settings):
        component = component_of(batch, k)
        own = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
        certificate = None
        if state[k] == OPEN and settings.prove:
            start = labels[own].copy()
            proved = _inferred(component, settings, start, float(bound[k]), k, left())
            labels[own], value[k], bound[k], certificate = proved
        elif state[k] == LARGE:
            result = _solve_large(component, settings, k, left)
            labels[own], value[k], bound[k], pieces[k], certificate = result
        if certificate is not None:
            certificates[k] = certificate
    cut, added = _changes(batch, labels)
    proofs = Certificates(certificates, batch, settings, pairs)
    return Solutions(labels, value, bound, cut, added, pieces, proofs)


def _in_turn(
    batch: Components, numbers: Index, settings: Settings
) -> Iterator[tuple[int, Callable[[], float]]]:
    """Go through components, those of fewest pairs first, each with the seconds it may take.

    Each has a share by its pairs of the time left, but never so little that nothing is begun.
    """
    if not settings.prove:
        yield from ((k, lambda: 0.0) for k in numbers.tolist())
        return
    from relatum.solvers import Control, outer_control  # all solvers

    outer, control = outer_control(), Control(time_limit=settings.time_limit)
    pairs = np.diff(batch.pair_ptr)[numbers] + 1
    order = np.argsort(pairs, kind="stable")
    waiting = float(pairs.sum())
    for k, own in zip(numbers[order].tolist(), pairs[order].tolist(), strict=True):

        def left(part: float = own / waiting) -> float:
            """Return the component's share of what is left now."""
            seconds = control.remaining()
            if outer is not None:
                seconds = min(seconds, outer.remaining())
            return min(seconds, max(part * seconds, LEAST_SECONDS))

        yield k, left
        waiting -= own


def _solve_two_groups(batch: Components, settings: Settings, kept: Flags) -> Found | None:
    """Match the components of two groups; None if there are none."""
    if not len(batch.groups):
        return None
    from relatum.solvers import outer_control  # all solvers

    outer = outer_control()
    expired = None if outer is None else outer.told_to_stop
    found = solve_two_groups(batch, kept, settings.cap, expired)
    if found is not None and found.contradictory >= 0:
        k = found.contradictory
        raise _contradiction(component_of(batch, k), k)
    return found


def _start_labels(batch: Components) -> Index:
    """Return the labels that components start from, numbered from 0 in each."""
    sizes = np.diff(batch.element_ptr)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    through = Partition(owner * (batch.start.max() + 2) + batch.start).labels
    return np.asarray(through - np.repeat(through[batch.element_ptr[:-1]], sizes))


def _inside(batch: Components, labels: Index) -> tuple[Index, Flags, Index]:
    """Return the component of each pair, whether a cluster holds it, and pairs inside clusters."""
    owner, a, b = ends_of(batch)
    count = len(batch.element_ptr) - 1
    part = np.repeat(np.arange(count), np.diff(batch.element_ptr))
    cluster = batch.element_ptr[part] + labels
    sizes = np.bincount(cluster, minlength=len(labels))
    pairs = np.bincount(part, sizes * (sizes - 1) // 2, count).astype(np.int64)
    return owner, cluster[a] == cluster[b], pairs


def _changes(batch: Components, labels: Index) -> tuple[Index, Index]:
    """Return how many positive pairs are cut, and others added, in each component."""
    owner, same, inside = _inside(batch, labels)
    positive = batch.log_odds > 0
    cut, kept = (np.bincount(owner[positive & s], minlength=len(inside)) for s in (~same, same))
    return cut.astype(np.int64), inside - kept


def _values(batch: Components, labels: Index, background: float) -> Floats:
    """Return the value of given clusters, component by component."""
    owner, same, inside = _inside(batch, labels)
    listed = np.bincount(owner, np.where(same, batch.log_odds, 0.0), len(inside))
    rest = inside - np.bincount(owner[same], minlength=len(inside))  # else large numbers cancel
    return np.asarray(listed + background * rest, dtype=np.float64)


def _contradiction(component: Component, k: int) -> EvidenceError:
    """Return the error of a component for which nothing is allowed."""
    error = EvidenceError(
        f"Component {k}, of {component.n} elements, cannot be clustered: some elements that are "
        "known to be related are also known not to be, or of one group, or more than max_size. "
        "Drop one of these."
    )
    error.component = component  # type: ignore[attr-defined]
    error.number = k  # type: ignore[attr-defined]
    return error


def _inferred(
    component: Component, settings: Settings, start: Index, bound: float, k: int, seconds: float
) -> tuple[Index, float, float, Certificate | None]:
    """Improve a clustering by `relatum.infer`, and its bound; return also what proves that."""
    from relatum.inference import infer  # all solvers, which few components need

    problem = problem_of(component, settings.background, settings.max_size)
    if seconds <= 0.0:
        value = problem.value(Partition(start))
        return start, value, max(value, bound), None
    found = infer(problem, prove=True, time_limit=seconds, start=Partition(start))
    if not isinstance(found.relation, Partition):
        raise _contradiction(component, k)
    least = max(found.value, min(bound, found.bound))
    return found.relation.labels, found.value, least, found.certificate


def _solve_large(
    component: Component, settings: Settings, k: int, left: Callable[[], float]
) -> tuple[Index, float, float, int, Certificate | None]:
    """Solve a component that the kernel did not take: in pieces, then as a whole."""
    fixed, (i, j, log_odds) = facts_of(component), pairs_of(component)
    related, most = fixed[fixed[:, 2] == 1, :2], settings.tuning.kernel_elements
    up = log_odds > 0
    piece = split_elements(component.n, [(i[up], j[up], log_odds[up])], related, most)
    labels, value, bound, pieces = _solve_pieces(component, settings, piece)
    if component.n > settings.most_elements or len(i) > settings.most_pairs:
        return labels, value, bound, pieces, None
    labels, value = _climb(component, settings, labels, value)
    certificate = None
    if settings.prove and bound - value > 1e-9 * (1 + abs(value)):
        labels, value, bound, certificate = _inferred(component, settings, labels, bound, k, left())
    return labels, value, max(value, bound), 1, certificate


def _climb(
    component: Component, settings: Settings, labels: Index, value: float
) -> tuple[Index, float]:
    """Join clusters and move elements until nothing gains."""
    # all solvers, which few components need
    from relatum.solvers.partition import SparseSearch, instance_of, renumbered

    problem = problem_of(component, settings.background, settings.max_size)
    # no gain makes up for one pair below this, and lower ones only cost digits
    least = -1.0 - float(np.maximum(component.log_odds, 0.0).sum())
    near = problem
    if settings.background < least:
        near = problem_of(component, least, settings.max_size)
    instance = instance_of(near, matrix=False)
    if instance is None or instance.graph is None:
        return labels, value
    search = SparseSearch(instance.graph, instance.rules, lambda: False)
    start = np.zeros(instance.n, dtype=np.int64)
    start[instance.element] = labels
    found = search.climb(renumbered(start), np.random.default_rng(0))
    partition = Partition(found[instance.element])
    better = (
        instance.constant + search.value(found) if near is problem else problem.value(partition)
    )
    if better <= value + 1e-9 * (1 + abs(value)):
        return labels, value
    return partition.labels, better


def _solve_pieces(
    component: Component, settings: Settings, piece: Index
) -> tuple[Index, float, float, int]:
    """Solve the pieces of a component; clusters do not reach across them."""
    i, j, log_odds = pairs_of(component)
    given = (facts_of(component), component.groups, component.start)
    batch, order = batch_of(piece, pairs_of(component), *given)
    found = solve_batch(batch, replace(settings, prove=False))
    first = np.repeat(batch.element_ptr[:-1], np.diff(batch.element_ptr))
    labels = np.empty(component.n, dtype=np.int64)
    labels[order] = first + found.labels
    between = (piece[i] != piece[j]) & (log_odds > 0)
    bound = float(found.bound.sum() + log_odds[between].sum())
    return Partition(labels).labels, float(found.value.sum()), bound, len(batch.element_ptr) - 1
