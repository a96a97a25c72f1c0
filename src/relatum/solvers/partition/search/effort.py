"""What memetic searches for partitions spend: short ones, and long ones for several kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["BRIEF", "QUICK", "Effort", "long_effort"]

MANY_LARGE, MANY_SMALL = 1200, 1000  # elements from which there are many


@dataclass(frozen=True)
class Effort:
    """What a memetic search may spend.

    Attributes
    ----------
    pool : int
        Partitions in the pool.
    sweeps : int
        Sweeps of an annealing in the first epoch.
    repeats : int
        Epochs after which they double.
    children : int
        Children a generation: independent of one another.
    patience : int
        Generations without a new member after which an epoch ends.
    generations : int
        Generations after which an epoch ends in any case.
    epochs : int
        Epochs in a row without a better partition after which the search ends.
    hot, warm : float
        First temperatures of new partitions and of children, in units of a row's noise.
    group, cool : float
        First temperatures of groups of elements, and of elements afterwards.
    regroup : bool
        Whether every other child is made by moving groups of elements.
    heats : tuple of float
        Factors on the temperatures of new partitions, in turn.
    drift : bool
        Whether children change the factor they inherit a little. What keeps a child like its
        parents spreads then, which is good for a short search.
    replicas : int
        Replicas to temper beside the pool, 0 for none.
    tempered : float
        Sweeps of all replicas for each sweep of children.
    """

    pool: int = 16
    sweeps: int = 200
    repeats: int = 1
    children: int = 4
    patience: int = 6
    generations: int = 1 << 30
    epochs: int = 4
    hot: float = 0.12
    warm: float = 0.12
    group: float = 0.12
    cool: float = 0.05
    regroup: bool = True
    heats: tuple[float, ...] = (0.3, 1.0, 1.6, 1.0)
    drift: bool = True
    replicas: int = 0
    tempered: float = 1.0


# short annealings begin warmer: they have no time to leave where they are when it is cold
QUICK = Effort(pool=8, sweeps=100, patience=4, generations=40, epochs=0, hot=0.16, warm=0.14)
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
# replicas of many elements take long to change, and groups of them are small parts of a set
LARGE_SETS_OF_MANY = replace(LARGE_SETS, pool=64, sweeps=800, regroup=False, replicas=0)
SMALL_SETS = Effort()
SMALL_SETS_OF_MANY = Effort(pool=8, sweeps=1600)  # of many, short annealings are too poor
BRIEF = Effort(pool=8, sweeps=30, patience=2, generations=12, epochs=0, hot=0.16, warm=0.14)


def long_effort(n: int, sets: int) -> Effort:
    """Return what a long search of so many elements should do, if so many sets are good."""
    if sets * sets <= n:
        return LARGE_SETS if n < MANY_LARGE else LARGE_SETS_OF_MANY
    return SMALL_SETS if n < MANY_SMALL else SMALL_SETS_OF_MANY
