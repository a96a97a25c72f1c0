import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from relatum.errors import SolverError

pytest.importorskip("pyspark", reason="install relatum[spark]")

from relatum.pair_tables.on_spark import star_components as star_components_module
from relatum.pair_tables.on_spark.star_components import star_components

pytestmark = pytest.mark.filterwarnings("ignore")


def roots_of(spark, edges, schema="a long, b long"):
    found = star_components(spark.createDataFrame(edges, schema))
    return {row.node: row.root for row in found.collect()}


def test_random_graphs_paths_and_stars(spark, monkeypatch):
    """All at once, since every round is a Spark job: components of several kinds of graphs."""
    rng = np.random.default_rng(0)
    shuffled = 1000 + rng.permutation(25)
    edges = [
        *rng.integers(0, 150, size=(110, 2)).tolist(),  # random, some loops and repetitions
        *np.column_stack([shuffled[:-1], shuffled[1:]]).tolist(),  # a long path, out of order
        *[[2000, k] for k in range(2001, 2030)],  # stars around the smallest and largest node
        *[[3099, k] for k in range(3000, 3099)],
    ]
    n = 4000
    a, b = np.array(edges).T
    _, labels = connected_components(coo_matrix((np.ones(len(a)), (a, b)), (n, n)), directed=False)
    smallest = np.full(labels.max() + 1, n)
    np.minimum.at(smallest, labels, np.arange(n))
    expected = {k: int(smallest[labels[k]]) for k in range(n) if smallest[labels[k]] != k}
    monkeypatch.setattr(star_components_module.Tuning, "star_rounds", 12)  # a path of 25 nodes
    assert roots_of(spark, edges) == expected
    monkeypatch.setattr(star_components_module.Tuning, "star_rounds", 1)
    with pytest.raises(SolverError, match="not found within 1 rounds"):
        roots_of(spark, edges[110:130])


def test_ids_may_be_text(spark):
    found = roots_of(spark, [("é", "b"), ("b", "a"), ("x", "x")], "a string, b string")
    assert found == {"b": "a", "é": "a"}
