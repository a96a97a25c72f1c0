import gzip
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone

import relatum as rt
from relatum.errors import DataError, NotFittedError
from relatum.measures import objective as ob
from relatum.measures.bernoulli import BernoulliMeasure
from relatum.measures.sequences import encode_sequences


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    return rng.integers(0, 6, size=80), rng.integers(0, 2, size=80)


def test_closed_form_minimises_the_papers_objective(pairs):
    classes, y = pairs
    sigma = 1.8
    measure = BernoulliMeasure(sigma).fit(classes, y)
    total = 0.0
    for c in range(6):
        plus, minus = ((classes == c) & (y == 1)).sum(), ((classes == c) & (y == 0)).sum()

        def value(t, plus=plus, minus=minus):
            return ob.bernoulli_divergence([t], [plus], [minus]) + ob.bernoulli_regularizer(
                [t], sigma
            )

        best = minimize_scalar(value, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        assert measure.theta([c])[0] == pytest.approx(best.x, abs=1e-6)
        total += best.fun
    assert measure.objective_ == pytest.approx(total)


def test_log_odds_are_those_of_theta_and_zero_where_nothing_was_seen(pairs):
    measure = BernoulliMeasure().fit(*pairs)
    theta = measure.theta(np.arange(6))
    np.testing.assert_allclose(measure.log_odds(np.arange(6)), np.log2(theta / (1 - theta)))
    assert measure.log_odds([10**15]).tolist() == [0.0]
    np.testing.assert_allclose(measure.predict_proba([1, 99])[:, 1], [theta[1], 0.5])
    np.testing.assert_array_equal(measure.predict(np.arange(6)), theta > 0.5)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.coo_matrix])
def test_one_hot_features_are_classes(pairs, form):
    classes, y = pairs
    hot = form(np.eye(7, dtype=np.int8)[classes])
    measure = BernoulliMeasure().fit(hot, y)
    plain = BernoulliMeasure().fit(classes, y)
    np.testing.assert_array_equal(measure.log_odds(hot), plain.log_odds(classes))
    assert measure.n_classes_ == 7
    with pytest.raises(DataError, match="one column per class, 7"):
        measure.log_odds(np.eye(6))


def test_counts_add_up_over_batches_workers_and_streams(pairs):
    classes, y = pairs
    whole = BernoulliMeasure().fit(classes, y)
    parts = [slice(0, 30), slice(30, 31), slice(31, 80)]
    grown = BernoulliMeasure()
    for part in parts:
        grown.partial_fit(classes[part], y[part])
    first, *others = (BernoulliMeasure().fit(classes[p], y[p]) for p in parts)
    merged = first
    for other in others:
        merged = merged + other
    streamed = BernoulliMeasure().fit((classes[p], y[p]) for p in parts)
    for measure in (grown, merged, streamed, pickle.loads(pickle.dumps(whole))):
        np.testing.assert_array_equal(measure.class_ids_, whole.class_ids_)
        np.testing.assert_array_equal(measure.related_, whole.related_)
        np.testing.assert_array_equal(measure.unrelated_, whole.unrelated_)
    assert first.related_.sum() < whole.related_.sum()
    lazy = whole.log_odds(classes[p] for p in parts)
    np.testing.assert_array_equal(np.concatenate(list(lazy)), whole.log_odds(classes))
    predicted = whole.predict(classes[p] for p in parts)
    np.testing.assert_array_equal(predicted, whole.theta(classes) > 0.5)


def test_weights_are_repetitions(pairs):
    classes, y = pairs
    times = np.arange(80) % 3
    weighted = BernoulliMeasure().fit(classes, y, times)
    repeated = BernoulliMeasure().fit(np.repeat(classes, times), np.repeat(y, times))
    np.testing.assert_allclose(weighted.log_odds(np.arange(6)), repeated.log_odds(np.arange(6)))


