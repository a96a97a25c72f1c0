"""Pictures hold what they should: read back from the SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from relatum.pair_tables import Component, Settings, solve_component
from relatum.review.facts import Fact
from relatum.review.warm import Base, Warm
from relatum.review.web.drawing import EDGES, SIDE, extract, graph, histogram, matrix

NAMES = "{http://www.w3.org/2000/svg}"


def solved_of(n, density=0.5, facts=frozenset(), seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, max(1, n // 5), n)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < density
    i, j = i[keep], j[keep]
    bits = np.where(truth[i] == truth[j], 3.0, -3.0) + rng.normal(0, 2, len(i))
    component = Component(n, i, j, bits)
    found = solve_component(component, Settings(-0.5))
    names = [f"<{k}&\x00>" for k in range(n)]
    base = Base(np.arange(n) + 7, names, component, found.labels, found.gap, Settings())
    return Warm(base).solved(facts)


@pytest.mark.parametrize("n", [1, 2, 10, 40, 41, 200])
def test_pictures_are_well_formed_and_small(n):
    drawn = extract(solved_of(n, 1.0 if n < 50 else 0.3))
    for picture in (matrix(drawn), graph(drawn)):
        tree = ElementTree.fromstring(picture)
        assert tree.get("aria-label")
        assert len(picture) < 700_000
        assert "style=" not in picture
    named = matrix(drawn).count("<text")
    assert named == (2 * n if n <= 40 else 0)


def test_the_matrix_shows_every_score_where_it_belongs():
    drawn = extract(solved_of(12, 0.6))
    tree = ElementTree.fromstring(matrix(drawn))
    step = SIDE / 12
    seen = np.zeros((12, 12), int)
    for path in tree.iter(f"{NAMES}path"):
        kind = path.get("class")
        assert float(path.get("transform")[6:-1]) == pytest.approx(step, rel=1e-4)
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1", path.get("d")):
            row, column = int(y), int(x)
            for k in range(int(width)):
                bits = drawn.bits[row, column + k]
                assert (bits > 0) == kind.startswith("for")
                seen[row, column + k] += 1
    assert np.array_equal(seen == 1, ~np.isnan(drawn.bits))
    boxes = [r for r in tree.iter(f"{NAMES}rect") if r.get("class") == "cluster"]
    sizes = sorted(round(float(r.get("width")) / step) for r in boxes)
    assert sizes == sorted(np.bincount(drawn.solved.labels).tolist())
    assert tree.get("data-elements") == ",".join(map(str, drawn.elements))


def test_edges_are_told_apart():
    drawn = extract(solved_of(20, facts=frozenset([Fact(7, 8, True, 1), Fact(9, 10, False, 2)])))
    tree = ElementTree.fromstring(graph(drawn))
    where = {e: k for k, e in enumerate(drawn.elements)}
    kinds = {"inside": 0, "cut": 0, "against": 0, "same": 0, "different": 0}
    for line in tree.iter(f"{NAMES}line"):
        a, b = where[int(line.get("data-a"))], where[int(line.get("data-b"))]
        kind, bits = line.get("class").split()[1], drawn.bits[a, b]
        together = drawn.labels[a] == drawn.labels[b]
        kinds[kind] += 1
        if kind in ("inside", "cut"):
            assert bits > 0
            assert together == (kind == "inside")
        elif kind == "against":
            assert bits < 0
            assert together
    same = drawn.labels[:, None] == drawn.labels[None, :]
    upper = np.triu(np.ones_like(same), 1)
    positive = np.nan_to_num(drawn.bits) > 0
    assert kinds["inside"] == (positive & same & upper).sum()
    assert kinds["cut"] == (positive & ~same & upper).sum()
    assert (kinds["same"], kinds["different"]) == (1, 1)


def test_of_large_components_a_part_is_drawn():
    solved = solved_of(300, 0.4)
    focus = 250
    drawn = extract(solved, focus)
    assert drawn.n <= 200
    assert focus in drawn.elements
    own = solved.base.elements[solved.labels == solved.labels[solved.base.place(focus)]]
    assert set(own.tolist()) <= set(drawn.elements)
    assert graph(drawn).count("<line") <= EDGES


def test_the_histogram_counts_all_clusters():
    tree = ElementTree.fromstring(histogram({1: 5, 2: 3, 12: 2, 15: 1, 1200: 1}))
    told = [t.text for t in tree.iter(f"{NAMES}title")]
    assert told == [
        "5 clusters of 1",
        "3 clusters of 2",
        "3 clusters of 10+",
        "1 clusters of 1,000+",
    ]
    assert ElementTree.fromstring(histogram({})) is not None
