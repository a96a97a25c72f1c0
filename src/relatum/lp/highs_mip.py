"""Mixed-integer linear programs on HiGHS: minimise over rows that can be added between runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np

from relatum.array_types import Flags, Floats
from relatum.lp.highs import INFEASIBLE, Question, append_rows, limit_time, new_model


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
    cost, lower, upper : arrays, one entry per variable
    expired : callable
        Asked now and then; the search stops when it returns True.
    """

    def __init__(
        self, cost: Floats, lower: Floats, upper: Floats, expired: Callable[[], bool]
    ) -> None:
        self._n = len(cost)
        h = new_model(cost, lower, upper, {"mip_rel_gap": 0.0, "mip_abs_gap": 1e-7})
        self._h = h
        self._question = Question(expired)
        h.cbMipInterrupt.subscribe(self._question)

    def add_rows(self, matrix: Any, lower: Floats, upper: Floats) -> None:
        """Append rows given as a scipy CSR array over the first variables."""
        append_rows(self._h, matrix.tocsr(), lower, upper)

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
        limit_time(h, time_limit)
        if start is not None:
            point = highspy.HighsSolution()
            point.col_value = start.tolist()
            h.setSolution(point)
        h.run()
        self._question.close()
        status, info = h.getModelStatus(), h.getInfo()
        if status in INFEASIBLE:
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
