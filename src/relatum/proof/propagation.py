"""What follows from fixed pairs: closure, contradictions and their reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Index
from relatum.kernels.propagation import close_lines, complete, propagate
from relatum.problem import FeasibleSet
from relatum.proof.certificate import Cuts, Imply, Leaf, Proof

# Place in this tuple = number in the kernel.
FAMILY_CODES = (
    "transitive",
    "symmetric",
    "antisymmetric",
    "connex",
    "has_image",
    "at_most",
    "has_preimage",
    "unique_preimage",
)
_WIDTH = (3, 2, 2, 2, 1, 2, 1, 1)

State = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Closure:
    """The outcome of closing a state."""

    state: State
    log: Index  # (k, 7): a line per pair fixed, the given ones first with family -1; see the kernel
    conflict: Index | None  # (7,): the line that contradicts the state

    def proof(self, then: Proof) -> Proof:
        """Wrap a proof in the implied steps; a conflict is a proof by itself."""
        if self.conflict is not None:
            then = Leaf((_row(self.conflict),), infeasible=True)
        lines = self.log[self.log[:, 3] >= 0]
        if len(lines) == 0:
            return then
        families = tuple(FAMILY_CODES[f] for f in lines[:, 3])
        return Imply(families, lines[:, 4:7], lines[:, :2], lines[:, 2].astype(np.bool_), then)


def _row(line: Index) -> Cuts:
    family = int(line[3])
    return Cuts(FAMILY_CODES[family], line[None, 4 : 4 + _WIDTH[family]], np.ones(1))


class Propagator:
    """Closes states under the properties of a feasible set."""

    def __init__(self, feasible: FeasibleSet) -> None:
        names = feasible.names
        self.cap = 1 if "unique_image" in names else (feasible.cap or 0)
        self.rules = np.array([f in names for f in FAMILY_CODES])
        self.rules[FAMILY_CODES.index("at_most")] = self.cap > 0

    def close(self, state: State, pairs: Index, values: Index) -> Closure:
        """Fix pairs in a closed state and close it again; the state given is not changed."""
        state = state.copy()
        log = np.empty((state.size + 1 + len(pairs), 7), dtype=np.int64)
        count = 0
        for (a, b), value in zip(pairs.tolist(), values.tolist(), strict=True):
            if state[a, b] == value:
                continue
            log[count] = (a, b, value, -1, -1, -1, -1)
            if state[a, b] >= 0:
                return Closure(state, log[:count], log[count])
            state[a, b] = value
            count += 1
        return self._run(state, log, count)

    def close_all(self, state: State) -> Closure:
        """Close a state in which pairs may have been fixed without their consequences."""
        fixed = np.argwhere(state >= 0)
        log = np.empty((2 * state.size + 1, 7), dtype=np.int64)
        log[: len(fixed)] = -1
        log[: len(fixed), :2] = fixed
        log[: len(fixed), 2] = state[fixed[:, 0], fixed[:, 1]]
        state = state.copy()
        count = close_lines(state, log, len(fixed), self.rules, max(1, self.cap))
        if count < 0:
            return Closure(state, log[: -count - 1], log[-count - 1])
        return self._run(state, log, count)

    def _run(self, state: State, log: Index, count: int) -> Closure:
        end = propagate(state, log, 0, count, self.rules, max(1, self.cap))
        if end < 0:
            return Closure(state, log[: -end - 1], log[-end - 1])
        return Closure(state, log[:end], None)

    def complete(
        self,
        state: State,
        order: Index,
        preferred: Flags,
        expired: Callable[[], bool] | None = None,
    ) -> Flags | None:
        """Extend a closed state to a relation, pair by pair; None if that fails.

        If time is up, pairs that are still open are decided all at once, where that is easy.
        """
        full = state.copy()
        if not complete(full, order, preferred, self.rules, max(1, self.cap), expired):
            return None
        return np.asarray(full == 1) if (full >= 0).all() else self._soon(full)

    def _soon(self, state: State) -> Flags | None:
        """Extend a closed state to some relation at once; None if that is not easy."""
        has = dict(zip(FAMILY_CODES, self.rules.tolist(), strict=True))
        related = np.asarray(state == 1)
        if has["connex"]:
            if has["at_most"] or has["unique_preimage"]:
                return None
            if has["transitive"]:
                return _ranked(related)
            return None if has["antisymmetric"] else np.asarray(state != 0)
        # what is related is closed by itself, but elements may lack an image or a preimage
        if self._lacks_none(related):
            return related
        if has["transitive"] or has["symmetric"] or has["antisymmetric"]:
            return None
        if has["has_preimage"] or has["unique_preimage"]:
            free = ~np.logical_or.outer(related.any(axis=1), related.any(axis=0))
            related[_matched((state < 0) & free)] = True
        if has["has_image"] and not has["unique_preimage"]:
            rows = np.flatnonzero(~related.any(axis=1))
            related[rows, (state[rows] < 0).argmax(axis=1)] = True
        if has["has_preimage"] and not has["at_most"]:
            columns = np.flatnonzero(~related.any(axis=0))
            related[(state[:, columns] < 0).argmax(axis=0), columns] = True
        # a line without any open or related pair would have been a conflict
        return related if self._lacks_none(related) else None

    def _lacks_none(self, related: Flags) -> bool:
        """Say whether all elements have the images and preimages that they must have."""
        image, preimage = (self.rules[FAMILY_CODES.index(f)] for f in ("has_image", "has_preimage"))
        return bool(
            (not image or related.any(axis=1).all()) and (not preimage or related.any(axis=0).all())
        )


def _ranked(before: Flags) -> Flags | None:
    """Return a weak order in which all that is known to be before something else is so.

    Elements with fewer others before them come first. Of two elements one of which is known to be
    before the other, it has fewer; elements known to be tied have as many.
    """
    if not before.diagonal().all():
        return None
    first = (before & before.T).argmax(axis=1)
    count = before.sum(axis=0)
    rank = np.unique(count * len(before) + first, return_inverse=True)[1]
    return np.asarray(rank[:, None] <= rank[None, :])


def _matched(allowed: Flags) -> tuple[Index, Index]:
    """Return as many pairs as possible with no row and no column twice."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    column = maximum_bipartite_matching(csr_array(allowed), perm_type="column")
    row = np.flatnonzero(column >= 0)
    return row, column[row].astype(np.int64)
