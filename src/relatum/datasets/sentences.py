"""Sentences: the embedded ones, and those of any text file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from relatum.datasets.files import bytes_of
from relatum.errors import DataError

__all__ = ["load_sentences", "read_sentences"]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def load_sentences() -> list[list[str]]:
    """Return the embedded sentences, each as a list of words.

    Examples
    --------
    >>> import relatum as rt
    >>> sentences = rt.datasets.load_sentences()
    >>> len(sentences), " ".join(sentences[89])
    (100, 'he sings in the kitchen every morning')
    """
    text = files("relatum").joinpath("data", "sentences.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


def read_sentences(
    path: str | Path, dictionary: Iterable[str] | None = None, *, split: bool = False
) -> list[list[str]]:
    r"""Read sentences from a text file, plain or gzip, as lists of lower case words.

    Parameters
    ----------
    path : path
    dictionary : iterable of str, optional
        Keep only sentences made of these words.
    split : bool, default=False
        Whether lines are running text, to be cut at full stops, question and exclamation marks.
        By default, a line is a sentence.

    Returns
    -------
    list of lists of str
        Sentences of at least two words.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "some.txt"
    >>> _ = path.write_text("The old man walks home.\nHe sings.\n")
    >>> rt.datasets.read_sentences(path)
    [['the', 'old', 'man', 'walks', 'home'], ['he', 'sings']]
    """
    data = bytes_of(path)
    try:
        text = data.decode("utf-8")
        allowed = None if dictionary is None else set(dictionary)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8; save it as UTF-8.") from None
    except TypeError:
        raise DataError(
            f"A dictionary is a list of words, got a {type(dictionary).__name__}."
        ) from None
    lines = re.split(r"[.!?]+\s|\n\s*\n", text) if split else text.splitlines()
    sentences = (_WORD.findall(line.lower()) for line in lines)
    return [s for s in sentences if len(s) > 1 and (allowed is None or allowed.issuperset(s))]
