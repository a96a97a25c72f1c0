"""How long orders are annealed: cycles planned by the time limit, at a speed set beforehand.

What is found under a time limit should not depend on how fast the machine happens to be just now,
nor on what is done beside: whoever has the same time and seed plans the same cycles, with a proof
to come or without. Only where the machine is much slower or faster than planned, cycles go by the
clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from relatum.array_types import Index
from relatum.solvers.control import Control
from relatum.solvers.order.search import OrderSearch

__all__ = ["anneal_in_cycles", "planned_seconds", "step_seconds"]


@dataclass(frozen=True)
class CycleSettings:
    """Steps are those of annealing, of all chains; the speed is that of one processor."""

    first_steps: int = 2_000  # per element, of the first cycle
    longer: int = 4  # how many times as long each cycle is as the one before
    idle_cycles: int = 2  # in a row without a better order after which annealing ends
    timely: float = 0.93  # share of the time given to plan with: the speed is known only roughly
    least_steps: int = 500  # per element, below which a second cycle is not worth beginning
    fewest_steps: int = 50  # per element, of the first one, if time is very short
    step: float = 2e-7  # seconds of a step,
    element: float = 3e-9  # and for each element it looks at
    off: float = 2.5  # times as slow or fast as that, from which cycles go by the clock
    begun: float = 0.2  # share of the time limit that may have passed without changing the plan
    rungs: int = 2  # per doubling, to which the time is rounded where more has passed


SETTINGS = CycleSettings()


def step_seconds(n: int) -> float:
    """Return what a step takes, about, where there are n elements."""
    return SETTINGS.step + SETTINGS.element * n


def planned_seconds(control: Control) -> float:
    """Return the time left, rounded so that a moment more or less makes no difference."""
    left, s = control.remaining(), SETTINGS
    if left <= 0.0 or math.isinf(left):
        return left
    if left >= (1 - s.begun) * control.time_limit:
        return float(f"{control.time_limit:.3g}")
    return float(2.0 ** (math.floor(s.rungs * math.log2(left)) / s.rungs))


def anneal_in_cycles(
    search: OrderSearch, control: Control, seconds: float, tell: Callable[[Index], object]
) -> None:
    """Anneal in cycles of growing length until some of them improve nothing.

    A cycle after which the next one would not end in time is made as long as what is left: one
    long annealing is worth more than two of half its length.

    Parameters
    ----------
    search : OrderSearch
    control : Control
        Ends the search, whatever was planned.
    seconds : float
        To plan with; see `planned_seconds`.
    tell : callable (order)
        Called after every cycle.
    """
    n, s = len(search.order), SETTINGS
    pace = step_seconds(n)
    left = max(s.timely * seconds / pace, float(s.fewest_steps * n))
    steps, idle, least = s.first_steps * n, 0, 0
    while not control.expired() and idle < s.idle_cycles:
        if left < (1 + s.longer) * steps:  # no room for this cycle and the next
            steps = int(left)
        if steps < least:
            break
        began = control.seconds()
        idle = 0 if search.cycle(steps) else idle + 1
        left -= steps
        measured = (control.seconds() - began) / steps
        if not pace / s.off < measured < pace * s.off:
            left = s.timely * control.remaining() / max(measured, 1e-12)
        tell(search.order)
        steps, least = s.longer * steps, max(1, s.least_steps * n)
