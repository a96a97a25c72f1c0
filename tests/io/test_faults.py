"""Every reader, every fault: one line with the file, and the line where there are lines.

Through the command line, as a user meets it: exit code 2, nothing on standard output, no
traceback, no output file.
"""

from __future__ import annotations

import io as buffers
import re
import sys
import tracemalloc
from pathlib import Path

import joblib
import numpy as np
import pytest

import relatum as rt
from relatum.cli import main

PREFLIB = (
    "# FILE NAME: x.soc\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n"
    "# NUMBER UNIQUE ORDERS: 2\n2: 1,2,3\n1: 2,3,1\n"
)
# reader: (file name, whole content, content with a wrong count, content with text in numbers)
TEXT = {
    "lolib": ("x.lop", "3\n0 5 1\n2 0 4\n3 1 0\n", ("3\n", "4\n"), ("5", "five")),
    "cplib": ("x.txt", "4\n4 3 -6\n-1 -5\n1\n", ("4\n4", "5\n4"), ("-6", "six")),
    "multicut": ("x.txt", "3 2 -1.5\n0 1 2.0\n1 2 -1.5\n", ("3 2", "3 4"), ("2.0", "two")),
    "signed": ("x.txt", "3 2\n0 1 2\n1 2 -1\n", ("3 2", "3 4"), ("-1", "minus")),
    "pace": ("x.gr", "p cep 3 2\n1 2\n2 3\n", ("3 2", "3 5"), ("2 3", "2 three")),
    "preflib": ("x.soc", PREFLIB, ("VOTERS: 3", "VOTERS: 7"), ("2,3,1", "2,three,1")),
    "pairs": (
        "x.csv",
        "unique_id_l,unique_id_r,match_weight\nann,bob,2.5\nbob,cy,-1\n",
        ("ann,bob", "ann,bob,3"),
        ("2.5", "two"),
    ),
    "matrix": ("x.txt", "1 2 3\n4 5 6\n", ("4 5 6", "4 5 6 7"), ("5", "five")),
}
SPOILED = ["cut", "count", "text", "latin", "utf16", "empty", "zeros", "png"]
LOST = ["missing", "no_folder", "folder", "denied"]
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06"


def _spoil(path: Path, fault: str, content: bytes, count: bytes, text: bytes) -> Path:
    """Write a file with a fault; return the path to give to the reader."""
    if fault == "missing":
        return path.with_name("lost_" + path.name)
    if fault == "no_folder":
        return path.parent / "nowhere" / path.name
    if fault == "folder":
        path.mkdir()
    elif fault == "zeros":
        with path.open("wb") as file:
            file.truncate(2 << 30)
    else:
        made = {
            "cut": re.sub(rb"[ ,\n][^ ,\n]*\n*$", b"", content),  # the last word is lost
            "count": count,
            "text": text,
            "latin": content + "é\n".encode("latin-1"),
            "utf16": content.decode("latin-1").encode("utf-16"),
            "empty": b"",
            "png": PNG,
            "denied": content,
        }
        path.write_bytes(made[fault])
    return path


def _fails(monkeypatch, capsys, *arguments: object) -> str:
    """Run the command; return its one line of complaint."""
    monkeypatch.setattr(sys, "argv", ["relatum", *map(str, arguments)])
    tracemalloc.start()
    try:
        with pytest.raises(SystemExit) as stop:
            main()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = capsys.readouterr()
    assert stop.value.code == 2, said
    assert said.out == ""
    assert said.err.startswith("relatum: ")
    assert said.err.count("\n") == 1, said.err
    assert len(said.err) < 600
    assert peak < 64 << 20  # bytes: of 2 GB, only the beginning is read
    return said.err


def _deny(monkeypatch, path: Path) -> None:
    """Let the path be unreadable, as it would be to a user other than root."""
    before = Path.open

    def denied(self, *arguments, **options):
        if self == path:
            raise PermissionError(13, "Permission denied")
        return before(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)


def _way_out(fault: str, message: str) -> bool:
    """Whether the message says what to do where there is nothing to point at in the file."""
    ways = {
        "missing": "check the name",
        "no_folder": "check the path",
        "folder": "name a file in it",
        "denied": "chmod",
        "latin": "save the file as UTF-8",
        "utf16": "save the file as UTF-8",
        "zeros": "check that it is the right file",
        "png": r"save the file as UTF-8|check that it is the right file",
        "cut": ".",
    }
    return re.search(ways.get(fault, "."), message) is not None


@pytest.mark.parametrize("fault", SPOILED + LOST)
@pytest.mark.parametrize("reader", TEXT)
def test_text_formats(tmp_path, monkeypatch, capsys, reader, fault):
    name, content, (old, new), (number, word) = TEXT[reader]
    given = (content, content.replace(old, new, 1), content.replace(number, word, 1))
    assert len(set(given)) == 3
    path = _spoil(tmp_path / name, fault, *(text.encode() for text in given))
    if fault == "denied":
        _deny(monkeypatch, path)
    before = sorted(tmp_path.iterdir())
    for command in (
        ("solve", path, "--format", reader, "-o", tmp_path / "out.npz"),
        ("convert", path, tmp_path / "out.npy", "--from", reader),
        ("bench", path, "--format", reader),
    ):
        message = _fails(monkeypatch, capsys, *command)
        assert str(path) in message
        if fault in SPOILED:
            assert re.search(r", line \d+: ", message), message
        if fault in ("zeros", "empty", "utf16"):
            assert ", line 1: " in message
        assert _way_out(fault, message), message
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("fault", [f for f in SPOILED + LOST if f not in ("cut", "count", "text")])
def test_guessing_the_format(tmp_path, monkeypatch, capsys, fault):
    path = _spoil(tmp_path / "x.dat", fault, b"4\n4 3 -6\n-1 -5\n1\n", b"", b"")
    if fault == "denied":
        _deny(monkeypatch, path)
    message = _fails(monkeypatch, capsys, "solve", path)
    assert str(path) in message
    assert _way_out(fault, message), message


