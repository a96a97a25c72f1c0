"""Arrays of problems: contraction, rules and values against the problem itself."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from instances.partitions import compressed, random_problem, random_rules
from relatum.kernels.partition.dense import partition_value
from relatum.kernels.partition.sparse import sparse_value
from relatum.solvers.partition.arrays import (
    condensed_arrays,
    contracted_rules,
    instance_of,
    keys_of,
    listed_arrays,
    merged,
    renumbered,
    square_arrays,
)


def plain_rules(rules):
    """Lists of forbidden pairs and of (element, group) pairs."""
    n = len(rules.sizes)
    rows = np.repeat(np.arange(n), np.diff(rules.cannot_ptr))
    cannot = [(int(a), int(b)) for a, b in zip(rows, rules.cannot_idx, strict=True)]
    rows = np.repeat(np.arange(n), np.diff(rules.group_ptr))
    groups = [(int(v), int(g)) for v, g in zip(rows, rules.group_idx, strict=True)]
    return rules.sizes, rules.cap, cannot, groups


@pytest.mark.parametrize("small", [0, 2000])
def test_values_and_rules_are_those_of_the_problem(small, monkeypatch):
    monkeypatch.setattr("relatum.solvers.partition.arrays.MATRIX_ELEMENTS", small)
    rng = np.random.default_rng(small)
    seen = 0
    for _ in range(60):
        problem, _, allowed = random_problem(rng, 7)
        instance = instance_of(problem)
        if instance is None:
            assert naive.best_partition(np.zeros((7, 7)), allowed) == -np.inf
            continue
        for _ in range(5):
            labels = renumbered(rng.integers(0, 3, instance.n))
            relation = rt.Partition(labels[instance.element])
            if instance.graph is not None:
                inside = sparse_value(instance.graph, instance.rules, labels, labels.max() + 1)
            else:
                inside = partition_value(instance.weights, labels)
            value = instance.constant + instance.scale * inside
            assert value == pytest.approx(problem.value(relation))
            obeys = naive.obeys(labels.tolist(), *plain_rules(instance.rules))
            assert obeys == allowed(relation.labels)
            seen += obeys
    assert seen > 30


def test_a_symmetric_matrix_is_not_copied():
    c = np.zeros((50, 50), np.float32)
    assert np.shares_memory(instance_of(rt.Problem(c, rt.EQUIVALENCES)).weights, c)
    c[0, 1] = 1.0
    folded = instance_of(rt.Problem(c, rt.EQUIVALENCES)).weights
    assert folded[0, 1] == folded[1, 0] == 1.0
    assert folded.dtype == np.float32


@pytest.mark.parametrize("kind", range(8))
def test_contracted_rules_say_the_same_of_whole_sets(kind):
    rng = np.random.default_rng(kind)
    rules, cannot, groups = random_rules(rng, 9, kind)
    cells = renumbered(rng.integers(0, 6, 9))
    if not naive.obeys(cells.tolist(), rules.sizes, rules.cap, cannot, groups):
        cells = np.arange(9)
    small = contracted_rules(rules, cells, cells.max() + 1)
    for _ in range(30):
        labels = rng.integers(0, 4, cells.max() + 1)
        above = naive.obeys(labels.tolist(), *plain_rules(small))
        assert above == naive.obeys(labels[cells].tolist(), rules.sizes, rules.cap, cannot, groups)


def test_renumbered_has_no_gaps_and_compressed_rows_are_in_order():
    assert renumbered(np.array([7, 3, 7])).tolist() == [1, 0, 1]
    pointers, columns = compressed([(2, 5), (0, 1), (2, 4)], 3)
    assert pointers.tolist() == [0, 1, 1, 3]
    assert columns.tolist() == [1, 4, 5]


@pytest.mark.parametrize("sparse", [True, False])
def test_every_layout_says_the_same_of_values_and_of_decided_pairs(sparse):
    rng = np.random.default_rng(int(sparse))
    n = 6
    i, j = np.triu_indices(n, 1)
    for seed in range(40):
        facts = rt.evidence(related=[(1, 0)], unrelated=[(3, 2), (4, 5)])
        feasible = rt.EQUIVALENCES & (facts if seed % 2 else rt.one_per_group(np.arange(n) // 2))
        c = rng.normal(size=(n, n)).round(2)
        problem = rt.Problem(c, feasible)
        if sparse:
            keep = rng.random(len(i)) < 0.6
            a, b = np.append(i[keep], 2), np.append(j[keep], 2)  # and an element with itself
            problem = rt.Problem.from_pairs(a, b, c[a, b], n=n, background=-0.5, feasible=feasible)
        square, condensed = square_arrays(problem), condensed_arrays(problem)
        np.testing.assert_array_equal(square.weights, square.weights.T)
        np.testing.assert_array_equal(square.weights[i, j], condensed.log_odds)
        state = np.full(len(i), -1)
        state[condensed.places] = condensed.state
        np.testing.assert_array_equal(square.state[i, j], state)
        assert sorted(state[state >= 0].tolist()) == ([0, 0, 1] if seed % 2 else [0, 0, 0])
        labels = rng.integers(0, 3, n)
        inside = (labels[i] == labels[j]) @ condensed.log_odds
        assert problem.value(rt.Partition(labels)) == pytest.approx(inside + condensed.constant)
        assert square.constant == condensed.constant
        if sparse:
            listed = listed_arrays(problem)
            keys = keys_of(j, i, n)
            place = np.searchsorted(keys, listed.keys)
            np.testing.assert_array_equal(keys[place], listed.keys)
            np.testing.assert_allclose(condensed.log_odds[place], listed.log_odds)
            np.testing.assert_array_equal(state[place], listed.state)
            rest = np.delete(condensed.log_odds, place)
            np.testing.assert_array_equal(rest, np.full(len(rest), -0.5))
            assert listed.constant == pytest.approx(condensed.constant)


def test_packings_never_change_the_arrays_of_the_caller():
    upper = np.ones(3)
    problem = rt.Problem(upper, rt.EQUIVALENCES)
    condensed_arrays(problem).log_odds[:] = 9.0
    assert problem.log_odds.tolist() == upper.tolist() == [1.0, 1.0, 1.0]


def test_merged_numbers_are_the_union():
    rng = np.random.default_rng(0)
    for size in (0, 1, 5, 40):
        ordered = np.unique(rng.integers(0, 60, size))
        others = rng.integers(0, 60, rng.integers(0, 9))
        np.testing.assert_array_equal(merged(ordered, others), np.union1d(ordered, others))
    np.testing.assert_array_equal(merged(np.array([3, 1, 1]), np.array([2])), [1, 2, 3])
