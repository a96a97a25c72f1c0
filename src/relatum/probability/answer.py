"""`Probabilities`: what is known of all feasible relations at once, not only of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Floats, Index
from relatum.errors import ProblemError
from relatum.probability.confidence import confidence_in
from relatum.probability.posterior import Posterior
from relatum.problem import (
    CondensedScores,
    Partition,
    Problem,
    Relation,
    SparseScores,
    nearest_float,
    plain_array,
    require_memory,
    shown,
    whole_number,
)


class Probabilities:
    """Probabilities conditional on the feasible set: p(y) = 2^value(y) / Z.

    `relatum.probabilities` makes one. Numbers are as good as the log-odds are: unless they were
    calibrated on labelled problems, the representation says so.

    Attributes
    ----------
    problem : Problem
    exact : bool
        Whether nothing but rounding is between these numbers and the truth.
    method : str
        How they were found.
    calibrated : bool
        Whether the probabilities of pairs were adjusted to labelled problems.

    Examples
    --------
    >>> import relatum as rt
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> known = rt.probabilities(problem)
    >>> known.matrix().round(2).tolist()
    [[1.0, 0.89, 0.8], [0.89, 1.0, 0.72], [0.8, 0.72, 1.0]]
    >>> known.exact, known.calibrated
    (True, False)
    """

    def __init__(self, problem: Problem, posterior: Posterior, calibrated: bool = False) -> None:
        self.problem, self.posterior, self.calibrated = problem, posterior, calibrated
        self.exact, self.method = posterior.exact, posterior.method

    @property
    def diagnostics(self) -> Mapping[str, Any]:
        """What the method says of its work; empty where nothing can go wrong."""
        return self.posterior.diagnostics

    @property
    def log2_normalizer(self) -> float:
        """log2 Z, in bits: the log2 of the sum of 2^value over all feasible relations.

        Of a sampler, `diagnostics` has its standard error; nan where it could not be found, and
        there they say why.
        """
        z = self.posterior.normalizer
        return float("nan") if z is None else nearest_float(z)

    def pairs(self, i: ArrayLike, j: ArrayLike, *, ids: bool = False) -> Any:
        """Return the probabilities that i is related to j.

        Parameters
        ----------
        i, j : numbers of elements, or arrays of them of equal shapes
            Names, where the problem has them; numbers are numbers of elements.
        ids : bool
            Whether numbers are names, too.
        """
        a, b = self._elements(i, 0, ids), self._elements(j, 1, ids)
        if a.shape != b.shape:
            raise ProblemError(
                f"i and j name one pair per entry, got shapes {a.shape} and {b.shape}."
            )
        p = self.posterior.marginals.pairs(a.ravel(), b.ravel())[0]
        return float(p[0]) if a.ndim == 0 else p.reshape(a.shape)

    def matrix(self) -> Floats:
        """Return the probabilities of all pairs, of shape (|A|, |B|)."""
        rows, columns = self.problem.shape
        require_memory(
            40 * rows * columns,
            f"A matrix of {rows} x {columns} probabilities",
            "ask for those of some pairs (Probabilities.pairs), or of the scored pairs "
            "(Probabilities.marginals)",
        )
        i, j = np.divmod(np.arange(rows * columns), columns)
        return self.posterior.marginals.pairs(i, j)[0].reshape(rows, columns)

    @property
    def marginals(self) -> Floats:
        """Probabilities of the scored pairs, laid out as `Problem.log_odds` is."""
        i, j = self._scored()
        return self.posterior.marginals.pairs(i, j)[0].reshape(self.problem.log_odds.shape)

    @property
    def error(self) -> Floats:
        """Standard errors of `marginals`, in the same layout; zeros where they are exact."""
        i, j = self._scored()
        return self.posterior.marginals.pairs(i, j)[1].reshape(self.problem.log_odds.shape)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the scored pairs as columns, such as for ``pandas.DataFrame``.

        `i` and `j` (ids where the problem has them), `log_odds`, `probability` and `error`.
        """
        i, j = self._scored()
        p, error = self.posterior.marginals.pairs(i, j)
        scores = np.asarray(self.problem.log_odds).ravel()
        rows, columns = self.problem.names or (None, None)
        a, b = i if rows is None else rows[i], j if columns is None else columns[j]
        return {"i": a, "j": b, "log_odds": scores, "probability": p, "error": error}

    def of(self, relation: Relation) -> float:
        """Return the log2-probability of a relation, in bits; -inf if it is not feasible.

        Two relations differ in it by the difference of their values. Of calibrated
        probabilities it is still that of the measure: calibration is about pairs. It is nan
        where `log2_normalizer` is.
        """
        if not isinstance(relation, Relation):
            raise ProblemError(
                f"A relation is one such as relatum.Partition(labels), got {shown(relation)}."
            )
        value = self.problem.exact_value(relation)
        if self.posterior.normalizer is None:
            return float("nan")
        feasible = self.problem.feasible.contains(relation) and self._possible(relation)
        return nearest_float(value - self.posterior.normalizer) if feasible else -np.inf

    def sets(self, elements: Partition | Sequence[Any] | Index) -> Any:
        """Return the probability that some elements are exactly one of the sets of a clustering.

        Parameters
        ----------
        elements : sequence of numbers or names of elements, or Partition
            Of a partition, the probability of each of its sets, in the order of
            `Partition.sets`.
        """
        if self.posterior.sets is None:
            raise ProblemError(
                f"Sets have probabilities in clusterings (EQUIVALENCES), not in "
                f"{self.problem.feasible.structure}."
            )
        if isinstance(elements, Partition):
            if elements.shape != self.problem.shape:
                raise ProblemError(
                    f"The partition has {elements.shape[0]} elements, the problem {self.problem.n}."
                )
            return self.posterior.sets(elements.sets())
        given = np.unique(np.atleast_1d(self._elements(elements, 0, False)))
        if given.size == 0:
            raise ProblemError("A set of a clustering has at least one element, got none.")
        return float(self.posterior.sets([given])[0])

    def confidence(self, relation: Relation) -> Floats:
        """Return how probable what a relation says of each element is.

        Of a partition, the probability that the element's set is exactly one of the sets; of a map,
        that of its image; of a linear order, that of its place. Of other rankings, the mean over
        the other elements of the probability that the two stand as they do. Of a relation of no
        such kind, the probability of each related pair, in the order of `Relation.pairs`.
        """
        if isinstance(relation, Relation) and relation.shape != self.problem.shape:
            raise ProblemError(
                f"The problem has |A| x |B| = {self.problem.shape}, the relation {relation.shape}."
            )
        return confidence_in(self.posterior, relation)

    @property
    def ranks(self) -> Floats:
        """For linear orders: the probability of element a at place k, in row a and column k."""
        if self.posterior.ranks is None:
            raise ProblemError(
                f"Ranks have probabilities in LINEAR_ORDERS, not in {self.problem.feasible}."
            )
        return self.posterior.ranks

    def sample(self, k: int = 1, seed: int = 0) -> list[Relation]:
        """Draw relations; the same seed draws the same ones."""
        count = whole_number(k, "The number of draws, k,", least=0)
        number = whole_number(seed, "seed", least=0, most=1 << 64)
        return self.posterior.draw(count, np.random.default_rng(number))

    def __repr__(self) -> str:
        how = "exact" if self.exact else "estimated"
        said = "calibrated" if self.calibrated else "uncalibrated"
        rows, columns = self.problem.shape
        return (
            f"Probabilities({rows} x {columns}, {self.problem.feasible.structure}, {how} by "
            f"{self.method}, {said}, log2 Z = {self.log2_normalizer:.6g})"
        )

    def _possible(self, relation: Relation) -> bool:
        """Say whether a feasible relation is also one that the method's condition allows."""
        blocks = self.posterior.blocks
        if blocks is None:
            return True
        labels = relation.to(Partition).labels
        return bool(len(np.unique(np.column_stack([labels, blocks]), axis=0)) == labels.max() + 1)

    def _scored(self) -> tuple[Index, Index]:
        """Return the pairs of `Problem.log_odds`, in its order."""
        scores, (rows, columns) = self.problem.scores, self.problem.shape
        if isinstance(scores, SparseScores):
            return scores.i, scores.j
        if isinstance(scores, CondensedScores):
            i, j = np.triu_indices(rows, 1)
            return i.astype(np.int64), j.astype(np.int64)
        i, j = np.divmod(np.arange(rows * columns), columns)
        return i, j

    def _elements(self, given: Any, axis: int, ids: bool) -> Index:
        if ids or (self.problem.names is not None and not _are_numbers(given)):
            if self.problem.names is None:
                raise ProblemError("The problem has no ids; name its elements by their numbers.")
            return self.problem.numbers(given, "B" if axis else "A")
        array = plain_array(given, "Elements")
        size = self.problem.shape[axis]
        if array.size == 0:
            return np.empty(array.shape, np.int64)
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= size:
            raise ProblemError(
                f"Elements are named by their numbers, 0 ... {size - 1}, got {shown(given)}."
            )
        return array.astype(np.int64)


def _are_numbers(given: Any) -> bool:
    """Say whether elements are given by whole numbers, and not by names."""
    if isinstance(given, np.ndarray):
        return given.dtype.kind in "iu"
    parts = given if isinstance(given, list | tuple | range) else [given]
    return all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in parts)
