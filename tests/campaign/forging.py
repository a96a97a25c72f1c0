"""What forgeries by hand share: problems, false claims about them, and how they are refused."""

from __future__ import annotations

import math

import numpy as np

import relatum as rt
from campaign.generation import NAMES
from campaign.mutants import problem_of
from campaign.truth import Meaning, false_claims
from relatum.proof import (
    Certificate,
    Cuts,
    Estimate,
    Leaf,
    Status,
)

ALL, NONE = np.arange(3), np.empty((0, 3), dtype=np.int64)
TRIANGLE = [[0.0, 2.0, -3.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]  # 2 at best, 4 pair by pair


def asked(name, weights, **extras):
    """A problem over a named set, and its meaning."""
    meaning = Meaning(frozenset(NAMES[name]), np.array(weights, dtype=float), **extras)
    return problem_of(meaning), meaning


def claiming(bound, proof):
    """An estimate that claims a bound, or with -inf that nothing is feasible, and nothing else."""
    status = Status.INFEASIBLE if bound == -math.inf else Status.BOUND_ONLY
    return Estimate(status, None, -math.inf, bound, Certificate(bound, proof))


def having(status, relation, value, bound, proof=None):
    """An estimate with a relation."""
    return Estimate(status, relation, value, bound, Certificate(bound, proof or Leaf()))


def refused(given, estimate):
    """Require that an estimate is false and refused, in one line; return the reason."""
    problem, meaning = given
    assert false_claims(meaning, estimate), "what is claimed here is true"
    return told(problem, estimate)


def told(problem, estimate):
    """Require that an estimate is refused, true or not, in one line; return the reason."""
    report = rt.verify(problem, estimate)
    assert not report.ok, report.reason
    assert report.reason.strip() == report.reason != ""
    assert "\n" not in report.reason
    return report.reason


def row(family, *index, multiplier=1.0):
    return Cuts(family, np.array([index]), np.array([multiplier]))
