"""Which clusters labels can judge, against a plain reading; and what is learned from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

import relatum as rt
from relatum.pair_tables.solve.learned_confidence import judged_clusters, learned_confidence


def firsts(clusters):
    """Return the smallest element of each element's cluster."""
    clusters = np.asarray(clusters)
    return np.array([int(np.flatnonzero(clusters == c)[0]) for c in clusters])


def plainly_judged(clusters, labels):
    """Return, for each cluster whose elements all have labels, whether it is an entity."""
    found = {}
    for c in set(clusters):
        own = [k for k, other in enumerate(clusters) if other == c]
        names = {labels[k] for k in own}
        if -1 not in names:
            entity = {k for k, name in enumerate(labels) if name in names}
            found[min(own)] = len(names) == 1 and entity == set(own)
    return found


def test_clusters_are_judged_as_one_would_read_them():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        n = int(rng.integers(1, 9))
        clusters, labels = rng.integers(0, 4, n).tolist(), rng.integers(-1, 4, n).tolist()
        judged = judged_clusters(firsts(clusters), np.array(labels))
        expected = plainly_judged(clusters, labels)
        assert dict(zip(judged.first.tolist(), judged.right.tolist(), strict=True)) == expected
        sizes = {min(k for k in range(n) if clusters[k] == c): clusters.count(c) for c in clusters}
        assert judged.single.tolist() == [sizes[k] == 1 for k in judged.first.tolist()]
        seen |= set(expected.values())
    assert seen == {True, False}


def test_without_clusters_to_judge_nothing_changes():
    confidence, first = np.array([0.9, 0.9, 0.5]), np.array([0, 0, 2])
    found, judged = learned_confidence(confidence, first, np.array([4, -1, -1]))
    assert judged == 0
    assert found is confidence


@pytest.mark.parametrize(("constant", "slope"), [(0.0, 1.0), (-1.0, 0.5), (1.5, 1.3)])
def test_many_labels_find_the_map_that_was_used(constant, slope):
    """Clusters of two, right as often as a logistic map of what they claim says."""
    rng, count = np.random.default_rng(1), 20_000
    claimed = rng.uniform(0.05, 0.999, count)
    right = rng.random(count) < expit(constant + slope * logit(claimed))
    first = np.repeat(2 * np.arange(count), 2)
    labels = np.arange(2 * count)  # wrong: two entities; right: one
    labels[1::2] -= right
    found, judged = learned_confidence(np.repeat(claimed, 2), first, labels)
    assert judged == count
    assert found[::2] == pytest.approx(expit(constant + slope * logit(claimed)), abs=0.02)


def test_order_is_kept_and_one_label_changes_little():
    claimed = np.array([0.6, 0.6, 0.9, 0.9, 0.99, 0.99])
    first, labels = np.array([0, 0, 2, 2, 4, 4]), np.array([0, 1, -1, -1, -1, -1])  # one, wrong
    found, judged = learned_confidence(claimed, first, labels)
    assert judged == 1
    assert (np.diff(found[::2]) > 0).all()
    assert (found < claimed).all()
    assert found == pytest.approx(claimed, abs=0.35)
    against = np.tile([0, 0, 1, 2], 50) + np.repeat(3 * np.arange(50), 4)  # the surer, the wronger
    sure = np.tile([0.6, 0.6, 0.99, 0.99], 50)
    pairs = np.repeat(2 * np.arange(100), 2)
    turned, _ = learned_confidence(sure, pairs, against)
    assert turned[0] <= turned[2] + 1e-12


def test_confidences_of_tables_are_nearer_to_the_truth_with_labels_of_other_entities():
    """Scores that say twice as much as they know, of 600 entities; half of them are labelled."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("duckdb")
    rng = np.random.default_rng(3)
    entity = np.repeat(np.arange(600), 3)
    a, b = np.triu_indices(3, 1)
    i = (3 * np.arange(600)[:, None] + a).ravel()
    j = (3 * np.arange(600)[:, None] + b).ravel()
    far_i, far_j = rng.integers(0, 1800, (2, 1500))
    kept = entity[far_i] != entity[far_j]
    i, j = np.append(i, far_i[kept]), np.append(j, far_j[kept])
    bits = np.where(entity[i] == entity[j], 1.5, -3.0) + 2.4 * rng.standard_normal(len(i))
    table = pd.DataFrame({"unique_id_l": i, "unique_id_r": j, "match_weight": 2 * bits})
    table = table[~table[["unique_id_l", "unique_id_r"]].duplicated()]
    known = {int(k): int(entity[k]) for k in np.flatnonzero(entity % 2 == 0)}
    options = {"background": -4.0, "confidence": True, "odd_rows": "handle"}
    plain = rt.cluster_pairs(table, **options)
    taught = rt.cluster_pairs(table, labels=known, **options)
    assert plain.summary.clusters_judged == 0
    assert 100 < taught.summary.clusters_judged < 900
    rest = [plain.table.drop(columns="confidence"), taught.table.drop(columns="confidence")]
    assert rest[0].equals(rest[1])
    truth = judged_clusters(
        firsts(plain.table["cluster_id"]), entity[plain.table["unique_id"].to_numpy()]
    )
    others = truth.first[entity[plain.table["unique_id"].to_numpy()[truth.first]] % 2 == 1]
    right = truth.right[np.isin(truth.first, others)]
    loss = []
    for found in (plain, taught):
        p = found.table["confidence"].to_numpy()[others].clip(1e-9, 1 - 1e-9)
        loss.append(-np.mean(np.where(right, np.log2(p), np.log2(1 - p))))
    assert loss[1] < 0.9 * loss[0]
