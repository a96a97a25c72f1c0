"""Several random walks from the most probable relation, and what they say of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.errors import SolverError
from relatum.inference import infer
from relatum.kernels.randomness import seed_state
from relatum.probability.exact.weights import infeasible
from relatum.probability.sampling.drawn import BATCHES, DrawnMarginals, Draws
from relatum.problem import Problem, Relation, require_memory
from relatum.solvers import Control

CHAINS = 8
LEAST = 100  # draws of each chain, however few are asked for: fewer say nothing of errors
SKIPPED = 0.25  # draws at the beginning that are not kept, per draw that is
ROUNDS = 25  # draws of one chain before it is another's turn, so that all get equally far
STARTING, SECONDS = 0.2, 10.0  # of the time limit, and seconds, at most, to find a start
ENOUGH = 100.0  # effective draws of the value below which a warning is given
ALIKE = 1.05  # the ratio of deviations of all chains and of each above which a warning is given
EXCHANGED = 0.05  # the share of exchanges of two temperatures below which a warning is given
WATCHED = 1000  # pairs that diagnostics look at


class Walker(Protocol):
    """A relation on its walk, in a kernel."""

    value: float

    def draw(
        self,
        out: NDArray[np.int32],
        values: Floats,
        steps: tuple[int, ...],
        random: NDArray[np.uint64],
        expired: Callable[[], bool] | None,
    ) -> int:
        """Walk, write down, and return the number of complete rows."""


@dataclass(frozen=True, eq=False)
class Walks:
    """What chains have drawn.

    Attributes
    ----------
    draws : (chains, draws of each, n) array
    values : (chains, draws of each) array
        What is gained over the start, in bits.
    complete : bool
        Whether there was time for all.
    """

    draws: Draws
    values: Floats
    complete: bool


@dataclass(frozen=True, eq=False)
class Start:
    """The relation that chains start from, its value, and a bound of all values."""

    relation: Relation
    value: float
    bound: float


def most_probable(problem: Problem, control: Control) -> Start:
    """Return the relation that chains start from, or say that there is none."""
    limit = max(1e-3, min(STARTING * control.time_limit, SECONDS, control.remaining()))
    estimate = infer(problem, time_limit=limit, seed=control.seed)
    if estimate.relation is None:
        if control.told_to_stop():
            raise KeyboardInterrupt
        if estimate.status.name == "INFEASIBLE":
            raise infeasible(problem)
        raise SolverError(
            "No feasible relation to start from was found in time; give more time (time_limit)."
        )
    return Start(estimate.relation, float(estimate.value), float(estimate.bound))


def walk(
    walkers: Sequence[Walker],
    n: int,
    draws: int,
    steps: tuple[int, ...],
    seed: tuple[int, ...],
    control: Control,
) -> Walks:
    """Let every walker draw its share; what is drawn first is forgotten.

    Parameters
    ----------
    walkers : sequence
        One for each chain.
    n : int
        Numbers of one draw.
    draws : int
        Of all chains together, at least.
    steps : tuple
        What a walker does between two draws.
    seed : tuple of int
    control : Control
    """
    each = max(LEAST, -(-draws // len(walkers)))
    each = -(-each // BATCHES) * BATCHES
    rows = each + int(np.ceil(each * SKIPPED))
    require_memory(
        6 * len(walkers) * rows * n,
        f"{each * len(walkers)} draws of {n} elements",
        "ask for fewer draws, or of parts of the problem",
    )
    out = np.empty((len(walkers), rows, n), np.uint16)
    values = np.empty((len(walkers), rows))
    states = [seed_state(*seed, chain) for chain in range(len(walkers))]
    done, buffer = 0, np.empty((ROUNDS, n), np.int32)
    ended = False
    while done < rows and not ended and not control.expired():
        step = min(ROUNDS, rows - done)
        for chain, (walker, state) in enumerate(zip(walkers, states, strict=True)):
            own = values[chain, done : done + step]
            if walker.draw(buffer[:step], own, steps, state, control.expired) < step:
                ended = True
                break
            out[chain, done : done + step] = buffer[:step]
        else:
            done += step
    if control.told_to_stop():
        raise KeyboardInterrupt
    kept = int(done / (1 + SKIPPED)) // BATCHES * BATCHES
    if kept < BATCHES * 2:
        raise SolverError(
            f"There was no time for draws within {control.time_limit:g} seconds; give more time "
            "(time_limit), or evidence that makes the problem smaller."
        )
    kept = min(kept, each)
    return Walks(out[:, done - kept : done], values[:, done - kept : done], done == rows)


def effective(x: Floats) -> float:
    """Return how many independent draws would say as much of the mean of x.

    From autocorrelations of all chains together, up to where two neighbours add to less than 0
    (Geyer).

    Parameters
    ----------
    x : (chains, draws of each) array
    """
    each = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * each, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :each].mean(axis=0) / each
    within = covariance[0] * each / (each - 1)
    total = covariance[0] + x.mean(axis=1).var(ddof=1)
    if total <= 1e-12 * max(1.0, float(np.abs(x).max())):
        return float(x.size)
    rho = 1 - (within - covariance) / total
    two = rho[: each // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(two < 0)
    two = np.minimum.accumulate(two[: ends[0] if len(ends) else len(two)])
    return float(min(x.size, x.size / max(1e-9, 2 * two.sum() - 1)))


def disagreement(x: Floats) -> float:
    """Return the ratio of the deviation of all half chains to that within them: 1 at best.

    Parameters
    ----------
    x : (chains, draws of each) array
    """
    half = x.shape[1] // 2
    halves = np.concatenate([x[:, :half], x[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if within + between <= 1e-24:
        return 1.0
    if within <= 1e-24:
        return float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def judged(
    walks: Walks,
    marginals: DrawnMarginals,
    pairs: tuple[Index, Index],
    exchanges: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return diagnostics of chains, with a key "warning" if they are poor.

    Parameters
    ----------
    walks : Walks
    marginals : DrawnMarginals
        Of the same draws.
    pairs : (i, j)
        Pairs to look at.
    exchanges : sequence of float, optional
        Which share of exchanges between neighbouring temperatures was accepted, if there were any.
    """
    means = marginals.batch_means(*pairs)
    p = means.mean(axis=1)
    open_ = (p > 0.02) & (p < 0.98)
    halves = means.reshape(len(means), marginals.chains, 2, -1).mean(axis=(1, 3))
    count = walks.values.size
    said: dict[str, Any] = {
        "chains": marginals.chains,
        "draws": count,
        "effective draws of the value": effective(walks.values),
        "disagreement of half chains": disagreement(walks.values),
        "largest difference of half chains, of pairs": float(
            np.abs(halves[:, 0] - halves[:, 1]).max(initial=0.0)
        ),
        "open pairs": float(open_.mean()) if len(p) else 0.0,
    }
    if open_.any():
        _, error = marginals.pairs(pairs[0][open_], pairs[1][open_])
        own = p[open_] * (1 - p[open_]) / error**2
        said["effective draws of open pairs, median"] = float(min(count, np.median(own)))
    if exchanges is not None:
        said["exchanges accepted"] = list(exchanges)
    said["warning"] = _warning(said, walks.complete)
    return said


