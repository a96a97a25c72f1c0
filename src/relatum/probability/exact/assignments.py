"""Maps that take columns once, or cover them: sums over the sets of columns taken, row by row.

BIJECTIONS, INJECTIONS, partial injections (UNIQUE_IMAGE & UNIQUE_PREIMAGE) and surjections. The
smaller of the two sets is the one whose subsets are gone through; the other may be of any size.
Sums before every row are not all kept: those at the beginning of blocks of rows are, and the
others are made again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.assignments import (
    choose_columns,
    row_probabilities,
    step_backward,
    step_forward,
)
from relatum.kernels.probability.scaled import scaled_sum
from relatum.kernels.watch import Watch
from relatum.probability.exact.weights import (
    NEVER,
    Places,
    infeasible,
    log2_of,
    opened,
    require_time,
    split,
)
from relatum.probability.methods import Task
from relatum.probability.posterior import DenseMarginals, Posterior, kind_of
from relatum.problem import Relation, require_memory
from relatum.solvers import Control

MOST_COLUMNS = 20
WORK = {False: 3e9, True: 3e11}  # sums of two numbers, if chosen automatically and if asked for
Layer = tuple[Floats, Places]


@dataclass(frozen=True, eq=False)
class Assignment:
    """Rows that each take a column or none.

    Attributes
    ----------
    mantissa, places : (rows, columns) arrays
        The weights of pairs; mantissa 0 where they exclude each other.
    skips : (rows,) bool array
        Which rows may take none.
    again : bool
        Whether a column may be taken by several rows.
    covers : bool
        Whether every column has to be taken.
    """

    mantissa: Floats
    places: Places
    skips: Flags
    again: bool
    covers: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.mantissa.shape[0], self.mantissa.shape[1]

    @property
    def block(self) -> int:
        """Rows of a block."""
        return max(1, math.isqrt(self.shape[0]))

    def work(self) -> float:
        """Return how many sums of two numbers there are."""
        rows, columns = self.shape
        return 4.0 * rows * columns * 2.0**columns

    def require_memory(self) -> None:
        """Refuse what does not fit, before anything is made."""
        rows, columns = self.shape
        layers = rows // self.block + self.block + 4
        require_memory(
            12 * layers << columns,
            f"The sums over the subsets of {columns} elements",
            "give evidence that makes the problem smaller, or ask about parts of it",
        )

    def first(self) -> Layer:
        """Return the sums before the first row."""
        f, fe = np.zeros(1 << self.shape[1]), np.full(1 << self.shape[1], NEVER, np.int32)
        f[0], fe[0] = 0.5, 1
        return f, fe

    def last(self) -> Layer:
        """Return the sums after the last row."""
        g, ge = np.full(1 << self.shape[1], 0.5), np.ones(1 << self.shape[1], np.int32)
        if self.covers:
            g[:-1], ge[:-1] = 0.0, NEVER
        return g, ge

    def forward(self, layer: Layer, row: int, watch: Watch) -> None:
        """Let a row take a column, in place."""
        given = self.mantissa[row], self.places[row]
        step_forward(*layer, *given, bool(self.skips[row]), self.again, watch)

    def layers(self, control: Control) -> list[Layer]:
        """Return the sums at the beginning of each block, and after the last row."""
        self.require_memory()
        watch, layer, kept = Watch(control.expired), self.first(), []
        for row in range(self.shape[0]):
            if row % self.block == 0:
                kept.append((layer[0].copy(), layer[1].copy()))
            self.forward(layer, row, watch)
        watch.close()
        require_time(control)
        return [*kept, layer]

    def within(self, start: Layer, number: int, watch: Watch) -> list[Layer]:
        """Return the sums before each row of a block."""
        first = number * self.block
        layer, made = (start[0].copy(), start[1].copy()), []
        for row in range(first, min(first + self.block, self.shape[0])):
            made.append((layer[0].copy(), layer[1].copy()))
            self.forward(layer, row, watch)
        return made

    def total(self, end: Layer) -> tuple[float, int]:
        """Return the sum over all assignments, as mantissa and exponent."""
        if self.covers:
            return float(end[0][-1]), int(end[1][-1])
        mantissa, places = scaled_sum(end[0], end[1].astype(np.int64))
        return float(mantissa), int(places)

    def probabilities(self, layers: list[Layer], control: Control) -> Floats:
        """Return the probability of every pair."""
        whole, watch = self.total(layers[-1]), Watch(control.expired)
        after, p = self.last(), np.zeros(self.shape)
        for number in range(len(layers) - 2, -1, -1):
            before = self.within(layers[number], number, watch)
            for row in range(number * self.block + len(before) - 1, number * self.block - 1, -1):
                given = self.mantissa[row], self.places[row]
                layer = before[row - number * self.block]
                p[row] = row_probabilities(*layer, *after, *given, self.again, *whole, watch)
                step_backward(*after, *given, bool(self.skips[row]), self.again, watch)
        watch.close()
        require_time(control)
        return p

    def draw(self, layers: list[Layer], count: int, rng: np.random.Generator) -> Index:
        """Draw the column of every row, -1 for none, in so many assignments."""
        states = np.full(count, len(layers[-1][0]) - 1, dtype=np.int64)
        if not self.covers:
            f, fe = layers[-1]
            share = np.where(f > 0, f * np.exp2(np.maximum(fe - fe.max(), -1000.0)), 0.0)
            sums = np.cumsum(share)
            states = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
        columns, watch = np.empty((count, self.shape[0]), np.int64), Watch()
        for number in range(len(layers) - 2, -1, -1):
            before = self.within(layers[number], number, watch)
            for row in range(number * self.block + len(before) - 1, number * self.block - 1, -1):
                given = self.mantissa[row], self.places[row], bool(self.skips[row]), self.again
                layer = before[row - number * self.block]
                columns[:, row] = choose_columns(states, rng.random(count), *layer, *given)
        return columns


def _sides(task: Task) -> tuple[bool, int, int]:
    """Return whether rows are those of B, and how many rows and columns there are then."""
    names, (n_a, n_b) = task.problem.feasible.names, task.problem.shape
    if "unique_image" not in names:  # then B's elements have at most one preimage
        return True, n_b, n_a
    if "unique_preimage" not in names:
        return False, n_a, n_b
    return (True, n_b, n_a) if n_a < n_b else (False, n_a, n_b)


def refusal(task: Task) -> str | None:
    """Say why sums over subsets would take too long."""
    _, rows, columns = _sides(task)
    if columns > MOST_COLUMNS or 4.0 * rows * columns * 2.0**columns > WORK[task.patient]:
        return (
            f"goes through the subsets of the smaller set, of at most {MOST_COLUMNS} elements "
            f"(fewer if the other set is large), and these are {columns} and {rows}"
        )
    return None


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of maps whose columns are taken once, or covered."""
    problem, (turned, _, _) = task.problem, _sides(task)
    found, names = opened(problem), problem.feasible.names
    scores, related, unrelated = found.scores, found.related, found.unrelated
    has, covers, unique = "has_image", "has_preimage", "unique_preimage"
    if turned:
        scores, related, unrelated = scores.T, related.T, unrelated.T
        has, covers, unique = "has_preimage", "has_image", "unique_image"
    told = np.asarray(related.any(axis=1))
    allowed = ~unrelated & (related | ~told[:, None]) & (related.sum(axis=1) <= 1)[:, None]
    if unique in names:  # a column that is told to one row is not for others
        allowed &= related | ~np.asarray(related.any(axis=0))[None, :]
    skips = np.asarray(~told & (has not in names))
    mantissa, places = split(scores, allowed)
    given = Assignment(mantissa, places, skips, unique not in names, covers in names)
    layers = given.layers(control)
    whole = given.total(layers[-1])
    if whole[0] <= 0.0:
        raise infeasible(problem)
    p = given.probabilities(layers, control)
    return Posterior(
        DenseMarginals(p.T if turned else p),
        found.constant + log2_of(*whole),
        exact=True,
        method="sums over subsets",
        draw=partial(_draw, given, layers, turned, kind_of(problem.feasible)),
    )


def _draw(
    given: Assignment,
    layers: list[Layer],
    turned: bool,
    kind: type[Relation],
    count: int,
    rng: np.random.Generator,
) -> list[Relation]:
    return [_relation(c, given.shape, turned, kind) for c in given.draw(layers, count, rng)]


def _relation(
    columns: Index, shape: tuple[int, int], turned: bool, kind: type[Relation]
) -> Relation:
    matrix = np.zeros(shape, dtype=np.bool_)
    rows = np.flatnonzero(columns >= 0)
    matrix[rows, columns[rows]] = True
    found: Relation = Relation(matrix.T if turned else matrix).to(kind)
    return found
