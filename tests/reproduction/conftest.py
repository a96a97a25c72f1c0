"""One tiny reproduction that the tests of its parts look at."""

from __future__ import annotations

import json

import pytest

from instances.reproduction import TINY
from relatum.reproduction import reproduce


class Tiny:
    def __init__(self, folder):
        self.folder = folder
        self.lines = []
        self.checks = reproduce(TINY, folder, say=self.lines.append)

    def results(self, part):
        return json.loads((self.folder / f"{part}.json").read_text())["results"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return Tiny(tmp_path_factory.mktemp("tiny"))
