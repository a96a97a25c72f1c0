"""Exact clusterings: branch and cut, and branch and price where sets are small.

Begin with `branch_and_cut`; `node` and `relaxation` are what it does at a node.
"""

# Importing a module registers its solvers.
from relatum.solvers.partition.exact import branch_and_cut, capped

__all__ = ["branch_and_cut", "capped"]
