"""Every partition of up to seven elements satisfies every row of the families."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import naive
from relatum.errors import CertificateError
from relatum.problem.feasible import EQUIVALENCES, LINEAR_ORDERS, at_most
from relatum.proof.certificate import FAMILIES, Cuts
from relatum.proof.checker.view import rows_of
from relatum.proof.partition_rows import most_capped_pairs


def padded(rows):
    width = max(map(len, rows))
    return np.array([list(r) + [-1] * (width - len(r)) for r in rows], dtype=np.int64)


def largest_activity(family, index, n):
    rows = FAMILIES[family].rows(index, (n, n))
    labels = naive.all_partitions(n)
    y = labels[:, :, None] == labels[:, None, :]
    terms = y[:, rows.a, rows.b] * rows.coefficient
    activity = np.add.reduceat(terms, rows.start[:-1], axis=1)
    return activity.max(axis=0), rows.rhs


def wheels(n):
    found = []
    for k in range(3, n, 2):
        for elements in combinations(range(n), k + 1):
            for centre in elements:
                rest = [v for v in elements if v != centre]
                found += [(centre, rest[0], *p) for p in permutations(rest[1:]) if p[0] < p[-1]]
    return padded(found)


def two_partitions(n):
    found = []
    for sides in np.ndindex(*([3] * n)):
        s = [v for v in range(n) if sides[v] == 1]
        t = [v for v in range(n) if sides[v] == 2]
        if s and t and len(s) <= len(t):
            found.append((*s, -1, *t))
    return padded(found)


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_odd_wheels_hold_and_are_tight(n):
    top, rhs = largest_activity("odd_wheel", wheels(n), n)
    assert (top == rhs).all()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_two_partition_rows_hold_and_are_tight(n):
    top, rhs = largest_activity("two_partition", two_partitions(n), n)
    assert (top == rhs).all()


def paths(n):
    found = []
    for k in range(3, n + 1):
        found += [p for p in permutations(range(n), k) if p[0] < p[-1]]
    return padded(found)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_paths_hold_and_are_tight(n):
    top, rhs = largest_activity("path", paths(n), n)
    assert (top == rhs).all()


@pytest.mark.parametrize(
    ("family", "row"),
    [
        ("odd_wheel", [0, 1, 2, 3, 4]),  # even cycle
        ("odd_wheel", [0, 1, 2, 1]),  # an element twice
        ("odd_wheel", [0, 1, 2]),  # too short
        ("odd_wheel", [-1, 1, 2, 3]),  # no centre
        ("two_partition", [0, 1, 2]),  # T missing
        ("two_partition", [-1, 0, 1]),  # S missing
        ("two_partition", [0, -1, 1, 0]),  # an element twice
        ("two_partition", [0, -1, 9]),  # out of range
        ("path", [0, 1]),  # too short
        ("path", [0, 1, 2, 1]),  # an element twice
        ("path", [0, -1, 1, 2]),  # a hole
    ],
)
def test_wrong_rows_are_refused(family, row):
    with pytest.raises(CertificateError):
        rows_of(Cuts(family, np.array([row]), np.ones(1)), EQUIVALENCES, (5, 5))


def test_rows_of_partitions_are_refused_for_orders():
    cut = Cuts("odd_wheel", np.array([[0, 1, 2, 3]]), np.ones(1))
    assert len(rows_of(cut, EQUIVALENCES, (5, 5))) == 1
    with pytest.raises(CertificateError, match="not valid"):
        rows_of(cut, LINEAR_ORDERS, (5, 5))


@pytest.mark.parametrize("cap", [1, 2, 3, 4])
def test_capped_sets_hold_and_are_tight(cap):
    n = 6
    sets = [s for k in range(1, n + 1) for s in combinations(range(n), k)]
    rows = FAMILIES["capped_set"].rows(padded([(cap, *s) for s in sets]), (n, n))
    assert rows.rhs.tolist() == [naive.most_capped_pairs(len(s), cap) for s in sets]
    assert np.diff(rows.start).tolist() == [len(s) * (len(s) - 1) // 2 for s in sets]
    for row, members in enumerate(sets):
        terms = slice(rows.start[row], rows.start[row + 1])
        pairs = set(zip(rows.a[terms].tolist(), rows.b[terms].tolist(), strict=True))
        assert pairs == set(combinations(members, 2))
        assert (rows.coefficient[terms] == 1).all()
    assert most_capped_pairs(7, 3) == 6


def test_capped_sets_need_a_cap_that_is_no_larger():
    row = Cuts("capped_set", np.array([[3, 0, 1, 2, 4]]), np.ones(1))
    for feasible in (EQUIVALENCES & at_most(3), EQUIVALENCES & at_most(2)):
        assert len(rows_of(row, feasible, (5, 5))) == 1
    for feasible in (EQUIVALENCES, EQUIVALENCES & at_most(4)):
        with pytest.raises(CertificateError, match="not valid"):
            rows_of(row, feasible, (5, 5))
    twice = Cuts("capped_set", np.array([[3, 0, 1, 1, 4]]), np.ones(1))
    with pytest.raises(CertificateError, match="not valid"):
        rows_of(twice, EQUIVALENCES & at_most(3), (5, 5))
