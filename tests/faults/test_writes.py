"""Every file is written whole or not at all: killed, out of room, without rights, together.

Each writer is stopped before every single thing that it does with files, and in the middle of
its data; what was there before must be there still, or what is new, whole.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import relatum as rt
from faults.children import as_nobody, in_child, killed_at, room_for
from relatum.cli import main
from relatum.io import ListedPairs, csv_text, write_rows
from relatum.io.files import write_atomically, write_lines
from relatum.pair_tables.check.container import write_archive
from relatum.pair_tables.result import write_table

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
RNG = np.random.default_rng(0)
N = 60
MATRIX = RNG.integers(-99, 99, (N, N)).astype(float)
UPPER = MATRIX[np.triu_indices(N, 1)]
PROBLEM = rt.Problem(UPPER, rt.EQUIVALENCES)
ESTIMATE = rt.infer(PROBLEM, time_limit=2.0)
PAIRS = ListedPairs(N, *np.triu_indices(N, 1), UPPER)
RANKS = rt.io.Rankings(np.array([np.arange(N)]), np.ones(1), tuple(map(str, range(N))))
TABLE = pa.table({"unique_id": [f"element {k}" for k in range(3000)], "cluster_id": range(3000)})
RANKER = rt.LinearRanker().fit([[f"item {k}" for k in range(30)]])
NOWHERE = Path("no folder of proofs")
EDGES = np.triu_indices(N, 1)

WRITERS = {
    "out.bin": lambda p: write_atomically(p, bytes(10_000)),
    "out.txt": lambda p: write_lines(p, map(str, range(3000))),
    "out.txt.gz": lambda p: write_lines(p, map(str, range(3000))),
    "out.lop": lambda p: rt.io.write_lolib(p, MATRIX),
    "out.cplib": lambda p: rt.io.write_cplib(p, UPPER),
    "out.mc": lambda p: rt.io.write_multicut(p, PAIRS),
    "out.signed": lambda p: rt.io.write_signed_graph(p, PAIRS),
    "out.gr": lambda p: rt.io.write_pace(p, N, *EDGES),
    "out.soc": lambda p: rt.io.write_preflib(p, RANKS),
    "out.npy": lambda p: rt.io.write_matrix(p, MATRIX),
    "pairs.csv": lambda p: rt.io.write_pair_table(p, *EDGES, UPPER),
    "pairs.parquet": lambda p: rt.io.write_pair_table(p, *EDGES, UPPER),
    "pairs.arrow": lambda p: rt.io.write_pair_table(p, *EDGES, UPPER),
    "rows.csv": lambda p: write_rows(p, ["a", "b"], [[k, k] for k in range(2000)]),
    "problem.csv": lambda p: rt.io.write_problem(p, PROBLEM),
    "out.npz": lambda p: rt.io.save_estimate(p, PROBLEM, ESTIMATE),
    "order.model": lambda p: rt.io.save_model(p, RANKER),
    "clusters.cert": lambda p: write_archive(p, {"value": 1.0}, {"a.npy": np.arange(999)}, NOWHERE),
    "clusters.csv": lambda p: write_table(p, TABLE),
    "clusters.parquet": lambda p: write_table(p, TABLE),
}
OLD = b"what was there before"


def _left_over(folder: Path, name: str) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name != name)


@pytest.mark.parametrize("name", WRITERS)
def test_killed_at_any_moment(tmp_path, name):
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    new = path.read_bytes()
    assert len(new) > 300
    survived = killed = 0
    for event in range(50):
        path.write_bytes(OLD)
        ended = in_child(lambda: write(path), killed_at(event, tmp_path))
        content = path.read_bytes()
        if ended.code == 0:
            assert content == new
            break
        assert ended.code == -9, ended
        killed += 1
        survived += content == OLD
        assert content in (OLD, new)
        for other in _left_over(tmp_path, name):
            assert other.startswith("."), other  # hidden, and never read
            (tmp_path / other).unlink()
    assert ended.code == 0
    assert killed >= 4  # made, written, given its mode, renamed
    assert survived >= 4


@pytest.mark.parametrize("name", WRITERS)
def test_killed_in_the_middle_of_the_data(tmp_path, name):
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    size = path.stat().st_size
    for room in (0, 1, size // 2, size - 1):
        path.write_bytes(OLD)
        assert in_child(lambda: write(path), room_for(room, deadly=True)).code == -25  # SIGXFSZ
        assert path.read_bytes() == OLD
    write(path)  # what the dead left does not harm the living
    assert path.stat().st_size == size


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(tmp_path, name):
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    size = path.stat().st_size

    def told() -> None:
        with pytest.raises(rt.errors.DataError, match="cannot be written: ") as caught:
            write(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)

    for room in (0, size // 2, size - 1):
        path.write_bytes(OLD)
        ended = in_child(told, room_for(room, deadly=False))
        assert ended.code == 0, ended.said
        assert path.read_bytes() == OLD
        assert _left_over(tmp_path, name) == []


@pytest.fixture
def shared():
    """A folder that everybody can look into, but only its owner can write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("there", [False, True])
