"""Heuristics for clusterings, dense and sparse. Begin with `heuristics`, which registers them."""

# Importing a module registers its solvers.
from relatum.solvers.partition.search import heuristics

__all__ = ["heuristics"]
