"""Plain, slow twins of every kernel, and brute force over whole feasible sets.

Written for reading: loops and definitions, no shared code with the library.
"""

from __future__ import annotations

import cmath
import math
from functools import cache
from itertools import combinations, permutations, product
from math import prod

import numpy as np

# --- features: sketches -------------------------------------------------------------------------


def count_sketch(row, bucket, sign, m):
    """The Count Sketch of (row, 1)."""
    sketch = [0.0] * m
    for j, value in enumerate([*row, 1]):
        sketch[bucket[j]] += sign[j] * float(value)
    return sketch


def circular_convolution(a, b):
    m = len(a)
    return [sum(a[i] * b[(k - i) % m] for i in range(m)) for k in range(m)]


def tensor_sketch(row, bucket, sign, m):
    """Convolve the Count Sketches of (row, 1): one monomial of each factor per term."""
    sketch = count_sketch(row, bucket[0], sign[0], m)
    for h, s in zip(bucket[1:], sign[1:], strict=True):
        sketch = circular_convolution(sketch, count_sketch(row, h, s, m))
    return sketch


def fourier(signal):
    """The unnormalised discrete Fourier transform, by definition."""
    m = len(signal)
    return [
        sum(value * cmath.exp(-2j * cmath.pi * k * t / m) for t, value in enumerate(signal))
        for k in range(m)
    ]


