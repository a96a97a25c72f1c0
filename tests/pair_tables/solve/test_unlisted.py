"""Every pair of a component that is not listed is scored once; listed ones stay as they are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from relatum.errors import DataError
from relatum.pair_tables.solve.batching import batch_of
from relatum.pair_tables.solve.unlisted import with_missing


def pairs_of(batch):
    """Return {(element, element): log-odds} of a batch, and its components as sets."""
    owner = np.repeat(np.arange(len(batch.pair_ptr) - 1), np.diff(batch.pair_ptr))
    first = batch.element_ptr[owner]
    rows = zip((batch.i + first).tolist(), (batch.j + first).tolist(), strict=True)
    return dict(zip(rows, batch.log_odds.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_inside_components_are_there(seed):
    rng = np.random.default_rng(seed)
    component = rng.integers(0, 6, 25)
    i, j = np.triu_indices(25, 1)
    listed = (component[i] == component[j]) & (rng.random(len(i)) < 0.5)
    i, j = i[listed], j[listed]
    batch, order = batch_of(component, (i, j, rng.normal(size=len(i))))
    given = pairs_of(batch)

    def score(a, b):
        return 100.0 * np.minimum(a, b) + np.maximum(a, b)

    full, scored = with_missing(batch, 6, lambda elements: order[elements], score)
    found = pairs_of(full)
    expected = dict(given)
    for begin, end in zip(batch.element_ptr[:-1], batch.element_ptr[1:], strict=True):
        if end - begin > 6:
            continue
        for a, b in combinations(range(begin, end), 2):
            low, high = sorted((int(order[a]), int(order[b])))
            expected.setdefault((a, b), 100.0 * low + high)
    assert found == expected
    added = {(a, b): w for a, b, w in zip(*(x.tolist() for x in scored), strict=True)}
    assert added == {pair: w for pair, w in expected.items() if pair not in given}
    assert added
    assert list(found) == sorted(found)  # as solvers of components ask for


@pytest.mark.parametrize("bits", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_scorers_return_one_finite_number_per_pair(bits):
    batch, _ = batch_of(np.zeros(3, np.int64), (np.array([0]), np.array([1]), np.ones(1)))
    with pytest.raises(DataError, match="for 2 pairs it returned shape"):
        with_missing(batch, 6, lambda elements: elements, lambda a, b: bits)
