"""Settings of a reproduction that takes seconds."""

from dataclasses import replace

from relatum.reproduction.settings import QUICK, Lifting

TINY = replace(
    QUICK,
    name="tiny",
    liftings=(Lifting(1), Lifting(2, 128)),
    linear_map_powers=(1, 5),
    measure_map_powers=(5, 9),
    map_powers=(5, 9),
    pair_powers=(7, 13),
    pairs=1000,
    test_images=40,
    measure=Lifting(2, 128),
    sizes=(12, 16),
    subsets=2,
    sigmas=(1.5, 4.0),
    sentences=15,
    pair_epochs=1,
    other_pair_epochs=1,
    map_epochs=60,
    joint_instances=2,
)
