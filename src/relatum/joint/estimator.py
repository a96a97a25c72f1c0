"""Joint estimation of a measure and a relation, as a function and as an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from relatum.array_types import Floats
from relatum.errors import DataError, DegenerateWarning, SolverError
from relatum.features import is_number
from relatum.joint.alternation import Alternation, Pair
from relatum.joint.bernoulli_exact import CountSearch
from relatum.joint.inputs import read_joint_problem
from relatum.joint.known_pairs import PairTable
from relatum.joint.learning import BernoulliLearner, LogisticLearner
from relatum.joint.logistic_exact import SimplexSearch
from relatum.live import seen
from relatum.measures import all_or_nothing, is_whole
from relatum.problem import FeasibleSet, Problem, shown, switch, whole_number
from relatum.proof import Estimate
from relatum.solvers import Control, polite_interrupts

EXACT_STARTS = 2  # alternations that look for a good pair before the exact search


@dataclass(frozen=True)
class JointEstimate:
    """A measure and a relation, estimated together.

    Attributes
    ----------
    measure : fitted BernoulliMeasure or LogisticMeasure
    estimate : Estimate
        The relation, as a most probable one under the measure.
    objective : float
        D_x(theta, y) + R_sigma(theta), in bits: minus the log2-probability of the two, up to
        a constant.
    bound : float
        No measure and feasible relation have a smaller objective.
    history : tuple of float
        The objective after every step of the alternation that found the pair.
    problem : Problem
        The inference problem that the measure poses; `relatum.verify(problem, estimate)`.
    stats : mapping
        Seconds, objectives of all starts, counts of the exact search.

    Examples
    --------
    >>> import relatum as rt
    >>> classes = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    >>> known = rt.evidence(related=[(0, 1)], unrelated=[(0, 2)])
    >>> joint = rt.joint_estimate(classes, rt.EQUIVALENCES, evidence=known)
    >>> joint.estimate.relation.labels.tolist()
    [0, 0, 1]
    >>> bool(rt.verify(joint.problem, joint.estimate))
    True
    """

    measure: Any
    estimate: Estimate
    objective: float
    bound: float
    history: tuple[float, ...]
    problem: Problem
    stats: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stats", MappingProxyType(dict(self.stats)))

    @property
    def gap(self) -> float:
        """Objective minus bound, in bits.

        No pair (theta, y) is more than 2**gap times as probable as this one.
        """
        return max(0.0, self.objective - self.bound)

    @property
    def optimal(self) -> bool:
        """Whether the gap is closed, up to 1e-5 bits and 1e-6 of the objective."""
        return self.gap <= 1e-5 + 1e-6 * abs(self.objective)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.measure, self.estimate, self.objective, self.bound, self.history)
        return JointEstimate, (*fields, self.problem, dict(self.stats))

    def __repr__(self) -> str:
        return (
            f"JointEstimate(objective={self.objective:.6g}, bound={self.bound:.6g}, "
            f"gap={self.gap:.3g} bits, {self.estimate.relation!r})"
        )


@dataclass(eq=False, repr=False)
class JointEstimator(BaseEstimator):  # type: ignore[misc]
    r"""Estimate a measure and a relation together, from evidence about some pairs.

    Minimises :math:`D_x(\theta, y) + R_\sigma(\theta)` over parameters and feasible relations:
    the two mixed-integer nonlinear programs of the paper, logistic and Bernoulli.

    Parameters
    ----------
    measure : LogisticMeasure or BernoulliMeasure, default BernoulliMeasure()
        Says which model, and its prior. The counts of a fitted BernoulliMeasure are kept,
        those of the pairs are added; a LogisticMeasure is learned anew.
    feasible : FeasibleSet
        Where to look for the relation.
    evidence : FeasibleSet, optional
        Known pairs, ``rt.evidence(...)``; evidence in `feasible` counts as well.
    unknown_weight : float, default=1.0
        The weight of pairs that the evidence leaves open. 1 is the paper's problem; 0 is
        learning from the evidence alone, followed by inference.
    balance : None or "balanced"
        Give related and unrelated known pairs the same total weight.
    solver : str, default="auto"
        The solver of inference, as in `infer`.
    exact : bool, default=False
        Search for the global optimum: `bound_` tells how far it may be.
    time_limit : float, default=60.0
        Seconds after which the best pair so far and a valid bound are kept; the first Ctrl-C
        does the same.
    n_starts : int, default=1
        Alternations: one from the supervised measure, the others from random ones.
    prove : bool, default=False
        Ask inference for proven relations.
    random_state : int, default=0

    Attributes
    ----------
    measure_ : fitted measure
    estimate_ : Estimate
        `estimate_.relation` is the relation.
    objective_, bound_ : float
        In bits; no pair (theta, y) has an objective below the bound.
    history_ : tuple of float
    result_ : JointEstimate

    Examples
    --------
    >>> import numpy as np
    >>> import relatum as rt
    >>> classes = np.array([1, 1, 1, 0, 1, 1])  # of the pairs 01, 02, 03, 12, 13, 23
    >>> known = rt.evidence(related=[(0, 1), (2, 1)])
    >>> joint = JointEstimator(rt.BernoulliMeasure(), rt.LINEAR_ORDERS, known, exact=True)
    >>> joint.fit(classes).estimate_.relation.order.tolist(), round(joint.objective_, 3)
    ([0, 2, 1, 3], 6.897)
    >>> joint.measure_.theta([0, 1]).round(3).tolist()
    [0.333, 0.857]
    """

    measure: Any = None
    feasible: FeasibleSet | None = None
    evidence: FeasibleSet | None = None
    _: KW_ONLY
    unknown_weight: float = 1.0
    balance: str | None = None
    solver: str = "auto"
    exact: bool = False
    time_limit: float = 60.0
    n_starts: int = 1
    prove: bool = False
    random_state: int = 0

    def fit(self, x: Any, y: Any = None) -> JointEstimator:
        """Estimate.

        Parameters
        ----------
        x : array
            Bernoulli: the class of every pair, integers of shape (|A|, |B|), or the upper
            triangle of shape (n (n - 1) / 2,) for symmetric sets and linear orders; -1 is no
            class. Logistic: features of shape (|A|, |B|, K) or (n (n - 1) / 2, K); or, for
            relations between two sets such as maps, features (|A|, m) of the elements of A, with
            one parameter vector for every element of B.
        y : ignored

        Returns
        -------
        self : JointEstimator
        """
        with all_or_nothing(self):
            options = self.get_params(deep=False)
            result = joint_estimate(x, options.pop("feasible"), **options)
            self.result_ = result
            self.measure_, self.estimate_ = result.measure, result.estimate
            self.objective_, self.bound_ = result.objective, result.bound
            self.history_ = result.history
        return self

    def __sklearn_tags__(self) -> Any:
        """Say that classes or features of pairs are taken, not tables of elements."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array, tags.no_validation = False, True
        return tags


