"""What searches for partitions may spend: all their tuning numbers, and efforts of memetic ones.

Temperatures are in units of the noise of a row, or of a typical score where pairs are listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SearchSettings:
    """How partitions are searched for, dense and sparse."""

    evolved: int = 2500  # elements up to which whole pools of partitions are annealed
    disputed: int = 800  # elements up to which what several starts disagree on is searched
    starts: int = 8  # first partitions of what is too large for pools
    hots: tuple[float, ...] = (0.2, 0.05, 0.12, 0.03, 0.16)  # of the first short annealings
    first_sweeps: int = 30  # of the very first annealing, so that there is something soon
    openings: int = 40  # annealings before the pool, at most
    idle_openings: int = 4  # in a row without a better partition after which they end
    opening_sweeps: int = 60  # of each of them
    group_hots: tuple[float, float] = (0.12, 0.05)  # of those of groups, then of elements
    agreed_hot: float = 0.16  # of annealings from what several starts have agreed on
    agreed_sweeps: int = 100  # of these
    cold: float = 0.01  # where annealings end
    spare_sets: int = 4  # that an annealing may make in addition to those it finds
    copied: int = 4000  # elements up to which scores may be copied in single precision
    coarse: int = 256  # elements from which annealing rounds scores to integers, if that is enough:
    coarsest: float = 300.0  # units that a row's noise must have, and 20 to 30 to freeze at
    finest: float = 2000.0  # units that it has at most, so that temperatures stay in 16 bits
    work: float = 2e8  # additions between two looks at the clock
    arrays: float = 4e-9  # seconds per ordered pair, to make the matrix that a search begins with
    listed_arrays: float = 5e-8  # seconds per listed pair, to compress them
    begin: float = 0.05  # seconds after the end of time at which these may still be made
    insertions: float = 5e6  # the same while elements are inserted, which is slower
    listed_work: float = 2e6  # listed pairs looked at between two looks at the clock
    listed_hots: tuple[float, ...] = (0.2, 0.4, 0.8, 1.4)  # of annealings over listed pairs
    listed_cold: float = 0.02  # where these end
    listed_visits: float = 4e8  # listed pairs and elements visited in a first round, about
    listed_sweeps: tuple[int, int] = (5, 60)  # fewest and most of an annealing in that round
    many_entries: int = 4_000_000  # of compressed rows, from which one annealing per round must do
    many_listed_hots: tuple[float, ...] = (0.4,)  # of that one
    idle_rounds: int = 3  # in a row without a better partition after which rounds end
    outlier: float = 20.0  # medians above which a listed score acts as a rule, whatever its size
    median_of: int = 1_000_000  # listed scores: of more, every so many-th is looked at
    chain_patience: int = 100  # moves of a chain that gain nothing: to its end is quadratic
    chain_work: float = 2e7  # scores looked at by chains between two looks at the clock
    greedy_pairs: float = 36e6  # of a dense problem that is joined greedily: its heap holds all
    greedy_seconds: float = 2e-7  # per pair of these, before anything is joined, on a slow machine
    greedy_block: int = 1_000_000  # pairs written down between two looks at the clock
    greedy_steps: int = 200_000  # joins looked at between two looks at the clock
    element_seconds: float = 3e-4  # that a whole search takes per element, about,
    pair_seconds: float = 1e-6  # and per pair
    bound_share: tuple[float, float] = (0.1, 0.3)  # of the time, least and most, for a bound
    bound_seconds: float = 1e-6  # that it should have per pair, if that is between these
    # the same where pairs are listed: conflicts are packed along paths
    listed_bound_share: tuple[float, float] = (0.1, 0.5)
    listed_bound_seconds: float = 1.5e-6
    proved_bound: float = 0.8  # of that where a proof is wanted, so that its search is not shorter
    threaded: int = 100  # elements from which pools use a second thread: below, it costs time
    many_in_large_sets: int = 1200  # elements from which there are many, where sets are large
    few_noisy: int = 150  # elements below which noise is searched like everything else
    many_noisy: int = 800  # elements from which there are many, where scores are noise
    many_in_small_sets: int = 1000  # elements from which there are many, where sets are small


@dataclass(frozen=True)
class Effort:
    """What a memetic search may spend."""

    pool: int = 16  # partitions in the pool
    sweeps: int = 200  # of an annealing in the first epoch
    repeats: int = 1  # epochs after which the sweeps double
    children: int = 4  # per generation: independent of one another
    patience: int = 6  # generations without a new member after which an epoch ends
    generations: int = 1 << 30  # after which an epoch ends in any case
    epochs: int = 4  # in a row without a better partition after which the search ends
    hot: float = 0.12  # first temperature of new partitions
    warm: float = 0.12  # first temperature of children
    group: float = 0.12  # first temperature of groups of elements
    cool: float = 0.05  # first temperature of elements, after their groups have moved
    regroup: bool = True  # whether every other child is made by moving groups of elements
    heats: tuple[float, ...] = (0.3, 1.0, 1.6, 1.0)  # factors on `hot`, in turn
    # Whether children change the factor they inherit a little. What keeps a child like its
    # parents spreads then, which is good for a short search.
    drift: bool = True
    replicas: int = 0  # to temper beside the pool, 0 for none
    tempered: float = 1.0  # sweeps of all replicas for each sweep of children


SETTINGS = SearchSettings()
# short annealings begin warmer: they have no time to leave where they are when it is cold
QUICK = Effort(pool=8, sweeps=100, patience=4, generations=40, epochs=0, hot=0.16, warm=0.14)
# of noise, where short annealings end far apart: replicas, or of many elements longer annealings
NOISY = Effort(
    pool=8,
    sweeps=100,
    patience=6,
    generations=20,
    epochs=0,
    hot=0.13,
    heats=(1.0,),
    drift=False,
    replicas=8,
    tempered=3.0,
)
NOISY_OF_MANY = replace(QUICK, sweeps=300, generations=20)
BRIEF = Effort(pool=8, sweeps=30, patience=2, generations=12, epochs=0, hot=0.16, warm=0.14)
# Long searches. Of a few large sets, what is to be decided freezes at about one temperature, and
# that is known; many small sets have temperatures of their own, which the pool has to find.
LARGE_SETS = Effort(
    pool=32,
    sweeps=400,
    repeats=2,
    patience=10,
    epochs=3,
    hot=0.13,
    heats=(1.0,),
    drift=False,
    replicas=16,
    tempered=2.0,
)
# Replicas of many elements take long to change, and groups of them are small parts of a set. What
# long annealings find is worth recombining; that is soon done, and the next pool begins elsewhere.
LARGE_SETS_OF_MANY = replace(
    LARGE_SETS,
    sweeps=3200,
    repeats=3,
    epochs=8,
    hot=0.15,
    warm=0.1,
    regroup=False,
    replicas=0,
)
SMALL_SETS = Effort()
SMALL_SETS_OF_MANY = Effort(pool=8, sweeps=1600)  # of many, short annealings are too poor


def long_effort(n: int, sets: int) -> Effort:
    """Return what a long search of so many elements should do, if so many sets are good."""
    if sets * sets <= n:
        return LARGE_SETS if n < SETTINGS.many_in_large_sets else LARGE_SETS_OF_MANY
    return SMALL_SETS if n < SETTINGS.many_in_small_sets else SMALL_SETS_OF_MANY


def noisy_effort(n: int) -> Effort:
    """Return what a short search of so many elements should do where scores are noise."""
    if n < SETTINGS.few_noisy:
        return QUICK
    return NOISY if n < SETTINGS.many_noisy else NOISY_OF_MANY
