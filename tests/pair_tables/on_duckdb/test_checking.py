"""Clusters are proved again from the table and the certificate; whatever is forged is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import DataError
from relatum.pair_tables import verify_clusters
from relatum.pair_tables.options import Settings, Tuning

duckdb = pytest.importorskip("duckdb", reason="install relatum[tables]")
pa = pytest.importorskip("pyarrow")

from relatum.pair_tables.on_duckdb import checking, store  # noqa: E402
from relatum.pair_tables.on_duckdb import engine as duckdb_engine  # noqa: E402


def table_of(left, right, bits):
    return pa.table({"unique_id_l": left, "unique_id_r": right, "match_weight": bits})


def random_pairs(seed, n=60, m=90, shift=0.0):
    """Some pairs of n elements, each once, and their bits."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.permutation(len(i))[:m]
    return i[chosen], j[chosen], 3 * rng.normal(size=m) + shift


def exact_optimum(pairs, found, background, groups=None, cap=99, related=(), unrelated=()):
    """The exact value of the clusters, and the best of all, component by component."""
    scores = {(a, b): Fraction(w) for a, b, w in zip(*(x.tolist() for x in pairs), strict=True)}
    cluster = dict(
        zip(
            found.table["unique_id"].to_pylist(), found.table["cluster_id"].to_pylist(), strict=True
        )
    )
    parent = {v: v for v in cluster}

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    for (a, b), w in scores.items():
        if w > 0:
            parent[root(a)] = root(b)
    for a, b in related:
        parent[root(a)] = root(b)
    components = {}
    for v in cluster:
        components.setdefault(root(v), []).append(v)
    value = best = Fraction(0)
    for members in components.values():
        weights = {
            (a, b): scores.get((a, b), Fraction(background))
            for a, b in itertools.combinations(sorted(members), 2)
        }
        value += sum(w for (a, b), w in weights.items() if cluster[a] == cluster[b])
        best += max(
            sum((w for (a, b), w in weights.items() if where[a] == where[b]), Fraction(0))
            for where in _clusterings(sorted(members), groups, cap, related, unrelated)
        )
    return value, best


def _clusterings(members, groups, cap, related, unrelated):
    for labels in naive.all_partitions(len(members)).tolist():
        where = dict(zip(members, labels, strict=True))
        inside = [(a, b) for a, b in itertools.combinations(members, 2) if where[a] == where[b]]
        if max(map(labels.count, labels)) > cap or any((a, b) in unrelated for a, b in inside):
            continue
        if groups and any(a in groups and groups[a] == groups.get(b) for a, b in inside):
            continue
        if all(where[a] == where[b] for a, b in related if a in where):
            yield where


