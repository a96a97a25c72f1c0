"""Components on Spark beside scipy, and split until they fit into tasks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from relatum.pair_tables.columns import find_columns
from relatum.pair_tables.options import Given

pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark", reason="install relatum[spark]")

from relatum.pair_tables.on_spark.components import link_pairs, split_giants  # noqa: E402
from relatum.pair_tables.on_spark.frame_task import RELATED  # noqa: E402
from relatum.pair_tables.on_spark.known import Known  # noqa: E402
from relatum.pair_tables.on_spark.reading import read_source  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def test_components_and_pieces(spark):
    rng = np.random.default_rng(0)
    ends = np.unique(np.sort(rng.integers(0, 120, (170, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] < ends[:, 1]]
    bits = 6 * rng.normal(size=len(ends))
    frame = pd.DataFrame(
        {"unique_id_l": ends[:, 0], "unique_id_r": ends[:, 1], "match_weight": bits}
    )
    given = Given(spark.createDataFrame(frame))
    known = Known(related=spark.createDataFrame([(3, 119), (7, 3)], ["a", "b"]))
    linked = link_pairs(read_source(given, find_columns(frame.columns)), known)
    edges = np.vstack([ends[bits > 0], [[3, 119], [3, 7]]])
    graph = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(120, 120))
    labels = connected_components(graph, directed=False)[1]
    sizes = np.bincount(labels)
    assert linked.components == np.count_nonzero(sizes > 1)
    assert linked.elements == sizes[sizes > 1].sum()
    assert (linked.largest, linked.positive) == (sizes.max(), np.count_nonzero(bits > 0))
    inside = ends[(labels[ends[:, 0]] == labels[ends[:, 1]]) & (sizes[labels[ends[:, 0]]] > 1)]
    rows = linked.rows.toPandas()
    listed = rows[rows.kind != RELATED]
    assert set(zip(listed.a, listed.b, strict=True)) == set(map(tuple, inside.tolist()))
    assert rows.groupby("component").size().max() > 20
    units = split_giants(linked, known, 20)
    pieces = units.rows.toPandas()
    assert pieces.groupby("component").size().max() <= 20
    assert units.split == (rows.groupby("component").size() > 20).sum()
    assert len(pieces[pieces.kind == RELATED].component.unique()) == 1  # never separated
    lost = listed[~listed.set_index(["a", "b"]).index.isin(pieces.set_index(["a", "b"]).index)]
    total = sum(row.bits for row in units.lost.collect())
    assert total == pytest.approx(lost.bits[lost.bits > 0].sum())
    assert split_giants(linked, known, 10**6).lost is None
