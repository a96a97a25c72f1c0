"""Offsets: planted ones are found, gains are those of entities unseen, what runs away is told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CalibrationWarning, DataError
from relatum.pair_tables import learn_offset
from relatum.pair_tables.offsets import Search, _counts, _middle, _plateau, best_offset
from relatum.pair_tables.options import Settings
from relatum.pair_tables.solve.labelled import Labelled, clusters_at

pa = pytest.importorskip("pyarrow", reason="install relatum[tables]")
pytest.importorskip("duckdb")


def two_sources(seed, entities=300, alone=0.5, low=4.0):
    """Scored pairs of two sources; half of the entities have one record, scores are too low."""
    rng = np.random.default_rng(seed)
    both = rng.random(entities) >= alone
    side = rng.integers(0, 2, entities)
    rows = [(e, s) for e in range(entities) for s in (0, 1) if both[e] or side[e] == s]
    entity, source = np.array(rows).T
    a, b = np.flatnonzero(source == 0), np.flatnonzero(source == 1)
    i, j = np.repeat(a, 8), rng.choice(b, 8 * len(a))
    partner = {e: k for k, e in zip(b, entity[b], strict=True)}
    true = np.array([(k, partner[e]) for k, e in zip(a, entity[a], strict=True) if e in partner])
    pairs = np.unique(np.concatenate([np.column_stack([i, j]), true]), axis=0)
    same = entity[pairs[:, 0]] == entity[pairs[:, 1]]
    bits = np.where(same, 3.0, -6.0) + 2.5 * rng.normal(size=len(pairs)) - low
    return pairs, bits, entity, source


def f1_at(data, offset):
    pairs, bits, entity, _ = data
    weights = np.zeros((len(entity), len(entity)))
    weights[tuple(pairs.T)] = np.maximum(0, bits + offset)
    from scipy.optimize import linear_sum_assignment

    a, b = linear_sum_assignment(weights, maximize=True)
    kept = weights[a, b] > 0
    right = np.count_nonzero(entity[a[kept]] == entity[b[kept]])
    true = np.count_nonzero(np.bincount(entity) == 2)
    return 2 * right / (np.count_nonzero(kept) + true)


def test_the_offset_of_a_matching_is_as_good_as_any_on_other_entities():
    pairs, bits, entity, source = two_sources(0)
    found = learn_offset(*pairs.T, bits, entity, source, method="f1")
    other = two_sources(1)
    best = max(f1_at(other, x) for x in np.arange(-4, 12, 0.5))
    assert f1_at(other, found.bits) > best - 0.02
    assert f1_at(other, found.bits) > f1_at(other, 0.0) + 0.05
    assert not found.capped
    assert found.held_out == pytest.approx(f1_at(other, found.bits), abs=0.05)
    assert found.without == pytest.approx(f1_at((pairs, bits, entity, source), 0.0), abs=0.005)
    assert "offset +" in str(found)


def test_f1_of_the_curve_is_that_of_clusters():
    data = two_sources(2)
    pairs, bits, entity, source = data
    found = learn_offset(*pairs.T, bits, entity, source, method="f1")
    for offset, value in found.curve[::3]:
        assert value == pytest.approx(f1_at(data, offset), abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "f1", "likelihood"])
def test_where_every_record_has_a_partner_the_offset_is_capped_and_told(method):
    pairs, bits, entity, source = two_sources(3, alone=0.0)
    with pytest.warns(CalibrationWarning, match="has a partner"):
        found = learn_offset(*pairs.T, bits, entity, source, method=method)
    assert found.capped
    assert 4 < found.bits <= Search.most
    assert str(found).endswith("(capped)")


def test_the_likelihood_expects_as_many_pairs_as_are_true():
    # brute force: every set of listed pairs without a common element
    pairs = np.array([[0, 4], [0, 5], [1, 5], [2, 6], [2, 4], [3, 7], [1, 6]])
    bits = np.array([1.0, -1.0, 0.5, -2.0, -3.0, -4.0, -1.5])
    entity, source = np.array([0, 1, 2, 3, 0, 1, 4, 5]), np.repeat([0, 1], 4)
    found = learn_offset(*pairs.T, bits, entity, source, method="likelihood")
    total = size = 0.0
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        ends = pairs[list(chosen)].ravel()
        if len(np.unique(ends)) == len(ends):
            weight = 2.0 ** (bits[list(chosen)] + found.bits).sum()
            total, size = total + weight, size + weight * sum(chosen)
    assert size / total == pytest.approx(2, abs=0.02)  # entities 0 and 1 have two records
    assert not found.capped


def test_where_labels_are_few_a_prior_draws_the_offset():
    def offset(entities, spread):
        pairs, bits, entity, source = two_sources(1, entities)
        given = (pairs[:, 0], pairs[:, 1], bits)
        case = Labelled(given, entity, source, Settings(-4.0), False)
        return best_offset(case, "likelihood", Search(expected=9.0, spread=spread)).bits

    few, many = ([offset(n, s) for s in (np.inf, 2.0, 0.01)] for n in (40, 300))
    assert few[0] < few[1] < few[2] == pytest.approx(9.0, abs=0.1)
    assert many[1] - many[0] < 0.3 * (few[1] - few[0])


def test_both_rules_find_about_the_same_offset():
    pairs, bits, entity, source = two_sources(11, entities=2000)
    f1, likelihood, auto = (
        learn_offset(*pairs.T, bits, entity, source, method=m) for m in ("f1", "likelihood", "auto")
    )
    assert likelihood.bits == pytest.approx(f1.bits, abs=1.5)
    assert likelihood.bits > 2
    assert auto == likelihood
    assert likelihood.held_out is None


def test_some_labels_expect_what_all_would():
    pairs, bits, entity, source = two_sources(12, entities=3000)
    few = np.where(np.random.default_rng(1).random(3000) < 0.3, np.arange(3000), -1)[entity]
    whole, part = (
        learn_offset(*pairs.T, bits, e, source, method="likelihood") for e in (entity, few)
    )
    assert part.bits == pytest.approx(whole.bits, abs=0.5)


def test_no_true_pair_among_many_is_capped_below():
    pairs, bits, entity, source = two_sources(13)
    entity = np.where(np.arange(len(entity)) < 2, -1, np.arange(len(entity)))
    entity[np.flatnonzero(source == 0)[:2]] = 0  # two of one source, never listed
    with pytest.warns(CalibrationWarning):
        found = learn_offset(*pairs.T, bits, entity, source, method="likelihood")
    assert found.bits == -Search.most


def test_an_offset_that_gains_nothing_is_none():
    rng = np.random.default_rng(0)
    entity = np.arange(120) // 3
    i, j = np.triu_indices(120, 1)
    bits = np.where(entity[i] == entity[j], 3.0, -5.0) + 0.5 * rng.normal(size=len(i))
    assert learn_offset(i, j, bits, entity).bits == 0.0


def test_some_labels_say_what_all_would():
    pairs, bits, entity, source = two_sources(4, entities=3000)
    few = np.where(np.random.default_rng(0).random(3000) < 0.3, np.arange(3000), -1)[entity]
    whole, part = (learn_offset(*pairs.T, bits, e, source) for e in (entity, few))
    assert part.bits == pytest.approx(whole.bits, abs=1.0)
    assert part.without == pytest.approx(whole.without, abs=0.05)


def test_counts_by_hand():
    rng = np.random.default_rng(0)
    clusters, labels = rng.integers(0, 6, 30), rng.integers(-1, 8, 30)
    fold = np.arange(8) % 3
    expected = np.zeros((3, 3))
    for a, b in itertools.combinations(range(30), 2):
        if labels[a] < 0 or labels[b] < 0:
            continue
        same, related = labels[a] == labels[b], clusters[a] == clusters[b]
        for end in (a, b):
            own = fold[labels[end]]
            expected[0, own] += 0.5 * (same and related)
            expected[1, own] += 0.5 * (related and not same)
            expected[2, own] += 0.5 * same
    assert _counts(clusters, labels, fold, 3) == pytest.approx(expected)


def test_the_middle_of_a_plateau_and_the_near_end_of_one_without_an_end():
    search, x = Search(), np.arange(-12.0, 13.0)
    flat = np.where((x >= 2) & (x <= 8), 0.9, 0.5)
    assert _plateau(x, flat, search)[0] > 2
    assert _middle(x, flat, search) == (5.0, False)
    bits, capped = _middle(x, np.where(x >= 5, 0.9, 0.5), search)
    assert capped
    assert 5 <= bits <= 8
    assert _middle(x, np.full(25, 0.7), search) == (0.0, True)


def test_the_background_is_learned_again_at_every_offset():
    rng = np.random.default_rng(5)
    entity = np.arange(200) // 4
    i, j = np.triu_indices(200, 1)
    listed = rng.random(len(i)) < np.where(entity[i] == entity[j], 0.8, 0.02)
    i, j = i[listed], j[listed]
    bits = np.where(entity[i] == entity[j], 2.0, -2.0) + rng.normal(size=len(i)) - 3
    found = learn_offset(i, j, bits, entity, background="learned")
    from relatum.pair_tables.scoring import learned_background

    assert found.background == learned_background([(i, j, bits + found.bits)], entity)
    assert found.bits > 1


def test_texts_and_unknown_entities():
    pairs, bits, entity, source = two_sources(6)
    names = np.array([f"e{e}" for e in entity], dtype=object)
    found = learn_offset(*pairs.T, bits, names, np.where(source == 0, "a", "b"))
    assert found.bits == pytest.approx(learn_offset(*pairs.T, bits, entity, source).bits, abs=1)
    names[:] = None
    with pytest.raises(DataError, match="at least two labelled"):
        learn_offset(*pairs.T, bits, names, source)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"method": "guess"}, "method is"),
        ({"method": "likelihood"}, "two sources without duplicates"),
        ({"groups": [0]}, "groups has 1 elements"),
        ({"bits": [1.0]}, "one length"),
        ({"i": [7]}, "one length"),
        ({"j": [1, 2, 99]}, "numbered from 0 to 3"),
        ({"entity": [[0, 1]]}, "one entry for each"),
        ({"i": [0.5, 1.0, 2.0]}, "numbers of elements"),
    ],
)
def test_what_is_refused(change, match):
    given = {"i": [0, 1, 2], "j": [1, 2, 3], "bits": [1.0, 2.0, 3.0], "entity": [0, 0, 1, 1]}
    with pytest.raises(DataError, match=match):
        learn_offset(**(given | change))


def test_no_pairs_at_all():
    found = best_offset(Labelled((*np.empty((2, 0), np.int64), np.empty(0)), np.zeros(3, np.int64)))
    assert found.bits == 0.0


# --- cluster_pairs


def table(pairs, bits):
    return pa.table({"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1], "match_weight": bits})


def test_an_offset_is_added_to_every_score(tmp_path):
    pairs, bits, _, source = two_sources(7, entities=60)
    groups = {int(k): int(source[k]) for k in np.unique(pairs)}
    proof = tmp_path / "proof"
    given = {"one_per_group": groups}
    found = rt.cluster_pairs(table(pairs, bits), offset=4.0, certificate=proof, **given)
    same = rt.cluster_pairs(table(pairs, bits + 4.0), **given)
    assert found.table["cluster_id"].equals(same.table["cluster_id"])
    assert found.summary.value == same.summary.value
    assert found.summary.offset == 4.0
    assert "offset +4" in str(found.summary)
    assert found.verify()
    verify = rt.pair_tables.verify_clusters
    assert "+4 bits added to every score" in verify(table(pairs, bits), proof).stated
    told = verify(table(pairs, bits), proof, offset=4.0)
    assert told.ok
    assert not any("every score" in fact for fact in told.stated)
    wrong = verify(table(pairs, bits), proof, offset=3.0)
    assert not wrong
    assert "offset 4.0, not 3.0" in wrong.reason
    assert not verify(table(pairs, bits + 4.0), proof)


def test_a_forged_offset_is_refused(tmp_path, forge):
    pairs, bits, _, _ = two_sources(8, entities=40)
    proof = tmp_path / "proof"
    rt.cluster_pairs(table(pairs, bits), offset=4.0, certificate=proof)
    for offset in (0.0, 3.0, -4.0, 1e9):
        forged = forge(proof, {"offset": offset})
        assert not rt.pair_tables.verify_clusters(table(pairs, bits), forged)


def test_a_learned_offset_is_the_one_of_arrays_and_is_proved(tmp_path):
    pairs, bits, entity, source = two_sources(9)
    groups = {int(k): int(source[k]) for k in range(len(entity))}
    labels = {int(k): int(entity[k]) for k in range(len(entity))}
    found = rt.cluster_pairs(
        table(pairs, bits),
        offset="learned",
        labels=labels,
        one_per_group=groups,
        certificate=tmp_path / "proof",
    )
    ids = np.unique(pairs)
    place = np.searchsorted(ids, pairs)
    arrays = learn_offset(*place.T, bits, entity[ids], source[ids])
    assert found.summary.offset == arrays.bits > 1
    assert found.verify()
    plain = rt.cluster_pairs(table(pairs, bits), labels=labels, one_per_group=groups)
    assert found.summary.f1 > plain.summary.f1 + 0.05
    again = rt.cluster_pairs(
        table(pairs, bits), offset=arrays.bits, labels=labels, one_per_group=groups
    )
    for name in ("cluster_id", "component"):
        assert again.origin.whole[name].equals(found.origin.whole[name])


def test_what_score_missing_gives_is_shifted_too(tmp_path):
    rows = table(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 1.0, 1.0]))

    def score(left, right):
        return np.full(len(left), -2.5)

    kept = rt.cluster_pairs(rows, score_missing=score, offset=0.0)
    joined = rt.cluster_pairs(rows, score_missing=score, offset=2.0, certificate=tmp_path / "proof")
    assert kept.summary.clusters == 2  # 1 + 1 - 2.5 < 1
    assert joined.summary.clusters == 1
    assert joined.summary.value == 3 * 3.0 - 3 * 0.5
    assert joined.verify()


def test_missing_scores_are_asked_for_once_in_learning():
    rng = np.random.default_rng(3)
    entity = np.arange(60) // 4
    i, j = np.triu_indices(60, 1)
    true = np.where(entity[i] == entity[j], 2.0, -2.5) + rng.normal(size=len(i)) - 3
    matrix = np.zeros((60, 60))
    matrix[i, j] = matrix[j, i] = true
    listed = rng.random(len(i)) < np.where(entity[i] == entity[j], 0.95, 0.3)
    asked = []

    def score(left, right):
        asked.append(np.minimum(left, right) * 60 + np.maximum(left, right))
        return matrix[left, right]

    found = rt.cluster_pairs(
        table(np.column_stack([i, j])[listed], true[listed]),
        score_missing=score,
        offset="learned",
        labels=dict(enumerate(entity.tolist())),
    )
    learning = np.concatenate(asked[:-1])
    assert len(np.unique(learning)) == len(learning)
    assert found.summary.offset > 1
    assert found.summary.f1 > 0.8


def test_offsets_that_are_refused():
    rows = table(np.array([[0, 1]]), np.array([1.0]))
    with pytest.raises(DataError, match="needs labels"):
        rt.cluster_pairs(rows, offset="learned")
    with pytest.raises(DataError, match="offset is a number of bits up to 1e"):
        rt.cluster_pairs(rows, offset=1e7)
    with pytest.raises(rt.errors.RelatumError, match="offset"):
        rt.cluster_pairs(rows, offset="best")
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    for offset in (1.0, "learned"):
        with pytest.raises(DataError, match="offset= is not available on Spark"):
            rt.cluster_pairs(frame, offset=offset)


def test_clusters_at_an_offset_have_the_value_of_the_optimum():
    pairs, bits, entity, source = two_sources(10, entities=40)
    case = Labelled((*pairs.T, bits), entity, source, Settings(-4.0))
    for offset in (0.0, 3.0, 9.0):
        labels = clusters_at(case, offset, -4.0)
        problem = rt.Problem.from_pairs(
            *pairs.T,
            bits + offset,
            n=len(entity),
            background=-4.0,
            feasible=rt.EQUIVALENCES & rt.one_per_group(source),
        )
        best = rt.infer(problem, prove=True)
        assert problem.value(rt.Partition(labels)) == pytest.approx(best.value, abs=1e-3)
