"""Records of invented persons that several tests compare and link."""

from __future__ import annotations

import pytest

import relatum as rt
from relatum.records.comparison import Comparison
from relatum.records.intake import read_records

FIELDS = {
    "given_name": "name",
    "surname": "name",
    "street": "text",
    "town": "name",
    "postcode": "exact",
    "born": "date",
    "phone": "exact",
}


@pytest.fixture(scope="session")
def fields():
    return dict(FIELDS)


@pytest.fixture(scope="session")
def people():
    return rt.datasets.load_people(250, mistakes=2.5, seed=3)


@pytest.fixture(scope="session")
def two_sources():
    return rt.datasets.load_people(250, sources=2, mistakes=3.0, seed=4)


@pytest.fixture(scope="session")
def compared(people):
    return Comparison(read_records(people.records, FIELDS, None, None), {})
