"""Ranking: the most probable linear order, by precedence learned from sequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.estimators import common
from relatum.estimators.comparisons import read_comparisons
from relatum.features import checked_switches, told_of_input
from relatum.inference import infer_many
from relatum.measures import BernoulliMeasure, EncodedSequences, encode_sequences
from relatum.probability import probabilities
from relatum.problem import (
    LINEAR_ORDERS,
    Evidence,
    FeasibleSet,
    LinearOrder,
    Problem,
    Relation,
    shown,
)
from relatum.problem import evidence as evidence_of
from relatum.proof import Estimate

if TYPE_CHECKING:
    from relatum.joint import JointEstimate


@dataclass(eq=False, repr=False)
class LinearRanker(BaseEstimator):  # type: ignore[misc]
    """Learn which item comes before which; put items in the most probable order.

    Parameters
    ----------
    measure : BernoulliMeasure, optional
        By default with sigma = 2: one pseudo-observation of each order.
    feasible : FeasibleSet, optional
        LINEAR_ORDERS by default; WEAK_ORDERS allow ties in `infer`.
    semi_supervised : bool
        Learn from sequences whose order is known in part, too: `fit` then takes what is known
        of each. Measure and orders are estimated together (see `relatum.joint_estimate`).
    unknown_weight : float
        The weight of pairs whose order is unknown, if `semi_supervised`. 1 is the paper's joint
        problem.
    solver, prove, time_limit
        As in `relatum.infer`.
    random_state : int
    n_jobs : int, optional
        Processes for `predict_many`.
    verbose : bool
        Print progress.

    Attributes
    ----------
    items_ : list
        All items seen.
    measure_ : BernoulliMeasure
    estimate_ : Estimate
        The consensus order of all items.
    gap_ : float
        Its gap, in bits.
    completed_ : list of lists
        If `semi_supervised`: all sequences, in the order known or estimated.
    joint_ : JointEstimate
        If `semi_supervised` and some order was not known: objective, bound and history.

    Examples
    --------
    >>> ranker = LinearRanker().fit(["a b c", "a c", "b c a", "b c"])
    >>> ranker.predict(["c", "a", "b"])
    ['a', 'b', 'c']
    >>> LinearRanker().fit_comparisons(["x", "y", "x"], ["y", "z", "z"]).predict("z y x".split())
    ['x', 'y', 'z']
    >>> from relatum.problem import WEAK_ORDERS
    >>> games = LinearRanker(feasible=WEAK_ORDERS)
    >>> games = games.fit_comparisons([*"xyx"], [*"yzz"], ["draw", "win", "win"])
    >>> dict(zip(games.items_, games.predict_ranks().tolist()))
    {'x': 1, 'y': 1, 'z': 3}
    """

    measure: BernoulliMeasure | None = None
    feasible: FeasibleSet | None = None
    _: KW_ONLY
    semi_supervised: bool = False
    unknown_weight: float = 1.0
    solver: str = "auto"
    prove: bool = True
    time_limit: float = 60.0
    random_state: int = 0
    n_jobs: int | None = None
    verbose: bool = False

    def fit(self, sequences: Iterable[str | Sequence[Any]], y: Any = None) -> LinearRanker:
        """Learn from sequences: sentences, sessions, rankings from first to last.

        Every pair of positions of a sequence is one observation of "comes before".

        Parameters
        ----------
        sequences : iterable of strings or sequences
        y : sequence, optional
            If `semi_supervised`: for every sequence None, if it is in order, or what is known of
            its order, by places: evidence such as ``relatum.evidence(related=[(2, 0)])``.
        """
        checked_switches(self, "semi_supervised", "prove", "verbose")
        with told_of_input():
            sequences = list(sequences)
        encoded = encode_sequences(sequences)
        if len(encoded.tokens) == 0:
            raise DataError("LinearRanker.fit needs at least one sequence with an item in it.")
        if self.semi_supervised and y is not None:
            with told_of_input():
                y = list(y)
            return self._fit_partial(encoded, y)
        measure = self._new_measure().fit_sequences(
            encoded.tokens, encoded.offsets, len(encoded.words)
        )
        return self._finish(measure, list(encoded.words))

    def _fit_partial(self, encoded: EncodedSequences, known: list[Any]) -> LinearRanker:
        """Estimate the measure and the orders that are known in part together."""
        parts = np.split(np.asarray(encoded.tokens), np.asarray(encoded.offsets)[1:-1])
        if len(known) != len(parts):
            raise DataError(
                f"y says what is known of each of {len(parts)} sequences, got {len(known)} entries."
            )
        whole = [t for t, said in zip(parts, known, strict=True) if said is None]
        counted = whole or [parts[0][:1]]  # one item: nothing is counted yet
        base = self._new_measure().fit_sequences(
            np.concatenate(counted),
            np.cumsum([0, *(len(t) for t in counted)]),
            len(encoded.words),
        )
        open_ = [k for k, said in enumerate(known) if said is not None]
        orders: dict[int, Index] = {}
        if open_:
            self.joint_, orders = self._joined(base, parts, known, open_)
            base = self.joint_.measure
        words = list(encoded.words)
        self.completed_ = [
            [words[w] for w in (parts[k][orders[k]] if k in orders else parts[k])]
            for k in range(len(parts))
        ]
        return self._finish(base, words)

    def _joined(
        self, base: BernoulliMeasure, parts: list[Any], known: list[Any], open_: list[int]
    ) -> tuple[JointEstimate, dict[int, Index]]:
        """Pose all sequences as one order; pairs of different sequences have no class."""
        tokens = np.concatenate([parts[k] for k in open_])
        owner = np.repeat(open_, [len(parts[k]) for k in open_])
        place = np.concatenate([np.arange(len(parts[k])) for k in open_])
        classes = tokens[:, None] * base.n_words_ + tokens[None, :]
        same = (owner[:, None] == owner[None, :]) & ~np.eye(len(tokens), dtype=np.bool_)
        feasible = common.feasible_of(self, LINEAR_ORDERS)
        for k in open_:
            said = common.require_feasible(known[k], "LinearRanker").evidence or Evidence()
            said.check((len(parts[k]), len(parts[k])))
            first = int(np.flatnonzero(owner == k)[0])
            feasible = feasible & evidence_of(said.related + first, said.unrelated + first)
        result = common.jointly_estimated(self, np.where(same, classes, -1), feasible, measure=base)
        order = np.array(_order(result.estimate))
        return result, {k: place[order[owner[order] == k]] for k in open_}

    def fit_comparisons(
        self, a: Iterable[Any], b: Iterable[Any], outcome: Any = None, weight: Any = None
    ) -> LinearRanker:
        """Learn from comparisons of two items: games, votes, clicks.

        Whoever wins comes first. A draw says that the two are level: both directions of the pair
        gain, so that with ``feasible=relatum.WEAK_ORDERS`` items can share a rank.

        Parameters
        ----------
        a, b : sequences of items
            Comparison k is of a[k] and b[k].
        outcome : sequence, optional
            Of a[k]: "win", "loss" or "draw", or 1, 0 or 0.5. Or the goals of both: a pair (goals of
            a, goals of b), or an array or table with these two columns. By default a wins.
        weight : sequence of numbers, optional
            How often each comparison counts.
        """
        read = read_comparisons(a, b, outcome, weight)
        measure = self._new_measure().fit_comparisons(
            read.first, read.second, read.result, len(read.items), read.weight
        )
        return self._finish(measure, read.items)

    def _new_measure(self) -> BernoulliMeasure:
        measure = BernoulliMeasure(sigma=2.0) if self.measure is None else self.measure
        if not isinstance(measure, BernoulliMeasure):
            raise DataError(f"measure is a BernoulliMeasure, got {shown(measure)}.")
        return common.copied(measure)  # type: ignore[no-any-return]

    def _finish(self, measure: BernoulliMeasure, items: list[Any]) -> LinearRanker:
        common.feasible_of(self, LINEAR_ORDERS)  # refused before anything is kept
        self.measure_, self.items_ = measure, items
        self._number = {item: k for k, item in enumerate(items)}
        self.estimate_ = self.infer(items)
        self.gap_ = self.estimate_.gap
        return self

    def log_odds(self, items: Sequence[Any]) -> Floats:
        """Return the log2-odds that each item comes before each other."""
        common.require_fitted(self)
        with told_of_input():
            items = list(items)
            unknown = [item for item in items if item not in self._number]
        if unknown:
            raise DataError(
                f"Item {shown(unknown[0])} was in no training sequence; leave it out, or train on "
                "sequences that contain it."
            )
        return self.measure_.pair_log_odds([self._number[item] for item in items])

    def problem(self, items: Sequence[Any], evidence: FeasibleSet | None = None) -> Problem:
        """Return the problem of ordering some items; an item may occur several times."""
        return Problem(self.log_odds(items), common.feasible_of(self, LINEAR_ORDERS, evidence))

    def infer(self, items: Sequence[Any], evidence: FeasibleSet | None = None) -> Estimate:
        """Infer an order, with its bound and certificate.

        Parameters
        ----------
        items : sequence
        evidence : FeasibleSet, optional
            What is known, by places in `items`: ``relatum.evidence(related=[(2, 0)])`` says
            that items[2] comes before items[0].
        """
        return common.inferred(self, self.problem(items, evidence))

    def predict(self, items: Sequence[Any], evidence: FeasibleSet | None = None) -> list[Any]:
        """Return the items from first to last."""
        with told_of_input():
            items = list(items)
        return [items[k] for k in _order(self.infer(items, evidence))]

    def predict_ranks(
        self,
        items: Sequence[Any] | None = None,
        evidence: FeasibleSet | None = None,
        *,
        method: Literal["min", "dense"] = "min",
    ) -> Index:
        """Return the rank of each item, 1 for the first; items that are level share one.

        Parameters
        ----------
        items : sequence, optional
            All items seen, ``items_``, by default.
        evidence : FeasibleSet, optional
            As in `infer`.
        method : {"min", "dense"}
            What comes after two that share rank 1: 3, as in tables of sports, or 2.
        """
        if not isinstance(method, str) or method not in ("min", "dense"):
            raise DataError(f'method is "min" or "dense", got {shown(method)}.')
        common.require_fitted(self)
        known = items is None and evidence is None
        items = self.items_ if items is None else items
        estimate = self.estimate_ if known else self.infer(items, evidence)
        relation: Any = estimate.relation
        if relation is None or not hasattr(relation, "ranks"):
            raise DataError(
                "Ranks are those of a linear or weak order; feasible is "
                f"{common.feasible_of(self, LINEAR_ORDERS)}: {estimate.message}"
            )
        dense = np.asarray(relation.ranks, dtype=np.int64)
        if method == "dense":
            return dense + 1
        before = np.concatenate([[0], np.cumsum(np.bincount(dense))])
        return np.asarray(1 + before[dense], dtype=np.int64)

    def rank_probabilities(
        self, items: Sequence[Any] | None = None, evidence: FeasibleSet | None = None
    ) -> Floats:
        """Return the probability of each item at each place: a row per item, first place first.

        They are those of `relatum.probabilities`, of linear orders, and not calibrated.

        Parameters
        ----------
        items : sequence, optional
            All items seen, ``items_``, by default.
        evidence : FeasibleSet, optional
            As in `infer`.
        """
        common.require_fitted(self)
        problem = self.problem(self.items_ if items is None else items, evidence)
        known = probabilities(problem, time_limit=self.time_limit, seed=common.seed_of(self))
        return known.ranks

    def predict_many(self, sequences: Iterable[Sequence[Any]]) -> list[list[Any]]:
        """Put each of many sequences of items in order."""
        with told_of_input():
            lists = [list(s) for s in sequences]
        return [[s[k] for k in o] for s, o in zip(lists, self._orders(lists), strict=True)]

    def _orders(self, lists: list[list[Any]]) -> list[list[int]]:
        estimates = infer_many(
            [self.problem(s) for s in lists],
            n_jobs=self.n_jobs or 1,
            seed=common.seed_of(self),
            **common.search_options(self),
        )
        return [_order(e) for e in estimates]

    def score(self, sequences: Iterable[str | Sequence[Any]], y: Any = None) -> float:
        """Return the share of pairs of items that `predict` puts in the order of the sequences.

        One minus the normalised Kendall distance, over all pairs of all sequences. Items that
        were in no training sequence are left out.
        """
        common.require_fitted(self)
        with told_of_input():
            lists = [s.split() if isinstance(s, str) else list(s) for s in sequences]
            known = [[item for item in s if item in self._number] for s in lists]
        known = [s for s in known if len(s) > 1]
        if not known:
            raise DataError("No sequence has two items that were seen in training.")
        right = total = 0
        for given, found in zip(known, self._orders(known), strict=True):
            place = np.empty(len(given), dtype=np.int64)
            place[found] = np.arange(len(given))
            right += int(np.triu(place[:, None] < place[None, :], 1).sum())
            total += len(given) * (len(given) - 1) // 2
        return right / total

    def __sklearn_tags__(self) -> Any:
        """Say that sequences of items are taken, not tables of features."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags


def _order(estimate: Estimate) -> list[int]:
    relation: Relation | None = estimate.relation
    if relation is None:
        raise DataError(f"There is no order: {estimate.message}")
    if isinstance(relation, LinearOrder) or hasattr(relation, "order"):
        return [int(k) for k in relation.order]
    # other orders: more successors first is a linear extension
    return [int(k) for k in np.argsort(-relation.matrix().sum(axis=1), kind="stable")]
