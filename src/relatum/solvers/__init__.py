"""Inference algorithms, one module each, listed in the registry."""

# Importing a module registers its solvers.
from relatum.solvers import assignment as assignment
from relatum.solvers import capped_partitions as capped_partitions
from relatum.solvers import linear_orders as linear_orders
from relatum.solvers import pairwise as pairwise
from relatum.solvers import partition_branch_and_cut as partition_branch_and_cut
from relatum.solvers import partition_heuristics as partition_heuristics
from relatum.solvers import preorders as preorders
from relatum.solvers import rowwise as rowwise
from relatum.solvers.general import solver as general_solver
from relatum.solvers.registry import SOLVERS

__all__ = [
    "SOLVERS",
    "assignment",
    "capped_partitions",
    "general_solver",
    "linear_orders",
    "pairwise",
    "partition_branch_and_cut",
    "partition_heuristics",
    "preorders",
    "rowwise",
]
