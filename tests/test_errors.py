"""Every error can be caught as ours, and as the error of Python that it is."""

from __future__ import annotations

import builtins
import inspect

import numpy as np
import pytest

import relatum as rt
from relatum import errors


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_relatum_error_or_a_warning(name):
    kind = getattr(errors, name)
    assert issubclass(kind, errors.RelatumError | UserWarning)
    assert not issubclass(kind, errors.RelatumError) or name.endswith("Error")
    assert (inspect.getdoc(kind) or "-").splitlines()[0].endswith(".")


def test_all_errors_are_listed():
    defined = {name for name, thing in vars(errors).items() if inspect.isclass(thing)}
    assert defined == set(errors.__all__)
    assert not defined & set(vars(builtins))


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (errors.RelationError, lambda: rt.Partition([[0, 1], [1, 0]])),
        (errors.FeasibleSetError, lambda: rt.at_most(-1)),
        (
            errors.EvidenceError,
            lambda: rt.Problem([[0.0]], rt.EQUIVALENCES & rt.evidence(related=[(-1, 0)])),
        ),
        (errors.ProblemError, lambda: rt.Problem([[np.nan]], rt.EQUIVALENCES)),
        (
            errors.SolverError,
            lambda: rt.infer(rt.Problem([[0.0]], rt.EQUIVALENCES), solver="argmax"),
        ),
        (errors.DataError, lambda: rt.metrics.rand_error([0, 1], [0, 1, 2])),
        (errors.NotFittedError, lambda: rt.LogisticMeasure().log_odds([[1.0]])),
    ],
)
def test_errors_are_values_that_python_calls_wrong(kind, wrong):
    """Whoever knows nothing of relatum catches ValueError; whoever does, RelatumError."""
    for caught in (kind, errors.RelatumError, ValueError):
        with pytest.raises(caught) as found:
            wrong()
        assert type(found.value) is kind or issubclass(type(found.value), kind)
        assert len(str(found.value)) > 20


def test_a_missing_package_is_an_import_error():
    assert issubclass(errors.MissingDependencyError, ImportError)
    assert issubclass(errors.NotFittedError, AttributeError)
