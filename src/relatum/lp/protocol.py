"""The small protocol that engines for linear programs follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from relatum.array_types import Floats


@dataclass(frozen=True, eq=False)
class LPResult:
    """The answer of an engine.

    `multipliers` are clipped at zero, one per row; any of them give a valid bound. An engine that
    cannot be stopped does not begin if it would end too late, and says so.
    """

    status: Literal["optimal", "infeasible", "stopped", "late"]
    x: Floats
    multipliers: Floats


class LinearProgram(Protocol):
    """max c x, A x <= b, lower <= x <= upper; rows can be added, columns' bounds changed.

    Engines that can ask `expired` while they solve, and stop if it says so.
    """

    def __init__(
        self,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        expired: Callable[[], bool] | None = None,
    ) -> None: ...

    def add_rows(self, matrix: Any, rhs: Floats) -> None:
        """Append rows given as a scipy CSR array."""

    def set_bounds(self, lower: Floats, upper: Floats) -> None:
        """Change the box."""

    def solve(self, time_limit: float) -> LPResult:
        """Solve from the last basis."""
