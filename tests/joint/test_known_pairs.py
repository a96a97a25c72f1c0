"""What is known of pairs, and what they weigh."""

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError, EvidenceError, ProblemError
from relatum.joint.known_pairs import PairTable, layout_of


def test_consequences_of_evidence_are_known_pairs():
    known = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(2, 3)])
    table = PairTable((4, 4), "triangle", rt.EQUIVALENCES & known, unknown_weight=0.5)
    # 01 02 03 12 13 23
    assert table.state.tolist() == [1, 1, 0, 1, 0, 0]
    assert not table.unknown.any()
    table = PairTable((3, 3), "matrix", rt.LINEAR_ORDERS & rt.evidence(related=[(0, 1)]))
    assert table.state.reshape(3, 3).tolist() == [[1, 1, -1], [0, 1, -1], [-1, -1, 1]]
    table = PairTable((2, 3), "matrix", rt.MAPS & rt.evidence(related=[(0, 1)]), 0.25)
    assert table.weights.tolist() == [1, 1, 1, 0.25, 0.25, 0.25]


def test_balance_gives_both_kinds_the_same_weight():
    known = rt.evidence(related=[(0, 1)], unrelated=[(0, 2), (0, 3)])
    empty = np.eye(4, dtype=bool).ravel()
    table = PairTable((4, 4), "matrix", rt.EQUIVALENCES & known, 0.1, "balanced", empty)
    carried = ~empty
    yes = table.weights[(table.state == 1) & carried].sum()
    no = table.weights[(table.state == 0) & carried].sum()
    known_pairs = ((table.state >= 0) & carried).sum()
    assert yes == pytest.approx(no)
    assert yes + no == pytest.approx(known_pairs)
    assert set(table.weights[table.unknown]) == {0.1}
    with pytest.raises(EvidenceError, match="evidence of both kinds"):
        PairTable(
            (4, 4), "triangle", rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]), 1.0, "balanced"
        )


def test_conflicting_evidence_is_named():
    conflict = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(0, 2)])
    with pytest.raises(EvidenceError, match="0~1 and 1~2 given, 0~2 forbidden"):
        PairTable((3, 3), "triangle", rt.EQUIVALENCES & conflict)


def test_values_of_problems_agree_with_sums_over_pairs():
    rng = np.random.default_rng(0)
    known = rt.evidence(related=[(0, 1)])
    for feasible, relation in (
        (rt.EQUIVALENCES, rt.Partition([0, 0, 1, 1, 2])),
        (rt.LINEAR_ORDERS, rt.LinearOrder([1, 2, 0, 4, 3])),
    ):
        for layout, size in (("triangle", 10), ("matrix", 25)):
            table = PairTable((5, 5), layout, feasible & known)
            scores = rng.normal(size=size)
            value = table.problem(scores).value(relation)
            assert value == pytest.approx(scores @ table.targets(relation))


def test_layouts():
    assert layout_of((6,), rt.EQUIVALENCES) == ((4, 4), "triangle")
    assert layout_of((6,), rt.LINEAR_ORDERS) == ((4, 4), "triangle")
    assert layout_of((2, 3), rt.MAPS) == ((2, 3), "matrix")
    with pytest.raises(ProblemError, match=r"n \(n - 1\) / 2 entries"):
        layout_of((7,), rt.EQUIVALENCES)
    with pytest.raises(ProblemError, match="upper triangle"):
        layout_of((6,), rt.PARTIAL_ORDERS)


def test_partial_labels():
    said = rt.partial_evidence([3, -1, 0, 7], rt.LINEAR_ORDERS)
    assert said == rt.evidence(related=[(2, 0), (0, 3), (2, 3)])
    said = rt.partial_evidence([1, -1, 1, 0], rt.EQUIVALENCES)
    assert said == rt.evidence(related=[(0, 2)], unrelated=[(0, 3), (2, 3)])
    assert rt.partial_evidence([1, -1], rt.MAPS) == rt.evidence(related=[(0, 1)])
    with pytest.raises(DataError, match="share a place"):
        rt.partial_evidence([1, 1], rt.LINEAR_ORDERS)
    with pytest.raises(DataError, match="one integer per element"):
        rt.partial_evidence([0.5, 1.0], rt.MAPS)
    with pytest.raises(DataError, match="give pairs"):
        rt.partial_evidence([0, 1], rt.PREORDERS)
