import numpy as np
import pytest

import naive
from relatum.kernels.order.rows import close_precedence, half_cycles, violated_dicycles


def _point(rng, n):
    x = np.triu(np.clip(rng.random((n, n)) * 1.4 - 0.2, 0, 1), 1)
    return x + np.tril(1 - x.T, -1)


@pytest.mark.parametrize("n", [3, 5, 9])
def test_violated_dicycles(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        x = _point(rng, n)
        truth = naive.dicycle_violations(x.tolist())
        found, amount = violated_dicycles(x, 0.05, 2)
        triples = [tuple(t) for t in found.tolist()]
        assert len(set(triples)) == len(triples)
        for t, v in zip(triples, amount.tolist(), strict=True):
            assert truth[t] == pytest.approx(v)
        for a in range(n):
            for b in range(a + 1, n):  # the worst triple of every pair is among them
                worst = max(v for t, v in truth.items() if a in t and b in t)
                if worst > 0.05:
                    own = [v for t, v in zip(triples, amount, strict=True) if {a, b} <= set(t)]
                    assert max(own) == pytest.approx(worst)


@pytest.mark.parametrize("per_pair", [1, 2])
@pytest.mark.parametrize("n", [20, 70])
def test_violated_dicycles_are_the_worst_of_every_pair_sorted(n, per_pair):
    x = np.triu(np.random.default_rng(n).random((n, n)), 1)  # no two cycles alike
    x = x + np.tril(1 - x.T, -1)
    cycle = x[:, :, None] + x[None] + x.T[:, None] - 2.0
    worst = np.maximum(cycle, -1.0 - cycle)
    i = np.arange(n)
    worst[i, :, i] = worst[:, i, i] = -np.inf
    expected = set()
    for a in range(n):
        for b in range(a + 1, n):
            thirds = np.argsort(-worst[a, b])[:per_pair]
            expected |= {tuple(sorted((a, b, c))) for c in thirds if worst[a, b, c] > 0.1}
    found, amount = violated_dicycles(x, 0.1, per_pair)
    assert [tuple(t) for t in found.tolist()] == sorted(expected)
    np.testing.assert_allclose(amount, worst[tuple(found.T)])


def test_half_cycles_are_shortest_odd_walks():
    rng = np.random.default_rng(0)
    n, found = 6, 0
    i, j = np.triu_indices(n, 1)
    for _ in range(10):
        x = np.triu(rng.choice([0.0, 0.4, 0.5, 1.0], (n, n)), 1)
        x = x + np.tril(1 - x.T, -1)
        steps, ends, weight = half_cycles(x, np.column_stack([i, j]), 1.0, 10_000)
        truth = [naive.shortest_odd_order_walk(x.tolist(), pair) for pair in zip(i, j, strict=True)]
        assert sorted(w for w in truth if w < 1.0 - 1e-9) == pytest.approx(sorted(weight))
        for lo, hi, w in zip([0, *ends[:-1]], ends, weight, strict=True):
            assert sum(naive.half_step_slack(x.tolist(), s) for s in steps[lo:hi].tolist()) == (
                pytest.approx(w)
            )
            assert naive.is_closed_odd_walk(steps[lo:hi].tolist())
        found += len(ends)
    assert found > 20


def test_closure_is_reachability_and_each_step_follows():
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(2, 9))
        rank = rng.permutation(n)
        arcs = (rank[:, None] < rank[None, :]) & (rng.random((n, n)) < 0.4)
        before = np.zeros((n, n), np.bool_)
        known = set()
        for batch in np.array_split(np.argwhere(arcs), 2):
            known |= {tuple(p) for p in batch.tolist()}
            steps, clash = close_precedence(before, batch)
            assert clash.tolist() == [-1, -1]
            for a, b, c in steps.tolist():
                assert (a, b) in known
                assert (b, c) in known
                known.add((a, c))
        truth = {(a, b) for a in range(n) for b in naive.reachable(arcs.tolist(), a) if a != b}
        assert {tuple(p) for p in np.argwhere(before).tolist()} == truth


def test_a_cycle_clashes():
    before = np.zeros((4, 4), np.bool_)
    steps, clash = close_precedence(before, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    assert clash[0] >= 0
    assert len(steps) > 0
