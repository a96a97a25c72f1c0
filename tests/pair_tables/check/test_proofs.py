"""Proofs of parts: written if they hold, and refused if they are of anything else."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CertificateError
from relatum.io import save_estimate
from relatum.pair_tables.check.proofs import check_stored, write_proof
from relatum.proof import Certificate, Leaf


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(14, 1)
    scores = 3 * rng.normal(size=len(i))
    problem = rt.Problem.from_pairs(i, j, scores, n=14, background=-1.0, feasible=rt.EQUIVALENCES)
    return problem, rt.infer(problem, prove=True)


def test_a_proof_is_checked_again(tmp_path, case):
    problem, found = case
    path, labels = tmp_path / "0.npz", found.relation.labels
    gap = write_proof(path, problem, labels, found.certificate)
    assert 0 <= gap < 1e-5
    check_stored(path, problem, labels, gap)
    with pytest.raises(CertificateError, match="more than the gap"):
        check_stored(path, problem, np.arange(14), 0.5)
    other = rt.Problem.from_pairs([0], [1], [1.0], n=14, feasible=rt.EQUIVALENCES)
    with pytest.raises(CertificateError, match="cannot be read"):
        check_stored(path, other, labels, gap)
    path.write_bytes(b"PK, but nothing else")
    with pytest.raises(CertificateError, match="cannot be read"):
        check_stored(path, problem, labels, gap)


def test_what_proves_nothing_is_not_written(tmp_path, case):
    problem, found = case
    path, labels = tmp_path / "0.npz", found.relation.labels
    assert write_proof(path, problem, labels, Certificate(found.value, Leaf())) is None
    assert not path.exists()


def test_a_bundle_without_a_proof_of_its_bound_is_refused(tmp_path, case):
    problem, found = case
    path = tmp_path / "0.npz"
    save_estimate(path, problem, replace(found, certificate=Certificate(found.value, Leaf())))
    with pytest.raises(CertificateError, match="above the claimed"):
        check_stored(path, problem, found.relation.labels, 0.0)
    empty = rt.Estimate(rt.Status.FEASIBLE, found.relation, found.value, math.inf)
    save_estimate(path, problem, empty)
    with pytest.raises(CertificateError, match="empty"):
        check_stored(path, problem, found.relation.labels, 0.0)
