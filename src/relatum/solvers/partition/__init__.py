"""Clusterings: `search` finds partitions, `bounds` says how good they are, `exact` proves them.

`arrays` is the one place where a problem becomes the arrays that all three work on. These rooms
import problem, proof, lp, kernels and what all solvers share. Begin with `search.heuristics`.
"""

# Importing a module registers its solvers.
from relatum.solvers.partition import exact, search
from relatum.solvers.partition.arrays import instance_of, renumbered
from relatum.solvers.partition.bounds.choose import affordable_bound
from relatum.solvers.partition.search.sparse import SparseSearch

__all__ = ["SparseSearch", "affordable_bound", "exact", "instance_of", "renumbered", "search"]
