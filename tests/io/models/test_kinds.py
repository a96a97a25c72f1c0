"""The list of classes: each can be imported, and what it learns is listed whole."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator

import relatum as rt
from instances.models import MODELS, fitted
from relatum.io.models.kinds import KINDS


@pytest.mark.parametrize("name", KINDS)
def test_classes_keep_their_parameters_and_run_nothing(name):
    class_ = KINDS[name].imported(name)
    assert class_.__name__ == name
    assert issubclass(class_, BaseEstimator)
    for attribute in KINDS[name].learned:
        found = inspect.getattr_static(class_, attribute, None)
        assert not callable(found)
        assert not isinstance(found, property)


def parts(thing):
    """Yield an estimator and all that it holds, the steps of pipelines too."""
    yield thing
    for value in vars(thing).values():
        steps = (
            dict(value).values()
            if isinstance(value, list) and thing.get_params(deep=False).get("steps") is value
            else [value]
        )
        for part in steps:
            if isinstance(part, BaseEstimator):
                yield from parts(part)


def test_all_that_fit_leaves_is_listed():
    seen = set()
    for model in MODELS:
        for part in parts(fitted(model)):
            name = type(part).__name__
            if name == "PolynomialFeatures":  # made anew
                continue
            kind = KINDS[name]
            given = set(vars(part)) - set(part.get_params(deep=False))
            assert given <= {*kind.learned, *kind.left_out}, name
            seen.add(name)
    assert seen == set(KINDS)


def test_every_public_estimator_is_listed_but_the_joint_one():
    public = [getattr(rt, name) for name in rt.__all__]
    found = {p.__name__ for p in public if inspect.isclass(p) and issubclass(p, BaseEstimator)}
    assert found - set(KINDS) == {"JointEstimator"}
