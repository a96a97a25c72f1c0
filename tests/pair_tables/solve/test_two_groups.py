"""Components of two groups: matched whole and proved, with evidence, ties and earlier clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

import relatum as rt
from relatum.errors import EvidenceError
from relatum.pair_tables import (
    Component,
    Settings,
    batch_of,
    solve_batch,
    solve_component,
    verify_clusters,
)
from relatum.pair_tables.solve.batching import of_two_groups, problem_of


def two_sources(seed, n, degree, shift=0.0):
    """A table of scored pairs of two sources, even and odd ids, and the matrix of its bits."""
    rng = np.random.default_rng(seed)
    keep = rng.random((n, n)) < degree / n
    np.fill_diagonal(keep, True)
    bits = rng.normal(-2.0, 4.0, (n, n)) + 8.0 * np.eye(n) + shift
    i, j = np.nonzero(keep)
    names = {"unique_id_l": 2 * i, "unique_id_r": 2 * j + 1, "match_weight": bits[i, j]}
    return pd.DataFrame(names), np.where(keep, bits, -np.inf)


def heaviest(bits):
    w = np.maximum(bits, 0.0)
    a, b = linear_sum_assignment(w, maximize=True)
    return w[a, b].sum()


GROUPS = {k: k % 2 for k in range(4000)}


@pytest.mark.parametrize("prove", [False, True])
@pytest.mark.parametrize(
    ("n", "degree", "shift"), [(9, 3, 0), (80, 4, 0), (80, 4, 12), (400, 6, 3)]
)
def test_tables_of_two_sources_have_no_gap(n, degree, shift, prove):
    pairs, bits = two_sources(n, n, degree, shift)
    found = rt.cluster_pairs(pairs, background=-4.0, one_per_group=GROUPS, prove=prove).summary
    assert found.value == pytest.approx(heaviest(bits))
    assert found.bound == found.value
    assert found.components_split == 0
    assert found.largest_cluster <= 2


@pytest.mark.parametrize("n", [30, 300, 1100])
def test_certificates_of_two_sources_are_checked(n, tmp_path):
    pairs, bits = two_sources(n, n, 5, 4.0)
    path = tmp_path / "clusters.cert"
    kept = rt.cluster_pairs(pairs, background=-4.0, one_per_group=GROUPS, certificate=path)
    assert kept.summary.value == pytest.approx(heaviest(bits))
    assert kept.summary.bound - kept.summary.value < 1e-9
    answer = verify_clusters(pairs, path, one_per_group=GROUPS, background=-4.0)
    assert answer, answer.reason
    assert answer.by_proof > 0
    assert answer.bound == kept.summary.bound


def test_a_forged_proof_or_gap_of_a_matching_is_refused(tmp_path, forge):
    pairs, _ = two_sources(2, 60, 6, 4.0)
    path = tmp_path / "clusters.cert"
    rt.cluster_pairs(pairs, background=-4.0, one_per_group=GROUPS, certificate=path)
    import zipfile

    with zipfile.ZipFile(path) as file:
        names = [n for n in file.namelist() if n.startswith("proofs/")]
        cluster = np.load(file.open("cluster.npy"))
        proofs = {n: file.read(n) for n in names}
    assert names
    # half of the pairs taken apart, and the same proofs: they prove the bound, but not this gap
    apart = np.where(np.arange(len(cluster)) < 40, np.arange(len(cluster)), cluster)
    forged = forge(path, arrays={"cluster.npy": apart.astype("<i4")}, files=proofs)
    answer = verify_clusters(pairs, forged, one_per_group=GROUPS)
    assert not answer
    # of three groups, pairs may have a third
    three = {k: k % 3 for k in range(200)}
    assert not verify_clusters(pairs, path, one_per_group=three)


@pytest.mark.parametrize("seed", range(12))
def test_it_equals_inference_with_evidence_both_ways(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < 0.6
    i, j = i[keep], j[keep]
    w = rng.integers(-3, 6, len(i)) * 1.0 if seed % 2 else rng.normal(1.0, 3.0, len(i))
    groups = rng.integers(0, 2, n)
    groups[:3] = 0, 1, 1
    rules = {"related": [[0, 1]], "unrelated": [[0, 2]], "groups": groups + 7}
    component = Component(n, i, j, w, **rules)
    found = solve_component(component, Settings(-0.5))
    problem = problem_of(component, -0.5, None)
    best = rt.infer(problem, solver="partition_branch_and_cut", prove=True)
    assert problem.feasible.first_violation(rt.Partition(found.labels)) is None
    assert found.value == pytest.approx(problem.value(rt.Partition(found.labels)))
    assert found.value == pytest.approx(best.value)
    assert found.gap == 0


def test_only_components_of_two_groups_are_taken():
    owner = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
    groups = np.array([4, 9, 4, 1, 2, 3, 5, 5, 0, 1, -1])
    two, low = of_two_groups(groups, owner, 5)
    assert two.tolist() == [True, False, False, False, False]
    assert low[0] == 4


@pytest.mark.parametrize("groups", [[0, 1, 2, 0, 1, 2], [0, 1, -1, 0, 1, 0], [-1] * 6])
def test_three_groups_and_elements_in_none_are_clustered_as_before(groups):
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(6, 1)
    component = Component(6, i, j, rng.normal(1.0, 2.0, 15), groups=np.array(groups))
    found = solve_component(component, Settings(-1.0))
    best = rt.infer(problem_of(component, -1.0, None), prove=True)
    assert found.value == pytest.approx(best.value)
    assert found.gap == 0


def test_a_largest_cluster_of_one_joins_nothing():
    component = Component(4, [0, 1, 2], [1, 2, 3], [3.0, 3.0, 3.0], groups=[0, 1, 0, 1])
    assert solve_component(component, Settings(max_size=1)).value == 0.0
    assert solve_component(component, Settings(max_size=2)).value == 6.0


@pytest.mark.parametrize(
    "rules",
    [
        {"related": [[0, 2]]},
        {"related": [[0, 1], [0, 3]]},
        {"related": [[0, 1]], "unrelated": [[0, 1]]},
    ],
)
def test_evidence_that_leaves_nothing_is_an_error(rules):
    component = Component(4, [0, 1, 2], [1, 2, 3], [3.0, 3.0, 3.0], groups=[0, 1, 0, 1], **rules)
    with pytest.raises(EvidenceError, match="cannot be clustered"):
        solve_component(component, Settings())


def test_ties_keep_what_was():
    # a path of four: both ways to match it are worth the same, or it is one pair in the middle
    chain = {"i": [0, 1, 2], "j": [1, 2, 3], "groups": [0, 1, 0, 1]}
    for bits, start, expected in (
        ([2.0, 4.0, 2.0], [0, 1, 1, 2], [0, 1, 1, 2]),
        ([2.0, 4.0, 2.0], [0, 0, 1, 1], [0, 0, 1, 1]),
        ([2.0, 4.0, 2.5], [0, 1, 1, 2], [0, 0, 1, 1]),  # no tie
        ([2.0, 4.0, 2.0], [-1, 1, 1, -1], [0, 1, 1, 2]),  # of new elements nothing is known
        ([2.0, 4.0, 2.0], [0, 0, 0, 0], [0, 0, 1, 1]),  # not allowed any more
    ):
        component = Component(4, log_odds=bits, start=start, **chain)
        assert solve_component(component, Settings(-1.0)).labels.tolist() == expected, start


def test_a_batch_is_solved_as_its_components_are_and_as_ever():
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(40), rng.integers(2, 9, 40))
    n = len(owner)
    i, j = np.nonzero(np.triu(owner[:, None] == owner, 1))
    pairs = i, j, rng.normal(1.0, 3.0, len(i))
    groups = rng.integers(0, 3, n)
    batch, _ = batch_of(owner, pairs, None, groups)
    found, again = (solve_batch(batch, Settings(-1.0)) for _ in range(2))
    assert found.labels.tolist() == again.labels.tolist()
    for k in range(40):
        own = owner == k
        inside = own[i]
        first = int(np.argmax(own))
        alone = Component(
            int(own.sum()), i[inside] - first, j[inside] - first, pairs[2][inside],
            groups=groups[own],
        )  # fmt: skip
        one = solve_component(alone, Settings(-1.0))
        assert one.labels.tolist() == found.labels[own].tolist()
        assert one.value == found.value[k]
        assert one.gap == found.gap[k] == 0


def test_large_components_are_not_split():
    n = 12_000
    own = np.arange(n)
    ends = {"unique_id_l": np.concatenate([2 * own, 2 * own[1:]])}
    ends["unique_id_r"] = np.concatenate([2 * own + 1, 2 * own[:-1] + 1])
    pairs = pd.DataFrame({**ends, "match_weight": np.repeat([3.0, 2.0], [n, n - 1])})
    groups = pd.DataFrame({"unique_id": np.arange(2 * n), "group": np.arange(2 * n) % 2})
    found = rt.cluster_pairs(pairs, background=-4.0, one_per_group=groups).summary
    assert found.largest_component == 2 * n
    assert found.components_split == 0
    assert found.value == found.bound == 3.0 * n
