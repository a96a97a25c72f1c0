from __future__ import annotations

import pytest

import relatum as rt
from relatum.probability.exact import exact_refusal
from relatum.probability.exact.families import family_of
from relatum.probability.methods import Task

ONE_TO_ONE = rt.UNIQUE_IMAGE & rt.UNIQUE_PREIMAGE


@pytest.mark.parametrize(
    ("feasible", "name"),
    [
        (rt.RELATIONS, "independent"),
        (rt.SYMMETRIC & rt.REFLEXIVE, "independent"),
        (rt.at_most(9), "independent"),
        (rt.at_most(3), "row_counts"),
        (rt.REFLEXIVE & rt.at_most(3), "row_counts"),
        (rt.MAPS, "row_counts"),
        (rt.UNIQUE_PREIMAGE, "row_counts"),
        (rt.HAS_IMAGE & rt.HAS_PREIMAGE, "enumeration"),
        (rt.INJECTIONS, "assignments"),
        (ONE_TO_ONE & rt.evidence([(0, 1)]), "assignments"),
        (rt.UNIQUE_PREIMAGE & rt.HAS_IMAGE & rt.at_most(2), "enumeration"),
        (rt.EQUIVALENCES & rt.at_most(2), "clusterings"),
        (rt.EQUIVALENCES & rt.CONNEX, "enumeration"),
        (rt.LINEAR_ORDERS, "linear_orders"),
        (rt.WEAK_ORDERS, "weak_orders"),
        (rt.SYMMETRIC & rt.UNIQUE_IMAGE, "enumeration"),
        (rt.PREORDERS, "enumeration"),
    ],
)
def test_every_set_has_its_method(feasible, name):
    shape = (4, 5) if not feasible.homogeneous else (5, 5)
    assert family_of(feasible, shape).__name__.rsplit(".", 1)[-1] == name


def test_it_says_why_not():
    problem = rt.Problem.from_pairs([0], [1], [1.0], n=50, feasible=rt.LINEAR_ORDERS)
    assert "these are 50" in (exact_refusal(Task(problem)) or "")
