"""Rules of sets against plain checks."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from instances.partitions import free_rules, random_rules
from relatum.kernels.partition.records import new_occupancy
from relatum.kernels.partition.rules import (
    RulesView,
    SetsView,
    can_enter,
    can_exchange,
    can_join,
    enter_groups,
    leave_groups,
)


def feasible_labels(rng, kind, sets):
    """Rules for seven elements, also as plain ones, and labels that obey them."""
    rules, cannot, groups = random_rules(rng, 7, kind)
    plain = (rules.sizes, rules.cap, cannot, groups)
    labels = rng.integers(0, sets, 7)
    labels = labels if naive.obeys(labels.tolist(), *plain) else np.arange(7)
    return rules, plain, labels.astype(np.int32)


def loaded(rules, labels):
    size = np.zeros(len(labels) + 1, np.int64)
    view, sets = RulesView(rules), SetsView(labels, size, new_occupancy(rules))
    for v, c in enumerate(labels):
        enter_groups(view, sets, v, c)
        size[c] += rules.sizes[v]
    return view, sets, size


@pytest.mark.parametrize("kind", range(12))
def test_entering_and_joining_equal_the_plain_rules(kind):
    rng = np.random.default_rng(kind)
    met = set()
    for _ in range(30):
        rules, plain, labels = feasible_labels(rng, kind, 5)
        view, sets, size = loaded(rules, labels)
        v, c = int(rng.integers(7)), int(rng.integers(5))
        if c != labels[v]:
            leave_groups(view, sets, v, labels[v])
            size[labels[v]] -= rules.sizes[v]
            moved = labels.copy()
            moved[v] = c
            expected = naive.obeys(moved.tolist(), *plain)
            assert can_enter(view, sets, v, c) == expected
            met.add(expected)
            enter_groups(view, sets, v, labels[v])
            size[labels[v]] += rules.sizes[v]
            b = labels[v]
            joined = np.where(labels == b, c, labels)
            members = np.flatnonzero(labels == b)
            expected = naive.obeys(joined.tolist(), *plain)
            assert can_join(view, sets, members, len(members), c) == expected
    assert True in met


def test_free_rules_allow_everything():
    rules, labels = free_rules(4), np.array([0, 0, 0, 1], np.int32)
    view, sets, _ = loaded(rules, labels)
    assert can_enter(view, sets, 3, 0)
    assert can_join(view, sets, np.zeros(0, np.int64), 0, 0)


@pytest.mark.parametrize("kind", range(12))
def test_exchanging_equals_the_plain_rules(kind):
    rng = np.random.default_rng(kind)
    met = set()
    for _ in range(60):
        rules, plain, labels = feasible_labels(rng, kind, 4)
        view, sets, _ = loaded(rules, labels)
        v, u = rng.choice(7, 2, replace=False).tolist()
        if labels[u] == labels[v]:
            continue
        after = labels.copy()
        after[[u, v]] = labels[[v, u]]
        allowed = naive.obeys(after.tolist(), *plain)
        assert can_exchange(view, sets, v, u) == allowed
        met.add(allowed)
    assert True in met
