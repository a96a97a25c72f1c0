from __future__ import annotations

import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.probability.methods import METHODS, Method, Task, choose_method, register

PROBLEM = rt.Problem([1.0, 2.0, -1.0], rt.EQUIVALENCES)


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr("relatum.probability.methods.METHODS", kept := {})
    return kept


def _method(name, why):
    return Method(name, lambda task: why, lambda task, control: None)


def test_auto_takes_the_first_that_does_not_refuse(registry):
    register(_method("small", "takes small problems"))
    wanted = register(_method("any", None))
    assert choose_method("auto", Task(PROBLEM)) is wanted


def test_a_refusal_is_a_sentence(registry):
    register(_method("small", "takes small problems"))
    with pytest.raises(SolverError, match=r'^The method "small" takes small problems\.$'):
        choose_method("small", Task(PROBLEM))
    with pytest.raises(SolverError, match=r'No method finds .* "small" takes small problems'):
        choose_method("auto", Task(PROBLEM))


@pytest.mark.parametrize("name", ["exakt", 3, None])
def test_unknown_names_are_refused(name):
    with pytest.raises(SolverError, match='one of "auto", "exact"'):
        choose_method(name, Task(PROBLEM))


def test_exact_comes_first():
    assert next(iter(METHODS)) == "exact"
