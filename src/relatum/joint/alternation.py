"""Alternation: learn the measure for fixed y, infer the relation for fixed theta, and repeat.

As J is concave in y, this is successive linearisation. No step can increase the objective: a
learned theta is kept only if it is better, and inference starts from the relation it has. The
objective is checked after every step nevertheless.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from relatum.array_types import Floats
from relatum.errors import EvidenceError, SolverError
from relatum.inference import infer
from relatum.joint.known_pairs import PairTable
from relatum.joint.learning import Learner
from relatum.problem import Relation
from relatum.proof import Estimate, Status, closes
from relatum.solvers import Control

AnyLearner = TypeVar("AnyLearner", bound=Learner)


@dataclass
class Pair:
    """A measure and a relation: parameters, targets, and what they cost."""

    theta: Floats
    relation: Relation
    y: Floats  # the relation as zeros and ones
    objective: float  # D_x(theta, y) + R_sigma(theta), in bits
    estimate: Estimate | None = None  # the relation as the answer to the problem that theta poses
    history: list[float] = field(default_factory=list)  # the objective after every step


class Alternation:
    """Alternation from several starts.

    Parameters
    ----------
    table : PairTable
    learner, supervised : Learner
        With the weights of all pairs, and with those of the known pairs only.
    control : Control
        Time, seed.
    solver, prove
        Passed on to `infer`.
    """

    def __init__(
        self,
        table: PairTable,
        learner: Learner,
        supervised: Learner,
        control: Control,
        solver: str = "auto",
        prove: bool = False,
    ) -> None:
        self.table, self.learner, self.supervised = table, learner, supervised
        self.control, self.solver, self.prove = control, solver, prove
        self.first = supervised.learn(table.decided)

    def run(self, n_starts: int) -> tuple[Pair, list[float]]:
        """Alternate from the supervised start, then from random ones; return the best.

        Returns
        -------
        best : Pair
        objectives : list of float
            One for every start that led anywhere new.
        """
        best = self.improve(self.relate(self.learner.log_odds(self.first)))
        objectives = [best.objective]
        met = {best.y.tobytes()}
        rng = np.random.default_rng(self.control.seed)
        for number in range(1, n_starts):
            if self.control.expired():
                break
            start = self.relate(self._random_scores(number, rng))
            assert start.relation is not None
            if self.table.targets(start.relation).tobytes() in met:
                continue
            found = self.improve(start)
            met.add(found.y.tobytes())
            objectives.append(found.objective)
            if found.objective < best.objective - self._tolerance(best.objective):
                best = found
        return best, objectives

    def _random_scores(self, number: int, rng: np.random.Generator) -> Floats:
        """Random parameters, or random pairs, in turn."""
        if number % 2:
            return self.learner.log_odds(self.learner.random(self.first, rng))
        return rng.normal(size=len(self.table.a))

    def relate(self, scores: Floats, start: Relation | None = None) -> Estimate:
        """Infer a relation for these log-odds."""
        estimate = infer(
            self.table.problem(scores),
            solver=self.solver,
            prove=self.prove,
            time_limit=max(1e-3, 0.5 * self.control.remaining()),
            start=start,
            seed=self.control.seed,
        )
        if estimate.status is Status.INFEASIBLE:
            raise EvidenceError(estimate.message)
        if estimate.relation is None:
            raise SolverError(
                "No feasible relation was found in time; allow more time, or give evidence that "
                "leaves less to decide."
            )
        return estimate

    def improve(self, start: Estimate | Relation) -> Pair:
        """Alternate from a relation until neither step helps."""
        relation = start.relation if isinstance(start, Estimate) else start
        assert relation is not None
        y = self.table.targets(relation)
        theta = self.learner.learn(y)
        pair = Pair(theta, relation, y, self.learner.objective(theta, y))
        pair.history.append(pair.objective)
        while True:
            estimate = self.relate(self.learner.log_odds(pair.theta), pair.relation)
            better = self._take_relation(pair, estimate)
            pair.estimate = self._settled(pair, estimate)
            if not better:
                return pair
            self._take_theta(pair)
            if self.control.expired():
                pair.estimate = None
                return pair

    def _take_relation(self, pair: Pair, estimate: Estimate) -> bool:
        """Take the relation if the objective falls by it."""
        assert estimate.relation is not None
        y = self.table.targets(estimate.relation)
        objective = self.learner.objective(pair.theta, y)
        if objective >= pair.objective - self._tolerance(pair.objective):
            return False
        self._record(pair, objective)
        pair.relation, pair.y = estimate.relation, y
        return True

    def _take_theta(self, pair: Pair) -> None:
        """Learn, and keep what was if the learner did not get as far."""
        theta = self.learner.learn(pair.y, pair.theta)
        objective = self.learner.objective(theta, pair.y)
        if objective <= pair.objective:
            self._record(pair, objective)
            pair.theta = theta

    def _settled(self, pair: Pair, estimate: Estimate) -> Estimate:
        """Return the estimate of the pair's own relation."""
        if estimate.relation == pair.relation:
            return estimate
        problem = self.table.problem(self.learner.log_odds(pair.theta))
        value = problem.value(pair.relation)
        closed = closes(problem.exact_value(pair.relation), estimate.bound)
        status = Status.OPTIMAL if closed else Status.FEASIBLE
        return replace(
            estimate,
            relation=pair.relation,
            value=value,
            status=status,
            message=status.sentence,
            stats=dict(estimate.stats),
        )

    def finish(self, pair: Pair) -> Estimate:
        """Return the estimate that belongs to the pair, inferring it if there is none yet."""
        if pair.estimate is None:
            estimate = self.relate(self.learner.log_odds(pair.theta), pair.relation)
            pair.estimate = self._settled(pair, estimate)
        return pair.estimate

    @staticmethod
    def _tolerance(objective: float) -> float:
        return 1e-9 * (1.0 + abs(objective))

    def _record(self, pair: Pair, objective: float) -> None:
        if not objective <= pair.objective + self._tolerance(pair.objective):
            raise AssertionError(
                f"Alternation increased the objective from {pair.objective} to {objective} bits; "
                "this is an error in relatum, please report it."
            )
        pair.objective = objective
        pair.history.append(objective)

    def supervised_bound(self) -> float:
        """Bound the objective by what the known pairs alone cost; the others cost at least 0."""
        y = self.table.decided
        value = self.supervised.objective(self.first, y)
        gap = _gap_of(self.supervised, self.first, y)
        return value - gap - 1e-12 * (1.0 + abs(value))


class ExactSearch(Generic[AnyLearner]):
    """What the exact searches share: a problem, and the best pair so far.

    Their `run` improves that pair to a global optimum, as far as time allows, and returns it, a
    bound that no pair's objective is below, and statistics.
    """

    def __init__(self, search: Alternation, learner: AnyLearner, best: Pair) -> None:
        self.search, self.learner, self.best = search, learner, best
        self.table, self.control = search.table, search.control

    def take(self, relation: Relation) -> None:
        """Alternate from a relation, and keep what is found if it is better."""
        pair = self.search.improve(relation)
        if pair.objective < self.best.objective:
            pair.history = [*self.best.history, pair.objective]
            self.best = pair


def _gap_of(learner: Any, theta: Floats, y: Floats) -> float:
    """By how much the learned objective may exceed its minimum."""
    fitted = learner.measure(theta, y)
    dual = getattr(fitted, "dual_objective_", None)
    return 0.0 if dual is None else max(0.0, learner.objective(theta, y) - float(dual))
