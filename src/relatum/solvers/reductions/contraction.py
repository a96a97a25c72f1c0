"""Must-links of equivalence relations: elements known to be related become one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from relatum.array_types import Index
from relatum.problem import EQUIVALENCES, Partition, Problem, Relation, numbered_evidence
from relatum.proof import Contract, Proof, sums_are_exact
from relatum.solvers.reductions.base import Bound, Reduced
from relatum.solvers.reductions.connected import connected
from relatum.solvers.reductions.parts import raised

CONTRACTED_ELEMENTS = 20_000  # of a problem at most: its scores are held as a matrix


def groups_of_must_links(related: Index, n: int) -> Index:
    """Return a label per element: equal for elements connected by given pairs."""
    return connected(n, [related.T])


class Contraction:
    """Contract elements that evidence says are related."""

    name = "contraction"
    always = False

    def accepts(self, problem: Problem) -> bool:
        yes = problem.evidence.related
        return (
            problem.feasible.structure == EQUIVALENCES
            and problem.feasible.cap is None
            and bool((yes[:, 0] != yes[:, 1]).any())
            and problem.n <= CONTRACTED_ELEMENTS
        )

    def apply(self, problem: Problem) -> Reduced:
        labels = groups_of_must_links(problem.evidence.related, problem.n)
        g = int(labels.max()) + 1
        one_hot = csr_array((np.ones(problem.n), (labels, np.arange(problem.n))))
        # transposed, which is all the same: mirror pairs are added
        scores = np.asarray(one_hot @ np.asarray(one_hot @ problem.dense()).T)
        small = Problem(
            scores, EQUIVALENCES & numbered_evidence(unrelated=_cannot_links(problem, labels))
        )
        first = np.unique(labels, return_index=True)[1]

        def invert(relations: Sequence[Relation]) -> Relation:
            return Partition(relations[0].to(Partition).labels[labels])

        def divide(relation: Relation) -> Sequence[Relation]:
            return [Partition(relation.to(Partition).labels[first])]

        assert small.n == g
        error = Fraction(0)  # what rounding may have taken from the scores between sets
        if not sums_are_exact(problem):
            most = float(np.bincount(labels).max())
            error = Fraction(2.0**-52 * most**2 * problem.scores.magnitude())

        def prove(bounds: Sequence[Bound], proofs: Sequence[Proof]) -> tuple[Bound, Proof]:
            bound, proof = raised(bounds[0], proofs[0], error, g)
            return bound, Contract(labels, proof)

        return Reduced([small], Fraction(0), invert, divide, prove)


def _cannot_links(problem: Problem, labels: Index) -> Index:
    """Pairs of contracted elements that must not be related."""
    fixed = [problem.evidence.unrelated] + [
        p.fixed(problem.shape)[1] for p in problem.feasible.groups
    ]
    pairs = labels[np.concatenate(fixed)]
    return np.unique(np.sort(pairs, axis=1), axis=0) if len(pairs) else pairs
