"""What a run computes: sizes, grids and data of the quick and of the full reproduction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lifting:
    """A multilinear polynomial lifting: its degree, and random features (None: exact, d = 1)."""

    degree: int
    components: int | None = None

    @property
    def name(self) -> str:
        """A name for files."""
        return f"d{self.degree}" + (f"_m{self.components}" if self.components else "")

    @property
    def title(self) -> str:
        """A name for people."""
        return f"d={self.degree}" + (f", m={self.components}" if self.components else "")


@dataclass(frozen=True)
class Settings:
    """All sizes of a reproduction; powers are base-2 logarithms of 1/sigma^2."""

    name: str
    data: str  # "mnist" or "digits"
    liftings: tuple[Lifting, ...]
    linear_map_powers: tuple[int, ...]  # of priors of maps, for d = 1
    measure_map_powers: tuple[int, ...]  # of priors of maps, for the lifting `measure`
    map_powers: tuple[int, ...]  # of priors of maps, for the other liftings
    pair_powers: tuple[int, ...]
    pairs: int  # to learn from
    test_images: int  # all pairs of so many test images are the test pairs
    measure: Lifting  # whose measure of pairs is used for clustering
    stratified_power: int  # of the prior of that measure, learned from stratified pairs
    unstratified_power: int  # of the prior of that measure, learned from unstratified pairs
    sizes: tuple[int, ...]  # elements of the random subsets that are clustered
    subsets: int  # of each size
    sigmas: tuple[float, ...]  # parameters of the Bernoulli measure
    sentences: int  # that are ordered
    bilinear_strength: float = 2.0**7  # of the prior of the bilinear measure
    map_tolerance: float = 1e-2  # relative duality gap to reach
    map_epochs: int = 10  # passes over the images after which it is given up
    pair_epochs: int = 3  # readings of the training pairs for the lifting `measure`
    other_pair_epochs: int = 1  # readings of the training pairs for the other liftings
    joint_instances: int = 30  # orders that are estimated jointly with their measure
    fewer_images: int = 0  # if positive, d = 1 and `measure` also learn from so many images
    fewer_powers: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # of priors, then
    time_limit: float = 600.0  # seconds for one exact clustering
    seed: int = 0

    def powers_of_maps(self, lifting: Lifting) -> tuple[int, ...]:
        """Return the strengths that maps are learned with."""
        if lifting.degree == 1:
            return self.linear_map_powers
        return self.measure_map_powers if lifting == self.measure else self.map_powers

    def readings(self, lifting: Lifting) -> int:
        """Return how often the training pairs are read."""
        return self.pair_epochs if lifting == self.measure else self.other_pair_epochs


FULL = Settings(
    name="full",
    data="mnist",
    liftings=(
        Lifting(1),
        Lifting(2, 8192),
        Lifting(2, 16384),
        Lifting(3, 8192),
        Lifting(3, 16384),
    ),
    linear_map_powers=tuple(range(1, 20)),
    measure_map_powers=(1, 3, 5, 7, 9, 10, 11, 12, 13, 15, 17, 19, 21, 23, 25, 27, 29),
    map_powers=tuple(range(1, 30, 2)),
    pair_powers=(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 27, 29, 31, 33, 35),
    pairs=500_000,
    test_images=1000,
    measure=Lifting(2, 16384),
    # the paper's 2^22 and 2^21: its 1/sigma^2 goes with natural logarithms, ours with bits,
    # a factor of (ln 2)^2, about one power of two
    stratified_power=21,
    unstratified_power=20,
    sizes=(100, 170, 220, 260, 300),
    subsets=10,
    sigmas=(1.125, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0),
    sentences=10_000,
    other_pair_epochs=2,
    fewer_images=50_000,
    fewer_powers=((4, 5, 6, 7, 8), (7, 9, 11)),
)

QUICK = Settings(
    name="quick",
    data="digits",
    liftings=(Lifting(1), Lifting(2, 1024), Lifting(2, 2048), Lifting(3, 1024), Lifting(3, 2048)),
    linear_map_powers=tuple(range(-3, 14, 2)),
    measure_map_powers=tuple(range(-3, 22, 3)),
    map_powers=tuple(range(-3, 22, 3)),
    pair_powers=tuple(range(1, 26, 3)),
    pairs=20_000,
    test_images=200,
    measure=Lifting(2, 2048),
    stratified_power=13,
    unstratified_power=13,
    sizes=(40, 60, 80),
    subsets=3,
    sigmas=(1.25, 2.0, 4.0, 8.0),
    sentences=30,
    pair_epochs=3,
    joint_instances=5,
    time_limit=600.0,
)
