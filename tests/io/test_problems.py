"""Files of every format give the problem they state; malformed ones a line of explanation."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.problems import FORMATS, Request, parse_set, read_evidence, read_problem


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


SMALL = {
    "order.lop": "3\n0 5 1\n2 0 4\n3 1 0\n",
    "cliques.txt": "3\n2 -1\n4\n",
    "cut.txt.gz": "3 2 -1.5\n0 1 2.0\n1 2 -1.5\n",
    "signed.txt": "3 2\n0 1 2\n1 2 -1\n",
    "edit.gr": "c comment\np cep 3 2\n1 2\n2 3\n",
    "pairs.csv": "unique_id_l,unique_id_r,match_weight\nann,bob,2.5\nbob,cy,-1\n",
    "named.csv": "x,y,score\n7,9,2.5\n9,11,-1\n",
    "matrix.npy": "",
}


@pytest.mark.parametrize("name", SMALL)
def test_formats_are_told_apart(tmp_path, name):
    path = _file(tmp_path, name, SMALL[name])
    if name == "matrix.npy":
        np.save(path, [[1.0, 2.0], [0.5, 0.0]])
    problem = read_problem(Request(path))
    estimate = rt.infer(problem, prove=True)
    # 0 < 1 < 2: 5 + 1 + 4; cliques 2 - 1 + 4; the cut keeps 01; ...; maps take the best
    expected = {
        "order.lop": 10.0,
        "cliques.txt": 5.0,
        "cut.txt.gz": 2.0,
        "signed.txt": 2.0,
        "edit.gr": 1.0,
        "pairs.csv": 2.5,
        "named.csv": 2.5,
        "matrix.npy": 2.5,
    }
    assert estimate.value == expected[name]
    assert rt.verify(problem, estimate)


def test_tables_of_other_kinds_are_the_same(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    table = pa.table({"unique_id_l": ["a", "b"], "unique_id_r": ["b", "c"]})
    table = table.append_column("match_probability", pa.array([0.8, 0.25]))
    parquet.write_table(table, tmp_path / "p.parquet")
    feather.write_feather(table, tmp_path / "p.arrow")
    text = "unique_id_l\tunique_id_r\tmatch_probability\na\tb\t0.8\nb\tc\t0.25\n"
    _file(tmp_path, "p.tsv", text)
    for name in ("p.parquet", "p.arrow", "p.tsv"):
        problem = read_problem(Request(tmp_path / name, background=-2.0))
        assert problem.ids.tolist() == ["a", "b", "c"]
        assert problem.log_odds == pytest.approx([2.0, np.log2(1 / 3)])
        assert problem.background == -2.0


def test_sets_are_parsed():
    assert parse_set("equivalence") == rt.EQUIVALENCES
    assert parse_set("PREORDERS & connex&at_most(3)") == rt.WEAK_ORDERS & rt.at_most(3)
    with pytest.raises(DataError, match="no feasible set 'trees'"):
        parse_set("equivalence & trees")


def test_evidence_by_id_and_by_number(tmp_path):
    problem = read_problem(Request(_file(tmp_path, "pairs.csv", SMALL["pairs.csv"])))
    facts = _file(tmp_path, "facts.csv", "a,b,related\nann,bob,0\nbob,cy,yes\n")
    assert read_evidence(facts, problem) == rt.evidence(related=[(1, 2)], unrelated=[(0, 1)])
    for text, message in (
        ("a,b,related\nann,zoe,1\n", "line 2: the problem has no element 'zoe'"),
        ("a,b,related\nann,bob,maybe\n", "line 2: 'related' is 1 or 0"),
        ("a,b\n1,2\n", "three columns"),
        ("", "is empty"),
    ):
        with pytest.raises(DataError, match=message):
            read_evidence(_file(tmp_path, "bad.csv", text), problem)


@pytest.mark.parametrize(
    ("name", "format_", "text", "message"),
    [
        ("x.lop", None, "3\n1 2 3\n4 5\n", "9 numbers, but 5 follow"),
        ("x.lop", None, "2\n1 2\n3 four\n", "line 3: 'four' is not a finite number"),
        (
            "x.txt",
            "cplib",
            "3\n1 2\n",
            "line 2: 3 elements are announced, which have 3 pairs, but 2 follow",
        ),
        ("x.txt", "multicut", "3 2\n0 1 1.0\n", "2 edges are announced"),
        ("x.txt", "multicut", "3 1\n0 7 1.0\n", "line 2: elements are whole numbers"),
        ("x.txt", "signed", "3 1\n0 1\n", "line 2: a pair is written"),
        ("x.gr", None, "p cep 2 1\n1 3\n", "line 2: an edge joins two of the nodes 1 ... 2"),
        ("x.gr", None, "p cep 2 2\n1 2\n", "2 edges are announced, but 1 follow"),
        ("x.gr", None, "1 2\n", "expected the line 'p NAME n m'"),
        ("x.gr", None, "c only\n", "no line 'p NAME n m'"),
        ("x.csv", None, "unique_id_l,unique_id_r,match_weight\na,b,1\nb,c,x\n", "line 3: 'x'"),
        ("x.csv", None, "unique_id_l,unique_id_r,match_weight\na,b\n", "line 2: 3 columns"),
        ("x.csv", None, "", "is empty"),
        ("x.txt", "matrix", "1 2\n3\n", "line 2: 1 numbers, but 2 in the first row"),
        ("x.txt", "matrix", "1 b\n", "line 1: 'b' is not a finite number"),
        ("x.txt", "matrix", "", "is empty"),
        ("x.npy", None, "no array", "not an array of numpy"),
        ("x.parquet", None, "no table", "cannot be read"),
        ("x.txt", None, "one two three\n", "the format cannot be told"),
        ("x.txt", None, "\0" * 4096, "line 1: this is no text but binary data"),
        ("x.txt", "netcdf", "1\n", "no format 'netcdf'"),
    ],
)
def test_malformed_files(tmp_path, name, format_, text, message):
    path = _file(tmp_path, name, text)
    with pytest.raises(DataError, match=message):
        read_problem(Request(path, format=format_))


def test_wrong_encodings_and_missing_files(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("unique_id_l,unique_id_r,match_weight\nJosé,Ana,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="not text in UTF-8"):
        read_problem(Request(path))
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(b"3\n1 2 3\n")[:-6])
    with pytest.raises(DataError, match="cannot be read"):
        read_problem(Request(cut))
    for name in ("none.csv", "none.npy", "none.parquet", "none.txt"):
        with pytest.raises(DataError, match="There is no file"):
            read_problem(Request(tmp_path / name))


@pytest.mark.parametrize(
    ("file", "value"),
    [
        ("cplib/ABR/cars.txt", 1501.0),
        ("modularity/karate.txt", 5714.0),
        ("lolib/IO/be75oi", 111171.0),
    ],
)
def test_known_optima(data_folder, file, value):
    problem = read_problem(Request(data_folder / file))
    estimate = rt.infer(problem, prove=True)
    assert estimate.value == value or file.startswith("lolib")
    assert estimate.status is rt.Status.OPTIMAL
    if file.startswith("lolib"):  # stated with the common part of each pair taken off
        c = problem.dense()
        common = np.minimum(c, c.T)[np.triu_indices(len(c), 1)].sum()
        assert estimate.value - common == value


def test_known_optimum_of_a_multicut(data_folder):
    from relatum.io.multicut import read_multicut

    path = data_folder / "multicut" / "image-seg.txt.gz"
    stated = read_multicut(path)[3]
    problem = read_problem(Request(path, number=3))
    estimate = rt.infer(problem, prove=True)
    assert stated.log_odds.sum() - estimate.value == pytest.approx(stated.optimum, rel=1e-6)
    with pytest.raises(DataError, match="instances 0 ... 49".replace(".", "[.]")):
        read_problem(Request(path, number=50))


def test_every_format_is_tested():
    tested = {"lolib", "cplib", "multicut", "signed", "pace", "pairs", "matrix", "preflib"}
    assert set(FORMATS) == tested


def test_rankings_are_kemeny_problems(tmp_path):
    text = (
        "# FILE NAME: x.soc\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n"
        "# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n"
        "# ALTERNATIVE NAME 3: c\n2: 1,2,3\n1: 2,3,1\n"
    )
    problem = read_problem(Request(_file(tmp_path, "x.soc", text)))
    assert problem.ids.tolist() == ["a", "b", "c"]
    # a before b: 2 of 3 voters; a before c: 2; b before c: 3
    assert problem.dense()[0, 1] == 1
    assert problem.dense()[1, 2] == 3
    assert rt.infer(problem, prove=True).relation.order.tolist() == [0, 1, 2]
