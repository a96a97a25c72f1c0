"""One constant for all scores, learned so that the clusters are right and not the pairs.

Scores learned pair by pair know nothing of what follows: that a cluster holds one record of each
source, or that it is transitive. Two rules say which constant, in bits, makes up for that:

"f1"
    The clusters of labelled elements are found at many offsets, and compared with the truth. Of
    the offsets about as good as the best, the middle one counts: a few ties decide less then.
    Entities are divided into folds; each fold says what an offset chosen without it is worth. If
    that is no gain, the offset is 0.
"likelihood"
    For two sources without duplicates. Among all matchings of the listed pairs, with probability
    proportional to 2 ** (sum of scores and offsets), as many pairs are expected as are true.
    See `relatum.probability.matchings` for how they are counted: by messages, which is exact on
    trees and within a per cent elsewhere.

Both run away where every element has a partner: no matching is too large then. They end at
`Search.most` bits, and a `CalibrationWarning` says so.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats, Index
from relatum.errors import CalibrationWarning, DataError
from relatum.pair_tables.options import Settings
from relatum.pair_tables.scoring import learned_background
from relatum.pair_tables.solve.labelled import Labelled, clusters_at, codes_of, pairs_once
from relatum.problem import UNSCORED, real_number, shown

Method = Literal["auto", "f1", "likelihood"]


@dataclass(frozen=True)
class Search:
    """How offsets are tried: each number with its unit, and why it is what it is."""

    most: float = 12.0  # bits either way: a factor of 4,096 in the odds of every pair
    step: float = 1.0  # bits, of the first round; F1 changes little over one
    fine: float = 0.25  # bits, of the second round
    exact: float = 0.01  # bits, of what a likelihood says
    narrow: float = 4.0  # bits of a plateau that needs no second round: its middle is as good
    level: float = 0.002  # F1 below the best that still counts as the best: what few ties move
    hopeless: float = 0.1  # F1 below the best, three times in a row: nobody looks further
    folds: int = 5  # of entities
    # standard errors that a gain must exceed; one where groups exclude, for scores know nothing of
    # that, and a gain is expected
    doubts: float = 2.0
    # a Gaussian that a likelihood is multiplied by, where few labels would say anything: bits
    expected: float = 0.0
    spread: float = math.inf


@dataclass(frozen=True)
class Offset:
    """A constant to add to scores, and what it was learned from.

    Attributes
    ----------
    bits : float
        The constant.
    method : str
        "f1" or "likelihood".
    curve : tuple of (offset, value)
        What was tried: pairwise F1, or the expected number of pairs, at each offset.
    capped : bool
        Whether it would be larger still, or smaller, if it were allowed to.
    background : float
        The bits of unlisted pairs that were used with it.
    held_out, without : float or None
        F1 of entities that the offset was not chosen by, and without an offset.
    """

    bits: float
    method: str
    curve: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    capped: bool = False
    background: float = 0.0
    held_out: float | None = None
    without: float | None = None

    def __str__(self) -> str:
        what = {"f1": "pairwise F1", "likelihood": "the likelihood of the matching"}[self.method]
        out = f"offset {self.bits:+.2f} bits by {what}, background {self.background:.4g}"
        if self.held_out is not None and self.without is not None:
            out += f"; F1 held out {self.held_out:.3f}, without an offset {self.without:.3f}"
        return out + (" (capped)" if self.capped else "")


def learn_offset(
    i: ArrayLike,
    j: ArrayLike,
    bits: ArrayLike,
    entity: ArrayLike,
    groups: ArrayLike | None = None,
    background: float | Literal["learned"] = UNSCORED,
    method: Method = "auto",
    max_size: int | None = None,
) -> Offset:
    """Learn the constant to add to scores so that clusters of labelled elements are right.

    The scores should be of pairs that whatever gave the scores has not learned from: of other
    entities, or out of fold.

    Parameters
    ----------
    i, j : integer arrays
        The ends of scored pairs, elements numbered from 0.
    bits : float array
        Their log-odds.
    entity : array (n,)
        The true entity of each element: numbers or texts; -1, NaN, None where it is not known.
    groups : array (n,), optional
        No cluster holds two elements of one group.
    background : float or "learned"
        The bits of pairs that are not listed; "learned" takes them from the labels, again at
        every offset.
    method : {"auto", "f1", "likelihood"}
        See `relatum.pair_tables.offsets`. "auto" is "likelihood" for two groups, which chance
        moves less, unless it runs away, and "f1" otherwise.
    max_size : int, optional
        The largest cluster allowed.

    Returns
    -------
    Offset

    Examples
    --------
    Pairs of two sources of five elements each. Those of 4 and 3 bits are true, and so is that of
    -1, but not that of -2; two elements of either source have no partner.

    >>> found = learn_offset(
    ...     [0, 1, 2, 3, 0, 4], [5, 6, 7, 8, 6, 9], [4.0, 3.0, -1.0, -2.0, -6.0, -5.0],
    ...     [0, 1, 2, 3, 4, 0, 1, 2, 5, 6], [0] * 5 + [1] * 5)
    >>> found.bits > 1, found.method
    (True, 'likelihood')
    """
    labels = codes_of(entity, "entity")
    own = None if groups is None else codes_of(groups, "groups")
    if own is not None and len(own) != len(labels):
        raise DataError(f"groups has {len(own)} elements, and entity {len(labels)}.")
    learn = isinstance(background, str) and background == "learned"
    level = 0.0 if learn else real_number(background, 'The background, in bits or "learned",')
    pairs = pairs_once(i, j, bits, len(labels))
    case = Labelled(pairs, labels, own, Settings(level, max_size), learn)
    return told(best_offset(case, method))


def best_offset(case: Labelled, method: str = "auto", search: Search | None = None) -> Offset:
    """Return the offset for labelled elements; see `learn_offset`."""
    if not isinstance(method, str) or method not in ("auto", "f1", "likelihood"):
        raise DataError(f'method is "auto", "f1" or "likelihood", got {shown(method)}.')
    if not (np.bincount(case.labels[case.labels >= 0]) > 1).any():
        raise DataError(
            "An offset is learned from entities with at least two labelled elements, and there "
            "are none; give more labels, or the offset as a number of bits."
        )
    search = Search() if search is None else search
    if method == "auto":
        if not case.is_matching or case.score is not None:
            return _by_f1(case, search)
        found = _by_likelihood(case, search)
        return replace(_by_f1(case, search), capped=True) if found.capped else found
    if method == "f1":
        return _by_f1(case, search)
    if not case.is_matching:
        raise DataError(
            'method="likelihood" is for two sources without duplicates: groups= names two groups, '
            'and every element has one; use method="f1".'
        )
    return _by_likelihood(case, search)


def told(found: Offset, stacklevel: int = 3) -> Offset:
    """Return an offset, and warn if it is where the search ended."""
    if found.capped:
        warnings.warn(
            f"Labels set no limit to the offset, which is {found.bits:+.3g} bits here: nearly "
            "every labelled element has a partner, or none; label elements as they come, also "
            "those without a partner, or give the offset as a number of bits.",
            CalibrationWarning,
            stacklevel=stacklevel,
        )
    return found


# --- by F1


def _by_f1(case: Labelled, search: Search) -> Offset:
    tried = _Tried(case, search)
    tried.coarse()
    lowest, highest = _plateau(*tried.curve(), search)
    if highest - lowest < search.narrow:
        tried.at(np.arange(lowest - search.step, highest + search.step + 1e-9, search.fine))
    x, y = tried.curve()
    bits, capped = _middle(x, y, search)
    held_out, without, doubt = tried.held_out()
    if held_out - without <= doubt * (1 if case.groups is not None else search.doubts):
        bits, capped = 0.0, False
    curve = tuple(zip(x.tolist(), y.tolist(), strict=True))
    background = _background(case, bits)
    return Offset(bits, "f1", curve, capped, background, held_out, without)


class _Tried:
    """What offsets gave, by fold."""

    def __init__(self, case: Labelled, search: Search) -> None:
        self.case, self.search = case, search
        entities = int(case.labels.max()) + 1
        order = np.random.default_rng(0).permutation(entities)
        self.fold = order % search.folds
        self.shares = _shares(case)
        self.counts: dict[float, Floats] = {}  # by offset: (related and true, false, true) by fold

    def at(self, offsets: Floats) -> None:
        """Try offsets that were not tried yet."""
        for x in (float(x) for x in np.round(offsets, 6)):
            if abs(x) <= self.search.most and x not in self.counts:
                labels = clusters_at(self.case, x, _background(self.case, x), len(self.counts))
                self.counts[x] = _counts(labels, self.case.labels, self.fold, self.search.folds)

    def coarse(self) -> None:
        """Go from 0 outwards, as long as there is hope."""
        search = self.search
        self.at(np.zeros(1))
        for sign in (1.0, -1.0):
            bad, x = 0, 0.0
            while bad < 3 and x < search.most:
                x += search.step
                self.at(np.array([sign * x]))
                values = self.curve()[1]
                own = values[-1] if sign > 0 else values[0]
                bad = bad + 1 if own < values.max() - search.hopeless else 0

    def curve(self, without: int | None = None) -> tuple[Floats, Floats]:
        """Return offsets, in order, and F1, of all folds or of all but one."""
        x = np.array(sorted(self.counts))
        counts = np.array([self.counts[k] for k in x.tolist()])
        if without is not None:
            counts = np.delete(counts, without, axis=2)
        return x, self._f1(counts.sum(axis=2))

    def _f1(self, counts: Floats) -> Floats:
        """Return F1 of counts, each for one who would know all labels."""
        own, other = self.shares
        right, false, true = counts[..., 0] / own, counts[..., 1] / other, counts[..., 2] / own
        return np.asarray(2 * right / np.maximum(right + false + true, 1e-300))

    def held_out(self) -> tuple[float, float, float]:
        """Return F1 of folds at the offsets that the others choose, at none, and its doubt.

        The doubt is the standard error of the gain: few large entities decide it by chance.
        """
        chosen, none, gains = np.zeros(3), self.counts[0.0], []
        for fold in range(self.search.folds):
            x, y = self.curve(without=fold)
            nearest = float(x[np.abs(x - _middle(x, y, self.search)[0]).argmin()])
            own = self.counts[nearest][:, fold]
            chosen += own
            if none[2, fold]:
                gains.append(float(self._f1(own) - self._f1(none[:, fold])))
        doubt = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0
        return float(self._f1(chosen)), float(self._f1(none.sum(axis=1))), doubt


def _background(case: Labelled, x: float) -> float:
    """Return the bits of unlisted pairs at an offset."""
    if not case.learn_background:
        return case.settings.background
    i, j, w = case.pairs
    return learned_background([(i, j, w + x)], case.labels, case.total)


def _smooth(x: Floats, y: Floats, search: Search) -> Floats:
    """Average F1 over neighbouring offsets: over two steps of the grid where it is finest."""
    width = 2 * (search.fine if len(x) > 1 and np.diff(x).min() < search.step / 2 else search.step)
    weight = np.maximum(0.0, 1 - np.abs(x[:, None] - x[None, :]) / (1.5 * width))
    return np.asarray(weight @ y / weight.sum(axis=1))


def _plateau(x: Floats, y: Floats, search: Search) -> tuple[float, float]:
    """Return the ends of the offsets about as good as the best, without a gap."""
    smooth = _smooth(x, y, search)
    good = smooth >= smooth.max() - search.level
    first = last = int(smooth.argmax())
    while first > 0 and good[first - 1]:
        first -= 1
    while last + 1 < len(x) and good[last + 1]:
        last += 1
    return float(x[first]), float(x[last])


def _middle(x: Floats, y: Floats, search: Search) -> tuple[float, bool]:
    """Return the middle of the plateau; its end nearest to 0 if the search ends it."""
    lowest, highest = _plateau(x, y, search)
    capped = highest >= search.most or lowest <= -search.most
    if capped:
        return (0.0 if lowest <= 0 <= highest else min(lowest, highest, key=abs)), True
    return (lowest + highest) / 2, False


def _shares(case: Labelled) -> tuple[float, float]:
    """Return the shares of likely partners, and of all elements, that have a label."""
    i, j, w = case.pairs
    known = case.labels >= 0
    likely = 1 / (1 + np.exp2(-np.clip(w, -60, 60)))
    partners = likely * (known[i].astype(float) + known[j])
    both = likely * 2 * (known[i] & known[j])
    own = (both.sum() + 0.5) / (partners.sum() + 0.5)
    return float(min(1.0, own)), float(np.count_nonzero(known)) / (case.total or case.n)


def _counts(clusters: Index, labels: Index, fold: Index, folds: int) -> Floats:
    """Return (related and true, related and false, true) pairs of labelled elements by fold.

    A true pair belongs to the fold of its entity, a false one by halves to those of both.
    """
    own = labels >= 0
    t, c = labels[own], np.unique(clusters[own], return_inverse=True)[1]
    both, size = np.unique(c * (int(t.max()) + 1) + t, return_counts=True)
    entity = both % (int(t.max()) + 1)
    right = np.bincount(fold[entity], size * (size - 1) / 2, folds)
    true = np.bincount(t)
    truth = np.bincount(fold, true * (true - 1) / 2, folds)
    related = np.bincount(fold[t], (np.bincount(c)[c] - 1) / 2, folds)
    return np.array([right, related - right, truth])


# --- by the likelihood of the matching


def _by_likelihood(case: Labelled, search: Search) -> Offset:
    """Return the offset with which as many pairs are expected as are true."""
    from scipy.optimize import brentq  # slow to import, and only needed here

    from relatum.probability import matching_probabilities

    take = case.may_join()
    i, j, w = case.pairs[0][take], case.pairs[1][take], case.pairs[2][take]
    first = case.groups[i] == case.groups.min() if case.groups is not None else i < j
    row, column = np.where(first, i, j), np.where(first, j, i)
    known = (case.labels[i] >= 0) & (case.labels[j] >= 0)
    true = known & (case.labels[i] == case.labels[j])
    own, other = _shares(case)
    # what a pair of labelled elements stands for, where not all are labelled
    weight = np.where(true, 1 / own, np.where(known, 1 / other, 0.0))
    wanted, tried = float(weight[true].sum()), dict[float, float]()
    messages = np.zeros(2 * len(w))

    def missing(x: float) -> float:
        nonlocal messages
        found = matching_probabilities(row, column, w + x, (case.n, case.n), messages, False)
        messages = found.messages
        tried[float(x)] = float(weight @ found.probabilities)
        return tried[float(x)] - wanted

    most, capped = search.most, True
    if missing(most) <= 0:
        bits = most
    elif missing(-most) >= 0:
        bits = -most
    else:
        capped = False
        pull = math.log(2) / (math.log(2) * search.spread) ** 2  # pairs for each bit off

        def slope(x: float) -> float:
            return missing(x) + (x - search.expected) * pull

        bits = float(brentq(slope, -most, most, xtol=search.exact))
    curve = tuple(sorted(tried.items()))
    background = _background(case, bits)
    return Offset(bits, "likelihood", curve, capped, background)