def _warning(said: dict[str, Any], complete: bool) -> str | None:
    """Say what is poor, and what to do."""
    poor = []
    if not complete:
        poor.append(f"time was up after {said['draws']} draws")
    ratio, few = said["disagreement of half chains"], said["effective draws of the value"]
    if ratio > ALIKE:
        poor.append(f"chains disagree (their values deviate {ratio:.2f} times as much together)")
    least = min(few, said.get("effective draws of open pairs, median", few))
    if least < ENOUGH:
        poor.append(f"the draws are worth only {least:.0f} independent ones")
    least = min(said.get("exchanges accepted", ()), default=1.0)
    if least < EXCHANGED:
        poor.append(f"two temperatures exchanged only {least:.0%} of their relations")
    if not poor:
        return None
    hotter = ', for exchanges with hotter chains (method="tempering")'
    return (
        f"Probabilities by sampling are poor: {'; '.join(poor)}. Their errors may be larger than "
        f"said; ask for more draws (draws) and time (time_limit)"
        f"{'' if 'exchanges accepted' in said else hotter}, or give evidence."
    )


def some_pairs(i: Index, j: Index, seed: int) -> tuple[Index, Index]:
    """Return some of many pairs to look at."""
    if len(i) <= WATCHED:
        return i, j
    chosen = np.random.default_rng([seed, len(i)]).choice(len(i), WATCHED, replace=False)
    return i[chosen], j[chosen]


def picked(total: int, count: int, rng: np.random.Generator) -> Index:
    """Return which of all draws to show: each at most once, as long as there are enough."""
    return np.asarray(rng.choice(total, count, replace=count > total))
