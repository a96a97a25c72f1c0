"""Real files of every format, mutated, for every reader and command; and odd options."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import sys
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import relatum as rt
from fuzzing.values import TEXTS
from relatum.cli import cli, main

PREFLIB = (
    "# FILE NAME: x.soc\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n"
    "# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: ann\n2: 1,2,3\n1: 2,3,1\n"
)
TEXT_FILES = {
    "x.lop": "3\n0 5 1\n2 0 4\n3 1 0\n",
    "x.txt": "4\n4 3 -6\n-1 -5\n1\n",
    "m.txt": "3 2 -1.5\n0 1 2.0\n1 2 -1.5\n",
    "s.txt": "3 2\n0 1 2\n1 2 -1\n",
    "h.txt": "MULTICUT\n0 1 2.0\n1 2 -1.5\n",
    "x.gr": "p cep 3 2\n1 2\n2 3\n",
    "x.soc": PREFLIB,
    "x.csv": "unique_id_l,unique_id_r,match_weight\nann,bob,2.5\nbob,cy,-1\n=x,ann,0.5\n",
    "p.csv": "unique_id_l,unique_id_r,match_probability\n1,2,0.9\n2,3,0.2\n1,3,0.5\n",
    "t.tsv": "a\tb\tbits\n0\t1\t1\n1\t2\tinf\n",
    "matrix.txt": "1 2 3\n4 5 6\n7 8 9\n",
    "evidence.csv": "a,b,related\nann,bob,1\nbob,cy,0\n",
    "set.csv": "element,set\n0,0\n1,0\n2,1\n",
    "rank.csv": "rank,element\n0,a\n1,b\n2,c\n",
    "fit.csv": "u,v,kind\n1,2,x\n3,4,y\n5,6,x\n7,8,y\n",
    "sequences.txt": "a b c\nb c\nc a\n",
}
READERS: dict[str, str] = {
    "x.lop": "read_lolib",
    "x.txt": "read_cplib",
    "m.txt": "read_multicut",
    "s.txt": "read_signed_graph",
    "x.gr": "read_pace",
    "x.soc": "read_preflib",
    "x.csv": "read_pair_table",
    "matrix.txt": "read_matrix",
    "x.npy": "read_matrix",
    "x.parquet": "read_pair_table",
    "x.arrow": "read_pair_table",
    "bundle.npz": "load_estimate",
}
WORDS = (b"-1", b"0", b"1e999", b"nan", b"inf", b"1e308", b"5e-324", b"99999999999999999999", b"x")
WORDS += (
    b"\xff",
    b"\x00",
    b"",
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r\n",
    b"\t",
    b"=1",
    b"2147483648",
    b"-",
)


@cache
def _files() -> dict[str, bytes]:
    """Return a real file of every format."""
    files = {name: text.encode() for name, text in TEXT_FILES.items()}
    table = pa.table({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [1.0]})
    for ending, write in (
        ("parquet", pa.parquet.write_table),
        ("arrow", pa.feather.write_feather),
    ):
        sink = io.BytesIO()
        write(table, sink)
        files[f"x.{ending}"] = sink.getvalue()
    sink = io.BytesIO()
    np.save(sink, np.arange(9.0).reshape(3, 3))
    files["x.npy"] = sink.getvalue()
    sink = io.BytesIO()
    np.savez(sink, log_odds=np.arange(9.0).reshape(3, 3))
    files["x.npz"] = sink.getvalue()
    files["x.csv.gz"] = gzip.compress(files["x.csv"], mtime=0)
    with TemporaryDirectory() as folder:
        problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
        path = Path(folder) / "bundle.npz"
        rt.io.save_estimate(path, problem, rt.infer(problem, prove=True))
        files["bundle.npz"] = path.read_bytes()
        (Path(folder) / "p.csv").write_bytes(files["p.csv"])
        proof, found = Path(folder) / "clusters.cert", Path(folder) / "clusters.csv"
        rt.cluster_pairs(Path(folder) / "p.csv", certificate=proof, output=found)
        files["clusters.cert"], files["clusters.csv"] = proof.read_bytes(), found.read_bytes()
    files["problem.txt"] = b"3\n1 2\n-3\n"
    return files


def mutated(data: bytes, r: Random) -> bytes:
    """Return a file with some damage."""
    for _ in range(r.choice((0, 1, 1, 1, 2, 4))):
        at, kind = r.randrange(len(data) + 1), r.randrange(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + bytes([r.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + r.choice(WORDS) + data[at:]
        elif kind == 3:  # a word becomes another one
            words = re.split(rb"([\s,:{}]+)", data)
            words[r.randrange(len(words))] = r.choice(WORDS)
            data = b"".join(words)
        elif kind == 4:  # a line goes, or comes twice
            lines = data.splitlines(keepends=True) or [b""]
            k = r.randrange(len(lines))
            lines[k : k + 1] = [lines[k]] * r.choice((0, 2))
            data = b"".join(lines)
        else:
            end = min(len(data), at + r.randrange(20))
            data = data[:at] + data[end:]
    return data


def read(r: Random, folder: Path) -> str:
    """Read a mutated file by its reader, or by guessing what it is."""
    name = r.choice(sorted(_files()))
    path = folder / name
    path.write_bytes(mutated(_files()[name], r))
    if name in READERS and r.random() < 0.5:
        getattr(rt.io, READERS[name])(path)
        return "read"
    chosen = r.choice((None, None, *rt.io.problems.FORMATS))
    rt.io.read_problem(rt.io.Request(path, format=chosen))
    return "read"


OPTIONS: dict[str, tuple[str, ...]] = {
    "--as": ("equivalence", "order", "map", "PREORDERS & at_most(3)", "at_most(0)", "nonsense", ""),
    "--format": ("lolib", "cplib", "pairs", "matrix", "x"),
    "--from": ("lolib", "pairs", "x"),
    "--to": ("lolib", "cplib", "pairs", "matrix", "signed", "multicut", "pace", "preflib", "x"),
    "--background": ("0", "-1", "nan", "inf", "1e308", "x", "learned"),
    "--number": ("0", "1", "-1", "99999999999999999999"),
    "--solver": ("auto", "argmax", "partition_local_search", "nope", ""),
    "--time-limit": ("0.2", "0", "-1", "nan"),
    "--seed": ("0", "-1", "99999999999999999999"),
    "--max-size": ("1", "3", "0", "-5", "99999999999999999999"),
    "--threads": ("1", "0", "-1", "99999999999"),
    "--memory-limit": ("100MB", "x", "-1GB", "nanGB", "0"),
    "--odd-rows": ("refuse", "handle", "x"),
    "--left": ("unique_id_l", "a", "=x", ""),
    "--right": ("unique_id_r", "b", "unique_id_l"),
    "--log-odds": ("match_weight", "bits", "unique_id_l", ""),
    "--probability": ("match_probability", "x"),
    "--one-per-group": ("source", "unique_id", "", "x.csv"),
    "--label": ("kind", "u", "x", ""),
}
PLAIN = ("--prove", "--json", "--quiet")
ENDINGS = (".csv", ".json", ".npz", ".npy", ".parquet", ".txt", ".gz", "")
COMMANDS = (
    *("solve", "solve", "solve", "verify", "verify", "verify", "convert", "convert", "metrics"),
    *("cluster", "cluster", "cluster", "fit", "fit", "bench", "others"),
)
OTHERS = (  # commands that take no files, or long: with options that they refuse, or soon answer
    ["solvers"],
    ["completion", "bash"],
    ["completion", "x"],
    ["demo", "--seed", "x"],
    ["demo", "--quick", "--seed", "-1"],
    ["demo", "--page", "/nowhere/at/all.html"],
    ["reproduce", "--part", "nonsense"],
    ["reproduce", "--images", "nowhere"],
    ["reproduce", "--computed", "-o", "nowhere"],
    ["--version"],
    ["nonsense"],
    [],
)


def command(r: Random, folder: Path) -> str:
    """Run a command on mutated files with odd options."""
    chosen = r.choice(COMMANDS)
    if chosen == "others":
        return run_command([*r.choice(OTHERS), *r.choice(((), ("--nonsense",), ("",)))])
    for name in _files():
        data = _files()[name]
        (folder / name).write_bytes(mutated(data, r) if r.random() < 0.5 else data)
    names = sorted(_files())
    likely = {"fit": ["fit.csv", "sequences.txt"], "metrics": ["set.csv", "rank.csv"]}
    likely["cluster"] = ["x.csv", "p.csv", "x.parquet", "x.csv.gz"]
    some = likely.get(chosen, names) if r.random() < 0.8 else names
    words = [chosen, str(folder / r.choice(some))]
    if chosen == "verify":
        words = [chosen, str(folder / "problem.txt"), str(folder / "bundle.npz")]
        if r.random() < 0.6:
            words = [chosen, str(folder / "p.csv"), str(folder / "clusters.cert")]
            words += ["--clusters", str(folder / "clusters.csv")] if r.random() < 0.5 else []
    elif chosen == "metrics":
        words.append(str(folder / r.choice(some)))
    elif chosen == "convert":
        words.append(str(folder / ("out" + r.choice(ENDINGS))))
    elif chosen == "fit":
        words += ["--as", r.choice(("map", "equivalence", "order")), "-o", str(folder / "out")]
        words += ["--label", "kind"] if r.random() < 0.8 else []
    elif chosen == "cluster" or (chosen == "solve" and r.random() < 0.5):
        words += ["-o", str(folder / ("out" + r.choice(ENDINGS)))]
        if chosen == "cluster" and r.random() < 0.3:
            words += ["--certificate", str(folder / "out.cert")]
    known = [p for p in cli.commands[chosen].params if p.opts[0].startswith("--")]
    for option in known:
        name = option.opts[0]
        if name in OPTIONS and r.random() < 0.06:
            words += [name, r.choice(OPTIONS[name] + TEXTS[:2])]
        elif name in ("--evidence", "--labels", "--previous") and r.random() < 0.1:
            words += [name, str(folder / r.choice(names))]
        elif name in PLAIN and r.random() < 0.2:
            words.append(name)
    if any(p.opts[0] == "--time-limit" for p in known) and "--time-limit" not in words:
        words += ["--time-limit", "0.2"]
    return run_command([w.replace("\0", "") for w in words])


def run_command(words: list[str]) -> str:
    """Run the command line in this process, and hold it to its ways."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["relatum", *words]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    said = err.getvalue()
    assert code in (0, 1, 2, 3, 4), f"exit code {code} of {words}"
    assert "Traceback" not in said, said
    if code == 2 and not said.startswith("Usage: "):
        assert said.startswith("relatum: "), (words, said)
        assert said.count("\n") == 1, (words, said)
        assert len(said) < 1500, (words, said)
    if code == 2:
        raise Refused
    return f"code {code}"


class Refused(Exception):  # noqa: N818
    """The command said what is wrong, as it should."""


def listing(folder: Path) -> set[str]:
    """Return the files in a folder."""
    return set(os.listdir(folder))  # noqa: PTH208
