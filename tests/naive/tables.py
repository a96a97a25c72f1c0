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


def component_hashes(c, keys, bits, seed):
    """A hash of each component, from words mixed in one after the other."""
    word = 2**64

    def mixed(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % word
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % word
        return x ^ (x >> 31)

    hashes = []
    for k in range(len(c.element_ptr) - 1):
        first, end = int(c.element_ptr[k]), int(c.element_ptr[k + 1])
        words = []
        for v in range(first, end):
            words.append(int(keys[v]))
            if len(c.groups) and c.groups[v] >= 0:
                words.append(c.groups[first:end].tolist().index(c.groups[v]))
        for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
            words += [(int(c.i[p]) << 32) + int(c.j[p]), int(bits[p])]
        for a, b, related in c.fixed[c.fixed_ptr[k] : c.fixed_ptr[k + 1]].tolist():
            words += [(a << 32) + b, related]
        own = mixed(seed + end - first)
        for x in words:
            own = mixed((own + 0x9E3779B97F4A7C15 + x) % word)
        hashes.append(own)
    return hashes


def component_values(c, k, background, cap):
    """The value of every allowed clustering of a component, by its labels."""
    n = int(c.element_ptr[k + 1] - c.element_ptr[k])
    weights = {(a, b): background for b in range(n) for a in range(b)}
    for p in range(c.pair_ptr[k], c.pair_ptr[k + 1]):
        weights[int(c.i[p]), int(c.j[p])] = float(c.log_odds[p])
    groups = c.groups[c.element_ptr[k] : c.element_ptr[k + 1]].tolist() or [-1] * n
    found = {}
    for labels in all_partitions(n).tolist():
        inside = [pair for pair in weights if labels[pair[0]] == labels[pair[1]]]
        evidence = c.fixed[c.fixed_ptr[k] : c.fixed_ptr[k + 1]].tolist()
        if max(map(labels.count, labels)) > cap:
            continue
        if any(groups[a] == groups[b] >= 0 for a, b in inside):
            continue
        if all((labels[a] == labels[b]) == bool(related) for a, b, related in evidence):
            found[tuple(labels)] = sum(weights[pair] for pair in inside)
    return found
