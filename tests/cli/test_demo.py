"""The demo: every case is verified, and what it prints is what was found."""

from __future__ import annotations

import pytest

import relatum as rt
from relatum.cli import main
from relatum.cli.demo import cases


@pytest.fixture(scope="module")
def found():
    return list(cases(quick=True))


def test_the_classical_cases_and_one_with_evidence(found):
    assert len(found) == 4
    structures = [case.problem.feasible.structure for case in found]
    assert structures == [rt.MAPS, rt.EQUIVALENCES, rt.EQUIVALENCES, rt.LINEAR_ORDERS]
    assert [bool(len(case.problem.evidence)) for case in found] == [False, False, True, False]


def test_every_case_verifies(found):
    for case in found:
        assert case.estimate.relation is not None
        report = rt.verify(case.problem, case.estimate)
        assert report, (case.relation, report.reason)
        assert case.remark


def test_the_command_prints_a_line_per_case(found, demo):
    printed = demo[0]
    for case in found:
        assert case.relation.split()[0] in printed
        assert case.estimate.status.name in printed
    assert printed.count("OPTIMAL") == 4
    assert "NO" not in printed.split("map:")[0].split()


def test_a_seed_is_not_negative(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["relatum", "demo", "--quick", "--seed", "-1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "seed is a whole number from 0" in capsys.readouterr().err
