"""What one call of `relatum.cluster_pairs` is given and how it goes about it, in four records.

`Given` is what users know, `Plan` how the work is done; both are made once, in `api`, and passed
on whole. `Settings` is the part of a plan that holds for every component, and `Tuning` the sizes
at which the work is done differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

from relatum.errors import DataError, ProblemError
from relatum.kernels.tables.records import Effort
from relatum.pair_tables.columns import MOST_BITS, Columns, find_columns
from relatum.problem import parse_memory as parse_memory
from relatum.problem import real_number, require_log_odds, shown, switch, whole_number

UNBOUNDED = 1 << 60
MOST_THREADS = 1 << 10
MOST_OFFSET = 1e6  # bits: with the largest scores, still a float
Monitor: TypeAlias = Callable[[str, int, int], Any]
Names: TypeAlias = tuple[str, str, str | None, str | None]


@dataclass(frozen=True)
class Tuning:
    """Sizes at which the work is done differently: each with its unit, and why it is what it is.

    `Settings` carry one; what is read, learned or scored before there are any goes by the defaults.
    """

    # elements of the largest component, or piece, that the kernel takes: 128 KB of weights in cache
    kernel_elements: int = 128
    exact_elements: int = 10  # up to which subsets are enumerated, in 3^10 = 59,049 steps
    searched_pairs: int = 100_000  # listed; with more, long searches would outlast all the rest
    scored_elements: int = 2_000  # of components whose unlisted pairs, up to 2 million, are scored
    read_rows: int = 500_000  # per batch from a table or file: some 10 MB of numbers
    # pairs per batch of components: one fits into memory for every thread; fewer than the least
    # would cost more to begin than to solve
    batch_pairs: int = 1_000_000
    least_batch_pairs: int = 50_000
    sorted_pairs: int = 100_000  # at once, however small the memory: each part is another pass
    labelled_elements: int = 100_000  # to learn from: pairs two steps apart must fit into memory
    scorer_pairs: int = 100_000  # whose features `PairScorer` holds at a time
    offset_elements: int = 20_000  # with labels, to learn an offset: they are clustered 30 times
    task_pairs: int = 200_000  # per task of Spark, about: seconds of work, so that few are lost
    most_task_pairs: int = 4_000_000  # a task needs about 400 bytes per pair; more are split
    star_rounds: int = 100  # of Spark: about log2(n) are needed, unless the table changes


@dataclass(frozen=True)
class Settings:
    """What holds for every component.

    Attributes
    ----------
    background : float
        Log-odds, in bits, of pairs inside a component that are not listed; at most 0.
    max_size : int or None
        The largest cluster allowed.
    prove : bool
        Search until optimality is proven, or for `time_limit` seconds in all.
    time_limit : float
        Only used if `prove`, so that results without proof do not depend on the machine.
    most_elements, most_pairs : int
        Components with more are never searched whole, only in pieces.
    search : int
        Iterations of perturbed local search, per element, of small components that neither
        the first search nor enumeration settles. See `usual_search`.
    tuning : Tuning
    """

    background: float = 0.0
    max_size: int | None = None
    prove: bool = False
    time_limit: float = 60.0
    most_elements: int = 20_000
    most_pairs: int = 2_000_000
    search: int = 5
    tuning: Tuning = field(default_factory=Tuning)

    def __post_init__(self) -> None:
        real_number(self.background, "The background, in bits,")
        if not -MOST_BITS <= self.background <= 0:
            raise ProblemError(
                "The background of a pair table is a finite number of bits, at most 0, so that "
                f"components can be solved on their own, and at least -{MOST_BITS:g}; got "
                f"{self.background}."
            )
        if self.max_size is not None:
            whole_number(self.max_size, "max_size")
        limit: Any = self.time_limit
        number = isinstance(limit, Real) and not isinstance(limit, bool)
        if not number or not limit > 0:
            raise ProblemError(
                f"time_limit is a positive number of seconds, got {shown(self.time_limit)}."
            )
        switch(self.prove, "prove")

    @property
    def cap(self) -> int:
        """The largest cluster allowed, as a number."""
        return UNBOUNDED if self.max_size is None else min(self.max_size, UNBOUNDED)

    @property
    def effort(self) -> Effort:
        """The settings of the kernel."""
        sizes = (self.tuning.kernel_elements, self.tuning.exact_elements)
        return Effort(float(self.background), self.cap, *sizes, self.search)


def usual_search(n_pairs: int) -> int:
    """Return `Settings.search` for a table of so many listed pairs: 5, or 0 for large ones."""
    return 5 if n_pairs <= Tuning.searched_pairs else 0


@dataclass(frozen=True, eq=False)
class Given:
    """The table of scored pairs, and what is known besides the scores."""

    pairs: Any  # of any kind that `relatum.cluster_pairs` takes
    names: Names = ("unique_id_l", "unique_id_r", None, None)  # as `find_columns` takes them
    odd_rows: str = "refuse"  # or "handle", see `relatum.pair_tables.columns`
    evidence: Any = None  # mapping or table of pairs of ids
    one_per_group: Any = None  # name of columns, or mapping or table from ids to groups
    score_missing: Callable[[Any, Any], Any] | None = None  # (ids, ids) -> bits
    labels: Any = None  # mapping or table from ids to true entities
    previous: Any = None  # mapping or table from ids to earlier clusters

    def __post_init__(self) -> None:
        if not isinstance(self.odd_rows, str) or self.odd_rows not in ("refuse", "handle"):
            raise DataError(f'odd_rows is "refuse" or "handle", got {shown(self.odd_rows)}.')

    def columns(self, have: Iterable[str]) -> Columns:
        """Find the columns among those that the table has."""
        return find_columns(have, *self.names)

    def require_log_odds(self, columns: Columns, spread: Sequence[float | None], rows: int) -> None:
        """Refuse scores that look like probabilities, unless the caller called them log-odds."""
        if columns.is_probability or self.names[2] is not None:
            return
        try:
            require_log_odds(columns.score, spread, rows)
        except ProblemError as error:
            raise DataError(str(error)) from None


@dataclass(frozen=True, eq=False)
class Plan:
    """How clusters are found, and where."""

    settings: Settings  # for every component, but for what is known only later, see `final`
    learn_background: bool = False  # from labels
    search: int | None = None  # `Settings.search`, or None for the usual one
    memory_limit: str | int = "2GB"  # for DuckDB, pairs and batches
    threads: int | None = None  # None for all processors
    monitor: Monitor | None = None  # told of every step: (stage, done, total)
    certificate: Path | None = None  # where what proves the clusters goes
    offset: float = 0.0  # bits to add to every score
    learn_offset: bool = False  # from labels
    confidence: bool = False  # whether to say how sure each cluster is

    def __post_init__(self) -> None:
        parse_memory(self.memory_limit)
        switch(self.confidence, "confidence")
        if not abs(self.offset) <= MOST_OFFSET:
            raise DataError(
                f"offset is a number of bits up to {MOST_OFFSET:g} either way, got {self.offset}."
            )
        if self.threads is not None:
            whole_number(self.threads, "threads", most=MOST_THREADS, error=DataError)
        if self.search is not None:
            whole_number(self.search, "search", least=0, error=DataError)
        if self.monitor is not None and not callable(self.monitor):
            raise DataError(
                "monitor is a function that is called with (stage, done, total), such as print, "
                f"got {type(self.monitor).__name__}."
            )

    def final(self, count: Callable[[], int], background: float | None = None) -> Settings:
        """Return the settings for a table of `count()` pairs, with the background learned."""
        search = usual_search(count()) if self.search is None else int(self.search)
        bits = self.settings.background if background is None else background
        return replace(self.settings, search=search, background=bits)
