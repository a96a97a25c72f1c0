"""PartitionClustering against planted truth, a peer measure and the bounds it claims."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relatum as rt
from instances.contract import contract, run
from relatum import metrics
from relatum.errors import DataError
from relatum.estimators import clustering

# What these checks ask for is not what clustering by learned pairs does.
NOT_APPLICABLE = {
    "check_methods_sample_order_invariance": "clusters are numbered in the order of the elements",
    "check_methods_subset_invariance": "an element's cluster depends on the other elements",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "check", "reason"), contract(rt.PartitionClustering(), NOT_APPLICABLE)
)
def test_sklearn_contract(estimator, check, reason):
    run(estimator, check, reason)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=4, size=(6, 3))
    labels = rng.integers(0, 6, 150)
    return centres[labels] + rng.normal(scale=0.4, size=(150, 3)), labels


def test_learns_from_labels_and_clusters_the_unseen(blobs):
    X, labels = blobs
    model = rt.PartitionClustering(n_pairs=3000, prove=True).fit(X[:100], labels[:100])
    assert model.gap_ == pytest.approx(model.estimate_.bound - model.estimate_.value, abs=1e-9)
    assert metrics.rand_error(labels[100:], model.predict(X[100:])) < 0.03
    problem = rt.Problem(model.log_odds(X[100:]), rt.EQUIVALENCES)
    estimate = model.infer(X[100:])
    assert rt.verify(problem, estimate)
    assert np.array_equal(model.fit(X[:100], labels[:100]).labels_, model.labels_)


def test_fits_and_predicts_at_once(blobs):
    X, labels = blobs
    model = rt.PartitionClustering(n_pairs=1000)
    found = model.fit_predict(X, labels)
    assert np.array_equal(found, model.labels_)
    assert np.array_equal(found, clone(model).fit(X, labels).labels_)
    assert np.array_equal(found, make_pipeline(clone(model)).fit_predict(X, labels))
    assert metrics.rand_error(labels, found) < 0.05


@pytest.mark.parametrize("table", ["pandas", "polars"])
def test_liftings_may_return_tables(blobs, table):
    pytest.importorskip(table)
    X, labels = blobs[0][:40], blobs[1][:40]
    code = rt.BinaryFeatures(code="quantiles", thresholds=4)
    for given in ((None, None), (code, rt.LogisticMeasure()), (StandardScaler(), None)):
        want = rt.PartitionClustering(*given, n_pairs=300).fit(X, labels).log_odds(X)
        with config_context(transform_output=table), warnings.catch_warnings():
            warnings.simplefilter("error")
            got = rt.PartitionClustering(*given, n_pairs=300).fit(X, labels).log_odds(X)
        assert np.array_equal(got, want)


def test_learns_from_pairs_and_from_other_measures(blobs):
    X, labels = blobs
    i, j, same = rt.sample_pairs(labels[:100], 2000, random_state=1)
    by_pairs = rt.PartitionClustering().fit_pairs(X[:100], i, j, same)
    assert metrics.rand_error(labels[100:], by_pairs.predict(X[100:])) < 0.05
    code = rt.BinaryFeatures(code="quantiles", thresholds=12)
    logistic = rt.LogisticMeasure(1e-3, relative=True, fit_intercept=True)
    model = rt.PartitionClustering(lifting=code, measure=logistic, n_pairs=2000)
    model.fit(X[:100], labels[:100])
    together = metrics.pair_precision_recall_f1(labels[100:], model.predict(X[100:]))
    assert together[2] > 0.8


def test_stratified_training_is_corrected(blobs):
    X, labels = blobs
    plain = rt.PartitionClustering(stratified=True, prior_correction=False, n_pairs=1000)
    corrected = clone(plain).set_params(prior_correction=True)
    plain.fit(X, labels)
    corrected.fit(X, labels)
    a, b = np.triu_indices(len(labels), 1)
    share = np.mean(labels[a] == labels[b])
    shift = corrected.log_odds(X) - plain.log_odds(X)
    assert np.allclose(shift, np.log2(share / (1 - share)))


def test_evidence_at_prediction(blobs):
    X, labels = blobs
    model = rt.PartitionClustering(n_pairs=2000).fit(pd.DataFrame(X), labels)
    found = model.predict(pd.DataFrame(X[:20]))
    same = np.argwhere((found[:, None] == found[None, :]) & ~np.eye(20, dtype=bool))
    pair = tuple(int(k) for k in same[0])
    apart = model.predict(pd.DataFrame(X[:20]), evidence=rt.evidence(unrelated=[pair]))
    assert apart[pair[0]] != apart[pair[1]]
    capped = clone(model).set_params(feasible=rt.EQUIVALENCES & rt.at_most(3))
    assert np.bincount(capped.fit(X[:24], labels[:24]).labels_).max() <= 3
    assert model.predict(X[:1]).tolist() == [0]


@pytest.mark.slow
def test_pipelines_grids_frames_and_pickles(blobs):
    X, labels = blobs
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = rt.PartitionClustering(n_pairs=1000, feasible=rt.EQUIVALENCES & rt.at_most(60))
    fitted = clone(model).fit(frame, labels)
    assert fitted.feature_names_in_.tolist() == ["u", "v", "w"]
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(frame[:30]), fitted.predict(frame[:30]))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["w", "v", "u"]])
    pipeline = make_pipeline(StandardScaler(), model).fit(X[:100], labels[:100])
    assert metrics.rand_error(labels[100:], pipeline.predict(X[100:])) < 0.05
    grid = GridSearchCV(
        rt.PartitionClustering(n_pairs=500),
        {"stratified": [False, True], "feasible": [None, rt.EQUIVALENCES & rt.at_most(40)]},
        scoring="adjusted_rand_score",
        cv=2,
        n_jobs=2,
    ).fit(X, labels)
    assert grid.best_score_ > 0.8
    seeds = [clone(model).set_params(random_state=k).fit(X, labels).log_odds(X) for k in (1, 1, 2)]
    assert np.array_equal(seeds[0], seeds[1])
    assert not np.array_equal(seeds[0], seeds[2])


def test_errors(blobs):
    X, labels = blobs
    with pytest.raises(DataError, match="fit_pairs"):
        rt.PartitionClustering(measure=rt.BilinearPairMeasure()).fit(X)
    with pytest.raises(DataError, match="requires y"):
        rt.PartitionClustering(semi_supervised=True).fit(X)
    with pytest.raises(DataError, match="nothing from labelled pairs"):
        rt.PartitionClustering(measure=rt.DiffusionPairMeasure()).fit_pairs(X, [0], [1], [1])
    with pytest.raises(DataError, match="these put all"):
        rt.PartitionClustering().fit(X, np.zeros(len(X)))
    with pytest.raises(DataError, match="these put none"):
        rt.PartitionClustering().fit(X, np.arange(len(X)))
    with pytest.raises(DataError, match="one entry per pair"):
        rt.PartitionClustering().fit_pairs(X, [0, 1], [1], [1, 0])
    with pytest.raises(DataError, match="one label for each"):
        rt.PartitionClustering().fit(X, labels[:3])


def test_clusters_without_labels(blobs):
    X, labels = blobs
    model = rt.PartitionClustering(prove=True).fit(X)
    assert metrics.rand_error(labels, model.labels_) < 0.02
    assert rt.verify(rt.Problem(model.log_odds(X), rt.EQUIVALENCES), model.estimate_)
    assert np.array_equal(model.labels_, model.predict(X))
    assert np.array_equal(model.labels_, rt.PartitionClustering().fit_predict(X))
    own = rt.PartitionClustering(measure=rt.DiffusionPairMeasure(8))
    assert metrics.rand_error(labels, own.fit(X, labels).labels_) < 0.02
    apart = rt.EQUIVALENCES & rt.evidence(unrelated=[(0, 1), (2, 3), (4, 5)])
    told = rt.PartitionClustering(feasible=apart).fit_predict(X)
    assert all(told[k] != told[k + 1] for k in (0, 2, 4))
    assert rt.PartitionClustering().fit_predict(X[:1]).tolist() == [0]
    half = rt.PartitionClustering().fit(X[:100])
    assert metrics.rand_error(labels[100:], half.predict(X[100:])) < 0.02


def test_a_sample_of_pairs_decides_of_many_elements(blobs, monkeypatch):
    X, labels = blobs
    monkeypatch.setattr(clustering, "ALL_PAIRS", 100)
    monkeypatch.setattr(clustering, "PARTNERS", 30)
    i, j = clustering._sampled(150, 0)
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == len(i)
    assert (i < j).all()
    assert np.bincount(np.append(i, j), minlength=150).min() >= 20
    model = rt.PartitionClustering().fit(X)
    assert metrics.rand_error(labels, model.labels_) < 0.02
    assert np.array_equal(model.labels_, model.predict(X))
    by_labels = rt.PartitionClustering(n_pairs=3000).fit(X, labels)
    assert metrics.rand_error(labels, by_labels.labels_) < 0.03
    assert rt.PartitionClustering().fit(X[:90]).log_odds(X[:90]).shape == (90 * 89 // 2,)


def test_semi_supervised_uses_labels_and_pairs():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 8)
    prototypes = np.array(
        [[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0, 1, 1]]
    )
    x = prototypes[truth] ^ (rng.random((24, 8)) < 0.05)
    y = np.where(np.arange(24) % 2, truth + 5, -1)
    model = rt.PartitionClustering(semi_supervised=True).fit(x, y)
    known = y != -1
    same = y[known][:, None] == y[known][None, :]
    got = model.labels_[known][:, None] == model.labels_[known][None, :]
    assert np.array_equal(same, got)
    i, j = np.triu_indices(24, 1)
    right = truth[i] == truth[j]
    assert np.mean((model.labels_[i] == model.labels_[j]) == right) > 0.9
    some = rng.random(len(i)) < 0.3
    model = rt.PartitionClustering(semi_supervised=True).fit_pairs(x, i[some], j[some], right[some])
    assert np.array_equal((model.labels_[i] == model.labels_[j])[some], right[some])
    assert (np.diff(model.joint_.history) <= 0).all()
    assert len(model.predict(x[:5])) == 5


def test_semi_supervised_says_what_it_takes():
    x = np.eye(4, dtype=int)
    bilinear = rt.PartitionClustering(measure=rt.BilinearPairMeasure(), semi_supervised=True)
    with pytest.raises(DataError, match="BilinearPairMeasure is learned from labels only"):
        bilinear.fit(x, [0, 0, 1, -1])
    with pytest.raises(DataError, match="one integer per element"):
        rt.PartitionClustering(semi_supervised=True).fit(x, ["a", "b", "a", "b"])
