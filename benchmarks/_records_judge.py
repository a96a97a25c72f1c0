"""Judging clusters pair by pair, and thresholds: exact sweeps over all of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import relatum as rt


def components(n, pairs):
    graph = sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (n, n))
    return connected_components(graph, directed=False)[1]


def count_pairs(labels):
    sizes = np.unique(labels, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def block_recall(pairs, entity, rows):
    return float((entity[pairs[:, 0]] == entity[pairs[:, 1]]).sum() / count_pairs(entity[rows]))


def judge(entity, labels, rows):
    """Return pairwise precision, recall and F1 of the labels of some rows."""
    found = rt.metrics.pair_precision_recall_f1(entity[rows], np.asarray(labels)[rows])
    return dict(zip(("precision", "recall", "f1"), map(float, found), strict=True))


def mean(judged):
    """Return the mean of what the same method found with records in other orders."""
    return {k: float(np.mean([j[k] for j in judged])) for k in judged[0]}


def sweep(pairs, scores, entity, rows):
    """Return every distinct score, descending, and the F1 of components of pairs at or above it."""
    parent = {}
    members = {int(r): Counter([int(entity[r])]) for r in rows}
    sizes = dict.fromkeys(members, 1)

    def root(v):
        while parent.get(v, v) != v:
            parent[v] = parent.get(parent[v], parent[v])
            v = parent[v]
        return v

    total = count_pairs(entity[rows])
    right = joined = 0
    order = np.argsort(-scores, kind="stable")
    values, f1 = [], []
    for at, e in enumerate(order):
        a, b = root(int(pairs[e, 0])), root(int(pairs[e, 1]))
        if a != b:
            if len(members[a]) < len(members[b]):
                a, b = b, a
            parent[b] = a
            joined += sizes[a] * sizes[b]
            right += sum(members[a][key] * count for key, count in members[b].items())
            sizes[a] += sizes[b]
            members[a].update(members.pop(b))
        if at + 1 == len(order) or scores[order[at + 1]] != scores[e]:
            values.append(float(scores[e]))
            f1.append(2 * right / (joined + total) if joined + total else 1.0)
    return np.array(values), np.array(f1)


def best(values, f1):
    """Return the middle of the thresholds that give the largest F1."""
    at = last = int(np.argmax(f1))
    while last + 1 < len(f1) and f1[last + 1] == f1[at]:
        last += 1
    below = values[last + 1] if last + 1 < len(values) else values[last]
    return float((values[at] + below) / 2)


def of_components(task, scores, given):
    """Judge components at given thresholds, at that chosen on the training half, and the oracle's.

    `scores` maps "train" and "test" to the scores of the candidates; `given` maps names to
    thresholds.
    """
    n, pairs, entity = len(task.records), task.candidates, task.entity
    chosen = best(*sweep(pairs["train"], scores["train"], entity, task.train))
    thresholds = {**given, "chosen in training": chosen}
    thresholds["oracle"] = best(*sweep(pairs["test"], scores["test"], entity, task.test))
    return {
        name: judge(entity, components(n, pairs["test"][scores["test"] >= t]), task.test)
        for name, t in thresholds.items()
    }
