"""Learning without labels: candidates are a mixture of pairs that match and pairs that do not.

The model of Fellegi and Sunter. Given whether a pair matches, its fields agree or not independently
of each other: of pairs that match, a share m of a field is at a level, of others a share u, and the
level is worth log2(m / u) bits. All shares, and how many candidates match, are found by expectation
maximization (EM): the likelihood never falls. Pairs whose entities are known are kept as they are.

Fields are compared by their first scale, the same values by how rare they are; a missing value
says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relatum.array_types import Floats, Index
from relatum.records.comparison import WHOLE, Levels, Scale
from relatum.records.level_bits import Weights

ROUNDS = 200  # of EM, at most
SMALL = 1e-7  # of the log-likelihood: with less gained in a round, EM ends
STILL = 1e-3  # change of probabilities below which a search under a constraint ends
PRIOR = 1.0  # pairs at each level, of either kind, that are taken for granted: no share is zero
MOST_BITS = 12.0  # of one field: what few pairs say is not trusted beyond


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares of levels among pairs that match and pairs that do not.

    Attributes
    ----------
    share : float
        Of candidates that match.
    m, u : lists of float64 arrays
        For each field, shares of its categories among matching and other pairs.
    likelihood : list of float
        Penalized log-likelihood, in nats, after each round.
    """

    share: float
    m: list[Floats]
    u: list[Floats]
    likelihood: list[float]

    def log_odds(self, codes: Sequence[Index]) -> Floats:
        """Return log-odds, in bits, of pairs with such categories, -1 for missing values."""
        out = np.full(len(codes[0]), np.log2(self.share) - np.log2(1 - self.share))
        for own, m, u in zip(codes, self.m, self.u, strict=True):
            out += np.append(np.log2(m / u), 0.0)[own]
        return out


@dataclass(frozen=True)
class _Place:
    """Where the categories of a field come from: rows of the levels."""

    missing: int
    main: int
    rarity: int | None
    size: int


def places_of(scales: Sequence[Scale]) -> list[_Place]:
    """Return, for each field, which scales its categories are made of."""
    out = []
    for k, scale in enumerate(scales):
        if scale.what != "missing":
            continue
        fields = [n for n, other in enumerate(scales) if other.field == scale.field]
        rarity = next((n for n in fields if scales[n].what == "rarity"), None)
        more = 0 if rarity is None else len(scales[rarity].levels) - 1
        out.append(_Place(k, k + 1, rarity, len(scales[k + 1].levels) + more))
    return out


def categories(scales: Sequence[Scale], levels: Levels) -> list[Index]:
    """Return the category of each field of each pair; -1 where a value is missing."""
    out = []
    for place in places_of(scales):
        own = levels[place.main].astype(np.int64)
        if place.rarity is not None:
            top = own == len(scales[place.main].levels) - 1
            own = own + np.where(top, levels[place.rarity], 0)
        out.append(np.where(levels[place.missing] > 0, -1, own))
    return out


def sizes_of(scales: Sequence[Scale]) -> list[int]:
    """Return how many categories each field has."""
    return [place.size for place in places_of(scales)]


def _shares(codes: Index, weights: Floats, size: int) -> Floats:
    given = codes >= 0
    counts = np.bincount(codes[given], weights[given], minlength=size) + PRIOR
    return np.asarray(counts / counts.sum())


def _penalty(shares: Sequence[Floats]) -> float:
    return float(sum(PRIOR * np.log(s).sum() for s in shares))


