"""Exact clusterings: branch and cut, and branch and price where sets are small.

`node` and `relaxation` are what branch and cut does at a node, `whole_sets` is what it does where
few nodes are left; `capped` and `prices` are branch and price under a cap. This room imports
`arrays`, the heuristics that give a first partition, lp and the tree that all solvers share. Begin
with `branch_and_cut`.
"""

# Importing a module registers its solvers.
from relatum.solvers.partition.exact import branch_and_cut, capped

__all__ = ["branch_and_cut", "capped"]
