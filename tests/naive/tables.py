"""Plain twins of the kernels of pair tables."""

from __future__ import annotations

from naive.partition.enumeration import all_partitions


def best_capped_partition(weights, sizes, cap):
    """Largest value of a partition without a set above the cap; single elements always count."""
    best = 0.0
    for labels in all_partitions(len(weights)):
        totals, counts = {}, {}
        for v, c in enumerate(labels):
            totals[c] = totals.get(c, 0) + int(sizes[v])
            counts[c] = counts.get(c, 0) + 1
        if any(totals[c] > cap and counts[c] > 1 for c in totals):
            continue
        value = sum(
            float(weights[a, b])
            for a in range(len(labels))
            for b in range(a)
            if labels[a] == labels[b]
        )
        best = max(best, value)
    return best


def join_capped(n, i, j, most):
    """Smallest element of each element's set after joins that make no set larger than `most`."""
    sets = [{v} for v in range(n)]
    for a, b in zip(i, j, strict=True):
        joined = sets[a] | sets[b]
        if len(joined) <= most:
            for v in joined:
                sets[v] = joined
    return [min(s) for s in sets]


def merged_pairs(low, high, score):
    """The scores of each pair."""
    found = {}
    for a, b, w in zip(low, high, score, strict=True):
        found.setdefault((a, b), []).append(w)
    return found
