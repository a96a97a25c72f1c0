"""`relatum solve` and `relatum verify`: from a file to a relation and back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

import relatum as rt
from relatum.cli import cli
from relatum.cli.solve import EXIT_CODES
from relatum.io import Request, read_problem


def _run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


def test_solve_then_verify(cliques, tmp_path):
    bundle = tmp_path / "e.npz"
    result = _run("solve", cliques, "--prove", "-o", bundle)
    assert result.exit_code == 0
    assert "OPTIMAL" in result.output
    assert "value 6.000000 bits" in result.output
    result = _run("verify", cliques, bundle)
    assert (result.exit_code, result.output.split(":")[0]) == (0, "verified")
    result = _run("verify", cliques, bundle, "--json")
    assert json.loads(result.output)["ok"] is True


def test_a_bundle_is_verified_on_its_own(cliques, tmp_path):
    bundle = tmp_path / "e.npz"
    assert _run("solve", cliques, "--prove", "-q", "-o", bundle).exit_code == 0
    result = _run("verify", bundle)
    assert (result.exit_code, result.output.split(":")[0]) == (0, "verified")
    problem, estimate = rt.io.load_bundle(bundle)
    rt.io.save_estimate(bundle, problem, replace(estimate, bound=estimate.bound - 1.0))
    assert _run("verify", bundle).exit_code == 1
    for wrong in ((bundle, "--background", "0"), (cliques, bundle, bundle), ()):
        assert _run("verify", *wrong).exit_code == 2


def test_json_csv_and_metrics(cliques, tmp_path):
    result = _run("solve", cliques, "--prove", "--json")
    told = json.loads(result.output)
    assert (told["status"], told["value"], told["gap"]) == ("OPTIMAL", 6.0, 0.0)
    assert told["rows"] == [[0, 0], [1, 0], [2, 0], [3, 1]]
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    assert _run("solve", cliques, "--prove", "-q", "-o", first).output == ""
    assert first.read_text() == "element,set\n0,0\n1,0\n2,0\n3,1\n"
    second.write_text("element,set\n3,x\n0,y\n1,y\n2,z\n")
    numbers = json.loads(_run("metrics", first, second, "--json").output)
    assert numbers["rand_error"] == pytest.approx(2 / 6)
    assert numbers["pair_recall"] == pytest.approx(1 / 3)
    assert "pair_f1" in _run("metrics", first, second).output


def test_orders_and_their_metrics(tmp_path):
    path = tmp_path / "x.lop"
    path.write_text("3\n0 5 1\n2 0 4\n3 1 0\n")
    out = tmp_path / "order.csv"
    assert _run("solve", path, "--prove", "-o", out).exit_code == 0
    assert out.read_text() == "rank,element\n0,0\n1,1\n2,2\n"
    other = tmp_path / "other.csv"
    other.write_text("rank,element\n0,2\n1,1\n2,0\n")
    assert json.loads(_run("metrics", out, other, "--json").output)["kendall"] == 1.0


def test_evidence_sets_and_infeasibility(cliques, tmp_path):
    facts = tmp_path / "facts.csv"
    facts.write_text("a,b,related\n0,1,0\n")
    told = json.loads(_run("solve", cliques, "--evidence", facts, "--prove", "--json").output)
    assert told["rows"][0][1] != told["rows"][1][1]
    told = json.loads(_run("solve", cliques, "--as", "equivalence & at_most(2)", "--json").output)
    assert told["value"] == 5.0
    facts.write_text("a,b,related\n0,1,1\n1,2,1\n0,2,0\n")
    result = _run("solve", cliques, "--evidence", facts)
    assert result.exit_code == 3
    assert "0~1 and 1~2 given, 0~2 forbidden" in result.output


def test_a_forged_bundle_has_exit_code_one(cliques, tmp_path):
    problem = read_problem(Request(cliques))
    e = rt.infer(problem, prove=True)
    forged = replace(e, value=e.value + 1, bound=e.bound + 1)
    rt.io.save_estimate(tmp_path / "f.npz", problem, forged)
    result = _run("verify", cliques, tmp_path / "f.npz")
    assert result.exit_code == 1
    assert result.output.startswith("NOT verified")


def test_every_status_has_an_exit_code():
    assert set(EXIT_CODES) == set(rt.Status)
    assert [EXIT_CODES[rt.Status[name]] for name in ("OPTIMAL", "FEASIBLE")] == [0, 0]
    assert len({EXIT_CODES[rt.Status[name]] for name in ("INFEASIBLE", "BOUND_ONLY")} | {0}) == 3


def test_other_relations_are_tables_of_pairs(tmp_path):
    """Preorders have no labels: every related pair is a row, diagonal included."""
    path = tmp_path / "x.npy"
    rt.io.write_matrix(path, [[0, 2, -1], [-1, 0, -1], [-1, 3, 0]])
    told = json.loads(_run("solve", path, "--as", "PREORDERS", "--prove", "--json").output)
    assert (told["columns"], told["value"]) == (["a", "b"], 5.0)
    assert told["rows"] == [[0, 0], [0, 1], [1, 1], [2, 1], [2, 2]]


def test_probabilities_are_a_column(cliques, tmp_path):
    out = tmp_path / "sets.csv"
    result = _run("solve", cliques, "--prove", "--probabilities", "-o", out)
    assert result.exit_code == 0
    known = rt.probabilities(read_problem(Request(cliques)))
    best = rt.Partition([0, 0, 0, 1])
    assert f"probability 2^{known.of(best):.4f}" in result.output
    assert "exact by sums over partitions, uncalibrated" in result.output
    lines = [line.split(",") for line in out.read_text().splitlines()]
    assert lines[0] == ["element", "set", "probability"]
    assert [float(line[2]) for line in lines[1:]] == pytest.approx(known.confidence(best))
    told = json.loads(_run("solve", cliques, "--probabilities", "--json").output)
    assert told["log2_probability"] == known.of(best)
    assert (told["exact"], told["calibrated"]) == (True, False)


def test_places_of_an_order_have_probabilities(tmp_path):
    path, out = tmp_path / "x.lop", tmp_path / "order.csv"
    path.write_text("3\n0 1 5\n9 0 1\n1 1 0\n")
    assert _run("solve", path, "--prove", "--probabilities", "-o", out).exit_code == 0
    known = rt.probabilities(read_problem(Request(path)))
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    for rank, element, p in rows:
        assert float(p) == pytest.approx(known.ranks[int(element), int(rank)])


def test_the_relation_is_shown_by_ids(tmp_path):
    path = tmp_path / "pairs.csv"
    rows = [f"x{k:02d},y{k:02d},3" for k in range(25)]
    path.write_text("\n".join(["unique_id_l,unique_id_r,match_weight", *rows, "x00,z,-1"]) + "\n")
    shown = CliRunner().invoke(cli, ["solve", str(path)]).output
    assert "x00, y00" in shown
    assert "x19, y19" in shown
    assert "x20, y20" not in shown
    assert "and 5 more; -o writes all of them" in shown
    assert "1 alone" in shown
    path.write_text("first,second,score\n" + "".join(f"t{k},t{k + 1},5\n" for k in range(30)))
    shown = CliRunner().invoke(cli, ["solve", str(path), "--as", "order"]).output.splitlines()
    assert [line.split() for line in shown if line.startswith("   0 ")] == [["0", "t0"]]
    assert any("and 11 more" in line for line in shown)


def test_columns_of_pairs_are_named(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("who,score,whom,note\na,.9,b,x\nb,.8,c,y\nc,.1,d,z\nd,.3,e,\n")
    options = ["--left", "who", "--right", "whom", "--probability", "score", "--json"]
    told = json.loads(CliRunner().invoke(cli, ["solve", str(path), *options]).output)
    assert [name for name, _ in told["rows"]] == list("abcde")
    three = tmp_path / "three.csv"
    three.write_text("a,b,probability\n1,2,.9\n2,3,.8\n3,4,.1\n4,5,.3\n")
    own = json.loads(CliRunner().invoke(cli, ["solve", str(three), "--json"]).output)
    assert own["value"] == told["value"]
    named = ["solve", str(three), "--probability", "probability", "--json"]
    assert json.loads(CliRunner().invoke(cli, named).output)["value"] == told["value"]
    wrong = CliRunner().invoke(cli, ["solve", str(path), "--left", "nobody", "--right", "whom"])
    assert "no column 'nobody'" in str(wrong.exception)


def test_what_is_not_known_of_a_probability_is_said(cliques, monkeypatch):
    known = rt.probabilities(read_problem(Request(cliques)))
    said = {"log2 Z": "unknown: there was no time for it"}
    part = replace(known.posterior, normalizer=None, diagnostics=said)
    lost = rt.Probabilities(known.problem, part)
    monkeypatch.setattr("relatum.probability.probabilities", lambda *_, **__: lost)
    shown = " ".join(_run("solve", cliques, "--probabilities").output.split())
    assert "nan" not in shown
    assert "uncalibrated; log2 Z unknown: there was no time for it" in shown
    told = json.loads(_run("solve", cliques, "--probabilities", "--json").output)
    assert told["log2_probability"] is None
