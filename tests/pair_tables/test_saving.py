"""Saved clusters answer as those that were saved; other files are refused in one line."""

from __future__ import annotations

import gc
import shutil
import zipfile

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CertificateError, DataError
from relatum.pair_tables.check.container import is_archive

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")
pd = pytest.importorskip("pandas")

from tests.pair_tables.test_origin import planted  # noqa: E402

from relatum.pair_tables import saving  # noqa: E402
from relatum.pair_tables.saving import StoredScores  # noqa: E402


def same_answers(first, second):
    ids = first.origin.ids(np.arange(len(first.origin.roots)))
    assert second.summary == first.summary
    for own in ids[::7]:
        a, b = first.problem(own), second.problem(own)
        assert a.ids.tolist() == b.ids.tolist()
        assert a.feasible == b.feasible
        assert np.array_equal(a.dense(), b.dense())
        assert first.estimate(own).relation == second.estimate(own).relation
        assert first.estimate(own).bound == second.estimate(own).bound
    assert str(first.explain(ids[0], ids[-1])) == str(second.explain(ids[0], ids[-1]))
    assert first.uncertain(5) == second.uncertain(5)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "sources"])
def test_frames_are_saved_with_their_pairs(kind, tmp_path):
    pairs = planted(0)
    if kind == "pandas":
        pairs = pairs.to_pandas()
    elif kind == "polars":
        pairs = pytest.importorskip("polars").from_arrow(pairs)
    elif kind == "sources":
        side = pa.array(["x", "y"] * (len(pairs) // 2) + ["x"] * (len(pairs) % 2))
        pairs = pairs.append_column("source_dataset_l", side)
        pairs = pairs.append_column("source_dataset_r", side)
    found = rt.cluster_pairs(pairs, certificate=tmp_path / "c.cert", details=kind == "arrow")
    found.save(tmp_path / "c.clusters")
    (tmp_path / "c.cert").unlink()
    again = rt.load_clusters(str(tmp_path / "c.clusters"))
    assert type(again.table) is type(found.table)
    assert again.table.equals(found.table)
    same_answers(found, again)
    assert again.verify()
    assert rt.cluster_pairs(pairs, previous=again).summary.components_solved == 0


def test_what_is_known_is_saved(tmp_path):
    pairs = planted(1)
    names = sorted({*pairs["unique_id_l"].to_pylist(), *pairs["unique_id_r"].to_pylist()})
    asked = []

    def score(a, b):
        asked.append(len(a))
        return np.array([float(int(x[1:]) + int(y[1:])) % 5 - 4 for x, y in zip(a, b, strict=True)])

    known = {
        "evidence": {"related": [(names[0], names[50])], "unrelated": [(names[1], names[2])]},
        "one_per_group": {name: k % 7 for k, name in enumerate(names)},
        "score_missing": score,
        "max_size": 5,
        "offset": 0.25,
        "background": -3.0,
    }
    found = rt.cluster_pairs(pairs, **known, certificate=tmp_path / "c.cert")
    found.save(tmp_path / "c.clusters")
    again = rt.load_clusters(tmp_path / "c.clusters")
    count = len(asked)
    same_answers(again, again)
    assert len(asked) == count  # the callable is not there any more
    same_answers(found, again)
    assert again.verify()


def test_pairs_in_files_are_referred_to(tmp_path):
    from pyarrow import parquet

    folder = tmp_path / "here"
    folder.mkdir()
    parquet.write_table(planted(2), folder / "pairs.parquet")
    found = rt.cluster_pairs(folder / "pairs.parquet")
    found.save(folder / "c.clusters")
    found.save(folder / "copy.clusters", pairs="copy")
    size, copied = ((folder / n).stat().st_size for n in ("c.clusters", "copy.clusters"))
    assert size < copied
    same_answers(found, rt.load_clusters(folder / "c.clusters"))
    moved = tmp_path / "there"
    shutil.move(folder, moved)
    same = rt.load_clusters(moved / "c.clusters")
    own = same.table["unique_id"].to_pylist()[0]
    assert own in list(same.problem(own).ids)
    (moved / "pairs.parquet").unlink()
    lost = rt.load_clusters(moved / "c.clusters")
    assert lost.table.equals(found.table)
    with pytest.raises(DataError, match="there are none now"):
        lost.problem(own)
    assert own in list(rt.load_clusters(moved / "copy.clusters").problem(own).ids)


def test_temporary_files_go_with_the_clusters(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = rt.cluster_pairs(planted(3))
    found.save(tmp_path / "c.clusters")
    again = rt.load_clusters(tmp_path / "c.clusters")
    assert len(list(tmp_path.glob("relatum-*"))) == 1
    del again
    gc.collect()
    assert not list(tmp_path.glob("relatum-*"))


def test_wrong_names_are_refused_and_nothing_is_written(tmp_path):
    found = rt.cluster_pairs(planted(4))
    with pytest.raises(DataError, match=r"to a file \.clusters"):
        found.save(tmp_path / "c.zip")
    with pytest.raises(DataError, match='"auto", "copy" or "reference"'):
        found.save(tmp_path / "c.clusters", pairs="all")
    with pytest.raises(DataError, match="needs pairs in files"):
        found.save(tmp_path / "c.clusters", pairs="reference")
    with pytest.raises(DataError, match="cannot be written"):
        found.save(tmp_path / "no folder" / "c.clusters")
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="There is no file"):
        rt.load_clusters(tmp_path / "c.clusters")


def test_foreign_and_later_files_are_refused(tmp_path):
    found = rt.cluster_pairs(planted(5), certificate=tmp_path / "c.cert")
    found.save(tmp_path / "c.clusters")
    assert is_archive(tmp_path / "c.cert")
    assert not is_archive(tmp_path / "c.clusters")
    (tmp_path / "text.clusters").write_text("unique_id,cluster_id\n")
    for name in ("text.clusters", "c.cert"):
        with pytest.raises(DataError, match="is not a file of saved clusters of version 1"):
            rt.load_clusters(tmp_path / name)
    data = (tmp_path / "c.clusters").read_bytes()
    at = data.index(b'"version": 1')
    (tmp_path / "c.clusters").write_bytes(data)
    later = tmp_path / "later.clusters"
    with zipfile.ZipFile(tmp_path / "c.clusters") as old, zipfile.ZipFile(later, "w") as new:
        for info in old.infolist():
            new.writestr(info, old.read(info).replace(b'"version": 1,', b'"version": 2,'))
    assert at > 0
    with pytest.raises(DataError, match="its version is 2"):
        rt.load_clusters(later)


def test_damage_anywhere_is_noticed(tmp_path):
    found = rt.cluster_pairs(planted(6), one_per_group={"r001": 1, "r002": 1})
    path, other = tmp_path / "c.clusters", tmp_path / "d.clusters"
    found.save(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        harmed = bytearray(data)
        place = int(rng.integers(len(data)))
        harmed[place] ^= 1 << int(rng.integers(8))
        other.write_bytes(harmed)
        try:
            again = rt.load_clusters(other)
        except DataError:
            refused += 1
        else:  # a byte that nobody reads, such as a time
            assert again.table.equals(found.table)
    assert refused > 40
    other.write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="not a file of saved clusters"):
        rt.load_clusters(other)


def test_stored_scores_are_looked_up():
    rows = np.array([(0, 2, -1.5)], dtype=[("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
    score = StoredScores(lambda k: [f"n{x}" for x in k], rows, 3)
    assert score(["n0", "n2"], ["n2", "n0"]).tolist() == [-1.5, -1.5]
    assert np.isnan(score(["n0"], ["n1"])).all()


@pytest.mark.parametrize(
    "place",
    [
        {"path": "https://example.org/pairs.parquet"},
        {"path": "s3://bucket/*.parquet", "bytes": 0},
        {"path": "pairs.parquet"},
        {"path": 7},
        {"beside": "../../pairs.parquet"},
        {"beside": "/etc/pairs.parquet"},
        {"beside": "http://example.org/p.parquet"},
        {"bytes": 0},
        {"bytes": "12"},
    ],
)
def test_pairs_are_only_looked_for_in_files_of_this_machine(place):
    whole = {"path": "/somewhere/pairs.parquet", "beside": "pairs.parquet", "bytes": 12}
    saving._require_local(whole)
    with pytest.raises(CertificateError, match="files of this machine"):
        saving._require_local({**whole, **place})
