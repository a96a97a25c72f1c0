"""Votes: how often each element came before, or was tied with, each other one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from relatum.array_types import Floats, Index
from relatum.errors import DataError
from relatum.io import Rankings
from relatum.problem import Relation, plain_array, require_memory, shown

Method = Literal["kemeny", "bernoulli"]
Unranked = Literal["ignore", "last"]
MOST_VOTES = 2.0**53  # so that votes are counted exactly


@dataclass(frozen=True, eq=False)
class Votes:
    """How often each element came before, or was tied with, each other one.

    Attributes
    ----------
    before : float64 array (n, n)
        Votes in which a comes before b.
    tied : float64 array (n, n)
        Votes in which they are tied; symmetric.
    names : tuple
        Names of the elements.

    Examples
    --------
    >>> votes = Votes.from_rankings([[0, 1, 2], [1, 0, 2], [0, 1, 1]])
    >>> votes.before[0].tolist(), votes.tied[1].tolist()
    ([0.0, 2.0, 3.0], [0.0, 0.0, 1.0])
    """

    before: Floats
    tied: Floats
    names: tuple[Any, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("before", "tied"):
            given = plain_array(getattr(self, name), f"Votes, in '{name}',", DataError)
            if given.dtype.kind not in "biuf" or given.ndim != 2 or given.size == 0:
                raise DataError(
                    f"Votes, in '{name}', are a square table of numbers, got shape {given.shape} "
                    f"and dtype {given.dtype}."
                )
            numbers = given.astype(np.float64)
            if numbers.shape != (len(numbers),) * 2 or not (numbers >= 0).all():
                raise DataError(
                    f"Votes, in '{name}', are a square table of numbers from 0 on, got shape "
                    f"{given.shape} and {shown(float(numbers.min()))}."
                )
            if not (numbers < MOST_VOTES).all():
                raise DataError(f"Votes, in '{name}', are below 2**53, got {numbers.max():g}.")
            object.__setattr__(self, name, numbers)
        names = _names(self.names) or tuple(range(len(self.before)))
        if len(names) != len(self.before) or len(self.tied) != len(self.before):
            raise DataError(
                "Votes have as many rows in 'before' as in 'tied', and names, got "
                f"{len(self.before)}, {len(self.tied)} and {len(names)}."
            )
        object.__setattr__(self, "names", names)

    @property
    def n(self) -> int:
        """The number of elements."""
        return len(self.before)

    @classmethod
    def from_rankings(
        cls,
        rankings: Rankings | ArrayLike,
        counts: ArrayLike | None = None,
        *,
        names: Sequence[Any] = (),
        unranked: Unranked = "ignore",
    ) -> Votes:
        """Count votes of rankings, which may have ties and leave elements out.

        Parameters
        ----------
        rankings : Rankings, or integer array (r, n)
            As read by `relatum.io.read_preflib`; or the place of each element in each
            ranking, smaller first, equal for ties, negative for elements not ranked.
        counts : array (r,), optional
            How many voters gave each ranking.
        names : sequence, optional
        unranked : "ignore" or "last"
            Whether an element that is not ranked says nothing, or comes after all that are.
        """
        if isinstance(rankings, Rankings):
            ranks, counts, names = rankings.ranks, rankings.counts, rankings.names
        else:
            ranks = _checked_ranks(rankings)
        weight = np.ones(len(ranks)) if counts is None else _checked_counts(counts, len(ranks))
        if not isinstance(unranked, str) or unranked not in ("ignore", "last"):
            raise DataError(f'unranked is "ignore" or "last", got {shown(unranked)}.')
        n = ranks.shape[1]
        _require_table(n)
        before, tied = np.zeros((n, n)), np.zeros((n, n))
        for row, w in zip(ranks, weight, strict=True):
            known = row >= 0
            place = row if unranked == "ignore" else np.where(known, row, row.max() + 1)
            both = known[:, None] & known[None, :]
            if unranked == "last":
                both = known[:, None] | known[None, :]
            before += w * (both & (place[:, None] < place[None, :]))
            tied += w * (both & (place[:, None] == place[None, :]))
        np.fill_diagonal(tied, 0.0)
        return cls(before, tied, _names(names))

    @classmethod
    def from_lists(
        cls,
        rankings: Iterable[Iterable[Any]],
        counts: ArrayLike | None = None,
        *,
        names: Sequence[Any] | None = None,
        unranked: Unranked = "ignore",
    ) -> Votes:
        """Count votes of rankings written down from first to last.

        Parameters
        ----------
        rankings : list of lists of names
            Names that are tied stand in a list, tuple or set of their own:
            ``["ann", ["bob", "cy"], "dan"]``.
        counts : array (r,), optional
            How many voters gave each ranking.
        names : sequence, optional
            The elements; those that occur, in the order in which they occur, by default.
        unranked : "ignore" or "last"
            As in `from_rankings`.

        Examples
        --------
        >>> votes = Votes.from_lists([["ann", "bob", "cy"], ["bob", ["ann", "cy"]]])
        >>> votes.names, votes.before[1].tolist()
        (('ann', 'bob', 'cy'), [1.0, 0.0, 2.0])
        """
        listed = [_places(k, ranking) for k, ranking in enumerate(_lists(rankings))]
        if names is None:
            names = list(dict.fromkeys(name for places in listed for name in places))
        number = {name: k for k, name in enumerate(_names(names))}
        if not number:
            raise DataError("There are no rankings with a name in them; one or more are counted.")
        if len(number) != len(names):
            raise DataError(f"A name stands once in `names`, got {shown(list(names))}.")
        ranks = np.full((len(listed), len(number)), -1, dtype=np.int64)
        for k, places in enumerate(listed):
            for name, place in places.items():
                if name not in number:
                    raise DataError(f"Ranking {k} names {name!r}, which is not in `names`.")
                ranks[k, number[name]] = place
        return cls.from_rankings(ranks, counts, names=list(number), unranked=unranked)

    @classmethod
    def from_comparisons(
        cls, comparisons: Iterable[Sequence[Any]], names: Sequence[Any] | None = None
    ) -> Votes:
        """Count comparisons of two: (winner, loser), or (a, b, result).

        Parameters
        ----------
        comparisons : iterable of tuples
            The result is "win" (of the first), "loss" or "draw".
        names : sequence, optional
            The elements; those that occur, sorted if possible, by default.

        Examples
        --------
        >>> votes = Votes.from_comparisons([("a", "b"), ("b", "c", "draw"), ("c", "a", "loss")])
        >>> votes.names, votes.before[0].tolist()
        (('a', 'b', 'c'), [0.0, 1.0, 1.0])
        """
        try:
            listed = list(comparisons)
        except TypeError:
            raise DataError(
                "Comparisons are a list of (winner, loser) or (a, b, result), got "
                f"{shown(comparisons)}."
            ) from None
        rows = [_comparison(k, c) for k, c in enumerate(listed)]
        try:
            seen = {name for a, b, _ in rows for name in (a, b)}
            if names is None:
                names = sorted(seen, key=lambda v: (str(type(v)), v))
            names = list(names)
            number = {name: k for k, name in enumerate(names)}
        except TypeError as error:
            raise DataError(
                f"Names are numbers or texts, but {error}; give texts, or the list `names`."
            ) from None
        if not number:
            raise DataError("There are no comparisons, and no names; one name or more is compared.")
        if len(number) != len(names):
            raise DataError(f"A name stands once in `names`, got {shown(list(names))}.")
        _require_table(len(number))
        before, tied = np.zeros((len(number),) * 2), np.zeros((len(number),) * 2)
        for k, (a, b, result) in enumerate(rows):
            for name in (a, b):
                if name not in number:
                    raise DataError(f"Comparison {k} names {name!r}, which is not in `names`.")
            i, j = number[a], number[b]
            if i == j:
                raise DataError(f"Comparison {k} compares {a!r} with itself.")
            if result == "draw":
                tied[i, j] += 1
                tied[j, i] += 1
            else:
                winner, loser = (i, j) if result == "win" else (j, i)
                before[winner, loser] += 1
        return cls(before, tied, tuple(names))

    @property
    def related(self) -> Floats:
        """Votes for "a before or tied with b"."""
        return self.before + self.tied

    def log_odds(self, method: Method = "kemeny", sigma: float = 2.0) -> Floats:
        """Return the log-odds of "a before or tied with b" for all ordered pairs.

        Parameters
        ----------
        method : "kemeny" or "bernoulli"
        sigma : float
            Parameter of the Beta prior of the Bernoulli measure.
        """
        yes, no = self.related, self.before.T
        if not isinstance(method, str):
            raise DataError(f'method is "kemeny" or "bernoulli", got {shown(method)}.')
        if method == "kemeny":
            return np.asarray(yes - no)
        if method != "bernoulli":
            raise DataError(f'method is "kemeny" or "bernoulli", got {shown(method)}.')
        from relatum.measures import BernoulliMeasure  # scikit-learn: only where it is used

        n = self.n
        pairs = np.flatnonzero(~np.eye(n, dtype=np.bool_).ravel())
        measure = BernoulliMeasure(sigma=sigma, n_classes=n * n)
        classes = np.concatenate([pairs, pairs])
        y = np.repeat([1, 0], len(pairs))
        measure.fit(classes, y, np.concatenate([yes.ravel()[pairs], no.ravel()[pairs]]))
        out = np.zeros(n * n)
        out[pairs] = measure.log_odds(pairs)
        return out.reshape(n, n)

    def distance(self, relation: Relation) -> float:
        """Sum the Kemeny-Snell distances of the votes to a relation.

        The number of ordered pairs of different elements, over all votes, on which vote and
        relation disagree; for strict votes and orders it is twice Kendall's distance.
        """
        if not isinstance(relation, Relation) or relation.shape != (self.n, self.n):
            raise DataError(f"A ranking of {self.n} elements is compared, got {shown(relation)}.")
        y = relation.matrix() & ~np.eye(self.n, dtype=np.bool_)
        against = self.before.T
        off = ~y & ~np.eye(self.n, dtype=np.bool_)
        return float(against[y].sum() + self.related[off].sum())


def _names(names: Any) -> tuple[Any, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"Names are a list with one name per element, got {shown(names)}.")
    return tuple(names)


def _lists(rankings: Any) -> list[Any]:
    if isinstance(rankings, str | np.ndarray) or not isinstance(rankings, Iterable):
        raise DataError(
            'Rankings are lists of names from first to last, such as [["ann", "bob"], ["bob", '
            f'"ann"]], got {shown(rankings)}; for an array of places use Votes.from_rankings.'
        )
    return list(rankings)


def _places(number: int, ranking: Any) -> dict[Any, int]:
    """Return the place of each name in a ranking; those in a list of their own are tied."""
    if isinstance(ranking, str | dict | set | frozenset) or not isinstance(ranking, Iterable):
        raise DataError(
            f"Ranking {number} is a list of names from first to last, got {shown(ranking)}."
        )
    places: dict[Any, int] = {}
    for place, entry in enumerate(ranking):
        tied = list(entry) if isinstance(entry, list | tuple | set | frozenset) else [entry]
        for name in tied:
            if not isinstance(name, Hashable) or name is None or name != name:
                raise DataError(
                    f"Ranking {number} holds {shown(name)}, which is no name; give texts or "
                    "numbers, and leave out what was not ranked."
                )
            if name in places:
                raise DataError(f"Ranking {number} names {name!r} twice; keep one of them.")
            places[name] = place
    return places


def _checked_ranks(rankings: ArrayLike) -> Index:
    ranks = plain_array(rankings, "Rankings", DataError)
    if ranks.ndim != 2 or ranks.dtype.kind not in "iu" or ranks.size == 0:
        raise DataError(
            "Rankings are an integer array with one row per ranking: the place of each element, "
            f"negative if it is not ranked; got shape {ranks.shape} and dtype {ranks.dtype}."
        )
    if ranks.dtype.kind == "u" and int(ranks.max()) >= 2**62:
        raise DataError(f"Places in rankings are below 2**62, got {int(ranks.max())}.")
    return ranks.astype(np.int64)


def _checked_counts(counts: ArrayLike, r: int) -> Floats:
    given = plain_array(counts, "counts", DataError)
    with np.errstate(over="ignore"):  # of longer floats
        weight = given.astype(np.float64) if given.dtype.kind in "biuf" else np.array([np.nan])
    if weight.shape != (r,) or not (weight >= 0).all() or not weight.sum() < MOST_VOTES:
        raise DataError(
            f"counts are {r} numbers from 0 on, one per ranking, below 2**53 in all, got "
            f"{shown(given.tolist())}."
        )
    return weight


def _require_table(n: int) -> None:
    """Refuse votes on so many elements that their tables do not fit into memory."""
    require_memory(
        40 * n * n, f"A table of the votes on {n} elements", "leave elements out", DataError
    )


def _comparison(number: int, c: Sequence[Any]) -> tuple[Any, Any, str]:
    if isinstance(c, str) or not isinstance(c, Sequence | np.ndarray) or len(c) not in (2, 3):
        raise DataError(
            f"Comparison {number} is (winner, loser) or (a, b, result), got {shown(c)}."
        )
    result = "win" if len(c) == 2 else c[2]
    if not isinstance(result, str) or result not in ("win", "loss", "draw"):
        raise DataError(
            f'Comparison {number} ends in "win", "loss" or "draw", got {shown(result)}.'
        )
    return c[0], c[1], result
