"""Claims are of the right type, or refused; sums are compared exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from relatum.errors import CertificateError
from relatum.pair_tables.check.claims import read_claims, rounded_bound

MANIFEST = {
    "background": -4.0,
    "max_size": None,
    "one_per_group": None,
    "odd_rows": "refuse",
    "columns": ["a", "b", "score", True],
    "elements": 3,
    "components": 1,
    "parts": 1,
    "scored": 0,
    "value": 0.5,
    "bound": 0.5,
    "pairs": "",
    "ids": "",
}


def test_columns_are_named_as_they_were():
    assert read_claims(MANIFEST).names == ("a", "b", None, "score")
    other = {**MANIFEST, "columns": ["a", "b", "score", False]}
    assert read_claims(other).names == ("a", "b", "score", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("background", 1.0),
        ("background", -math.inf),
        ("background", "-4"),
        ("max_size", 0),
        ("max_size", 2.0),
        ("max_size", True),
        ("odd_rows", "ignore"),
        ("columns", ["a", "b", "score"]),
        ("columns", ["a", "b", 3, True]),
        ("elements", 3.0),
        ("parts", None),
        ("value", math.nan),
        ("value", 1),
        ("bound", math.inf),
        ("bound", math.nan),
        ("pairs", 3),
    ],
)
def test_whatever_is_of_another_type_is_refused(name, value):
    with pytest.raises(CertificateError):
        read_claims({**MANIFEST, name: value})
    with pytest.raises(CertificateError):
        read_claims({k: v for k, v in MANIFEST.items() if k != name})


def test_sums_are_compared_exactly():
    tenth = Fraction(0.1) + Fraction(0.2)  # between two floats
    assert rounded_bound(tenth, Fraction(0)) == float(tenth)
    assert Fraction(rounded_bound(tenth, Fraction(1, 2**80))) > tenth
    stated = read_claims({**MANIFEST, "value": float(tenth), "bound": float(tenth)})
    stated.require_sums(tenth, Fraction(0))
    for name, other in (("value", math.inf), ("value", 0.0), ("bound", 0.0)):
        claimed = math.nextafter(float(tenth), other)
        wrong = read_claims({**MANIFEST, "value": float(tenth), "bound": 1.0, name: claimed})
        with pytest.raises(CertificateError, match="is claimed"):
            wrong.require_sums(tenth, Fraction(0))
    with pytest.raises(CertificateError, match=r"adds up to the bound 0\.75"):
        read_claims(MANIFEST).require_sums(Fraction(1, 2), Fraction(1, 4))
