"""Random instances shared by the tests of partition heuristics."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.kernels.partition.records import Rules, SparseGraph


def free_rules(n):
    """Rules that allow everything, for ``n`` elements of size 1."""
    nothing = np.zeros(0, np.int64)
    pointers = np.zeros(n + 1, np.int64)
    return Rules(np.ones(n, np.int64), n, pointers, nothing, pointers, nothing, 0)


def compressed(pairs, n):
    pairs = sorted(pairs)
    pointers = np.zeros(n + 1, np.int64)
    for v, _ in pairs:
        pointers[v + 1] += 1
    return np.cumsum(pointers), np.array([x for _, x in pairs], np.int64)


def random_rules(rng, n, kind):
    """Rules, and the forbidden pairs and (element, group) pairs they are made of."""
    sizes = rng.integers(1, 4, n) if kind % 2 else np.ones(n, np.int64)
    cap = int(rng.integers(sizes.max() + 1, sizes.sum() + 2)) if kind % 3 == 1 else int(sizes.sum())
    cannot, groups, n_groups = [], [], 0
    if kind % 4 >= 2:
        some = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(n // 2)}
        cannot = sorted(some)
    if kind % 5 >= 3:
        n_groups = 4
        groups = [(v, int(rng.integers(n_groups))) for v in range(n) if rng.random() < 0.7]
    both = cannot + [(v, u) for u, v in cannot]
    rules = Rules(
        sizes.astype(np.int64), cap, *compressed(both, n), *compressed(groups, n), n_groups
    )
    return rules, cannot, groups


def random_weights(rng, n, ties=False):
    w = rng.integers(-3, 4, (n, n)).astype(float) if ties else rng.normal(size=(n, n))
    w = np.triu(w, 1)
    return w + w.T + np.diag(rng.normal(size=n))  # the diagonal must not matter


def random_graph(rng, n, background, density=0.5):
    """A sparse graph, and the dense weights between elements of size 1 it stands for."""
    listed = np.triu(rng.random((n, n)) < density, 1)
    listed |= listed.T
    scores = random_weights(rng, n)
    dense = np.where(listed, scores, background)
    np.fill_diagonal(dense, 0.0)
    rows, columns = np.nonzero(listed)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    excess = scores[rows, columns] - background
    return SparseGraph(pointers, columns.astype(np.int32), excess, background), dense, listed


def with_sizes(graph, listed, dense, sizes):
    """Weights between elements that stand for several: the background counts size x size."""
    n = len(sizes)
    scored = np.where(listed, dense - graph.background, 0.0)
    return scored + graph.background * np.outer(sizes, sizes) * (1 - np.eye(n))


def restrict(rng, n, feasible, rules):
    """Add evidence and groups now and then, to a feasible set and to a list of plain rules."""
    if rng.random() < 0.4:
        yes = rng.integers(0, n, (rng.integers(1, 3), 2))
        no = rng.integers(0, n, (rng.integers(1, 4), 2))
        no = no[no[:, 0] != no[:, 1]]
        feasible = feasible & rt.evidence(related=yes, unrelated=no)
        rules.append(lambda row: (row[yes[:, 0]] == row[yes[:, 1]]).all())
        rules.append(lambda row: (row[no[:, 0]] != row[no[:, 1]]).all())
    if rng.random() < 0.25:
        groups = rng.integers(0, 4, n)
        feasible = feasible & rt.one_per_group(groups)
        rules.append(lambda row: len(set(zip(row, groups, strict=True))) == n)
    return feasible


def check_exact(problem, rules, solver):
    """Solve exactly, verify, and compare with the best partition that obeys all plain rules."""
    want = naive.best_partition(problem.scores.dense(), lambda row: all(r(row) for r in rules))
    e = rt.infer(problem, solver=solver, prove=True)
    report = rt.verify(problem, e)
    assert report, report.reason
    if want == -np.inf:
        assert e.status is rt.Status.INFEASIBLE
    else:
        assert e.status is rt.Status.OPTIMAL, problem
        assert e.value == pytest.approx(want, abs=1e-9), problem


def random_problem(rng, n):
    """A problem with ties, evidence, groups and caps, dense, condensed or sparse.

    Returns the problem, the weights of unordered pairs above the diagonal, and a function
    that says whether a vector of labels is allowed.
    """
    c = rng.normal(size=(n, n)) * 3 if rng.random() < 0.5 else rng.integers(-2, 3, (n, n)) * 1.0
    feasible, allowed = rt.EQUIVALENCES, []
    if rng.random() < 0.4:
        truth = rng.integers(0, 3, n)  # evidence that some partition satisfies
        pairs = rng.integers(0, n, (4, 2))
        same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
        yes, no = pairs[same][:2], pairs[~same]
        feasible = feasible & rt.evidence(related=yes, unrelated=no)
        allowed.append(lambda row: (row[yes[:, 0]] == row[yes[:, 1]]).all())
        allowed.append(lambda row: (row[no[:, 0]] != row[no[:, 1]]).all())
    if rng.random() < 0.3:
        groups = rng.integers(0, 4, n)
        feasible = feasible & rt.one_per_group(groups)
        allowed.append(lambda row: len(set(zip(row, groups, strict=True))) == n)
    if rng.random() < 0.3:
        k = int(rng.integers(2, 5))
        feasible = feasible & rt.at_most(k)
        allowed.append(lambda row: np.bincount(row).max() <= k)
    i, j = np.triu_indices(n, 1)
    form = rng.integers(3)
    if form == 0:
        problem, weights = rt.Problem(c, feasible), np.triu(c + c.T, 1)
    elif form == 1:
        problem, weights = rt.Problem(c[i, j], feasible), np.triu(c, 1)
    else:
        listed, background = rng.random(len(i)) < 0.7, float(rng.integers(-2, 2))
        weights = np.triu(np.full((n, n), background), 1)
        weights[i[listed], j[listed]] = c[i[listed], j[listed]]
        problem = rt.Problem.from_pairs(
            i[listed],
            j[listed],
            c[i[listed], j[listed]],
            n=n,
            background=background,
            feasible=feasible,
        )
    return problem, weights, lambda row: all(rule(row) for rule in allowed)


def restricted_problem(seed, listed=1.0):
    """A random problem with ties, evidence, groups, a cap or a background, and its optimum.

    ``listed`` is the share of pairs that are scored; below 1 the problem is sparse. The
    optimum is found by enumeration, here and not by the library.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    i, j = np.triu_indices(n, 1)
    c = rng.integers(-3, 4, len(i)).astype(float) if seed % 4 == 0 else rng.normal(size=len(i)) * 2
    labels = naive.all_partitions(n)
    same = labels[:, i] == labels[:, j]
    allowed = np.ones(len(labels), dtype=bool)
    feasible = rt.EQUIVALENCES
    if seed % 3 == 1:
        together, apart = rng.permutation(len(i))[:2]
        pairs = [(int(i[k]), int(j[k])) for k in (together, apart)]
        feasible = feasible & rt.evidence(related=pairs[:1], unrelated=pairs[1:])
        allowed &= same[:, together] & ~same[:, apart]
    elif seed % 3 == 2 and seed % 2:
        group = rng.integers(0, 3, n)
        feasible = feasible & rt.one_per_group(group)
        allowed &= ~(same & (group[i] == group[j])).any(axis=1)
    if seed % 5 == 3:
        cap = int(rng.integers(2, n))
        feasible = feasible & rt.at_most(cap)
        allowed &= np.array([np.bincount(row).max() <= cap for row in labels])
    if listed < 1:
        keep = rng.random(len(i)) < listed
        background = [0.0, -0.4, -2.0][seed % 7 % 3]
        problem = rt.Problem.from_pairs(
            i[keep], j[keep], c[keep], n=n, background=background, feasible=feasible
        )
        c = np.where(keep, c, background)
    else:
        problem = rt.Problem(c, feasible)
    return problem, float((same[allowed] @ c).max())


def proved(problem, bound, proof):
    """Whether the independent checker re-proves a bound."""
    certificate = rt.Certificate(bound, proof)
    e = rt.Estimate(rt.Status.BOUND_ONLY, None, -np.inf, bound, certificate, "test")
    return bool(rt.verify(problem, e))


def check_stops(improved, problem):
    """Check that a bound that is improved step by step stops in time and when a monitor says so."""
    packed, bound, _ = improved(problem, time_limit=1e-9)
    assert np.isclose(bound, packed)
    seen = []
    improved(problem, monitor=lambda progress: seen.append(progress.bound) or len(seen) == 2)
    assert len(seen) == 2
    assert seen == sorted(seen, reverse=True)
