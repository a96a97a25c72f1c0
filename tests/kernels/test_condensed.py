"""Places in a condensed upper triangle against counting."""

from __future__ import annotations

from itertools import combinations

from relatum.kernels.inlined import place


def test_places_count_the_pairs_row_by_row():
    for n in range(2, 12):
        for number, (a, b) in enumerate(combinations(range(n), 2)):
            assert place(a, b, n) == place(b, a, n) == number
