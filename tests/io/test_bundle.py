"""Bundles come back as they were, are checked, and are written whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.io.bundle import fingerprint, load_estimate, save_estimate
from relatum.testing import random_problems


@pytest.mark.parametrize(
    "name", ["RELATIONS", "MAPS", "EQUIVALENCES", "LINEAR_ORDERS", "WEAK_ORDERS", "PREORDERS"]
)
def test_round_trip_of_every_kind(tmp_path, name):
    for number, problem in enumerate(random_problems(getattr(rt, name), 12, seed=5)):
        estimate = rt.infer(problem, prove=True)
        path = tmp_path / f"{number}.npz"
        save_estimate(path, problem, estimate)
        again = load_estimate(path, problem)
        assert again.relation == estimate.relation
        assert type(again.relation) is type(estimate.relation)
        assert (again.value, again.bound) == (estimate.value, estimate.bound)
        assert again.status is estimate.status
        assert again.message == estimate.message
        assert rt.verify(problem, again)


def test_proofs_with_branches_and_parts_survive(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(16, 16))
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PARTIAL_ORDERS):
        problem = rt.Problem(scores, feasible & rt.evidence(related=[(0, 1)]))
        estimate = rt.infer(problem, prove=True, time_limit=30)
        save_estimate(tmp_path / "e.npz", problem, estimate)
        again = load_estimate(tmp_path / "e.npz", problem)
        assert rt.verify(problem, again)
        assert again.certificate.counts() == estimate.certificate.counts()


def test_a_bundle_of_another_problem_is_refused(tmp_path):
    first = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    second = rt.Problem([1.0, 2.0, -3.5], rt.EQUIVALENCES)
    third = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    assert len({fingerprint(p) for p in (first, second, third)}) == 3
    save_estimate(tmp_path / "e.npz", first, rt.infer(first))
    for other in (second, third):
        with pytest.raises(DataError, match="another problem"):
            load_estimate(tmp_path / "e.npz", other)


def test_files_that_are_no_bundles(tmp_path):
    with pytest.raises(DataError, match="no file"):
        load_estimate(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", manifest=np.frombuffer(b"{}", np.uint8))
    whole = tmp_path / "whole.npz"
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    save_estimate(whole, problem, rt.infer(problem))
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:-40])
    for name in ("text.npz", "other.npz", "cut.npz"):
        with pytest.raises(DataError, match="not a bundle"):
            load_estimate(tmp_path / name)


def test_tampering_with_the_file_is_caught(tmp_path):
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    save_estimate(tmp_path / "e.npz", problem, rt.infer(problem, prove=True))
    with np.load(tmp_path / "e.npz") as archive:
        arrays = dict(archive)
    manifest = json.loads(arrays["manifest"].tobytes())
    manifest["estimate"]["value"] += 1
    manifest["estimate"]["bound"] += 1
    arrays["manifest"] = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
    np.savez(tmp_path / "forged.npz", **arrays)
    assert not rt.verify(problem, load_estimate(tmp_path / "forged.npz", problem))
