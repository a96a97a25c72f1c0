import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relatum.errors import DataError
from relatum.measures.bernoulli import BernoulliMeasure
from relatum.measures.logistic import LogisticMeasure
from relatum.measures.record_batches import RecordBatches, is_record_source

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

COLUMNS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    n = 5000
    x = {name: rng.integers(0, 3, n).astype(np.int8) for name in COLUMNS}
    score = 1.5 * x["a"] - x["b"] + 0.5 * x["c"] - 0.7
    y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int32)
    return {"id": np.array([f"r{k}" for k in range(n)]), **x, "y": y}


@pytest.fixture(scope="module")
def table(columns):
    return pa.table(columns)


@pytest.fixture
def relation(table):
    connection = duckdb.connect()
    connection.register("pairs", table)
    return connection.sql("SELECT * FROM pairs")


def arrays(columns):
    return np.column_stack([columns[name] for name in COLUMNS]), columns["y"]


def sources(table, relation, folder):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    half = len(table) // 2
    pq.write_table(table.slice(0, half), folder / "part0.parquet")
    pq.write_table(table.slice(half), folder / "part1.parquet")
    return {
        "relation": relation,
        "table": table,
        "reader": table.to_reader(max_chunksize=300),
        "dataset": ds.dataset(folder),
        "scanner": ds.dataset(folder).scanner(batch_size=123),
        "path": folder / "*.parquet",
        "list of batches": table.to_batches(max_chunksize=77),
        "iterator of batches": iter(table.to_batches(max_chunksize=77)),
        "pandas": table.to_pandas(),
        "iterator of frames": (b.to_pandas() for b in table.to_batches(max_chunksize=999)),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "relation", "table", "reader", "dataset", "scanner", "path", "list of batches",
        "iterator of batches", "pandas", "iterator of frames",
    ],
)  # fmt: skip
def test_every_source_gives_the_same_batches(columns, table, relation, tmp_path, kind):
    source = sources(table, relation, tmp_path)[kind]
    batches = RecordBatches(source, target="y", features=COLUMNS, batch_size=1024)
    x, y = arrays(columns)
    for _ in range(1 if batches.once else 2):
        got = list(batches)
        assert [len(t) for _, t in got] == [1024] * 4 + [5000 - 4 * 1024]
        np.testing.assert_array_equal(np.vstack([r for r, _ in got]), x)
        np.testing.assert_array_equal(np.concatenate([t for _, t in got]), y)
    assert batches.once == (kind in ("reader", "iterator of batches", "iterator of frames"))


def test_polars_frames(columns, table):
    pl = pytest.importorskip("polars")
    frame = pl.from_arrow(table)
    x, y = next(iter(RecordBatches([frame], target="y", features=COLUMNS)))
    np.testing.assert_array_equal(x, arrays(columns)[0])
    np.testing.assert_array_equal(y, arrays(columns)[1])


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "tol"), [("auto", 1e-9), ("sdca", 1e-5), ("newton", 1e-9)])
def test_a_logistic_fit_equals_the_fit_in_memory(columns, relation, solver, tol):
    x, y = arrays(columns)
    n = 1500  # three batches, the last of which is short; dual ascent visits them 200 times
    expected = LogisticMeasure(2.0, tol=1e-10, max_epochs=2000, solver="newton", fit_intercept=True)
    expected.fit(x[:n], y[:n])
    measure = LogisticMeasure(2.0, tol=tol, max_epochs=2000, solver=solver, fit_intercept=True)
    measure.fit(RecordBatches(relation.limit(n), "y", COLUMNS, batch_size=512))
    np.testing.assert_allclose(measure.coef_, expected.coef_, atol=1e3 * tol)
    np.testing.assert_allclose(measure.intercept_, expected.intercept_, atol=1e3 * tol)
    assert measure.objective_ == pytest.approx(expected.objective_, rel=2 * tol)
    assert measure.feature_columns_ == COLUMNS


def test_scores_of_a_relation_find_their_columns(columns, relation):
    features = relation.project("a, b, c, y")
    measure = LogisticMeasure(2.0).fit(features, "y")
    assert measure.feature_columns_ == COLUMNS
    shuffled = relation.project("c, id, y, a, b")  # other columns, another order
    x, y = arrays(columns)
    expected = measure.log_odds(x)
    for method in ("log_odds", "predict", "predict_proba", "pair_probabilities"):
        got = np.concatenate(list(getattr(measure, method)(shuffled)))
        np.testing.assert_allclose(got, getattr(measure, method)(x), atol=1e-12)
    assert len(expected) == len(y)
    assert measure.objective(shuffled, "y") == pytest.approx(measure.objective(x, y))
    measure.fit(x, y)
    assert not hasattr(measure, "feature_columns_")