def _arrow_table(ending: str) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [1.0]})
    sink = buffers.BytesIO()
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, sink)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, sink)
    return sink.getvalue()


def _npy() -> bytes:
    sink = buffers.BytesIO()
    np.save(sink, np.ones((3, 4)))
    return sink.getvalue()


def _bundle(folder: Path) -> bytes:
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    rt.io.save_estimate(folder / "e.npz", problem, rt.infer(problem, prove=True))
    return (folder / "e.npz").read_bytes()


def _model() -> bytes:
    sink = buffers.BytesIO()
    joblib.dump({"relatum": "0", "kind": "map", "columns": ["u"], "model": None}, sink)
    return sink.getvalue()


@pytest.mark.parametrize("fault", ["cut", "empty", "zeros", "png", "text", *LOST])
@pytest.mark.parametrize("reader", ["parquet", "arrow", "npy", "bundle", "model"])
def test_binary_formats(tmp_path, monkeypatch, capsys, reader, fault):
    made = {
        "parquet": lambda: _arrow_table("parquet"),
        "arrow": lambda: _arrow_table("arrow"),
        "npy": _npy,
        "bundle": lambda: _bundle(tmp_path),
        "model": _model,
    }
    content = made[reader]()
    if fault == "cut":
        content = content[: len(content) // 2]
    endings = {"bundle": "npz", "model": "joblib"}
    path = tmp_path / f"x.{endings.get(reader, reader)}"
    path = _spoil(path, fault, content, b"", b"one,two\n1,2\n")
    if fault == "denied":
        _deny(monkeypatch, path)
    other = tmp_path / "good.csv"
    other.write_text("a,b,bits\n0,1,1\n0,2,2\n1,2,-3\n")
    before = sorted(tmp_path.iterdir())
    commands = {"bundle": ("verify", other, path), "model": ("predict", path, other)}
    message = _fails(monkeypatch, capsys, *commands.get(reader, ("solve", path)))
    assert str(path) in message
    assert _way_out(fault if fault in LOST else "", message), message
    assert sorted(tmp_path.iterdir()) == before


TABLES = {
    "evidence": "a,b,related\n0,1,1\n1,2,0\n",
    "fit": "u,v,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n",
    "sequences": "a b c\nb c\n",
    "metrics": "element,set\n0,0\n1,0\n2,1\n",
}


OTHER = [
    (reader, fault)
    for reader in TABLES
    for fault in ("cut", "latin", "utf16", "empty", "zeros", "png", *LOST)
    if (reader, fault) != ("sequences", "cut")  # any lines of words are sequences
]


@pytest.mark.parametrize(("reader", "fault"), OTHER)
def test_other_tables(tmp_path, monkeypatch, capsys, reader, fault):
    path = _spoil(tmp_path / "x.csv", fault, TABLES[reader].encode(), b"", b"")
    if fault == "denied":
        _deny(monkeypatch, path)
    good = tmp_path / "good.csv"
    good.write_text(TABLES["metrics"])
    (tmp_path / "good.txt").write_text("3\n1 2\n-3\n")
    model = tmp_path / "model"
    command = {
        "evidence": ("solve", tmp_path / "good.txt", "--evidence", path, "-o", model),
        "fit": ("fit", path, "--as", "map", "--label", "kind", "-o", model),
        "sequences": ("fit", path, "--as", "order", "-o", model),
        "metrics": ("metrics", good, path),
    }[reader]
    message = _fails(monkeypatch, capsys, *command)
    assert str(path) in message
    if fault not in LOST:
        assert re.search(r", line \d+: ", message), message
    assert not model.exists()


def test_close_names_are_offered(tmp_path, monkeypatch, capsys):
    (tmp_path / "pairs.csv").write_text("x")
    message = _fails(monkeypatch, capsys, "solve", tmp_path / "pair.csv")
    assert f"did you mean {tmp_path / 'pairs.csv'}?" in message


def test_digits_without_end_are_no_numbers(tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.txt"
    path.write_text("0" * (3 << 20))
    for name in TEXT:
        assert "a word of more than" in _fails(monkeypatch, capsys, "solve", path, "--format", name)
    path.write_text("9" * 5000 + " 1\n0 1 2\n")  # more digits than Python turns into a number
    for name in TEXT:
        if name != "matrix":
            _fails(monkeypatch, capsys, "solve", path, "--format", name)


def test_problems_that_files_cannot_make_name_the_file(tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.csv"
    path.write_text("unique_id_l,unique_id_r,match_probability\na,b,1.5\n")
    assert f"{path}: Column 'match_probability'" in _fails(monkeypatch, capsys, "solve", path)
    path.write_text("a,b,bits\nx,y,1\nx,y,2\n")
    assert "more than once" in _fails(monkeypatch, capsys, "solve", path)
    path.write_text("a,a,bits\nx,y,1\n")
    assert "two columns have the name 'a'" in _fails(monkeypatch, capsys, "solve", path)
    path.write_text("a,b,bits\nx,,1\n")
    assert "line 2: the id in column 'b' is empty" in _fails(monkeypatch, capsys, "solve", path)
    path.write_text('a,b,bits\nx,"y,1\n')
    assert "line 2: this is not CSV" in _fails(monkeypatch, capsys, "solve", path)
