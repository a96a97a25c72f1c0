"""Orders: linear orders, and preorders, weak and partial orders.

`linear` and `preorders` register the solvers, `branch_and_cut` proves both kinds on a
`pair_relaxation`, and `batch` orders many small problems at once. This room imports problem,
proof, lp, kernels, reductions and what all solvers share. Begin with `linear`.
"""

# Importing a module registers its solvers.
from relatum.solvers.order import linear, preorders
from relatum.solvers.order.batch import order_many

__all__ = ["linear", "order_many", "preorders"]
