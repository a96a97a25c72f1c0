"""The joint problem of the logistic model, exactly, for few features.

J(y) = min over theta of G(theta) - <theta, c(y)>, with class totals c and convex G. So the joint
problem is to minimise, over theta alone, G(theta) - h(theta), where h(theta) is the largest
<theta, c(y)> of a feasible y: the value of an inference problem, and convex in theta. Over a
simplex of parameters, h is at most the affine function through its values at the vertices (the
concave envelope there), and G minus that is convex: its minimum bounds the simplex. Simplices are
split along the edge where h bends most, at the bend. Where one relation is optimal at all
vertices, the bound is exact, so the search ends.

An inference that is cut short still gives a valid bound of h, so a time limit or Ctrl-C leaves a
valid bound of the whole.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import nnls

from relatum.array_types import Floats
from relatum.errors import SolverError
from relatum.inference import infer
from relatum.joint.alternation import Alternation, ExactSearch, Pair
from relatum.joint.conjugate import Conjugate
from relatum.joint.learning import LogisticLearner
from relatum.problem import Relation
from relatum.proof import Status


@dataclass(frozen=True)
class SimplexSettings:
    """What the search over parameters may spend, and when it ends."""

    most_features: int = 6  # a box is cut into as many simplices as features can be ordered
    tolerance: float = 1e-6  # of the objective: bounds that come so close end the search
    steps: int = 30  # of Newton's method per bound at most; mostly a few are enough
    bend: float = 1e-12  # bits below which h is straight, where inference was cut short
    least_part: float = 0.05  # of an edge on either side of a split, so that simplices shrink


SIMPLICES = SimplexSettings()


@dataclass(frozen=True, eq=False)
class _Vertex:
    """Parameters, an upper bound of h there, and the totals of the relation found there."""

    theta: Floats
    h: float
    totals: Floats


class SimplexSearch(ExactSearch[LogisticLearner]):
    """A search for the best parameters, in ever smaller simplices of them."""

    def __init__(self, search: Alternation, learner: LogisticLearner, best: Pair) -> None:
        super().__init__(search, learner, best)
        if learner.width > SIMPLICES.most_features:
            raise SolverError(
                f"exact=True takes at most {SIMPLICES.most_features} features for the logistic "
                f"model, and there are {learner.width}; use exact=False with n_starts > 1, fewer "
                "features, or classes of pairs with a BernoulliMeasure."
            )
        assert learner.form is not None
        self.form: Conjugate = learner.form
        self.known = learner.totals_of(self.table.decided)
        self.unknown_weights = np.where(self.table.unknown, learner.weights, 0.0)
        self.vertices: dict[bytes, _Vertex] = {}
        self.seen: set[bytes] = set()
        self.nodes = 0

    # --- the function h -----------------------------------------------------------------

    def _vertex(self, theta: Floats) -> _Vertex:
        key = theta.tobytes()
        if key not in self.vertices:
            self.vertices[key] = self._evaluate(theta)
        return self.vertices[key]

    def _evaluate(self, theta: Floats) -> _Vertex:
        """Infer; the relation found is a start for alternation, too."""
        scores = self.unknown_weights * self.learner.log_odds(theta)
        fixed = float(self.known @ theta)
        if self.control.expired():  # every unknown pair on its own
            bound = float(np.maximum(scores, 0.0).sum())
            return _Vertex(theta, fixed + bound, self.learner.totals_of(self.best.y))
        estimate = infer(
            self.table.problem(scores),
            solver=self.search.solver,
            prove=True,
            time_limit=max(1e-3, self.control.remaining()),
            seed=self.control.seed,
        )
        totals = self.learner.totals_of(self.best.y)
        if estimate.status is not Status.INFEASIBLE and estimate.relation is not None:
            totals = self.learner.totals_of(self.table.targets(estimate.relation))
            self._offer(estimate.relation, totals)
        return _Vertex(theta, fixed + estimate.bound, totals)

    def _offer(self, relation: Relation, totals: Floats) -> None:
        """Take a relation whose best objective is below the best so far."""
        key = totals.tobytes()
        if key in self.seen:
            return
        self.seen.add(key)
        _, value, _ = self.form.minimize(totals)
        if value < self.best.objective - 1e-9 * (1.0 + abs(value)):
            self.take(relation)

    # --- the search ---------------------------------------------------------------------

    def run(self) -> tuple[Pair, float, dict[str, Any]]:
        queue: list[tuple[float, int, list[_Vertex]]] = []
        count = 0
        for simplex in self._cover():
            bound = self._bound(simplex)
            heapq.heappush(queue, (bound, count, simplex))
            count += 1
        while queue and not self.control.expired() and not self._settled(queue[0][0]):
            bound, _, simplex = heapq.heappop(queue)
            self.nodes += 1
            for part in self._split(simplex):
                better = max(bound, self._bound(part))
                if not self._settled(better):
                    heapq.heappush(queue, (better, count, part))
                    count += 1
            self.control.report(-self.best.objective, -queue[0][0] if queue else 0.0, self.nodes)
        bound = min([self.best.objective - self._tolerance(), *(q[0] for q in queue[:1])])
        stats = {"simplices": self.nodes, "inferences": len(self.vertices)}
        return self.best, bound, stats

    def _tolerance(self) -> float:
        return SIMPLICES.tolerance * (1.0 + abs(self.best.objective))

    def _settled(self, bound: float) -> bool:
        return bound >= self.best.objective - self._tolerance()

    def _cover(self) -> list[list[_Vertex]]:
        """Cut a box that contains every optimal theta into simplices."""
        low, high = self._box()
        k = len(low)
        simplices = []
        for order in permutations(range(k)):
            corner = low.copy()
            chain = [self._vertex(corner.copy())]
            for axis in order:
                corner[axis] = high[axis]
                chain.append(self._vertex(corner.copy()))
            simplices.append(chain)
        return simplices

    def _box(self) -> tuple[Floats, Floats]:
        """Bound every coordinate of an optimal theta.

        What the known pairs and the prior cost, F(theta), cannot exceed the best objective U.
        For any m > 0: theta_k <= (U - min(F(theta) - m theta_k)) / m.
        """
        form = Conjugate.of_pairs(self.learner.x, self.table.known_weights, self.learner.strength)
        k = self.learner.width
        high, low = np.full(k, math.inf), np.full(k, -math.inf)
        slack = self.best.objective + self._tolerance()
        for axis in range(k):
            for sign in (1.0, -1.0):
                theta = None
                for m in 2.0 ** np.arange(-8, 12):
                    shift = self.known.copy()
                    shift[axis] += sign * m
                    theta, _, bound = form.minimize(shift, theta)
                    reach = (slack - bound) / m
                    if sign > 0:
                        high[axis] = min(high[axis], reach)
                    else:
                        low[axis] = max(low[axis], -reach)
        return low, np.maximum(high, low)

    def _split(self, simplex: list[_Vertex]) -> list[list[_Vertex]]:
        """Split the edge along which h bends most, where its two ends' linear pieces meet."""
        edges = [(j, i) for i in range(len(simplex)) for j in range(i)]
        ends = [(simplex[j], simplex[i]) for j, i in edges]
        bends = [float((v.totals - u.totals) @ (v.theta - u.theta)) for u, v in ends]
        most, t = max(bends), 0.5
        if most > SIMPLICES.bend:
            chosen = bends.index(most)
            u, v = ends[chosen]
            least = SIMPLICES.least_part
            t = min(max(float(-((v.totals - u.totals) @ u.theta) / most), least), 1.0 - least)
        else:  # inference was cut short: halve the longest edge
            chosen = int(np.argmax([np.linalg.norm(v.theta - u.theta) for u, v in ends]))
            u, v = ends[chosen]
        middle = self._vertex(u.theta + t * (v.theta - u.theta))
        parts = []
        for k in edges[chosen]:
            part = list(simplex)
            part[k] = middle
            parts.append(part)
        return parts

    # --- the bound ----------------------------------------------------------------------

    def _bound(self, simplex: list[_Vertex]) -> float:
        """Bound G - h over a simplex from below.

        At any point p of the simplex, G is at least its tangent there; the tangent minus the
        affine function through the values of h is smallest at a vertex. At the minimiser this is
        the minimum itself, so p is taken close to it.
        """
        corners = np.array([v.theta for v in simplex])
        h = np.array([v.h for v in simplex])
        weight = np.full(len(h), 1.0 / len(h))
        best = -math.inf
        for _ in range(SIMPLICES.steps):
            p = weight @ corners
            slope = self.form.slope(p)
            linear = corners @ slope - h
            value = self.form.value(p)
            bound = value - float(slope @ p) + float(linear.min())
            best = max(best, bound)
            upper = value - float(weight @ h)
            if upper - best <= 0.1 * self._tolerance() or self._settled(best):
                break
            if upper < self.best.objective - 10 * (upper - best) - self._tolerance():
                break  # it will be split in any case
            weight = self._step(corners, h, weight, linear, p)
        scale = float(np.abs(h).max()) + float(self.form.weights.sum())
        return best - 1e-13 * scale

    def _step(
        self, corners: Floats, h: Floats, weight: Floats, linear: Floats, p: Floats
    ) -> Floats:
        """Take a step of Newton's method over the simplex, in barycentric coordinates."""
        factor = np.linalg.cholesky(self.form.hessian(p)).T @ corners.T
        # min |factor (w - weight)|^2 / 2 + linear w over w >= 0, sum w = 1, as least squares
        size = len(h)
        square = factor.T @ factor
        scale = max(float(np.trace(square)) / size, 1e-12)
        ridge = square + 1e-9 * scale * np.eye(size)
        root = np.linalg.cholesky(ridge).T
        target = np.linalg.solve(root.T, ridge @ weight - linear + linear.mean())
        heavy = 1e4 * math.sqrt(scale)
        found, _ = nnls(np.vstack([root, np.full(size, heavy)]), np.append(target, heavy))
        total = float(found.sum())
        if not total > 0:
            return weight
        found = found / total

        def cost(w: Floats) -> float:
            return self.form.value(w @ corners) - float(w @ h)

        t, now = 1.0, cost(weight)
        while t > 1e-6:
            trial = weight + t * (found - weight)
            if cost(trial) < now:
                return trial
            t *= 0.5
        return weight
