"""What is written is read back the same: random contents, and the files of the data folder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from relatum import io
from relatum.errors import DataError

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("round_trips")


@st.composite
def listed_pairs(draw, optimum=False):
    n = draw(st.integers(2, 12))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = np.array(draw(st.lists(pair, max_size=20)), dtype=np.int64).reshape(-1, 2)
    scores = np.array(draw(st.lists(NUMBERS, min_size=len(pairs), max_size=len(pairs))))
    best = draw(st.none() | NUMBERS) if optimum else None
    return io.ListedPairs(n, pairs[:, 0], pairs[:, 1], scores.reshape(-1), best)


@st.composite
def rankings(draw, kind):
    n = draw(st.integers(1, 7))
    rows = draw(st.integers(0, 5))
    table = []
    for _ in range(rows):
        if kind.startswith("s"):
            row = np.array(draw(st.permutations(range(n))))
        else:
            row = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
        if kind.endswith("i"):
            row[np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))] = -1
        places = np.unique(row[row >= 0])
        table.append(np.where(row >= 0, np.searchsorted(places, row), -1))
    counts = draw(st.lists(st.integers(0, 99), min_size=rows, max_size=rows))
    names = draw(st.lists(NAMES, min_size=n, max_size=n))
    ranks = np.array(table, dtype=np.int64).reshape(-1, n)
    return io.Rankings(ranks, np.array(counts, dtype=float), tuple(names), draw(NAMES))


def _same_pairs(a: io.ListedPairs, b: io.ListedPairs) -> None:
    assert (a.n, a.optimum) == (b.n, b.optimum)
    for x, y in zip(a[1:4], b[1:4], strict=True):
        np.testing.assert_array_equal(x, y)


def _same_rankings(a: io.Rankings, b: io.Rankings) -> None:
    assert (a.names, a.title) == (b.names, b.title)
    np.testing.assert_array_equal(a.ranks, b.ranks)
    np.testing.assert_array_equal(a.counts, b.counts)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 9).flatmap(lambda n: arrays.arrays(np.float64, (n, n), elements=NUMBERS)))
def test_lolib(folder, matrix):
    np.fill_diagonal(matrix, 0)
    io.write_lolib(folder / "x.mat.gz", matrix)
    np.testing.assert_array_equal(io.read_lolib(folder / "x.mat.gz"), matrix)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda n: arrays.arrays(np.float64, n * (n - 1) // 2, elements=NUMBERS)
    )
)
def test_cplib(folder, scores):
    io.write_cplib(folder / "x.txt", scores)
    np.testing.assert_array_equal(io.read_cplib(folder / "x.txt"), scores)


@settings(max_examples=50, deadline=None)
@given(st.lists(listed_pairs(optimum=True), min_size=1, max_size=3))
def test_multicut(folder, instances):
    io.write_multicut(folder / "x.txt", instances)
    again = io.read_multicut(folder / "x.txt")
    assert len(again) == len(instances)
    for a, b in zip(instances, again, strict=True):
        _same_pairs(a, b)


@settings(max_examples=50, deadline=None)
@given(listed_pairs())
def test_signed_graphs_and_pace(folder, pairs):
    io.write_signed_graph(folder / "x.txt", pairs)
    _same_pairs(io.read_signed_graph(folder / "x.txt"), pairs)
    io.write_pace(folder / "x.gr", pairs.n, pairs.i, pairs.j)
    n, i, j = io.read_pace(folder / "x.gr")
    assert n == pairs.n
    np.testing.assert_array_equal(np.column_stack([i, j]), np.column_stack([pairs.i, pairs.j]))


@pytest.mark.parametrize("kind", ["soc", "soi", "toc", "toi"])
def test_preflib(folder, kind):
    @settings(max_examples=40, deadline=None)
    @given(rankings(kind))
    def check(given_rankings):
        io.write_preflib(folder / f"x.{kind}", given_rankings)
        _same_rankings(io.read_preflib(folder / f"x.{kind}"), given_rankings)

    check()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_pair_tables(folder, ending):
    if ending in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    ids = st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=8)
    whole = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=8)

    @settings(max_examples=40, deadline=None)
    @given(ids | whole, st.data())
    def check(pairs, data):
        scores = data.draw(
            st.lists(st.floats(allow_nan=False), min_size=len(pairs), max_size=len(pairs))
        )
        left, right = (np.array([p[k] for p in pairs], dtype=object) for k in (0, 1))
        io.write_pair_table(folder / f"x.{ending}", left, right, scores)
        table = io.read_pair_table(folder / f"x.{ending}")
        assert np.asarray(table["match_weight"]).tolist() == scores
        got = [np.asarray(table[f"unique_id_{side}"]).tolist() for side in "lr"]
        written = [left.tolist(), right.tolist()]
        # text that looks like numbers throughout is read as numbers from text files
        assert got == written or [[str(x) for x in c] for c in got] == written

    check()


@settings(max_examples=40, deadline=None)
@given(arrays.arrays(np.float64, arrays.array_shapes(min_dims=2, max_dims=2), elements=NUMBERS))
def test_matrices(folder, matrix):
    for name in ("x.npy", "x.txt"):
        io.write_matrix(folder / name, matrix)
        np.testing.assert_array_equal(io.read_matrix(folder / name), matrix)


def test_what_writers_refuse(tmp_path):
    loop = io.ListedPairs(2, np.array([0]), np.array([1]), np.array([np.inf]))
    tied = io.Rankings(np.array([[0, 0]]), np.array([1.0]), ("a", "b"))
    part = io.Rankings(np.array([[0, -1]]), np.array([1.0]), ("a", "b"))
    odd = io.Rankings(np.array([[0, 1]]), np.array([0.5]), ("a", "b"))
    lined = io.Rankings(np.array([[0, 1]]), np.array([1.0]), ("a\nb", "b"))
    cases = [
        (lambda p: io.write_lolib(p, [[1.0, 2.0]]), "square matrix"),
        (lambda p: io.write_lolib(p, [[0, np.nan], [1, 0]]), "Entry 1 of the matrix is nan"),
        (lambda p: io.write_cplib(p, [1.0, 2.0]), "upper triangle"),
        (lambda p: io.write_multicut(p, []), "one instance or more"),
        (lambda p: io.write_signed_graph(p, loop), "finite"),
        (lambda p: io.write_pace(p, 2, [0], [2]), "nodes 0 ... 1".replace(".", "[.]")),
        (lambda p: io.write_preflib(p, tied), "ends in .soc".replace(".", "[.]")),
        (lambda p: io.write_preflib(p.with_suffix(".soc"), tied), "tied; use the ending .toc"),
        (lambda p: io.write_preflib(p.with_suffix(".toc"), part), "use the ending .soi or .toi"),
        (lambda p: io.write_preflib(p.with_suffix(".soc"), odd), "whole number of voters"),
        (lambda p: io.write_preflib(p.with_suffix(".soc"), lined), "a name is one line"),
        (lambda p: io.write_pair_table(p, ["a"], ["b"], [1.0, 2.0]), "one entry per pair"),
        (lambda p: io.write_matrix(p, [1.0]), "rows and columns"),
    ]
    for write, message in cases:
        with pytest.raises(DataError, match=message):
            write(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_real_files(data_folder, tmp_path):
    """Every small file of the data folder comes back as it was read."""

    def small(pattern, most=300_000):
        found = [p for p in sorted(data_folder.glob(pattern)) if p.stat().st_size < most]
        assert found, pattern
        return found[:12]

    for path in small("lolib/*/*"):
        matrix = io.read_lolib(path)
        io.write_lolib(tmp_path / "x", matrix)
        np.testing.assert_array_equal(io.read_lolib(tmp_path / "x"), matrix)
    for path in [*small("cplib/*/*.txt"), *small("modularity/*.txt")]:
        scores = io.read_cplib(path)
        io.write_cplib(tmp_path / "x", scores)
        np.testing.assert_array_equal(io.read_cplib(tmp_path / "x"), scores)
    for path in small("multicut/*.gz"):
        instances = io.read_multicut(path)
        io.write_multicut(tmp_path / "x.gz", instances)
        for a, b in zip(instances, io.read_multicut(tmp_path / "x.gz"), strict=True):
            _same_pairs(a, b)
    for path in small("signed/*.gz"):
        pairs = io.read_signed_graph(path)
        io.write_signed_graph(tmp_path / "x.gz", pairs)
        _same_pairs(io.read_signed_graph(tmp_path / "x.gz"), pairs)
    for path in small("preflib/*/*.[st]o[ci]"):
        given_rankings = io.read_preflib(path)
        io.write_preflib(tmp_path / f"x{path.suffix}", given_rankings)
        _same_rankings(io.read_preflib(tmp_path / f"x{path.suffix}"), given_rankings)
