"""Graphs of the PACE challenges: read as networks, solved as cluster editing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import DataError
from relatum.io.pace import read_pace, write_pace


def test_nodes_are_numbered_from_one_in_the_file(tmp_path):
    path = tmp_path / "x.gr"
    path.write_text("c a comment\np cep 4 2\n1 2\nc another\n4 2\n")
    n, i, j = read_pace(path)
    assert (n, i.tolist(), j.tolist()) == (4, [0, 3], [1, 1])


@pytest.mark.parametrize("name", ["x.gr", "x.gr.gz"])
def test_random_graphs_come_back(tmp_path, name):
    rng = np.random.default_rng(0)
    edges = [pair for pair in combinations(range(9), 2) if rng.random() < 0.4]
    i, j = np.array(edges).T
    write_pace(tmp_path / name, 9, i, j)
    n, a, b = read_pace(tmp_path / name)
    assert n == 9
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == edges
    write_pace(tmp_path / name, 3, [], [])
    assert read_pace(tmp_path / name)[0] == 3
    assert len(read_pace(tmp_path / name)[1]) == 0


def test_cluster_editing_counts_edits(tmp_path):
    """The value is the number of edges less the fewest edits, here found by trying all."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (3, 5)]
    write_pace(tmp_path / "x.gr", 6, *np.array(edges).T)
    n, i, j = read_pace(tmp_path / "x.gr")
    p = rt.Problem.from_pairs(i, j, np.ones(len(i)), n=n, background=-1.0, feasible=rt.EQUIVALENCES)
    joined = {frozenset(edge) for edge in edges}
    fewest = min(
        sum(
            (row[a] == row[b]) != (frozenset((a, b)) in joined)
            for a, b in combinations(range(6), 2)
        )
        for row in naive.all_partitions(6)
    )
    assert rt.infer(p, prove=True).value == len(edges) - fewest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p cep 2\n", "line 1: expected the line 'p NAME n m'"),
        ("p cep 2 -1\n", "line 1: expected the line"),
        ("p cep 2 1\n1 two\n", "line 2: expected an edge"),
        ("p cep 2 1\n1 1\n", "line 2: an edge joins two"),
        ("p cep 2 1\n0 1\n", "line 2: an edge joins two"),
        ("p cep 2 1\n1 2\n2 1\n", "line 3: 1 edges are announced, and this is one more"),
        ("p cep 3 2\n1 2\n", "line 2: 2 edges are announced, but 1 follow"),
    ],
)
def test_wrong_lines_are_named(tmp_path, text, message):
    (tmp_path / "x.gr").write_text(text)
    with pytest.raises(DataError, match=message):
        read_pace(tmp_path / "x.gr")


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0), (1, 1)])
def test_edges_that_are_none_are_not_written(tmp_path, edge):
    with pytest.raises(DataError, match="Edge 0 joins"):
        write_pace(tmp_path / "x.gr", 3, [edge[0]], [edge[1]])
    assert not (tmp_path / "x.gr").exists()
