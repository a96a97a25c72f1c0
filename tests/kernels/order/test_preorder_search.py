import numpy as np
import pytest

import naive
from relatum.kernels.order.preorder_search import preorder_search, weak_order_search


def _scores(rng, n, excluded=False):
    yes, no = rng.integers(-4, 5, (n, n)).astype(float), np.zeros((n, n))
    yes += rng.normal(size=(n, n)) * 1e-3  # no ties, so that the twin takes the same moves
    if excluded:
        yes[0, 1] = -np.inf
        no[2, 3] = -np.inf
    return yes, no


@pytest.mark.parametrize("excluded", [False, True])
@pytest.mark.parametrize("n", [4, 5, 7])
def test_weak_order_search_equals_its_twin(n, excluded):
    rng = np.random.default_rng(n)
    for _ in range(15):
        yes, no = _scores(rng, n, excluded)
        start = np.unique(rng.integers(0, n, n), return_inverse=True)[1].astype(np.int64)
        if excluded:
            start = np.arange(n)
            start[[0, 1]] = start[[1, 0]]
        rank = start.copy()
        gain = weak_order_search(rank, yes, no, 1e-9)
        assert rank.tolist() == naive.weak_climb(start.tolist(), yes.tolist(), no.tolist(), 1e-9)
        worth = [naive.relation_worth(r[:, None] <= r[None, :], yes, no) for r in (start, rank)]
        assert worth[1] - worth[0] == pytest.approx(gain)


@pytest.mark.parametrize("excluded", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [2, 4, 6])
def test_preorder_search_equals_its_twin(n, ties, excluded):
    rng = np.random.default_rng(n)
    moved = 0
    for _ in range(12):
        yes, no = _scores(rng, n, excluded and n > 3)
        start = np.eye(n, dtype=bool)
        if n > 3 and excluded:
            start[2, 3] = True
        elif ties and rng.random() < 0.5:
            block = rng.integers(0, 3, n)
            start = block[:, None] <= block[None, :]
        y = start.copy()
        gain = preorder_search(y, yes, no, ties, 1e-9)
        twin = naive.preorder_climb(start.tolist(), yes.tolist(), no.tolist(), ties, 1e-9)
        assert y.tolist() == twin
        worth = [naive.relation_worth(r, yes, no) for r in (start, y)]
        assert worth[1] - worth[0] == pytest.approx(gain)
        moved += gain > 0
    assert moved > 3


@pytest.mark.parametrize("ties", [False, True])
def test_preorder_search_stays_feasible_and_gains_what_it_says(ties):
    rng = np.random.default_rng(0)
    every = [
        y for y in naive.all_preorders(5) if ties or not (y & y.T & ~np.eye(5, dtype=bool)).any()
    ]
    best_found = 0
    for _ in range(40):
        yes, no = _scores(rng, 5)
        start = every[int(rng.integers(len(every)))]
        y = start.copy()
        gain = preorder_search(y, yes, no, ties, 1e-9)
        before, after = (naive.relation_worth(r, yes, no) for r in (start, y))
        assert after - before == pytest.approx(gain)
        assert naive.is_preorder(y)
        assert ties or not (y & y.T & ~np.eye(5, dtype=bool)).any()
        # no single pair can be dropped or added with gain any more
        for a in range(5):
            for b in range(5):
                other = y.copy()
                other[a, b] = not y[a, b]
                if a != b and naive.is_preorder(other) and (ties or not (other & other.T)[a, b]):
                    assert naive.relation_worth(other, yes, no) <= after + 1e-9
        off = np.where(np.eye(5, dtype=bool), 0.0, yes)
        best_found += after >= max((off * r).sum() for r in every) - 1e-9
    assert best_found > 10


def test_excluded_pairs_stay_as_they_are():
    rng = np.random.default_rng(1)
    for _ in range(20):
        yes, no = _scores(rng, 6, excluded=True)
        y = np.eye(6, dtype=bool)
        y[2, 3] = True
        preorder_search(y, yes, no, True, 1e-9)
        assert y[2, 3]
        assert not y[0, 1]