def unitary_reals(signal):
    """The unitary Fourier transform of a real signal as equally many real numbers."""
    m = len(signal)
    spectrum = [value / m**0.5 for value in fourier(signal)]
    out = [spectrum[0].real]
    for k in range(1, (m + 1) // 2):
        out += [2**0.5 * spectrum[k].real, 2**0.5 * spectrum[k].imag]
    if m % 2 == 0:
        out.append(spectrum[m // 2].real)
    return out


def round_and_clip(values, limit, tolerance):
    """Rounded values within [-limit, limit]; how many were beyond, how many far from whole."""
    rounded = [[round(float(value)) for value in row] for row in values]
    clipped = [[max(-limit, min(limit, value)) for value in row] for row in rounded]
    beyond = sum(abs(value) > limit for row in rounded for value in row)
    return clipped, beyond, sum(abs(v - round(v)) > tolerance for row in values for v in row)


# --- features: monomials ------------------------------------------------------------------------


def products(x, columns):
    """The product of the chosen entries of each row."""
    return [[prod(row[j] for j in chosen) for chosen in columns] for row in x]


def multilinear_lifting(row, degree):
    """The product over every set of at most `degree` entries, smallest sets first."""
    return [prod(chosen) for size in range(degree + 1) for chosen in combinations(row, size)]


# ------------------------------------------------------------------ first-order LP


def halpern_pdhg(matrix, low, high, box, x, y, weight, scale, iterations):
    """Restarted reflected Halpern PDHG with a dense matrix, as the textbook writes it.

    ``box`` holds c, lower and upper; returns x, y and the final weight.
    """
    c, lower, upper = box
    degree = np.abs(matrix).sum(axis=0)
    length = np.abs(matrix).sum(axis=1)
    first_weight, total, k, first, last = weight, 0, 0, None, 0.0
    x_anchor, y_anchor = x.copy(), y.copy()
    for _ in range(iterations):
        tau, sigma = scale / weight / degree, scale * weight / length
        x_new = np.clip(x + tau * (c - matrix.T @ y), lower, upper)
        v = y + sigma * (matrix @ (2 * x_new - x))
        y_new = v - sigma * np.clip(v / sigma, low, high)
        dx, dy = x_new - x, y_new - y
        residual = np.sqrt(
            max((dx**2 / tau).sum() + (dy**2 / sigma).sum() - 2 * dx @ matrix.T @ dy, 0)
        )
        if first is None:
            first = residual
        share = (k + 1) / (k + 2)
        x = share * (2 * x_new - x) + (1 - share) * x_anchor
        y = share * (2 * y_new - y) + (1 - share) * y_anchor
        k, total = k + 1, total + 1
        falls = residual <= 0.2 * first or (residual <= 0.8 * first and residual > last)
        last = residual
        if k > 1 and (falls or k >= 0.36 * total):
            far_x = ((x_new - x_anchor) ** 2 * degree).sum()
            far_y = ((y_new - y_anchor) ** 2 * length).sum()
            if far_x >= 1e-20 and far_y >= 1e-20:
                weight = np.exp(0.5 * np.log(weight) + 0.5 * np.log(np.sqrt(far_y / far_x)))
                weight = np.clip(weight, 0.01 * first_weight, 100 * first_weight)
            x, y = x_new.copy(), y_new.copy()
            x_anchor, y_anchor = x.copy(), y.copy()
            k, first = 0, None
    return x_new, y_new, weight


# --- measures: dual ascent ----------------------------------------------------------------------


def dual_ascent_step(margin, dual, weight, curvature):
    """Maximise weight H(a / weight) - a margin - (a - dual)^2 curvature / 2, by bisection."""
    low, high = 0.0, weight
    for _ in range(200):
        a = 0.5 * (low + high)
        if a in (low, high):
            break
        slope = math.log((weight - a) / a) - margin - (a - dual) * curvature
        if slope > 0:
            low = a
        else:
            high = a
    return 0.5 * (low + high)


def dual_ascent_block(x, w, related, weights, duals, lam, order):
    """One visit of every row in turn, on the features themselves; returns w and the duals."""
    w, duals = w.copy(), duals.copy()
    for i in order:
        for k in range(len(w)):
            sign = 1.0 if related[k][i] else -1.0
            margin = sign * sum(w[k][j] * x[i][j] for j in range(len(x[i])))
            square = sum(value * value for value in x[i])
            old = sign * duals[k][i]
            new = dual_ascent_step(margin, old, weights[i], square / lam) if weights[i] else 0.0
            duals[k][i] = sign * new
            for j in range(len(x[i])):
                w[k][j] += sign * (new - old) * x[i][j] / lam
    return w, duals


# --- measures: the order of words ---------------------------------------------------------------


def precedences(sequences, words):
    """For every two words, how often the first stands before the second."""
    table = [[0] * words for _ in range(words)]
    for sequence in sequences:
        for a, first in enumerate(sequence):
            for second in sequence[a + 1 :]:
                table[first][second] += 1
    return table


def pair_products(left, right, first, second):
    """Inner products of row first[k] of left and row second[k] of right."""
    return [
        sum(a * b for a, b in zip(left[i], right[j], strict=True))
        for i, j in zip(first, second, strict=True)
    ]


# --- partitions: enumeration, cuts, local search ------------------------------------------------


@cache
def all_partitions(n):
    """Every partition of n elements, as restricted growth strings."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*row, k] for row in labels for k in range(max(row) + 2)]
    return np.array(labels)


def best_partition(weights, allowed):
    """Largest sum of weights over pairs with equal labels, over the allowed partitions."""
    labels = all_partitions(len(weights))
    labels = labels[[allowed(row) for row in labels]]
    if len(labels) == 0:
        return -np.inf
    i, j = np.triu_indices(len(weights), 1)
    return float(((labels[:, i] == labels[:, j]) @ weights[i, j]).max())


def violated_triangles(x, threshold):
    """For each pair and each of its ends, the third element of the most violated row."""
    n = len(x)
    found = {}
    for a in range(n):
        for b in range(n):
            rest = [c for c in range(n) if c not in (a, b)]
            if a == b or not rest:
                continue
            violation = [x[a, b] + x[b, c] - x[a, c] - 1 for c in rest]
            if max(violation) > threshold:
                found[a, b] = max(violation)
    return found


def shortest_odd_walk(x, centre, source, limit):
    """Length of the shortest closed odd walk through a source, by repeated relaxation."""
    nodes = [v for v in range(len(x)) if v != centre]
    near = {(v, p): np.inf for v in nodes for p in (0, 1)}
    near[source, 0] = 0.0
    for _ in range(2 * len(nodes)):
        for u, p in list(near):
            for v in nodes:
                if v != u:
                    length = 0.5 + x[u, v] - 0.5 * (x[centre, u] + x[centre, v])
                    near[v, 1 - p] = min(near[v, 1 - p], near[u, p] + length)
    return min(near[source, 1], limit)


def two_partition_violation(x, s, t):
    """The sum x(S:T) - x(S) - x(T) - min(|S|, |T|)."""
    across = sum(x[a, b] for a in s for b in t)
    within = sum(x[a, b] for side in (s, t) for a in side for b in side if a < b)
    return across - within - min(len(s), len(t))


def ascend_two_partition(x, s, t, n_steps):
    """Steepest ascent over (S, T), every element moved at most once; the best by depth."""
    now = {s: 1, t: 2}
    moved = set()
    best = (-np.inf, None, None)
    for _ in range(n_steps):
        options = []
        for v in range(len(x)):
            for side in (0, 1, 2):
                if v in moved or side == now.get(v, 0):
                    continue
                trial = {**now, v: side}
                sides = [[u for u in trial if trial[u] == k] for k in (1, 2)]
                if all(sides):
                    options.append((two_partition_violation(x, *sides), v, side))
        if not options:
            break
        top = max(o[0] for o in options)
        f, v, side = next(o for o in options if o[0] >= top - 1e-12)
        now[v] = side
        moved.add(v)
        k = sum(1 for u in now if now[u])
        if f / np.sqrt(k * (k - 1) / 2) > best[0] + 1e-12:
            best = (f / np.sqrt(k * (k - 1) / 2), f, dict(now))
    return best[1], best[2]


def unlike_rows(rows, limit, parallel):
    """Greedy choice of rows (vectors), none with too large a cosine to a chosen one."""
    chosen = []
    for k, row in enumerate(rows):
        cosines = [row @ rows[q] / np.sqrt((row @ row) * (rows[q] @ rows[q])) for q in chosen]
        if len(chosen) < limit and all(c <= parallel + 1e-12 for c in cosines):
            chosen.append(k)
    return chosen


def move_or_join_gains(weights, labels, sizes, cap):
    """The largest gain of a move of one element, and of a join of two sets."""
    n = len(labels)

    def value(of):
        return sum(weights[a, b] for a in range(n) for b in range(a + 1, n) if of[a] == of[b])

    def fits(of):
        return max(np.bincount(of, weights=sizes)) <= cap

    now = value(labels)
    trials = []
    for v in range(n):
        for c in range(max(labels) + 2):
            trial = labels.copy()
            trial[v] = c
            trials.append(trial)
    names = set(labels.tolist())
    trials += [np.where(labels == c, d, labels) for c in names for d in names]
    return max(value(t) - now for t in trials if fits(t))


# --- relations, properties and feasible sets ----------------------------------------------------
# A relation is a tuple of rows of booleans; `ALL_PROPERTIES` follow their definitions.


def _n(y):
    return range(len(y))


def is_reflexive(y):
    return all(y[a][a] for a in _n(y))


def is_symmetric(y):
    return all(y[b][a] for a in _n(y) for b in _n(y) if y[a][b])


def is_antisymmetric(y):
    return not any(y[a][b] and y[b][a] for a in _n(y) for b in _n(y) if a != b)


def is_transitive(y):
    return all(y[a][c] for a in _n(y) for b in _n(y) if y[a][b] for c in _n(y) if y[b][c])


def is_connex(y):
    return all(y[a][b] or y[b][a] for a in _n(y) for b in _n(y) if a != b)


def has_image(y):
    return all(sum(row) >= 1 for row in y)


def unique_image(y):
    return all(sum(row) <= 1 for row in y)


def has_preimage(y):
    return all(sum(column) >= 1 for column in zip(*y, strict=True))


def unique_preimage(y):
    return all(sum(column) <= 1 for column in zip(*y, strict=True))


ALL_PROPERTIES = {
    "reflexive": is_reflexive,
    "symmetric": is_symmetric,
    "antisymmetric": is_antisymmetric,
    "transitive": is_transitive,
    "connex": is_connex,
    "has_image": has_image,
    "unique_image": unique_image,
    "has_preimage": has_preimage,
    "unique_preimage": unique_preimage,
}
ON_ONE_SET = ("reflexive", "symmetric", "antisymmetric", "transitive", "connex")

NAMED = {
    "RELATIONS": (),
    "PARTIAL_MAPS": ("unique_image",),
    "MAPS": ("has_image", "unique_image"),
    "INJECTIONS": ("has_image", "unique_image", "unique_preimage"),
    "BIJECTIONS": ("has_image", "unique_image", "has_preimage", "unique_preimage"),
    "EQUIVALENCES": ("reflexive", "symmetric", "transitive"),
    "PREORDERS": ("reflexive", "transitive"),
    "PARTIAL_ORDERS": ("reflexive", "transitive", "antisymmetric"),
    "WEAK_ORDERS": ("reflexive", "transitive", "connex"),
    "LINEAR_ORDERS": ("reflexive", "transitive", "antisymmetric", "connex"),
    "REFLEXIVE": ("reflexive",),
    "SYMMETRIC": ("symmetric",),
    "ANTISYMMETRIC": ("antisymmetric",),
    "TRANSITIVE": ("transitive",),
    "CONNEX": ("connex",),
    "HAS_IMAGE": ("has_image",),
    "UNIQUE_IMAGE": ("unique_image",),
    "HAS_PREIMAGE": ("has_preimage",),
    "UNIQUE_PREIMAGE": ("unique_preimage",),
}


@cache
def relations(n_a, n_b):
    """All relations, as one boolean array (2^(n_a n_b), n_a, n_b)."""
    codes = np.arange(2 ** (n_a * n_b))
    bits = codes[:, None] >> np.arange(n_a * n_b)[None, :] & 1
    return bits.astype(bool).reshape(-1, n_a, n_b)


@cache
def having(name, n_a, n_b):
    """Which of `relations(n_a, n_b)` have a property."""
    test = ALL_PROPERTIES[name]
    return np.array([test(y) for y in relations(n_a, n_b).tolist()])


def members(names, n_a, n_b):
    """All relations that have every property named."""
    keep = np.ones(2 ** (n_a * n_b), dtype=bool)
    for name in names:
        keep &= having(name, n_a, n_b)
    return relations(n_a, n_b)[keep]


def feasible(names, shape, related=(), unrelated=(), cap=None, groups=None):
    """Members that agree with evidence, a cap on images and one-per-group."""
    ys = members(names, *shape)
    for a, b in related:
        ys = ys[ys[:, a, b]]
    for a, b in unrelated:
        ys = ys[~ys[:, a, b]]
    if cap is not None:
        ys = ys[(ys.sum(axis=2) <= cap).all(axis=1)]
    for a in range(shape[0] if groups is not None else 0):
        for b in range(shape[1]):
            if a != b and groups[a] == groups[b]:
                ys = ys[~ys[:, a, b]]
    return ys


def best_value(scores, ys):
    """The largest sum of finite scores over a list of relations; -inf if there are none."""
    c = np.where(np.isfinite(scores), scores, 0.0)
    return max((math.fsum(c[y]) for y in ys), default=-math.inf)


# --- rows: violated, and unit propagation --------------------------------------------------------


def all_rows(names, n_a, n_b, cap=None):
    """Rows as (family, index, {pair: coefficient}, right-hand side), from their formulas."""
    rows = []
    for a in range(n_a):
        image = {(a, b): 1 for b in range(n_b)}
        if "has_image" in names:
            rows.append(("has_image", (a,), dict.fromkeys(image, -1), -1))
        if cap is not None:
            rows.append(("at_most", (a, cap), image, cap))
    for b in range(n_b):
        preimage = {(a, b): 1 for a in range(n_a)}
        if "has_preimage" in names:
            rows.append(("has_preimage", (b,), dict.fromkeys(preimage, -1), -1))
        if "unique_preimage" in names:
            rows.append(("unique_preimage", (b,), preimage, 1))
    for a in range(n_a):
        for b in range(n_b):
            if a == b:
                continue
            if "symmetric" in names:
                rows.append(("symmetric", (a, b), {(a, b): 1, (b, a): -1}, 0))
            if "antisymmetric" in names and a < b:
                rows.append(("antisymmetric", (a, b), {(a, b): 1, (b, a): 1}, 1))
            if "connex" in names and a < b:
                rows.append(("connex", (a, b), {(a, b): -1, (b, a): -1}, -1))
            rows += [
                ("transitive", (a, b, c), {(a, b): 1, (b, c): 1, (a, c): -1}, 1)
                for c in range(n_b if "transitive" in names else 0)
                if c != b
            ]
    return rows


def violated_transitivity(x, tolerance):
    """For every pair ab, the triple abc violated most, with its violation."""
    found = {}
    n = len(x)
    for a in range(n):
        for b in range(n):
            for c in range(n):
                violation = x[a][b] + x[b][c] - x[a][c] - 1
                if a != b and b != c and violation > max(tolerance, found.get((a, b), (0, 0))[1]):
                    found[a, b] = ((a, b, c), violation)
    return found


def propagated(state, rows):
    """Unit propagation to the end: the closed state, or None if some row cannot hold."""
    state = [list(row) for row in state]
    while True:
        changed = False
        for _, _, terms, rhs in rows:
            least = 0
            for (a, b), k in terms.items():
                least += min(0, k) if state[a][b] < 0 else k * state[a][b]
            if least > rhs:
                return None
            for (a, b), k in terms.items():
                if state[a][b] < 0 and least + abs(k) > rhs:
                    state[a][b] = 1 if k < 0 else 0
                    changed = True
        if not changed:
            return state


# --- linear orders ------------------------------------------------------------------------------


def order_value(w, order):
    """Sum of w over the pairs a before b."""
    return sum(w[order[p]][order[q]] for p in range(len(order)) for q in range(p + 1, len(order)))


def best_linear_order(w):
    """The largest value of an order, by trying all of them."""
    return max(order_value(w, order) for order in permutations(range(len(w))))


def greedy_order(loss):
    """Each time the element that loses least to those left; the first of several."""
    left, order = list(range(len(loss))), []
    while left:
        best = min(left, key=lambda j: sum(loss[k][j] for k in left))
        order.append(best)
        left.remove(best)
    return order


def pack_cycles(loss):
    """3-cycles a b c in the order of their names, each with what is left of its least loss."""
    rest = [list(row) for row in loss]
    packed = []
    for a, b, c in product(range(len(loss)), repeat=3):
        w = min(rest[a][b], rest[b][c], rest[c][a])
        if a != b and 0 < w < math.inf:
            packed.append(((a, b, c), w))
            for p, q in ((a, b), (b, c), (c, a)):
                rest[p][q] -= w
    return packed


def least_loss(loss):
    """The least that any order loses, where loss[a][b] is lost when b comes before a."""
    n = len(loss)
    return min(
        sum(loss[b][a] for p, a in enumerate(o) for b in o[p + 1 :]) for o in permutations(range(n))
    )


def twins(w, a, b):
    """Whether two elements can be exchanged, whatever the order."""
    inf = float("inf")
    others = [k for k in range(len(w)) if k not in (a, b)]
    free = all(w[x][k] > -inf and w[k][x] > -inf for x in (a, b) for k in range(len(w)) if k != x)
    same = all(w[a][k] == w[b][k] and w[k][a] == w[k][b] for k in others)
    return free and same and w[a][b] == w[b][a]


def reachable(arcs, a):
    """Elements that can be reached from a along arcs."""
    seen, todo = {a}, [a]
    while todo:
        x = todo.pop()
        for b in range(len(arcs)):
            if arcs[x][b] and b not in seen:
                seen.add(b)
                todo.append(b)
    return seen


def insertion(d, order, least):
    """Move elements, one place after another, to their best places until nothing gains."""
    order, n, total, idle, at = list(order), len(order), 0.0, 0, 0
    while idle < n:
        best, target = least, -1
        for places, sign in ((range(at - 1, -1, -1), 1), (range(at + 1, n), -1)):
            gain = 0.0
            for p in places:
                gain += sign * d[order[at]][order[p]]
                if gain > best:
                    best, target = gain, p
        idle += 1
        if target >= 0:
            order.insert(target, order.pop(at))
            total, idle = total + best, 0
        at = (at + 1) % n
    return total, order


def split_mix(state):
    """Next state and next number in [0, 1) of SplitMix64."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return state, (z >> 11) / 2**53


def anneal(d, order, heat, steps, noise, state):
    """Heat bath over the places of random elements, by noise added to every gain."""
    order, n = list(order), len(order)
    temperature, total = heat[0], 0.0
    for _ in range(steps):
        state, u = split_mix(state)
        place = int(u * n)
        state, u = split_mix(state)
        at = int(u * len(noise))
        best, target, kept = temperature * noise[at], place, 0.0
        for places, sign in ((range(place - 1, -1, -1), 1), (range(place + 1, n), -1)):
            gain = 0.0
            for p in places:
                gain += sign * d[order[place]][order[p]]
                at = (at + 1) % len(noise)
                if gain + temperature * noise[at] > best:
                    best, target, kept = gain + temperature * noise[at], p, gain
        order.insert(target, order.pop(place))
        total += kept
        temperature *= (heat[1] / heat[0]) ** (1 / steps)
    return total, order


def dicycle_violations(x):
    """How much each triple i < j < k is outside 0 <= x_ij + x_jk - x_ik <= 1."""
    n = len(x)
    s = {t: x[t[0]][t[1]] + x[t[1]][t[2]] - x[t[0]][t[2]] for t in combinations(range(n), 3)}
    return {t: max(v - 1, -v) for t, v in s.items()}


def shortest_odd_order_walk(x, source):
    """Least weight of an odd closed walk through a pair, by relaxing all arcs until nothing moves.

    Nodes are (pair, parity); arcs join two pairs of a triple whose third pair is weakened.
    """
    n = len(x)
    arcs = []
    for i, j, k in combinations(range(n), 3):
        pairs = ((i, j), (j, k), (i, k))
        s = x[i][j] + x[j][k] - x[i][k]
        for third in range(3):
            g = x[pairs[third][0]][pairs[third][1]]
            e, f = (p for p in pairs if p != pairs[third])
            sides = ((max(0, 1 - s), 1), (max(0, s), 0))
            boxes = ((1 - g, 1), (g, 0))
            for (a, p), (b, q) in product(sides, boxes):
                arcs.append((e, f, a + b, (p + q) % 2))
    inf = float("inf")
    distance = {(e, p): inf for e in combinations(range(n), 2) for p in (0, 1)}
    distance[source, 0] = 0.0
    moved = True
    while moved:
        moved = False
        for e, f, weight, parity in arcs:
            for a, b in ((e, f), (f, e)):
                for p in (0, 1):
                    if distance[a, p] + weight < distance[b, p ^ parity] - 1e-12:
                        distance[b, p ^ parity] = distance[a, p] + weight
                        moved = True
    return distance[source, 1]


def pack_triangles(c, n, order, least):
    """Greedy packing of triangles, apex by apex, in the order that the kernel looks at them."""
    place = {}
    for a in range(n):
        for b in range(a + 1, n):
            place[a, b] = place[b, a] = len(place) // 2
    r = list(c)
    found = []
    for a in order.tolist():
        near = [b for b in range(n) if b != a and r[place[a, b]] > least]
        for i, b in enumerate(near[:-1]):
            later = near[i + 1 :]
            shift = (i * 7919 + a) % len(later)
            for third in later[shift:] + later[:shift]:
                ab, ac, bc = place[a, b], place[a, third], place[b, third]
                if r[ab] > least and r[ac] > least and r[bc] < -least:
                    m = min(r[ab], r[ac], -r[bc])
                    r[ab], r[ac], r[bc] = r[ab] - m, r[ac] - m, r[bc] + m
                    found.append(((b, a, third), m))
    return r, found


def hops(pairs, n, a, b):
    """Fewest pairs of a path from a to b; n if there is none."""
    near = {a}
    for k in range(1, n):
        near |= {q for p in pairs for q in p if p[0] in near or p[1] in near}
        if b in near:
            return k
    return n


def all_preorders(n):
    """All reflexive and transitive relations on n elements, by adding the last one to smaller ones.

    The new element's predecessors D and successors U must be closed, and D must precede U.
    """
    if n == 1:
        return [np.ones((1, 1), dtype=bool)]
    subsets = np.array(list(product((False, True), repeat=n - 1)), dtype=bool)
    found = []
    for y in all_preorders(n - 1):
        downs = [d for d in subsets if not (y[:, d].any(axis=1) & ~d).any()]
        ups = [u for u in subsets if not (y[u].any(axis=0) & ~u).any()]
        for d in downs:
            for u in ups:
                if y[np.ix_(d, u)].all():
                    larger = np.ones((n, n), dtype=bool)
                    larger[:-1, :-1], larger[:-1, -1], larger[-1, :-1] = y, d, u
                    found.append(larger)
    return found


def relation_worth(y, yes, no):
    """What a relation is worth off the diagonal."""
    n = len(y)
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    return sum(yes[a][b] if y[a][b] else no[a][b] for a, b in pairs)


def weak_climb(rank, yes, no, least):
    """Move one element after another to its best class or gap until nothing gains."""

    def worth(ranks):
        return relation_worth([[p <= q for q in ranks] for p in ranks], yes, no)

    rank, e, idle = list(rank), 0, 0
    while idle < len(rank):
        others = sorted({r for a, r in enumerate(rank) if a != e} | {rank[e]})
        choices = [[*rank[:e], -0.5, *rank[e + 1 :]]]
        for r in others:
            choices += [[*rank[:e], value, *rank[e + 1 :]] for value in (r, r + 0.5)]
        best, moved = worth(rank) + least, None
        for ranks in choices:
            if worth(ranks) > best:
                best, moved = worth(ranks), ranks
        idle += 1
        if moved is not None:
            dense = sorted(set(moved))
            rank, idle = [dense.index(r) for r in moved], 0
        e = (e + 1) % len(rank)
    return rank


def beside(y, e, f, kind):
    """Take e out and put it back apart, tied with f, as a twin of f, right after or before it."""
    n = range(len(y))
    classmates = {a for a in n if y[a][f] and y[f][a]} - {e}  # f and those tied with it
    new = [row[:] for row in y]
    for a in n:
        if a == e:
            continue
        into, out = {
            "apart": (False, False),
            "tied": (y[a][f], y[f][a]),
            "twin": (y[a][f] and a not in classmates, y[f][a] and a not in classmates),
            "after": (y[a][f], y[f][a] and a not in classmates),
            "before": (y[a][f] and a not in classmates, y[f][a]),
        }[kind]
        new[a][e], new[e][a] = into, out
    return new


def joined(y, a, b):
    """Relate a to b and close under transitivity, by going round until nothing follows."""
    new = [row[:] for row in y]
    new[a][b] = True
    n, grows = range(len(y)), True
    while grows:
        missing = [
            (p, r) for p in n for q in n for r in n if new[p][q] and new[q][r] and not new[p][r]
        ]
        for p, r in missing:
            new[p][r] = True
        grows = bool(missing)
    return new


def preorder_climb(y, yes, no, ties, least):
    """Move elements, add pairs with what follows and drop pairs, each in turn, while that gains."""

    def worth(relation):
        return relation_worth(relation, yes, no)

    def better(new):
        return worth(new) - worth(y) > least

    n = range(len(y))
    y, gained = [list(map(bool, row)) for row in y], True
    while gained:
        gained = False
        for e in n:
            start = y
            places = [
                beside(y, e, f, kind)
                for f in n
                if f != e
                for kind in ("apart", "tied", "twin", "after", "before")
                if (kind != "apart" or f == (e + 1) % len(y)) and (kind != "tied" or ties)
            ]
            best = max(places, key=worth)  # the first of the best
            if better(best):
                y = best
            for b in n:
                for p, q in ((e, b), (b, e)):
                    if b != e and not y[p][q] and (ties or not y[q][p]) and better(joined(y, p, q)):
                        y = joined(y, p, q)
                for p, q in ((e, b), (b, e)):
                    less = [row[:] for row in y]
                    less[p][q] = False
                    if b != e and y[p][q] and is_preorder(less) and better(less):
                        y = less
            gained = gained or y != start
    return y


def is_preorder(y):
    """Whether a relation is reflexive and transitive."""
    n = range(len(y))
    return all(y[a][a] for a in n) and all(
        y[a][c] or not (y[a][b] and y[b][c]) for a in n for b in n for c in n
    )


# --- joint estimation ---------------------------------------------------------------------


def matrices_of(kind, n, m=None):
    """Matrices of all equivalence relations or linear orders on n, or of all maps from n to m."""
    if kind == "equivalences":
        every = np.array(all_partitions(n))
        return every[:, :, None] == every[:, None, :]
    if kind == "orders":
        every = np.array(list(permutations(range(n))))
        return every[:, :, None] <= every[:, None, :]
    every = np.array(list(product(range(m), repeat=n)))
    return every[:, :, None] == np.arange(m)


def bernoulli_joint_bits(theta, classes, y, weights, sigma):
    """D_x + R_sigma of the Bernoulli model, one pair after the other, as printed."""
    total = (1 - sigma) * sum(math.log2(t * (1 - t)) for t in theta)
    for j, target, weight in zip(classes, y, weights, strict=True):
        if j >= 0:
            total += weight * math.log2((1 - theta[j]) / theta[j]) * target
            total -= weight * math.log2(1 - theta[j])
    return total


def bernoulli_best_bits(classes, ys, weights, sigma):
    """Least D_x + R_sigma over theta, for every row of ys; classes are numbered 0 ... K - 1."""
    total = np.zeros(len(ys))
    for j in range(max(classes) + 1):
        own = np.asarray(classes) == j
        plus = (ys[:, own] * weights[own]).sum(axis=1)
        size = weights[own].sum()
        t = (plus + sigma - 1) / (size + 2 * sigma - 2)
        total -= (plus + sigma - 1) * np.log2(t) + (size - plus + sigma - 1) * np.log2(1 - t)
    return total


def logistic_best_bits(x, ys, weights, strength, steps=60):
    """Least D_x + R_sigma over theta, for every row of ys, by gradient steps made Newton's."""
    x, ys = np.asarray(x, dtype=float), np.asarray(ys, dtype=float)
    theta = np.zeros((len(ys), x.shape[1]))
    lam = strength / math.log(2)

    def bits(theta):
        t = theta @ x.T
        d = np.logaddexp(0, t * math.log(2)) / math.log(2) - t * ys
        return d @ weights + lam / 2 * (theta**2).sum(axis=1)

    value = bits(theta)
    for _ in range(steps):
        p = 1 / (1 + np.exp2(-(theta @ x.T)))
        g = ((p - ys) * weights) @ x + lam * theta
        curvature = np.einsum("ip,pk,pl->ikl", p * (1 - p) * weights * math.log(2), x, x)
        step = np.linalg.solve(curvature + lam * np.eye(x.shape[1]), g[:, :, None])[:, :, 0]
        size = np.ones(len(ys))
        for _ in range(30):
            trial = theta - size[:, None] * step
            worse = bits(trial) > value + 1e-13
            if not worse.any():
                break
            size[worse] /= 2
        theta = np.where(worse[:, None], theta, trial)
        value = bits(theta)
    return value


# --- partitions: heuristics ---------------------------------------------------------------------


def set_sums(weights, labels, c, v):
    """Sum of the weights of v with the other elements of set c."""
    return sum(float(weights[v, u]) for u in range(len(labels)) if labels[u] == c and u != v)


def obeys(labels, sizes, cap, cannot, groups):
    """Whether no set is too large, holds a forbidden pair, or two elements of one group.

    ``groups`` are pairs (element, group).
    """
    totals = {}
    for v, c in enumerate(labels):
        totals[c] = totals.get(c, 0) + int(sizes[v])
    if max(totals.values()) > cap:
        return False
    if any(labels[u] == labels[v] for u, v in cannot):
        return False
    places = [(labels[v], g) for v, g in groups]
    return len(set(places)) == len(places)


def contracted(weights, labels):
    """Weights between and (on the diagonal) inside the sets of a partition."""
    m = max(labels) + 1
    out = np.zeros((m, m))
    for a in range(len(labels)):
        for b in range(len(labels)):
            if a != b:
                share = 0.5 if labels[a] == labels[b] else 1.0
                out[labels[a], labels[b]] += share * float(weights[a, b])
    return out


def join_greedily(weights, sizes, cap, cannot, groups):
    """Join the two sets that gain most, again and again; labels are those of first elements."""
    labels = list(range(len(weights)))
    while True:
        best, at = 0.0, None
        for a in set(labels):
            for b in set(labels):
                if a < b:
                    gain = sum(
                        float(weights[u, v])
                        for u in range(len(labels))
                        for v in range(len(labels))
                        if labels[u] == a and labels[v] == b
                    )
                    joined = [a if c == b else c for c in labels]
                    if gain > best + 1e-9 and obeys(joined, sizes, cap, cannot, groups):
                        best, at = gain, joined
        if at is None:
            return labels
        labels = at


def first_fit(components, tries, sizes, cap, cannot, groups):
    """Labels: each element enters the latest allowed set of its component, or a new one."""
    labels, sets = [], []
    for v, component in enumerate(components):
        own = [c for c in range(len(sets)) if sets[c] == component][::-1][:tries]
        for c in own:
            trial = [*labels, c]
            alone = [*trial, *range(len(sets), len(sets) + len(components) - v - 1)]
            if obeys(alone, sizes, cap, cannot, groups):
                break
        else:
            c = len(sets)
            sets.append(component)
        labels.append(c)
    return labels


def anneal_partition(weights, labels, capacity, temperatures, gumbels, state, allowed):
    """Heat bath over the sets of elements, block after block; sums are made anew every time.

    ``allowed(labels, v, c)`` says whether the rules let v enter set c. Sets are numbered by
    rows, of which the free ones are kept in the order in which they became free.
    """
    labels, n = list(labels), len(labels)
    sets = sorted(set(labels), key=labels.index)
    # the order of rows after loading labels 0, 1, ... in turn: each was swapped to the front
    rows, used = list(range(capacity)), 0
    for c in sets:
        at = rows.index(c)
        rows[at], rows[used] = rows[used], c
        used += 1
    block = max(1, min(16, n // 32))
    blocks = (n + block - 1) // block
    for temperature in temperatures:
        state, u = split_mix(state)
        first = int(u * blocks)
        for b in range(blocks):
            begin = (first + b) % blocks * block
            some = range(begin, min(begin + block, n))
            state, u = split_mix(state)
            at = int(u * len(gumbels))
            offers = [[] for _ in some]
            for c in rows[: used + 1]:
                for offer, v in zip(offers, some, strict=True):
                    noise = gumbels[(at + v - begin) % len(gumbels)]
                    offer.append((set_sums(weights, labels, c, v) + temperature * noise, c))
                at = at + len(some)
                at -= len(gumbels) if at >= len(gumbels) else 0
            liked = [max(offer, key=lambda pair: pair[0])[1] for offer in offers]
            for v, c in zip(some, liked, strict=True):
                a = labels[v]
                alone = labels.count(a) == 1
                if c == a or (c not in labels and alone) or not allowed(labels, v, c):
                    continue
                if alone:
                    place = rows.index(a)
                    used -= 1
                    rows[place], rows[used] = rows[used], a
                if c not in labels:
                    place = rows.index(c)
                    rows[place], rows[used] = rows[used], c
                    used += 1
                labels[v] = c
    return labels


# --- components of pair tables --------------------------------------------------------------------


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


# --- bounds of large clusterings ------------------------------------------------------------------


def violated_paths(lengths, least, hop):
    """Violation of the shortest path of at least two pairs between the ends of each pair.

    ``lengths`` has a length for each listed pair (a, b), a < b. Of two paths the one with the
    least length + hop times pairs counts.
    """
    elements = sorted({v for pair in lengths for v in pair})
    steps = {}
    for (a, b), d in lengths.items():
        steps.setdefault(a, []).append((b, max(0.0, d)))
        steps.setdefault(b, []).append((a, max(0.0, d)))
    found = {}
    for u in elements:
        best = {u: (0.0, 0)}
        for _ in elements:
            for p in list(best):
                for w, d in steps[p]:
                    way = best[p][0] + d + hop, best[p][1] + 1
                    if w not in best or way < best[w]:
                        best[w] = way
        for v, (far, pairs) in best.items():
            gain = lengths.get((u, v), -np.inf) - (far - hop * pairs)
            if pairs >= 2 and gain > least:
                found[u, v] = gain
    return found


def _in_turn(members, first):
    """Members from some place on, around to the one before it."""
    return members[first:] + members[:first]


def pack_along(c, labels, order, limits, between):
    """Packing of triangles along a partition, in the order that the kernels look at them.

    ``c`` is a symmetric matrix. With ``between``, positive entries between sets are packed,
    each first where its end has more left inside its set; else negative ones inside sets.
    """
    r, n = c.copy(), len(c)
    sets = [[v for v in range(n) if labels[v] == g] for g in range(max(labels) + 1)]
    probes, least = limits
    found = []

    def room(v):
        return sum(max(0.0, r[v, w]) for w in sets[labels[v]] if w != v)

    def change(a, b, by):
        r[a, b] = r[b, a] = r[a, b] + by

    def pack(left, middle, right, p):
        """Look for thirds: ``right`` is one of them for pairs between, the other end else."""
        for w in _in_turn(*right)[:probes]:
            a, b, d = (left, middle, w) if between else (left, w, middle)
            if w in (left, middle) or p <= 0:
                continue
            m = min(p, r[b, d], -r[a, d]) if between else min(p, r[a, b], r[b, d])
            if m > 0 and (m == p or m >= least):
                change(b, d, -m)
                change(a, d if between else b, m if between else -m)
                found.append(((a, b, d), m))
                p -= m
        return p

    for u in order:
        for v in range(u + 1, n):
            inside = labels[u] == labels[v]
            p = r[u, v] if between else -r[u, v]
            if p <= 0 or inside == between:
                continue
            ends = [(v, u), (u, v)] if between and room(u) > room(v) else [(u, v), (v, u)]
            for a, b in ends if between else ends[:1]:
                members = sets[labels[b]]
                p = pack(a, b, (members, (a * 7919 + b * 104729) % len(members)), p)
            r[u, v] = r[v, u] = p if between else -p
    return r, found


def hops_along(pairs, labels, a, b):
    """Fewest pairs of a path from a to b that changes sets at most as often as its ends.

    That is, once if a and b are in different sets, and never if they are in one.
    """
    most = int(labels[a] != labels[b])
    near, k = {(a, 0)}, 0
    while True:
        k += 1
        more = set(near)
        for p, q in [*pairs, *((q, p) for p, q in pairs)]:
            for changed in range(most + 1):
                now = changed + int(labels[p] != labels[q])
                if (p, changed) in near and now <= most:
                    more.add((q, now))
        if any(v == b for v, _ in more):
            return k
        if more == near:
            return np.inf
        near = more


# --- partitions into small sets -------------------------------------------------------------------


def allowed_sets(sizes, forbidden, cap):
    """All sets of elements within the cap that hold no forbidden pair, as tuples."""
    n = len(sizes)
    return [
        members
        for k in range(1, n + 1)
        for members in combinations(range(n), k)
        if sum(sizes[v] for v in members) <= cap
        and not any(forbidden[a, b] for a, b in combinations(members, 2))
    ]


def set_excess(weights, prices, members):
    """Weight inside a set less the prices of its elements."""
    inside = sum(weights[a, b] for a, b in combinations(members, 2))
    return inside - sum(prices[v] for v in members)


def best_excess(weights, prices, sizes, forbidden, cap):
    """For each element, the largest excess of a set of it and later ones; -inf if none."""
    out = np.full(len(sizes), -np.inf)
    for members in allowed_sets(sizes, forbidden, cap):
        out[members[0]] = max(out[members[0]], set_excess(weights, prices, members))
    return out


def most_capped_pairs(size, cap):
    """The most pairs that share a set, over all ways to split so many elements."""
    best = 0
    for labels in all_partitions(size):
        counts = np.bincount(labels)
        if counts.max() <= cap:
            best = max(best, int((counts * (counts - 1) // 2).sum()))
    return best


def grown_capped_set(x, first, noise, cap, largest, threshold):
    """The set grown from an element that violates its row most for its norm, or None."""
    members, best, found = [first], 0.0, None
    while len(members) < min(largest, len(x)):
        left = [v for v in range(len(x)) if v not in members]
        members = [*members, max(left, key=lambda v: sum(x[v, u] for u in members) + noise[v])]
        k = len(members)
        over = sum(x[a, b] for a, b in combinations(members, 2))
        over -= (k // cap) * math.comb(cap, 2) + math.comb(k % cap, 2)
        if over > threshold and over / math.sqrt(math.comb(k, 2)) > best + 1e-12:
            best, found = over / math.sqrt(math.comb(k, 2)), (sorted(members), over)
    return found


def gaining_exchange(weights, labels, sizes, cap, cannot, groups, least):
    """Two elements whose change of places is allowed and gains, or None."""
    before = value_inside(weights, labels)
    for v in range(len(labels)):
        for u in range(v):
            after = labels.copy()
            after[u], after[v] = labels[v], labels[u]
            if not obeys(after, sizes, cap, cannot, groups):
                continue
            if labels[u] != labels[v] and value_inside(weights, after) > before + least:
                return u, v
    return None


def value_inside(weights, labels):
    """Sum of the weights of pairs with equal labels."""
    pairs = combinations(range(len(labels)), 2)
    return sum(weights[a, b] for a, b in pairs if labels[a] == labels[b])
