"""Rows of properties from their formulas, violated rows, and unit propagation."""

from __future__ import annotations


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
