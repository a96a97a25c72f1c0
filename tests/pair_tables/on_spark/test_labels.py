"""Labels and output on Spark: the same numbers as on DuckDB."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import BlockingWarning, DataError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyspark", reason="install relatum[spark]")
pytestmark = pytest.mark.filterwarnings("ignore")  # pyspark warns of pandas 3

from relatum.pair_tables.on_spark.labels import background_of, block_recall, pairwise_f1  # noqa: E402
from relatum.pair_tables.on_spark.reading import read_source  # noqa: E402
from relatum.pair_tables.options import Given  # noqa: E402


def planted(n=120, seed=0, listed=0.95):
    rng = np.random.default_rng(seed)
    entity = np.arange(n) // 4
    a, b = np.triu_indices(n, 1)
    same = entity[a] == entity[b]
    keep = rng.random(len(a)) < np.where(same, listed, 3 / n)
    a, b = a[keep], b[keep]
    bits = np.where(same[keep], 5.0, -4.0) + 3 * rng.normal(size=len(a))
    frame = pd.DataFrame({"unique_id_l": a, "unique_id_r": b, "match_weight": bits})
    return frame, dict(zip(range(n), entity.tolist(), strict=True))


def test_labels_say_the_same_as_on_duckdb(spark, tmp_path):
    pairs, truth = planted()
    some = {k: v for k, v in truth.items() if v % 3}
    options = {"labels": some, "background": "learned"}
    ours = rt.cluster_pairs(pairs, **options).summary
    path = tmp_path / "clusters.parquet"
    found = rt.cluster_pairs(spark.createDataFrame(pairs), **options, output=path)
    for name in ("block_recall", "f1", "background"):
        assert getattr(found.summary, name) == pytest.approx(getattr(ours, name)), name
    assert found.summary.clusters == ours.clusters
    again = spark.read.parquet(str(path))
    assert again.columns == ["unique_id", "cluster_id", "cluster_size", "cluster_gap"]
    assert again.count() == found.summary.elements


def test_the_parts_one_by_one(spark):
    pairs, truth = planted(n=40, seed=1, listed=0.5)
    frame = spark.createDataFrame(pairs)
    given = Given(frame)
    source = read_source(given, given.columns(frame.columns))
    labels = spark.createDataFrame(
        [(k, str(v)) for k, v in truth.items()], "node long, value string"
    )
    with pytest.warns(BlockingWarning):
        recall = block_recall(source, labels)
    same = [truth[a] == truth[b] for a, b, _ in pairs.itertuples(index=False)]
    seen = {*pairs.unique_id_l, *pairs.unique_id_r}
    sizes = np.bincount([truth[k] for k in seen])
    assert recall == pytest.approx(sum(same) / (sizes * (sizes - 1) // 2).sum())
    assert background_of(source, labels) <= 0
    perfect = labels.withColumnRenamed("value", "cluster_id")
    assert pairwise_f1(perfect, labels) == 1.0


def test_probabilities_are_not_taken_for_bits(spark):
    rows = [(k, k + 1, (k + 1) / 10) for k in range(5)]
    frame = spark.createDataFrame(rows, "unique_id_l long, unique_id_r long, match_weight double")
    with pytest.raises(DataError, match='probability="match_weight" or log_odds="match_weight"'):
        rt.cluster_pairs(frame)
