"""Linear programs on HiGHS."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from relatum.array_types import Flags, Floats
from relatum.lp.protocol import LPResult

__all__ = ["HighsProgram"]

_INFEASIBLE = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


class HighsProgram:
    """max c x, A x <= b over a box, by HiGHS' dual simplex, warm-started."""

    def __init__(self, cost: Floats, lower: Floats, upper: Floats) -> None:
        self._n = len(cost)
        self._m = 0
        h = highspy.Highs()
        h.setOptionValue("output_flag", False)
        h.setOptionValue("threads", 1)  # the same answer on every machine
        h.setOptionValue("presolve", "off")  # keeps the basis for the next round
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self._n, 0
        lp.col_cost_ = -np.asarray(cost, dtype=np.float64)
        lp.col_lower_ = np.asarray(lower, dtype=np.float64)
        lp.col_upper_ = np.asarray(upper, dtype=np.float64)
        h.passModel(lp)
        self._h = h

    def add_rows(self, matrix: Any, rhs: Floats) -> None:
        m = matrix.shape[0]
        self._h.addRows(
            m,
            np.full(m, -highspy.kHighsInf),
            np.asarray(rhs, dtype=np.float64),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )
        self._m += m

    def keep_rows(self, keep: Flags) -> None:
        drop = np.flatnonzero(~keep).astype(np.int32)
        if drop.size:
            self._h.deleteRows(len(drop), drop)
            self._m -= len(drop)

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        index = np.arange(self._n, dtype=np.int32)
        self._h.changeColsBounds(self._n, index, lower, upper)

    def set_cost(self, cost: Floats) -> None:
        index = np.arange(self._n, dtype=np.int32)
        self._h.changeColsCost(self._n, index, -np.asarray(cost, dtype=np.float64))

    def solve(self, time_limit: float) -> LPResult:
        h = self._h
        # HiGHS counts the time of all runs of one object
        h.setOptionValue("time_limit", float(min(1e8, h.getRunTime() + max(1e-3, time_limit))))
        h.run()
        status = h.getModelStatus()
        solution = h.getSolution()
        x = np.array(solution.col_value, dtype=np.float64)
        y = np.maximum(0.0, -np.array(solution.row_dual, dtype=np.float64))
        if len(x) != self._n or len(y) != self._m:
            x, y = np.zeros(self._n), np.zeros(self._m)
        if status == highspy.HighsModelStatus.kOptimal:
            return LPResult("optimal", x, y)
        if status in _INFEASIBLE:
            return LPResult("infeasible", x, np.zeros(self._m))
        return LPResult("stopped", x, y)
