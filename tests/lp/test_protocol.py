"""Backends follow one protocol."""

from __future__ import annotations

import inspect

import pytest

from relatum.lp import engine_named
from relatum.lp.protocol import LinearProgram


@pytest.mark.parametrize("name", ["highs", "scip"])
def test_every_engine_has_every_method(name):
    engine = engine_named(name)
    for method, wanted in inspect.getmembers(LinearProgram, inspect.isfunction):
        if method.startswith("_") and method != "__init__":
            continue
        found = inspect.signature(getattr(engine, method))
        assert list(found.parameters) == list(inspect.signature(wanted).parameters), method