def test_sequences_are_all_ordered_pairs_of_occurrences():
    sequences = [[0, 1, 0, 2], [2, 1], [1, 1]]
    classes, y = [], []
    for words in sequences:
        for a, j in enumerate(words):
            for b, k in enumerate(words):
                if a != b:
                    classes.append(j * 4 + k)
                    y.append(int(a < b))
    plain = BernoulliMeasure(1.5).fit(classes, y)
    flat = [t for s in sequences for t in s]
    measure = BernoulliMeasure(1.5).fit_sequences(flat, np.cumsum([0, 4, 2, 2]), 4)
    np.testing.assert_allclose(measure.log_odds(np.arange(16)), plain.log_odds(np.arange(16)))
    table = measure.pair_log_odds([2, 0, 0, 3])
    assert table.shape == (4, 4)
    np.testing.assert_allclose(table, -table.T)
    assert table[1, 0] == pytest.approx(measure.log_odds([0 * 4 + 2])[0])
    assert table[1, 0] > 0  # 0 was seen before 2 only
    both = measure.merge(measure)
    assert both.related_.sum() == 2 * measure.related_.sum()
    both.pair_log_odds([1, 3])


def test_word_pairs_of_three_thousand_words(data_folder):
    with gzip.open(data_folder / "wikipedia" / "union_top3000.txt.gz", "rt") as file:
        lines = file.read().splitlines()[:5000]
    tokens, offsets, words = encode_sequences(lines)
    measure = BernoulliMeasure().fit_sequences(tokens, offsets)
    lengths = np.diff(offsets)
    assert measure.related_.sum() == (lengths * (lengths - 1) // 2).sum()
    of, the = words.index("of"), words.index("the")
    assert measure.pair_log_odds([of, the]).shape == (2, 2)


@pytest.mark.parametrize("sigma", [1.0, 0.5, -1.0, np.nan, "2", None])
def test_sigma_of_at_most_one_is_refused_with_the_reason(sigma):
    with pytest.raises(DataError, match="infinite log-odds"):
        BernoulliMeasure(sigma).fit([0], [1])


@pytest.mark.parametrize(
    ("classes", "y", "rule"),
    [
        ([0, -1], [0, 1], "at least 0"),
        ([0, 9], [0, 1], "below n_classes=5"),
        ([0.5, 1.0], [0, 1], "integers"),
        ([[[0]]], [0], "integers"),
        ([0, 1], [0, 2], "1 for related"),
        ([0, 1], [0, np.nan], "1 for related"),
        ([0, 1], [0], "one target per pair"),
        ([0, 1], None, "requires y"),
        ([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], [0, 1], "row 1 has 2"),
        ([[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [0, 1], "row 1 has 0"),
        ([[2, 0, 0, 0, 0]], [0], "0 or 1"),
        ([[np.nan, 0, 0, 0, 0]], [0], "0 or 1"),
        ([[1, 0]], [0], "one column per class"),
    ],
)
def test_bad_data_is_refused_and_changes_nothing(classes, y, rule):
    measure = BernoulliMeasure(n_classes=5).fit([0, 1, 4], [0, 1, 1])
    before = dict(vars(measure))
    for method in (measure.fit, measure.partial_fit):
        with pytest.raises(DataError, match=rule):
            method(classes, y)
        assert vars(measure) == before


def test_a_source_that_fails_midway_changes_nothing():
    def source():
        yield [0], [1]
        raise OSError("gone")

    measure = BernoulliMeasure().fit([3], [1])
    before = dict(vars(measure))
    with pytest.raises(DataError, match="failed after 1 batches"):
        measure.partial_fit(source())
    assert vars(measure) == before


def test_other_refusals():
    one = BernoulliMeasure().fit([0], [1])
    with pytest.raises(DataError, match="agree in sigma"):
        one + BernoulliMeasure(3.0).fit([0], [1])
    with pytest.raises(TypeError):
        one + 3
    with pytest.raises(DataError, match="merges with its like"):
        one.merge(3)
    with pytest.raises(NotFittedError):
        clone(one).log_odds([0])
    with pytest.raises(NotFittedError):
        one.pair_log_odds([0])
    with pytest.raises(DataError, match="sample_weight"):
        one.fit([0], [1], [-1.0])
    with pytest.raises(DataError, match="n_words"):
        BernoulliMeasure(n_classes=5).fit_sequences([0, 1], [0, 2])
    with pytest.raises(DataError, match="words must be"):
        BernoulliMeasure().fit_sequences([0, 1], [0, 2]).pair_log_odds([2])
    assert rt.BernoulliMeasure is BernoulliMeasure
