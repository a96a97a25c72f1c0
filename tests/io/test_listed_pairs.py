"""Lines of listed pairs."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.io.listed_pairs import ListedPairs, numbers_of, pairs_of


def test_pairs_and_line_numbers():
    pairs = pairs_of([(5, "0 1 2.5"), (6, "2 0 -1")], "f", 3, optimum=7.0)
    assert isinstance(pairs, ListedPairs)
    assert (pairs.i.tolist(), pairs.j.tolist(), pairs.optimum) == ([0, 2], [1, 0], 7.0)
    with pytest.raises(DataError, match="f, line 6"):
        pairs_of([(5, "0 1 2.5"), (6, "2 0")], "f", 3)
    with pytest.raises(DataError, match="f, line 5: elements"):
        pairs_of([(5, "0.5 1 2.5")], "f", 3)


def test_numbers_are_finite():
    np.testing.assert_array_equal(numbers_of([(1, "1 2"), (2, "3")], "f"), [1, 2, 3])
    with pytest.raises(DataError, match="line 2: 'nan'"):
        numbers_of([(1, "1 2"), (2, "nan")], "f")
