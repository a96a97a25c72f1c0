"""Problems that are solved by looking: a threshold, a maximum per row, an assignment.

One module per solver, and each proves its answer. This room imports problem, proof and the
registry. Begin with `threshold`.
"""

# Importing a module registers its solvers.
from relatum.solvers.direct import argmax, assignment, threshold

__all__ = ["argmax", "assignment", "threshold"]
