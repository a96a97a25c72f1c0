"""The page of a ranking and of a classification."""

from __future__ import annotations

import re

import numpy as np
import pytest

import relatum as rt
from relatum.review import Whole
from relatum.review.web.guard import Guard
from relatum.review.web.whole_application import WholeApplication


@pytest.fixture(params=["order", "map"])
def page(request, tmp_path, client):
    rng, hostile = np.random.default_rng(0), ["<script>x</script>", "=1+1", "c", "d", "e"]
    if request.param == "order":
        scores, names = rng.normal(0, 1, (5, 5)), hostile
        np.fill_diagonal(scores, 0)
        problem = rt.Problem(scores, rt.LINEAR_ORDERS, names=names)
    else:
        names = (hostile, ["<b>yes</b>", "no", "?"])
        problem = rt.Problem(rng.normal(0, 1, (5, 3)), rt.MAPS, names=names)
    review = Whole(problem, tmp_path / "whole.csv", "ann")
    found = type(client)(Guard(WholeApplication(review).asgi, 4321))
    found.review = review
    return found


def test_questions_answers_and_undo(page):
    text = page.get("/").text
    assert "<script>x" not in text
    assert "<b>yes" not in text
    pairs = re.findall(r'name="pair" value="(\d+ \d+)" data-key', text)
    after = page.follow(page.post("/answer", {"pair": pairs[-1]})).text
    assert "1 answer so far" in after or "Nothing is in doubt" in after
    (held,) = page.review.held
    assert f"{held.a} {held.b}" == pairs[-1]
    assert 'data-key="u"' in after
    assert "0 answers so far" in page.follow(page.post("/undo")).text
    skipped = re.search(r'name="pair" value="([\d ]+)">', text)[1]
    page.post("/skip", {"pair": skipped})
    again = re.search(r'name="pair" value="([\d ]+)">', page.get("/").text)
    assert again is None or again[1] != skipped


def test_the_result_as_a_table(page):
    lines = page.get("/result.csv").text.splitlines()
    order = page.review.is_order
    assert lines[0] == ("rank,element" if order else "element,label")
    assert len(lines) == 6
    assert "'=1+1" in "\n".join(lines)
    if order:
        names = [line.split(",")[1].removeprefix("'") for line in lines[1:]]
        assert names == [page.review.name(k) for k in page.review.order()]


def test_contradictions_and_odd_forms(page):
    if page.review.is_order:
        for pair in ("0 2", "2 3", "3 0"):
            text = page.follow(page.post("/answer", {"pair": pair})).text
        assert "1 contradiction" in text
        text = page.follow(page.post("/undo", {"action": 2})).text
        assert "contradiction" not in text.lower()
    rows = len(page.review.file.rows)
    for form in ({}, {"pair": "x y"}, {"pair": "1"}, {"pair": "1 2 3"}, {"pair": "0 99"}):
        assert page.post("/answer", form).status == 400
    assert len(page.review.file.rows) == rows
    assert page.get("/nowhere").status == 404
    assert page.follow(page.post("/prove")).status == 200
