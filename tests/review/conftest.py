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


@pytest.fixture(scope="session")
def small():
    """Return a table whose entities are in several components: half of the true scores are low."""
    from relatum.review import Session

    rng = np.random.default_rng(3)
    n = 24
    truth = rng.integers(0, 8, n)
    i, j = np.triu_indices(n, 1)
    same = truth[i] == truth[j]
    keep = same | (rng.random(len(i)) < 0.15)
    i, j, same = i[keep], j[keep], same[keep]
    bits = np.where(same, rng.normal(0.5, 3.0, len(i)), rng.normal(-4.0, 2.0, len(i)))
    pairs = pa.table({"unique_id_l": i, "unique_id_r": j, "match_weight": bits})
    clusters = rt.cluster_pairs(pairs, confidence=True)

    def labels(session):
        names = np.array(clusters.origin.whole["cluster_id"].to_pylist())
        out = np.unique(names, return_inverse=True)[1]
        for solved in session.touched():
            out[solved.base.elements] = out.max() + 1 + solved.labels
        return out

    return SimpleNamespace(
        truth=truth[np.unique([i, j])], pairs=pairs, clusters=clusters, bits=bits, labels=labels,
        listed=(np.searchsorted(np.unique([i, j]), i), np.searchsorted(np.unique([i, j]), j)),
        opened=lambda answers, **given: Session(clusters, answers=answers, who="ann", **given),
    )  # fmt: skip
