"""Clusterings by random walks, part by part; small parts are summed over exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from relatum.array_types import Flags, Floats, Index
from relatum.kernels.probability.cluster_chains import Clustering
from relatum.probability.exact.cluster_parts import DENSE, Part, parts_of
from relatum.probability.exact.clusterings import Sums, draw_parts, part_sums, sets_of_parts
from relatum.probability.exact.weights import infeasible
from relatum.probability.methods import Task
from relatum.probability.posterior import BlockMarginals, Posterior
from relatum.probability.sampling.chains import (
    CHAINS,
    judged,
    most_probable,
    picked,
    some_pairs,
)
from relatum.probability.sampling.counting import log2_bell, log2_partitions
from relatum.probability.sampling.drawn import DrawnMarginals, Draws
from relatum.probability.sampling.ladder import Drawn, Walking, drawn
from relatum.probability.sampling.neighbours import Neighbours, neighbours_of
from relatum.probability.sampling.normalizer import Gain, total
from relatum.problem import Partition, SparseScores
from relatum.solvers import Control

LARGEST = 20_000  # elements of a part whose pairs are listed
SMALL = 14  # elements of a part that "auto" sums over, some milliseconds each
WORK = 2_000_000  # neighbours looked at between two draws,
SWEEPS = 5  # in so many rounds over all elements at most


def refusal(task: Task) -> str | None:
    """Say which part is too large."""
    problem = task.problem
    if problem.n <= DENSE:
        return None
    if not isinstance(problem.scores, SparseScores):
        return (
            f"takes clusterings of at most {DENSE} elements all of whose pairs are scored, and "
            f"these are {problem.n}"
        )
    size = problem.n if task.across else max(part.size for part in parts_of(task))
    if size > LARGEST:
        return (
            f"takes clusterings whose parts have at most {LARGEST} elements, and one has {size} "
            "(across=False makes parts of what no chain of scored pairs connects)"
        )
    return None


@dataclass(frozen=True, eq=False)
class Sampled:
    """What was drawn of one part; asked as `Sums` are. `start` is the value of where it began."""

    labels: Draws
    marginals: DrawnMarginals
    diagnostics: dict[str, Any]
    start: float
    gain: Gain

    def of_set(self, elements: Index) -> float:
        """Return how often elements were exactly one set."""
        first = self.labels[:, elements[0]][:, None]
        whole = (self.labels[:, elements] == first).all(axis=1)
        return float((whole & ((self.labels == first).sum(axis=1) == len(elements))).mean())

    def draw(self, count: int, rng: np.random.Generator) -> Index:
        """Return some of the draws."""
        return np.asarray(self.labels[picked(len(self.labels), count, rng)])


class PartMarginals:
    """Exact probabilities in some parts, drawn ones in others, 0 between parts."""

    def __init__(self, block: Index, place: Index, parts: list[Sums | Sampled]) -> None:
        self.block, self.place = block, place
        self.drawn = {k: s.marginals for k, s in enumerate(parts) if isinstance(s, Sampled)}
        one = np.ones((1, 1))
        matrices = [s.pairs if isinstance(s, Sums) else one for s in parts]
        is_drawn = np.isin(block, list(self.drawn))
        self.exact = BlockMarginals(block, np.where(is_drawn, 0, place), matrices)

    def pairs(self, i: Index, j: Index) -> tuple[Floats, Floats]:
        p, error = self.exact.pairs(i, j)
        for number, marginals in self.drawn.items():
            own = np.flatnonzero((self.block[i] == number) & (self.block[j] == number))
            if len(own):
                p[own], error[own] = marginals.pairs(self.place[i[own]], self.place[j[own]])
        return p, error


def posterior(task: Task, control: Control) -> Posterior:
    """Return probabilities of clusterings."""
    problem, parts = task.problem, list(parts_of(task))
    cap = problem.feasible.cap or problem.n
    if any(not part.possible or int(part.sizes.max()) > cap for part in parts):
        raise infeasible(problem)
    begun = most_probable(problem, control)
    start = begun.relation.to(Partition).labels
    small = 1 if task.patient else SMALL
    found: list[Sums | Sampled] = []
    block, place = np.empty(problem.n, np.int64), np.empty(problem.n, np.int64)
    for number, part in enumerate(parts):
        if len(part.sizes) <= small and len(part.allowed) == len(part.sizes):
            sums = part_sums(part, cap, control)
            if sums is None:
                raise infeasible(problem)
            found.append(sums)
            block[part.elements], place[part.elements] = number, part.labels
            continue
        near = neighbours_of(part, problem)
        block[part.elements], place[part.elements] = number, near.labels
        share = part.size / sum(other.size for other in parts[number:])
        own = control if share == 1 else control.child(None, share * control.remaining())
        found.append(_sampled(part, near, start[part.elements], cap, task, own))
    drawn = [s for s in found if isinstance(s, Sampled)]
    said = _together([s.diagnostics for s in drawn])
    bits, error = total(
        [(s.start, s.gain) for s in drawn],
        sum((s.normalizer for s in found if isinstance(s, Sums)), Fraction(0)),
        said,
        (begun.value, begun.bound + log2_bell(problem.n)),
    )
    return Posterior(
        PartMarginals(block, place, found),
        bits,
        exact=False,
        method="tempering" if "exchanges accepted" in said else "sampling",
        draw=partial(draw_parts, parts, found, problem.n),
        normalizer_error=error,
        sets=partial(sets_of_parts, parts, found, block),
        blocks=block,
        diagnostics=said,
    )


def chains_of(near: Neighbours, first: Index, cap: int) -> list[Clustering]:
    """Return walkers at some labels."""
    scores = near.start, near.other, near.above
    return [
        Clustering(scores, near.sizes, near.background, min(cap, int(near.sizes.sum())), first)
        for _ in range(CHAINS)
    ]


def steps_of(near: Neighbours, start: Index) -> tuple[int, int]:
    """Return how many elements and pairs of elements to choose between two draws."""
    sets, k = len(np.unique(start)), len(near.sizes)
    work = len(near.other) + k * sets
    sweeps = max(1, min(SWEEPS, WORK // max(1, work)))
    return sweeps * k, sweeps * (sets // 2 + 2)


def _sampled(
    part: Part, near: Neighbours, start: Index, cap: int, task: Task, control: Control
) -> Sampled:
    """Draw clusterings of one part, from the labels `start` of its elements."""
    k = len(near.sizes)
    first = np.zeros(k, np.int64)
    first[near.labels] = np.unique(start, return_inverse=True)[1]
    seed = (task.seed, int(part.elements[0]))
    told = drawn(walking_of(near, first, cap, seed), task, control)
    allowed = part.allowed if len(part.allowed) == k else None
    marginals = DrawnMarginals(told.walks.draws, np.equal, partial(_certain, allowed))
    return Sampled(
        told.walks.draws.reshape(-1, k),
        marginals,
        _diagnostics(told, marginals, _watched(near, task.seed)),
        near.value(first),
        told.gain,
    )


def _certain(allowed: Flags | None, i: Index, j: Index) -> Flags:
    return np.asarray(i == j if allowed is None else ~allowed[i, j])


def walking_of(near: Neighbours, first: Index, cap: int, seed: tuple[int, ...]) -> Walking:
    """Return how chains walk over clusterings, from some labels."""
    heated: dict[float, Neighbours] = {}
    k, steps = len(near.sizes), steps_of(near, first)
    pairs = (float(near.sizes.sum()) ** 2 - float((near.sizes**2).sum())) / 2
    finite = np.isfinite(near.above)
    most = float(np.abs(near.above[finite]).sum()) / 2 + abs(near.background) * pairs

    def scores(factor: float) -> Neighbours:
        if factor not in heated:
            heated[factor] = near.heated(factor)
        return heated[factor]

    def reheat(walker: Clustering, old: float, new: float) -> None:
        walker.reheat(scores(new).above, scores(new).background, new / old)

    return Walking(
        k,
        lambda factor: chains_of(scores(factor), first, cap),
        reheat,
        steps,
        (k, max(2, steps[1] * k // steps[0])),
        seed,
        _canonical,
        log2_partitions(near.sizes, cap) if finite.all() else None,
        most,
        frozen=True,
    )


def _canonical(labels: Draws) -> Index:
    """Return the first element of each element's set instead of labels."""
    rows = [np.unique(row, return_index=True, return_inverse=True)[1:] for row in labels]
    return np.array([first[place] for first, place in rows])


