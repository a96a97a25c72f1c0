"""Linear programs on SCIP's LP interface (SoPlex), as an alternative to HiGHS."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from relatum.array_types import Floats
from relatum.errors import MissingDependencyError
from relatum.lp.protocol import LPResult

AT_ONCE = 10_000  # columns between two questions whether time is up: SCIP takes lists of Python
# seconds per column before the solver looks at the clock for the first time, about
BEGIN_SECONDS = 1.5e-6


class ScipProgram:
    """max c x, A x <= b over a box, by the LP solver that SCIP brings.

    SCIP cannot be asked to stop while it solves, and looks at the clock itself only once it has
    begun. A program is not solved where there is no time for that, or was not to write it down.
    """

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
        self._n, self._m = len(cost), 0
        self._lp = LP(sense="maximize")
        arrays = [np.asarray(v, dtype=np.float64) for v in (cost, lower, upper)]
        self._whole = True
        self._lower, self._upper = arrays[1].copy(), arrays[2].copy()
        for begin in range(0, self._n, AT_ONCE):
            if begin and expired is not None and expired():
                self._whole = False
                break
            objs, lbs, ubs = (v[begin : begin + AT_ONCE].tolist() for v in arrays)
            self._lp.addCols([[] for _ in objs], objs=objs, lbs=lbs, ubs=ubs)

    def add_rows(self, matrix: Any, rhs: Floats) -> None:
        self._m += matrix.shape[0]
        if not self._whole:
            return
        columns, values = matrix.indices.tolist(), matrix.data.astype(float).tolist()
        entries = [
            list(zip(columns[s:e], values[s:e], strict=True))
            for s, e in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        ]
        infinity = self._lp.infinity()
        self._lp.addRows(entries, lhss=[-infinity] * len(entries), rhss=[float(v) for v in rhs])

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        if not self._whole:
            return
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        for column in changed.tolist():
            self._lp.chgBound(column, float(lower[column]), float(upper[column]))
        self._lower, self._upper = lower.copy(), upper.copy()

    def solve(self, time_limit: float) -> LPResult:
        from pyscipopt import SCIP_LPPARAM

        began, seconds = time.perf_counter(), min(1e8, max(1e-3, time_limit))
        self._lp.setRealParam(SCIP_LPPARAM.LPTILIM, seconds)
        m = self._m
        if not self._whole or seconds < BEGIN_SECONDS * self._n:
            return LPResult("late", np.zeros(self._n), np.zeros(m))
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
