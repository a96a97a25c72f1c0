"""Cycles are planned by the time limit; the clock matters on a machine unlike that planned for."""

import itertools
import math

import numpy as np
import pytest

from relatum.solvers import Control
from relatum.solvers.order.cycles import (
    SETTINGS,
    anneal_in_cycles,
    planned_seconds,
    step_seconds,
)

N = 100
ALWAYS = itertools.repeat(True)


class Time:
    """A clock that goes when someone works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Search:
    """Takes as long as planned, times a factor, and finds better orders in some cycles."""

    def __init__(self, time, factor, better=ALWAYS):
        self.order, self.time, self.better = np.arange(N), time, iter(better)
        self.factor, self.steps = factor, []

    def cycle(self, steps):
        self.steps.append(steps)
        self.time.now += self.factor * steps * step_seconds(N)
        return next(self.better)


def planned(seconds, factor, limit=None, better=ALWAYS):
    time = Time()
    search = Search(time, factor, better)
    control = Control(time_limit=seconds if limit is None else limit, clock=time)
    anneal_in_cycles(search, control, seconds, lambda order: None)
    return search.steps, time.now


@pytest.mark.parametrize("seconds", [0.01, 0.3, 2.0, 40.0])
def test_the_same_cycles_on_a_machine_somewhat_slower_or_faster(seconds):
    steps, used = planned(seconds, 1.0)
    assert used <= max(seconds, SETTINGS.fewest_steps * N * step_seconds(N))
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert planned(seconds, factor, limit=100.0)[0] == steps


def test_cycles_grow_until_what_is_left_is_one():
    steps, used = planned(60.0, 1.0)
    assert steps[0] == SETTINGS.first_steps * N
    assert all(b == SETTINGS.longer * a for a, b in itertools.pairwise(steps[:-1]))
    assert used == pytest.approx(SETTINGS.timely * 60.0, rel=1e-6)


def test_cycles_that_improve_nothing_end_it():
    better = itertools.chain([True, False, True], itertools.repeat(False))
    assert len(planned(math.inf, 1.0, better=better)[0]) == 3 + SETTINGS.idle_cycles


@pytest.mark.parametrize("factor", [0.1, 5.0, 30.0])
def test_a_machine_unlike_that_planned_for_goes_by_the_clock(factor):
    _, used = planned(20.0, factor)
    first = factor * SETTINGS.first_steps * N * step_seconds(N)
    assert 10.0 < used < 20.0 + first


def test_a_moment_more_or_less_plans_the_same():
    time = Time()
    control = Control(time_limit=2.0, clock=time)
    whole = planned_seconds(control)
    assert whole == 2.0
    for now in (0.001, 0.02, 0.05):
        time.now = now
        assert planned_seconds(control) == whole
        assert planned_seconds(control.child(None, control.remaining())) == whole
    time.now = 0.5
    assert planned_seconds(control) <= 1.5
    time.now = 0.501
    assert planned_seconds(control) == pytest.approx(math.sqrt(2.0))
    time.now = 3.0
    assert planned_seconds(control) == 0.0
    assert planned_seconds(Control(clock=time)) == math.inf