def _watched(near: Neighbours, seed: int) -> tuple[Index, Index]:
    """Return pairs to look at: listed ones that may be related, or neighbours by number."""
    i = np.repeat(np.arange(len(near.sizes)), np.diff(near.start))
    j = near.other.astype(np.int64)
    listed = (i < j) & np.isfinite(near.above)
    if not listed.any():
        every = np.arange(len(near.sizes) - 1)
        return some_pairs(every, every + 1, seed)
    return some_pairs(i[listed], j[listed], seed)


def _diagnostics(
    told: Drawn, marginals: DrawnMarginals, watched: tuple[Index, Index]
) -> dict[str, Any]:
    said, chains = judged(told.walks, marginals, watched, told.exchanges), told.walkers
    for name in ("split", "join"):
        proposed = sum(getattr(c, f"proposed_{name}s") for c in chains)
        accepted = sum(getattr(c, f"{name}s") for c in chains)
        said[f"{name}s accepted"] = accepted / proposed if proposed else 0.0
    return said


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the diagnostics of the part that did worst, and the warnings of any."""
    if not parts:
        return {}
    worst = min(parts, key=lambda said: said["effective draws of the value"])
    told = [said["warning"] for said in parts if said["warning"]]
    return {**worst, "parts": len(parts), "warning": told[0] if told else None}
