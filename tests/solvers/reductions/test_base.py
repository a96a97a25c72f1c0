"""Reductions follow one protocol and say what they are."""

from __future__ import annotations

import numpy as np

import relatum as rt
from relatum.solvers.reductions import REDUCTIONS, Reduced, first_reduction


def test_reductions_are_named_apart_and_each_is_used_once():
    names = [r.name for r in REDUCTIONS]
    assert len(set(names)) == len(names)
    problem = rt.Problem(np.zeros((3, 3)), rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    done, met = frozenset(), []
    while (reduction := first_reduction(problem, done)) is not None:
        assert isinstance(reduction.apply(problem), Reduced)
        met.append(reduction.name)
        done = done | {reduction.name}
    assert met == names
