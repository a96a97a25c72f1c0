"""A problem written in another format has the same values."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.conversion import WRITERS, write_problem
from relatum.io.problems import FORMATS, Request, read_problem

N = 6


@pytest.fixture
def unordered():
    rng = np.random.default_rng(0)
    i, j = np.array([0, 0, 1, 3]), np.array([1, 2, 2, 5])
    sparse = rt.Problem.from_pairs(
        i, j, [2.0, -1.0, 3.5, 1.0], n=N, background=-0.5, feasible=rt.EQUIVALENCES
    )
    dense = rt.Problem(np.round(rng.normal(size=(N, N)), 3), rt.EQUIVALENCES)
    condensed = rt.Problem(rng.normal(size=N * (N - 1) // 2), rt.EQUIVALENCES)
    return sparse, dense, condensed


@pytest.mark.parametrize(
    "name", ["x.cplib", "x.multicut", "x.signed.gz", "x.csv", "x.parquet", "x.npy"]
)
def test_unordered_pairs_keep_their_values(tmp_path, unordered, name):
    format_ = {"csv": "pairs", "parquet": "pairs", "npy": "matrix"}.get(
        name.split(".")[1], name.split(".")[1]
    )
    rng = np.random.default_rng(1)
    for problem in unordered:
        notes = write_problem(tmp_path / name, problem, format_)
        background = problem.background if "--background" in " ".join(notes) else None
        again = read_problem(Request(tmp_path / name, rt.EQUIVALENCES, format_, background))
        if again.n < problem.n:
            assert any("left out" in note for note in notes)
            continue
        for _ in range(10):
            relation = rt.Partition(rng.integers(0, 3, N))
            lost = problem.value(rt.Partition(np.arange(N)))  # the diagonal, if left out
            kept = again.value(rt.Partition(np.arange(N)))
            assert again.value(relation) - kept == pytest.approx(problem.value(relation) - lost)


def test_orders_keep_their_values(tmp_path):
    rng = np.random.default_rng(2)
    problem = rt.Problem(rng.normal(size=(N, N)) * (1 - np.eye(N)), rt.LINEAR_ORDERS)
    for name in ("x.lop", "x.csv", "x.npy"):
        write_problem(tmp_path / name, problem)
        again = read_problem(Request(tmp_path / name, rt.LINEAR_ORDERS))
        for _ in range(10):
            order = rt.LinearOrder.from_order(rng.permutation(N))
            assert again.value(order) == pytest.approx(problem.value(order))


def test_cluster_editing(tmp_path):
    problem = rt.Problem.from_pairs(
        [0, 1], [1, 2], [1.0, 1.0], n=4, background=-1.0, feasible=rt.EQUIVALENCES
    )
    assert write_problem(tmp_path / "x.gr", problem) == []
    again = read_problem(Request(tmp_path / "x.gr"))
    np.testing.assert_array_equal(again.folded()[0], problem.folded()[0])
    with pytest.raises(DataError, match="other log-odds"):
        write_problem(tmp_path / "y.gr", rt.Problem([1.0, 2.0, -1.0], rt.EQUIVALENCES))


def test_names_are_kept_or_told_of(tmp_path):
    (tmp_path / "in.csv").write_text('a,b,bits\n"x, y",z,2\nz,w,-1\n')
    problem = read_problem(Request(tmp_path / "in.csv"))
    assert write_problem(tmp_path / "out.parquet", problem) == []
    assert read_problem(Request(tmp_path / "out.parquet")).ids.tolist() == problem.ids.tolist()
    assert write_problem(tmp_path / "out.tsv.gz", problem) == []
    assert read_problem(Request(tmp_path / "out.tsv.gz")).ids.tolist() == ["w", "x, y", "z"]
    told = " ".join(write_problem(tmp_path / "out.txt", problem, "signed"))
    assert "numbered from 0" in told
    assert "--background -0.5" in told


def test_what_is_refused(tmp_path, unordered):
    order = rt.Problem(np.zeros((3, 3)), rt.LINEAR_ORDERS)
    known = unordered[0].with_feasible(rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    for name, problem, message in (
        ("x.lop", unordered[0], "lolib scores ordered pairs"),
        ("x.gr", order, "pace scores unordered pairs"),
        ("x.soc", order, "rankings cannot be told"),
        ("x.doc", order, "cannot be told from the ending"),
        ("x.csv", known, "evidence is no part"),
        ("x.csv", rt.Problem(np.zeros((2, 3)), rt.MAPS), "relations on one set"),
    ):
        with pytest.raises(DataError, match=message):
            write_problem(tmp_path / name, problem)
    assert not list(tmp_path.iterdir())


def test_every_format_is_written():
    assert set(WRITERS) == set(FORMATS) - {"preflib"}
