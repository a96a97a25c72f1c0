"""Heuristics for equivalence relations, dense and sparse.

`partition_local_search` is what `infer` uses when no proof is asked for;
`partition_memetic` spends the time it is given on hard instances; `kernighan_lin` is the
paper's; `greedy_contraction` the fastest of all. Each works on the arrays of `instance_of`:
must-links contracted, cannot-links, groups and caps as rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Index
from relatum.kernels.partition.greedy import contract_greedily, grow_greedy, new_greedy
from relatum.kernels.partition.kernighan_lin import first_fit, improve_pairs, new_chains
from relatum.kernels.partition.records import SparseGraph, new_occupancy
from relatum.kernels.partition.sparse import contract_sparse
from relatum.problem import DENSE_LIMIT, EQUIVALENCES, Partition, Problem, SparseScores
from relatum.solvers.control import Control
from relatum.solvers.partition.arrays import Instance, instance_of, renumbered
from relatum.solvers.partition.search.dense import DenseSearch, intersection
from relatum.solvers.partition.search.effort import (
    BRIEF,
    QUICK,
    SETTINGS,
    long_effort,
    noisy_effort,
)
from relatum.solvers.partition.search.memetic import evolve
from relatum.solvers.partition.search.sparse import SparseSearch, recombine
from relatum.solvers.reductions import BLOCK, connected, groups_of_must_links
from relatum.solvers.registry import Outcome, Solver, register
from relatum.threads import Threads

Found = tuple[Index, dict[str, Any]]  # labels of contracted elements, and statistics


@dataclass(frozen=True, eq=False)
class _Run:
    """One run of a heuristic: the arrays, the limits, and labels to begin with."""

    instance: Instance
    control: Control
    start: Index | None

    def report(self, value: float) -> None:
        """Tell the monitor a sum of the instance's scores, in the problem's terms."""
        self.control.report(self.instance.constant + self.instance.scale * value)

    def dense(self) -> DenseSearch:
        """Return the search over a matrix."""
        assert self.instance.weights is not None
        return DenseSearch(self.instance.weights, self.instance.rules, self.control.expired)

    def sparse(self) -> SparseSearch:
        """Return the search over listed pairs."""
        assert self.instance.graph is not None
        return SparseSearch(self.instance.graph, self.instance.rules, self.control.expired)


def _solve(algorithm: Callable[[_Run], Found], problem: Problem, control: Control) -> Outcome:
    """Make the arrays, search, and return to the problem's elements."""
    control = control.share(1 - _for_a_bound(problem, control))
    if _seconds_of_arrays(problem) > control.remaining() + SETTINGS.begin:
        return _without_search(problem, control)
    instance = instance_of(problem)
    if instance is None:
        return Outcome(None, -math.inf)
    start = None
    if control.start is not None:
        start = np.zeros(instance.n, np.int64)
        start[instance.element] = control.start.to(Partition).labels
        start = renumbered(start)
    labels, stats = algorithm(_Run(instance, control, start))
    relation = Partition(labels[instance.element])
    if control.listens():
        control.report(problem.value(relation))
    return Outcome(relation, stats=stats)


def _seconds_of_arrays(problem: Problem) -> float:
    """Return about how long it takes to make what a search begins with."""
    if isinstance(problem.scores, SparseScores):
        return SETTINGS.listed_arrays * problem.log_odds.size
    return SETTINGS.arrays * problem.n**2


def search_seconds(problem: Problem) -> float:
    """Return about how long a whole local search takes, at its own pace."""
    return SETTINGS.element_seconds * problem.n + SETTINGS.pair_seconds * problem.n**2


def _without_search(problem: Problem, control: Control) -> Outcome:
    """Return the partition to start with, or that of what is known, where time is too short."""
    control.note_end()
    start = control.start
    if start is None:
        start = Partition(groups_of_must_links(problem.evidence.related, problem.n))
    return Outcome(start if problem.feasible.contains(start) else None)


def _for_a_bound(problem: Problem, control: Control) -> float:
    """Return the share of the time that a bound should have after the search."""
    (least, most), pace = SETTINGS.bound_share, SETTINGS.bound_seconds
    if isinstance(problem.scores, SparseScores):
        (least, most), pace = SETTINGS.listed_bound_share, SETTINGS.listed_bound_seconds
    seconds = pace * problem.log_odds.size
    share = min(most, max(least, seconds / max(control.remaining(), 1e-9)))
    return SETTINGS.proved_bound * share if control.prove else share


# --- local search and memetic search --------------------------------------------------------------


def _local(run: _Run) -> Found:
    """Insert, move and join, anneal and recombine: good, and quick."""
    if run.instance.weights is None:
        return _sparse_rounds(run, rounds=1)
    return _evolved(run) if run.instance.n <= SETTINGS.evolved else _many_starts(run)


