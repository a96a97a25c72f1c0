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


def join_capped(n, i, j, most_elements, most_pairs):
    """Smallest element of each element's set after capped joins, and how many were refused."""
    sets = [{v} for v in range(n)]
    inside = {id(s): 0 for s in sets}
    refused = 0
    for a, b in zip(i, j, strict=True):
        if sets[a] is sets[b]:
            inside[id(sets[a])] += 1
        elif (
            len(sets[a]) + len(sets[b]) > most_elements
            or inside[id(sets[a])] + inside[id(sets[b])] >= most_pairs
        ):
            refused += 1
        else:
            count = inside[id(sets[a])] + inside[id(sets[b])] + 1
            joined = sets[a]
            joined |= sets[b]
            for v in joined:
                sets[v] = joined
            inside[id(joined)] = count
    return [min(s) for s in sets], refused


def merged_pairs(low, high, score):
    """The scores of each pair."""
    found = {}
    for a, b, w in zip(low, high, score, strict=True):
        found.setdefault((a, b), []).append(w)
    return found
