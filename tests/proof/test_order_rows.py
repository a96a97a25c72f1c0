import numpy as np
import pytest

from relatum.problem.feasible import LINEAR_ORDERS, WEAK_ORDERS
from relatum.problem.relation import LinearOrder
from relatum.proof.certificate import FAMILIES
from relatum.solvers.order.relaxation import OrderRelaxation

FAMILY = FAMILIES["half_dicycle"]


def _random_index(rng, n):
    """Rows whose sum is even, made of random rows doubled up in their odd pairs by the box."""
    names = [
        tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(int(rng.integers(2, 6)))
    ]
    odd = {}
    for a, b, c in names:
        for p, q in ((a, b), (b, c), (a, c)):
            key = (min(p, q), max(p, q))
            odd[key] = not odd.get(key, False)
    for (p, q), is_odd in odd.items():
        if is_odd:
            names.append((p, q, q) if rng.random() < 0.5 else (q, p, p))
    return np.array([np.array(names).ravel()])


def test_every_linear_order_satisfies_the_rows():
    rng = np.random.default_rng(0)
    for _ in range(100):
        index = _random_index(rng, 6)
        assert FAMILY.valid(LINEAR_ORDERS, index, (6, 6))
        rows = FAMILY.rows(index, (6, 6))
        for _ in range(40):
            y = LinearOrder.from_order(rng.permutation(6)).matrix()
            assert (rows.coefficient * y[rows.a, rows.b]).sum() <= rows.rhs[0]


def test_some_rows_cut_off_points_that_satisfy_all_dicycles():
    rng = np.random.default_rng(1)
    cut = 0
    for _ in range(10):
        c = rng.integers(0, 2, (12, 12)).astype(float)
        relaxation = OrderRelaxation(c - c.T)
        for _ in range(20):
            relaxation.lp.run(300)
            if relaxation.separate(relaxation.point(), 0.01, 2) == 0.0:
                break
        cut += relaxation.add_half_cuts(relaxation.point(), 45, rng)
    assert cut > 0


@pytest.mark.parametrize(
    "index",
    [
        [[0, 1, 2]],  # odd coefficients
        [[0, 1, 2, 0, 1]],  # not triples
        [[0, 1, 0, 0, 1, 0]],  # not three elements
        [[0, 1, 9, 0, 1, 9]],  # out of range
        [[0, 0, 0, 0, 0, 0]],
    ],
)
def test_invalid_rows_are_refused(index):
    assert not FAMILY.valid(LINEAR_ORDERS, np.array(index), (5, 5))


def test_only_linear_orders_have_them():
    index = np.array([[0, 1, 2, 0, 1, 2]])
    assert FAMILY.valid(LINEAR_ORDERS, index, (3, 3))
    assert not FAMILY.valid(WEAK_ORDERS, index, (3, 3))
