"""A small table with true entities, its records, and sessions on it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import relatum as rt

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb", reason="install relatum[tables]")


def make_table(seed=0, n=60, size=4, noise=3.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n // size, n)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(truth[i] == truth[j], 0.95, 0.06)
    i, j = i[keep], j[keep]
    bits = np.where(truth[i] == truth[j], 3.0, -3.0) + rng.normal(0, noise, len(i))
    names = np.array([f"r{k:03d}" for k in range(n)], dtype=object)
    pairs = pa.table({"unique_id_l": names[i], "unique_id_r": names[j], "match_weight": bits})
    records = pa.table(
        {
            "unique_id": names,
            "name": [f"person {t}" for t in truth],
            "town": [None if k % 7 == 0 else f"town {t % 3}" for k, t in enumerate(truth)],
        }
    )
    return SimpleNamespace(truth=truth, pairs=pairs, records=records, names=names)


@pytest.fixture(scope="session")
def table():
    found = make_table()
    found.clusters = rt.cluster_pairs(found.pairs, confidence=True)
    return found


@pytest.fixture
def opened(table, tmp_path):
    """Return how a session is opened on the table, by default on the same file of answers."""
    from relatum.review import Session

    def open_(clusters=None, records=None, answers="answers.csv", who="ann"):
        known = table.records if records is None else records
        return Session(
            clusters or table.clusters, records=known, answers=tmp_path / answers, who=who
        )

    return open_
