import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relatum.errors import DataError
from relatum.features import PairBatches
from relatum.measures.logistic import LogisticMeasure


class Batches:
    """A re-iterable source that makes its rows anew on every reading."""

    def __init__(self, batches=8, rows=50, width=10, labels=1, fail_at=None, seed=0):
        self.sizes = (batches, rows, width, labels)
        self.fail_at, self.seed, self.readings = fail_at, seed, 0
        rng = np.random.default_rng(99)
        self.truth = rng.normal(size=(width, max(labels, 2)))

    def __iter__(self):
        self.readings += 1
        batches, rows, width, labels = self.sizes
        rng = np.random.default_rng(self.seed)
        for number in range(batches):
            if number == self.fail_at:
                raise OSError("disk on fire")
            x = rng.integers(-2, 3, size=(rows, width)).astype(np.int8)
            noise = rng.normal(size=(rows, max(labels, 2)))
            scores = x @ self.truth + noise
            yield x, (scores[:, 0] > 0).astype(int) if labels == 1 else scores.argmax(axis=1)

    def table(self):
        parts = list(self)
        return np.vstack([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def test_a_stream_gives_what_its_table_gives():
    stream = Batches()
    x, y = stream.table()
    streamed = LogisticMeasure(3.0).fit(stream)
    table = LogisticMeasure(3.0).fit(x, y)
    assert streamed.gap_is_exact_
    assert streamed.duality_gap_ <= 1e-4
    assert streamed.objective_ == pytest.approx(table.objective_, rel=2e-4)
    assert streamed.objective_ == pytest.approx(streamed.objective(x, y), rel=1e-6)
    assert streamed.objective_ == pytest.approx(streamed.objective(stream), rel=1e-6)
    assert streamed.n_features_in_ == 10


def test_several_labels():
    stream = Batches(labels=3)
    x, y = stream.table()
    measure = LogisticMeasure(3.0).fit(stream, classes=[0, 1, 2])
    assert measure.coef_.shape == (3, 10)
    table = LogisticMeasure(3.0).fit(x, y)
    assert measure.objective_ == pytest.approx(table.objective_, rel=2e-4)


def test_one_reading_gives_a_bound_and_an_estimate():
    stream = Batches()
    measure = LogisticMeasure(3.0, max_epochs=1).fit(stream)
    assert stream.readings == 1
    assert not measure.gap_is_exact_
    assert measure.n_iter_ == 1
    best = LogisticMeasure(3.0, tol=1e-6, max_epochs=1000).fit(*stream.table())
    assert 0 < measure.dual_objective_ <= best.objective_ <= measure.objective(stream)
    assert measure.score(*stream.table()) > 0.8


def test_the_gap_is_exact_also_where_epochs_are_over():
    stream = Batches()
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        measure = LogisticMeasure(0.1, max_epochs=2, tol=1e-9).fit(stream)
    assert measure.gap_is_exact_
    assert measure.objective_ == pytest.approx(measure.objective(stream), rel=1e-6)


def test_a_generator_is_read_once():
    with pytest.warns(ConvergenceWarning, match="only once"):
        measure = LogisticMeasure(3.0).fit(iter(Batches()))
    assert measure.n_iter_ == 1
    one = LogisticMeasure(3.0, max_epochs=1).fit(iter(Batches()))
    np.testing.assert_array_equal(one.coef_, measure.coef_)


def test_relative_strength_is_that_of_the_first_batch():
    measure = LogisticMeasure(0.5, relative=True).fit(Batches())
    x, _ = next(iter(Batches()))
    square = (x.astype(float) ** 2).sum(axis=1).mean()
    assert measure.inverse_sigma_squared_ == pytest.approx(0.5 * square)


def test_predictions_stream_too():
    stream = Batches(labels=3)
    x, _ = stream.table()
    measure = LogisticMeasure(3.0).fit(stream, classes=[0, 1, 2])
    for method in ("log_odds", "predict_proba", "predict", "pair_probabilities"):
        lazy = getattr(measure, method)(stream)
        assert not hasattr(lazy, "shape")
        np.testing.assert_allclose(
            np.concatenate(list(lazy)), getattr(measure, method)(x), atol=1e-9
        )
    unlabelled = (x for x, _ in stream)
    np.testing.assert_allclose(
        np.concatenate(list(measure.log_odds(unlabelled))), measure.log_odds(x), atol=1e-9
    )


def test_pairs_of_elements():
    rng = np.random.default_rng(0)
    v = rng.integers(0, 2, size=(40, 6)).astype(np.uint8)
    i, j = np.triu_indices(40, 1)
    y = (v[i, 0] == v[j, 0]).astype(int)
    pairs = PairBatches(v, i, j, y, batch_size=128)
    measure = LogisticMeasure(1.0, fit_intercept=True).fit(pairs)
    predicted = np.concatenate(list(measure.predict(PairBatches(v, i, j, batch_size=99))))
    assert (predicted == y).mean() == 1.0


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (Batches(fail_at=3), "failed after 3 batches .*disk on fire"),
        (iter([]), "empty"),
        ([(np.ones((2, 3)), [0, 1]), (np.ones((2, 4)), [0, 1])], "features as the first: 3"),
        ([(np.ones((2, 3)), [0, 2])], "classes"),
        ([(np.ones((2, 3)), [1, 1])], "Every class"),
        ([(np.array([[np.nan], [0.0]]), [0, 1])], "NaN"),
        ([(np.ones((2, 3)), [0, 1, 1])], "one target per row"),
        ([(np.ones((2, 3)), None)], "y is missing"),
        ([(np.ones((2, 3)), [0, 1], 3)], "tuple of 3"),
    ],
)
def test_bad_sources_are_refused_and_change_nothing(source, rule):
    measure = LogisticMeasure(3.0).fit(Batches())
    before = {k: np.copy(v) for k, v in vars(measure).items()}
    with pytest.raises(DataError, match=rule):
        measure.fit(iter(source) if isinstance(source, list) else source)
    assert vars(measure).keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(measure, name), value)


