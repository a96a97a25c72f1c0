from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import SolverError
from relatum.probability.methods import Task, choose_method


def _listed(n, feasible=rt.EQUIVALENCES):
    i = np.arange(n - 1)
    return rt.Problem.from_pairs(i, i + 1, np.ones(n - 1), n=n, feasible=feasible)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (rt.Problem(np.zeros((3, 3)), rt.MAPS), "takes clusterings .* and linear orders .* not"),
        (_listed(20_001), "at most 20000 elements, and one has 20001 .across=False"),
    ],
)
def test_what_is_not_taken_is_refused_in_a_sentence(problem, said):
    with pytest.raises(SolverError, match=said):
        rt.probabilities(problem, method="sampling")


def test_auto_samples_what_is_too_large_for_sums():
    assert choose_method("auto", Task(_listed(5))).name == "exact"
    assert choose_method("auto", Task(_listed(40))).name == "sampling"
    orders = rt.Problem(np.zeros((30, 30)), rt.LINEAR_ORDERS)
    assert choose_method("auto", Task(orders)).name == "sampling"
