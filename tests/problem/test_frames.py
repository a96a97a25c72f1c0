"""Columns out of tables and graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from relatum.errors import ProblemError
from relatum.problem import EQUIVALENCES, LINEAR_ORDERS, UNSCORED, Problem, at_most
from relatum.problem.frames import (
    columns_of_edges,
    columns_of_table,
    default_background,
    enumerate_ids,
)


def table(**columns):
    return {"unique_id_l": [1, 2], "unique_id_r": [2, 3], "match_weight": [0.5, -1.0], **columns}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_come_out_alike(library):
    left, right, score = columns_of_table(
        library(table()), "unique_id_l", "unique_id_r", None, None
    )
    assert left.tolist() == [1, 2]
    assert right.tolist() == [2, 3]
    assert score.tolist() == [0.5, -1.0]
    probability = library(table(match_weight=[0.5, 0.8]))
    score = columns_of_table(probability, "unique_id_l", "unique_id_r", None, "match_weight")[2]
    assert score.tolist() == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_scores_that_are_no_numbers(library):
    with pytest.raises(ProblemError, match="'match_weight' holds one number per row"):
        columns_of_table(
            library(table(match_weight=["x", "y"])), "unique_id_l", "unique_id_r", None, None
        )


def test_missing_scores_of_pandas():
    frame = pd.DataFrame(table(match_weight=pd.Series([0.5, pd.NA], dtype=object)))
    with pytest.raises(ProblemError, match="'match_weight' holds one number per row"):
        columns_of_table(frame, "unique_id_l", "unique_id_r", None, None)


def test_ids_of_any_type_that_sorts():
    ids, (i, j) = enumerate_ids(np.array(["b", "a"]), np.array(["c", "b"]))
    assert ids.tolist() == ["a", "b", "c"]
    assert i.tolist() == [1, 0]
    assert j.tolist() == [2, 1]
    ids, (i, j) = enumerate_ids(
        np.array([("a", 1), ("b", 2)], dtype="U1,i4"), np.array([("a", 0), ("b", 2)], dtype="U1,i4")
    )
    assert len(ids) == 3


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_ids_are_named_by_row(missing):
    bad = np.array(["a", missing], dtype=object)
    good = np.array(["a", "b"], dtype=object)
    for columns in ((bad, good), (good, bad)):
        with pytest.raises(ProblemError, match="missing in row 1"):
            enumerate_ids(*columns)
    with pytest.raises(ProblemError, match="missing in row 0"):
        enumerate_ids(np.array([np.nan, 1.0]), np.array([1.0, 2.0]))


def test_ids_of_mixed_types_are_refused():
    with pytest.raises(ProblemError, match="one type that sorts"):
        enumerate_ids(np.array(["a", 1], dtype=object), np.array(["b", 2], dtype=object))


def test_edges_keep_the_order_of_nodes():
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph()
    graph.add_nodes_from(["z", ("tuple", 1), "a"])
    graph.add_edge("a", "z", weight=2)
    ids, i, j, score = columns_of_edges(graph, "weight")
    assert list(ids) == ["z", ("tuple", 1), "a"]
    assert (i.tolist(), j.tolist(), score.tolist()) == ([2], [0], [2.0])


@pytest.mark.parametrize(
    ("scores", "refused"),
    [
        ([0.9, 0.8, 0.1, 0.95], True),
        ([0.0, 1.0, 0.3, 0.7, 1.0], True),
        ([0.9, 0.8, 0.1], False),  # three small numbers may be bits
        ([0.0, 1.0, 1.0, 0.0, 1.0], False),  # a graph
        ([0.5, 0.5, 0.5, 0.5, 0.5], False),  # one weight for all
        ([0.9, 0.8, 0.1, -0.2], False),
        ([0.9, 0.8, 0.1, 1.2], False),
    ],
)
def test_probabilities_are_not_taken_for_bits(scores, refused):
    n = len(scores)
    table = {"unique_id_l": np.arange(n), "unique_id_r": np.arange(1, n + 1)}
    table = pd.DataFrame({**table, "match_weight": scores})
    if refused:
        with pytest.raises(ProblemError, match='probability="match_weight" or log_odds="match_w'):
            Problem.from_table(table, feasible=EQUIVALENCES)
    else:
        Problem.from_table(table, feasible=EQUIVALENCES)
    told = Problem.from_table(table, log_odds="match_weight", feasible=EQUIVALENCES)
    assert np.array_equal(told.log_odds, scores)
    if min(scores) >= 0 and max(scores) <= 1:
        bits = Problem.from_table(table, probability="match_weight", feasible=EQUIVALENCES)
        assert bits.n == n + 1


def test_pairs_that_nobody_scored_have_one_default():
    table = pd.DataFrame({"unique_id_l": [0], "unique_id_r": [2], "match_weight": [3.0]})
    capped = EQUIVALENCES & at_most(3)
    for feasible, bits in ((EQUIVALENCES, UNSCORED), (capped, UNSCORED), (LINEAR_ORDERS, 0.0)):
        assert Problem.from_table(table, feasible=feasible).background == bits
        assert default_background(feasible) == bits
        assert Problem.from_table(table, background=-2, feasible=feasible).background == -2
    assert Problem.from_pairs([0], [2], [3.0], feasible=EQUIVALENCES).background == 0
