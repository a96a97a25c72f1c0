"""What is kept: gaps that the checker will prove, and proofs only where it needs them."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.pair_tables import Component, Settings, solve_batch
from relatum.pair_tables.check.container import Archive
from relatum.pair_tables.check.gaps import Rules, provable_gaps, proves

pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb.keeping import Keeper  # noqa: E402
from relatum.pair_tables.on_duckdb.store import ROW  # noqa: E402


def component(seed, n, density=0.3):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    w = 3 * rng.normal(size=int(keep.sum())) + np.where(i[keep] // 5 == j[keep] // 5, 3.0, -1.0)
    return Component(n, i[keep], j[keep], w)


@pytest.mark.parametrize("n", [9, 40, 160])
def test_gaps_are_those_that_are_proved(tmp_path, n):
    batch, settings = component(n, n).batch(), Settings(-1.0)
    found = solve_batch(batch, settings)
    rules = Rules(-1.0, settings.cap)
    gaps = Keeper(tmp_path, settings).gaps(batch, found, np.arange(100, 100 + n))
    alone, _ = provable_gaps(batch, found.labels, rules)
    stored = [p.name for p in (tmp_path / "proofs").iterdir()]
    assert stored == (["100.npz"] if n > 128 else [])
    assert proves(batch, found.labels, rules, gaps)[0][0] == (n <= 128)
    assert gaps[0] < alone[0] if n > 128 else gaps[0] == alone[0]


def test_pairs_that_were_scored_are_kept_by_number(tmp_path):
    keeper, elements = Keeper(tmp_path, Settings()), np.array([9, 4, 7])
    none = np.empty(0, np.int64)
    keeper.keep_missing(0, (none, none, np.empty(0)), elements)
    keeper.keep_missing(1, (np.array([0, 1]), np.array([1, 2]), np.array([0.5, -1.0])), elements)
    assert [p.name for p in (tmp_path / "missing").iterdir()] == ["1.npy"]
    rows = np.load(tmp_path / "missing" / "1.npy")
    assert rows.dtype == ROW
    assert rows.tolist() == [(4, 9, 0.5), (4, 7, -1.0)]


def test_a_certificate_says_what_the_summary_says(tmp_path):
    pairs = pa.table({"a": [1, 2, 5], "b": [2, 3, 6], "p": [0.9, 0.8, 0.1]})
    names = {"left": "a", "right": "b", "probability": "p"}
    found = rt.cluster_pairs(pairs, certificate=tmp_path / "c", one_per_group={99: 1}, **names)
    archive = Archive(tmp_path / "c")
    said = archive.manifest
    assert (said["value"], said["bound"]) == (found.summary.value, found.summary.bound)
    assert said["columns"] == ["a", "b", "p", True]
    assert (said["elements"], said["components"]) == (5, 3)
    assert archive.names() == {"cluster.npy", "gaps.npy", "groups.npy"}
    assert archive.array("groups.npy", "<i4", (5,)).tolist() == [-1] * 5
    assert found.verify()
