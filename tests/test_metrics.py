"""Metrics against definitions, enumeration and scikit-learn."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn import metrics as sk

import relatum as rt
from relatum import metrics
from relatum.errors import DataError


def _random_labels(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    return rng.integers(0, 5, n), rng.integers(0, 4, n)


@pytest.mark.parametrize("seed", range(20))
def test_partition_metrics_by_definition(seed):
    a, b = _random_labels(seed)
    pairs = list(combinations(range(len(a)), 2))
    same_a = np.array([a[i] == a[j] for i, j in pairs])
    same_b = np.array([b[i] == b[j] for i, j in pairs])
    assert metrics.rand_error(a, b) == pytest.approx(np.mean(same_a != same_b))
    assert metrics.rand_error(a, b) == pytest.approx(1 - sk.rand_score(a, b))
    assert metrics.adjusted_rand_score(a, b) == pytest.approx(sk.adjusted_rand_score(a, b))
    if same_a.any() and same_b.any():
        expected = sk.precision_recall_fscore_support(
            same_a, same_b, average="binary", zero_division=0.0
        )[:3]
        assert metrics.pair_precision_recall_f1(a, b) == pytest.approx(expected)
    mutual = sk.mutual_info_score(a, b)
    entropies = sk.mutual_info_score(a, a) + sk.mutual_info_score(b, b)
    nats = metrics.variation_of_information(a, b, unit="nats")
    assert nats == pytest.approx(entropies - 2 * mutual, abs=1e-12)
    assert metrics.variation_of_information(a, b) == pytest.approx(nats / math.log(2), abs=1e-12)


def test_partitions_and_strings_are_labels_too():
    p = rt.Partition([0, 0, 1])
    assert metrics.rand_error(p, ["x", "x", "y"]) == 0.0
    assert metrics.pair_precision_recall_f1([0, 1, 2], [0, 1, 2]) == (1.0, 1.0, 1.0)


def _naive(metric, p):
    """Distance of a permutation from the identity, straight from the definition."""
    n = len(p)
    if metric == "kendall":
        return sum(p[i] > p[j] for i, j in combinations(range(n), 2))
    if metric == "spearman_footrule":
        return sum(abs(p[i] - i) for i in range(n))
    if metric == "spearman_rho":
        return sum((p[i] - i) ** 2 for i in range(n))
    if metric == "hamming":
        return sum(p[i] != i for i in range(n))
    if metric == "chebyshev":
        return max(abs(p[i] - i) for i in range(n))
    if metric == "ulam":
        longest = max(
            k
            for k in range(1, n + 1)
            for s in combinations(range(n), k)
            if all(p[s[t]] < p[s[t + 1]] for t in range(k - 1))
        )
        return n - longest
    frontier, steps, target = {tuple(p)}, 0, tuple(range(n))  # cayley: breadth-first
    while target not in frontier:
        steps += 1
        frontier = {
            tuple(q[j] if k == i else q[i] if k == j else q[k] for k in range(n))
            for q in frontier
            for i, j in combinations(range(n), 2)
        }
    return steps


@pytest.mark.parametrize("metric", metrics.PERMUTATION_METRICS)
def test_permutation_metrics_by_definition(metric):
    for p in permutations(range(4)):
        order = np.argsort(p)  # element k has rank p[k]
        got = metrics.permutation_distance(range(4), order, metric, normalize=False)
        assert got == _naive(metric, p)


@pytest.mark.parametrize("metric", metrics.PERMUTATION_METRICS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_largest_and_expected_by_enumeration(metric, n):
    every = [
        metrics.permutation_distance(range(n), p, metric, normalize=False)
        for p in permutations(range(n))
    ]
    assert metrics.largest_distance(metric, n) == max(every)
    assert metrics.expected_distance(metric, n) == pytest.approx(np.mean(every))


@pytest.mark.parametrize("metric", ["ulam", "chebyshev"])
@pytest.mark.parametrize("n", [16, 17, 31])
def test_expected_values_of_longer_orders_by_sampling(metric, n):
    rng = np.random.default_rng(0)
    sample = [
        metrics.permutation_distance(range(n), rng.permutation(n), metric, normalize=False)
        for _ in range(3000)
    ]
    error = 5 * np.std(sample) / math.sqrt(len(sample))
    # the asymptotic law of ulam is off by a few hundredths
    assert metrics.expected_distance(metric, n) == pytest.approx(np.mean(sample), abs=error + 0.1)


def test_distances_are_symmetric_and_right_invariant():
    rng = np.random.default_rng(1)
    for metric in metrics.PERMUTATION_METRICS:
        a, b, c = (rng.permutation(9) for _ in range(3))
        d = metrics.permutation_distance(a, b, metric)
        assert d == metrics.permutation_distance(b, a, metric)
        assert d == metrics.permutation_distance(c[a], c[b], metric)  # renamed elements
        assert 0 <= d <= 1
        assert metrics.permutation_distance(rt.LinearOrder.from_order(a), a, metric) == 0


def test_errors_say_what_is_wrong():
    with pytest.raises(DataError, match="same elements, got 3 and 2"):
        metrics.rand_error([0, 1, 2], [0, 1])
    with pytest.raises(DataError, match="one label per element"):
        metrics.rand_error([[0]], [0])
    with pytest.raises(DataError, match="bits"):
        metrics.variation_of_information([0, 1], [0, 1], unit="bans")
    with pytest.raises(DataError, match="no permutation metric 'tau'"):
        metrics.permutation_distance([0, 1], [1, 0], "tau")
    with pytest.raises(DataError, match="same elements"):
        metrics.kendall([0, 1], [0, 1, 2])
    with pytest.raises(rt.errors.RelationError, match="exactly once"):
        metrics.kendall([0, 0], [0, 1])


def test_labels_of_any_type_are_told_apart():
    assert metrics.rand_error([1, "1", "1"], [0, 1, 1]) == 0.0  # numpy would make texts of all
    assert metrics.rand_error([(1, 2), (1, 2), "x"], [0, 0, 1]) == 0.0
    a, b = [frozenset({1}), frozenset({2}), frozenset({1})], ["u", "v", "u"]
    assert metrics.pair_precision_recall_f1(a, b) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: metrics.rand_error([0.0, np.nan], [0, 1]),
            r"Element 1 has no label \(NaN or None",
        ),
        (lambda: metrics.rand_error([0, 1], [None, "a"]), "Element 0 has no label"),
        (lambda: metrics.variation_of_information([np.nan, 1.0], [0, 1]), "no label"),
        (lambda: metrics.adjusted_rand_score([0, 1], ["x", float("nan")]), "no label"),
        (lambda: metrics.rand_error(np.ma.array([0, 1]), [0, 1]), "masked"),
        (lambda: metrics.rand_error([[1], [2, 3]], [0, 1]), "lists of equal lengths"),
        (lambda: metrics.rand_error([{}, {}], [0, 1]), "told apart by their hash"),
        (lambda: metrics.kendall(np.ma.array([0, 1]), [0, 1]), "masked"),
        (lambda: metrics.kendall([0, 1, np.nan], [0, 1, 2]), "integers"),
        (lambda: metrics.permutation_distance([0, 1], [1, 0], normalize="no"), "True or False"),
        (lambda: metrics.largest_distance("kendall", "3"), "whole number"),
        (lambda: metrics.expected_distance("kendall", 2.5), "whole number"),
        (
            lambda: metrics.permutation_distance([0, 1], [1, 0], metric=["kendall"]),
            "no permutation",
        ),
    ],
)
def test_odd_labels_and_orders_are_refused(call, says):
    with pytest.raises(rt.errors.RelatumError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)
