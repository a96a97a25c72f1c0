"""The command ``relatum review``: its address, its end, and how it goes on after a kill."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

from relatum.io import read_answers
from relatum.io.answers import AnswersFile

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")
pytest.importorskip("uvicorn", reason="install relatum[review]")


@pytest.fixture
def files(tmp_path):
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    i, j = np.triu_indices(12, 1)
    pairs = {"unique_id_l": i, "unique_id_r": j, "match_weight": rng.normal(0, 3, len(i))}
    parquet.write_table(pa.table(pairs), tmp_path / "pairs.parquet")
    records = {"unique_id": np.arange(12), "name": [f"name {k}" for k in range(12)]}
    csv.write_csv(pa.table(records), tmp_path / "records.csv")
    return tmp_path


def start(folder, *more):
    command = [sys.executable, "-m", "relatum", "review", "pairs.parquet", "--no-browser", *more]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().split()[-1]


def send(address, path, form=None):
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    connection.request("GET", f"/?{place.query}")
    cookie = connection.getresponse().getheader("set-cookie").split(";")[0]
    connection.close()
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    headers = {"Cookie": cookie, "Origin": f"http://{place.netloc}"}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    body = None if form is None else urlencode(form)
    connection.request("GET" if form is None else "POST", path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@pytest.mark.slow
def test_killed_and_started_again_it_goes_on(files):
    process, address = start(files, "--records", "records.csv", "--who", "ann")
    assert send(address, "/answer", {"a": 0, "b": 1, "verdict": "same"})[0] == 303
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (found,) = read_answers(files / "answers.csv")
    assert (found.left, found.right, found.verdict, found.who) == ("0", "1", "same", "ann")
    process, address = start(files, "--records", "records.csv")
    assert "1 answer so far" in send(address, "/questions")[1]
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "all answers are in the file" in told


def answer_until_killed(address, rng, told):
    """Answer one question after another, right by the parity of ids, and note what was told."""
    try:
        while True:
            a, b = rng.choice(12, 2, replace=False).tolist()
            verdict = "same" if a % 2 == b % 2 else "different"
            if send(address, "/answer", {"a": a, "b": b, "verdict": verdict})[0] == 303:
                told.append((a, b))
    except (OSError, http.client.HTTPException):
        return  # the server is gone


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_killed_at_any_moment_everything_that_was_told_is_there(files):
    rng, told = np.random.default_rng(0), []
    for people in (["ann"], ["ann"], ["ann", "bob"], ["ann"], ["ann", "bob"]):
        # two servers on one file: the answers of both are kept
        running = [start(files, "--who", who) for who in people]
        seen = [[] for _ in people]
        threads = [
            threading.Thread(target=answer_until_killed, args=(address, own, found))
            for (_, address), own, found in zip(running, rng.spawn(2), seen, strict=False)
        ]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        while not all(seen) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        for process, _ in running:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        for thread in threads:
            thread.join()
        assert all(seen)
        told += [(who, *pair) for who, found in zip(people, seen, strict=True) for pair in found]
        rows = AnswersFile(files / "answers.csv", ["unique_id_l", "unique_id_r"]).rows
        found = [(r.answer.who, int(r.answer.left), int(r.answer.right)) for r in rows]
        assert Counter(told) <= Counter(found)
        assert len(found) <= len(told) + len(people)  # what was being written may be there
        assert [r.answer.action for r in rows] == list(range(1, len(rows) + 1))
        told = found
    lines = (files / "answers.csv").read_bytes().splitlines()
    assert all(line.count(b",") == 7 for line in lines)
    assert all((int(a.left) + int(a.right)) % 2 == (a.verdict != "same")
               for a in read_answers(files / "answers.csv"))  # fmt: skip


@pytest.mark.slow
def test_what_is_wrong_is_one_line(files):
    for arguments, rule in (
        (["nowhere.parquet"], "There is no file"),
        (["pairs.parquet", "--records", "pairs.parquet"], "of ids"),
        (["pairs.parquet", "--answers", "answers.txt"], ".csv"),
        (["pairs.parquet", "--port", "99999"], "cannot be listened on"),
    ):
        command = [sys.executable, "-m", "relatum", "review", *arguments, "--no-browser"]
        done = subprocess.run(command, cwd=files, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert rule in done.stderr
        assert done.stderr.count("\n") == 1


def test_answers_that_could_not_be_kept_are_told_before_pairs_are_clustered(files, read_only):
    from click.testing import CliRunner

    from relatum.cli import cli

    path = files / "answers.csv"
    AnswersFile(path, ("unique_id_l", "unique_id_r")).append([("1", "2", "same")])
    command = ["review", str(files / "none.parquet"), "--answers", str(path), "--no-browser"]
    with read_only(path):
        found = CliRunner().invoke(cli, command)
    assert "answers.csv cannot be written: Permission denied" in str(found.exception)
