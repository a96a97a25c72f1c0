"""Beliefs about large clusterings, between groups of elements rather than between two of them.

Scores of pairs are not independent: what one score between two groups gets wrong, all of them get
wrong. So sums over all pairs of two groups are far too sure, and an answer about one pair would
move one element where it should move a group. Here a clustering is a tree: what is more alike was
put together earlier (average linkage, within the sets of the most probable clustering first).
Between the two sides of a node, however many pairs they have, there are at most 1 / `ALIKE`
independent comparisons. Answers are learned with the scores so damped, and questions are about a
node: whether two sets are one, whether the sides of a set belong together, whether a side belongs
to another set. A question is worth as many pairs as its answer is expected to put right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relatum.array_types import Flags, Floats, Index

ALIKE = 0.6  # the correlation of scores between the same two groups
BETWEEN = 1.0  # the same, of sets that the most probable clustering keeps apart
APART = 1e5  # bits: further than any two elements of one set
FAR = 0.05  # of the listed scores: a pair that nobody listed is like these
MOST = 2000  # questions


@dataclass(frozen=True, eq=False)
class Group:
    """A node of the tree: two sides, numbers of earlier nodes, and their mean score in bits."""

    first: int
    second: int
    mean: float
    inside: bool  # whether both are of one set


@dataclass(frozen=True, eq=False)
class Tree:
    """Elements of every node, those of single elements first, and the nodes above them."""

    members: list[Index]
    groups: list[Group]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a clustering.

    Attributes
    ----------
    scores : (n, n) array
        Of pairs, in bits; symmetric.
    listed : (n, n) bool array
        Which of them were given, rather than a background.
    labels : int64 array
        The clustering: it agrees with `together` and `apart`.
    together, apart : (n, n) bool arrays
        Pairs that evidence decides.
    """

    scores: Floats
    listed: Flags
    labels: Index
    together: Flags
    apart: Flags


@dataclass(frozen=True, eq=False)
class GroupQuestions:
    """Pairs to ask about: their probabilities, and how many pairs answers should put right."""

    i: Index
    j: Index
    probability: Floats
    worth: Floats


def tree_of(scores: Floats, labels: Index) -> Tree:
    """Return elements and sets put together one after the other, the most alike first."""
    from scipy.cluster.hierarchy import linkage  # slow to import, and only needed here

    n = len(labels)
    i, j = np.triu_indices(n, 1)
    top = float(scores.max(initial=0.0))
    distance = top - scores[i, j] + np.where(labels[i] == labels[j], 0.0, APART)
    members, groups = [np.array([v]) for v in range(n)], list[Group]()
    for first, second, apart, _ in linkage(distance, "average") if n > 1 else ():
        a, b = int(first), int(second)
        inside = bool(labels[members[a][0]] == labels[members[b][0]])
        groups.append(Group(a, b, top - (apart - (0.0 if inside else APART)), inside))
        members.append(np.concatenate([members[a], members[b]]))
    return Tree(members, groups)


def independent(pairs: Floats | float, alike: float) -> Floats:
    """Return how many independent comparisons alike ones are worth.

    Examples
    --------
    >>> independent(np.array([1.0, 10.0, 1e9]), 0.5).round(2).tolist()
    [1.0, 1.82, 2.0]
    """
    return np.asarray(pairs / (1 + (pairs - 1) * alike))


def damped(scores: Floats, labels: Index) -> Floats:
    """Return scores that add up, between the two sides of every node, to what these are worth."""
    tree, out = tree_of(scores, labels), np.zeros_like(scores)
    for group in tree.groups:
        a, b = tree.members[group.first], tree.members[group.second]
        pairs = float(len(a) * len(b))
        share = float(independent(pairs, ALIKE if group.inside else BETWEEN)) / pairs
        block = share * scores[np.ix_(a, b)]
        out[np.ix_(a, b)], out[np.ix_(b, a)] = block, block.T
    return out


