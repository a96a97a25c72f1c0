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