def _memetic(run: _Run) -> Found:
    """Evolve pools of annealed partitions until they stop improving or time is up."""
    if run.instance.weights is None:
        return _sparse_rounds(run, rounds=1 << 30)
    first, stats = _local(run)
    if run.control.expired():
        return first, stats
    effort = long_effort(run.instance.n, int(first.max()) + 1)
    best, count = evolve(run.dense(), effort, run.control.seed, [], run.report, champion=first)
    return best.labels, {"annealed": stats.get("annealed", 0) + count}


def _evolved(run: _Run) -> Found:
    search = run.dense()
    starts = [_opening(run, search)]
    value = search.value(starts[0])
    run.report(value)
    effort = noisy_effort(search.n) if search.is_noise(value) else QUICK
    best, count = evolve(search, effort, run.control.seed, starts, run.report)
    return best.labels, {"annealed": count}


def _opening(run: _Run, search: DenseSearch) -> Index:
    """Return a first partition, soon: insertion, greedy joins, and short annealings."""
    hots, first_seed = SETTINGS.hots, run.control.seed
    state = search.improve(search.complete(_nothing(search), (0,)))
    value, best = search.found(state)
    if run.start is not None and search.value(run.start) > value:
        value, best = search.value(run.start), run.start
    run.report(value)
    if search.stop():
        return best
    state = search.anneal(state, hots[1], SETTINGS.first_sweeps, first_seed)
    better, labels = search.found(state)
    if better > value:
        value, best = better, labels
        run.report(value)
    if search.stop():
        return best
    state = search.joined() if run.start is None else search.complete(run.start, (0,))
    state = search.improve(state)
    idle = 0
    sweeps = SETTINGS.opening_sweeps
    for number in range(SETTINGS.openings):
        better, labels = search.found(state)
        idle = idle + 1 if better <= value else 0
        if idle == 0:
            value, best = better, labels
            run.report(value)
        if search.stop() or idle >= SETTINGS.idle_openings:
            break
        seed = first_seed + number
        if number % 2 and idle:  # what the last two agree on moves as one
            cells = intersection(best, labels)
            state = search.regroup(best, cells, SETTINGS.group_hots, sweeps, seed)
        else:
            state = search.complete(best, (0,))
            state = search.anneal(state, hots[number % len(hots)], sweeps, seed)
    return best


def _nothing(search: DenseSearch) -> Index:
    """Return labels that say: not yet inserted."""
    return np.full(search.n, -1, np.int64)


def _many_starts(run: _Run) -> Found:
    """Insert and improve several times; then solve what the results disagree on."""
    search, first_seed = run.dense(), run.control.seed

    def begin(number: int) -> tuple[float, Index]:
        given = run.start if run.start is not None and number == 0 else _nothing(search)
        return search.found(search.improve(search.complete(given, (first_seed, number))))

    found: list[tuple[float, Index]] = []
    with Threads(2) as executor:  # starts are independent of one another
        for number in range(0, SETTINGS.starts, 2):
            found += executor.map(begin, range(number, number + (1 if search.stop() else 2)))
            run.report(max(value for value, _ in found))
            if search.stop():
                break
        best = _agreed(search, first_seed, found)

        def annealed(number: int) -> tuple[float, Index]:
            state = search.complete(best, (0,))
            hot, sweeps = SETTINGS.agreed_hot, SETTINGS.agreed_sweeps
            return search.found(search.anneal(state, hot, sweeps, first_seed + number))

        if not search.stop():
            found = [(search.value(best), best), *executor.map(annealed, range(2))]
            run.report(max(value for value, _ in found))
            best = _agreed(search, first_seed, found)
    return best, {"starts": SETTINGS.starts}


def _agreed(search: DenseSearch, seed: int, found: list[tuple[float, Index]]) -> Index:
    """Contract what the best partitions agree on, search the rest, and improve."""
    parents = [labels for _, labels in sorted(found, key=lambda pair: -pair[0])]
    best, cells, used = parents[0], parents[0], 1
    for other in parents[1:]:
        finer = intersection(cells, other)
        if int(finer.max()) + 1 > SETTINGS.disputed:
            break
        cells, used = finer, used + 1
    if used == 1 or search.stop():
        return best
    small = search.contracted(cells)
    starts = []
    for labels in parents[:used]:
        inner = np.zeros(small.n, np.int64)
        inner[cells] = labels
        starts.append(inner)
    member, _ = evolve(small, BRIEF, seed, starts)
    value, labels = search.found(search.improve(search.complete(member.labels[cells], (0,))))
    return labels if value > search.value(best) else best


def _sparse_rounds(run: _Run, rounds: int) -> Found:
    """Climb, anneal at several temperatures, recombine; rounds double the sweeps."""
    search, start = run.sparse(), run.start
    rng = np.random.default_rng(run.control.seed)
    best = search.climb(np.arange(search.n) if start is None else start, rng)
    value = search.value(best)
    affordable = SETTINGS.listed_visits / (4 * (search.n_entries + search.n))
    sweeps = int(np.clip(affordable, *SETTINGS.listed_sweeps))
    many = search.n_entries >= SETTINGS.many_entries
    hots = SETTINGS.many_listed_hots if many else SETTINGS.listed_hots
    used = idle = 0
    while used < rounds and idle < SETTINGS.idle_rounds and not search.stop():
        found = [(value, best)]
        for hot in hots:
            labels = search.anneal(best, hot, sweeps, int(rng.integers(1 << 62)))
            found.append((search.value(labels), labels))
            run.report(max(v for v, _ in found))
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


