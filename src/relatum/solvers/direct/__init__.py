"""Problems that are solved by looking: a threshold, a maximum per row, a matching.

One module per solver, and each proves its answer. This room imports problem, proof and the
registry. Begin with `threshold`.
"""

# Importing a module registers its solvers.
from relatum.solvers.direct import argmax, assignment, matching, threshold
from relatum.solvers.direct.matching import certificate_of_prices, match_pairs

__all__ = [
    "argmax",
    "assignment",
    "certificate_of_prices",
    "match_pairs",
    "matching",
    "threshold",
]
