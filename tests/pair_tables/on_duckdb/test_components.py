"""Components beside scipy; pieces and buckets lose nothing but what they tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from relatum.pair_tables.options import Given, Settings, Tuning

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.components import (  # noqa: E402
    fill_buckets,
    link_pairs,
    split_giants,
)
from relatum.pair_tables.on_duckdb.known import Known  # noqa: E402
from relatum.pair_tables.on_duckdb.reading import read_source  # noqa: E402
from relatum.pair_tables.on_duckdb.store import Workspace  # noqa: E402

N = 400


@pytest.fixture
def case(tmp_path):
    """Rows among N elements, all of them there, and what is known of them."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, N, (2, 1200))
    i, j = np.append(i, np.arange(N)), np.append(j, np.arange(N))  # with itself: no pair
    bits = np.append(np.round(3 * rng.normal(size=1200), 2), np.zeros(N))
    fixed = np.array([[1, 399, 1], [2, 398, 1], [5, 7, 0]])
    known = Known(fixed, rng.integers(-1, 60, N))
    table = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    space = Workspace(tmp_path, 8 << 20)
    source = read_source(duckdb.connect(), Given(table), space)
    return (i, j, bits), known, source, space


def roots_of(i, j):
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(N, N))
    labels = connected_components(graph, directed=False)[1]
    return np.array([np.flatnonzero(labels == c)[0] for c in labels])


def connected(rows, known):
    (i, j, bits), g = rows, known.groups
    links = (bits > 0) & ((g[i] != g[j]) | (g[i] < 0))
    return np.append(i[links], known.related[:, 0]), np.append(j[links], known.related[:, 1])


def test_components_are_those_of_scipy(case):
    rows, known, source, space = case
    linked = link_pairs(source, known, space)
    assert linked.roots.tolist() == roots_of(*connected(rows, known)).tolist()
    assert linked.spool.count == np.count_nonzero(rows[0] != rows[1])
    inside = linked.roots[rows[0]] == linked.roots[rows[1]]
    pairs = linked.pairs_within(linked.roots)
    assert pairs.sum() == np.count_nonzero(inside & (rows[0] != rows[1]))


@pytest.mark.parametrize("most", [10**6, 50])
def test_every_pair_is_in_a_bucket_or_told_to_be_lost(case, most):
    (i, j, bits), known, source, space = case
    tuning = Tuning(kernel_elements=20, sorted_pairs=64, batch_pairs=90, least_batch_pairs=80)
    settings = Settings(most_elements=most, tuning=tuning)
    linked = link_pairs(source, known, space)
    units = split_giants(linked, known, settings, space)
    sizes = np.bincount(linked.roots, minlength=N)
    assert units.sizes.tolist() == sizes.tolist()
    assert units.giant.tolist() == (sizes > most).tolist()
    pieces = [len(np.unique(units.roots[linked.roots == r])) for r in np.flatnonzero(sizes > most)]
    assert units.pieces == sum(pieces)
    assert np.all(linked.roots[units.roots] == linked.roots)  # pieces lie inside components
    assert units.roots[1] == units.roots[399]  # known to be related
    filled = fill_buckets(linked, units, known, tuning, space, False)
    assert filled.order[filled.place].tolist() == list(range(N))
    assert np.diff(units.roots[filled.order[filled.starts[:-1]]]).min() > 0
    held = []
    for k, spool in enumerate(filled.spools):
        low, high = filled.starts[filled.bounds[k]], filled.starts[filled.bounds[k + 1]]
        a, b, w = spool.load()
        assert ((a >= low) & (b >= low) & (a < high) & (b < high)).all()
        ends = np.sort(filled.order[np.column_stack([a, b])], axis=1)
        held += [(*e, x) for e, x in zip(ends.tolist(), w.tolist(), strict=True)]
    assert len(filled.spools) > 1
    within = (units.roots[i] == units.roots[j]) & (i != j)
    own = np.column_stack([np.minimum(i, j), np.maximum(i, j)])[within].tolist()
    assert sorted(held) == sorted((*e, x) for e, x in zip(own, bits[within].tolist(), strict=True))
    out = (units.roots[i] != units.roots[j]) & (bits > 0)
    assert filled.lost_pairs == np.count_nonzero(out)
    counted = out & (linked.roots[i] == linked.roots[j]) & known.may_join(i, j)
    exact = {}
    for root, x in zip(linked.roots[i[counted]].tolist(), bits[counted].tolist(), strict=True):
        exact[root] = exact.get(root, 0) + Fraction(x)
    assert filled.lost == exact
    assert (most > N) == (not exact)
    facts = [[*sorted(filled.order[row[:2]].tolist()), int(row[2])] for row in filled.fixed]
    expected = [r for r in known.fixed.tolist() if units.roots[r[0]] == units.roots[r[1]]]
    assert sorted(facts) == sorted(expected)
    assert filled.fixed[:, 0].tolist() == sorted(filled.fixed[:, 0].tolist())
