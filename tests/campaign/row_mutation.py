"""Random changes to the rows of proofs: multipliers, indices, families, arrays of other types."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from campaign import rows
from relatum.proof import FAMILIES, Cuts

NUMBERS = (0.0, -0.0, 0.5, 1.0, 2.0, -1.0, math.nan, math.inf, -math.inf)
EXTREMES = (1.7e308, -1.7e308, 5e-324, 1e-300, 1e300, 2.0**89, 2.0**100, 2.0**-60, 1e15, 1e-9)
NAMELESS = ("nonsense", "", "a\nb")  # families of rows that there are not
SHIFTS = (0.0, 0.5, math.nan)  # of labels that are no integers
PLACES = (-1, -2, 2**31, 2**40, -(2**40), 2**62, -(2**63), 2**63 - 1)


def raw_cuts(family, index, multipliers):
    """Cuts that nobody looked at, as unpickling makes them."""
    cut = object.__new__(Cuts)
    for name, value in (("family", family), ("index", index), ("multipliers", multipliers)):
        object.__setattr__(cut, name, value)
    return cut


def number(rng, now):
    """A number in place of another one."""
    kind = rng.integers(6)
    if kind == 0:
        return float(rng.choice(NUMBERS))
    if kind == 1:
        return float(rng.choice(EXTREMES))
    if kind == 2:
        return float(np.nextafter(now, rng.choice([-np.inf, np.inf])))
    if kind == 3:
        return float(now * rng.choice([0.5, 2.0, -1.0, 3.0, 1 + 2.0**-40, 1e6]))
    return float(now + rng.choice([-1.0, 1.0]) * 2.0 ** -int(rng.integers(0, 60)))


def place(rng, n):
    """The number of an element, usually one that exists."""
    return int(rng.choice(PLACES)) if rng.random() < 0.15 else int(rng.integers(-1, n + 1))


def labels(rng, now, n):
    """Other labels of elements."""
    new = np.array(now, dtype=np.int64).ravel().copy()
    kind = rng.integers(7)
    if kind == 0 and len(new) > 1:
        a, b = rng.permutation(len(new))[:2]
        new[a] = new[b]
    elif kind == 1:
        new = rng.permutation(new)
    elif kind == 2 and len(new):
        new[int(rng.integers(len(new)))] = int(rng.choice([-1, n, n + 1, 2**50, -(2**63), 1]))
    elif kind == 3:
        new = rng.integers(0, max(1, int(rng.integers(1, n + 1))), n)
    elif kind == 4:
        new = np.concatenate([new, [0]]) if rng.random() < 0.5 else new[:-1]
    elif kind == 5:
        return new + rng.choice(SHIFTS)
    else:  # two classes become one, and the numbers stay without holes
        new = np.unique(np.where(new == new.max(initial=0), 0, new), return_inverse=True)[1]
    return new


# --- rows ---------------------------------------------------------------------------------------


def _multipliers(rng, cut, n):
    y = cut.multipliers.copy()
    if len(y) == 0:
        return cut
    if rng.random() < 0.2:
        return Cuts(cut.family, cut.index, y * float(rng.choice([0.5, 2.0, 1e300, -1.0, 1e-300])))
    k = int(rng.integers(len(y)))
    y[k] = number(rng, y[k])
    return Cuts(cut.family, cut.index, y)


def _index(rng, cut, n):
    index = cut.index.copy()
    if index.size == 0:
        return cut
    r, k = int(rng.integers(index.shape[0])), int(rng.integers(index.shape[1]))
    kind = rng.integers(4)
    if kind == 0:
        index[r, k] = place(rng, n)
    elif kind == 1:
        index[r] = rng.permutation(index[r])
    elif kind == 2:
        index[r, k] = index[r, int(rng.integers(index.shape[1]))]
    else:
        index = np.insert(index, k, -1, axis=1)
    return Cuts(cut.family, index, cut.multipliers)


def _number_of_rows(rng, cut, n):
    if len(cut) == 0:
        return cut
    r = int(rng.integers(len(cut)))
    if rng.random() < 0.5:
        keep = np.arange(len(cut)) != r
        return Cuts(cut.family, cut.index[keep], cut.multipliers[keep])
    again = np.append(np.arange(len(cut)), [r] * int(rng.integers(1, 4)))
    return Cuts(cut.family, cut.index[again], cut.multipliers[again])


def _family(rng, cut, n):
    name = str(rng.choice([*sorted(FAMILIES), *NAMELESS]))
    index = cut.index
    width = FAMILIES[name].width if name in FAMILIES else None
    if width is not None and index.shape[1] > 0:
        index = index[:, np.arange(width) % index.shape[1]]
    return Cuts(name, index, cut.multipliers)


def _arrays(rng, cut, n):
    """Arrays of other types and shapes than a constructor lets through."""
    index, y = cut.index, cut.multipliers
    kind = rng.integers(10)
    if kind == 0:
        return raw_cuts(cut.family, index, np.append(y, [0.0, 1e6]))
    if kind == 1:
        return raw_cuts(cut.family, index, y[:, None])
    if kind == 2:
        near = np.linspace(0.0, 0.9, index.shape[1]) if rng.random() < 0.5 else 0.4
        return raw_cuts(cut.family, index[:, :1] + 0.0 * index + near, y)
    if kind == 3:
        return raw_cuts(cut.family, index.astype(np.int8), y.astype(np.float16))
    if kind == 4:
        return raw_cuts(cut.family, index.astype(object), y.astype(object))
    if kind == 5:
        return raw_cuts(cut.family, index[..., None], y)
    if kind == 6:
        return raw_cuts(cut.family, index.tolist(), y.tolist())
    if kind == 7:
        return raw_cuts(cut.family, index.ravel(), y)
    if kind == 8:
        return raw_cuts(cut.family, index, y.astype(complex))
    return raw_cuts(cut.family, index, y[:1].repeat(len(y) + 1))


_CUT_CHANGES = (_multipliers, _multipliers, _index, _number_of_rows, _family, _arrays)


def random_cuts(rng, names, cap, n, square=True):
    """Rows of some family that holds, or hardly, with random multipliers."""
    family = str(rng.choice(sorted(rows.FAMILIES)))
    index = rows.random_index(rng, family, (n, n), cap or int(rng.integers(1, 4)))
    if index is None:
        return Cuts("has_image", np.zeros((1, 1), dtype=np.int64), np.ones(1))
    y = float(rng.choice([0.5, 1.0, 2.0, 1e3, 2.0**80, 1.7e308]))
    many = int(rng.choice([1, 1, 1, 2, 20]))
    return Cuts(family, np.array([index] * many), np.full(many, y))


def change_cuts(rng, node, around):
    """A node with other rows."""
    cuts = list(node.cuts)
    kind = rng.integers(8)
    if cuts and kind < 6:
        k = int(rng.integers(len(cuts)))
        change = _CUT_CHANGES[int(rng.integers(len(_CUT_CHANGES)))]
        cuts[k] = change(rng, cuts[k], around.n)
    elif cuts and kind == 6:
        k = int(rng.integers(len(cuts)))
        cuts = cuts[:k] + cuts[k + 1 :] if rng.random() < 0.5 else [*cuts, *[cuts[k]] * 12]
    else:
        cuts += [random_cuts(rng, around.names, around.cap, around.n)] * int(rng.choice([1, 1, 16]))
    return replace(node, cuts=tuple(cuts))


# --- nodes --------------------------------------------------------------------------------------
