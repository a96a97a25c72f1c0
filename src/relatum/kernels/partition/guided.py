"""Packing of conflicts along a good partition: multipliers only where it leaves no slack.

A row x_ab + x_bc - x_ac <= 1 holds with equality for a partition in two cases: b and c are
in one set and a is not (a and b swap roles with c), or all three are in one set. Multipliers
of such rows alone can bring the bound down to the value of the partition. So positive
residuals of pairs between sets are packed with positive ones inside sets, and negative
residuals inside sets with two positive ones there. ``sets`` is (label of each element, start
of each set among the members, members), ``rows`` (triangles, multipliers), ``limits`` (others
looked at for each pair, the least multiplier that does not finish the pair).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relatum.kernels.condensed import place
from relatum.kernels.partition.packing import append


@njit(cache=True)
def rooms_inside(residual, labels, most):
    """Return the sum of the positive residuals of each element inside its set.

    Also returned are sum and number of all positive residuals up to ``most``.
    """
    n = labels.size
    room = np.zeros(n)
    total, count = 0.0, 0
    k = 0
    for a in range(n - 1):
        for b in range(a + 1, n):
            r = residual[k]
            k += 1
            if r > 0.0:
                if r <= most:
                    total += r
                    count += 1
                if labels[a] == labels[b]:
                    room[a] += r
                    room[b] += r
    return room, total, count


@njit(cache=True)
def _lean_on(residual, sets, ends, limits, room, rows, count):
    """Pack a positive residual between a and the set of b with what b has inside its set.

    ``ends`` is (a, b, the residual). Returns what is left of it and the new count.
    """
    a, b, p = ends
    labels, starts, members = sets
    index, multipliers = rows
    n = labels.size
    start = starts[labels[b]]
    size = starts[labels[b] + 1] - start
    first = (a * 7919 + b * 104729) % size
    for q in range(min(limits[0], size)):
        j = first + q if first + q < size else first + q - size
        c = members[start + j]
        if c == b:
            continue
        inside = place(b, c, n)
        if residual[inside] <= 0.0:
            continue
        across = place(a, c, n)
        m = min(p, residual[inside], -residual[across])
        if m <= 0.0 or (m < p and m < limits[1]):
            continue
        if count == multipliers.size:
            break
        residual[inside] -= m
        residual[across] += m
        room[b] -= m
        room[c] -= m
        count = append(index, multipliers, count, (a, b, c), m)
        p -= m
        if p <= 0.0:
            break
    return p, count


@njit(cache=True)
def pack_between(residual, sets, order, limits, room, rows, count):
    """Pack positive residuals between sets, each at its end with more room inside first.

    ``residual`` is condensed and changed in place, and so is ``room``. Triangles and
    multipliers are appended from ``count`` on, while there is room; returns the new count.
    """
    labels = sets[0]
    n = labels.size
    for u in order:
        for v in range(u + 1, n):
            k = place(u, v, n)
            p = residual[k]
            if p <= 0.0 or labels[u] == labels[v]:
                continue
            a, b = u, v
            if room[u] > room[v]:
                a, b = v, u
            p, count = _lean_on(residual, sets, (a, b, p), limits, room, rows, count)
            if p > 0.0:
                p, count = _lean_on(residual, sets, (b, a, p), limits, room, rows, count)
            residual[k] = p
    return count


@njit(cache=True)
def pack_inside(residual, sets, order, limits, room, rows, count):
    """Pack negative residuals inside sets; arguments and result as in `pack_between`.

    The loop over others resembles that of `_lean_on`: one for both, with a sign, made that a
    tenth slower.
    """
    labels, starts, members = sets
    index, multipliers = rows
    n = labels.size
    for u in order:
        start = starts[labels[u]]
        size = starts[labels[u] + 1] - start
        for i in range(size):
            v = members[start + i]
            if v <= u:
                continue
            k = place(u, v, n)
            p = -residual[k]
            if p <= 0.0:
                continue
            first = (u * 7919 + v * 104729) % size
            for q in range(min(limits[0], size)):
                j = first + q if first + q < size else first + q - size
                c = members[start + j]
                if c in (u, v):
                    continue
                one = place(u, c, n)
                if residual[one] <= 0.0:
                    continue
                two = place(v, c, n)
                m = min(p, residual[one], residual[two])
                if m <= 0.0 or (m < p and m < limits[1]):
                    continue
                if count == multipliers.size:
                    break
                residual[one] -= m
                residual[two] -= m
                room[u] -= m
                room[v] -= m
                room[c] -= 2 * m
                count = append(index, multipliers, count, (u, c, v), m)
                p -= m
                if p <= 0.0:
                    break
            residual[k] = -p
    return count


@njit(cache=True)
def leftovers(residual, labels):
    """Return compressed rows (pointer, neighbour) of positive residuals between sets."""
    n = labels.size
    pointer = np.zeros(n + 1, np.int64)
    for turn in range(2):
        if turn == 1:
            for a in range(n):
                pointer[a + 1] += pointer[a]
            neighbour = np.empty(pointer[n], np.int32)
            at = pointer[:n].copy()
        k = 0
        for a in range(n - 1):
            for b in range(a + 1, n):
                if residual[k] > 0.0 and labels[a] != labels[b]:
                    if turn == 0:
                        pointer[a + 1] += 1
                        pointer[b + 1] += 1
                    else:
                        neighbour[at[a]] = b
                        neighbour[at[b]] = a
                        at[a] += 1
                        at[b] += 1
                k += 1
    return pointer, neighbour


@njit(cache=True)
def pack_leftovers(residual, lists, order, probes, rows, count):
    """Pack triangles of two positive residuals of the lists and a negative one.

    These rows are slack for the partition: half as good, but better than nothing.
    """
    pointer, neighbour = lists
    index, multipliers = rows
    n = pointer.size - 1
    for a in order:
        for i in range(pointer[a], pointer[a + 1] - 1):
            b = neighbour[i]
            one = place(a, b, n)
            rest = pointer[a + 1] - i - 1
            first = (i * 7919 + a) % rest
            for q in range(min(probes, rest)):
                if residual[one] <= 0.0 or count == multipliers.size:
                    break
                c = neighbour[i + 1 + (first + q if first + q < rest else first + q - rest)]
                two = place(a, c, n)
                if residual[two] <= 0.0:
                    continue
                three = place(b, c, n)
                m = min(residual[one], residual[two], -residual[three])
                if m > 0.0:
                    residual[one] -= m
                    residual[two] -= m
                    residual[three] += m
                    count = append(index, multipliers, count, (b, a, c), m)
    return count