def test_a_source_that_changes_is_refused():
    class Changing(Batches):
        def __iter__(self):
            self.sizes = (8, self.sizes[1] + 1, 10, 1)
            return super().__iter__()

    with pytest.raises(DataError, match="same batches every time"):
        LogisticMeasure(3.0, tol=1e-8).fit(Changing())


def test_interruption_keeps_what_was_found():
    def interrupt(epoch, value, gap):
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        measure = LogisticMeasure(1e-3, tol=1e-9).fit(Batches(), monitor=interrupt)
    assert measure.n_iter_ == 2
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        LogisticMeasure(1e-3, tol=1e-9, time_limit=1e-9).fit(Batches())


def test_weights_and_other_solvers_are_refused():
    with pytest.raises(DataError, match="sample_weight"):
        LogisticMeasure().fit(Batches(), sample_weight=np.ones(3))
    with pytest.raises(DataError, match="sdca"):
        LogisticMeasure(solver="lbfgs").fit(Batches())


def test_memory_does_not_grow_with_the_number_of_rows():
    def peak(batches):
        stream = Batches(batches, rows=256, width=512)
        tracemalloc.start()
        LogisticMeasure(3.0, max_epochs=1).fit(stream)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(1)
    assert peak(40) < 1.5 * peak(4)


def test_dual_objective_is_a_bound_after_every_epoch():
    stream = Batches()
    best = LogisticMeasure(0.5, tol=1e-7, max_epochs=5000, solver="sdca").fit(*stream.table())
    values = []
    LogisticMeasure(0.5, tol=1e-6).fit(stream, monitor=lambda e, v, g: values.append(v))
    assert max(values) <= best.objective_ * (1 + 1e-9)
    assert values[-1] == pytest.approx(best.objective_, rel=1e-4)
