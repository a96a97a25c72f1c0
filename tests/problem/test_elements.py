"""Relations that are said by name, and elements of a problem by name."""

import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum.errors import ProblemError

NAMES = ["ann", "bob", "cy"]
TRIANGLE = [2.0, -1.0, 3.0]
CLUSTERS = rt.Problem(TRIANGLE, rt.EQUIVALENCES, names=NAMES)
ORDERS = rt.Problem(np.eye(3), rt.LINEAR_ORDERS, names=NAMES)
COLOURS = rt.Problem(np.eye(3)[:, :2], rt.MAPS, names=(NAMES, ["red", "blue"]))


def test_clusters_of_yesterday():
    said = {"bob": "x", "cy": "x", "gone": "x"}
    assert CLUSTERS.relation_of(said) == rt.Partition([0, 1, 1])
    assert CLUSTERS.relation_of(pd.Series(said)) == rt.Partition([0, 1, 1])
    assert CLUSTERS.relation_of({"ann": None, "bob": None}) == rt.Partition([0, 1, 2])
    with pytest.raises(ProblemError, match=r"nothing of any element.*'gone'.*'ann'"):
        CLUSTERS.relation_of({"gone": 1})


def test_orders_and_maps_by_name():
    ranks = {"cy": 1, "ann": 2, "bob": 3}
    assert ORDERS.relation_of(ranks) == rt.LinearOrder.from_order([2, 0, 1])
    ties = ORDERS.with_feasible(rt.WEAK_ORDERS).relation_of({**ranks, "ann": 1})
    assert ties == rt.WeakOrder([0, 1, 0])
    images = {"ann": "blue", "bob": "red", "cy": "blue"}
    assert COLOURS.relation_of(images) == rt.Map([1, 0, 1])
    partial = COLOURS.with_feasible(rt.PARTIAL_MAPS)
    assert partial.relation_of({"bob": "red", "cy": None}) == rt.PartialMap([-1, 0, -1], 2)


@pytest.mark.parametrize(
    ("problem", "said", "told"),
    [
        (ORDERS, {"ann": 1, "bob": 2}, "no rank for 'cy'"),
        (ORDERS, {"ann": 1, "bobb": 2}, "did you mean 'bob'"),
        (COLOURS, {"ann": "red", "bob": "blue"}, "no image for 'cy'"),
        (COLOURS, {"ann": "rad"}, "did you mean 'red'"),
        (CLUSTERS, [0, 0, 1], "mapping or a pandas Series"),
        (CLUSTERS, {"ann": [1]}, r"hashable, got \[1\]"),
        (CLUSTERS.with_feasible(rt.SYMMETRIC), {"ann": 1}, "not one of SYMMETRIC"),
    ],
)
def test_what_says_no_relation(problem, said, told):
    with pytest.raises(ProblemError, match=told):
        problem.relation_of(said)


def test_a_start_by_name():
    best = rt.infer(CLUSTERS, start={"ann": 1, "bob": 1, "cy": 1})
    assert best.value >= 4.0
    apart = CLUSTERS.with_feasible(rt.EQUIVALENCES & rt.evidence(unrelated=[("ann", "cy")]))
    with pytest.raises(ProblemError, match=r"lacks evidence\(unrelated=\[\('ann', 'cy'\)\]\)"):
        rt.infer(apart, start={"ann": 1, "bob": 1, "cy": 1})


def test_numbers_and_names():
    assert CLUSTERS.numbers([["cy", "ann"]]).tolist() == [[2, 0]]
    assert CLUSTERS.numbers(np.array([2, 0])).tolist() == [2, 0]
    assert COLOURS.numbers("blue", "B") == 1
    assert (COLOURS.name_of(1), COLOURS.name_of(1, "B")) == ("bob", "blue")
    assert rt.Problem(TRIANGLE, rt.EQUIVALENCES).name_of(2) == 2
    with pytest.raises(ProblemError, match="'A' or 'B'"):
        CLUSTERS.numbers("ann", "C")
    tuples = rt.Problem(TRIANGLE, rt.EQUIVALENCES, names=[("s", 1), ("s", 2), ("t", 1)])
    assert tuples.numbers([("t", 1), ("s", 1)]).tolist() == [2, 0]
    assert tuples.name_of(1) == ("s", 2)


def test_conflicts_and_problems_are_told_by_name():
    told = rt.evidence([("ann", "bob"), ("bob", "cy")], [("ann", "cy")])
    problem = CLUSTERS.with_feasible(rt.EQUIVALENCES & told)
    assert "ann~bob and bob~cy given, ann~cy forbidden" in rt.infer(problem).message
    assert "unrelated=[('ann', 'cy')]" in repr(problem)
    two = rt.evidence([("ann", "red"), ("ann", "blue")])
    assert "ann->red and ann->blue" in rt.infer(COLOURS.with_feasible(rt.MAPS & two)).message
