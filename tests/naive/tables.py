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


def part_excess(c, k, scores, background, rules, labels, claim):
    """How far a part's bound is above its clusters, in whole units, and how that was found.

    ``scores`` and ``background`` are integers; the ways are tried in the order of the kernel.
    """
    cap, largest, exact = rules
    begin, n = int(c.element_ptr[k]), int(c.element_ptr[k + 1] - c.element_ptr[k])
    weights = {(a, b): background for b in range(n) for a in range(b)}
    listed = range(c.pair_ptr[k], c.pair_ptr[k + 1])
    for p in listed:
        weights[int(c.i[p]), int(c.j[p])] = scores[p]
    own = labels[begin : begin + n]
    groups = c.groups[begin : begin + n].tolist() or [-1] * n
    value = sum(w for (a, b), w in weights.items() if own[a] == own[b])
    apart = {(a, b) for a, b in weights if groups[a] == groups[b] >= 0}
    ends = [(int(c.i[p]), int(c.j[p])) for p in listed]
    found = sum(max(0, weights[pair]) for pair in ends if pair not in apart) - value
    facts = c.fixed[c.fixed_ptr[k] : c.fixed_ptr[k + 1]].tolist()
    if found <= claim:
        return found, "pairs"
    sets = [{v} for v in range(n)]
    for a, b, related in facts:
        if related:
            joined = sets[a] | sets[b]
            for v in joined:
                sets[v] = joined
    sets = [sorted(s) for v, s in enumerate(sets) if v == min(s)]
    if len(sets) > largest:
        return found, "pairs"
    apart |= {(a, b) for a, b, related in facts if not related}
    return _contracted_excess(sets, weights, apart, cap, exact, value, claim)


def _contracted_excess(sets, weights, apart, cap, exact, value, claim):
    m = len(sets)
    where = {v: k for k, s in enumerate(sets) for v in s}
    matrix = [[0] * m for _ in range(m)]
    for (a, b), w in weights.items():
        if where[a] == where[b]:
            value -= w
        else:
            matrix[where[a]][where[b]] += w
            matrix[where[b]][where[a]] += w
    barred = {frozenset((where[a], where[b])) for a, b in apart}
    barred |= {
        frozenset((a, b)) for b in range(m) for a in range(b) if len(sets[a]) + len(sets[b]) > cap
    }
    rest = [list(row) for row in matrix]
    found, way = positive_rest(rest, barred) - value, "pairs"
    if found > claim:
        other = packed_triangles(rest, barred) - value
        if other < found:
            found, way = other, "triangles"
    if found > claim and m <= exact:
        best = None
        for labels in all_partitions(m).tolist():
            held = [sum(len(sets[a]) for a in range(m) if labels[a] == x) for x in set(labels)]
            inside = [(a, b) for b in range(m) for a in range(b) if labels[a] == labels[b]]
            if not any(frozenset(pair) in barred for pair in inside) and (
                max(held) <= cap or len(set(labels)) == m
            ):
                total = sum(matrix[a][b] for a, b in inside)
                best = total if best is None else max(best, total)
        found, way = best - value, "subsets"
    return found, way


def positive_rest(rest, barred):
    """The positive entries of pairs that are not barred."""
    m = len(rest)
    pairs = [(a, b) for b in range(m) for a in range(b) if frozenset((a, b)) not in barred]
    return sum(max(0, rest[a][b]) for a, b in pairs)


def packed_triangles(rest, barred):
    """What is left of the positive entries when triangles are packed, in three passes."""
    m, packed = len(rest), 0

    def large(a, b, least):
        return frozenset((a, b)) not in barred and rest[a][b] > least

    positive = [rest[a][b] >> 48 for b in range(m) for a in range(b) if large(a, b, 0)]
    half = (sum(positive) // max(1, len(positive)) // 2) << 48
    for least in (half, half, 0):
        for a in range(m):
            near = [b for b in range(m) if b != a and large(a, b, least)]
            for at, b in enumerate(near):
                for c in near[at + 1 :]:
                    if not (large(a, b, least) and large(a, c, least)):
                        continue
                    free = frozenset((b, c)) in barred
                    if not free and rest[b][c] >= 0:
                        continue
                    x = min(rest[a][b], rest[a][c], *([] if free else [-rest[b][c]]))
                    packed += x
                    for u, v, sign in ((a, b, -1), (a, c, -1), *([] if free else [(b, c, 1)])):
                        rest[u][v] += sign * x
                        rest[v][u] += sign * x
    return packed + positive_rest(rest, barred)


def nearest_rows(table, k, groups=None):
    """The k other rows with the largest products above zero: the nearer first, then the smaller."""
    out = []
    for i, row in enumerate(table):
        likes = [
            (-sum(a * b for a, b in zip(row, other, strict=True)), j)
            for j, other in enumerate(table)
            if j != i and (groups is None or groups[i] != groups[j])
        ]
        out.append([j for like, j in sorted(likes) if like < 0][:k])
    return out
