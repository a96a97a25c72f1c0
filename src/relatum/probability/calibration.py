"""What labelled problems say of scores and probabilities: an offset, or a map of both.

Scores of pairs are learned one by one, and are not independent: probabilities of relations are too
sure, and matchings too small. `calibrate` learns from problems whose truth is known, which should
not be those that the scores were learned from:

* for matchings and partial maps an offset for all scores, such that as many pairs are expected as
  there are: the maximum of the likelihood of the whole relation;
* for everything else a logistic map of the score of a pair and the logit of its probability, which
  gives new scores and new probabilities. For linear orders it has no constant.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import CalibrationWarning, DataError, RelationError
from relatum.probability.answer import Probabilities
from relatum.probability.asking import probabilities
from relatum.probability.matchings import matching_probabilities
from relatum.probability.posterior import Marginals
from relatum.probability.scored import (
    ScoredPairs,
    fixed_pairs,
    is_order,
    is_related,
    scored_pairs,
)
from relatum.problem import DenseScores, Problem, Relation, SparseScores, shown

MOST = 12.0  # bits of an offset, either way
SURE = 30.0  # bits of a logit at most: beyond, sums and samples tell little


@dataclass(frozen=True)
class Calibration:
    """What was learned from labelled problems.

    Attributes
    ----------
    kind : str
        "offset" or "map".
    offset : float
        Bits to add to all scores.
    of_score, of_logit, constant : float
        The new score of a pair, in bits: ``of_score * score + of_logit * logit + constant``, with
        the logit, in bits, of its probability.
    problems, pairs : int
        What it was learned from.
    capped : bool
        Whether the offset would be larger still, or smaller, if it were allowed to.
    before, after : float
        For a map: the log-loss of the pairs, in bits per pair, of the probabilities as they were
        and as they are, on what it was learned from.
    structure : str
        The relations that it is for.

    Examples
    --------
    >>> import relatum as rt
    >>> truth = rt.Partition([0, 0, 1, 2])
    >>> problem = rt.Problem([3.0, -2.0, 1.0, -3.0, -4.0, 1.5], rt.EQUIVALENCES)
    >>> learned = rt.calibrate([problem], [truth])
    >>> learned.kind, learned.problems, learned.pairs
    ('map', 1, 6)
    """

    kind: str
    offset: float = 0.0
    of_score: float = 1.0
    of_logit: float = 0.0
    constant: float = 0.0
    problems: int = 0
    pairs: int = 0
    capped: bool = False
    before: float = float("nan")
    after: float = float("nan")
    structure: str = ""

    def __str__(self) -> str:
        source = f"learned from {self.problems} problems of {self.structure}, {self.pairs} pairs"
        if self.kind == "offset":
            more = " (capped)" if self.capped else ""
            return f"{self.offset:+.2f} bits for every score{more}, {source}"
        return (
            f"new score = {self.of_score:.3g} score {self.of_logit:+.3g} logit "
            f"{self.constant:+.3g} bits, {source}; log-loss {self.before:.4g} -> "
            f"{self.after:.4g} bits per pair"
        )

    def apply(self, problem: Problem, **options: Any) -> Problem:
        """Return a problem with new scores; pairs that are not listed keep the background.

        Parameters
        ----------
        problem : Problem
            Of the kind that this was learned from.
        **options
            For `relatum.probabilities`, which a map needs.
        """
        self._require(problem)
        if self.kind == "offset":
            return problem.with_log_odds(np.asarray(problem.log_odds) + self.offset)
        found = scored_pairs(problem)
        p = probabilities(problem, **options).posterior.marginals
        new = self._bits(found.bits, p.pairs(found.i, found.j)[0])
        if isinstance(problem.scores, DenseScores):
            both = problem.feasible.has("symmetric") or is_order(problem)
            new = new / 2 if both else new  # half for each direction
        fixed = fixed_pairs(problem, found.i, found.j)
        given = np.asarray(problem.log_odds, np.float64).ravel()
        return problem.with_log_odds(np.where(fixed, given, new).reshape(problem.log_odds.shape))

    def probabilities(self, given: Probabilities, **options: Any) -> Probabilities:
        """Return calibrated probabilities.

        Parameters
        ----------
        given : Probabilities
            Of a problem of the kind that this was learned from, as `relatum.probabilities` gave
            them.
        **options
            For `relatum.probabilities`, which an offset needs once more.
        """
        self._require(given.problem)
        if self.kind == "offset":
            found = probabilities(self.apply(given.problem), **options)
            return Probabilities(found.problem, found.posterior, calibrated=True)
        mapped = _Mapped(given.problem, given.posterior.marginals, self)
        return Probabilities(
            given.problem, replace(given.posterior, marginals=mapped), calibrated=True
        )

    def _bits(self, bits: Floats, p: Floats) -> Floats:
        return self.of_score * bits + self.of_logit * _logit(p) + self.constant

    def _require(self, problem: Problem) -> None:
        if not isinstance(problem, Problem) or str(problem.feasible.structure) != self.structure:
            got = problem.feasible.structure if isinstance(problem, Problem) else shown(problem)
            raise DataError(
                f"This calibration was learned from problems of {self.structure}, got {got}; "
                "calibrate on problems of that kind."
            )


class _Mapped:
    """Probabilities of pairs behind a map."""

    def __init__(self, problem: Problem, given: Marginals, learned: Calibration) -> None:
        self.problem, self.given, self.learned = problem, given, learned
        self._score = _score_of(problem)

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        p, error = self.given.pairs(i, j)
        new = _probability(self.learned._bits(self._score(i, j), p))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = self.learned.of_logit * new * (1 - new) / (p * (1 - p))
        slope = np.where(np.abs(_logit(p)) >= SURE, 0.0, slope)  # there the map is flat
        fixed = fixed_pairs(self.problem, i, j)
        return np.where(fixed, p, new), np.where(fixed, error, np.abs(slope) * error)


def calibrate(
    problems: Problem | Sequence[Problem], truths: Relation | Sequence[Relation], **options: Any
) -> Calibration:
    """Learn from problems whose true relations are known how far to trust scores.

    Parameters
    ----------
    problems : Problem or list of problems
        Of one kind, and not those that the measure was learned from.
    truths : relation or list of relations
        The true one of each problem.
    **options
        For `relatum.probabilities`, which is asked for those of every problem where a map is
        learned.

    Returns
    -------
    Calibration

    Warns
    -----
    CalibrationWarning
        If an offset runs away, as where every element has a partner.

    Notes
    -----
    Of sparse problems, only pairs that are listed are counted, and only these are recalibrated:
    matchings with pairs that nobody scored are left out of account.

    Examples
    --------
    Two of three pairs are true, but one is expected.

    >>> from relatum.problem import UNIQUE_IMAGE, UNIQUE_PREIMAGE, PartialMap
    >>> scores = [[0.0, -9.0, -9.0], [-9.0, 0.0, -9.0], [-9.0, -9.0, -4.0]]
    >>> problem = Problem(scores, UNIQUE_IMAGE & UNIQUE_PREIMAGE)
    >>> print(calibrate(problem, PartialMap([0, 1, -1], 3)))  # doctest: +ELLIPSIS
    +2... bits for every score, learned from 1 problems of ..., 9 pairs
    """
    listed = [problems] if isinstance(problems, Problem) else list(problems)
    known = [truths] if isinstance(truths, Relation) else list(truths)
    _require_cases(listed, known)
    names = listed[0].feasible.names
    if "unique_image" in names and not {"has_image", "has_preimage"} & names:
        return _offset(listed, known)
    return _map(listed, known, options)


def _require_cases(problems: list[Problem], truths: list[Relation]) -> None:
    if not problems or len(problems) != len(truths):
        raise DataError(
            f"calibrate takes one true relation for each problem, got {len(problems)} problems "
            f"and {len(truths)} relations."
        )
    for problem, truth in zip(problems, truths, strict=True):
        if not isinstance(problem, Problem) or not isinstance(truth, Relation):
            raise DataError(
                "calibrate takes problems and relations such as relatum.Partition(labels), got "
                f"{type(problem).__name__} and {type(truth).__name__}."
            )
        if problem.feasible.structure != problems[0].feasible.structure:
            raise DataError(
                f"The problems are of several kinds, {problems[0].feasible.structure} and "
                f"{problem.feasible.structure}; calibrate each kind on its own."
            )
        if truth.shape != problem.shape or not problem.feasible.contains(truth):
            raise RelationError(
                f"A truth of shape {truth.shape} is not feasible for {problem}; give the relation "
                "that is true of the problem."
            )


# --- an offset


def _offset(problems: list[Problem], truths: list[Relation]) -> Calibration:
    """Find the offset with which as many open pairs are expected as are true."""
    from scipy.optimize import brentq  # slow to import, and only needed here

    sizes, wanted, pairs = [], 0, 0
    for problem, truth in zip(problems, truths, strict=True):
        found = scored_pairs(problem)
        true = is_related(truth, found.i, found.j) & found.open
        wanted, pairs = wanted + int(np.count_nonzero(true)), pairs + int(found.open.sum())
        sizes.append(_expected_size(problem, found))

    def missing(x: float) -> float:
        return sum(size(x) for size in sizes) - wanted

    capped = True
    if missing(MOST) <= 0:
        bits = MOST
    elif missing(-MOST) >= 0:
        bits = -MOST
    else:
        bits, capped = float(brentq(missing, -MOST, MOST, xtol=1e-3)), False
    if capped:
        warnings.warn(
            f"The true relations set no limit to the offset, which is {bits:+g} bits here: nearly "
            "every element has a partner in them, or none; calibrate on problems as they come.",
            CalibrationWarning,
            stacklevel=3,
        )
    told = {"problems": len(problems), "pairs": pairs}
    structure = str(problems[0].feasible.structure)
    return Calibration("offset", offset=bits, capped=capped, structure=structure, **told)


def _expected_size(problem: Problem, found: ScoredPairs) -> Callable[[float], float]:
    """Return how many open pairs are expected, as a function of the offset."""
    own = np.flatnonzero(found.open)
    i, j, bits = found.i[own], found.j[own], found.bits[own]
    taken = problem.evidence.related  # their elements have a partner already
    keep = ~np.isin(i, taken[:, 0])
    if "unique_preimage" in problem.feasible.names:
        keep &= ~np.isin(j, taken[:, 1])
    i, j, bits = i[keep], j[keep], bits[keep]
    if "unique_preimage" not in problem.feasible.names:
        rows = np.searchsorted(np.unique(i), i)

        def by_rows(x: float) -> float:
            top = np.zeros(int(rows.max(initial=-1)) + 1)
            np.maximum.at(top, rows, bits + x)
            total = np.bincount(rows, np.exp2(bits + x - top[rows]), len(top))
            return float((total / (total + np.exp2(-top))).sum())

        return by_rows
    start: Floats | None = None

    def of_matchings(x: float) -> float:
        nonlocal start
        answer = matching_probabilities(i, j, bits + x, problem.shape, start)
        start = answer.messages
        return float(answer.probabilities.sum())

    return of_matchings


# --- a map


def _map(problems: list[Problem], truths: list[Relation], options: dict[str, Any]) -> Calibration:
    """Fit the logistic map of score and logit."""
    from sklearn.linear_model import LogisticRegression  # slow to import, and only needed here

    parts = [_of_problem(*case, options) for case in zip(problems, truths, strict=True)]
    bits, p, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = is_order(problems[0])
    if order:  # both directions, so that neither is preferred
        bits, p, y = np.append(bits, -bits), np.append(p, 1 - p), np.append(y, ~y)
    if len(y) == 0 or y.all() or not y.any():
        raise DataError(
            "Calibration learns from pairs that are related and pairs that are not; the open pairs "
            "of these problems are all of one kind. Give more problems."
        )
    x = np.column_stack([bits, _logit(p)])
    scale = np.maximum(x.std(axis=0), 1e-9)
    model = LogisticRegression(C=1.0, fit_intercept=not order, tol=1e-8, max_iter=1000)
    model.fit(x / scale, y)
    of_score, of_logit = (model.coef_[0] / scale / np.log(2)).tolist()
    constant = 0.0 if order else float(model.intercept_[0] / np.log(2))
    learned = Calibration("map", 0.0, of_score, of_logit, constant)
    after = _probability(learned._bits(bits, p))
    return replace(
        learned,
        problems=len(problems),
        pairs=len(y) // (2 if order else 1),
        before=log_loss(p, y),
        after=log_loss(after, y),
        structure=str(problems[0].feasible.structure),
    )


def _of_problem(
    problem: Problem, truth: Relation, options: dict[str, Any]
) -> tuple[Floats, Floats, Any]:
    found = scored_pairs(problem)
    i, j = found.i[found.open], found.j[found.open]
    p = probabilities(problem, **options).posterior.marginals.pairs(i, j)[0]
    return found.bits[found.open], p, is_related(truth, i, j)


def log_loss(p: Floats, y: Any) -> float:
    """Return the mean of -log2 of the probability of what is true; certainties cost `SURE` bits."""
    bits = _logit(p)
    return float(np.logaddexp2(0.0, np.where(y, -bits, bits)).mean())


def _logit(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log2(p) - np.log2(1 - p), -SURE, SURE))


def _probability(bits: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.log(2) * bits)))


def _score_of(problem: Problem) -> Callable[[Index, Index], Floats]:
    """Return the scores of any pairs, as `scored_pairs` has them."""
    scores, symmetric = problem.scores, problem.feasible.has("symmetric")
    if not isinstance(scores, SparseScores) or is_order(problem):
        matrix = problem.dense()
        if symmetric or is_order(problem):
            matrix = matrix + matrix.T if symmetric else matrix - matrix.T
        return partial(_entries, matrix)
    return partial(_listed, scores, symmetric)


def _entries(matrix: Floats, i: Index, j: Index) -> Floats:
    return np.asarray(matrix[i, j])


def _listed(scores: SparseScores, symmetric: bool, i: Index, j: Index) -> Floats:
    """Return the scores of pairs that may be listed; those that are stand in ascending order."""
    width = np.int64(scores.shape[1])
    keys, values = scores.i * width + scores.j, np.asarray(scores.log_odds, np.float64)
    a, b = (np.minimum(i, j), np.maximum(i, j)) if symmetric else (i, j)
    at = np.minimum(np.searchsorted(keys, a * width + b), len(keys) - 1)
    return np.where(keys[at] == a * width + b, values[at], scores.background)
