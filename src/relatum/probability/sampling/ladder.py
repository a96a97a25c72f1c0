"""Chains at one temperature, or at a ladder of them that exchange their relations.

With `Task.tempered`, or where it costs little and nobody asked for a method by name, each chain has
hotter companions, down to where all relations are alike or as
many as `MOST`. After every draw neighbours may exchange their relations, such that
probabilities are kept (parallel tempering). So a chain may leave a region that has nothing probable
around it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats
from relatum.errors import SolverError
from relatum.kernels.randomness import seed_state
from relatum.probability.methods import Task
from relatum.probability.sampling.chains import (
    ALIKE,
    ENOUGH,
    LEAST,
    SKIPPED,
    Walker,
    Walks,
    disagreement,
    effective,
    walk,
)
from relatum.probability.sampling.drawn import BATCHES, Draws
from relatum.probability.sampling.normalizer import (
    Gain,
    gain_from_count,
    log2_sum,
    log2_sum_from_count,
)
from relatum.problem import require_memory
from relatum.solvers import Control

LITTLE = 100  # elements up to which "auto" exchanges relations with hotter chains anyway
MOST = 24  # temperatures of chains that exchange relations


@dataclass(frozen=True, eq=False)
class Walking:
    """How chains of one problem walk, at any temperature.

    Attributes
    ----------
    n : int
        Numbers of one draw.
    at : callable (factor) -> walkers
        At the start, with all scores multiplied by a factor.
    reheat : callable (walker, old factor, new factor)
    steps, few : tuple
        What a walker does between two draws; and where draws are only to say how large Z is.
    seed : tuple of int
    canonical : callable (rows of draws) -> rows that are equal if the relations are
    count : float or None
        log2 of the number of relations.
    largest : float
        No value is larger than this, in bits, either way.
    frozen : bool
        Whether log2 Z is rather looked for among the coldest relations than the hottest.
    """

    n: int
    at: Callable[[float], list[Any]]
    reheat: Callable[[Any, float, float], None]
    steps: tuple[int, ...]
    few: tuple[int, ...]
    seed: tuple[int, ...]
    canonical: Callable[[Draws], NDArray[Any]]
    count: float | None
    largest: float
    frozen: bool = False


@dataclass(frozen=True, eq=False)
class Drawn:
    """What chains have drawn, who drew it, log2 Z, and how often temperatures were exchanged.

    `exchanges` is None where there was but one temperature from the beginning.
    """

    walks: Walks
    walkers: list[Any]
    gain: Gain
    exchanges: list[float] | None = None


def drawn(walking: Walking, task: Task, control: Control) -> Drawn:
    """Let chains walk, and find log2 Z."""
    if task.tempered or (not task.patient and walking.n <= LITTLE):
        return _tempered(walking, task, control)
    walkers = walking.at(1.0)
    walks = walk(walkers, walking.n, task.draws, walking.steps, walking.seed, control)
    if not task.patient and walks.complete and _poor(walks):
        with suppress(SolverError):  # where there is no time for it, what there is must do
            return _tempered(walking, task, control)
    return Drawn(walks, walkers, _gain(walking, walks, walkers, control))


def _poor(walks: Walks) -> bool:
    """Say whether chains at one temperature seem not to get around."""
    return effective(walks.values) < ENOUGH or disagreement(walks.values) > ALIKE


def _moving(
    walking: Walking, walkers: list[Any], control: Control
) -> Callable[[float, int], Walks]:
    """Return short walks at any factor, from where the last ones ended.

    So that what chains have found at one temperature is not forgotten at the next.
    """
    last = 1.0

    def at(factor: float, level: int) -> Walks:
        nonlocal last
        for walker in walkers:
            walking.reheat(walker, last, factor)
        last = factor
        return walk(walkers, walking.n, 1, walking.few, (*walking.seed, level), control)

    return at


def _gain(walking: Walking, walks: Walks, walkers: list[Any], control: Control) -> Gain:
    """Return log2 Z by the end that is known, or the other."""
    half = control.child(None, control.remaining() / 2)
    at = _moving(walking, walkers, half)

    def hot() -> Gain:
        if walking.count is None:
            return Gain(None, why="nobody knows how many relations evidence and groups leave")
        return log2_sum_from_count(walks, at, walking.count, walking.largest)

    def cold() -> Gain:
        return log2_sum(walks, at, walking.canonical)

    first, second = (cold, hot) if walking.frozen or walking.count is None else (hot, cold)
    found = first()
    if found.bits is not None or half.expired():
        return found
    other = second()
    if other.bits is None:
        return Gain(None, why=f"{found.why}, and {other.why}")
    return other


def _tempered(walking: Walking, task: Task, control: Control) -> Drawn:
    """Find the temperatures by short walks, then walk with exchanges at all of them."""
    third = control.child(None, control.remaining() / 3)
    first = walking.at(1.0)
    pilot = walk(first, walking.n, 1, walking.few, walking.seed, third)
    at = _moving(walking, first, third)
    ladder = log2_sum_from_count(pilot, at, walking.count or 0.0, walking.largest)
    factors = ladder.factors[:MOST]
    walkers, walks, values, rates = exchanged(walking, factors, task.draws, control)
    whole = ladder.bits is not None and len(factors) == len(ladder.factors)
    if whole and walking.count is not None:
        gain = gain_from_count(list(factors), values, walking.count)
    else:
        gain = _gain(walking, walks, walkers[:: len(factors)], control)
    return Drawn(walks, walkers, gain, rates)


def exchanged(
    walking: Walking, factors: tuple[float, ...], draws: int, control: Control
) -> tuple[list[Walker], Walks, list[Floats], list[float]]:
    """Walk at several temperatures, and exchange relations of neighbours after every draw.

    Returns
    -------
    (walkers, walks, values, rates)
        All walkers; draws with the scores as they are; values at every temperature, in bits of
        the scores as they are; and the share of exchanges accepted between neighbours.
    """
    chains = list(zip(*[walking.at(factor) for factor in factors], strict=True))
    teams = [list(team) for team in chains]
    each = max(LEAST, -(-draws // len(teams)))
    each = -(-each // BATCHES) * BATCHES
    rows, n, levels = each + int(np.ceil(each * SKIPPED)), walking.n, len(factors)
    require_memory(
        6 * len(teams) * rows * n,
        f"{each * len(teams)} draws of {n} elements",
        "ask for fewer draws, or of parts of the problem",
    )
    out = np.empty((len(teams), rows, n), np.uint16)
    values = np.empty((levels, len(teams), rows))
    states = [
        [seed_state(*walking.seed, levels, chain, level) for level in range(levels)]
        for chain in range(len(teams))
    ]
    rng = np.random.default_rng([*walking.seed, levels])
    tried, accepted, buffer = np.zeros(levels), np.zeros(levels), np.empty((1, n), np.int32)
    done, one = 0, np.empty(1)
    while done < rows and not control.expired():
        for chain, team in enumerate(teams):
            for level in reversed(range(levels)):  # the last one written is that of level 0
                steps = walking.few if level else walking.steps
                team[level].draw(buffer, one, steps, states[chain][level], control.expired)
                values[level, chain, done] = one[0] / factors[level]
            out[chain, done] = buffer[0]
            for level in range(done % 2, levels - 1, 2):
                tried[level] += 1
                accepted[level] += _exchange(walking, team, level, factors, rng)
        if not control.expired():
            done += 1
    if control.told_to_stop():
        raise KeyboardInterrupt
    kept = min(int(done / (1 + SKIPPED)) // BATCHES * BATCHES, each)
    if kept < BATCHES * 2:
        raise SolverError(
            f"There was no time for draws within {control.time_limit:g} seconds; give more time "
            "(time_limit), or evidence that makes the problem smaller."
        )
    some = slice(done - kept, done)
    walks = Walks(out[:, some], values[0][:, some], done == rows)
    rates = (accepted / np.maximum(tried, 1))[: levels - 1].tolist()
    return [w for team in teams for w in team], walks, [v[:, some] for v in values], rates


def _exchange(
    walking: Walking,
    team: list[Any],
    level: int,
    factors: tuple[float, ...],
    rng: np.random.Generator,
) -> bool:
    """Let the chains at two neighbouring temperatures exchange their relations, or not."""
    cold, hot = factors[level], factors[level + 1]
    gained = team[level + 1].value / hot - team[level].value / cold
    if np.log2(rng.random() + 1e-300) >= (cold - hot) * gained:
        return False
    team[level], team[level + 1] = team[level + 1], team[level]
    walking.reheat(team[level], hot, cold)
    walking.reheat(team[level + 1], cold, hot)
    return True
