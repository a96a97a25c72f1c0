"""Orders: linear orders, and preorders, weak and partial orders. Begin with `linear`."""

# Importing a module registers its solvers.
from relatum.solvers.order import linear, preorders
from relatum.solvers.order.batch import order_many

__all__ = ["linear", "order_many", "preorders"]
