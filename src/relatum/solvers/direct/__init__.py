"""Problems that are solved by looking: a threshold, a maximum per row, an assignment."""

# Importing a module registers its solvers.
from relatum.solvers.direct import argmax, assignment, threshold

__all__ = ["argmax", "assignment", "threshold"]
