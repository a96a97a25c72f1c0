"""The checks that scikit-learn ships for estimators, all of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

# Two fits, with weights and with repeated rows, are compared to seven digits there.
WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a fit stops at a relative gap of 1e-4; "
    "with tol=1e-10 the check passes"
    for kind in ("dense", "sparse")
}


def contract(estimator, expected_failed_checks=None):
    """Return a parameter of a test for each check of an estimator, with why it is to fail."""
    expected = expected_failed_checks or {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [(one, check) for one, check in estimator_checks_generator(estimator)]
    names = [check.func.__name__ for _, check in found]
    assert set(expected) <= set(names)
    return [
        pytest.param(one, check, expected.get(name), id=f"{one}-{name}".replace("\n", ""))
        for (one, check), name in zip(found, names, strict=True)
    ]


def run(estimator, check, reason):
    """Run a check; one that is expected to fail must fail."""
    np.random.seed(0)  # noqa: NPY002 - by which some checks choose at random
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if reason is None:
            check(estimator)
            return
        with pytest.raises((AssertionError, ValueError)):
            check(estimator)
