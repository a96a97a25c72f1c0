"""The first-order engine against HiGHS, through rounds of changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from relatum.lp.first_order import FirstOrderLP


def random_lp(seed):
    """Triples and general rows, one- and two-sided, feasible at x = 1/2."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    lp = FirstOrderLP(rng.normal(size=n).round(2), 0.0, 1.0)
    triples = np.array([rng.choice(n, 3, replace=False) for _ in range(2 * n)])
    low = rng.choice([-np.inf, 0.0], size=2 * n)
    lp.add_triples("triple", triples, triples, low, 1.0)
    dense = rng.integers(-2, 3, (n // 2, n)) * (rng.random((n // 2, n)) < 0.4)
    middle = dense.sum(axis=1) / 2
    lp.add_rows("general", np.arange(n // 2)[:, None], sparse.csr_array(dense), -np.inf, middle)
    lp.add_rows("lower", np.arange(2)[:, None], sparse.csr_array(dense[:2]), middle[:2] - 1, np.inf)
    return lp


def dense_rows(lp):
    matrix, low, high = [], [], []
    for block in lp.pool.values():
        if block.matrix is not None:
            matrix.append(block.matrix.toarray())
        else:
            part = np.zeros((len(block), lp.objective.size))
            for r, (i, j, k) in enumerate(block.triples):
                part[r, [i, j]] += 1
                part[r, k] -= 1
            matrix.append(part)
        low.append(block.low)
        high.append(block.high)
    return np.concatenate(matrix), np.concatenate(low), np.concatenate(high)


def highs_value(lp):
    return -highs_result(lp).fun


def highs_result(lp):
    a, low, high = dense_rows(lp)
    result = milp(
        -lp.objective,
        constraints=LinearConstraint(a, low, high),
        bounds=Bounds(lp.lower, lp.upper),
    )
    assert result.success
    return result


@pytest.mark.parametrize("seed", range(25))
def test_bound_closes_in_on_the_value_of_highs_and_never_falls_below(seed):
    lp = random_lp(seed)
    want = highs_value(lp)
    early = lp.run(10)
    assert early >= want - 1e-9
    for _ in range(40):
        lp.run(150)
    assert want - 1e-9 <= lp.bound <= want + 1e-3 * (1 + abs(want))
    a, low, high = dense_rows(lp)
    assert (a @ lp.x <= high + 1e-2).all()
    assert (a @ lp.x >= low - 1e-2).all()
    assert ((lp.x >= lp.lower) & (lp.x <= lp.upper)).all()


@pytest.mark.parametrize("seed", range(10))
def test_bound_is_the_formula_in_rows_and_multipliers(seed):
    lp = random_lp(seed)
    lp.run(30)
    a, low, high = dense_rows(lp)
    y = np.concatenate([b.multipliers for b in lp.pool.values()])
    assert (y[low == -np.inf] >= 0).all()
    assert (y[high == np.inf] <= 0).all()
    reduced = lp.objective - a.T @ y
    sides = sum(v * (h if v > 0 else w) for v, w, h in zip(y, low, high, strict=True) if v != 0)
    want = sides + np.maximum(reduced * lp.lower, reduced * lp.upper).sum()
    assert lp.bound == pytest.approx(want, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(lp.reduced, reduced, atol=1e-12)


def test_rows_added_dropped_and_fixed_between_runs():
    lp = random_lp(3)
    lp.run(3000)
    lp.drop("general", np.arange(len(lp.pool["general"])) % 2 == 0)
    lp.fix(np.array([0, 1]), [1.0, 0.0])
    extra = np.array([[2, 3, 4], [3, 4, 5]])
    lp.add_triples("triple", extra, extra)
    want = highs_value(lp)
    assert lp.run(6000) == pytest.approx(want, abs=1e-3)
    assert lp.bound >= want - 1e-9


def test_idle_rows_are_dropped_and_binding_rows_stay():
    lp = FirstOrderLP(np.array([2.0, 3.0, -4.0, 1.0]))
    lp.add_triples("triple", [[0, 1, 2]], [[0, 1, 2]])
    lp.add_rows("loose", [[0]], sparse.csr_array(np.ones((1, 4))), high=10.0)
    dropped = 0
    for _ in range(4):
        lp.run(300)
        dropped += lp.drop_idle(rounds=3)
    assert dropped == 1
    assert len(lp.pool["triple"]) == 1
    assert lp.run(100) == pytest.approx(4.0, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_the_box_implies_are_dropped_at_no_loss(seed):
    lp = random_lp(seed)
    lp.run(400)
    rng = np.random.default_rng(seed)
    columns = rng.permutation(lp.objective.size)[: lp.objective.size // 2]
    lp.fix(columns, np.clip(highs_result(lp).x[columns], 0.0, 1.0))
    lp.evaluate()
    want, bound = highs_value(lp), lp.bound
    assert lp.drop_implied() > 0
    assert lp.evaluate() <= bound + 1e-9
    assert highs_value(lp) == pytest.approx(want, abs=1e-7)
    assert lp.bound >= want - 1e-9
    assert lp.drop_implied() == 0


def test_a_copy_that_shares_rows_runs_like_one_that_does_not():
    lp = random_lp(1)
    lp.run(50)
    shares, alone = lp.copy(), lp.copy()
    alone._assembled = None
    for other in (shares, alone):
        other.fix(np.array([0, 2]), [1.0, 0.0])
        other.run(200)
    assert shares.bound == alone.bound
    assert (shares.x == alone.x).all()
    lp.run(50)
    assert (lp.lower[0], lp.upper[0]) == (0.0, 1.0)


def test_merged_columns_keep_point_and_multipliers():
    # pairs 01 02 03 12 13 23; elements 2 and 3 become one
    lp = FirstOrderLP(np.array([5.0, -4.0, -4.0, 3.0, 3.0, 9.0]))
    lp.add_triples("triple", [[0, 1, 2], [0, 1, 3]], [[0, 3, 1], [0, 4, 2]])
    lp.run(1000)
    small = FirstOrderLP(np.array([5.0, -8.0, 6.0]))
    columns = np.array([0, 1, 1, 2, 2, -1])
    lp.remap(columns, small, {"triple": (np.array([0]), np.array([[0, 1, 2]]))})
    assert small.pool["triple"].triples.tolist() == [[0, 2, 1]]
    assert small.pool["triple"].multipliers[0] == lp.pool["triple"].multipliers[0]
    want = linprog(-small.objective, A_ub=[[1, -1, 1]], b_ub=[1], bounds=(0, 1), method="highs").fun
    assert small.run(2000) == pytest.approx(-want, abs=1e-4)
    assert small.bound >= -want - 1e-9


def test_a_copy_is_independent():
    lp = random_lp(0)
    lp.run(50)
    other = lp.copy()
    other.fix(np.array([0]), [1.0])
    other.drop("general", np.zeros(len(other.pool["general"]), dtype=bool))
    before = lp.x.copy(), lp.bound, lp.n_rows
    other.run(50)
    assert (lp.x == before[0]).all()
    assert (lp.bound, lp.n_rows) == before[1:]


def test_without_rows_the_bound_is_the_box():
    lp = FirstOrderLP(np.array([1.0, -2.0, 3.0]), -1.0, 2.0)
    box = 1 * 2 + 2 * 1 + 3 * 2
    assert box < lp.run() < box + 1e-12  # rounded up
    assert lp.x.tolist() == [2.0, -1.0, 2.0]


@pytest.mark.parametrize("seed", range(5))
def test_bounds_are_not_below_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    lp = random_lp(seed)
    lp.objective[:] = rng.normal(size=lp.objective.size) * 10.0 ** rng.integers(
        -6, 7, lp.objective.size
    )
    lp.fix(np.array([0, 1]), [1.0, 0.0])
    for _ in range(4):
        lp.run(40)
        reduced = [Fraction(c) for c in lp.objective.tolist()]
        total = Fraction(0)
        for block in lp.pool.values():
            rows = block.matrix.toarray() if block.triples is None else triple_rows(block, lp)
            for row, y, low, high in zip(
                rows.tolist(), block.multipliers.tolist(), block.low, block.high, strict=True
            ):
                total += Fraction(y) * Fraction(high if y > 0 else low) if y else 0
                for k, a in enumerate(row):
                    reduced[k] -= Fraction(y) * Fraction(a)
        sides = zip(reduced, lp.lower.tolist(), lp.upper.tolist(), strict=True)
        total += sum(max(r * Fraction(lo), r * Fraction(up)) for r, lo, up in sides)
        assert Fraction(lp.bound) >= total
        assert lp.bound - float(total) <= 1e-11 * float(np.abs(lp.objective).sum())
        for exact, r, error in zip(reduced, lp.reduced.tolist(), lp.error.tolist(), strict=True):
            assert abs(exact - Fraction(r)) <= Fraction(error)


def triple_rows(block, lp):
    rows = np.zeros((len(block), lp.objective.size))
    for row, (i, j, k) in zip(rows, block.triples.tolist(), strict=True):
        row[[i, j]] += 1
        row[k] -= 1
    return rows
