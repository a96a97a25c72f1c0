"""The engine on DuckDB against enumeration, networkx, inference on the whole, and counting."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest

import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables.options import Given, Plan, Settings, Tuning

pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")
nx = pytest.importorskip("networkx")

from relatum.pair_tables.on_duckdb.engine import cluster  # noqa: E402

STAGES = ["read", "known", "components", "split", "sort", "solve", "finish", "write"]


def all_partitions(items):
    """Yield every way to divide items into sets."""
    if not items:
        yield []
        return
    for sets in all_partitions(items[1:]):
        yield [{items[0]}, *sets]
        for k in range(len(sets)):
            yield [*sets[:k], sets[k] | {items[0]}, *sets[k + 1 :]]


def sparse_pairs(seed, n=80, m=45):
    """Pairs of a sparse random graph, each once, with bits of either sign."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n, (m, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    ids = np.array([f"e{k:03d}" for k in range(n)])
    bits = np.round(3 * rng.normal(size=len(ends)), 3)
    return {(ids[a], ids[b]): w for (a, b), w in zip(ends.tolist(), bits.tolist(), strict=True)}


def table_of(pairs):
    left, right = zip(*pairs, strict=True)
    bits = list(pairs.values())
    return pa.table({"unique_id_l": left, "unique_id_r": right, "match_weight": bits})


