"""Branch and cut for any intersection of properties. Begin with `solver`."""

# Importing a module registers its solvers.
from relatum.solvers.general import solver
from relatum.solvers.general.space import PairSpace, RowPool

__all__ = ["PairSpace", "RowPool", "solver"]