CASES = {
    "plain": {},
    "evidence": {"evidence": {"related": [(1, 2), (3, 4)], "unrelated": [(5, 6)]}},
    "groups": {"one_per_group": {k: k % 5 for k in range(0, 80, 2)}},
    "cap": {"max_size": 2},
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("case", CASES)
def test_small_tables_beside_brute_force(tmp_path, seed, case):
    pairs = random_pairs(seed, n=80, m=38)
    names = np.unique(np.concatenate(pairs[:2])).tolist()
    given = dict(CASES[case])
    if case == "evidence":
        given = {
            "evidence": {
                "related": [(names[0], names[1]), (names[2], names[3])],
                "unrelated": [(names[4], names[5])],
            }
        }
    table, path = table_of(*pairs), tmp_path / "c.cert"
    found = rt.cluster_pairs(table, background=-1.0, certificate=path, **given)
    facts = given.get("evidence", {"related": [], "unrelated": []})
    value, best = exact_optimum(
        pairs,
        found,
        -1.0,
        given.get("one_per_group"),
        given.get("max_size", 99),
        facts["related"],
        facts["unrelated"],
    )
    assert found.summary.value == float(value)
    assert found.summary.bound >= float(best)
    assert found.summary.gap == pytest.approx(float(best - value), abs=1e-12)
    answer = found.verify()
    assert answer, answer.reason
    assert answer.elements == len(names)
    assert answer.by_pairs + answer.by_triangles + answer.by_subsets == answer.components
    assert (answer.value, answer.bound) == (found.summary.value, found.summary.bound)
    assert verify_clusters(table, path)


@pytest.fixture
def case(tmp_path):
    """A table with open components, its clusters, and their certificate."""
    pairs = random_pairs(5, n=80, m=200, shift=0.5)
    path = tmp_path / "c.cert"
    found = rt.cluster_pairs(table_of(*pairs), background=-1.0, certificate=path)
    assert found.verify()
    return pairs, found, path


def refused(table, path, match, **more):
    answer = verify_clusters(table, path, **more)
    assert not answer
    assert "\n" not in answer.reason
    assert match in answer.reason, answer.reason


def without_mark(forge, path, table):
    """The certificate as someone would forge it who writes the fingerprint of another table."""
    other = path.with_name("other.cert")
    rt.cluster_pairs(table, background=-1.0, certificate=other)
    mark = checking.Archive(other).manifest
    return forge(path, {"pairs": mark["pairs"], "ids": mark["ids"]})


def test_another_score_is_refused(case, forge):
    (i, j, w), found, path = case
    cluster = dict(
        zip(
            found.table["unique_id"].to_pylist(), found.table["cluster_id"].to_pylist(), strict=True
        )
    )
    inside = next(k for k in range(len(i)) if cluster[i[k]] == cluster[j[k]])
    changed = w.copy()
    changed[inside] = np.nextafter(w[inside], np.inf)
    refused(table_of(i, j, changed), path, "another table of pairs: its rows differ")
    changed[inside] = w[inside] + 0.25
    table = table_of(i, j, changed)
    refused(table, without_mark(forge, path, table), "is claimed")
    cut = next(k for k in range(len(i)) if cluster[i[k]] != cluster[j[k]])
    changed = w.copy()
    changed[cut] = w[cut] + 40.0  # a better clustering joins the two
    table = table_of(i, j, changed)
    answer = verify_clusters(table, without_mark(forge, path, table))
    assert not answer


def test_a_row_that_is_gone_is_refused(case, forge):
    (i, j, w), _, path = case
    refused(table_of(i[1:], j[1:], w[1:]), path, "another table of pairs")
    negative = int(np.argmin(w))
    keep = np.arange(len(i)) != negative
    refused(table_of(i[keep], j[keep], w[keep]), path, "another table of pairs: its rows differ")
    renamed = np.where(i == i.max(), 1000, i)
    refused(table_of(renamed, j, w), path, "another table of pairs: its elements differ")
    positive = int(np.argmax(w))
    keep = np.arange(len(i)) != positive
    table = table_of(i[keep], j[keep], w[keep])
    assert not verify_clusters(table, without_mark(forge, path, table))


def test_another_order_of_rows_is_the_same_table(case):
    (i, j, w), _, path = case
    order = np.random.default_rng(0).permutation(len(i))
    assert verify_clusters(table_of(j[order], i[order], w[order]), path, threads=1)


def test_an_element_in_another_cluster_is_refused(case, forge):
    pairs, _, path = case
    table, cluster = table_of(*pairs), np.load(_member(path, "cluster.npy"))
    sizes = np.bincount(cluster, minlength=len(cluster))
    large = int(sizes.argmax())
    last = np.flatnonzero(cluster == large)[-1]
    moved = cluster.copy()
    moved[last] = last
    refused(table, forge(path, arrays={"cluster.npy": moved}), "")
    roots = np.load(_member(path, "cluster.npy"))
    other = next(k for k in range(len(roots)) if roots[k] == k and k < last and k != large)
    moved[last] = other
    refused(table, forge(path, arrays={"cluster.npy": moved}), "")
    refused(table, forge(path, arrays={"cluster.npy": cluster[:-1]}), "member cluster.npy")
    for wrong in (-1, len(cluster), 1):
        moved = cluster.copy()
        moved[0] = wrong
        refused(table, forge(path, arrays={"cluster.npy": moved}), "smallest elements of sets")
    whole = np.zeros_like(cluster)
    refused(table, forge(path, arrays={"cluster.npy": whole}), "reaches across components")


def _member(path, name):
    import io
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return io.BytesIO(archive.read(name))


def test_a_bound_that_is_too_low_is_refused(case, forge):
    pairs, found, path = case
    table = table_of(*pairs)
    low = math.nextafter(found.summary.bound, -math.inf)
    refused(table, forge(path, {"bound": low}), "adds up to the bound")
    assert verify_clusters(table, forge(path, {"bound": found.summary.bound + 1}))
    gaps = np.load(_member(path, "gaps.npy"))
    assert len(gaps) > 0
    less = gaps.copy()
    less["gap"][0] = math.nextafter(gaps["gap"][0], 0)
    refused(table, forge(path, arrays={"gaps.npy": less}), "The element ")
    refused(table, forge(path, arrays={"gaps.npy": gaps[1:]}), "is not proved")


@pytest.mark.parametrize("gap", [math.nan, math.inf, -1.0, 0.0])
def test_gaps_that_are_no_numbers_are_refused(case, forge, gap):
    pairs, _, path = case
    gaps = np.load(_member(path, "gaps.npy"))
    gaps["gap"][0] = gap
    refused(table_of(*pairs), forge(path, arrays={"gaps.npy": gaps}), "not a positive number")


def test_gaps_are_of_parts_and_each_once(case, forge):
    pairs, _, path = case
    gaps = np.load(_member(path, "gaps.npy"))
    for wrong in (np.repeat(gaps, 2), gaps[::-1].copy() if len(gaps) > 1 else gaps.repeat(2)):
        refused(table_of(*pairs), forge(path, arrays={"gaps.npy": wrong}), "Gaps are not of parts")
    for part in (-1, 10**9, int(gaps["part"][0]) + 1):
        wrong = gaps[:1].copy()
        wrong["part"] = part
        refused(table_of(*pairs), forge(path, arrays={"gaps.npy": wrong}), "Gaps are not of parts")


def test_a_value_off_by_one_place_is_refused(case, forge):
    pairs, found, path = case
    for other in (-math.inf, math.inf):
        value = math.nextafter(found.summary.value, other)
        refused(table_of(*pairs), forge(path, {"value": value}), "and " + repr(value))


def test_other_components_are_refused(case, forge):
    pairs, _, path = case
    table, n = table_of(*pairs), checking.Archive(path).manifest["elements"]
    merged = {"part.npy": np.zeros(n, "<i4")}
    refused(table, forge(path, arrays=merged), "several components")
    split = {"part.npy": np.arange(n, dtype="<i4")}
    refused(table, forge(path, arrays=split), "reaches across")
    refused(table, forge(path, {"components": 1}), "are claimed")
    refused(table, forge(path, {"parts": 1}), "are claimed")
    refused(table, forge(path, {"elements": n - 1}), "another table of pairs")


def test_members_of_another_run_are_refused(case, tmp_path, forge):
    pairs, _, path = case
    other = tmp_path / "other.cert"
    rt.cluster_pairs(table_of(*pairs), background=0.0, certificate=other)
    stolen = {"cluster.npy": np.load(_member(other, "cluster.npy"))}
    refused(table_of(*pairs), forge(path, arrays=stolen), "")
    refused(table_of(*pairs), forge(path, {"background": 0.0}), "")
    refused(table_of(*pairs), forge(path, {"max_size": 2}), "larger than max_size")
    refused(table_of(*pairs), forge(path, arrays={"gaps.npy": None}), "lacks the member gaps.npy")


def test_clusters_that_are_not_proved_are_refused(case):
    (i, j, w), found, path = case
    table = table_of(i, j, w)
    clusters = found.table.to_pandas()
    assert verify_clusters(table, path, clusters=clusters.sample(frac=1.0, random_state=0))
    assert verify_clusters(table, path, clusters=clusters[["unique_id", "cluster_id"]])
    moved = clusters.copy()
    moved.loc[0, "cluster_id"] = int(moved["cluster_id"].iloc[-1])
    refused(table, path, "other clusters", clusters=moved)
    twice = clusters.copy()
    twice.loc[0, "unique_id"] = int(twice["unique_id"].iloc[1])
    refused(table, path, "each element once", clusters=twice)
    refused(table, path, "each element once", clusters=clusters.iloc[1:])
    for name in ("cluster_gap", "cluster_size"):
        wrong = clusters.copy()
        wrong[name] = wrong[name].astype(float)
        wrong.loc[3, name] += 1
        refused(table, path, f"column {name}", clusters=wrong)
        wrong.loc[3, name] = math.nan
        refused(table, path, f"column {name}", clusters=wrong)
    with pytest.raises(DataError, match="no column 'cluster_id'"):
        verify_clusters(table, path, clusters=clusters[["unique_id"]])


def test_pieces_of_a_component_are_proved_with_what_lies_between(tmp_path, monkeypatch, forge):
    tuning = Tuning(kernel_elements=8, batch_pairs=60, least_batch_pairs=50, sorted_pairs=64)

    def settings(*values, **names):
        return Settings(*values, **{"tuning": tuning, "most_elements": 20, **names})

    monkeypatch.setattr("relatum.pair_tables.api.Settings", settings)
    pairs = random_pairs(3, n=120, m=300, shift=1.0)
    path = tmp_path / "c.cert"
    found = rt.cluster_pairs(table_of(*pairs), background=-0.5, certificate=path)
    assert found.summary.components_split > 0
    answer = found.verify()
    assert answer, answer.reason
    assert answer.by_proof == 0
    n = answer.elements
    refused(table_of(*pairs), forge(path, arrays={"part.npy": None}), "are claimed")
    part = np.load(_member(path, "part.npy"))
    assert len(np.unique(part)) > answer.components
    single = np.arange(n, dtype="<i4")
    refused(table_of(*pairs), forge(path, arrays={"part.npy": single}), "reaches across")


@pytest.mark.parametrize("prove", [False, True])
def test_large_parts_are_proved_by_proofs_of_their_own(tmp_path, monkeypatch, forge, prove):
    monkeypatch.setattr("relatum.pair_tables.check.gaps.PACKED", 6)
    monkeypatch.setattr("relatum.pair_tables.check.gaps.ENUMERATED", 3)
    pairs = random_pairs(11, n=50, m=110, shift=0.5)
    path = tmp_path / "c.cert"
    found = rt.cluster_pairs(
        table_of(*pairs), background=-0.5, certificate=path, prove=prove, time_limit=20.0
    )
    answer = found.verify()
    assert answer, answer.reason
    assert answer.by_proof > 0
    if prove:
        assert found.summary.gap < 1e-5
    names = [n for n in checking.Archive(path).names() if n.startswith("proofs/")]
    data = _member(path, names[0]).read()
    table = table_of(*pairs)
    refused(table, forge(path, files={names[0]: data[:-40]}), "cannot be read")
    other = tmp_path / "other.cert"
    rt.cluster_pairs(table, background=-0.25, certificate=other, prove=prove, time_limit=20.0)
    theirs = [n for n in checking.Archive(other).names() if n in names]
    stolen = {name: _member(other, name).read() for name in theirs}
    assert stolen
    refused(table, forge(path, files=stolen), "The element ")


def test_scored_pairs_are_taken_from_the_certificate(tmp_path, forge):
    pairs = random_pairs(4, n=40, m=70, shift=1.0)
    path, table = tmp_path / "c.cert", table_of(*pairs)

    def score(a, b):
        return np.where((a + b) % 2 == 0, 1.5, -2.5)

    found = rt.cluster_pairs(table, score_missing=score, certificate=path)
    answer = found.verify()
    assert answer, answer.reason
    count = found.summary.pairs_scored
    assert answer.stated == (f"{count} pairs that score_missing scored",)
    name = next(n for n in checking.Archive(path).names() if n.startswith("missing/"))
    rows = np.load(_member(path, name))
    refused(table, forge(path, {"scored": count - 1}), "are claimed")
    refused(table, forge(path, arrays={name: rows[:-1]}), "are claimed")
    for field, wrong in (("w", math.nan), ("i", -1), ("j", 10**6)):
        changed = rows.copy()
        changed[field][0] = wrong
        refused(table, forge(path, arrays={name: changed}), "does not score pairs inside parts")
    changed = rows.copy()
    changed[0] = changed[1]
    refused(table, forge(path, arrays={name: changed}), "scored twice")
    ids = np.unique(np.concatenate(pairs[:2]))
    a, b = np.searchsorted(ids, pairs[0]), np.searchsorted(ids, pairs[1])
    best = int(np.argmax(pairs[2]))
    changed = rows.copy()
    changed[0] = (a[best], b[best], -30.0)  # a listed pair would be worth less
    refused(table, forge(path, arrays={name: changed}), "is listed")
    changed = rows.copy()
    changed["w"] += 1.0
    refused(table, forge(path, arrays={name: changed}), "")


def test_what_is_told_must_be_what_the_certificate_is_about(tmp_path, forge):
    pairs = random_pairs(8, m=80)
    names = np.unique(np.concatenate(pairs[:2])).tolist()
    facts = {"related": [(names[0], names[1])], "unrelated": [(names[2], names[3])]}
    groups = {name: k % 9 for k, name in enumerate(names)}
    path, table = tmp_path / "c.cert", table_of(*pairs)
    found = rt.cluster_pairs(
        table, evidence=facts, one_per_group=groups, max_size=4, certificate=path
    )
    assert found.verify()
    told = {"evidence": facts, "one_per_group": groups, "max_size": 4, "background": -4.0}
    assert verify_clusters(table, path, **told).stated == ()
    assert len(verify_clusters(table, path).stated) == 4
    wrong = {
        "evidence": {"related": [(names[0], names[1])]},
        "one_per_group": {name: k % 8 for k, name in enumerate(names)},
        "max_size": 5,
        "background": -3.0,
    }
    for name, value in wrong.items():
        refused(table, path, "The certificate is about", **{name: value})
    less = forge(path, arrays={"evidence.npy": None})
    refused(table, less, "other evidence", evidence=facts)
    mine = rt.cluster_pairs(table, certificate=tmp_path / "mine.cert")
    stolen = mine.check.func(*mine.check.args[:1], path, *mine.check.args[2:])
    assert "The certificate is about" in stolen.reason


def test_a_largest_size_is_one_that_clustering_takes(tmp_path, forge):
    pairs = table_of(["a", "b"], ["b", "c"], [7.0, 6.0])
    rt.cluster_pairs(pairs, certificate=tmp_path / "c")
    assert "max_size" in verify_clusters(pairs, forge(tmp_path / "c", {"max_size": 10**30})).reason
    assert not verify_clusters(pairs, forge(tmp_path / "c", {"max_size": 1}))


def test_clusters_against_what_is_known_are_refused(tmp_path, forge):
    table = table_of([0, 1, 2], [1, 2, 3], [5.0, 4.0, 3.0])
    path = tmp_path / "c.cert"
    rt.cluster_pairs(table, background=0.0, certificate=path)
    facts = np.array([[0, 1, 0]], "<i4")
    refused(table, forge(path, arrays={"evidence.npy": facts}), "The element 0 is in a cluster")
    groups = np.array([-1, 0, -1, 0], "<i4")
    refused(table, forge(path, arrays={"groups.npy": groups}), "two elements of one group")
    for wrong in ([[1, 0, 0]], [[0, 9, 1]], [[0, 1, 2]], [[0, 1, 1], [0, 1, 1]]):
        arrays = {"evidence.npy": np.array(wrong, "<i4")}
        refused(table, forge(path, arrays=arrays), "does not list pairs")
    huge = np.array([-1, 2**31 - 1, -1, 0], "<i4")
    refused(table, forge(path, arrays={"groups.npy": huge}), "does not number groups")


def test_groups_may_be_columns_of_the_table(tmp_path, forge):
    rng = np.random.default_rng(2)
    i, j, w = random_pairs(2, n=40, m=70, shift=1.0)
    source = rng.permutation(40) % 3
    table = table_of(i, j, w).append_column("kind_l", pa.array(source[i]))
    table = table.append_column("kind_r", pa.array(source[j]))
    path = tmp_path / "c.cert"
    found = rt.cluster_pairs(table, one_per_group="kind", certificate=path)
    assert found.verify()
    assert verify_clusters(table, path, one_per_group="kind")
    assert not verify_clusters(table, forge(path, {"one_per_group": None}), one_per_group="kind")


def test_kept_components_are_proved_again(tmp_path):
    pairs = random_pairs(6, n=80, m=190, shift=0.3)
    table = table_of(*pairs)
    first = rt.cluster_pairs(table, background=-1.0)
    later = rt.cluster_pairs(table, background=-1.0, previous=first, certificate=tmp_path / "c")
    assert later.summary.components_reused == later.summary.components
    assert later.verify()
    closed = rt.cluster_pairs(table, background=-1.0, prove=True)
    assert closed.summary.gap < 1e-5
    again = rt.cluster_pairs(
        table, background=-1.0, previous=closed, prove=True, certificate=tmp_path / "d"
    )
    assert again.summary.components_reused == 0  # their proofs were not kept
    assert again.summary.gap < 1e-5
    assert again.verify()


def test_odd_rows_are_handled_alike(tmp_path):
    i, j, w = random_pairs(9, n=40, m=70)
    left = pa.array([*i.tolist(), 3, None, 5, int(i[0])])
    right = pa.array([*j.tolist(), 3, 4, 6, int(j[0])])
    bits = pa.array([*w.tolist(), 1.0, 2.0, math.nan, float(w[0]) + 2.0])
    table = table_of(left, right, bits)
    found = rt.cluster_pairs(table, odd_rows="handle", certificate=tmp_path / "c.cert")
    assert found.summary.odd_rows["contradictory"] == 2
    answer = found.verify()
    assert answer, answer.reason
    refused(table_of(i, j, w), tmp_path / "c.cert", "another table of pairs")


def test_contradictory_rows_are_refused_where_they_were(tmp_path, forge):
    table = table_of([0, 1, 0], [1, 2, 1], [5.0, 4.0, 1.0])
    path = tmp_path / "c.cert"
    rt.cluster_pairs(table, odd_rows="handle", certificate=path)
    assert verify_clusters(table, path)
    refused(table, forge(path, {"odd_rows": "refuse"}), "contradict each other")


def test_probabilities_and_sources(tmp_path):
    table = pa.table(
        {
            "source_dataset_l": ["x", "x", "y"],
            "unique_id_l": [1, 2, 1],
            "source_dataset_r": ["y", "y", "y"],
            "unique_id_r": [1, 1, 2],
            "match_probability": [0.99, 0.97, 0.5],
        }
    )
    found = rt.cluster_pairs(table, one_per_group="source_dataset", certificate=tmp_path / "c")
    assert found.verify()
    low = table.set_column(4, "match_probability", pa.array([0.99, 0.98, 0.5]))
    refused(low, tmp_path / "c", "another table")


@pytest.mark.slow
def test_pairs_are_not_held_in_memory(tmp_path, monkeypatch):
    """Pairs beyond a share of the memory go to disk, and come back bucket by bucket."""
    pairs = random_pairs(1, n=2000, m=5000, shift=-1.0)
    from pyarrow import parquet

    parquet.write_table(table_of(*pairs), tmp_path / "pairs.parquet")
    path = tmp_path / "c.cert"
    rt.cluster_pairs(tmp_path / "pairs.parquet", certificate=path)
    held, append = [], store.Spool.append

    def spy(self, i, j, w):
        append(self, i, j, w)
        held.append(sum(len(part) for part in self._parts))

    monkeypatch.setattr(store.Spool, "append", spy)
    memory = 200_000
    answer = verify_clusters(tmp_path / "pairs.parquet", path, memory_limit=memory, threads=2)
    assert answer, answer.reason
    assert max(held) * store.BYTES <= memory // 8 < 5000 * store.BYTES


def test_the_same_answer_with_any_memory_and_threads(case):
    pairs, _, path = case
    table = table_of(*pairs)
    few = verify_clusters(table, path, memory_limit=10**5, threads=1)
    many = verify_clusters(table, path, memory_limit="1GB", threads=3)
    assert few == many
    assert few


def test_nothing_is_written_if_the_run_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(duckdb_engine, "ids_fingerprint", fail)
    with pytest.raises(KeyboardInterrupt):
        rt.cluster_pairs(table_of([0], [1], [1.0]), certificate=tmp_path / "c.cert")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="cannot be written"):
        rt.cluster_pairs(table_of([0], [1], [1.0]), certificate=tmp_path / "none" / "c.cert")
