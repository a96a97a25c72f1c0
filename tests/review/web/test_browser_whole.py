"""A ranking and a classification in a real browser: asked, answered by key, undone, exported."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import relatum as rt
from relatum.io import read_answers
from relatum.review import Whole, serve

pytest.importorskip("uvicorn", reason="install relatum[review]")
pytestmark = pytest.mark.slow


@pytest.fixture
def opened(page, tmp_path):
    """Open the page of a problem; the server is stopped in the end."""
    running = []
    page.set_viewport_size({"width": 390, "height": 800})

    def open_(problem):
        running.append(serve(Whole(problem, tmp_path / "answers.csv", "ann")).start())
        page.goto(running[-1].address)
        return running[-1].session

    yield open_
    for review in running:
        review.stop()


def press(page, key, told):
    page.keyboard.press(key)
    page.locator("main", has_text=re.compile(told)).wait_for()


def exported(page, path):
    """Return the rows of the table that the page gives."""
    with page.expect_download() as got:
        page.get_by_role("link", name="Export", exact=True).click()
    got.value.save_as(path)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_which_comes_first(page, opened, tmp_path):
    names = ["<b>tea</b>", "coffee", "milk", "water"]
    scores = np.triu([[0, 0.1, 2, 3], [0, 0, 0.4, 3], [0, 0, 0, 1], [0, 0, 0, 0]], 1)
    opened(rt.Problem(scores, rt.LINEAR_ORDERS, names=names))
    page.get_by_role("heading", name="Which comes first?").wait_for()
    first, second = (b.inner_text().split()[0] for b in page.locator("button[name=pair]").all())
    assert {first, second} == {"<b>tea</b>", "coffee"}  # 0.1 bits: the pair that is least sure
    # the one that the scores put second, by key
    press(page, "2", "1 answer so far")
    (answer,) = read_answers(tmp_path / "answers.csv")
    assert (answer.left, answer.right, answer.verdict) == (second, first, "first")
    ranked = exported(page, tmp_path / "ranking.csv")
    assert ranked[0] == ["rank", "element"]
    order = [name for _, name in ranked[1:]]
    assert sorted(order) == sorted(names)
    assert order.index(second) < order.index(first)
    assert [row.inner_text() for row in page.locator("tbody td:nth-child(2)").all()] == order
    press(page, "u", "0 answers so far")
    assert read_answers(tmp_path / "answers.csv") == []
    assert exported(page, tmp_path / "again.csv")[1][1] == "<b>tea</b>"
    # what is skipped is not asked again
    page.keyboard.press("Space")
    page.locator("button[name=pair]", has_text="milk").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_which_label(page, opened, tmp_path):
    labels = ["yes", "no", "<i>perhaps</i>"]
    scores = np.array([[9.0, 0, 0], [0.2, 0.1, 0], [0, 9, 0]])
    opened(rt.Problem(scores, rt.MAPS, names=(["ann", "bob", "cem"], labels)))
    page.get_by_role("heading", name="Which label has bob?").wait_for()
    offered = [b.inner_text().split()[0] for b in page.locator("button[name=pair]").all()]
    assert offered == labels  # the most probable one first
    press(page, "3", "Nothing is in doubt")
    (answer,) = read_answers(tmp_path / "answers.csv")
    assert (answer.left, answer.right, answer.verdict) == ("bob", labels[2], "label")
    found = exported(page, tmp_path / "labels.csv")
    assert found == [["element", "label"], ["ann", "yes"], ["bob", labels[2]], ["cem", "no"]]
    press(page, "u", "0 answers so far")
    assert read_answers(tmp_path / "answers.csv") == []
    assert exported(page, tmp_path / "again.csv")[2] == ["bob", "yes"]
