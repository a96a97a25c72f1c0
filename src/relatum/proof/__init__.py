"""What is answered, and why it can be believed: estimates, certificates and their checker.

A `Certificate` holds a proof tree in a small vocabulary (`certificate`), `checker` computes
from it, without a solver, a bound on every feasible relation. This room imports `problem` and
kernels, nothing of solvers. Begin with `estimate`, then `certificate`.
"""

from relatum.proof.certificate import (
    FAMILIES,
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Proof,
    SparseRows,
    SubsetOrder,
)
from relatum.proof.checker import Verification, verify
from relatum.proof.conflicts import find_conflict, sentence_of, smallest
from relatum.proof.estimate import OPTIMAL_GAP, Estimate, Status, closes
from relatum.proof.order_rows import folded_half_rows
from relatum.proof.partition_rows import (
    LARGEST_OF_SQUARES,
    most_capped_pairs,
    odd_wheel_rows,
    path_rows,
    summed_squares,
    two_partition_rows,
)
from relatum.proof.propagation import Closure, Propagator
from relatum.proof.rounding import (
    LP_ROUNDING,
    checked_slack,
    gap_to_close,
    grid_of,
    round_up,
    sums_are_exact,
)

__all__ = [
    "FAMILIES",
    "LARGEST_OF_SQUARES",
    "LP_ROUNDING",
    "OPTIMAL_GAP",
    "Branch",
    "Certificate",
    "Closure",
    "Contract",
    "Cuts",
    "Decompose",
    "Estimate",
    "Fix",
    "Imply",
    "Leaf",
    "Merge",
    "Prices",
    "Proof",
    "Propagator",
    "SparseRows",
    "Status",
    "SubsetOrder",
    "Verification",
    "checked_slack",
    "closes",
    "find_conflict",
    "folded_half_rows",
    "gap_to_close",
    "grid_of",
    "most_capped_pairs",
    "odd_wheel_rows",
    "path_rows",
    "round_up",
    "sentence_of",
    "smallest",
    "summed_squares",
    "sums_are_exact",
    "two_partition_rows",
    "verify",
]