@seen("estimating")
def joint_estimate(
    x_or_classes: Any,
    feasible: FeasibleSet,
    *,
    measure: Any = None,
    evidence: FeasibleSet | None = None,
    unknown_weight: float = 1.0,
    balance: str | None = None,
    n_labels: int | None = None,
    **search: Any,
) -> JointEstimate:
    """Estimate a measure and a relation together; the function behind `JointEstimator`.

    Parameters
    ----------
    x_or_classes, feasible, measure, evidence, unknown_weight, balance
        As in `JointEstimator`.
    n_labels : int, optional
        |B| where the features are those of the elements of A; by default, the largest label of
        the evidence plus one.
    **search
        `solver`, `exact`, `time_limit`, `n_starts`, `prove`, `random_state` as there.

    Returns
    -------
    JointEstimate

    Examples
    --------
    >>> import relatum as rt
    >>> classes = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]    # of pairs: alike or not
    >>> known = rt.evidence(related=[(0, 1)], unrelated=[(0, 2)])
    >>> joint = rt.joint_estimate(classes, rt.EQUIVALENCES, evidence=known)
    >>> joint.estimate.relation.labels.tolist()
    [0, 0, 1]
    """
    settings = _Search(**search)
    settings.check()
    control = Control(time_limit=settings.time_limit, seed=settings.random_state)
    with polite_interrupts(control):
        table, learner, supervised = read_joint_problem(
            x_or_classes,
            feasible,
            measure=measure,
            evidence=evidence,
            unknown_weight=unknown_weight,
            balance=balance,
            n_labels=n_labels,
        )
        _warn_one_sided(table)
        alternation = Alternation(
            table, learner, supervised, control, settings.solver, settings.prove
        )
        pair, bound, stats = _run(alternation, settings)
        estimate = alternation.finish(pair)
        _warn_degenerate(table, pair.y)
        stats["seconds"], stats["stopped"] = control.seconds(), control.expired()
        return JointEstimate(
            learner.measure(pair.theta, pair.y),
            estimate,
            pair.objective,
            min(bound, pair.objective),
            tuple(pair.history),
            table.problem(learner.log_odds(pair.theta)),
            stats,
        )


