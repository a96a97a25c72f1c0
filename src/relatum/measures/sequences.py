"""Sequences of words as arrays of integers, and the order of words in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relatum.array_types import Index
from relatum.errors import DataError
from relatum.features import shown
from relatum.kernels.learning.precedence import count_precedences
from relatum.measures.validation import is_whole


class EncodedSequences(NamedTuple):
    """Sequences as one flat array: sequence s is tokens[offsets[s] : offsets[s + 1]].

    `words[t]` is the word of token t.
    """

    tokens: NDArray[np.int32]
    offsets: Index
    words: list[Any]


def encode_sequences(
    sequences: Iterable[str | Sequence[Any]], words: Iterable[Any] | None = None
) -> EncodedSequences:
    """Replace the words of sequences by numbers.

    Parameters
    ----------
    sequences : iterable of sequences of words, or of strings (split at white space)
    words : iterable, optional
        The dictionary. By default, words are numbered in the order of their first occurrence.

    Examples
    --------
    >>> encode_sequences(["a rose is a rose", "is it"]).tokens.tolist()
    [0, 1, 2, 0, 1, 2, 3]
    """
    number: dict[Any, int] = {}
    try:
        sequences = list(sequences)
        for word in () if words is None else words:
            number.setdefault(word, len(number))
    except TypeError as error:
        raise DataError(f"Sequences and words are lists, but {error}.") from None
    flat: list[int] = []
    offsets = [0]
    for sequence in sequences:
        parts = sequence.split() if isinstance(sequence, str) else sequence
        try:
            if words is None:
                flat.extend([number.setdefault(word, len(number)) for word in parts])
            else:
                flat.extend([number[word] for word in parts])
        except KeyError as error:
            raise DataError(
                f"Sequence {len(offsets) - 1} holds a word that is not in the dictionary: "
                f"{error.args[0]!r}. Leave the sequence out, or add the word."
            ) from error
        except TypeError as error:
            raise DataError(
                f"Sequence {len(offsets) - 1} is a list of words, but {error}."
            ) from None
        offsets.append(len(flat))
    return EncodedSequences(
        np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64), list(number)
    )


def precedence_counts(tokens: ArrayLike, offsets: ArrayLike, n_words: int | None = None) -> Index:
    """Count, for every two words, how often the first stands before the second in one sequence.

    Every pair of occurrences counts, adjacent or not.

    Parameters
    ----------
    tokens : array_like of int, of shape (length,)
        Words of all sequences one after the other, as integers from 0.
    offsets : array_like of int, of shape (sequences + 1,)
        Where every sequence begins, and the end.
    n_words : int, optional
        Size of the dictionary; by default, the largest token plus one.

    Returns
    -------
    ndarray of shape (n_words, n_words)

    Examples
    --------
    >>> precedence_counts([0, 1, 0], [0, 3], 2).tolist()
    [[1, 1], [1, 0]]
    """
    try:
        flat, ends = np.asarray(tokens), np.asarray(offsets)
    except Exception as error:  # also what classes that are not ours raise
        told = " ".join(str(error).split())[:160]
        raise DataError(f"tokens and offsets must be arrays of integers, but {told}") from None
    for name, values in (("tokens", flat), ("offsets", ends)):
        if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.integer)):
            raise DataError(f"{name} must be a 1-dimensional array of integers.")
    if not len(ends) or ends[0] != 0 or ends[-1] != len(flat) or (np.diff(ends) < 0).any():
        raise DataError(
            f"offsets must begin with 0, never fall, and end with the number of tokens, "
            f"{len(flat)}; got {ends[:3].tolist()} ... {ends[-1:].tolist()}."
        )
    if n_words is not None and not (is_whole(n_words) or n_words == 0):
        raise DataError(f"n_words is a whole number from 0 on, got {shown(n_words)}.")
    top = int(flat.max()) if flat.size else -1
    size = top + 1 if n_words is None else int(n_words)
    if flat.size and (int(flat.min()) < 0 or top >= size):
        raise DataError(
            f"tokens must be between 0 and n_words - 1 = {size - 1}; got {int(flat.min())} ... "
            f"{top}."
        )
    table = np.zeros((size, size), dtype=np.int64)
    count_precedences(flat.astype(np.int32), ends.astype(np.int64), table)
    return table
