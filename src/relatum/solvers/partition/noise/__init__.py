"""Bounds for dense clusterings of noise, where no two elements are related for sure.

`semidefinite` is the method, `positive_part` the positive semidefinite matrices of its steps, and
`priced_rows` are the rows that strengthen it. Bounds where no proof is asked for and exact searches
use it. This room imports `arrays` and what all solvers share. Begin with `semidefinite`.
"""

from relatum.solvers.partition.noise.priced_rows import unlike_two_partitions
from relatum.solvers.partition.noise.semidefinite import (
    QUICK,
    effort_for,
    is_noise,
    is_worthless,
    least_of_triangles,
    leaves_much,
    semidefinite_bound,
)

__all__ = [
    "QUICK",
    "effort_for",
    "is_noise",
    "is_worthless",
    "least_of_triangles",
    "leaves_much",
    "semidefinite_bound",
    "unlike_two_partitions",
]
