"""Relations as columns by name."""

import sys

import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum.errors import RelationError

NAMES = ["ann", "bob", "cy"]


def plain(relation, names=None):
    return {key: column.tolist() for key, column in relation.table(names).items()}


def test_every_kind():
    assert plain(rt.Partition([5, 6, 5]), NAMES) == {"element": NAMES, "set": [0, 1, 0]}
    assert plain(rt.LinearOrder([2, 0, 1]), NAMES) == {"element": NAMES, "rank": [2, 0, 1]}
    assert plain(rt.WeakOrder([0, 0, 1])) == {"element": [0, 1, 2], "rank": [0, 0, 1]}
    colours = (NAMES, ["red", "blue"])
    assert plain(rt.Map([1, 0, 1]), colours)["label"] == ["blue", "red", "blue"]
    assert plain(rt.PartialMap([-1, 0, 1]), colours)["label"] == [None, "red", "blue"]
    assert plain(rt.PartialMap([-1, 0, 1]), (NAMES, None))["label"] == [-1, 0, 1]
    pairs = rt.Relation([[1, 0], [1, 1], [0, 0]])
    assert plain(pairs, colours) == {"a": ["ann", "bob", "bob"], "b": ["red", "red", "blue"]}


def test_pandas_and_polars():
    relation = rt.LinearOrder([2, 0, 1])
    series = relation.to_pandas(NAMES)
    assert series.to_dict() == {"ann": 2, "bob": 0, "cy": 1}
    assert (series.name, series.index.name) == ("rank", "element")
    assert series.sort_values().index.tolist() == ["bob", "cy", "ann"]
    pairs = rt.Relation([[1, 0], [1, 1]]).to_pandas(["u", "v"])
    assert pairs.to_dict("list") == {"a": ["u", "v", "v"], "b": ["u", "u", "v"]}
    polars = pytest.importorskip("polars")
    frame = rt.PartialMap([-1, 0, 1]).to_polars((NAMES, ["red", "blue"]))
    assert isinstance(frame, polars.DataFrame)
    assert frame.to_dict(as_series=False) == {"element": NAMES, "label": [None, "red", "blue"]}


def test_names_that_do_not_fit():
    with pytest.raises(RelationError, match="3 and there are 2 names"):
        rt.Partition([0, 1, 0]).table(NAMES[:2])


def test_estimates_know_the_names_of_their_problem():
    problems = [rt.Problem(np.triu(np.ones((3, 3)), 1), rt.LINEAR_ORDERS, names=NAMES)] * 3
    for e in [rt.infer(problems[0]), *rt.infer_many(problems, n_jobs=1)]:
        assert e.to_pandas().to_dict() == {"ann": 0, "bob": 1, "cy": 2}
        assert e.table()["element"].tolist() == NAMES
        assert "polars" not in sys.modules or len(e.to_polars()) == 3
    unnamed = rt.infer(rt.Problem([1.0], rt.EQUIVALENCES))
    assert unnamed.to_pandas().to_dict() == {0: 0, 1: 0}
    conflict = rt.EQUIVALENCES & rt.evidence([(0, 1)], [(0, 1)])
    with pytest.raises(RelationError, match="no relation: No relation is feasible"):
        rt.infer(rt.Problem([1.0], conflict)).table()
    assert isinstance(unnamed.to_pandas(), pd.Series)
