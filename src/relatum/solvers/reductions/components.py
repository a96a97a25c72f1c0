"""Equivalence relations decompose into the connected components of positive pairs.

Between components no pair gains anything by being related, so some most probable
equivalence relation relates nothing across them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np

from relatum.array_types import Index
from relatum.problem import (
    EQUIVALENCES,
    Partition,
    Problem,
    Relation,
    SparseScores,
    exact_sum,
    float_up,
    sum_of,
)
from relatum.proof import Decompose, Proof
from relatum.solvers.reductions.base import Bound, Reduced
from relatum.solvers.reductions.connected import BLOCK, connected


def positive_components(problem: Problem) -> Index:
    """Return a label per element: its component in the graph of positive and given pairs."""
    return connected(problem.n, chain([problem.evidence.related.T], _positive(problem)))


def _positive(problem: Problem) -> Iterator[tuple[Index, Index]]:
    scores, n = problem.scores, problem.n
    if isinstance(scores, SparseScores):
        keep = scores.log_odds > 0
        yield scores.i[keep], scores.j[keep]
        return
    c = problem.log_odds if problem.log_odds.ndim == 2 else problem.dense()
    for start in range(0, n, BLOCK):  # in blocks: the sum c + c' is never held whole
        stop = min(n, start + BLOCK)
        i, j = np.nonzero(np.triu(c[start:stop] + c[:, start:stop].T > 0, start + 1))
        yield start + i, j


class Components:
    """Split into connected components of positive pairs."""

    name = "components"
    always = False

    def accepts(self, problem: Problem) -> bool:
        own = problem.feasible.structure == EQUIVALENCES  # not, say, with CONNEX
        return own and problem.background <= 0.0 and problem.n > 1

    def apply(self, problem: Problem) -> Reduced:
        label = positive_components(problem)
        parts = _sets_of_several(label)
        diagonal = np.zeros(problem.n)
        if isinstance(problem.scores, SparseScores):
            own = problem.scores.i == problem.scores.j
            np.add.at(diagonal, problem.scores.i[own], problem.scores.log_odds[own])
        elif problem.log_odds.ndim == 2:
            diagonal = np.diagonal(problem.log_odds).astype(np.float64)
        alone = np.ones(problem.n, dtype=np.bool_)
        for elements in parts:
            alone[elements] = False
        constant = exact_sum(diagonal[alone])
        return Reduced(
            [problem.restrict(elements) for elements in parts],
            constant,
            partial(_invert, parts, problem.n),
            lambda relation: [
                Partition(relation.to(Partition).labels[elements]) for elements in parts
            ],
            partial(_prove, parts, constant),
        )


def _sets_of_several(label: Index) -> list[Index]:
    """Components of two elements or more, smallest first."""
    order = np.argsort(label, kind="stable")
    sets = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return sorted((s for s in sets if len(s) > 1), key=len)


def _invert(parts: list[Index], n: int, relations: Sequence[Relation]) -> Relation:
    labels = np.arange(n, dtype=np.int64)
    for elements, relation in zip(parts, relations, strict=True):
        labels[elements] = elements[0] + n * (1 + relation.to(Partition).labels)
    return Partition(labels)


def _prove(
    parts: list[Index], constant: Fraction, bounds: Sequence[Bound], proofs: Sequence[Proof]
) -> tuple[Bound, Proof]:
    claims = [float_up(bound) for bound in bounds]
    proof = Decompose(tuple(zip(parts, claims, proofs, strict=True)))
    if math.inf in claims:
        return math.inf, proof
    return sum_of([constant, *claims]), proof