def _chains(run: _Run) -> Found:
    """Improve pairs of neighbouring sets in passes until nothing changes."""
    instance, control = run.instance, run.control
    graph, weights, patience = instance.graph, instance.weights, instance.n
    search: DenseSearch | SparseSearch
    if graph is None:
        graph = SparseGraph(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0.0)
        search = run.dense()
    else:
        weights, patience, search = np.zeros((0, 0)), SETTINGS.chain_patience, run.sparse()
    labels = _positive_start(instance) if run.start is None else run.start
    chains = new_chains(instance.rules, labels)
    number, settings = 1, (search.tolerance, patience, SETTINGS.chain_work)
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
        run.report(search.value(renumbered(chains.state.labels)))
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
    pairs: Iterable[Iterable[NDArray[np.integer]]]
    if instance.weights is not None:
        weights = instance.weights
        blocks = ((k, np.nonzero(weights[k : k + BLOCK] > 0)) for k in range(0, n, BLOCK))
        pairs = ((k + i, j) for k, (i, j) in blocks)
    else:
        assert instance.graph is not None
        g = instance.graph
        rows = np.repeat(np.arange(n), np.diff(g.indptr))
        above = g.excess + g.background * rules.sizes[rows] * rules.sizes[g.indices] > 0
        pairs = [(rows[above], g.indices[above])]
    labels = connected(n, pairs)
    if rules.cap < int(rules.sizes.sum()) or rules.n_groups or len(rules.cannot_idx):
        return np.asarray(first_fit(rules, new_occupancy(rules), labels, 16))
    return labels


# --- greedy additive contraction ------------------------------------------------------------------


def _greedy(run: _Run) -> Found:
    """Join the sets that gain most; a start is improved upon by joining its sets."""
    instance, control, base = run.instance, run.control, np.arange(run.instance.n)
    graph = instance.graph
    if graph is None:
        assert instance.weights is not None
        if SETTINGS.greedy_seconds * instance.n**2 > control.remaining():
            control.note_end()  # there is no time to write all pairs down
            return base if run.start is None else run.start, {"sets": instance.n}
        graph = _graph_of_all_pairs(instance.weights, control.expired)
        if graph is None:
            return base if run.start is None else run.start, {"sets": instance.n}
    search = SparseSearch(graph, instance.rules, control.expired)
    if run.start is not None:
        search, base = search.contracted(run.start), run.start
    state = new_greedy(search.graph, search.rules, search.tolerance, control.expired)
    code, steps = 1, SETTINGS.greedy_steps
    while code > 0 and not control.expired():
        limits = search.tolerance, steps, control.expired
        code = contract_greedily(search.graph, search.rules, state, *limits)
        if code == 2:
            state = grow_greedy(state)
    return renumbered(state.labels)[base], {"sets": int(state.counters[1])}


def _graph_of_all_pairs(weights: NDArray[Any], expired: Callable[[], bool]) -> SparseGraph | None:
    """Write all pairs down as listed ones, block by block; None if there is no time for it."""
    n = len(weights)
    indptr = np.arange(n + 1, dtype=np.int64) * (n - 1)
    columns, excess = np.empty(n * (n - 1), np.int32), np.empty(n * (n - 1))
    others = np.arange(n, dtype=np.int32)
    step = max(1, SETTINGS.greedy_block // max(1, n))
    for begin in range(0, n, step):
        if expired():
            return None
        block = weights[begin : begin + step]
        off = np.arange(begin, begin + len(block))[:, None] != others
        place = slice(indptr[begin], indptr[begin + len(block)])
        columns[place] = np.broadcast_to(others, block.shape)[off]
        excess[place] = block[off]
    return SparseGraph(indptr, columns, excess, 0.0)


# --- registration ---------------------------------------------------------------------------------


local_search = partial(_solve, _local)
memetic = partial(_solve, _memetic)
kernighan_lin = partial(_solve, _chains)
greedy_contraction = partial(_solve, _greedy)


def _refuses(problem: Problem, most_pairs: float) -> str | None:
    if problem.feasible.structure != EQUIVALENCES:
        return "searches equivalence relations only"
    if not isinstance(problem.scores, SparseScores) and problem.n**2 > most_pairs:
        return "holds a matrix or all pairs, which do not fit; list the pairs that matter"
    return None


def _register(name: str, run: Callable[[Problem, Control], Outcome], summary: str) -> None:
    """Register a heuristic; `infer` chooses only the local search by itself."""
    chosen = run is local_search
    most = SETTINGS.greedy_pairs if run is greedy_contraction else DENSE_LIMIT
    register(
        Solver(
            name=name,
            summary=summary,
            proves=False,
            refuses=partial(_refuses, most_pairs=most),
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
