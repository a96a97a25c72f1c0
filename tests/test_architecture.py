"""The page about the rooms says what the imports say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "relatum"


@pytest.fixture(scope="module")
def rooms():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import rooms
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return rooms


def test_picture_and_table_are_what_the_imports_say(rooms):
    pairs = rooms.talks()
    told = "run 'python docs/rooms.py' and look at the picture"
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.svg(pairs), told
    text = rooms.PAGE.read_text(encoding="utf-8")
    assert rooms.page(text, pairs) == text, told


def test_every_room_has_a_place_in_the_picture(rooms):
    found = {
        path.stem if path.is_file() else path.name
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert found - rooms.EVERYWHERE - {"__init__", "__main__"} == set(rooms.PLACES)


def test_arrows_lead_down(rooms):
    for a, b in rooms.drawn(rooms.talks()):
        assert rooms.PLACES[a][1] < rooms.PLACES[b][1], f"{a} -> {b} leads up in the picture"


def test_modules_that_the_page_names_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+)(?:\.py|\.[a-z_]+)?`", text))
    folders = (SOURCE, SOURCE / "kernels", ROOT)  # kernels are named by their room
    missing = {
        name
        for name in named
        if not any((f / name).is_dir() or list(f.glob(f"{name}.*")) for f in folders)
    }
    assert len(named) > 15
    assert not missing
