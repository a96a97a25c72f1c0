"""The answer: a truth value, plain numbers, and an error on demand."""

from __future__ import annotations

import json

import pytest

from relatum.errors import CertificateError
from relatum.pair_tables import TableVerification


def test_an_answer_is_a_truth_value_and_plain_numbers():
    yes = TableVerification(True, "All is proved.", 3, 1, by_pairs=1, stated=("a background",))
    no = TableVerification(False, "The value is another.")
    assert (bool(yes), bool(no)) == (True, False)
    yes.raise_if_wrong()
    with pytest.raises(CertificateError, match=r"^The value is another\.$"):
        no.raise_if_wrong()
    told = json.loads(json.dumps(yes.as_dict()))
    assert (told["ok"], told["by_pairs"], told["stated"]) == (True, 1, ["a background"])
