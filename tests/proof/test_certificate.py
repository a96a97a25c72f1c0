"""Certificates: rows written down again from family and index."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import (
    FAMILIES,
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Family,
    Fix,
    Imply,
    Leaf,
    register_family,
)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_rows_equal_their_formulas(shape):
    names = ["has_image", "has_preimage", "unique_preimage"]
    if shape[0] == shape[1]:
        names += ["transitive", "symmetric", "antisymmetric", "connex"]
    every = naive.all_rows(names, *shape, cap=2)
    assert {family for family, *_ in every} == {*names, "at_most"}
    for family, index, terms, rhs in every:
        rows = FAMILIES[family].rows(np.array([index]), shape)
        written = {}
        for a, b, k in zip(
            rows.a.tolist(), rows.b.tolist(), rows.coefficient.tolist(), strict=True
        ):
            written[a, b] = written.get((a, b), 0) + k
        assert written == terms
        assert rows.rhs.tolist() == [rhs]
    for family in {f for f, *_ in every}:  # many rows at once are the rows one by one
        index = np.array([i for f, i, *_ in every if f == family])
        rows = FAMILIES[family].rows(index, shape)
        assert len(rows) == len(index)
        assert rows.row_of_term().tolist() == sorted(rows.row_of_term().tolist())
        assert (
            np.bincount(rows.row_of_term(), minlength=len(rows)).tolist()
            == np.diff(rows.start).tolist()
        )


def test_every_family_says_its_row():
    for name, family in FAMILIES.items():
        assert family.name == name
        assert "<=" in family.doc


def test_a_family_is_registered_once():
    with pytest.raises(CertificateError, match="'transitive' is registered already"):
        register_family(Family("transitive", 3, FAMILIES["transitive"].rows, lambda *a: True, ""))
    assert FAMILIES["transitive"].doc


def test_cuts_need_one_multiplier_a_row():
    with pytest.raises(CertificateError, match="2 rows but 1 multipliers"):
        Cuts("symmetric", np.array([[0, 1], [1, 0]]), np.ones(1))
    cuts = Cuts("symmetric", np.array([[0, 1], [1, 0]]), np.array([0.0, 2.0]))
    assert cuts.positive().index.tolist() == [[1, 0]]
    assert len(cuts) == 2


def test_counts_for_people():
    cuts = (Cuts("symmetric", np.array([[0, 1]]), np.ones(1)),)
    pair, yes = np.array([[0, 1]]), np.array([True])
    proof = Contract(
        np.zeros(2),
        Decompose(
            (
                (np.array([0]), 0.0, Branch((0, 0), Leaf(cuts), Leaf())),
                (np.array([1]), 0.0, Fix(cuts, pair, yes, Imply((), pair, pair, yes, Leaf()))),
            )
        ),
    )
    counts = Certificate(1.0, proof).counts()
    assert counts == {"leaves": 3, "branches": 1, "fixed": 2, "symmetric": 2}


def test_certificates_pickle_and_still_prove():
    rng = np.random.default_rng(0)
    problem = rt.Problem(rng.normal(size=(6, 6)), rt.PREORDERS)
    e = rt.infer(problem, prove=True)
    again = pickle.loads(pickle.dumps(e))
    assert rt.verify(problem, again)
    assert again.certificate.counts() == e.certificate.counts()
