"""`relatum solve` on a small file of each format of the data folder, against known optima."""

from __future__ import annotations

import csv
import json
from itertools import permutations

import numpy as np
import pytest
from click.testing import CliRunner

import naive
import relatum as rt
from relatum.cli import cli


def _solve(path, *options: object) -> dict:
    arguments = ["solve", str(path), "--prove", "--json", *map(str, options)]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert told["status"] == "OPTIMAL"
    return told


def _values(path) -> dict[str, dict[str, str]]:
    with path.open() as file:
        return {row["instance"]: row for row in csv.DictReader(file, delimiter="\t")}


def test_cplib(data_folder):
    known = _values(data_folder / "cplib" / "values.tsv")["cars"]
    told = _solve(data_folder / "cplib" / "ABR" / "cars.txt")
    assert told["value"] == float(known["value"])


def test_modularity(data_folder):
    known = _values(data_folder / "modularity" / "values.tsv")["karate"]
    told = _solve(data_folder / "modularity" / "karate.txt")
    assert told["value"] == float(known["best_integer_objective"])


def test_lolib(data_folder):
    known = _values(data_folder / "lolib" / "values.tsv")["be75oi"]
    told = _solve(data_folder / "lolib" / "IO" / "be75oi")
    assert told["value"] == float(known["best_known_value"])  # the file is reduced already


def test_multicut(data_folder):
    path = data_folder / "multicut" / "knott-3d-150.txt.gz"
    stated = rt.io.read_multicut(path)[7]
    told = _solve(path, "--number", 7)
    assert stated.log_odds.sum() - told["value"] == pytest.approx(stated.optimum, rel=1e-6)


def test_signed(data_folder):
    path = data_folder / "signed" / "slovene_parliamentary_parties_1994.txt.gz"
    pairs = rt.io.read_signed_graph(path)
    weights = np.zeros((pairs.n, pairs.n))
    np.add.at(weights, (np.minimum(pairs.i, pairs.j), np.maximum(pairs.i, pairs.j)), pairs.log_odds)
    assert _solve(path)["value"] == naive.best_partition(weights, lambda labels: True)


def test_pace(data_folder, tmp_path):
    known = _values(data_folder / "cplib" / "values.tsv")["ce50-20"]
    source = data_folder / "cplib" / "ClusEdit" / "ce50-20.txt"
    result = CliRunner().invoke(cli, ["convert", str(source), str(tmp_path / "x.gr")])
    assert result.exit_code == 0, result.output
    assert _solve(tmp_path / "x.gr")["value"] == float(known["value"])


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "arrow"])
def test_pair_tables(data_folder, tmp_path, ending):
    if ending in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    known = _values(data_folder / "cplib" / "values.tsv")["cars"]
    problem = rt.io.read_problem(rt.io.Request(data_folder / "cplib" / "ABR" / "cars.txt"))
    rt.io.write_problem(tmp_path / f"cars.{ending}", problem)
    assert _solve(tmp_path / f"cars.{ending}")["value"] == float(known["value"])


def test_preflib(data_folder):
    """Four pictures of dots: the best of 24 orders, which is the true one."""
    for path in sorted((data_folder / "preflib" / "00024-dots").glob("*.soc")):
        told = _solve(path)
        votes = rt.io.read_preflib(path)
        before = np.zeros((votes.n, votes.n))
        for ranks, count in zip(votes.ranks, votes.counts, strict=True):
            before += count * (ranks[:, None] < ranks[None, :])
        c = before - before.T
        best = max(
            sum(c[p[a], p[b]] for a in range(4) for b in range(a + 1, 4))
            for p in permutations(range(4))
        )
        assert told["value"] == best
        order = [name for _, name in told["rows"]]
        assert order == sorted(order, key=int)


def test_mnist_clustering(data_folder):
    path = data_folder / "mnist-clustering" / "strat_n100_0.npz"
    told = _solve(path)
    with np.load(path) as archive:
        costs, truth = archive["costs"], archive["labels"]
    labels = np.array([s for _, s in told["rows"]])
    a, b = np.triu_indices(len(labels), 1)
    assert told["value"] == pytest.approx(costs[labels[a] == labels[b]].sum(dtype=float))
    assert told["bound"] >= costs[truth[a] == truth[b]].sum(dtype=float)
