"""Spools: what goes in comes out, from memory and from files; workspaces tell and time."""

from __future__ import annotations

import numpy as np
import pytest

from relatum.pair_tables.on_duckdb.store import BYTES, Spool, Workspace
from relatum.pair_tables.options import Plan, Settings


@pytest.mark.parametrize("memory", [0, 40 * BYTES, 1 << 20])
def test_pairs_come_out_in_order(tmp_path, memory):
    rng = np.random.default_rng(0)
    parts = [
        (rng.integers(0, 99, k), rng.integers(0, 99, k), rng.normal(size=k)) for k in (30, 0, 50)
    ]
    spool = Spool(tmp_path / "pairs.bin", memory)
    for part in parts:
        spool.append(*part)
    whole = [np.concatenate([p[k] for p in parts]) for k in range(3)]
    for found, expected in zip(spool.load(), whole, strict=True):
        assert found.tolist() == expected.tolist()
    batches = list(spool.batches(7))
    assert np.concatenate([b[2] for b in batches]).tolist() == whole[2].tolist()
    assert (tmp_path / "pairs.bin").exists() == (memory < 80 * BYTES)
    spool.clear()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_spool_loads(tmp_path):
    assert [len(a) for a in Spool(tmp_path / "none.bin", 9).load()] == [0, 0, 0]


def test_a_workspace_tells_of_its_stages_and_times_them(tmp_path):
    told = []
    plan = Plan(Settings(), memory_limit="8MB", threads=3, monitor=lambda *step: told.append(step))
    space = Workspace.of(plan, tmp_path)
    assert (space.memory, space.share, space.threads) == (8 * 10**6, 10**6, 3)
    with space.stage("read"):
        space.tell("read", 1, 2)
    with pytest.raises(KeyError), space.stage("solve"):
        raise KeyError
    assert told == [("read", 0, 0), ("read", 1, 2), ("solve", 0, 0)]
    assert list(space.seconds) == ["read", "solve"]
    assert all(seconds >= 0 for seconds in space.seconds.values())
    Workspace(tmp_path, 80).tell("read", 0, 0)  # nobody listens
