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
SLICE = 0.25  # seconds that it works before it is asked anew, from the basis that it has reached


class ScipProgram:
    """max c x, A x <= b over a box, by the LP solver that SCIP brings.

    SCIP cannot be asked to stop while it solves; so it solves for a moment at a time. It looks at
    the clock only once it has begun: a program is not solved where there is no time for that, or
    was not to write it down.
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
        self._n, self._m, self._expired = len(cost), 0, expired or (lambda: False)
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
        none = np.zeros(self._n), np.zeros(self._m)
        end = time.perf_counter() + min(1e8, max(1e-3, time_limit))
        begin = BEGIN_SECONDS * self._n
        if not self._whole or end - time.perf_counter() < begin:
            return LPResult("late", *none)
        piece = max(SLICE, 4 * begin)
        while True:
            status = self._solve_for(min(piece, max(1e-3, end - time.perf_counter())))
            if status != "stopped" or time.perf_counter() >= end or self._expired():
                break
        if status != "optimal":
            return LPResult("infeasible" if status == "infeasible" else "stopped", *none)
        x = np.array(self._lp.getPrimal(), dtype=np.float64)
        y = np.array(self._lp.getDual(), dtype=np.float64)
        # for a maximisation, the multiplier of a row a x <= b is non-negative
        return LPResult("optimal", x, np.maximum(0.0, y))

    def _solve_for(self, seconds: float) -> Literal["optimal", "infeasible", "stopped", "failed"]:
        """Solve for so long, from the basis that was reached before."""
        from pyscipopt import SCIP_LPPARAM

        began = time.perf_counter()
        self._lp.setRealParam(SCIP_LPPARAM.LPTILIM, seconds)
        try:
            self._lp.solve()
        except Exception as error:  # SCIP raises nothing more special, for costs such as 1e300
            if "LP solver" not in str(error):
                raise
            return "failed"
        if self._lp.isOptimal():
            return "optimal"
        late = time.perf_counter() - began >= 0.9 * seconds
        return "stopped" if late else "infeasible"
