"""Branch and cut for any intersection of properties.

`space` writes pairs as variables of a linear program, `branch_and_cut` is the search, `solver`
registers it once per engine. This room imports problem, proof, lp and what all solvers share,
and nothing of the other families. Begin with `branch_and_cut`.
"""

# Importing a module registers its solvers.
from relatum.solvers.general import solver
from relatum.solvers.general.space import PairSpace, RowPool

__all__ = ["PairSpace", "RowPool", "solver"]
