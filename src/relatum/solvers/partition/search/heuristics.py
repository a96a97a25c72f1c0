"""Heuristics for equivalence relations, dense and sparse.

`partition_local_search` is what `infer` uses when no proof is asked for;
`partition_memetic` spends the time it is given on hard instances; `kernighan_lin` is the
paper's; `greedy_contraction` the fastest of all. Each works on the arrays of
`partition_instance`: must-links contracted, cannot-links, groups and caps as rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from relatum.array_types import Index
from relatum.kernels.partition.greedy import contract_greedily, grow_greedy, new_greedy
from relatum.kernels.partition.kernighan_lin import first_fit, improve_pairs, new_chains
from relatum.kernels.partition.rules import new_occupancy
from relatum.kernels.partition.sparse import SparseGraph, contract_sparse
from relatum.problem import DENSE_LIMIT, EQUIVALENCES, Partition, Problem, SparseScores
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import Instance, instance_of, renumbered
from relatum.solvers.partition.search.dense import DenseSearch, intersection
from relatum.solvers.partition.search.effort import BRIEF, QUICK, long_effort
from relatum.solvers.partition.search.memetic import evolve
from relatum.solvers.partition.search.sparse import SparseSearch, recombine
from relatum.solvers.registry import Outcome, Solver, register

__all__ = ["greedy_contraction", "kernighan_lin", "local_search", "memetic"]

Algorithm = Callable[[Instance, Control, "Index | None"], tuple[Index, dict[str, Any]]]

EVOLVED = 2500  # elements up to which whole pools of partitions are annealed
DISPUTED = 800  # elements up to which what several starts disagree on is searched
STARTS = 8
HOTS = (0.2, 0.05, 0.12, 0.03, 0.16)  # of the first short annealings
LARGE = 4_000_000  # entries of compressed rows above which one annealing a round must do


def _run(algorithm: Algorithm, problem: Problem, control: Control) -> Outcome:
    """Make the arrays, search, and return to the problem's elements."""
    instance = instance_of(problem)
    if instance is None:
        return Outcome(None, -math.inf)
    start = None
    if control.start is not None:
        given = control.start.to(Partition).labels
        start = np.zeros(instance.n, np.int64)
        start[instance.element] = given
        start = renumbered(start)
    labels, stats = algorithm(instance, control, start)
    relation = Partition(labels[instance.element])
    control.report(problem.value(relation))
    return Outcome(relation, stats=stats)


def _reporter(instance: Instance, control: Control) -> Callable[[float], None]:
    """Tell the monitor a sum of the instance's scores, in the problem's terms."""
    return lambda value: control.report(instance.constant + instance.scale * value)


def _dense(instance: Instance, control: Control) -> DenseSearch:
    assert instance.weights is not None
    return DenseSearch(instance.weights, instance.rules, control.expired)


def _sparse(instance: Instance, control: Control) -> SparseSearch:
    assert instance.graph is not None
    return SparseSearch(instance.graph, instance.rules, control.expired)


# --- local search and memetic search --------------------------------------------------------------


