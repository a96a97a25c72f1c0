"""log2 Z from draws at several temperatures.

Where scores are multiplied by b, relations have probabilities 2^(b value) / Z(b). Two ends are
known. For b near 0 all relations are alike, and Z(b) is their number, where that is known: n! of
linear orders, Bell's number of clusterings. For large b one of them, y, may be frequent, and its
frequency gives log2 Z(b) = b value(y) - log2 p(y); this needs no number of relations, which
evidence, caps and groups may not leave known, but fails where many are equally good. From the end
to b = 1, ratios of neighbouring sums come from the draws of both (Bennett's acceptance ratio).
Temperatures are as far apart as the deviation of values allows. Errors are those of leaving out
one chain at a time, at all temperatures, widened for that there are few chains, such that two of
them cover about 95 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from relatum.array_types import Flags, Floats
from relatum.errors import SolverError
from relatum.probability.sampling.chains import Walks
from relatum.probability.sampling.drawn import Draws

FREQUENT = 0.25  # of the draws that are one relation, where it gets no colder
STEP = 2.0  # bits: the deviation of what two neighbouring temperatures disagree about
LEVELS = 40
WIDE = 1.7  # steps: two neighbours that disagree by more get one in between
FLAT = 1e-4  # bits by which all values together may differ where relations count as alike
SURE = 0.975  # where Student's distribution is made to agree with the normal one
POOR = 2.5  # bits of standard error of log2 Z above which a warning is given
TIED = 1e-9  # bits, per bit of the largest value


@dataclass(frozen=True)
class Gain:
    """log2 Z, more than the value of the start.

    Attributes
    ----------
    bits : float or None
        None if it could not be found.
    error : float
    levels : int
        Temperatures.
    why : str
        Why it could not be found.
    factors : tuple of float
        What scores were multiplied by, beginning with 1.
    """

    bits: float | None
    error: float = 0.0
    levels: int = 1
    why: str = ""
    factors: tuple[float, ...] = (1.0,)


def log2_sum(
    first: Walks, colder: Callable[[float, int], Walks], canonical: Callable[[Draws], NDArray[Any]]
) -> Gain:
    """Return the log2 of the sum of 2^(value - value of the start) over all relations.

    Parameters
    ----------
    first : Walks
        With the scores as they are.
    colder : callable (factor of the scores, number of the level) -> Walks
        Raises `SolverError` where time is up.
    canonical : callable (rows of draws) -> rows that are equal if the relations are
    """
    factors, values = [1.0], [first.values]
    walks = first
    while True:
        found = _best(walks, values[-1], canonical)
        if found[1].mean() >= FREQUENT:
            break
        deviation = float(values[-1].std())
        if len(factors) == LEVELS or deviation * factors[-1] <= 1e-6:
            return Gain(None, why="no relation became frequent when scores were multiplied")
        factors.append(factors[-1] + min(STEP / deviation, 4 * factors[-1]))
        try:
            walks = colder(factors[-1], len(factors))
        except SolverError:
            return Gain(None, why="there was no time for it")
        if not walks.complete:
            return Gain(None, why="there was no time for it")
        values.append(walks.values / factors[-1])
    top, is_it = found

    def frozen(kept: Flags) -> float:
        frequency = max(float(is_it[kept].mean()), 0.5 / is_it[kept].size)
        return factors[-1] * top - float(np.log2(frequency))

    return _left_out(factors, values, frozen)


def log2_sum_from_count(
    first: Walks, hotter: Callable[[float, int], Walks], count: float, largest: float
) -> Gain:
    """Return the same as `log2_sum`, from where all relations are alike.

    Parameters
    ----------
    first, hotter
        As `log2_sum` takes them; factors are below 1.
    count : float
        log2 of the number of relations.
    largest : float
        No value is larger than this, in bits, either way.
    """
    least = FLAT / max(1.0, largest)
    factors, values = [1.0], [first.values]
    waiting = [_next_factor(1.0, first.values, least)]
    while waiting:
        so_far = tuple(factors)
        if len(factors) == 2 * LEVELS:
            return Gain(None, why=f"{len(factors)} temperatures were not enough", factors=so_far)
        factor = waiting[-1]
        try:
            walks = hotter(factor, len(factors))
        except SolverError:
            walks = None
        if walks is None or not walks.complete:
            return Gain(None, why="there was no time for it", factors=so_far)
        own = walks.values / factor
        if (factors[-1] - factor) * float(own.std()) > WIDE * STEP and len(waiting) < LEVELS:
            waiting.append((factors[-1] + factor) / 2)
            continue
        waiting.pop()
        factors.append(factor)
        values.append(own)
        if not waiting and factor > least:
            waiting.append(_next_factor(factor, own, least))
    return gain_from_count(factors, values, count)


def gain_from_count(factors: list[float], values: list[Floats], count: float) -> Gain:
    """Return log2 Z from values at all factors, at the last of which all relations are alike."""
    return _left_out(factors, values, lambda kept: count)


def _next_factor(factor: float, values: Floats, least: float) -> float:
    """Return the factor of the next hotter draws; `least` if that is near enough."""
    deviation = float(values.std())
    down = factor - STEP / deviation if deviation > 0 else least
    return down if down > max(least, 0.02 * factor) else least


def _left_out(factors: list[float], values: list[Floats], end: Callable[[Flags], float]) -> Gain:
    """Return log2 Z from the last factor to the first, with the error of leaving out chains."""
    chains = np.arange(values[0].shape[0])
    whole = _bits(factors, values, end, np.ones(len(chains), np.bool_))
    left_out = np.array([_bits(factors, values, end, chains != c) for c in chains])
    k = len(chains)
    few = float(stdtrit(k - 1, SURE) / ndtri(SURE))  # Student's, as errors are of few chains
    error = few * float(np.sqrt((k - 1) / k * ((left_out - left_out.mean()) ** 2).sum()))
    return Gain(whole, error, len(factors), factors=tuple(factors))


def total(
    parts: list[tuple[float, Gain]],
    exact: Fraction,
    said: dict[str, Any],
    between: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[Fraction | None, float]:
    """Return log2 Z of all parts and its standard error; say in diagnostics what is to be said.

    Parameters
    ----------
    parts : list of (value of the start, gain)
        Of what was drawn.
    exact : Fraction
        log2 Z of everything else.
    said : dict
        Diagnostics.
    between : (least, most)
        What the best value, its bound and the number of relations leave for log2 Z.
    """
    said["temperatures"] = max((gain.levels for _, gain in parts), default=0)
    said["log2 Z between"] = between
    bits, error = exact, 0.0
    for start, gain in parts:
        if gain.bits is None:
            said["log2 Z"] = f"unknown: {gain.why}"
            return None, float("nan")
        bits += Fraction(start) + Fraction(gain.bits)
        error = float(np.hypot(error, gain.error))
    said["error of log2 Z"] = error
    slack = 4 * error + 1e-6 * max(1.0, abs(float(bits)))
    if not between[0] - slack <= bits <= between[1] + slack:
        said["log2 Z"] = (
            f"unknown: {float(bits):.6g} is not between {between[0]:.6g} and {between[1]:.6g}, as "
            "the best value, its bound and the number of relations say"
        )
        return None, float("nan")
    if error > POOR:
        told = f"log2 Z has a standard error of {error:.2g} bits: ask for more draws (draws)."
        said["warning"] = f"{said['warning']} {told}" if said.get("warning") else told
    for end, outer in zip(between, (max, min), strict=True):
        bits = outer(bits, Fraction(end)) if np.isfinite(end) else bits
    return bits, error


def _best(
    walks: Walks, values: Floats, canonical: Callable[[Draws], NDArray[Any]]
) -> tuple[float, Flags]:
    """Return the value of the most frequent of the best relations, and which draws are it."""
    top = float(values.max())
    chain, row = np.nonzero(values >= top - TIED * max(1.0, float(np.abs(values).max())))
    rows = canonical(walks.draws[chain, row])
    _, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    own = which.ravel() == counts.argmax()
    is_it = np.zeros(values.shape, np.bool_)
    is_it[chain[own], row[own]] = True
    return top, is_it


def _bits(
    factors: list[float], values: list[Floats], end: Callable[[Flags], float], kept: Flags
) -> float:
    """Return log2 Z from some of the chains; `end` is that of the last factor."""
    bits = end(kept)
    for k in range(len(factors) - 1):
        step = factors[k + 1] - factors[k]
        bits -= _log2_ratio(step * values[k][kept].ravel(), step * values[k + 1][kept].ravel())
    return bits


def _log2_ratio(hot: Floats, cold: Floats) -> float:
    """Return the log2 of the ratio of two sums, cold to hot, by Bennett's acceptance ratio.

    Parameters
    ----------
    hot, cold : arrays
        Of draws of either, the log2 of the ratio of their weights.

    Examples
    --------
    >>> round(_log2_ratio(np.full(5, 2.0), np.full(7, 2.0)), 9)
    2.0
    """
    more = float(np.log2(len(hot) / len(cold)))

    def excess(r: float) -> float:
        # falls in r; bits beyond a thousand are as good as infinite
        up = np.exp2(np.clip(r + more - hot, -1000, 1000))
        down = np.exp2(np.clip(cold - r - more, -1000, 1000))
        return float((1 / (1 + up)).sum() - (1 / (1 + down)).sum())

    low = min(hot.min(), cold.min()) - 60.0 - abs(more)
    high = max(hot.max(), cold.max()) + 60.0 + abs(more)
    for _ in range(100):
        middle = (low + high) / 2
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return float((low + high) / 2)
