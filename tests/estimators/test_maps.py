"""MapClassifier: the scikit-learn contract, and maps against their definition."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relatum as rt
from instances.contract import WEIGHTS, contract, run
from relatum.errors import DataError

EXACT = rt.LogisticMeasure(1e-3, relative=True, fit_intercept=True, solver="newton", tol=1e-10)
CHECKS = contract(rt.MapClassifier(), WEIGHTS) + contract(rt.MapClassifier(measure=EXACT))


@pytest.mark.parametrize(("estimator", "check", "reason"), CHECKS)
def test_sklearn_contract(estimator, check, reason):
    run(estimator, check, reason)


@pytest.fixture(scope="module")
def digits():
    train, test = rt.datasets.load_digits()
    return train, test


def test_maps_are_the_best_labels(digits):
    train, test = digits
    model = rt.MapClassifier().fit(train.images, train.labels)
    scores = model.log_odds(test.images)
    assert np.array_equal(model.predict(test.images), model.classes_[scores.argmax(axis=1)])
    probability = model.predict_proba(test.images)
    assert np.allclose(probability.sum(axis=1), 1)
    assert np.array_equal(probability.argmax(axis=1), scores.argmax(axis=1))
    # as good as scikit-learn's one-versus-rest on the same features
    peer = LogisticRegression(C=0.05, max_iter=500).fit(train.images, train.labels)
    peer_score = peer.score(test.images, test.labels)
    assert model.score(test.images, test.labels) > peer_score - 0.02
    assert model.gap_ < 1e-6


def test_two_classes_have_one_log_odds(digits):
    train, _ = digits
    two = train.labels < 2
    model = rt.MapClassifier().fit(train.images[two], train.labels[two])
    scores = model.decision_function(train.images[two])
    assert scores.ndim == 1
    expected = 1 / (1 + 2.0**-scores)
    assert np.allclose(model.predict_proba(train.images[two])[:, 1], expected)


def test_evidence_and_other_feasible_sets(digits):
    train, test = digits
    model = rt.MapClassifier().fit(train.images, train.labels)
    wrong = (int(model.predict(test.images[:1])[0]) + 1) % 10
    told = model.predict(test.images[:1], evidence=rt.evidence(related=[(0, wrong)]))
    assert told[0] == wrong
    once = clone(model).set_params(feasible=rt.INJECTIONS)
    once.feasible = rt.MAPS
    once.fit(train.images, train.labels).set_params(feasible=rt.BIJECTIONS)
    labels = once.predict(test.images[:10])
    assert sorted(labels) == list(range(10))


def test_multilabel_and_at_most(digits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    Y = (X[:, :3] + 0.1 * rng.normal(size=(200, 3)) > 0).astype(int)
    model = rt.MapClassifier().fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.9
    one = model.set_params(feasible=rt.RELATIONS & rt.at_most(1)).predict(X)
    assert one.sum(axis=1).max() == 1
    scores = model.log_odds(X)
    best = np.where(scores.max(axis=1) > 0, scores.max(axis=1), 0).sum()
    assert (scores * one).sum() == pytest.approx(best)


def test_pipelines_grids_and_frames():
    X, y = make_classification(200, 8, n_informative=5, n_classes=3, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(8)])
    names = np.array(["red", "green", "blue"])[y]
    lifting = make_pipeline(StandardScaler(), rt.PolynomialLifting(n_components=5))
    model = rt.MapClassifier(lifting=lifting).fit(frame, names)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert set(model.predict(frame)) <= set(names)
    grid = GridSearchCV(
        rt.MapClassifier(measure=rt.LogisticMeasure(relative=True, fit_intercept=True)),
        {"measure__inverse_sigma_squared": [1e-4, 1e-2, 10.0]},
        cv=3,
    ).fit(X, y)
    assert grid.best_score_ > 0.5


@pytest.mark.slow
def test_parallel_grids_and_multilabel_scores():
    X, y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=1)
    parameters = {"feasible": [None, rt.HAS_IMAGE & rt.at_most(1)]}
    grid = GridSearchCV(rt.MapClassifier(), parameters, cv=2, n_jobs=2).fit(X, y)
    assert grid.cv_results_["mean_test_score"][0] > 0.4
    Y = np.column_stack([y == 0, y != 1]).astype(int)
    model = rt.MapClassifier().fit(X, Y)
    assert model.predict_proba(X).shape == Y.shape
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


def test_weights_equal_repeated_elements():
    X, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=2)
    times = np.random.default_rng(0).integers(0, 4, 90)
    rows = np.repeat(np.arange(90), times)
    for targets in (y, y == 1, np.column_stack([y == 0, y != 1]).astype(int)):
        one = rt.MapClassifier(measure=EXACT).fit(X, targets, sample_weight=times)
        two = rt.MapClassifier(measure=EXACT).fit(X[rows], targets[rows])
        assert np.allclose(one.log_odds(X), two.log_odds(X), atol=1e-8)
        assert not np.allclose(one.log_odds(X), clone(one).fit(X, targets).log_odds(X), atol=1e-2)
    grid = GridSearchCV(
        rt.MapClassifier(measure=EXACT), {"measure__inverse_sigma_squared": [1e-3, 1.0]}, cv=3
    ).fit(X, y, sample_weight=times)
    assert hasattr(grid.best_estimator_, "measure_")
    partly = rt.MapClassifier(semi_supervised=True)
    with pytest.raises(DataError, match="takes no sample_weight"):
        partly.fit(X, np.where(times, y, -1), sample_weight=times)
    with pytest.raises(DataError, match="sample_weight"):
        rt.MapClassifier().fit(X, y, sample_weight=-np.ones(90))


@pytest.mark.parametrize("table", ["pandas", "polars"])
def test_liftings_may_return_tables(table):
    pytest.importorskip(table)
    X, y = make_classification(60, 4, n_informative=3, n_redundant=1, n_classes=3, random_state=1)
    for lifting in (rt.PolynomialLifting(2, 2), rt.MultilinearLifting(2), StandardScaler()):
        want = rt.MapClassifier(lifting).fit(X, y).log_odds(X)
        with config_context(transform_output=table), warnings.catch_warnings():
            warnings.simplefilter("error")
            got = rt.MapClassifier(lifting).fit(X, y).log_odds(X)
        assert np.array_equal(got, want)


def test_errors(digits):
    train, _ = digits
    with pytest.raises(DataError, match="feasible is a set"):
        rt.MapClassifier(feasible="maps").fit(train.images, train.labels)
    model = rt.MapClassifier().fit(train.images, train.labels)
    impossible = rt.evidence(unrelated=[(0, k) for k in range(10)])
    with pytest.raises(DataError, match="nothing to predict: No relation is feasible"):
        model.predict(train.images[:2], evidence=impossible)


@pytest.mark.slow
def test_elements_without_label_are_learned_from(digits):
    train, test = digits
    rng = np.random.default_rng(0)
    few = rng.permutation(len(train.labels))[:60]
    y = np.full(len(train.labels), -1)
    y[few] = train.labels[few]
    alone = rt.MapClassifier().fit(train.images[few], train.labels[few])
    joint = rt.MapClassifier(semi_supervised=True, unknown_weight=0.03).fit(train.images, y)
    assert np.array_equal(joint.transduction_[few], train.labels[few])
    assert (np.diff(joint.joint_.history) <= 0).all()
    # not better by much, but no worse
    score = joint.score(test.images, test.labels)
    assert score > alone.score(test.images, test.labels) - 0.01
    # without weight on the others, it is learning from the labelled ones
    plain = rt.MapClassifier(semi_supervised=True, unknown_weight=0.0).fit(train.images, y)
    assert np.mean(plain.predict(test.images) == alone.predict(test.images)) > 0.95


def test_two_labels_semi_supervised():
    rng = np.random.default_rng(1)
    truth = np.arange(40) % 2
    x = rng.normal(size=(40, 2)) + 4 * truth[:, None]
    y = np.where(np.arange(40) < 6, 10 + truth, -1)
    model = rt.MapClassifier(semi_supervised=True).fit(x, y)
    assert model.classes_.tolist() == [10, 11]
    assert np.mean(model.predict(x) == 10 + truth) > 0.95
    scores = model.log_odds(x)
    assert np.allclose(scores[:, 0], -scores[:, 1], atol=1e-3)
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1)


def test_semi_supervised_says_what_it_takes():
    x = np.eye(4)
    with pytest.raises(DataError, match="no labelled element"):
        rt.MapClassifier(semi_supervised=True).fit(x, [-1, -1, -1, -1])
    with pytest.raises(DataError, match="one number per element"):
        rt.MapClassifier(semi_supervised=True).fit(x, np.eye(4, dtype=int))


def test_columns_of_different_units_are_scaled():
    """One column of wine varies three hundred times as much as the others."""
    X, y = load_wine(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    by_default = cross_val_score(rt.MapClassifier(), X, y, cv=folds)
    scaled = make_pipeline(StandardScaler(), rt.MapClassifier(standardize=False))
    assert np.array_equal(by_default, cross_val_score(scaled, X, y, cv=folds))
    raw = cross_val_score(rt.MapClassifier(standardize=False), X, y, cv=folds)
    assert by_default.mean() > raw.mean() + 0.1
    table = sparse.csr_matrix(X)
    found = rt.MapClassifier().fit(table, y)
    assert np.allclose(found.lifting_.scale_, X.std(axis=0))
    assert found.score(table, y) > 0.95


def test_columns_of_one_unit_stay_as_they_are():
    train, _ = rt.datasets.load_digits()
    assert rt.MapClassifier().fit(train.images[:200], train.labels[:200]).lifting_ is None
    own = rt.MapClassifier(measure=rt.LogisticMeasure())
    assert own.fit(np.c_[np.arange(9), 1e6 * np.arange(9)], [0, 1, 0] * 3).lifting_ is None
    lifting = rt.MapClassifier(lifting=rt.PolynomialLifting(2), standardize=True)
    x = np.random.default_rng(0).normal(size=(30, 3)) * [1, 100, 1000]
    steps = lifting.fit(x, np.arange(30) % 2).lifting_
    assert np.allclose(steps[0].scale_, x.std(axis=0))
    with pytest.raises(DataError, match="standardize is True, False"):
        rt.MapClassifier(standardize="yes").fit(x, np.arange(30) % 2)


def test_probabilities_obey_the_feasible_set(digits):
    train, test = digits
    plain = rt.MapClassifier().fit(train.images, train.labels)
    one_each = rt.MapClassifier(feasible=rt.BIJECTIONS).fit(train.images[:10], np.arange(10))
    some = test.images[[int(np.flatnonzero(test.labels == k)[0]) for k in range(10)]]
    p = one_each.predict_proba(some)
    assert p.sum(axis=0) == pytest.approx(np.ones(10))
    assert p.sum(axis=1) == pytest.approx(np.ones(10))
    known = rt.probabilities(rt.Problem(one_each.log_odds(some), rt.BIJECTIONS))
    assert np.array_equal(p, known.matrix())
    told = plain.predict_proba(some, rt.evidence(related=[(0, 3)], unrelated=[(1, 1)]))
    assert told[0, 3] == 1.0
    assert told[1, 1] == 0.0
    assert told[2:] == pytest.approx(plain.predict_proba(some)[2:], abs=1e-12)
    two = train.labels < 2
    binary = rt.MapClassifier().fit(train.images[two], train.labels[two])
    same = rt.MapClassifier(feasible=rt.MAPS).fit(train.images[two], train.labels[two])
    assert same.predict_proba(some) == pytest.approx(binary.predict_proba(some), abs=1e-12)


def test_probabilities_under_constraints_are_sums_over_all_maps():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 4)) + 1.5 * np.eye(4)[y]
    model = rt.MapClassifier().fit(X, y).set_params(feasible=rt.BIJECTIONS)
    scores, no = model.log_odds(X[:4]), (2, 1)
    total, p = 0.0, np.zeros((4, 4))
    for images in itertools.permutations(range(4)):
        if images[no[0]] == no[1]:
            continue
        weight = 2.0 ** sum(scores[a, b] for a, b in enumerate(images))
        total += weight
        p[np.arange(4), images] += weight
    found = model.predict_proba(X[:4], rt.evidence(unrelated=[no]))
    assert found == pytest.approx(p / total, abs=1e-12)
    Y = np.column_stack([y == 0, y <= 1, y >= 2]).astype(int)
    most = rt.MapClassifier(feasible=rt.RELATIONS & rt.at_most(1)).fit(X, Y)
    weights = np.exp2(most.log_odds(X[:5]))  # one label, or none
    rows = weights / (1 + weights.sum(axis=1, keepdims=True))
    assert most.predict_proba(X[:5]) == pytest.approx(rows, abs=1e-12)
