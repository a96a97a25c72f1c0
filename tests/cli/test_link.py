"""relatum link: records in, a summary out, and files only if asked for."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from pyarrow import csv

import relatum as rt
from relatum.cli import cli
from relatum.cli.link import fields_of
from relatum.errors import DataError

FIELDS = "given_name=name,surname=name,street=text,born=date,phone=exact"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    people = rt.datasets.load_people(120, seed=2)
    path = tmp_path_factory.mktemp("records") / "people.csv"
    table = people.records.append_column("person", [people.entity.tolist()])
    csv.write_csv(table, path)
    return path, people.entity


def invoke(*words):
    return CliRunner().invoke(cli, [str(w) for w in words], catch_exceptions=False)


def test_a_summary_and_clusters_are_printed_and_nothing_is_written(records):
    path, _ = records
    before = sorted(path.parent.iterdir())
    done = invoke("link", path, "--fields", FIELDS, "--labels", "person", "--show", 2)
    assert done.exit_code == 0
    assert "held out: precision" in done.output
    assert "block recall" in done.output
    assert len(re.findall(r"^  \d+ records: ", done.output, re.MULTILINE)) == 2
    assert sorted(path.parent.iterdir()) == before


def test_clusters_and_the_linker_are_written_and_used_again(records, tmp_path):
    path, entity = records
    out, model = tmp_path / "clusters.csv", tmp_path / "people.model"
    done = invoke("link", path, "--fields", FIELDS, "-o", out, "--save", model, "--json")
    told = json.loads(done.output)
    assert told["linker"]["learned_from"] == "records"
    assert told["clusters"]["elements"] == len(entity)
    found = csv.read_csv(out)
    clusters = [str(c) for c in found["cluster_id"].to_pylist()]
    assert found["id"].to_pylist() == list(range(len(entity)))
    assert rt.metrics.pair_precision_recall_f1(entity, clusters)[2] > 0.8
    again = tmp_path / "again.csv"
    assert invoke("link", path, "--model", model, "-o", again, "-q").output == ""
    assert again.read_text() == out.read_text()


def test_keys_and_columns_are_named(records):
    path, _ = records
    words = ["--fields", FIELDS, "--key", "surname,born", "--neighbors", 3, "--id", "id"]
    assert invoke("link", path, *words, "-q").exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "--fields is needed"),
        (["--fields", "title"], "got 'title'"),
        (["--fields", "surname=prose"], "kind of the field"),
        (["--fields", "nobody=name"], "no column 'nobody'"),
        (["--fields", FIELDS, "--out", "x.txt"], "ends in .parquet or .csv"),
        (["--fields", FIELDS, "--model", "x.model"], "leave out --fields"),
    ],
)
def test_what_makes_no_sense_is_refused(records, words, told):
    with pytest.raises(DataError, match=told):
        invoke("link", records[0], *words)


def test_fields_are_read():
    assert fields_of("a=text, b c=exact") == {"a": "text", "b c": "exact"}


def test_the_records_are_not_written_over(records):
    path, _ = records
    before = path.read_bytes()
    with pytest.raises(DataError, match="holds the records"):
        invoke("link", path, "--fields", FIELDS, "-o", path)
    assert path.read_bytes() == before
