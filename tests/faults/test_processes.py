"""What processes meet: no room to spill, killed workers, clocks that go back, other languages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import naive
import relatum as rt
from faults.children import in_child, room_for

COMMAND = [sys.executable, "-c", "from relatum.cli import main; main()"]
SOURCE = str(Path(rt.__file__).parent.parent)


def _table(n: int) -> pa.Table:
    ids = [f"a rather long id of an element, number {k:09d}" for k in range(n + 1)]
    return pa.table(
        {"unique_id_l": ids[:-1], "unique_id_r": ids[1:], "match_weight": np.ones(n) * 2}
    )


def _refused(table: object, **options: object) -> None:
    with pytest.raises(rt.errors.DataError, match=r"not enough memory, or room.*TMPDIR") as caught:
        rt.cluster_pairs(table, output="clusters.parquet", **options)
    assert "\n" not in str(caught.value)


def test_no_room_for_numbered_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    table = _table(20_000)
    rt.cluster_pairs(table, memory_limit="1MB")  # with room, pairs wait in a file
    ended = in_child(lambda: _refused(table, memory_limit="1MB"), room_for(100_000, deadly=False))
    assert ended.code == 0, ended.said
    assert list(tmp_path.iterdir()) == []


SPILL = """
import tempfile
tempfile.tempdir = {folder!r}
import relatum as rt
{limit}
try:
    found = rt.cluster_pairs({path!r}, output={out!r}, memory_limit="64MB", threads=1)
    print("clusters", found.summary.clusters)
except rt.errors.DataError as error:
    print("refused", error)
"""
LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", [LIMIT, ""])
def test_no_room_for_what_duckdb_spills(tmp_path, limit):
    import pyarrow.parquet

    path, out, spill = tmp_path / "pairs.parquet", tmp_path / "out.parquet", tmp_path / "spill"
    spill.mkdir()
    pyarrow.parquet.write_table(_table(1_200_000), path)
    code = SPILL.format(folder=str(spill), limit=limit, path=str(path), out=str(out))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_environment()
    )
    assert done.returncode == 0, done
    if limit:
        assert done.stdout.startswith("refused There is not enough memory, or room"), done
        assert done.stdout.count("\n") == 1
        assert not out.exists()
    else:
        assert out.exists(), done
    assert list(spill.iterdir()) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # of joblib, about the worker
def test_a_killed_worker_is_told(monkeypatch):
    code = (
        "import os, signal, sys; sys.path.insert(0, 'tests')\n"
        "import numpy as np, relatum as rt\n"
        "rng = np.random.default_rng(0)\n"
        "given = [rt.Problem(rng.normal(size=10), rt.EQUIVALENCES) for _ in range(4)]\n"
        "parent = os.getpid()\n"
        "def deadly(progress):\n"
        "    if os.getpid() != parent: os.kill(os.getpid(), signal.SIGKILL)\n"
        "try:\n"
        "    rt.infer_many(given, n_jobs=2, monitor=deadly)\n"
        "except rt.errors.SolverError as error:\n"
        "    print(error)\n"
        "print(len(rt.infer_many(given, n_jobs=2)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env=_environment(),
        timeout=300,
    )
    said = done.stdout.splitlines()
    assert said[0].startswith("A worker of infer_many was killed"), done
    assert said[1:] == ["4"]  # the next ones are new


@pytest.mark.parametrize("clock", ["perf_counter", "monotonic", "time"])
@pytest.mark.parametrize("feasible", ["EQUIVALENCES", "LINEAR_ORDERS", "PREORDERS"])
def test_clocks_that_go_back(monkeypatch, clock, feasible):
    """Against enumeration: the answer is right and proven, whatever the clock says."""
    c = np.random.default_rng(3).normal(size=(4, 4))
    problem = rt.Problem(c, getattr(rt, feasible))
    best = max(
        problem.exact_value(rt.Relation(y)) for y in naive.members(naive.NAMED[feasible], 4, 4)
    )
    now = [1e6]

    def back() -> float:
        now[0] -= 3.7
        return now[0]

    monkeypatch.setattr(time, clock, back)
    estimate = rt.infer(problem, prove=True, time_limit=5.0)
    monkeypatch.undo()
    assert best - problem.exact_value(estimate.relation) <= 2.0**-20
    assert rt.verify(problem, estimate)


def _environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


LANGUAGES = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cyrillic": {"PYTHONIOENCODING": "koi8-r"},
    "utf16": {"PYTHONIOENCODING": "utf-16"},
}
NAMES = ("é", "ж", "名", "=x")


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_other_languages(tmp_path, language):
    environment = _environment(**LANGUAGES[language])
    pairs, out = tmp_path / "pairs.csv", tmp_path / "clusters.csv"
    rows = [f"{a},{b},{bits}" for a, b, bits in zip(NAMES, NAMES[1:], (2, -1, 3), strict=False)]
    text = "unique_id_l,unique_id_r,match_weight\n" + "\n".join(rows) + "\n"
    pairs.write_text(text, encoding="utf-8")

    def run(*words: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, env=environment)

    solved = run("solve", pairs, "--json")
    assert solved.returncode == 0, solved
    answer = solved.stdout
    said = answer.decode("utf-16" if language == "utf16" else "latin-1")
    assert "OPTIMAL" in said
    assert (tmp_path / "pairs.csv").read_text(encoding="utf-8") == text
    for command in (("solve", pairs, "-o", out), ("cluster", pairs, "-o", out)):
        done = run(*command)
        assert done.returncode == 0, done
        written = out.read_text(encoding="utf-8")
        assert all(name in written for name in NAMES)
    assert run("metrics", out, out).returncode == 2  # no partition by its columns, said in words
    solved = run("solve", pairs, "-o", tmp_path / "answer.json")
    rows = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["rows"]
    assert sorted(row[0] for row in rows) == sorted(NAMES)
    wrong = run("solve", tmp_path / "é.csv")
    assert wrong.returncode == 2
    assert b"Traceback" not in wrong.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [["--json"], []])
def test_output_that_cannot_be_written(tmp_path, words):
    """A full device is told in one line; where there is no output at all, nothing is said."""
    path = tmp_path / "x.txt"
    path.write_text("3\n1 2\n-3\n", encoding="utf-8")
    command = [*COMMAND, "solve", str(path), *words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=_environment()
        )
    assert done.returncode == 2
    assert done.stderr == "relatum: the output cannot be written: No space left on device.\n"
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, env=_environment())
    assert (done.returncode, done.stderr) == (0, "")
