"""Whether a measure of pairs carries over to classes that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from relatum.array_types import Flags, Floats, Index
from relatum.errors import DataError
from relatum.features import checked_labels, sample_pairs, shown
from relatum.measures.bilinear import BilinearPairMeasure
from relatum.measures.element_pairs import elements_of
from relatum.measures.validation import is_whole


class ClassTransfer(NamedTuple):
    """What candidates cost on classes held out.

    Attributes
    ----------
    bits : ndarray of shape (candidates,)
        Bits per pair that each needs for pairs of classes that it did not see.
    baseline : float
        What a constant needs that knows how many pairs of those classes are related.
    best : measure
        The candidate that needs the fewest, learned from all classes.
    carries_over : bool
        Whether that is fewer than the constant needs. If not, do not use it for new classes.

    Examples
    --------
    >>> import numpy as np
    >>> import relatum as rt
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.arange(6), 10)
    >>> noise = rng.normal(size=(60, 3))    # says nothing of the classes
    >>> found = rt.choose_for_new_classes([rt.BilinearPairMeasure(9.0)], noise, labels, n_pairs=500)
    >>> found.carries_over
    False
    """

    bits: Floats
    baseline: float
    best: Any
    carries_over: bool


def choose_for_new_classes(
    candidates: Sequence[Any],
    v: ArrayLike,
    labels: ArrayLike,
    *,
    n_folds: int = 5,
    n_pairs: int = 20_000,
    random_state: int = 0,
) -> ClassTransfer:
    """Choose a measure of pairs by how well it does on classes that it was not learned from.

    Splits of elements say nothing of new classes: a measure may have learned the classes rather
    than what makes two elements alike. Here, classes are held out, at least two at a time; that
    more of their pairs are related, as they are fewer, is added to the scores.

    Bits are not clipped: a measure that is sure and wrong pays for it. Many bits per pair, even
    hundreds, mean scores that run away where no class was seen, as those of monomials of a high
    degree do. Try fewer discriminants, ``projection=None`` or a stronger prior.

    Parameters
    ----------
    candidates : sequence of measures, not fitted
        Such as `BilinearPairMeasure` of different strengths and projections.
    v : array_like of shape (elements, features)
    labels : array_like of shape (elements,)
        Of at least four classes.
    n_folds : int, default=5
        How often some classes are held out.
    n_pairs : int, default=20000
        Pairs to learn from, and to be judged by, each time.
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> import relatum as rt
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.arange(40), 10)
    >>> v = rng.normal(size=(40, 3))[labels] + 0.2 * rng.normal(size=(400, 3))
    >>> both = [rt.BilinearPairMeasure(projection=p, tol=0.01) for p in ("discriminant", None)]
    >>> found = rt.choose_for_new_classes(both, v, labels, n_folds=3, n_pairs=4000)
    >>> found.carries_over, found.best.projection   # it is the simpler one that carries over
    (True, None)
    >>> bool(found.bits[1] < found.baseline < 1 < found.bits[0])
    True
    """
    table = elements_of(v)
    given = checked_labels(labels, len(table))
    for one in candidates:
        if not isinstance(one, BilinearPairMeasure):
            raise DataError(
                "candidates are measures of pairs of elements that learn from labels, such as "
                f"BilinearPairMeasure; got {type(one).__name__}."
            )
    classes, number = np.unique(given, return_inverse=True)
    if not len(candidates) or len(classes) < 4:
        raise DataError(
            "Classes are held out two at a time, and two are learned from: give at least one "
            f"candidate and four classes, got {len(candidates)} and {len(classes)}."
        )
    if not (is_whole(n_folds) and is_whole(n_pairs)):
        raise DataError(
            "n_folds and n_pairs are whole numbers of at least 1, got "
            f"{shown(n_folds)} and {shown(n_pairs)}."
        )
    costs, constants = [], []
    for held in _folds(len(classes), n_folds, random_state):
        out = np.isin(number, held)
        new, i, j, same = _pairs(table[out], number[out], n_pairs, random_state)
        share = _logit(same.mean())
        constants.append(_bits(share, same))
        seen = _pairs(table[~out], number[~out], n_pairs, random_state)
        shift = share - _logit(seen[3].mean())
        costs.append(
            [_bits(clone(m).fit(*seen).log_odds(new, i, j) + shift, same) for m in candidates]
        )
    bits, baseline = np.mean(costs, axis=0), float(np.mean(constants))
    best = candidates[int(np.argmin(bits))]
    measure = clone(best).fit(*_pairs(table, number, n_pairs, random_state))
    return ClassTransfer(bits, baseline, measure, bool(bits.min() < baseline))


def _folds(classes: int, folds: int, seed: int) -> list[Index]:
    """Return which classes to hold out each time: two, or their share of all if that is more."""
    order = np.random.default_rng(seed).permutation(classes)
    size = max(2, classes // folds)
    starts = (np.arange(folds) * classes) // folds
    return [order[(start + np.arange(size)) % classes] for start in starts]


def _pairs(v: Any, number: Index, count: int, seed: int) -> tuple[Any, Index, Index, Flags]:
    total = len(v) * (len(v) - 1) // 2
    i, j, same = sample_pairs(number, min(count, total), random_state=seed)
    return v, i, j, np.asarray(same, dtype=np.bool_)


def _logit(share: float) -> float:
    inside = min(max(float(share), 1e-9), 1.0 - 1e-9)
    return float(np.log2(inside) - np.log2(1.0 - inside))


def _bits(scores: Any, same: Flags) -> float:
    return float(np.logaddexp2(0.0, np.where(same, -scores, scores)).mean())