def _local(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    if instance.weights is None:
        return _sparse_rounds(instance, control, start, rounds=1)
    if instance.n <= EVOLVED:
        return _evolved(instance, control, start)
    return _many_starts(instance, control, start)


def _memetic(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    if instance.weights is None:
        return _sparse_rounds(instance, control, start, rounds=1 << 30)
    first, stats = _local(instance, control, start)
    if control.expired():
        return first, stats
    search, report = _dense(instance, control), _reporter(instance, control)
    effort = long_effort(instance.n, int(first.max()) + 1)
    best, count = evolve(search, effort, control.seed, [], report, champion=first)
    return best.labels, {"annealed": stats.get("annealed", 0) + count}


def _evolved(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    search, report = _dense(instance, control), _reporter(instance, control)
    starts = [_opening(instance, control, search, start)]
    report(search.value(starts[0]))
    best, count = evolve(search, QUICK, control.seed, starts, report)
    return best.labels, {"annealed": count}


def _opening(
    instance: Instance, control: Control, search: DenseSearch, start: Index | None
) -> Index:
    """Return a first partition, soon: insertion, greedy joins, and short annealings."""
    report = _reporter(instance, control)
    state = search.improve(search.complete(_nothing(search), (0,)))
    best = renumbered(state.labels)
    value = search.value(best)
    report(value)
    state = search.anneal(state, HOTS[1], 30, control.seed)
    if search.value(renumbered(state.labels)) > value:
        best = renumbered(state.labels)
        value = search.value(best)
        report(value)
    state = search.joined() if start is None else search.complete(start, (0,))
    state = search.improve(state)
    idle = 0
    for number in range(40):
        found = renumbered(state.labels)
        idle = idle + 1 if search.value(found) <= value else 0
        if idle == 0:
            best, value = found, search.value(found)
            report(value)
        if search.stop() or idle >= 4:
            break
        seed = control.seed + number
        if number % 2 and idle:  # what the last two agree on moves as one
            state = search.regroup(best, intersection(best, found), (0.12, 0.05), 60, seed)
        else:
            hot = HOTS[number % len(HOTS)]
            state = search.anneal(search.complete(best, (0,)), hot, 60, seed)
    return best


def _nothing(search: DenseSearch) -> Index:
    """Return labels that say: not yet inserted."""
    return np.full(search.n, -1, np.int64)


def _many_starts(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    """Insert and improve several times; then solve what the results disagree on."""
    search, report = _dense(instance, control), _reporter(instance, control)
    nothing = _nothing(search)

    def begin(number: int) -> tuple[float, Index]:
        given = start if start is not None and number == 0 else nothing
        state = search.improve(search.complete(given, (control.seed, number)))
        labels = renumbered(state.labels)
        return search.value(labels), labels

    found: list[tuple[float, Index]] = []
    with ThreadPoolExecutor(2) as executor:  # starts are independent of one another
        for number in range(0, STARTS, 2):
            found += executor.map(begin, range(number, number + 2))
            report(max(value for value, _ in found))
            if search.stop():
                break
        found.sort(key=lambda pair: -pair[0])
        best = _agreed(search, control, [labels for _, labels in found])

        def annealed(number: int) -> tuple[float, Index]:
            seed = control.seed + number
            state = search.anneal(search.complete(best, (0,)), 0.16, 100, seed)
            labels = renumbered(state.labels)
            return search.value(labels), labels

        if not search.stop():
            found = [(search.value(best), best), *executor.map(annealed, range(2))]
            found.sort(key=lambda pair: -pair[0])
            report(found[0][0])
            best = _agreed(search, control, [labels for _, labels in found])
    return best, {"starts": STARTS}


def _agreed(search: DenseSearch, control: Control, found: list[Index]) -> Index:
    """Contract what the best partitions agree on, search the rest, and improve."""
    best, cells, used = found[0], found[0], 1
    for other in found[1:]:
        finer = intersection(cells, other)
        if int(finer.max()) + 1 > DISPUTED:
            break
        cells, used = finer, used + 1
    if used == 1 or search.stop():
        return best
    small = search.contracted(cells)
    starts = []
    for labels in found[:used]:
        inner = np.zeros(small.n, np.int64)
        inner[cells] = labels
        starts.append(inner)
    member, _ = evolve(small, BRIEF, control.seed, starts)
    labels = renumbered(search.improve(search.complete(member.labels[cells], (0,))).labels)
    return labels if search.value(labels) > search.value(best) else best


def _sparse_rounds(
    instance: Instance, control: Control, start: Index | None, rounds: int
) -> tuple[Index, dict[str, Any]]:
    """Climb, anneal at several temperatures, recombine; rounds double the sweeps."""
    search, report = _sparse(instance, control), _reporter(instance, control)
    rng = np.random.default_rng(control.seed)
    best = search.climb(np.arange(search.n) if start is None else start, rng)
    value = search.value(best)
    sweeps = int(np.clip(4e8 / (4 * (search.n_entries + search.n)), 5, 60))
    used = idle = 0
    while used < rounds and idle < 3 and not search.stop():
        found = [(value, best)]
        for hot in (0.2, 0.4, 0.8, 1.4) if search.n_entries < LARGE else (0.4,):
            labels = search.anneal(best, hot, sweeps, int(rng.integers(1 << 62)))
            found.append((search.value(labels), labels))
            report(max(v for v, _ in found))
            if search.stop():
                break
        found.sort(key=lambda pair: -pair[0])
        if not search.stop():
            parents = [labels for _, labels in found[:3]]
            labels = recombine(search, parents, 2 * sweeps, int(rng.integers(1 << 62)))
            found.append((search.value(labels), labels))
        top, labels = max(found, key=lambda pair: pair[0])
        idle = 0 if top > value + search.tolerance else idle + 1
        if top > value:
            value, best = top, labels
        used, sweeps = used + 1, 2 * sweeps
    return best, {"rounds": used}


# --- Kernighan-Lin with joins ---------------------------------------------------------------------


def _chains(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    """Improve pairs of neighbouring sets in passes until nothing changes."""
    empty = SparseGraph(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0.0)
    graph = instance.graph or empty
    weights = np.zeros((0, 0)) if instance.weights is None else instance.weights
    if instance.weights is not None:
        search: DenseSearch | SparseSearch = _dense(instance, control)
        patience = instance.n
    else:
        search = _sparse(instance, control)
        patience = 100  # a chain to the end of a large sparse set would be quadratic
    labels = _positive_start(instance) if start is None else start
    chains = new_chains(instance.rules, labels)
    number, settings = 1, (search.tolerance, patience, 1e8)
    while not control.expired():
        pairs = _neighbours(graph, chains.state.labels, instance.weights is not None)
        at, gain = 0, 0.0
        while at < len(pairs) and not control.expired():
            at, more = improve_pairs(
                weights, graph, instance.rules, chains, pairs, at, number, settings
            )
            gain += more
        if gain <= 0.0:
            break
        _reporter(instance, control)(search.value(renumbered(chains.state.labels)))
        number += 1
    labels = renumbered(chains.state.labels)
    if search.value(labels) < 0.0:  # stopped early: single elements are better
        labels = np.arange(instance.n, dtype=np.int64)
    return labels, {"passes": number}


def _neighbours(graph: SparseGraph, labels: NDArray[np.int32], dense: bool) -> Index:
    """Pairs of sets with listed pairs between them (all, if dense), and each set alone."""
    sets = np.unique(labels).astype(np.int64)
    alone = np.column_stack([sets, np.full(len(sets), -1)])
    if dense:
        i, j = np.triu_indices(len(sets), 1)
    else:
        numbers = renumbered(labels)
        between = contract_sparse(graph, numbers, len(sets))
        i, j = np.repeat(np.arange(len(sets)), np.diff(between.indptr)), between.indices
        i, j = i[i < j], j[i < j]
    return np.concatenate([np.column_stack([sets[i], sets[j]]), alone])


def _positive_start(instance: Instance) -> Index:
    """Return the components of positive pairs, as in the paper, cut up where rules ask for it."""
    n, rules = instance.n, instance.rules
    if instance.weights is not None:
        blocks = [csr_array(instance.weights[k : k + 1024] > 0) for k in range(0, n, 1024)]
        positive = csr_array(vstack(blocks, format="csr").astype(np.int8))
    else:
        assert instance.graph is not None
        g = instance.graph
        rows = np.repeat(np.arange(n), np.diff(g.indptr))
        above = g.excess + g.background * rules.sizes[rows] * rules.sizes[g.indices] > 0
        pairs = rows[above], g.indices[above]
        positive = csr_array((np.ones(len(pairs[0]), np.int8), pairs), shape=(n, n))
    labels = np.asarray(connected_components(positive, directed=False)[1], dtype=np.int64)
    if rules.cap < int(rules.sizes.sum()) or rules.n_groups or len(rules.cannot_idx):
        return np.asarray(first_fit(rules, new_occupancy(rules), labels, 16))
    return labels


# --- greedy additive contraction ------------------------------------------------------------------


def _greedy(
    instance: Instance, control: Control, start: Index | None
) -> tuple[Index, dict[str, Any]]:
    """Join the sets that gain most; a start is improved upon by joining its sets."""
    graph = instance.graph
    if graph is None:
        assert instance.weights is not None
        graph = _graph_of_all_pairs(instance.weights)
    search = SparseSearch(graph, instance.rules, control.expired)
    base = np.arange(instance.n, dtype=np.int64) if start is None else start
    if start is not None:
        search = search.contracted(start)
    state = new_greedy(search.graph, search.rules, search.tolerance)
    code = 1
    while code > 0 and not control.expired():
        code = contract_greedily(search.graph, search.rules, state, search.tolerance, 200_000)
        if code == 2:
            state = grow_greedy(state)
    return renumbered(state.labels)[base], {"sets": int(state.counters[1])}


def _graph_of_all_pairs(weights: NDArray[Any]) -> SparseGraph:
    n = len(weights)
    off = ~np.eye(n, dtype=np.bool_)
    columns = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))[off]
    return SparseGraph(
        np.arange(n + 1, dtype=np.int64) * (n - 1), columns, weights[off].astype(np.float64), 0.0
    )


# --- registration ---------------------------------------------------------------------------------


def local_search(problem: Problem, control: Control) -> Outcome:
    """Insert, move and join, anneal and recombine: good, and quick."""
    return _run(_local, problem, control)


def memetic(problem: Problem, control: Control) -> Outcome:
    """Evolve pools of annealed partitions until they stop improving or time is up."""
    return _run(_memetic, problem, control)


def kernighan_lin(problem: Problem, control: Control) -> Outcome:
    """Improve components of positive pairs by chains of moves between two sets, and joins."""
    return _run(_chains, problem, control)


def greedy_contraction(problem: Problem, control: Control) -> Outcome:
    """Join the two sets that gain most until no join gains."""
    return _run(_greedy, problem, control)


def _refuses(problem: Problem, largest_dense: float = DENSE_LIMIT) -> str | None:
    if problem.feasible.structure != EQUIVALENCES:
        return "searches equivalence relations only"
    if not isinstance(problem.scores, SparseScores) and problem.n**2 > largest_dense:
        return "holds a matrix or all pairs, which do not fit; list the pairs that matter"
    return None


def _register(name: str, run: Callable[[Problem, Control], Outcome], summary: str) -> None:
    """Register a heuristic; `infer` chooses only the local search by itself."""
    chosen = run is local_search
    most = 36_000_000.0 if run is greedy_contraction else DENSE_LIMIT
    register(
        Solver(
            name=name,
            summary=summary,
            proves=False,
            refuses=lambda problem: _refuses(problem, most),
            run=run,
            rank=lambda problem, prove: (20.0 if prove else 5.0) if chosen else math.inf,
        )
    )


_register(
    "partition_local_search",
    local_search,
    "Good equivalence relations, dense and sparse, quickly: moves, joins, annealing.",
)
_register(
    "partition_memetic",
    memetic,
    "Better equivalence relations for the time given: recombined annealed partitions.",
)
_register(
    "kernighan_lin",
    kernighan_lin,
    "The paper's heuristic for equivalence relations: Kernighan-Lin with joins.",
)
_register(
    "greedy_contraction",
    greedy_contraction,
    "Greedy additive contraction for equivalence relations.",
)
