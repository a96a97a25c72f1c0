"""Evidence and groups as users give them, before there is a problem."""

import pickle

import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum.errors import EvidenceError, FeasibleSetError

E = rt.EQUIVALENCES
NAMES = ["ann", "bob", "cy"]
TRIANGLE = [2.0, -1.0, 3.0]


def test_other_words():
    same = rt.evidence(must_link=[("a", "b")], cannot_link=[(1, 2)])
    assert same == rt.evidence(related=[("a", "b")], unrelated=[(1, 2)])
    both = rt.evidence(related=[(0, 1)], must_link=[(1, 2)])
    assert both.evidence.related.tolist() == [[0, 1], [1, 2]]


def test_sets_with_names_are_values():
    told = rt.evidence([("a", "b")])
    assert told != rt.RELATIONS
    assert told & rt.evidence([("c", "b")]) == rt.evidence([("c", "b"), ("a", "b")])
    assert told & rt.evidence([("c", "b")]) <= told
    assert hash(rt.evidence([("a", "b"), (0, 1)])) == hash(rt.evidence([(0, 1), ("a", "b")]))
    assert pickle.loads(pickle.dumps(E & told)) == E & told
    assert repr(E & told) == "EQUIVALENCES & evidence(related=[('a', 'b')])"
    groups = rt.one_per_group({"a": 1, "b": 1})
    assert groups != rt.RELATIONS
    assert groups == rt.one_per_group({"b": 1, "a": 1})
    assert (E & groups) < E


@pytest.mark.parametrize(
    "pairs",
    [
        [("ann", "bob"), ("cy", "bob")],
        np.array([["ann", "bob"], ["cy", "bob"]]),
        pd.DataFrame({"a": ["ann", "cy"], "b": ["bob", "bob"]}),
        (pair for pair in (["ann", "bob"], ["cy", "bob"])),
    ],
)
def test_pairs_of_any_kind(pairs):
    problem = rt.Problem(TRIANGLE, E & rt.evidence(pairs), names=NAMES)
    assert problem.evidence.related.tolist() == [[0, 1], [2, 1]]


@pytest.mark.parametrize(
    "pairs",
    ["ab", ["ab"], [("a",)], [("a", "b", "c")], [({}, "a")], {"a": "b"}, 3, [{"a", "b"}]],
)
def test_what_are_no_pairs(pairs):
    with pytest.raises(EvidenceError, match="list of pairs"):
        rt.evidence(pairs)


def test_names_need_a_problem_that_has_them():
    told = E & rt.evidence([("ann", "bob")])
    with pytest.raises(EvidenceError, match=r"names 'ann', but the .* only numbered.*names="):
        rt.Problem(TRIANGLE, told)
    with pytest.raises(EvidenceError, match="names 'ann'"):
        told.contains(rt.Partition([0, 0, 1]))
    with pytest.raises(EvidenceError, match="names 'ann'"):
        told.evidence  # noqa: B018
    with pytest.raises(FeasibleSetError, match="only a problem knows"):
        rt.one_per_group({"ann": 1}).groups  # noqa: B018


def test_groups_by_name():
    groups = {"cy": "x", "ann": "x", "bob": "y", "somebody else": "x"}
    problem = rt.Problem(TRIANGLE, E & rt.one_per_group(groups), names=NAMES)
    assert problem.feasible.groups[0].codes.tolist() == [0, 1, 0]
    assert rt.infer(problem, prove=True).relation.labels.tolist() == [0, 1, 1]
    with pytest.raises(FeasibleSetError, match="no group for 'bob' and 1 more"):
        rt.Problem(TRIANGLE, E & rt.one_per_group({"ann": 1}), names=NAMES)
    by_number = rt.Problem(TRIANGLE, E & rt.one_per_group({2: "x", 0: "x", 1: "y"}))
    assert by_number.feasible.groups == problem.feasible.groups
    with pytest.raises(FeasibleSetError, match="an empty one"):
        rt.one_per_group({})


def test_a_series_goes_by_its_index_where_there_are_names():
    series = pd.Series(["x", "x", "y"], index=["cy", "ann", "bob"])
    named = rt.Problem(TRIANGLE, E & rt.one_per_group(series), names=NAMES)
    assert named.feasible.groups[0].codes.tolist() == [0, 1, 0]
    unnamed = rt.Problem(TRIANGLE, E & rt.one_per_group(series))
    assert unnamed.feasible.groups[0].codes.tolist() == [0, 0, 1]
    counted = series.reset_index(drop=True)
    assert rt.Problem(TRIANGLE, E & rt.one_per_group(counted), names=NAMES).feasible.groups[
        0
    ].codes.tolist() == [0, 0, 1]
