"""What all relaxations of orders share, on a relaxation with a column for every ordered pair."""

from __future__ import annotations

import numpy as np

from relatum.solvers.order.pair_relaxation import PairRelaxation


def relaxation(c):
    n = len(c)
    a, b = np.nonzero(~np.eye(n, dtype=bool))
    column = np.zeros((n, n), dtype=np.int64)
    column[a, b] = np.arange(len(a))
    return PairRelaxation(c, a, b, column)


def scores(seed=0, n=5):
    return np.random.default_rng(seed).normal(size=(n, n))


def test_rows_of_triples_are_added_once_and_mean_what_they_say():
    r = relaxation(scores())
    first = np.array([[0, 1, 2], [3, 1, 4]])
    r.add_triples("transitive", first, -np.inf, 1.0)
    r.add_triples("transitive", np.array([[3, 1, 4], [2, 1, 0]]), -np.inf, 1.0)
    block = r.lp.pool["transitive"]
    assert block.index.tolist() == [[0, 1, 2], [3, 1, 4], [2, 1, 0]]
    # without rows the best point takes every positive pair; with multipliers 1 the rows cost 1 each
    free = np.maximum(r.lp.objective, 0).sum()
    np.testing.assert_allclose(r.lp.bound, free)
    block.multipliers[:] = 1.0
    r.lp.evaluate()
    reduced = r.lp.objective.copy()
    for a, b, c in block.index.tolist():
        reduced[r.column[a, b]] -= 1
        reduced[r.column[b, c]] -= 1
        reduced[r.column[a, c]] += 1
    np.testing.assert_allclose(r.lp.reduced, reduced)
    np.testing.assert_allclose(r.lp.bound, np.maximum(reduced, 0).sum() + 3)


def test_only_pairs_whose_opposite_is_ruled_out_are_fixed():
    c = scores(1)
    r = relaxation(c)
    best = np.maximum(r.lp.objective, 0).sum()  # of all relations, no property asked for
    for slack in (0.1, 0.5, 1.0):
        pairs, values = r.fixable(best - slack)
        # turning pair ab round costs |c_ab|: it is ruled out if that is at least the slack
        wanted = {
            (a, b): c[a, b] > 0 for a, b in zip(r.a, r.b, strict=True) if abs(c[a, b]) >= slack
        }
        assert dict(zip(map(tuple, pairs.tolist()), values.tolist(), strict=True)) == wanted


def test_open_pairs_are_branched_on_the_undecided_and_heavy_first():
    c = scores(2)
    r = relaxation(c)
    r.lp.x[:] = 0.5
    r.lp.fix(np.array([r.column[0, 1]]), np.ones(1))
    pairs = []
    while (pair := r.branch_pair()) is not None:
        pairs.append(pair)
        r.lp.fix(np.array([r.column[pair]]), np.ones(1))
    assert len(set(pairs)) == 19
    assert (0, 1) not in pairs
    weight = [abs(c[a, b]) for a, b in pairs]
    assert weight == sorted(weight, reverse=True)


def test_copies_are_independent():
    r = relaxation(scores(3))
    other = r.copy()
    other.lp.fix(np.arange(4), np.ones(4))
    assert (r.lp.lower == 0).all()
    assert other.lp.lower[:4].all()
