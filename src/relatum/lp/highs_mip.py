"""Mixed-integer linear programs on HiGHS: minimise over rows that can be added between runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np

from relatum.array_types import Flags, Floats

__all__ = ["HighsMixedProgram", "MixedResult"]


@dataclass(frozen=True, eq=False)
class MixedResult:
    """The answer: the best point found (None if none) and a lower bound on the minimum."""

    status: Literal["optimal", "infeasible", "stopped"]
    x: Floats | None
    bound: float


class HighsMixedProgram:
    """min c x, lower <= A x <= upper over a box, some variables integer.

    Parameters
    ----------
    cost, lower, upper : arrays, one entry a variable
    expired : callable
        Asked now and then; the search stops when it returns True.
    """

    def __init__(
        self, cost: Floats, lower: Floats, upper: Floats, expired: Callable[[], bool]
    ) -> None:
        self._n = len(cost)
        h = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),  # the same answer on every machine
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-7),
        ):
            h.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self._n, 0
        lp.col_cost_ = np.asarray(cost, dtype=np.float64)
        lp.col_lower_ = np.asarray(lower, dtype=np.float64)
        lp.col_upper_ = np.asarray(upper, dtype=np.float64)
        h.passModel(lp)
        self._h = h
        self._expired = expired
        h.cbMipInterrupt.subscribe(self._ask)

    def _ask(self, event: Any) -> None:
        if self._expired():
            event.interrupt()

    def add_rows(self, matrix: Any, lower: Floats, upper: Floats) -> None:
        """Append rows given as a scipy CSR array over the first variables."""
        matrix = matrix.tocsr()
        self._h.addRows(
            matrix.shape[0],
            np.asarray(lower, dtype=np.float64),
            np.asarray(upper, dtype=np.float64),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )

    def set_integer(self, integer: Flags) -> None:
        """Say which variables are integer."""
        kinds = [
            highspy.HighsVarType.kInteger if v else highspy.HighsVarType.kContinuous
            for v in integer.tolist()
        ]
        index = np.arange(self._n, dtype=np.int32)
        self._h.changeColsIntegrality(self._n, index, np.array(kinds))

    def solve(self, time_limit: float, start: Floats | None = None) -> MixedResult:
        """Solve, from a feasible point if one is given."""
        h = self._h
        # HiGHS counts the time of all runs of one object
        h.setOptionValue("time_limit", float(min(1e8, h.getRunTime() + max(1e-3, time_limit))))
        if start is not None:
            point = highspy.HighsSolution()
            point.col_value = start.tolist()
            h.setSolution(point)
        h.run()
        status, info = h.getModelStatus(), h.getInfo()
        if status in (
            highspy.HighsModelStatus.kInfeasible,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        ):
            return MixedResult("infeasible", None, math.inf)
        x = np.array(h.getSolution().col_value, dtype=np.float64)
        found = info.primal_solution_status == highspy.kSolutionStatusFeasible
        point_found = x if found and len(x) == self._n else None
        done = status == highspy.HighsModelStatus.kOptimal
        bound = float(info.mip_dual_bound)
        if self._relaxed():
            bound = float(info.objective_function_value) if done else -math.inf
        if not math.isfinite(bound):
            bound = -math.inf
        return MixedResult("optimal" if done else "stopped", point_found, bound)

    def _relaxed(self) -> bool:
        return highspy.HighsVarType.kInteger not in list(self._h.getLp().integrality_)
