"""Heuristics for clusterings, dense and sparse.

`heuristics` registers them, `dense` and `sparse` hold their steps, `memetic` and `tempering`
are the long searches, and `effort` has all tuning numbers. This room imports `arrays` and kernels,
and neither bounds nor proofs. Begin with `heuristics`.
"""

# Importing a module registers its solvers.
from relatum.solvers.partition.search import heuristics

__all__ = ["heuristics"]
