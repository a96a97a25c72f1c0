"""Linear programs on SCIP's LP interface (SoPlex), as an alternative to HiGHS."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from relatum.array_types import Floats
from relatum.errors import MissingDependencyError
from relatum.lp.protocol import LPResult


class ScipProgram:
    """max c x, A x <= b over a box, by the LP solver that SCIP brings."""

    def __init__(
        self,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        expired: Callable[[], bool] | None = None,
    ) -> None:
        try:
            from pyscipopt import LP
        except ImportError as error:
            raise MissingDependencyError(
                "The SCIP engine needs the package pyscipopt; install relatum[scip], or use the "
                "default engine HiGHS."
            ) from error
        self._n = len(cost)
        self._lp = LP(sense="maximize")
        self._lp.addCols(
            [[] for _ in range(self._n)],
            objs=[float(v) for v in cost],
            lbs=[float(v) for v in lower],
            ubs=[float(v) for v in upper],
        )

    def add_rows(self, matrix: Any, rhs: Floats) -> None:
        columns, values = matrix.indices.tolist(), matrix.data.astype(float).tolist()
        entries = [
            list(zip(columns[s:e], values[s:e], strict=True))
            for s, e in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        ]
        infinity = self._lp.infinity()
        self._lp.addRows(entries, lhss=[-infinity] * len(entries), rhss=[float(v) for v in rhs])

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        for column, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
            self._lp.chgBound(column, low, high)

    def solve(self, time_limit: float) -> LPResult:
        from pyscipopt import SCIP_LPPARAM

        began, seconds = time.perf_counter(), min(1e8, max(1e-3, time_limit))
        self._lp.setRealParam(SCIP_LPPARAM.LPTILIM, seconds)
        m = self._lp.nrows()
        try:
            self._lp.solve()
        except Exception as error:  # SCIP raises nothing more special, for costs such as 1e300
            if "LP solver" not in str(error):
                raise
            return LPResult("stopped", np.zeros(self._n), np.zeros(m))
        if not self._lp.isOptimal():
            late = time.perf_counter() - began >= 0.9 * seconds
            status: Literal["stopped", "infeasible"] = "stopped" if late else "infeasible"
            return LPResult(status, np.zeros(self._n), np.zeros(m))
        x = np.array(self._lp.getPrimal(), dtype=np.float64)
        y = np.array(self._lp.getDual(), dtype=np.float64)
        # for a maximisation, the multiplier of a row a x <= b is non-negative
        return LPResult("optimal", x, np.maximum(0.0, y))
