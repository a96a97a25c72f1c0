"""relatum cluster: from file to file, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from relatum.cli import cli
from relatum.errors import DataError

pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.parquet"
    table = {"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "c", "d"]}
    parquet.write_table(pa.table({**table, "match_weight": [7.0, 6.0, 0.5]}), path)
    return path


def invoke(*words):
    return CliRunner().invoke(cli, [str(w) for w in words])


def test_clusters_are_written_and_summed_up(tmp_path, pairs):
    out = tmp_path / "clusters.parquet"
    done = invoke("cluster", pairs, "-o", out)
    assert done.exit_code == 0, done.output
    assert "4 elements in 2 clusters" in done.output
    assert parquet.read_table(out)["cluster_id"].to_pylist() == ["a", "a", "a", "d"]
    told = json.loads(invoke("cluster", pairs, "-o", tmp_path / "c.csv", "--json").output)
    assert (told["clusters"], told["pairs_cut"], told["gap"]) == (2, 1, 0.0)
    assert (tmp_path / "c.csv").read_text().splitlines()[0].startswith('"unique_id","cluster_id"')
    assert invoke("cluster", pairs, "-o", out, "--quiet").output == ""


def test_options_reach_the_search(tmp_path, pairs):
    out, facts = tmp_path / "clusters.parquet", tmp_path / "facts.csv"
    facts.write_text("unique_id_l,unique_id_r,related\na,b,0\n")
    done = invoke("cluster", pairs, "-o", out, "--evidence", facts, "--background", "0")
    assert done.exit_code == 0, done.output
    assert parquet.read_table(out)["cluster_id"].to_pylist() == ["a", "b", "b", "b"]
    again = invoke("cluster", pairs, "-o", out, "--max-size", 2, "--previous", out)
    assert "split" in again.output
    facts.write_text("unique_id_l,unique_id_r,related\na,b,0\na,b,1\n")
    assert invoke("cluster", pairs, "-o", out, "--evidence", facts).exit_code == 3


def test_wrong_input_leaves_nothing(tmp_path, pairs):
    with pytest.raises(DataError, match=r"\.parquet or \.csv"):
        CliRunner().invoke(cli, ["cluster", str(pairs), "-o", "x.xls"], catch_exceptions=False)
    odd = tmp_path / "odd.parquet"
    table = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_probability": [1.5]})
    parquet.write_table(table, odd)
    out = tmp_path / "clusters.parquet"
    with pytest.raises(DataError, match="1\\.5"):
        CliRunner().invoke(cli, ["cluster", str(odd), "-o", str(out)], catch_exceptions=False)
    assert not out.exists()
    assert invoke("cluster", odd, "-o", out, "--odd-rows", "handle").exit_code == 0


def test_an_interrupt_leaves_nothing_half_written(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 400_000, (2, 1_500_000))
    big = pa.table({"unique_id_l": a, "unique_id_r": b, "match_weight": rng.normal(size=len(a))})
    parquet.write_table(big, tmp_path / "big.parquet")
    out = tmp_path / "clusters.parquet"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    words = ["cluster", str(tmp_path / "big.parquet"), "-o", str(out), "--odd-rows", "handle"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from relatum.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while process.poll() is None and not list(temporary.glob("relatum-*")):
        time.sleep(0.02)  # until it is at work
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    assert sorted(p.name for p in tmp_path.iterdir()) == ["big.parquet", "tmp"]
    assert list(temporary.glob("relatum-*")) == []


def test_a_table_of_evidence_with_other_columns_is_wrong_input(tmp_path, pairs):
    facts = tmp_path / "facts.csv"
    facts.write_text("a,b,related\na,b,0\n", encoding="utf-8")
    done = invoke("cluster", pairs, "-o", tmp_path / "c.csv", "--evidence", facts)
    assert done.exit_code != 0
    said = str(done.exception) + done.output
    assert "no column 'unique_id_l'; its columns are a, b, related" in said
    assert isinstance(done.exception, DataError) or done.exit_code == 2


def test_a_certificate_is_written_and_checked(tmp_path, pairs):
    out, proof = tmp_path / "clusters.parquet", tmp_path / "clusters.cert"
    done = invoke("cluster", pairs, "-o", out, "--certificate", proof)
    assert done.exit_code == 0, done.output
    assert f"certificate in {proof}" in done.output
    right = invoke("verify", pairs, proof, "--clusters", out)
    assert right.exit_code == 0, right.output
    assert right.output.startswith("verified: Clusters, value and bound re-proved")
    assert "value 12.5 bits, bound 12.5" in right.output
    assert "taken from the certificate: a background of -0.5 bits" in right.output
    told = json.loads(invoke("verify", pairs, proof, "--background", "-0.5", "--json").output)
    assert (told["ok"], told["stated"], told["components"]) == (True, [], 1)
    wrong = invoke("verify", pairs, proof, "--background", "-3")
    assert wrong.exit_code == 1
    assert wrong.output == "NOT verified: The certificate is about background -0.5, not -3.0.\n"
    table = {"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "c", "d"]}
    parquet.write_table(pa.table({**table, "match_weight": [7.0, 6.0, 1.5]}), pairs)
    assert invoke("verify", pairs, proof).exit_code == 1
    failed = json.loads(invoke("verify", pairs, proof, "--json").output)
    assert not failed["ok"]


def test_evidence_is_compared_with_that_of_the_certificate(tmp_path, pairs):
    out, proof, facts = (tmp_path / name for name in ("c.csv", "c.cert", "facts.csv"))
    facts.write_text("unique_id_l,unique_id_r,related\na,b,0\n")
    invoke("cluster", pairs, "-o", out, "--evidence", facts, "--certificate", proof)
    assert invoke("verify", pairs, proof, "--evidence", facts).exit_code == 0
    facts.write_text("unique_id_l,unique_id_r,related\na,b,0\nc,d,0\n")
    assert "other evidence" in invoke("verify", pairs, proof, "--evidence", facts).output


def test_the_first_clusters_are_shown_and_nothing_is_written(tmp_path):
    names = [f"{k:02d}" for k in range(30)]
    table = {"unique_id_l": names[::2], "unique_id_r": names[1::2], "match_weight": [5.0] * 15}
    table["unique_id_l"][14] = "29"  # with itself: nothing is scored
    path = tmp_path / "pairs.parquet"
    parquet.write_table(pa.table(table), path)
    done = invoke("cluster", path)
    assert done.exit_code == 0, done.output
    assert "00, 01" in done.output
    assert "18, 19" in done.output
    assert "20, 21" not in done.output
    assert "and 4 more; -o writes all of them" in done.output
    assert "1 element alone" in done.output
    assert " s\n" not in done.output  # no seconds
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.parquet"]


def test_clusters_are_saved_with_what_they_are_made_of(tmp_path, pairs):
    import relatum as rt

    saved = tmp_path / "c.clusters"
    assert "saved to" in invoke("cluster", pairs, "--save", saved).output
    found = rt.load_clusters(saved)
    assert found.explain("a", "d").together.high == 0.5
    again = json.loads(invoke("cluster", pairs, "--previous", saved, "--json").output)
    assert (again["components_solved"], again["components_reused"]) == (0, 1)
    out = tmp_path / "c.parquet"
    assert invoke("cluster", pairs, "-o", out, "--details").exit_code == 0
    assert parquet.read_table(out).column_names[-1] == "component"
    with pytest.raises(DataError, match=r"\.clusters"):
        CliRunner().invoke(cli, ["cluster", str(pairs), "--save", "x.zip"], catch_exceptions=False)


def test_one_default_for_pairs_that_nobody_scored(tmp_path):
    """The same six rows give the same clusters, whoever is asked."""
    import relatum as rt

    rows = [("ann", "anne", 6), ("ann", "annie", 5), ("anne", "annie", 7)]
    rows += [("bob", "rob", 2), ("rob", "robert", 2), ("anne", "rob", 1)]
    path = tmp_path / "pairs.csv"
    lines = [f"{a},{b},{w}" for a, b, w in rows]
    path.write_text("\n".join(["unique_id_l,unique_id_r,match_weight", *lines]) + "\n")
    table = dict(
        zip(("unique_id_l", "unique_id_r", "match_weight"), zip(*rows, strict=True), strict=True)
    )
    table = pa.table({name: list(values) for name, values in table.items()})
    found = rt.cluster_pairs(table)
    problem = rt.Problem.from_table(table, feasible=rt.EQUIVALENCES)
    best = rt.infer(problem, prove=True)
    assert found.summary.value == best.value
    solved = json.loads(invoke("solve", path, "--prove", "--json").output)
    clustered = json.loads(invoke("cluster", path, "--json").output)
    assert solved["value"] == clustered["value"] == best.value
    sets = {frozenset(problem.ids[s].tolist()) for s in best.relation.sets()}
    by_set = {}
    for name, number in solved["rows"]:
        by_set.setdefault(number, set()).add(name)
    assert {frozenset(s) for s in by_set.values()} == sets == {
        frozenset({"ann", "anne", "annie"}), frozenset({"bob", "rob", "robert"})
    }  # fmt: skip


@pytest.mark.parametrize("command", ["cluster", "solve"])
def test_probabilities_are_not_taken_for_bits(tmp_path, command):
    path = tmp_path / "pairs.csv"
    rows = "a,b,.9\nb,c,.8\nc,d,.1\nd,e,.2\n"
    path.write_text("unique_id_l,unique_id_r,match_weight\n" + rows)
    with pytest.raises(DataError if command == "cluster" else Exception) as error:
        CliRunner().invoke(cli, [command, str(path)], catch_exceptions=False)
    assert "--probability match_weight or --log-odds match_weight" in str(error.value)
    told = json.loads(invoke(command, path, "--probability", "match_weight", "--json").output)
    bits = json.loads(invoke(command, path, "--log-odds", "match_weight", "--json").output)
    assert told["value"] == pytest.approx(np.log2(9) + np.log2(4) - 0.5)
    assert bits["value"] == pytest.approx(0.9 + 0.8 - 0.5 + 0.2)
