"""Plain twins of the kernels of linear orders, and brute force over all orders."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

from naive.randomness import split_mix


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


def least_loss_by_subsets(loss):
    """The same by the last element of every set that may come first."""
    n = len(loss)
    least = [0.0] + [math.inf] * (2**n - 1)
    for first in range(2**n):
        left = [k for k in range(n) if not first >> k & 1]
        for j in left:
            lost = least[first] + sum(loss[k][j] for k in left)
            least[first | 1 << j] = min(least[first | 1 << j], lost)
    return least[-1]


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


def half_step_slack(x, step):
    """The slack of the row of a triple and the row of the box that a step of a walk uses."""
    i, j, k, third, code = step
    s = x[i][j] + x[j][k] - x[i][k]
    p, q = ((i, j), (j, k), (i, k))[third]
    return max(0, 1 - s if code & 1 else s) + (1 - x[p][q] if code & 2 else x[p][q])


def is_closed_odd_walk(steps):
    """Whether steps enter every pair as often as they leave it, with an odd sum of right sides."""
    degree, odd = {}, 0
    for i, j, k, third, code in steps:
        odd ^= (code & 1) ^ (code >> 1)
        pairs = [(i, j), (j, k), (i, k)]
        del pairs[third]
        for pair in pairs:
            degree[pair] = degree.get(pair, 0) + 1
    return odd == 1 and all(d % 2 == 0 for d in degree.values())


def pattern_value(x, pattern, elements):
    """Sum of x over the pairs of a pattern, with elements at its places."""
    places = range(len(elements))
    pairs = ((i, j) for i, j in product(places, places) if pattern[i][j] > 0)
    return sum(x[elements[i]][elements[j]] for i, j in pairs)


def fitted_pattern(x, pattern, elements):
    """Take the best single exchange or swap, the first of equal ones, as long as one gains."""
    while True:
        own, best = pattern_value(x, pattern, elements), None
        others = []
        for i, e in product(range(len(elements)), range(len(x))):
            if e not in elements:
                others.append([*elements[:i], e, *elements[i + 1 :]])
        for i, j in combinations(range(len(elements)), 2):
            swapped = list(elements)
            swapped[i], swapped[j] = elements[j], elements[i]
            others.append(swapped)
        for other in others:
            gain = pattern_value(x, pattern, other) - own
            if gain > (0 if best is None else best[0]):
                best = gain, other
        if best is None:
            return elements, own
        elements = best[1]
