"""Every small loop that kernels inline has a door, so that its tests can reach it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import relatum.kernels
from relatum.kernels import inlined

ROOM = Path(relatum.kernels.__file__).parent
LOOPS = [
    (path.name, name)
    for path in sorted(ROOM.glob("*.pxd"))
    for name in re.findall(r"^cdef inline [\w ]+?(\w+)\(", path.read_text("utf-8"), re.M)
    if not name.startswith("_")
]


def test_the_loops_were_found():
    assert {"place", "find", "push", "next_word"} <= {name for _, name in LOOPS}


@pytest.mark.parametrize(("file", "name"), LOOPS)
def test_it_has_a_door_that_says_where_it_leads(file, name):
    assert file in getattr(inlined, name).__doc__
