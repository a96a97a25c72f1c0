"""Joint problems are read pair by pair as their definition says, or refused with the way out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import relatum as rt
from relatum.errors import DataError, EvidenceError
from relatum.joint.inputs import read_joint_problem

KNOWN = rt.evidence(related=[(0, 1)], unrelated=[(1, 2)])
LOGISTIC = rt.LogisticMeasure(1.0)


def test_known_pairs_weigh_one_and_others_what_is_said():
    classes = np.array([[0, 1, 2], [1, 0, -1], [2, 0, 1]])  # pair 12 has no class
    table, learner, known = read_joint_problem(
        classes, rt.EQUIVALENCES, evidence=KNOWN, unknown_weight=0.25
    )
    assert table.shape == (3, 3)
    weights = np.asarray(table.weights).reshape(3, 3)
    assert weights[0, 1] == 1.0
    assert weights[0, 2] == 1.0  # follows: 0 is with 1, and 1 is not with 2
    only = np.asarray(table.known_weights).reshape(3, 3)
    assert set(np.unique(only)) <= {0.0, 1.0}
    assert ((weights == only) | (only == 0)).all()
    assert type(learner) is type(known)


@pytest.mark.parametrize("layout", ["matrix", "triangle"])
def test_features_of_pairs_by_matrix_and_by_triangle(layout):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 4, 2)) if layout == "matrix" else rng.normal(size=(6, 2))
    table, learner, _ = read_joint_problem(x, rt.EQUIVALENCES, measure=LOGISTIC, evidence=KNOWN)
    assert table.shape == (4, 4)
    assert len(table.weights) == (16 if layout == "matrix" else 6)
    assert learner is not None


@pytest.mark.parametrize("thin", [False, True])
def test_features_of_elements_make_a_pair_with_every_label(thin):
    x = np.eye(5)
    known = rt.evidence(related=[(0, 2), (1, 0)])
    given = sparse.csr_array(x) if thin else x
    table, _, _ = read_joint_problem(given, rt.MAPS, measure=LOGISTIC, evidence=known)
    assert table.shape == (5, 3)  # labels 0, 1, 2 are known of
    table, _, _ = read_joint_problem(given, rt.MAPS, measure=LOGISTIC, evidence=known, n_labels=4)
    assert table.shape == (5, 4)


@pytest.mark.parametrize(
    ("feasible", "why"),
    [
        (rt.EQUIVALENCES, "relating everything"),
        (rt.LINEAR_ORDERS, "an order and its reverse"),
        (rt.MAPS, "any exchange of the labels"),
    ],
)
def test_without_evidence_the_answer_would_say_nothing(feasible, why):
    with pytest.raises(EvidenceError, match=why):
        read_joint_problem(np.zeros((3, 3), int), feasible)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (np.zeros((3, 3)), {}, "Classes of pairs are integers"),
        (np.full((3, 3), -1), {}, "at least one pair has one"),
        (np.full((3, 3), -2), {}, "numbered from 0"),
        (np.zeros((3, 3), int), {"unknown_weight": -1}, "unknown_weight must be"),
        (np.zeros((3, 3), int), {"balance": "even"}, "balance must be"),
        (np.zeros((3, 3), int), {"measure": 7}, "measure must be a LogisticMeasure"),
        (np.full((3, 3, 1), np.nan), {"measure": LOGISTIC}, "finite numbers"),
        (sparse.csr_array(np.eye(3)), {"measure": LOGISTIC}, "between two sets"),
    ],
)
def test_what_cannot_be_read_is_refused(given, options, message):
    with pytest.raises(DataError, match=message):
        read_joint_problem(given, rt.EQUIVALENCES, evidence=KNOWN, **options)


def test_sets_are_values():
    with pytest.raises(DataError, match="feasible must be a value"):
        read_joint_problem(np.zeros((3, 3), int), "equivalences", evidence=KNOWN)
    with pytest.raises(DataError, match="evidence must be a value"):
        read_joint_problem(np.zeros((3, 3), int), rt.EQUIVALENCES, evidence=[(0, 1)])