def value_of(sets, pairs, background):
    """The value of clusters by its definition, pair by pair."""
    where = {x: k for k, s in enumerate(sets) for x in s}
    listed = [w for (a, b), w in pairs.items() if where[a] == where[b]]
    inside = sum(len(s) * (len(s) - 1) // 2 for s in sets)
    return sum(listed) + background * (inside - len(listed))


def sets_of(found):
    sets = {}
    for row in found.table.to_pylist():
        sets.setdefault(row["cluster_id"], set()).add(row["unique_id"])
    return list(sets.values())


def components_of(pairs, related=()):
    graph = nx.Graph()
    graph.add_nodes_from(x for pair in pairs for x in pair)
    graph.add_edges_from([pair for pair, w in pairs.items() if w > 0])
    graph.add_edges_from(related)
    return list(nx.connected_components(graph))


def best_value(pairs, background, allowed, related=()):
    """The largest value of allowed clusters, component by component, by trying all of them."""
    assert max(map(len, components_of(pairs, related))) <= 8
    total = 0.0
    for component in components_of(pairs, related):
        own = {p: w for p, w in pairs.items() if set(p) <= component}
        candidates = filter(allowed, all_partitions(sorted(component)))
        total += max(value_of(sets, own, background) for sets in candidates)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_small_components_have_the_best_of_all_clusters(seed):
    pairs, rng = sparse_pairs(seed), np.random.default_rng(seed)
    names = sorted({x for pair in pairs for x in pair})
    related = [tuple(names[k] for k in rng.choice(len(names), 2, False)) for _ in range(2)]
    inside = [p for p in pairs if p not in related and p[::-1] not in related]
    unrelated = [inside[k] for k in rng.choice(len(inside), 6, False)]
    groups = {x: k // 2 for k, x in enumerate(names) if k % 3}

    def free(sets):
        return True

    def known(sets):
        where = {x: k for k, s in enumerate(sets) for x in s}
        together = all(where[a] == where[b] for a, b in related if a in where and b in where)
        return together and all(
            where[a] != where[b] for a, b in unrelated if a in where and b in where
        )

    def one_each(sets):
        held = [[groups[x] for x in s if x in groups] for s in sets]
        return all(len(set(g)) == len(g) for g in held)

    facts = {"related": related, "unrelated": unrelated}
    for rule, given, edges in (
        (free, {}, ()),
        (known, {"evidence": facts}, related),
        (one_each, {"one_per_group": groups}, ()),
    ):
        found = cluster(Given(table_of(pairs), **given), Plan(Settings(-1.0)))
        sets = sets_of(found)
        assert rule(sets)
        assert found.summary.value == pytest.approx(value_of(sets, pairs, -1.0))
        assert found.summary.value == pytest.approx(best_value(pairs, -1.0, rule, edges))
        assert found.summary.gap == 0


def test_components_are_those_of_networkx():
    pairs = sparse_pairs(7, n=4000, m=3000)
    summary = cluster(Given(table_of(pairs)), Plan(Settings(0.0))).summary
    components = components_of(pairs)
    assert summary.components == summary.components_solved == len(components)
    assert summary.largest_component == max(map(len, components))
    assert summary.elements == sum(map(len, components))
    assert summary.rows == len(pairs)


@pytest.mark.parametrize("seed", range(3))
def test_the_whole_problem_has_no_better_clusters(seed):
    pairs = sparse_pairs(seed, n=40, m=160)
    found = cluster(Given(table_of(pairs)), Plan(Settings(-0.5, prove=True)))
    names = sorted({x for pair in pairs for x in pair})
    i, j = (np.array([names.index(pair[k]) for pair in pairs]) for k in (0, 1))
    problem = rt.Problem.from_pairs(
        i, j, list(pairs.values()), n=len(names), background=-0.5, feasible=rt.EQUIVALENCES
    )
    best = rt.infer(problem, prove=True)
    labels = np.empty(len(names), dtype=np.int64)
    for k, members in enumerate(sets_of(found)):
        labels[[names.index(x) for x in members]] = k
    assert problem.value(rt.Partition(labels)) == pytest.approx(found.summary.value)
    assert found.summary.value == pytest.approx(best.value, abs=1e-6)
    assert found.summary.bound >= best.value - 1e-6


def test_no_pair_is_lost_on_the_way_over_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pairs, seen, stages = sparse_pairs(1, n=6000, m=5000), set(), []

    def watch(stage, done, total):
        stages.append(stage)
        seen.update(path.name for path in tmp_path.glob("relatum-*/*.bin"))

    wide = cluster(Given(table_of(pairs)), Plan(Settings(-1.0)))
    small = Tuning(least_batch_pairs=100)
    plan = Plan(Settings(-1.0, tuning=small), memory_limit=4000, threads=2, monitor=watch)
    found = cluster(Given(table_of(pairs)), plan)
    assert list(dict.fromkeys(stages)) == STAGES
    assert "pairs.bin" in seen
    assert len([name for name in seen if name.startswith("bucket")]) > 5
    assert list(tmp_path.iterdir()) == []
    assert found.table.equals(wide.table)
    sets = sets_of(found)
    where = {x: k for k, s in enumerate(sets) for x in s}
    positive = [pair for pair, w in pairs.items() if w > 0]
    cut = sum(where[a] != where[b] for a, b in positive)
    inside = sum(len(s) * (len(s) - 1) // 2 for s in sets)
    assert found.summary.pairs_cut == cut
    assert found.summary.pairs_added == inside - (len(positive) - cut)
    assert found.summary.value == pytest.approx(value_of(sets, pairs, -1.0))


def test_giants_are_split_and_their_bound_counts_what_was_cut():
    pairs = sparse_pairs(2, n=500, m=1500)
    whole = cluster(Given(table_of(pairs)), Plan(Settings(-0.2, prove=True))).summary
    few = Tuning(sorted_pairs=60, kernel_elements=24)
    settings = Settings(-0.2, most_elements=50, tuning=few)
    found = cluster(Given(table_of(pairs)), Plan(settings, memory_limit=10_000))
    assert found.summary.components_split == sum(len(c) > 50 for c in components_of(pairs)) > 0
    assert found.summary.value <= whole.value + 1e-6
    assert found.summary.bound >= whole.value - 1e-6
    assert found.summary.value == pytest.approx(value_of(sets_of(found), pairs, -0.2))
    gaps = {row["component"]: row["cluster_gap"] for row in found.table.to_pylist()}
    assert sum(gaps.values()) == pytest.approx(found.summary.gap)  # each component has its own


def test_the_pair_that_is_shown_is_the_contradictory_one():
    left, right = list("aaaacc"), list("bbcdde")  # a, b twice the same; a, d is contradictory
    bits = [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    table = {"unique_id_l": [*left, "d"], "unique_id_r": [*right, "a"]}
    pairs = pa.table({**table, "match_weight": [*bits, -1.0]})
    with pytest.raises(DataError, match=r"the pair \('a',\), \('d',\)"):
        cluster(Given(pairs), Plan(Settings()))
    odd = cluster(Given(pairs, odd_rows="handle"), Plan(Settings())).summary.odd_rows
    assert (odd["duplicates"], odd["contradictory"]) == (1, 2)


def test_a_component_that_cannot_be_clustered_is_named_though_others_are_kept():
    pairs = {(f"{c}1", f"{c}2"): 2.0 for c in "abcdef"}
    first = cluster(Given(table_of(pairs)), Plan(Settings()))
    facts = {"related": [("d1", "d2")], "unrelated": [("d1", "d2")]}
    with pytest.raises(rt.errors.EvidenceError, match=r"Its elements: d1, d2\."):
        cluster(Given(table_of(pairs), evidence=facts, previous=first.table), Plan(Settings()))


def test_a_background_is_learned_from_labels_only():
    with pytest.raises(DataError, match="labels="):
        cluster(Given(table_of(sparse_pairs(0))), Plan(Settings(), learn_background=True))
