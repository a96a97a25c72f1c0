"""What notebooks show: escaped, of limited size, with a picture where there is matplotlib."""

from __future__ import annotations

import pickle
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum import html

NAMES = ["<script>alert(1)</script>", "a & b", '"quoted"']


class Balanced(HTMLParser):
    """Keeps texts and images; tags have to be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.image = dict(attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_an_estimate_has_sentence_numbers_and_picture():
    pytest.importorskip("matplotlib")
    problem = rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES, names=NAMES)
    e = rt.infer(problem, prove=True)
    page = Balanced(e._repr_html_())
    assert "No feasible relation is more probable." in page.texts
    assert "4 bits" in page.texts
    assert b64decode(page.image["src"].partition(",")[2]).startswith(b"\x89PNG")
    again = pickle.loads(pickle.dumps(e))  # without the problem
    assert "img" not in Balanced(again._repr_html_()).tags


def test_conflicts_are_escaped():
    told = rt.EQUIVALENCES & rt.evidence([(NAMES[0], NAMES[1])], [(NAMES[1], NAMES[0])])
    page = rt.infer(rt.Problem([2.0, -1.0, 3.0], told, names=NAMES))._repr_html_()
    assert "<script>" not in page
    assert any(NAMES[0] in text for text in Balanced(page).texts)


def test_no_picture_without_matplotlib_or_of_much(monkeypatch):
    e = rt.infer(rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES))
    monkeypatch.setattr(html, "find_spec", lambda name: None)
    assert "img" not in Balanced(e._repr_html_()).tags
    monkeypatch.undo()
    monkeypatch.setattr(html, "LARGEST", 10)
    assert "img" not in Balanced(e._repr_html_()).tags
    monkeypatch.undo()
    assert html.picture(lambda plots: 1 / 0, "nothing") == ""
    large = rt.Problem.from_pairs([0], [1], [1.0], n=400, feasible=rt.EQUIVALENCES)
    assert "img" not in Balanced(rt.infer(large)._repr_html_()).tags


def test_gaps_are_told():
    e = rt.Estimate(rt.Status.FEASIBLE, rt.Partition([0, 0]), 3.0, 5.0)
    assert "None is more than 2^2 times as probable." in Balanced(e._repr_html_()).texts


def test_clusters_have_sentences_and_a_picture():
    pytest.importorskip("matplotlib")
    pairs = pd.DataFrame(
        {"unique_id_l": ["<a>", "b"], "unique_id_r": ["b", "c"], "match_weight": [3.0, -2.0]}
    )
    found = rt.cluster_pairs(pairs)
    text = found._repr_html_()
    page = Balanced(text)
    assert "Clusters: 3 elements in 2 clusters" in page.texts
    assert "proven optimal" in text
    assert page.image["src"].startswith("data:image/png;base64,")
    assert len(text) < 200_000


def test_reports_make_a_picture_of_a_search():
    pytest.importorskip("matplotlib")
    scores = np.random.default_rng(0).normal(size=(14, 14))
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    heard = []
    e = rt.infer(problem, prove=True, monitor=heard.append)
    assert list(e.stats["reports"]) == heard
    assert e.stats["reports"][-1].value == e.value
    axes = rt.plots.progress(e)
    bound, value = axes.get_lines()
    assert value.get_ydata()[-1] == e.value
    assert bound.get_ydata()[-1] == e.bound
    with pytest.raises(rt.errors.DataError, match="infer returned"):
        rt.plots.progress(rt.Estimate(rt.Status.FEASIBLE, None, 0.0, 1.0))