def learn_mixture(
    codes: Sequence[Index],
    sizes: Sequence[int],
    start: Floats,
    known: NDArray[np.int8] | None = None,
    ends: Index | None = None,
    rounds: int = ROUNDS,
) -> Mixture:
    """Find the most probable shares by EM.

    Parameters
    ----------
    codes : sequence of int64 arrays (pairs,)
        Categories of each field, -1 for missing values.
    sizes : sequence of int
        How many categories each field has.
    start : float64 array (pairs,)
        How probable it is at first that a pair matches.
    known : int8 array (pairs,), optional
        1 and 0 for pairs that are known to match or not, -1 for others.
    ends : int64 array (pairs, 2), optional
        The records of each pair, if a record matches at most one other: its probabilities then
        add up to at most 1. This is no longer EM, and the likelihood may fall.
    rounds : int
    """
    fixed = np.full(len(start), -1, np.int8) if known is None else known
    likely = np.where(fixed >= 0, fixed, start).astype(np.float64)
    told: list[float] = []
    for _ in range(rounds):
        share = float((likely.sum() + PRIOR) / (len(likely) + 2 * PRIOR))
        m = [_shares(own, likely, size) for own, size in zip(codes, sizes, strict=True)]
        u = [_shares(own, 1 - likely, size) for own, size in zip(codes, sizes, strict=True)]
        yes, no = (np.full(len(start), np.log(x)) for x in (share, 1 - share))
        for own, a, b in zip(codes, m, u, strict=True):
            yes += np.append(np.log(a), 0.0)[own]
            no += np.append(np.log(b), 0.0)[own]
        each = np.where(fixed < 0, np.logaddexp(yes, no), np.where(fixed == 1, yes, no))
        prior = PRIOR * (np.log(share) + np.log(1 - share)) + _penalty(m) + _penalty(u)
        told.append(float(each.sum() + prior))
        with np.errstate(over="ignore"):
            found = np.where(fixed >= 0, fixed, 1 / (1 + np.exp(no - yes)))
        if ends is not None:
            found = _at_most_one(found, ends)
            if np.abs(found - likely).max(initial=0.0) < STILL:
                break
        likely = found
        if ends is None and len(told) > 1 and told[-1] - told[-2] <= SMALL * abs(told[-1]):
            break
    return Mixture(share, m, u, told)


def _at_most_one(likely: Floats, ends: Index) -> Floats:
    """Return probabilities that add up to at most 1 for each record."""
    sums = np.bincount(ends.ravel(), np.repeat(likely, 2))
    return np.asarray(likely / np.maximum(1.0, sums[ends].max(axis=1)))


def first_guess(scales: Sequence[Scale], levels: Levels, pairs: Index) -> Floats:
    """Return how probable it is, at first sight, that candidates match.

    A pair looks like a match if each is the most similar to the other, and they are similar: by the
    mean of the levels of all fields that are given.
    """
    like, count = np.zeros(levels.shape[1]), np.zeros(levels.shape[1])
    for place in places_of(scales):
        given = levels[place.missing] == 0
        like += np.where(given, levels[place.main] / (len(scales[place.main].levels) - 1), 0)
        count += given
    whole = [k for k, scale in enumerate(scales) if scale.field == WHOLE and scale.what != "codes"]
    for k in whole:
        like += levels[k] / (len(scales[k].levels) - 1)
        count += 1
    like /= np.maximum(1, count)
    best = np.zeros(int(pairs.max(initial=0)) + 1)
    for end in (0, 1):
        np.maximum.at(best, pairs[:, end], like)
    mutual = (like >= best[pairs[:, 0]]) & (like >= best[pairs[:, 1]])
    usual = float(np.quantile(like[~mutual], 0.9)) if (~mutual).any() else 0.5
    return np.where(mutual & (like > usual), 0.9, 0.02)


def weights_of_mixture(mixture: Mixture, scales: tuple[Scale, ...]) -> Weights:
    """Return the bits of levels that a mixture says."""
    tables = [np.zeros(len(scale.levels)) for scale in scales]
    for place, m, u in zip(places_of(scales), mixture.m, mixture.u, strict=True):
        bits = np.clip(np.log2(m / u), -MOST_BITS, MOST_BITS)
        levels = len(scales[place.main].levels)
        tables[place.main] = bits[:levels].copy()
        # a missing value says nothing, yet its main level is the first: take that back
        tables[place.missing][1:] = -bits[0]
        if place.rarity is not None:
            tables[place.rarity] = np.append(0.0, bits[levels:] - bits[levels - 1])
    intercept = float(np.log2(mixture.share) - np.log2(1 - mixture.share))
    return Weights(scales, tables, intercept)