def group_questions(known: Known) -> GroupQuestions:
    """Return what may be asked about a clustering, the most useful first."""
    labels, w = known.labels, known.scores
    sizes = np.bincount(labels).astype(np.float64)
    listed = w[known.listed]
    far = float(np.quantile(listed, FAR)) if len(listed) else 0.0
    near = np.where(known.listed, w, min(far, float(w.min(initial=0.0))))
    sets = [np.flatnonzero(labels == k) for k in range(len(sizes))]
    link = np.column_stack([near[:, own].max(axis=1) for own in sets])  # to the nearest of a set
    excluded = np.column_stack([known.apart[:, own].any(axis=1) for own in sets])
    found = [
        _joins(sets, sizes, link, excluded),
        _sides(tree_of(w, labels), known, sizes, link, excluded),
    ]
    worth = np.concatenate([f[0] for f in found])
    p = np.concatenate([f[1] for f in found])
    sides = [pair for f in found for pair in f[2]]
    order = np.argsort(-worth, kind="stable")[:MOST]
    order = order[worth[order] > 0]
    ends = [(_centre(w, sides[k][0]), _centre(w, sides[k][1])) for k in order.tolist()]
    ij = np.sort(np.array(ends, dtype=np.int64).reshape(-1, 2), axis=1)
    _, once = np.unique(ij, axis=0, return_index=True)
    once = np.sort(once)
    return GroupQuestions(ij[once, 0], ij[once, 1], p[order[once]], worth[order[once]])


_Found = tuple[Floats, Floats, list[tuple[Index, Index]]]


def _joins(sets: list[Index], sizes: Floats, link: Floats, excluded: Flags) -> _Found:
    """Return worth, probability and sides of questions whether two sets are one."""
    k = len(sets)
    mean = np.stack([link[own].mean(axis=0) for own in sets])
    never = np.stack([excluded[own].any(axis=0) for own in sets])
    a, b = np.triu_indices(k, 1)
    # of the smaller set, how near its elements are to the larger one
    bits = np.where(sizes[a] < sizes[b], mean[a, b], mean[b, a])
    bits = np.where(sizes[a] == sizes[b], np.maximum(mean[a, b], mean[b, a]), bits)
    p = _probability(bits)
    worth = np.minimum(p, 1 - p) * sizes[a] * sizes[b]
    open_ = np.flatnonzero(~never[a, b])
    best = open_[np.argsort(-worth[open_], kind="stable")[:MOST]]
    return worth[best], p[best], [(sets[a[t]], sets[b[t]]) for t in best.tolist()]


def _sides(tree: Tree, known: Known, sizes: Floats, link: Floats, excluded: Flags) -> _Found:
    """Return the same of questions whether a side of a node belongs to its set, or to another."""
    labels = known.labels
    worth, probability, sides = list[float](), list[float](), list[tuple[Index, Index]]()
    for group in tree.groups:
        if not group.inside:
            break  # all that follows is between sets
        a, b = tree.members[group.first], tree.members[group.second]
        if known.together[np.ix_(a, b)].any():
            continue
        own = int(labels[a[0]])
        bits = group.mean * float(independent(float(len(a) * len(b)), ALIKE))
        p, small = float(_probability(np.array(bits))), min(len(a), len(b))
        changed = small * (sizes[own] - small)
        worth.append(min(p, 1 - p) * changed)
        probability.append(p)
        sides.append((a, b))
        for side in (a, b):
            to = np.where(excluded[side].any(axis=0), -np.inf, link[side].mean(axis=0))
            to[own] = -np.inf
            best = int(to.argmax())
            if np.isfinite(to[best]):
                p = float(_probability(to[best] - max(bits, 0.0)))
                worth.append(min(p, 1 - p) * (changed + len(side) * sizes[best]))
                probability.append(p)
                sides.append((side, np.flatnonzero(labels == best)))
    return np.array(worth), np.array(probability), sides


def _centre(scores: Floats, elements: Index) -> int:
    """Return the element that is most sure to be one of them."""
    return int(elements[scores[np.ix_(elements, elements)].sum(axis=1).argmax()])


def _probability(bits: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.log(2) * bits)))