@dataclass(frozen=True)
class _Search:
    solver: str = "auto"
    exact: bool = False
    time_limit: float = 60.0
    n_starts: int = 1
    prove: bool = False
    random_state: int = 0

    def check(self) -> None:
        if not is_whole(self.n_starts):
            raise DataError(
                f"n_starts must be an integer of at least 1; got {shown(self.n_starts)}."
            )
        if not is_number(self.time_limit, 5e-324):
            raise DataError(f"time_limit must be positive seconds; got {shown(self.time_limit)}.")
        whole_number(self.random_state, "random_state", 0, (1 << 63) - 1, DataError)
        switch(self.exact, "exact", DataError)
        switch(self.prove, "prove", DataError)


def _run(search: Alternation, settings: _Search) -> tuple[Pair, float, dict[str, Any]]:
    """Alternate and, if asked, search exactly from there."""
    starts = max(settings.n_starts, EXACT_STARTS) if settings.exact else settings.n_starts
    pair, objectives = search.run(starts)
    stats: dict[str, Any] = {"starts": objectives}
    bound = search.supervised_bound()
    if not settings.exact or search.table.unknown_weight == 0 or not search.table.unknown.any():
        return pair, bound, stats
    learner = search.learner
    if isinstance(learner, BernoulliLearner):
        found, proven, more = CountSearch(search, learner, pair).run()
    elif isinstance(learner, LogisticLearner):
        found, proven, more = SimplexSearch(search, learner, pair).run()
    else:
        raise SolverError(
            "exact=True takes classes or features of pairs; with one parameter vector for every "
            "label there are too many parameters. Use exact=False with n_starts > 1, or pass "
            "few features of pairs, of shape (|A|, |B|, K)."
        )
    stats.update(more)
    return found, max(bound, proven), stats


# --- what to be warned of -----------------------------------------------------------------


def _warn_one_sided(table: PairTable) -> None:
    kinds = np.unique(table.state[~table.unknown & ~table.empty])
    if len(kinds) == 2 or table.feasible.has("antisymmetric", "connex"):
        return
    said = "nothing about pairs with features"
    if len(kinds):
        said = f"{'related' if kinds[0] else 'unrelated'} pairs only"
    warnings.warn(
        f"The evidence names {said}: a measure that says the same of every pair explains it best, "
        "and the joint optimum tends to that. Add evidence of the other kind.",
        DegenerateWarning,
        stacklevel=3,
    )


def _warn_degenerate(table: PairTable, y: Floats) -> None:
    open_ = table.unknown & ~table.empty
    if open_.sum() < 2 or table.feasible.has("antisymmetric", "connex"):
        return
    values = np.unique(y[open_])
    if len(values) == 1:
        said = "related" if values[0] else "unrelated"
        warnings.warn(
            f"Every unknown pair is estimated to be {said}: with unknown_weight="
            f"{table.unknown_weight:g} the measure fits the unknown pairs rather than the "
            "evidence. Lower unknown_weight (0.1 or less), use balance='balanced', or give more "
            "evidence.",
            DegenerateWarning,
            stacklevel=3,
        )
