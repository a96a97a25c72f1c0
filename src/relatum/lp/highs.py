"""Linear programs on HiGHS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import highspy
import numpy as np

from relatum.array_types import Floats
from relatum.lp.protocol import LPResult

INFEASIBLE = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


def new_model(cost: Floats, lower: Floats, upper: Floats, options: dict[str, Any]) -> Any:
    """Return a model that minimises over a box, without rows and without output."""
    model = highspy.Highs()
    # one thread: the same answer on every machine
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        model.setOptionValue(option, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(cost), 0
    lp.col_cost_ = np.asarray(cost, dtype=np.float64)
    lp.col_lower_ = np.asarray(lower, dtype=np.float64)
    lp.col_upper_ = np.asarray(upper, dtype=np.float64)
    model.passModel(lp)
    return model


def append_rows(model: Any, matrix: Any, lower: Floats, upper: Floats) -> None:
    """Append rows given as a scipy CSR array."""
    model.addRows(
        matrix.shape[0],
        np.asarray(lower, dtype=np.float64),
        np.asarray(upper, dtype=np.float64),
        matrix.nnz,
        matrix.indptr[:-1].astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
    )


def limit_time(model: Any, seconds: float) -> None:
    """Limit the next run; HiGHS counts the time of all runs of one model."""
    model.setOptionValue("time_limit", float(min(1e8, model.getRunTime() + max(1e-3, seconds))))


class Question:
    """Asks within a run of HiGHS whether to stop it; `close` raises what the question raised."""

    def __init__(self, expired: Callable[[], bool]) -> None:
        self._expired = expired
        self._error: BaseException | None = None

    def __call__(self, event: Any) -> None:
        try:
            if self._error is not None or self._expired():
                event.interrupt()
        except BaseException as error:  # Ctrl-C again: not through the frames of HiGHS
            self._error = error
            event.interrupt()

    def close(self) -> None:
        """Raise what was raised, if anything was."""
        if self._error is not None:
            raise self._error


class HighsProgram:
    """max c x, A x <= b over a box, by HiGHS' dual simplex, warm-started."""

    def __init__(
        self,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        expired: Callable[[], bool] | None = None,
    ) -> None:
        self._n = len(cost)
        self._m = 0
        # without presolve the basis is kept for the next round
        self._h = new_model(-np.asarray(cost, np.float64), lower, upper, {"presolve": "off"})
        self._question = Question(expired or (lambda: False))
        if expired is not None:
            self._h.cbSimplexInterrupt.subscribe(self._question)

    def add_rows(self, matrix: Any, rhs: Floats) -> None:
        append_rows(self._h, matrix, np.full(matrix.shape[0], -highspy.kHighsInf), rhs)
        self._m += matrix.shape[0]

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        index = np.arange(self._n, dtype=np.int32)
        self._h.changeColsBounds(self._n, index, lower, upper)

    def solve(self, time_limit: float) -> LPResult:
        h = self._h
        limit_time(h, time_limit)
        h.run()
        self._question.close()
        status = h.getModelStatus()
        solution = h.getSolution()
        x = np.array(solution.col_value, dtype=np.float64)
        y = np.maximum(0.0, -np.array(solution.row_dual, dtype=np.float64))
        if len(x) != self._n or len(y) != self._m:
            x, y = np.zeros(self._n), np.zeros(self._m)
        if status == highspy.HighsModelStatus.kOptimal:
            return LPResult("optimal", x, y)
        if status in INFEASIBLE:
            return LPResult("infeasible", x, np.zeros(self._m))
        return LPResult("stopped", x, y)
