"""What every view of a problem has: pairs to fix, rows to read, and bounds to round down.

A view writes a problem as an array of unknowns on a grid of exact numbers, and says for each
whether it is fixed. The dense one has an unknown for every ordered pair, the sparse one for some
unordered pairs. Whatever a certificate names is checked here before it is used. A bound is an
integer on the grid, or None: nothing is feasible. That is a statement about fixed pairs, never
the outcome of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.errors import CertificateError
from relatum.problem import FeasibleSet
from relatum.proof.certificate import FAMILIES, Cuts, SparseRows
from relatum.proof.checker.numbers import ROW_BITS, SCORE_BITS, Grid, Limbs
from relatum.proof.partition_rows import summed_squares  # whose families it makes known

Pair = tuple[int, int]
Bound = int | None  # None: nothing is feasible
# Terms of rows that a statement may have: so many, and so many for each score of the problem.
FREE_TERMS, TERMS_PER_PAIR = 1 << 20, 64
LEAST_OF_SQUARES = 1 << 10  # terms that a sum of squares counts as: what writing it down costs
TERMS_AT_ONCE = 1 << 20  # terms that are written down together: some 100 bytes each


@dataclass
class Effort:
    """What is left of the time to look for oneself, over a whole certificate.

    Attributes
    ----------
    sets : int
        Steps of the search for sets above their prices: some nanoseconds each.
    subsets : int
        Subsets that may begin an order: some microseconds each.
    """

    sets: int = 1 << 34
    subsets: int = 1 << 25


def whole_numbers(values: Any, what: str) -> Index:
    """Return an array of integers; refuse anything that would have to be turned into them."""
    array = np.asarray(values)
    if not array.size:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise CertificateError(f"{what} are integers, got an array of {array.dtype}.")
    if array.dtype.kind == "u" and int(array.max()) >= 2**63:
        raise CertificateError(f"{what} are far smaller than {int(array.max())}.")
    return array.astype(np.int64)


def real_numbers(values: Any, what: str) -> Floats:
    """Return an array of floats; refuse anything else but integers."""
    array = np.asarray(values)
    if not array.size:
        return np.zeros(array.shape)
    if array.dtype.kind not in "fiu":
        raise CertificateError(f"{what} are numbers, got an array of {array.dtype}.")
    return array.astype(np.float64)


def truth_values(values: Any, what: str) -> Flags:
    """Return an array of truth values; refuse anything else but zeros and ones."""
    array = np.asarray(values)
    if not array.size:
        return np.zeros(0, dtype=np.bool_)
    if array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
        raise CertificateError(f"{what} are true or false, got an array of {array.dtype}.")
    return array.astype(np.bool_).reshape(-1)


def checked_cuts(cuts: Any) -> tuple[Cuts, ...]:
    """Return rows with multipliers as they have to be, whoever made them."""
    found = []
    for cut in cuts:
        if not isinstance(cut, Cuts):
            raise CertificateError(f"Rows come as Cuts, got {type(cut).__name__}.")
        index = whole_numbers(cut.index, "Indices of rows")
        multipliers = real_numbers(cut.multipliers, "Multipliers")
        if index.ndim != 2 or multipliers.shape != (len(index),):
            raise CertificateError("Rows have one line of indices and one multiplier each.")
        found.append(Cuts(cut.family, index, multipliers))
    return tuple(found)


def terms_per_row(cut: Cuts, shape: tuple[int, int]) -> int:
    """Return how many terms a row of some cuts has at most."""
    width = int(cut.index.shape[1])
    if cut.family in ("two_partition", "capped_set"):
        width = width * (width - 1) // 2
    elif cut.family in ("has_image", "at_most"):
        width = shape[1]
    elif cut.family in ("has_preimage", "unique_preimage"):
        width = shape[0]
    return max(1, width)


def terms_of(cut: Cuts, shape: tuple[int, int]) -> int:
    """Return how many terms some cuts have at most, as they are gone through."""
    if cut.family == "square":  # written down at once, where multipliers are equal
        terms = max(LEAST_OF_SQUARES, shape[0] * shape[1])
        return max(cut.index.size, len(np.unique(cut.multipliers)) * terms)
    return len(cut) * terms_per_row(cut, shape)


def require_moderate(cuts: Sequence[Cuts], shape: tuple[int, int], pairs: int) -> None:
    """Refuse more rows than a statement about a problem with so many scores can need."""
    most = FREE_TERMS + TERMS_PER_PAIR * pairs
    terms = sum(terms_of(cut, shape) for cut in cuts)
    if terms > most:
        raise CertificateError(
            f"Rows with {terms} terms are more than {shape[0]} x {shape[1]} elements with {pairs} "
            f"scores allow, {most}."
        )


def pieces_of(cut: Cuts, shape: tuple[int, int]) -> Iterator[Cuts]:
    """Yield cuts of some rows each, few enough to be written down at once."""
    step = max(1, TERMS_AT_ONCE // terms_per_row(cut, shape))
    if cut.family == "square":
        given = multipliers_of(cut)
        for y in np.unique(given):
            yield Cuts(cut.family, cut.index[given == y], given[given == y])
        return
    for begin in range(0, max(1, len(cut)), step):
        some = slice(begin, begin + step)
        yield Cuts(cut.family, cut.index[some], cut.multipliers[some])


def rows_of(cut: Cuts, feasible: FeasibleSet, shape: tuple[int, int]) -> SparseRows:
    """Write down the rows of some cuts, refusing what is not valid for the feasible set.

    Squares are written down as one row, their sum.
    """
    family = FAMILIES.get(cut.family)
    if family is None:
        raise CertificateError(f"Unknown family of rows {cut.family!r}.")
    if family.width is not None and cut.index.shape[1] != family.width:
        raise CertificateError(
            f"Rows of family {cut.family!r} have {family.width} indices, got {cut.index.shape[1]}."
        )
    if len(cut) and not family.valid(feasible, cut.index, shape):
        raise CertificateError(
            f"Rows of family {cut.family!r} with these indices are not valid for {feasible}."
        )
    summed = cut.family == "square" and len(cut)
    rows = summed_squares(cut.index) if summed else family.rows(cut.index, shape)
    inside = (rows.a >= 0) & (rows.a < shape[0]) & (rows.b >= 0) & (rows.b < shape[1])
    if not inside.all():
        raise CertificateError(f"A row of family {cut.family!r} names an element out of range.")
    return rows


def multipliers_of(cut: Cuts) -> NDArray[np.float64]:
    """Return multipliers, refusing those with which rows prove nothing."""
    y = cut.multipliers
    if not (np.isfinite(y).all() and (y >= 0).all()):
        raise CertificateError(f"A multiplier of family {cut.family!r} is negative or not finite.")
    return y


def grid_of_rows(given: Sequence[Cuts]) -> Grid:
    """Return a grid for rows alone, without log-odds: as fine as their multipliers allow."""
    cuts = checked_cuts(given)
    largest = max((float(multipliers_of(cut).max(initial=0.0)) for cut in cuts), default=0.0)
    count = sum(len(cut) for cut in cuts)
    # 2**(exponent + bits of the count) is more than all together; `read` asks for less than
    # 2**11 times as much
    return Grid.below(int(np.frexp(largest)[1]) + count.bit_length())


def hereditary(feasible: FeasibleSet) -> FeasibleSet:
    """Return the properties that a relation hands down to every subset of the elements."""
    names = set(feasible.names)
    if "reflexive" not in names:
        names -= {"has_image", "has_preimage"}
    keep = [p for p in feasible.structure.properties if p.name in names or p.name == "at_most"]
    caps = [p for p in feasible.properties if p.name == "at_most"]
    # RELATIONS on one set stay on one set: the caller's shape is square anyway
    return FeasibleSet([*keep, *caps])


def best_single(r: Limbs, state: NDArray[np.int8]) -> Limbs:
    """Return what each unknown adds at best: its coefficient, or nothing, as it is open to it."""
    return r.where((state == 1) | ((state < 0) & r.positive()))


class View:
    """What dense and sparse views share."""

    shape: tuple[int, int]
    feasible: FeasibleSet
    grid: Grid
    empty: bool = False  # whether fixed pairs contradict one another
    _values: tuple[int, int] | None = None  # what `values_on` found

    @property
    def size(self) -> int:
        """About how many bytes the view takes beyond what it shares with the one it is made of."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return a view whose fixed pairs can be changed separately."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def pair(self, pair: Sequence[int]) -> Pair:
        """Check that a pair exists."""
        a, b = int(pair[0]), int(pair[1])
        if not (0 <= a < self.shape[0] and 0 <= b < self.shape[1]):
            raise CertificateError(f"Pair ({a}, {b}) does not exist.")
        return a, b

    def state_of(self, a: int, b: int) -> int:
        """Return 1, 0 or -1: related, unrelated, open."""
        raise NotImplementedError

    def _consequences(self, pair: Sequence[int], value: bool) -> list[tuple[int, int, int]]:
        """Return a pair with its value, and the mirror pair if its value follows."""
        a, b = self.pair(pair)
        todo = [(a, b, int(value))]
        if self.feasible.homogeneous and a != b:
            if self.feasible.has("symmetric"):
                todo.append((b, a, int(value)))
            if value and self.feasible.has("antisymmetric"):
                todo.append((b, a, 0))
            if not value and self.feasible.has("connex"):
                todo.append((b, a, 1))
        return todo

    def _put(self, a: int, b: int, value: int) -> None:
        """Fix one unknown."""
        raise NotImplementedError

    def _unknown(self, a: int, b: int) -> Pair:
        """Return the name of the unknown that a pair of a row is about."""
        return a, b

    def fix(self, pair: Sequence[int], value: bool) -> None:
        """Fix a pair, and its mirror pair if that follows."""
        for a, b, v in self._consequences(pair, value):
            if self.state_of(a, b) == 1 - v:
                self.empty = True
            self._put(a, b, v)

    def fixing(self, pairs: Iterable[Any], values: Iterable[Any]) -> Self:
        """Return a view with some pairs fixed."""
        view = self.copy()
        for pair, value in zip(pairs, values, strict=True):
            view.fix(pair, bool(value))
        return view

    @property
    def n_scores(self) -> int:
        """How many scores the view holds."""
        raise NotImplementedError

    def read(
        self, cuts: Sequence[Cuts], grid: Grid, use: Callable[[SparseRows, Limbs], Any]
    ) -> int:
        """Hand over rows with their terms times multipliers, piece by piece; return the sum of b y.

        Refuses multipliers so large that exact numbers could not hold what they take from a pair.
        """
        cuts = checked_cuts(cuts)
        require_moderate(cuts, self.shape, self.n_scores)
        side, taken = 0, 0.0
        for cut in (piece for whole in cuts for piece in pieces_of(whole, self.shape)):
            rows, y = rows_of(cut, self.feasible, self.shape), multipliers_of(cut)
            y = y[: len(rows)]  # squares with equal multipliers are one row
            # a pair is in a row twice at most, as it is and as its mirror pair; and twice that
            # covers the rounding of the sum
            most = 4.0 * int(np.abs(rows.coefficient).max(initial=1))
            with np.errstate(over="ignore"):
                taken += most * float(np.ldexp(y, -grid.largest).sum())
            if not taken < 2.0 ** (ROW_BITS - SCORE_BITS):
                raise CertificateError(
                    f"Multipliers of family {cut.family!r} take from pairs {taken:.3g} times what "
                    "all log-odds amount to together."
                )
            exact = grid.multipliers(y)
            use(rows, exact[rows.row_of_term()].times(rows.coefficient))
            sides = np.unique(rows.rhs).tolist()
            if len(sides) <= 16:
                side += sum(k * exact[rows.rhs == k].total() for k in sides)
            else:
                right = zip(rows.rhs.tolist(), exact.tolist(), strict=True)
                side += sum(k * y_r for k, y_r in right)
        return side

    def row_excludes(self, cut: Cuts, pair: Pair, value: bool) -> bool:
        """Say whether one row cannot hold when the pair takes the value."""
        if cut.family == "square":
            raise CertificateError("A square implies no value of a pair.")
        rows = rows_of(cut, self.feasible, self.shape)
        assumed: dict[Pair, int] = {}
        for a, b, v in self._consequences(pair, value):
            if self.state_of(a, b) == 1 - v or assumed.get(self._unknown(a, b), v) != v:
                return True
            assumed[self._unknown(a, b)] = v
        terms: dict[Pair, int] = {}
        for a, b, k in zip(
            rows.a.tolist(), rows.b.tolist(), rows.coefficient.tolist(), strict=True
        ):
            unknown = self._unknown(a, b)
            terms[unknown] = terms.get(unknown, 0) + k
        least = 0
        for unknown, k in terms.items():
            s = assumed.get(unknown, self.state_of(*unknown))
            least += k * s if s >= 0 else min(0, k)
        return least > int(rows.rhs[0])

    def owners(self, parts: Sequence[Index]) -> Index:
        """Return the part of each element, -1 for none; refuse parts that are not disjoint."""
        n = self.shape[0]
        owner = np.full(n, -1, dtype=np.int64)
        if not parts:
            return owner
        elements = np.concatenate(parts)
        if any(part.size == 0 for part in parts) or elements.min() < 0 or elements.max() >= n:
            raise CertificateError("A part of a decomposition names elements out of range.")
        owner[elements] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        if np.count_nonzero(owner >= 0) != len(elements):
            raise CertificateError("The parts of a decomposition overlap.")
        return owner

    def checked_labels(self, given: Any, what: str) -> Index:
        """Return labels of classes of elements, refusing any but one per element from 0 on."""
        labels, n = whole_numbers(given, "Labels"), self.shape[0]
        if labels.shape != (n,) or labels.min() < 0 or labels.max() >= n:
            raise CertificateError(f"{what} needs one label per element, numbered from 0.")
        return labels

    def require_related(self, labels: Index, a: Index, b: Index) -> None:
        """Refuse classes, 0, 1, ..., that the related pairs ab do not connect."""
        from scipy.sparse import coo_array  # slow to import, and not needed to read a bundle
        from scipy.sparse.csgraph import connected_components

        inner = labels[a] == labels[b]
        graph = coo_array((np.ones(int(inner.sum())), (a[inner], b[inner])), shape=self.shape)
        count, _ = connected_components(graph, directed=False)
        if not count == int(labels.max()) + 1 == len(np.unique(labels)):
            raise CertificateError("A contraction joins elements that are not known to be related.")

    def floor(self, bound: Bound) -> Bound:
        """Round a bound down to the largest value that any relation can have.

        All values differ by multiples of a common divisor of the scores.
        """
        if bound is None:
            return None
        if self._values is None:
            self._values = self.values_on()
        step, offset = self._values
        return offset if step == 0 else offset + (bound - offset) // step * step

    def values_on(self) -> tuple[int, int]:
        """Return (step, offset) such that all values are offset + k step."""
        raise NotImplementedError
