"""Numbers and texts as pages show them."""

from __future__ import annotations

import pytest

from relatum.review.web import views


def test_numbers_are_told_as_they_are():
    assert views.percent(0.99999) == "> 99.9 %"
    assert views.percent(1.0) == "100 %"
    assert views.percent(0.0001) == "< 0.1 %"
    assert views.bits(12345.678) == "12,345.7"
    assert views.signed(-0.5) == "-0.5"
    assert views.plural(1, "answer") == "1 answer"
    assert views.name(("x", 7)) == "x 7"
    assert len(views.name("y" * 500)) == 80


def test_filters_of_a_query():
    found = views.filter_of({"least": "3", "sure": "40", "order": "evil; DROP"})
    assert (found.least, found.sure, found.order) == (3, 0.4, "doubt")
    with pytest.raises(ValueError, match="invalid literal"):
        views.filter_of({"least": "x"})


def test_cells_that_differ_are_marked(opened, table):
    session = opened()
    solved = max((session.solved(session.root(k)) for k in range(60)), key=lambda s: s.base.n)
    cluster = max(views.clusters_of(session, solved, None), key=len)
    found = views.records_of(session, solved, cluster)
    towns = [f"town {table.truth[e] % 3}" if e % 7 else "" for e in cluster]
    usual = max(sorted({t for t in towns if t}, reverse=True), key=towns.count)
    place = session.catalogue.fields.index("town")
    for row, town in zip(found["rows"], towns, strict=True):
        assert row["cells"][place] == (town, bool(town) and town != usual)


def test_the_cluster_of_the_focus_comes_first(opened):
    session = opened()
    solved = max((session.solved(session.root(k)) for k in range(60)), key=lambda s: s.base.n)
    focus = int(solved.base.elements[-1])
    assert focus in views.clusters_of(session, solved, focus)[0]
    own, others = views.cluster_of(session, focus)
    assert sorted(own + others) == solved.base.elements.tolist()