def test_a_folder_of_someone_else(shared, name, there):
    path, write = shared / name, WRITERS[name]
    write(shared / f"once.{name}")  # whatever is imported by the way
    (shared / f"once.{name}").unlink()
    if there:
        path.write_bytes(OLD)
    if os.geteuid() != 0:
        shared.chmod(0o555)

    def told() -> None:
        with pytest.raises(rt.errors.DataError, match=r"is not yours to write to; name another"):
            write(path)

    ended = in_child(told, as_nobody)
    assert ended.code == 0, ended.said
    assert [p.name for p in shared.iterdir()] == [name] * there
    assert not there or path.read_bytes() == OLD


def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "out.csv"
    contents = [f"{k}" * 200_000 for k in range(3)]
    path.write_text(contents[0])
    stop = time.monotonic() + 1.0
    children = []
    for content in contents:
        number = os.fork()
        if number == 0:
            try:
                while time.monotonic() < stop:
                    write_lines(path, [content])
            finally:
                os._exit(0)
        children.append(number)
    seen = set()
    while time.monotonic() < stop:
        text = path.read_text().strip()
        assert text in contents
        seen.add(text[0])
    assert all(os.waitpid(number, 0)[1] == 0 for number in children)
    assert len(seen) > 1
    assert _left_over(tmp_path, "out.csv") == []


COMMANDS = {
    "solve_csv": ("solve", "{pairs}", "-o", "{out}.csv"),
    "solve_json": ("solve", "{pairs}", "-o", "{out}.json"),
    "solve_npz": ("solve", "{pairs}", "-o", "{out}.npz"),
    "convert": ("convert", "{pairs}", "{out}.npy", "--as", "equivalence"),
    "cluster_csv": ("cluster", "{pairs}", "-o", "{out}.csv"),
    "cluster_parquet": ("cluster", "{pairs}", "-o", "{out}.parquet"),
    "fit": ("fit", "{table}", "--as", "map", "--label", "kind", "-o", "{out}.model"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_on_a_full_disk(tmp_path, monkeypatch, command):
    given = {"pairs": tmp_path / "pairs.csv", "table": tmp_path / "table.csv"}
    pairs = [(f"a{k}", f"a{k + 1}", 1.5) for k in range(400)]
    given["pairs"].write_text(csv_text(["unique_id_l", "unique_id_r", "match_weight"], pairs))
    given["table"].write_text(csv_text(["u", "kind"], [(k, k % 2) for k in range(40)]))
    words = [w.format(out=tmp_path / "out", **given) for w in COMMANDS[command]]
    monkeypatch.setattr(sys, "argv", ["relatum", *words])
    before = sorted(tmp_path.iterdir())
    ended = in_child(main, room_for(400, deadly=False))
    assert ended.code == 2, ended
    assert ended.said.count("\n") == 1, ended
    assert "cannot be written: " in ended.said
    assert "File too large" in ended.said
    assert sorted(tmp_path.iterdir()) == before
