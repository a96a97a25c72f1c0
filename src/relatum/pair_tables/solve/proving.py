"""Bounds, with proofs, of components that are too large for the checker to bound itself."""

from __future__ import annotations

from relatum.array_types import Index
from relatum.problem import Partition, Problem, float_up
from relatum.proof import Certificate


def packed_certificate(problem: Problem, labels: Index) -> Certificate:
    """Return a bound by packing conflicts along a partition, and its proof.

    No clock decides how good it is: what is affordable is judged by the number of pairs.
    """
    # all solvers, which few components need
    from relatum.solvers import Control
    from relatum.solvers.partition import affordable_bound

    class Timeless(Control):
        def seconds(self) -> float:
            return 0.0

    bound, proof = affordable_bound(problem, Timeless(time_limit=10.0), Partition(labels))
    return Certificate(float_up(bound), proof)
