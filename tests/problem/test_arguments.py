"""Odd input is refused in one line, whatever takes it; what is at the limits is taken."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import DataError
from relatum.problem.arguments import is_missing, real_number, shown, switch, whole_number

E = rt.EQUIVALENCES
FROM_PAIRS = rt.Problem.from_pairs


class Odd:
    def __array__(self, dtype=None, copy=None):
        raise KeyError("no array\nin two lines")


MASKED = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
REFUSED = {
    "ragged": (lambda: rt.Problem([[1.0, 2.0], [3.0]], rt.MAPS), "lists of equal lengths"),
    "ragged_pairs": (
        lambda: FROM_PAIRS([[0], [1, 2]], [1, 2], [1, 2], feasible=E),
        "equal lengths",
    ),
    "ragged_relation": (lambda: rt.Relation([[1, 0], [1]]), "equal lengths"),
    "odd_array": (lambda: rt.Problem(Odd(), rt.MAPS), "numpy makes none: 'no array"),
    "large": (
        lambda: rt.Problem([1e308, 1.0, 1.0], E),
        r"2\*\*1000 bits.* got 1e\+308; .*evidence",
    ),
    "long": (lambda: rt.Problem(np.array([np.longdouble("1e4000")]), E), r"got 1e\+4000"),
    "large_pair": (lambda: FROM_PAIRS([0], [1], [-1e305], feasible=E), "evidence"),
    "sum": (lambda: rt.Problem(np.full(1500 * 1499 // 2, 2.0**1000), E), "add up"),
    "denormal": (
        lambda: rt.Problem([1.0, -5e-324, 0.0], E),
        "at least .* got -4.94066e-324; use 0.0",
    ),
    "denormals": (lambda: rt.Problem(np.full((5, 5), 1e-310), rt.WEAK_ORDERS), "use 0.0"),
    "infinite_among_large": (lambda: rt.Problem([[np.inf, 1e308]], rt.MAPS), "evidence"),
    "background": (lambda: FROM_PAIRS([0], [1], [1.0], background="x", feasible=E), "got 'x'"),
    "background_inf": (
        lambda: FROM_PAIRS([0], [1], [1.0], background=-np.inf, feasible=E),
        "finite",
    ),
    "background_large": (
        lambda: FROM_PAIRS([0], [1], [1.0], background=1e305, feasible=E),
        r"2\*\*1000",
    ),
    "background_complex": (
        lambda: FROM_PAIRS([0], [1], [1.0], background=1j, feasible=E),
        "finite",
    ),
    "n_text": (lambda: FROM_PAIRS([0], [1], [1.0], n="3", feasible=E), "got '3'"),
    "n_fraction": (lambda: FROM_PAIRS([0], [1], [1.0], n=2.5, feasible=E), "got 2.5"),
    "n_three": (lambda: FROM_PAIRS([0], [1], [1.0], n=(2, 2, 2), feasible=E), r"got \(2, 2, 2\)"),
    "n_one": (lambda: FROM_PAIRS([0], [1], [1.0], n=(2,), feasible=E), r"got \(2,\)"),
    "n_true": (lambda: FROM_PAIRS([0], [0], [1.0], n=True, feasible=E), "got True"),
    "n_list": (lambda: FROM_PAIRS([0], [1], [1.0], n=[2, 2], feasible=E), r"got \[2, 2\]"),
    "n_fractions": (lambda: FROM_PAIRS([0], [1], [1.0], n=(2.0, 2), feasible=rt.MAPS), "got 2.0"),
    "combine": (lambda: FROM_PAIRS([0], [1], [1.0], combine="mean", feasible=E), "got 'mean'"),
    "from_sparse": (lambda: rt.Problem.from_sparse(None, feasible=E), "scipy.* got None"),
    "from_networkx": (lambda: rt.Problem.from_networkx([(0, 1)], feasible=E), "graph of networkx"),
    "masked": (lambda: rt.Problem(MASKED, rt.MAPS), "masked"),
    "masked_rows": (lambda: rt.Problem(list(MASKED), rt.MAPS), "masked"),
    "masked_pairs": (lambda: FROM_PAIRS(np.ma.array([0]), [1], [1.0], feasible=E), "masked"),
    "masked_scores": (lambda: FROM_PAIRS([0], [1], np.ma.array([1.0]), feasible=E), "masked"),
    "masked_evidence": (lambda: rt.evidence(np.ma.array([[0, 1]])), "masked"),
    "masked_groups": (lambda: rt.one_per_group(np.ma.array([0, 1])), "masked"),
    "masked_labels": (lambda: rt.Partition(np.ma.array([0, 1])), "masked"),
    "masked_relation": (lambda: rt.Relation(np.ma.array([[0, 1]])), "masked"),
    "at_most": (lambda: rt.at_most(10**30), "k is a whole number from 1 to 2147483648"),
    "at_most_text": (lambda: rt.at_most("3"), "got '3'"),
    "objects": (lambda: rt.one_per_group([object(), object()]), "one type that sorts"),
    "mixed": (lambda: rt.one_per_group([1, "1"]), "one type that sorts"),
    "evidence_uint64": (
        lambda: rt.Problem([1.0], rt.EQUIVALENCES & rt.evidence(np.array([[0, 2**63]], np.uint64))),
        "9223372036854775808",
    ),
    "labels_uint64": (lambda: rt.Partition(np.array([2**63, 1], np.uint64)), "64 bits"),
    "labels_float": (lambda: rt.Partition([1e300, 2.0]), "64 bits"),
    "value": (lambda: rt.Problem([1.0], E).value([0, 0]), r"got \[0, 0\]"),
    "restrict": (lambda: rt.Problem([1.0], E).restrict([0, 5]), "some of the elements 0 ... 1"),
    "infinite_both": (
        lambda: FROM_PAIRS([0, 1], [1, 0], [np.inf, -np.inf], combine="sum", feasible=E),
        r"\(0, 1\) is listed both with \+inf and with -inf",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_odd_input_is_refused_in_one_line(case):
    build, says = REFUSED[case]
    with pytest.raises(rt.errors.RelatumError, match=says) as caught:
        build()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("size", [2.0**1000, 2.0**-1022])
def test_scores_up_to_the_limits_are_taken(size):
    """Against the best of the five partitions of three elements."""
    for sign in (1.0, -1.0):
        p = rt.Problem([size, -size / 2 if size > 1 else -2 * size, sign * size], E)
        e = rt.infer(p, prove=True)
        best = max(
            p.exact_value(rt.Relation(y)) for y in naive.members(naive.NAMED["EQUIVALENCES"], 3, 3)
        )
        assert best - p.exact_value(e.relation) <= 2.0**-20
        assert rt.verify(p, e)


def test_numbers_and_switches():
    assert whole_number(np.int8(3), "k") == 3
    assert whole_number(np.array(3), "k") == 3
    assert real_number(np.float32(0.5), "x") == 0.5
    assert real_number(3, "x") == 3.0
    assert switch(np.bool_(True), "s") is True
    for odd in (True, 2.0, "2", None, [2], 2**31 + 1, 0):
        with pytest.raises(DataError, match=r"^k is a whole number from 1 to 2147483648, got "):
            whole_number(odd, "k", error=DataError)
    for odd in (True, "2", None, [2.0], np.nan, np.inf, 10**400, 1j):
        with pytest.raises(DataError, match=r"^x is a finite number, got "):
            real_number(odd, "x", DataError)
    for odd in (1, 0, "yes", None, [], np.array([True])):
        with pytest.raises(DataError, match=r"^s is True or False, got "):
            switch(odd, "s", DataError)


def test_what_is_missing():
    pd = pytest.importorskip("pandas")
    for value in (None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")):
        assert is_missing(value)
    for value in (0, "", "nan", False, np.datetime64("2000-01-01"), (1, 2)):
        assert not is_missing(value)


def test_what_is_shown_is_one_short_line():
    class Rude:
        def __repr__(self):
            raise RuntimeError

    assert shown(Rude()) == "a Rude"
    assert shown("a\nb") == r"'a\nb'"
    assert shown(np.zeros((40, 40))).count("\n") == 0
    assert len(shown("x" * 10**6)) == 60
