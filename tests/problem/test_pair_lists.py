"""Lists of pairs: numbers that are ids, numbers that do not fit, pairs listed twice."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

import relatum as rt
from relatum.errors import EvidenceError, ProblemError

E = rt.EQUIVALENCES
IDS = [
    ([5, 2**40], [2**40, 7], [5, 7, 2**40]),
    (np.array([5, 2**63], np.uint64), np.array([2**63, 7], np.uint64), [5, 7, 2**63]),
    ([5, 2**64 - 1], [2**64 - 1, 7], [5, 7, 2**64 - 1]),  # numpy makes floats of these
    (np.array([2**63, 5], np.uint64), np.array([5, 7], np.int64), [5, 7, 2**63]),
]


@pytest.mark.parametrize(("i", "j", "ids"), IDS)
def test_large_numbers_are_ids_not_sizes(i, j, ids):
    p = rt.Problem.from_pairs(i, j, [1.0, -2.0], feasible=E)
    assert p.n == 3
    assert [int(x) for x in p.ids] == ids
    labels = dict(zip(ids, rt.infer(p).relation.labels.tolist(), strict=True))
    assert labels[int(i[0])] == labels[int(j[0])] != labels[int(j[1])]


def test_numbers_that_count_stay_numbers():
    p = rt.Problem.from_pairs([0], [2**20 - 1], [1.0], feasible=E)
    assert p.n == 2**20
    assert p.ids is None
    i = np.arange(2**17)
    p = rt.Problem.from_pairs(i, i + 2**23, np.ones(len(i)), feasible=E)  # 64 times as far apart
    assert p.n == 2**23 + 2**17
    given = E & rt.evidence(unrelated=[(0, 1)])  # evidence speaks of ids
    with pytest.raises(EvidenceError, match=r"names 1, but no element is called so"):
        rt.Problem.from_pairs([0], [2**40], [1.0], feasible=given)
    for n in (2**40, 2**31 + 1, 10**30):
        with pytest.raises(ProblemError, match="from 1 to 2147483648, got"):
            rt.Problem.from_pairs([0], [1], [1.0], n=n, feasible=E)


def test_elements_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setenv("RELATUM_MEMORY", "1GB")
    with pytest.raises(ProblemError, match=r"2000000000 elements .* takes 200 GB .*DuckDB"):
        rt.Problem.from_pairs([0], [1], [1.0], n=2 * 10**9, feasible=E)


def test_errors_name_pairs_by_their_ids():
    table = {"a": ["ann", "bob"], "b": ["bob", "ann"], "bits": [1.0, 2.0]}
    names = {"left": "a", "right": "b", "log_odds": "bits", "feasible": E}
    with pytest.raises(ProblemError, match=r"the first is \('ann', 'bob'\), with 1 and 2 bits"):
        rt.Problem.from_table(pa.table(table), **names)
    assert rt.Problem.from_table(pa.table(table), combine="sum", **names).log_odds.tolist() == [3.0]


def test_directed_graphs_add_both_directions_for_symmetric_sets():
    graph = nx.DiGraph()
    graph.add_edge((0, 0), (0, 1), weight=1.0)  # nodes may be tuples, as those of grids
    graph.add_edge((0, 1), (0, 0), weight=2.0)
    assert rt.Problem.from_networkx(graph, feasible=E).log_odds.tolist() == [3.0]
    twice = nx.MultiDiGraph(graph)
    twice.add_edge((0, 0), (0, 1), weight=4.0)
    with pytest.raises(ProblemError, match="more than once"):
        rt.Problem.from_networkx(twice, feasible=E)
    graph.edges[(0, 0), (0, 1)]["weight"] = "heavy"
    with pytest.raises(ProblemError, match="a number, got 'heavy'"):
        rt.Problem.from_networkx(graph, feasible=E)
