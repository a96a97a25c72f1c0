"""Problems: log-odds of pairs, and the feasible set to search.

The value of a relation is the sum of the log2-odds of its related pairs. Log-odds come as

* a dense |A| x |B| array (float32 stays float32, and nothing is copied),
* a condensed upper triangle, row by row, for symmetric sets,
* a list of scored pairs with one `background` value for every pair not listed.

For symmetric sets the two directions of a pair are added; in the condensed and the sparse
form an unordered pair is scored once. A log-odds of +inf or -inf is evidence, and adds
nothing to the value. The diagonal counts where the relation contains it: for reflexive
sets it is a constant.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Flags, Floats, Index
from relatum.errors import ProblemError
from relatum.problem.arguments import plain_array, shown
from relatum.problem.elements import NamedElements
from relatum.problem.exact_sums import ExactSum
from relatum.problem.feasible import (
    RELATIONS,
    FeasibleSet,
    numbered_evidence,
    one_per_group,
)
from relatum.problem.frames import (
    columns_of_edges,
    columns_of_table,
    default_background,
    enumerate_ids,
    places_in,
)
from relatum.problem.memory import require_memory
from relatum.problem.names import Names, Side, count_of, names_of, names_of_frame, one_set
from relatum.problem.pair_lists import are_ids, elements_of
from relatum.problem.properties import Evidence
from relatum.problem.relation import Map, Partition, Relation, WeakOrder
from relatum.problem.scores import CondensedScores, DenseScores, Scores, SparseScores

DENSE_LIMIT = 400_000_000  # entries of a matrix that solvers are willing to work on


class Problem(NamedElements):
    """Log-odds and a feasible set.

    Parameters
    ----------
    log_odds : array-like
        A matrix of shape (n_a, n_b), or, for symmetric sets, the condensed upper triangle
        of length n (n - 1) / 2. In bits; positive means "related".
    feasible : FeasibleSet
        Where to look for the most probable relation.
    names : sequence, or (sequence, sequence), optional
        What the elements are called (ids): one list for relations on one set; for maps two, those
        of A and those of B, of which one may be None. All different. Evidence, groups, starts and
        explanations then go by names. A pandas DataFrame brings its own, unless it only counts.

    Examples
    --------
    >>> from relatum.problem import EQUIVALENCES, evidence
    >>> p = Problem([2.0, -1.0, 3.0], EQUIVALENCES)
    >>> p.value(Partition([0, 0, 0]))
    4.0
    >>> apart = EQUIVALENCES & evidence(unrelated=[("ann", "cy")])
    >>> Problem([2.0, -1.0, 3.0], apart, names=["ann", "bob", "cy"]).evidence.unrelated.tolist()
    [[0, 2]]
    """

    def __init__(
        self, log_odds: ArrayLike, feasible: FeasibleSet = RELATIONS, *, names: Any = None
    ) -> None:
        _require_set(feasible)
        scores, found = _scores_from_array(log_odds, feasible)
        if names is None:
            names = names_of_frame(log_odds, feasible.homogeneous)
        self._init(scores, feasible, found, names)

    def _init(self, scores: Scores, feasible: FeasibleSet, found: Evidence, names: Any) -> None:
        self._names = names_of(names, scores.shape, feasible.homogeneous)
        feasible = feasible.numbered(self._names, scores.shape)
        if len(found):
            feasible = feasible & FeasibleSet([found])
        feasible.check(scores.shape)
        self.scores = scores
        self.feasible = feasible

    @classmethod
    def from_pairs(
        cls,
        i: ArrayLike,
        j: ArrayLike,
        log_odds: ArrayLike,
        *,
        n: int | tuple[int, int] | None = None,
        background: float = 0.0,
        feasible: FeasibleSet,
        combine: Literal["sum"] | None = None,
        names: Any = None,
    ) -> Self:
        """Build a problem from scored pairs.

        Parameters
        ----------
        i, j : integer arrays of equal length
            The pairs, elements numbered from 0.
        log_odds : array of the same length
            In bits; +inf and -inf are evidence.
        n : int or (int, int), optional
            The number of elements (of A and of B); the largest number plus one otherwise.
            Without it, numbers far above the number of pairs (from 2**20 on, and 64 times as
            many) are taken as ids of the elements that occur, which are then in `Problem.ids`.
        background : float
            The log-odds of every pair that is not listed, in bits; 0 by default, what sparse
            graphs and their files mean by an edge that is not there (tables of candidate
            pairs mean something else, see `from_table`). It does not apply to
            the diagonal of relations on one set. For symmetric sets it counts once per
            unordered pair.
        feasible : FeasibleSet
        combine : "sum", optional
            What to do with pairs listed more than once; by default that is an error. In
            symmetric sets, (a, b) and (b, a) are the same pair.
        names : sequence, or (sequence, sequence), optional
            What the elements 0, 1, ... are called, see `Problem`; they also say how many there
            are.
        """
        _require_set(feasible)
        if n is None and names is None:
            a, b = elements_of(i, "i"), elements_of(j, "j")
            if are_ids(a, b):
                ids, (a, b) = enumerate_ids(a, b)
                return cls._with_ids(ids, a, b, log_odds, background, feasible, combine)
        n = count_of(names, feasible.homogeneous) if n is None else n
        return cls._from_pairs(i, j, log_odds, n, background, feasible, combine, names)

    @classmethod
    def _from_pairs(
        cls,
        i: ArrayLike,
        j: ArrayLike,
        log_odds: ArrayLike,
        n: int | tuple[int, int] | None,
        background: float,
        feasible: FeasibleSet,
        combine: Literal["sum"] | None,
        names: Any = None,
    ) -> Self:
        _require_set(feasible)
        kind = _pair_kind(feasible, n)
        ids = names.arrays[0] if isinstance(names, Names) else None  # that errors show
        scores, found = SparseScores.from_pairs(i, j, log_odds, n, background, kind, combine, ids)
        return cls._of(scores, feasible, Evidence(*found), names)

    @classmethod
    def _of(cls, scores: Scores, feasible: FeasibleSet, found: Evidence, names: Any) -> Self:
        problem = cls.__new__(cls)
        problem._init(scores, feasible, found, names)
        return problem

    @classmethod
    def from_sparse(
        cls, matrix: Any, *, background: float = 0.0, feasible: FeasibleSet, names: Any = None
    ) -> Self:
        """Build a problem from a scipy sparse matrix or array of log-odds.

        Stored entries are scores (stored zeros too); the rest has the background log-odds.
        For symmetric sets the two directions of a pair are added, as they are in a matrix. `names`
        are those of `Problem`.
        """
        _require_set(feasible)
        try:
            coo = matrix.tocoo()
            axes = len(coo.shape)
        except (AttributeError, TypeError):
            axes = 0
        if axes != 2:
            raise ProblemError(
                "Problem.from_sparse takes a sparse matrix or array of scipy with two axes, got "
                f"{shown(matrix)}; for other arrays use Problem(log_odds, feasible)."
            )
        n = coo.shape[0] if feasible.homogeneous and coo.shape[0] == coo.shape[1] else coo.shape
        return cls.from_pairs(
            coo.row,
            coo.col,
            coo.data,
            n=n,
            background=background,
            feasible=feasible,
            combine="sum",  # what repeated entries mean in scipy
            names=names,
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        left: str = "unique_id_l",
        right: str = "unique_id_r",
        log_odds: str | None = None,
        probability: str | None = None,
        background: float | None = None,
        feasible: FeasibleSet,
        combine: Literal["sum"] | None = None,
        names: Any = None,
    ) -> Self:
        """Build a problem from a pandas, polars or pyarrow table of scored pairs.

        Columns are named as Splink names them by default; the score is the column
        `log_odds` (default ``match_weight``, already log2-odds) or the log2-odds of the
        column `probability` (default ``match_probability``). Ids may be of any type that
        sorts; `Problem.ids[k]` is the id of element k. They are its names: evidence, groups and
        explanations go by them. `names` may list all ids, in the order wanted, those without any
        scored pair too.

        `background` are the log-odds of pairs that nobody scored: by default -0.5 bits for
        equivalence relations, as in `relatum.cluster_pairs`, where a table of candidates says
        something by leaving a pair out, and 0 for other sets. Numbers that all lie between 0 and
        1 are refused unless the call says whether they are `probability` or `log_odds`.
        """
        _require_set(feasible)
        a, b, score = columns_of_table(table, left, right, log_odds, probability)
        ids, (i, j) = enumerate_ids(a, b) if names is None else places_in(names, a, b)
        bits = default_background(feasible) if background is None else background
        return cls._with_ids(ids, i, j, score, bits, feasible, combine)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        weight: str = "weight",
        background: float = 0.0,
        feasible: FeasibleSet,
    ) -> Self:
        """Build a problem from a networkx graph whose edges carry log-odds.

        Positive weights say "related". An undirected graph asks for a symmetric set; in a
        directed graph the edge (a, b) scores "a is related to b", and for symmetric sets the
        edges of both directions are added.
        """
        _require_set(feasible)
        if not all(hasattr(graph, name) for name in ("is_directed", "is_multigraph", "edges")):
            raise ProblemError(
                f"Problem.from_networkx takes a graph of networkx, got {shown(graph)}."
            )
        if graph.is_directed() is False and not feasible.has("symmetric"):
            raise ProblemError(
                f"An undirected graph scores pairs without direction, but {feasible} is not "
                "symmetric; pass a DiGraph (for orders: an edge a -> b scores 'a before b')."
            )
        ids, i, j, score = columns_of_edges(graph, weight)
        directions = graph.is_directed() and not graph.is_multigraph()
        combine: Literal["sum"] | None = "sum" if directions else None
        return cls._with_ids(ids, i, j, score, background, feasible, combine)

    @classmethod
    def _with_ids(
        cls,
        ids: NDArray[Any],
        i: Index,
        j: Index,
        score: ArrayLike,
        background: float,
        feasible: FeasibleSet,
        combine: Literal["sum"] | None,
    ) -> Self:
        """Build a problem of pairs whose ids are known to be all different."""
        known = one_set(Side(ids))
        return cls._from_pairs(i, j, score, len(ids), background, feasible, combine, known)

    @property
    def shape(self) -> tuple[int, int]:
        """(|A|, |B|)."""
        return self.scores.shape

    @property
    def n(self) -> int:
        """|A|."""
        return self.scores.shape[0]

    @property
    def log_odds(self) -> NDArray[Any]:
        """The array of log-odds as given: dense, condensed, or the scores of listed pairs."""
        return self.scores.log_odds

    @property
    def background(self) -> float:
        """The log-odds of unlisted pairs; 0 for dense and condensed problems."""
        return self.scores.background

    @property
    def evidence(self) -> Evidence:
        """All evidence: that of the feasible set, and infinite log-odds."""
        return self.feasible.evidence or Evidence()

    @property
    def n_pairs(self) -> int:
        """How many pairs there are to decide: |A| |B|, or unordered pairs for symmetric sets."""
        if self.feasible.has("symmetric"):
            return self.n * (self.n - 1) // 2
        return self.shape[0] * self.shape[1]

    def value(self, relation: Relation) -> float:
        """Sum the log-odds of the relation's pairs, in bits, to the nearest float."""
        return self._sum_over(relation).nearest()

    def exact_value(self, relation: Relation) -> Fraction:
        """Sum the log-odds of the relation's pairs, in bits, without rounding."""
        return self._sum_over(relation).value()

    def _sum_over(self, relation: Relation) -> ExactSum:
        if not isinstance(relation, Relation):
            raise ProblemError(
                f"A relation is one such as relatum.Partition(labels), got {shown(relation)}."
            )
        if relation.shape != self.shape:
            raise ProblemError(
                f"The problem has |A| x |B| = {self.shape}, the relation has {relation.shape}."
            )
        if isinstance(relation, Partition):
            return self.scores.sum_over_partition(relation.labels)
        if isinstance(relation, Map):
            return self.scores.sum_over_map(relation.labels)
        if isinstance(relation, WeakOrder):
            return self.scores.sum_over_order(relation.order, relation.ranks)
        return self.scores.sum_over_matrix(relation.matrix())

    def dense(self) -> Floats:
        """Return a float64 matrix whose sum over a feasible relation is the relation's value.

        For symmetric sets in condensed or sparse form, unordered pairs are scored above the
        diagonal.
        """
        self._require_dense(8)
        return self.scores.dense()

    def _require_dense(self, width: int) -> None:
        """Refuse a matrix with so many bytes per pair if it does not fit into memory."""
        rows, columns = self.shape
        require_memory(
            width * rows * columns,
            f"A matrix of {rows} x {columns} pairs",
            f"{self.feasible} needs it, EQUIVALENCES of listed pairs do not: list the pairs that "
            "count (Problem.from_pairs), solve parts of the problem one by one, or cluster tables "
            "larger than memory by cluster_pairs, on DuckDB",
        )

    def folded(self) -> tuple[NDArray[Any], float]:
        """Return (scores of unordered pairs, condensed; sum of the diagonal).

        For symmetric and reflexive sets, value = constant + sum over related pairs a < b.
        """
        if isinstance(self.scores, SparseScores):
            self._require_dense(12)
        return self.scores.folded()

    def restrict(self, elements: Index) -> Problem:
        """Return the problem on some of the elements (of relations on one set)."""
        given = elements_of(elements, "elements")
        inside = given.size > 0 and int(given.max()) < self.n
        elements = given.astype(np.int64)
        if not inside or len(np.unique(elements)) < elements.size or self.shape[0] != self.shape[1]:
            raise ProblemError(
                f"Problem.restrict takes some of the elements 0 ... {self.n - 1} of a relation on "
                f"one set, each once, got {shown(given.tolist())} of {self.shape}."
            )
        feasible = restrict_set(self.feasible, elements, self.n)
        names = None if self._names is None else self._names.restrict(elements)
        return Problem._of(self.scores.restrict(elements), feasible, Evidence(), names)

    def with_feasible(self, feasible: FeasibleSet) -> Problem:
        """Return a problem with the same log-odds and another feasible set."""
        _require_set(feasible)
        if isinstance(self.scores, CondensedScores | SparseScores):
            was, now = self.feasible.has("symmetric"), feasible.has("symmetric")
            if was != now:
                raise ProblemError(
                    "Pairs of this problem are scored "
                    f"{'without' if was else 'with'} direction, but {feasible} is "
                    f"{'not ' if was else ''}symmetric; build a new Problem from both directions."
                )
        return Problem._of(self.scores, feasible, Evidence(), self._names)

    def with_log_odds(self, log_odds: ArrayLike) -> Problem:
        """Return a problem with other log-odds of the same pairs, laid out as `log_odds` is.

        Evidence, properties, ids and the background of unlisted pairs stay.
        """
        given = plain_array(log_odds, "Log-odds")
        if given.shape != self.log_odds.shape:
            raise ProblemError(
                f"The problem has log-odds of shape {self.log_odds.shape}, got {given.shape}."
            )
        if isinstance(self.scores, SparseScores):
            i, j, background = self.scores.i, self.scores.j, self.scores.background
            rest = (self.shape, background, self.feasible, None, self._names)
            return Problem._from_pairs(i, j, given, *rest)
        scores, found = _scores_from_array(given, self.feasible)
        return Problem._of(scores, self.feasible, found, self._names)

    @cached_property
    def state(self) -> NDArray[np.int8]:
        """Matrix of what evidence and properties fix: 1 related, 0 unrelated, -1 open.

        A pair that is fixed both ways is 1 here; see `contradicts_itself`.
        """
        yes, no = self._fixed
        state = np.full(self.shape, -1, dtype=np.int8)
        state[no] = 0
        state[yes] = 1
        return state

    @property
    def contradicts_itself(self) -> bool:
        """Whether some pair is said to be related and to be unrelated."""
        yes, no = self._fixed
        return bool((yes & no).any())

    @cached_property
    def _fixed(self) -> tuple[Flags, Flags]:
        self._require_dense(3)
        yes = np.zeros(self.shape, dtype=np.bool_)
        no = np.zeros(self.shape, dtype=np.bool_)
        for p in self.feasible.complete.properties:
            for target, pairs in zip((yes, no), p.fixed(self.shape), strict=True):
                target[pairs[:, 0], pairs[:, 1]] = True
        return yes, no

    def __repr__(self) -> str:
        return f"Problem({self.scores.describe()}, {self.feasible.told(self._names)})"


