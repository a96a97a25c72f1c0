from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError
from relatum.probability.exact.weak_orders import refusal
from relatum.probability.methods import Task

FUBINI = (1, 1, 3, 13, 75, 541, 4683, 47293, 545835, 7087261, 102247563)


@pytest.mark.parametrize("n", [1, 4, 7, 10])
def test_equal_scores_count_rankings(n):
    p = rt.probabilities(rt.Problem(np.zeros((n, n)), rt.WEAK_ORDERS))
    assert 2.0**p.log2_normalizer == pytest.approx(FUBINI[n], rel=1e-12)
    if n > 1:
        # a tied to b: as if they were one
        tied = p.pairs(0, 1) + p.pairs(1, 0) - 1
        assert tied == pytest.approx(FUBINI[n - 1] / FUBINI[n], rel=1e-11)


def test_evidence_is_kept():
    feasible = rt.WEAK_ORDERS & rt.evidence([(0, 1), (1, 0)], [(2, 1)])
    p = rt.probabilities(rt.Problem(np.zeros((3, 3)), feasible)).matrix()
    assert p.round(12).tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 1]]


def test_a_cap_below_n_leaves_no_ranking():
    with pytest.raises(ProblemError, match="So none has a probability"):
        rt.probabilities(rt.Problem(np.zeros((4, 4)), rt.WEAK_ORDERS & rt.at_most(3)))


def test_many_elements_are_refused():
    task = Task(rt.Problem(np.zeros((16, 16)), rt.WEAK_ORDERS))
    assert "15 elements (18 if asked for by name), and these are 16" in (refusal(task) or "")
