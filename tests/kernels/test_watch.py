"""Kernels that may run long ask whether to stop: how often, and what they return then."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.kernels.first_order import iterate
from relatum.kernels.matching import heaviest_matching
from relatum.kernels.order.patterns import fit_pattern
from relatum.kernels.order.preorder_search import preorder_search, weak_order_search
from relatum.kernels.order.rows import half_cycles, violated_dicycles
from relatum.kernels.order.search import anneal_order, insertion_search
from relatum.kernels.order.states import pack_cycles, pruned_order
from relatum.kernels.partition.cuts import violated_triangles, violated_wheels
from relatum.kernels.partition.greedy import new_greedy
from relatum.kernels.partition.packing import compressed_pairs, pack_triangles
from relatum.kernels.partition.polish import perturb_and_polish, polish
from relatum.kernels.partition.pricing.dear_sets import dear_sets, dearest_sets
from relatum.kernels.partition.records import Rules, SparseGraph
from relatum.kernels.partition.sets import best_sets, good_sets, violated_capped_sets
from relatum.kernels.partition.two_partitions import advance, violated_two_partitions
from relatum.kernels.partition.unlisted.closing import close_between, close_inside
from relatum.kernels.partition.unlisted.wedges import enter_keys
from relatum.kernels.probability.assignments import step_backward, step_forward
from relatum.kernels.probability.cluster_chains import Clustering
from relatum.kernels.probability.component_sets import component_set_probabilities
from relatum.kernels.probability.order_chains import Ordering
from relatum.kernels.probability.ordered_partitions import ranking_probabilities, ranking_sums
from relatum.kernels.probability.permutations import Placing, order_sums
from relatum.kernels.probability.row_counts import row_count_probabilities
from relatum.kernels.probability.set_partitions import partition_sums
from relatum.kernels.propagation import complete
from relatum.kernels.separation import violated_transitivity
from relatum.kernels.tables.records import Components
from relatum.kernels.triangle_steps import iterate_triangles, violated_along
from relatum.kernels.watch import Watch


class Looks:
    """Counts how often it is asked whether to stop; says so from the k-th time on."""

    def __init__(self, stop_at=10**9):
        self.count, self.stop_at = 0, stop_at

    def __call__(self):
        self.count += 1
        return self.count >= self.stop_at


class Clock:
    """A clock that shows what it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


def test_work_between_questions_adapts_to_how_long_it_takes():
    looks, clock = Looks(), Clock()
    watch = Watch(looks, seconds=1.0, first=100, clock=clock)
    assert not watch.works(99)
    assert looks.count == 0
    clock.now += 0.25  # four times as quick as it should be: at most twice as much next time
    watch.works(1)
    assert looks.count == 1
    watch.works(199)
    assert looks.count == 1
    clock.now += 2.0  # twice as slow
    watch.works(1)
    assert looks.count == 2
    watch.works(99)
    assert looks.count == 2
    watch.works(1)
    assert looks.count == 3


def test_a_clock_that_stands_still_or_leaps_does_no_harm():
    looks, clock = Looks(), Clock()
    watch = Watch(looks, first=10, clock=clock)
    for step in (0.0, 1e9, 0.0, 1e-9):
        clock.now += step
        assert not watch.works(10**16)
    assert looks.count == 4


def test_once_told_to_stop_it_asks_no_more():
    looks = Looks(stop_at=2)
    watch = Watch(looks, first=1)
    assert not watch.works(10**16)
    assert watch.works(10**16)
    assert watch.works(10**16)
    assert watch.works(0)
    assert looks.count == 2
    assert watch.close() is True


def test_without_a_question_it_never_stops():
    watch = Watch()
    assert not watch.works(10**18)
    assert watch.close() is False


def test_what_the_question_raises_is_raised_outside():
    def asked():
        raise KeyboardInterrupt

    watch = Watch(asked, first=1)
    assert watch.works(10)
    with pytest.raises(KeyboardInterrupt):
        watch.close()