def restrict_set(feasible: FeasibleSet, elements: Index, n: int) -> FeasibleSet:
    """Return the feasible set for a problem on some of n elements, in their order."""
    number = np.full(n, -1, dtype=np.int64)
    number[elements] = np.arange(len(elements))
    result = feasible.structure
    if feasible.cap is not None and feasible.cap > 1:
        result = result & FeasibleSet([p for p in feasible.properties if p.name == "at_most"])
    for group in feasible.groups:
        result = result & one_per_group(group.codes[elements])
    if feasible.evidence is not None:
        yes, no = number[feasible.evidence.related], number[feasible.evidence.unrelated]
        result = result & numbered_evidence(yes[(yes >= 0).all(axis=1)], no[(no >= 0).all(axis=1)])
    return result


def _require_set(feasible: object) -> None:
    if not isinstance(feasible, FeasibleSet):
        raise ProblemError(
            "The feasible set is a value such as relatum.EQUIVALENCES, possibly intersected with "
            f"others by &, got {type(feasible).__name__}."
        )


def _pair_kind(feasible: FeasibleSet, n: object) -> Literal["unordered", "ordered", "bipartite"]:
    if feasible.has("symmetric"):
        return "unordered"
    if feasible.homogeneous or not isinstance(n, tuple):
        return "ordered"
    return "bipartite"


def _scores_from_array(log_odds: ArrayLike, feasible: FeasibleSet) -> tuple[Scores, Evidence]:
    if hasattr(log_odds, "tocoo"):
        raise ProblemError(
            "Sparse matrices say nothing of pairs that are not stored; use Problem.from_sparse "
            "and give their `background` log-odds."
        )
    array = plain_array(log_odds, "Log-odds")
    if array.ndim == 1:
        if not feasible.has("symmetric"):
            raise ProblemError(
                "A condensed upper triangle scores each unordered pair once, which is for "
                f"symmetric sets; {feasible} needs a matrix with both directions."
            )
        scores: CondensedScores | DenseScores
        scores, found = CondensedScores.from_array(array)
    elif array.ndim == 2:
        scores, found = DenseScores.from_array(array)
    else:
        raise ProblemError(
            "Log-odds are a matrix of shape (|A|, |B|) or, for symmetric sets, a condensed upper "
            f"triangle; got an array with {array.ndim} axes."
        )
    return scores, Evidence(*found)
