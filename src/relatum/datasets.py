"""Small data sets that come with the library.

`digits` are the 8 x 8 images that scikit-learn ships; `sentences` are a hundred short
sentences written for this library.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Digits", "load_digits", "load_sentences"]


class Digits(NamedTuple):
    """Images of handwritten digits.

    Attributes
    ----------
    images : uint8 array (n, 64)
        Grey values from 0 to 16.
    labels : int64 array (n,)
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


def load_digits() -> tuple[Digits, Digits]:
    """Return the first 1,000 digits of scikit-learn's set for training, and the other 797."""
    from sklearn.datasets import load_digits as load

    data = load()
    images, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
    return Digits(images[:1000], labels[:1000]), Digits(images[1000:], labels[1000:])


def load_sentences() -> list[list[str]]:
    """Return the embedded sentences, each as a list of words."""
    text = files("relatum").joinpath("data", "sentences.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]
