"""Components joined and parted by answers, against the table clustered from nothing."""

from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.review.facts import Fact
from relatum.review.kept import LOOKED_AT, Store


@pytest.fixture
def store(small):
    return Store(small.clusters.origin)


def test_components_side_by_side_are_one_problem_with_pairs_between(store, small):
    roots = store.roots[:6].tolist()
    solved = store.together(roots, [])
    elements = store.elements(roots)
    assert solved.base.elements.tolist() == elements.tolist()
    names = store.origin.ids(elements)
    listed = {
        frozenset((row["unique_id_l"], row["unique_id_r"])): row["match_weight"]
        for row in small.pairs.to_pylist()
        if row["unique_id_l"] in names and row["unique_id_r"] in names
    }
    component = solved.base.component
    found = {
        frozenset((names[i], names[j])): bits
        for i, j, bits in zip(component.i, component.j, component.log_odds, strict=True)
    }
    assert found == pytest.approx(listed)
    alone = [store.solved((root,)) for root in roots]
    assert solved.value == pytest.approx(sum(s.value for s in alone))
    ids = small.clusters.origin.whole["cluster_id"].take(elements).to_pylist()
    same = np.equal.outer(ids, ids)
    assert np.array_equal(np.equal.outer(solved.labels, solved.labels), same)


def test_facts_between_components_are_known_where_both_are(store):
    a, b, c = store.roots[:3].tolist()
    facts = [Fact(a, b, False, 1), Fact(a, c, False, 2)]
    store.regroup(facts)
    assert store.facts == {}
    assert store.answers((a,)) == facts
    assert store.answers((b,)) == facts[:1]
    assert store.together([a, b], facts).facts == {facts[0]}
    assert store.together([a, b, c], facts).facts == set(facts)


def test_what_was_answered_before_is_where_joined_components_start(store):
    sizes = np.diff(store.starts)
    a, b = store.roots[np.argsort(-sizes)[:2]].tolist()
    solved = store.solved((a,))
    inside = solved.base.elements[solved.labels == solved.labels[solved.base.place(a)]]
    one, two = int(inside[0]), int(inside[1])
    first = Fact(one, two, False, 1)
    store.regroup([first])
    before = store.solved((a,))
    changed = store.regroup([first, Fact(a, b, True, 2)])
    assert set(changed) == {(a,), tuple(sorted((a, b)))}
    joined = store.solved(store.key(a))
    assert joined.facts == {first, Fact(a, b, True, 2)}
    assert joined.labels[joined.base.place(one)] != joined.labels[joined.base.place(two)]
    anew = rt.infer(joined.problem, prove=True, time_limit=5.0)
    assert joined.value == pytest.approx(anew.value, abs=1e-6)
    store.regroup([first])
    assert store.key(b) == (b,)
    assert np.array_equal(store.solved((a,)).labels, before.labels)


def test_what_was_looked_at_long_ago_is_forgotten_but_not_what_was_proved(store):
    store.load([(root,) for root in store.roots.tolist()])
    kept = (int(store.roots[0]),)
    store.proved.add(kept)
    for number in range(200):
        store._warms.setdefault((10**6 + number,), store.warm(kept))
    store.load([], [tuple(store.roots[:2].tolist())])
    assert kept in store._warms
    assert len(store._warms) <= LOOKED_AT + 1


def test_what_is_no_component_is_refused(store):
    with pytest.raises(DataError, match="no component"):
        store.require(10**9)
    with pytest.raises(DataError, match="no element"):
        store.root(-1)
