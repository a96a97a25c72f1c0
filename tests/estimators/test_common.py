"""Shared parts of the estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

import relatum as rt
from relatum.errors import DataError, NotFittedError
from relatum.estimators.common import fitted_lifting, lifted, require_feasible


def test_liftings_are_copied_before_they_are_fitted():
    X = np.array([[0, 1], [1, 1]], dtype=np.uint8)
    given = rt.MultilinearLifting(degree=2)
    fitted, x = fitted_lifting(given, X)
    assert fitted is not given
    assert not hasattr(given, "n_features_in_")
    assert np.array_equal(lifted(fitted, X), x)
    assert fitted_lifting(None, X) == (None, X)
    assert lifted(None, X) is X


def test_what_is_not_fitted_says_so_in_both_languages():
    X = np.array([[0, 1], [1, 1]])
    for unfitted in (
        lambda: rt.MapClassifier().predict(X),
        lambda: rt.PartitionClustering().predict(X),
        lambda: rt.LinearRanker().predict(["a"]),
        lambda: rt.LinearRanker().score(["a b"]),
    ):
        with pytest.raises(NotFittedError) as told:
            unfitted()
        assert isinstance(told.value, SklearnNotFittedError)


def test_feasible_sets_only():
    assert require_feasible(rt.MAPS, "X") is rt.MAPS
    with pytest.raises(DataError, match="X: feasible is a set"):
        require_feasible([rt.MAPS], "X")


def test_verbose_prints_progress(capsys):
    sentences = rt.datasets.load_sentences()[:3]
    rt.LinearRanker(verbose=True, solver="branch_and_cut").fit(sentences)
    assert "bound" in capsys.readouterr().err


X = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [2.0, 1.0]])
Y = [0, 1, 0, 1]
ODD = [
    (lambda: rt.MapClassifier().fit(X, [None, "a", "b", "a"]), "Unknown label type"),
    (lambda: rt.MapClassifier().fit(np.ma.masked_array(X, X > 1), Y), "masked"),
    (lambda: rt.MapClassifier().fit(X, np.ma.masked_array(Y, [0, 1, 0, 0])), "masked"),
    (lambda: rt.MapClassifier().fit(X, None), "requires y"),
    (lambda: rt.MapClassifier(lifting=3).fit(X, Y), "lifting: Cannot clone"),
    (lambda: rt.MapClassifier(lifting=()).fit(X, Y), "lifting is"),
    (lambda: rt.MapClassifier(measure="x").fit(X, Y), "measure: Cannot clone"),
    (lambda: rt.MapClassifier(random_state=np.ones(2)).fit(X, Y), "seed"),
    (lambda: rt.PartitionClustering().fit(X, [0.0, np.nan, 0.0, 1.0]), "missing"),
    (lambda: rt.PartitionClustering(n_pairs=2.5).fit(X, Y), "n_pairs"),
    (lambda: rt.PartitionClustering(stratified="no").fit(X, Y), "stratified"),
    (lambda: rt.PartitionClustering().fit_pairs(X, [0, 9], [1, 2], [0, 1]), "rows of v"),
    (lambda: rt.PartitionClustering().fit_pairs(X, [0, 1], [1, 2], [0, 7]), "related is 1"),
    (lambda: rt.LinearRanker().fit(3), "iterable"),
    (lambda: rt.LinearRanker(measure=rt.LogisticMeasure()).fit(["a b"]), "BernoulliMeasure"),
    (lambda: rt.LinearRanker().fit(["a b"]).predict(3), "iterable"),
    (lambda: rt.LinearRanker().fit(["a b"]).predict([["a"]]), "unhashable"),
    (lambda: rt.LinearRanker().fit(["a b"]).score([1]), "iterable"),
    (lambda: rt.LinearRanker().fit_comparisons(["a"], []), r"a\[k\] and b\[k\]"),
    (lambda: rt.BernoulliMeasure().fit([2**63], [1]), "Class numbers|integers"),
    (lambda: rt.BernoulliMeasure(n_classes=0).fit([0], [1]), "n_classes"),
    (lambda: rt.regularization_path(X, Y, [1.0], measure=b"x"), "LogisticMeasure"),
    (lambda: rt.RecordBatches({}, batch_size="x"), "batch_size"),
    (lambda: rt.joint_estimate(X, rt.EQUIVALENCES, balance=np.ones(2), evidence=KNOWN), "balance"),
    (lambda: rt.joint_estimate(X, rt.EQUIVALENCES, exact="x", evidence=KNOWN), "exact"),
]
KNOWN = rt.evidence([(0, 1)], [(1, 2)])


@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_input_is_refused_in_one_line(number):
    call, rule = ODD[number]
    with pytest.raises(rt.errors.RelatumError, match=rule) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_items_are_read_once():
    """An iterator of items is not used up before its items are returned."""
    ranker = rt.LinearRanker().fit(["a b c", "a c"])
    assert ranker.predict(iter(["c", "a", "b"])) == ["a", "b", "c"]


def test_words_of_comparisons_are_below_their_number():
    """Else the class of one pair would be that of another."""
    measure = rt.BernoulliMeasure()
    measure.fit_comparisons([0, 1], [1, 2], [1, 0.5], n_words=3)
    for given, rule in (
        (([0], [2], [1], 2), "rows of v"),
        (([0.5], [1], [1], 2), "vector of integers"),
        (([0], [1], [1, 0], 2), "comparisons"),
        (([0], [1], [0.7], 2), "1, 0 or 0.5"),
        (([0], [1], [1], 2.5), "n_words"),
        (([0], [1], [1], 2, [-1.0]), "sample_weight"),
    ):
        with pytest.raises(DataError, match=rule):
            measure.fit_comparisons(*given)


def test_projections_are_transformers():
    for odd, rule in ((3, "projection: Cannot clone"), ([], "projection is a transformer")):
        with pytest.raises(DataError, match=rule):
            rt.BilinearPairMeasure(projection=odd).fit(X, [0, 1], [1, 2], [0, 1])
