"""Reductions follow one protocol and say what they are."""

from __future__ import annotations

import numpy as np

import relatum as rt
from relatum.solvers.reductions import REDUCTIONS, Reduced, first_reduction


def test_reductions_are_named_apart_and_each_is_used_once():
    names = [r.name for r in REDUCTIONS]
    assert len(set(names)) == len(names)
    c = np.diag([1e4, 1e4, 1e4])
    c[0, 2] = -1e9
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    done, met = frozenset(), []
    while (reduction := first_reduction(problem, done, True)) is not None:
        assert isinstance(reduction.apply(problem), Reduced)
        met.append(reduction.name)
        done = done | {reduction.name}
    assert met == names


def test_without_decomposing_only_log_odds_are_made_smaller():
    c = np.diag([1e4, 1e4, 1e4])
    problem = rt.Problem(c, rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    assert first_reduction(problem, frozenset({"exclusions"}), False).name == "constants"
    assert first_reduction(problem, frozenset({"exclusions", "constants"}), False) is None
    plain = rt.Problem(np.eye(3), rt.EQUIVALENCES)
    assert first_reduction(plain, frozenset(), False) is None
