"""Drawings for pages: every element, frame and name is there, at its place."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import relatum as rt
from relatum.plots import svg

matplotlib_image = pytest.importorskip("matplotlib.image")

IMAGES = np.arange(5 * 16, dtype=np.float64).reshape(5, 16)


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def pixels(image: ElementTree.Element) -> np.ndarray:
    data = base64.b64decode(image.attrib["href"].split(",", 1)[1])
    return matplotlib_image.imread(io.BytesIO(data), format="png")


def test_clusters_are_blocks_and_elements_stand_beside_them():
    scores = np.where(np.eye(5) > 0, 0.0, -1.0)
    scores[0, 3] = scores[3, 0] = 2.0
    found = rt.Partition([0, 1, 2, 0, 1])
    picture = drawn(svg.clusters(scores, found, IMAGES, "told", marked=[(0, 3)]))
    assert picture.attrib["aria-label"] == "told"
    blocks = [r for r in picture.iter("rect") if r.attrib["class"] == "block"]
    assert [float(r.attrib["width"]) for r in blocks] == [20.0, 20.0, 10.0]
    marked = [r for r in picture.iter("rect") if r.attrib["class"] == "told"]
    assert len(marked) == 2
    matrix, *strips = picture.iter("image")
    assert pixels(matrix).shape[:2] == (5, 5)
    blue = pixels(matrix)[0, 1]  # 0 and 3 come first, and are alike
    assert blue[2] > blue[0]
    assert [pixels(strip).shape[:2] for strip in strips] == [(6, 18), (18, 6), (6, 12), (12, 6)]


def test_a_map_has_a_row_for_each_label_and_a_frame_for_each_element():
    scores = np.random.default_rng(0).normal(size=(5, 3))
    chosen = scores.argmax(axis=1)
    picture = drawn(svg.labels(scores, chosen, ["a", "b", "c"], IMAGES, "map"))
    assert [t.text for t in picture.iter("text")] == ["a", "b", "c"]
    rows = [float(r.attrib["y"]) for r in picture.iter("rect")]
    assert [(y - 12) / 10 for y in rows] == chosen.tolist()


def test_an_order_has_its_names_from_first_to_last():
    scores = np.array([[0.0, 1.5], [-2.0, 0.0]])
    picture = drawn(svg.order(scores, rt.LinearOrder.from_order([1, 0]), ["x", "<y>"], "order"))
    texts = [t.text for t in picture.iter("text")]
    assert texts == ["<y>", "<y>", "-2.0", "x", "x", "1.5"]


def test_a_chain_and_pairs_show_the_elements():
    problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    why = rt.explain(problem, rt.infer(problem, prove=True), 1, 2)
    picture = drawn(svg.chain(why, IMAGES, why.sentence))
    assert len(list(picture.iter("image"))) == 3
    assert [t.text for t in picture.iter("text")] == ["+4.0", "+3.0"]
    picture = drawn(svg.pairs([(0, 1, True), (2, 3, False)], IMAGES, "pairs"))
    assert [t.text for t in picture.iter("text")] == ["=", "≠"]
    assert len(list(picture.iter("image"))) == 4
    assert not re.search("http", svg.pairs([(0, 1, True)], IMAGES, "pairs"))