def test_a_reader_is_read_once(table):
    reader = table.select([*COLUMNS, "y"]).to_reader(max_chunksize=500)
    assert is_record_source(reader)
    with pytest.warns(ConvergenceWarning, match="only once"):
        measure = LogisticMeasure(2.0).fit(reader, "y")
    assert measure.n_iter_ == 1
    one = LogisticMeasure(2.0, max_epochs=1).fit(table.select([*COLUMNS, "y"]).to_reader(), "y")
    assert one.n_iter_ == 1


@pytest.mark.parametrize("form", ["class", "one-hot"])
def test_counts_equal_those_in_memory(columns, relation, form):
    x, y = arrays(columns)
    classes = x @ [1, 3, 9]
    expected = BernoulliMeasure().fit(classes, y)
    if form == "class":
        source = relation.project("a + 3 * b + 9 * c AS class, y")
    else:
        names = ", ".join(f"(a + 3 * b + 9 * c = {k})::TINYINT AS k{k}" for k in range(27))
        source = relation.project(f"{names}, y")
    measure = BernoulliMeasure().fit(source, "y")
    np.testing.assert_array_equal(measure.class_ids_, expected.class_ids_)
    np.testing.assert_array_equal(measure.related_, expected.related_)
    np.testing.assert_array_equal(measure.unrelated_, expected.unrelated_)
    scored = source.project("* EXCLUDE y")
    np.testing.assert_array_equal(
        np.concatenate(list(measure.log_odds(scored))), expected.log_odds(classes)
    )
    twice = BernoulliMeasure().partial_fit(source, "y").partial_fit(source, "y")
    np.testing.assert_array_equal(twice.related_, 2 * expected.related_)
    named = BernoulliMeasure().fit(RecordBatches(relation.project("a::INT AS a, y"), "y", "a"))
    np.testing.assert_array_equal(named.related_, BernoulliMeasure().fit(x[:, 0], y).related_)


def test_dual_ascent_refuses_another_order_and_newton_needs_none(columns):
    x, y = arrays(columns)

    class Shuffled:
        def __init__(self):
            self.rng = np.random.default_rng(1)

        def __iter__(self):
            order = self.rng.permutation(len(y))
            return (pa.table({**dict(zip(COLUMNS, x[p].T, strict=True)), "y": y[p]})
                    for p in np.array_split(order, 5))  # fmt: skip

    stream = RecordBatches(Shuffled(), "y", COLUMNS, batch_size=1000)
    assert not stream.once
    with pytest.raises(DataError, match=r"another order.*newton"):
        LogisticMeasure(2.0, solver="sdca", tol=1e-9).fit(stream)
    measure = LogisticMeasure(2.0, solver="newton", tol=1e-9).fit(stream)
    expected = LogisticMeasure(2.0, solver="newton", tol=1e-9).fit(x, y)
    np.testing.assert_allclose(measure.coef_, expected.coef_, atol=1e-5)


def test_a_database_is_not_read_into_memory(relation):
    """A query over 3 million rows is fitted while no more than a few batches are held."""
    import tracemalloc

    big = relation.query("t", "SELECT t.a, t.b, t.y FROM t, range(600)")
    tracemalloc.start()
    measure = BernoulliMeasure().fit(big.project("a::INTEGER AS class, y"), "y")
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measure.related_.sum() + measure.unrelated_.sum() == 5000 * 600
    assert top < 5000 * 600 * 8 / 4


@pytest.mark.parametrize(
    ("source", "options", "rule"),
    [
        (pa.table({"a": pa.array([1, None], pa.int8()), "y": [0, 1]}), {}, "'a' holds 1 missing"),
        (pa.table({"a": [1.0, float("nan")], "y": [0, 1]}), {}, "'a' holds 1 missing"),
        (pa.table({"a": ["x", "z"], "y": [0, 1]}), {}, "'a' holds no numbers.*features="),
        (pa.table({"a": [1, 2], "y": [0, 1]}), {"features": ["b"]}, "no column 'b'; .*a, y"),
        (pa.table({"a": [1, 2], "z": [0, 1]}), {}, "no column 'y'"),
        ([np.ones((2, 3))], {}, "named columns; got ndarray"),
        (pa.table({"a": [1, 2]}), {"batch_size": 0}, "batch_size"),
        (7, {}, "got int"),
        ("no/such/file.parquet", {}, "no/such/file.parquet cannot be read"),
    ],
)
def test_bad_tables_are_refused(source, options, rule):
    with pytest.raises(DataError, match=rule):
        list(RecordBatches(source, target="y", **options))


def test_decimals_and_booleans_are_numbers(relation):
    source = relation.project("a::DECIMAL(4, 1) / 2 AS half, a > 1 AS large, y")
    x, _ = next(iter(RecordBatches(source, "y")))
    np.testing.assert_array_equal(x[:, 1], x[:, 0] > 0.5)


def test_arrays_are_no_record_source(table):
    assert not is_record_source(np.ones(3))
    assert not is_record_source(table)
    assert not is_record_source([1, 2])


def test_an_array_without_dimensions_is_refused():
    with pytest.raises(DataError, match="RecordBatches reads"):
        RecordBatches(np.array(3.0), "y")