def _kernels():
    """Return, by name, functions of `expired` that return arrays."""
    rng = np.random.default_rng(0)
    n, large = 160, 600
    wide = np.triu(rng.normal(size=(large, large)), 1)
    yes, no = rng.normal(size=(n, n)), np.zeros((n, n))
    d = rng.normal(size=(n, n))
    d = np.ascontiguousarray(d - d.T)
    x = rng.random((n, n))
    tournament = np.triu(x, 1) + np.tril(1 - x.T, -1)
    symmetric = np.ascontiguousarray(np.triu(x, 1) + np.triu(x, 1).T)
    weights = np.triu(yes, 1) + np.triu(yes, 1).T
    sizes, apart = np.ones(n, np.int64), np.zeros((n, n), np.bool_)
    pairs = np.column_stack(np.triu_indices(n, 1))[:2000].astype(np.int64)
    pattern = np.tri(8, dtype=np.int64) - np.tri(8, dtype=np.int64).T
    places_of = np.argsort(rng.random((3000, n)), axis=1)[:, :8]

    def preorders(expired):
        y = np.eye(n, dtype=np.bool_)
        return y, preorder_search(y, yes, no, True, 1e-9, expired)

    def weak_orders(expired):
        rank = np.arange(n)
        return rank, weak_order_search(rank, yes, no, 1e-9, expired)

    def insertion(expired):
        order = np.arange(large)
        return order, insertion_search(wide - wide.T, order, 1e-12, expired)

    def annealing(expired):
        order, state = np.arange(n), np.array([5], np.uint64)
        noise = np.random.default_rng(1).gumbel(size=1 << 10)
        return order, anneal_order(d, order, np.array([3.0, 0.1]), 20_000, noise, state, expired)

    def completion(expired):
        state = np.full((n, n), -1, np.int8)
        np.fill_diagonal(state, 1)
        order = np.argsort(-np.abs(yes), axis=None)
        rules = np.array([True] + [False] * 7)
        return state, complete(state, order, yes > 0, rules, 1, expired)

    def packing(expired):
        residual = wide[np.triu_indices(large, 1)].copy()
        index, y = np.empty((residual.size, 3), np.int32), np.empty(residual.size)
        count = pack_triangles(residual, large, np.arange(large), 64, 0.0, index, y, 0, expired)
        return index[:count], y[:count]

    def closing(kernel):
        def closed(expired):
            many = np.random.default_rng(4)
            key = np.unique(many.integers(0, 3000 * 3000, 40_000))
            key = key[key // 3000 < key % 3000]
            i, j = key // 3000, key % 3000
            residual, labels = many.normal(size=len(key)) + 1, np.arange(3000) // 1000
            table = np.full(1 << 20, -1, np.int64), np.append(np.zeros(1 << 20), 5e5)
            enter_keys(*table, key)
            rows = np.empty((10**5, 5), np.int32), np.empty(10**5), 0
            state = compressed_pairs(i, j, 3000), residual, labels
            over = np.flatnonzero((residual > 0) & (labels[i] != labels[j]))
            if kernel is close_between:
                ends = np.column_stack([over, i[over], j[over]])
                count = kernel(*state, ends, (-0.1, 0.0, 3, 64, 512), table, rows, expired)
            else:
                count = kernel(*state, (-0.1, 0.0, 4, 64), table, *rows, expired)
            return rows[0][:count], rows[1][:count]

        return closed

    def greedy(expired):
        off = ~np.eye(large, dtype=bool)
        columns = np.tile(np.arange(large, dtype=np.int32), (large, 1))[off]
        ends, weight = np.arange(large + 1) * (large - 1), (wide + wide.T)[off]
        none, never = np.zeros(large + 1, np.int64), np.empty(0, np.int64)
        rules = Rules(np.ones(large, np.int64), large, none, never, none, never, 0)
        state = new_greedy(SparseGraph(ends, columns, weight, 0.0), rules, 1e-9, expired)
        return state.counters, state.keys, state.entries, state.heap_loss[: state.counters[0]]

    def polishing(expired):
        labels = np.arange(large)
        ones = np.ones(large, np.int64)
        return labels, polish(wide + wide.T, ones, large, labels, 1e-9, expired)[1]

    def perturbing(expired):
        labels = np.arange(n)
        return labels, perturb_and_polish(weights, sizes, n, labels, 1e-9, 200, 7, expired)

    def iterating(expired):
        r = 20_000
        draws = np.random.default_rng(2).random((r, 50))
        triples = np.argsort(draws, axis=1)[:, :3]
        rows = triples.astype(np.int32), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
        sides = np.stack([np.full(r, -np.inf), np.ones(r), np.full(r, 1 / 3)])
        box = np.stack([yes[0, :50], np.zeros(50), np.ones(50), np.full(50, 1e-3)])
        point, y = np.zeros(50), np.zeros(r)
        iterate(rows, sides, box, point, y, np.array([1.0, 0.99, 0.0, 1.0]), 60, expired)
        return point, y

    def stepping(expired):
        triples = np.argsort(np.random.default_rng(2).random((20_000, 50)), axis=1)[:, :3]
        columns, y = np.zeros((7, 50), np.float32), np.zeros(20_000, np.float32)
        columns[0] = yes[0, :50]
        control = np.array([1.0, 0.0, 1.0])
        iterate_triangles(triples.astype(np.int32), columns, y, control, 60, expired)
        return columns, y

    def looking_along(expired):
        point = np.random.default_rng(6).random(large * (large - 1) // 2, dtype=np.float32)
        return violated_along(point, np.array([0, large // 2, large]), 0.01, expired)

    def sweeping(expired):
        single = [m.astype(np.float32) for m in (x, symmetric, yes, weights)]
        pairs_of = np.random.default_rng(5).permuted(np.tile(np.arange(n - 1), (20_000, 1)), axis=1)
        chosen = (pairs_of[:, :3] * n + n - 1).astype(np.int32).ravel()
        rows = np.arange(0, 60_001, 3), chosen, np.ones(60_000, np.int8), np.ones(20_000)
        prices = np.zeros(20_000)
        advance(*single, rows, prices, 1.6, 60, expired)
        return single[1], prices

    few = 16
    half, places = np.full((few, few), 0.75), rng.integers(-9, 9, (few, few)).astype(np.int32)
    many_rows = np.full((4000, 30), 0.75), np.ones((4000, 30), np.int32)

    none = np.empty(0, np.int32)
    of_none, together = np.zeros(251, np.int64), np.zeros(2000, np.int64)
    parts = Components(
        np.arange(0, 2001, 8), of_none, none, none, np.empty(0), of_none,
        np.empty((0, 3), np.int32), np.empty(0, np.int64), np.empty(0, np.int64),
    )  # fmt: skip
    placing = Placing(np.ascontiguousarray(half[:12, :12]), np.zeros((12, 12), np.int32))
    ties = np.full(1 << 12, 0.5), np.zeros(1 << 12, np.int32)
    sums = ranking_sums(placing, *ties)

    def assigning(expired):
        watch = Watch(expired)
        for step in (step_forward, step_backward):
            layer = np.full(1 << few, 0.5), np.ones(1 << few, np.int32)
            step(*layer, half[0], places[0], True, False, watch)
        watch.close()
        return layer

    def matching(expired):
        start = np.arange(0, large * large + 1, large)
        right = np.tile(np.arange(large), large)
        return heaviest_matching(start, right, 5.0 + np.abs(wide + wide.T).ravel(), large, expired)

    def walking(walker, steps):
        def walked(expired):
            out, values = np.full((300, n), -1, np.int32), np.zeros(300)
            walker().draw(out, values, steps, np.array([3], np.uint64), expired)
            return out, values

        return walked

    others = np.tile(np.arange(n, dtype=np.int32), (n, 1))[~np.eye(n, dtype=bool)]
    near = np.arange(n + 1) * (n - 1), others, weights[~np.eye(n, dtype=bool)]

    prices = np.full(n, 0.5)
    given = weights, prices, sizes, apart, 6, 0.0
    many = np.full(large, 0.5), np.ones(large, np.int64), np.zeros((large, large), np.bool_)
    return {
        "preorder_search": preorders,
        "weak_order_search": weak_orders,
        "insertion_search": insertion,
        "anneal_order": annealing,
        "complete": completion,
        "pack_triangles": packing,
        "close_inside": closing(close_inside),
        "close_between": closing(close_between),
        "new_greedy": greedy,
        "polish": polishing,
        "perturb_and_polish": perturbing,
        "heaviest_matching": matching,
        "iterate": iterating,
        "violated_transitivity": lambda e: violated_transitivity(x, 0.01, 10**6, e),
        "violated_dicycles": lambda e: violated_dicycles(tournament, 0.01, 2, e),
        "half_cycles": lambda e: half_cycles(tournament, pairs[:100], 0.9, 60, e),
        "fit_pattern": lambda e: fit_pattern(tournament, pattern, places_of, e),
        "pack_cycles": lambda e: pack_cycles(np.maximum(d, 0.0), e),
        "pruned_order": lambda e: pruned_order(yes[:16, :16], 100_000, e),
        "violated_triangles": lambda e: violated_triangles(symmetric, 0.01, e),
        "violated_wheels": lambda e: violated_wheels(
            symmetric, np.arange(n), np.arange(n), 0.01, 12, e
        ),
        "iterate_triangles": stepping,
        "violated_along": looking_along,
        "advance": sweeping,
        "violated_two_partitions": lambda e: violated_two_partitions(symmetric, pairs, 0.01, 6, e),
        "partition_sums": lambda e: partition_sums(half, places, np.ones(few, np.int64), few, e),
        "Clustering.draw": walking(
            lambda: Clustering(near, np.ones(n, np.int64), 0.0, n, np.arange(n)), (n, 9)
        ),
        "Ordering.draw": walking(lambda: Ordering(d, np.arange(n)), (n, 9, 5)),
        "order_sums": lambda e: order_sums(Placing(half, places), e),
        "component_set_probabilities": lambda e: (
            np.nan_to_num(component_set_probabilities(parts, together, -1.0, 9, 8, e)),
        ),
        "ranking_sums": lambda e: ranking_sums(placing, *ties, e),
        "ranking_probabilities": lambda e: ranking_probabilities(placing, *ties, *sums, e),
        "step_forward and step_backward": assigning,
        "row_count_probabilities": lambda e: row_count_probabilities(
            *many_rows, np.zeros((4000, 30), np.uint8), 1, 2, e
        ),
        "best_sets": lambda e: best_sets(*given, 200_000, e),
        "good_sets": lambda e: good_sets(wide + wide.T, *many, 6, 0.0, e),
        "dear_sets": lambda e: dear_sets(weights, prices, np.eye(n, dtype=np.uint8), 400, 0.0, e),
        "dearest_sets": lambda e: dearest_sets(weights, prices, 0.0, 9, 3_000_000, e)[:1],
        "violated_capped_sets": lambda e: violated_capped_sets(
            symmetric, np.zeros((4 * n, n)), 5, 18, 0.01, e
        ),
    }


KERNELS = _kernels()


def _same(a, b):
    return all(np.array_equal(np.asarray(p), np.asarray(q)) for p, q in zip(a, b, strict=True))


@pytest.mark.parametrize("name", KERNELS)
def test_asking_changes_nothing(name):
    looks = Looks()
    assert _same(KERNELS[name](None), KERNELS[name](looks))
    assert looks.count > 0  # so large is the work


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_is_told_to_stop_stops(name):
    looks = Looks(stop_at=1)
    result = KERNELS[name](looks)
    assert looks.count == 1
    assert not _same(result, KERNELS[name](None))


@pytest.mark.parametrize("name", KERNELS)
def test_an_interrupt_passes_through(name):
    def asked():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KERNELS[name](asked)
