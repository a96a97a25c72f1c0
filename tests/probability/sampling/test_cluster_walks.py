from __future__ import annotations

import numpy as np
import pytest

import relatum as rt
from relatum.errors import ProblemError
from relatum.probability.exact import cluster_parts


def _problem(kind, seed, n, scale=1.5):
    rng = np.random.default_rng([seed, n])
    scores, feasible = scale * rng.normal(size=n * (n - 1) // 2), rt.EQUIVALENCES
    if kind in ("evidence", "all"):
        feasible = feasible & rt.evidence([(0, 1), (2, 3)], [(0, 4), (5, 6)])
    if kind in ("groups", "all"):
        feasible = feasible & rt.one_per_group(np.arange(n) // 2 if kind == "groups" else _pairs(n))
    if kind in ("cap", "all"):
        feasible = feasible & rt.at_most(4)
    if kind == "sparse":
        i, j = np.triu_indices(n, 1)
        kept = rng.random(len(i)) < 0.4
        given = i[kept], j[kept], scores[kept]
        return rt.Problem.from_pairs(*given, n=n, background=-0.5, feasible=feasible)
    return rt.Problem(scores, feasible)


def _pairs(n):
    """Every element in a group of its own, but for the last two."""
    return np.minimum(np.arange(n), n - 2)


KINDS = ["plain", "evidence", "groups", "cap", "sparse", "all"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [10, 14])
def test_probabilities_are_within_four_errors(kind, n):
    problem = _problem(kind, 1, n)
    truth = rt.probabilities(problem, method="exact")
    found = rt.probabilities(problem, method="sampling", seed=1)
    known = found.error == 0
    assert known.any() == (kind in ("evidence", "groups", "all"))
    assert found.marginals[known] == pytest.approx(truth.marginals[known], abs=1e-12)
    z = ((found.marginals - truth.marginals) / np.where(known, 1, found.error))[~known]
    assert np.abs(z).max() < 4
    error = found.diagnostics["error of log2 Z"]
    assert abs(found.log2_normalizer - truth.log2_normalizer) < 4.5 * error
    best = rt.infer(problem).relation
    assert found.sets(best) == pytest.approx(truth.sets(best), abs=0.06)
    assert not found.diagnostics["warning"]


@pytest.mark.slow
def test_errors_are_as_large_as_they_say():
    squares = []
    for seed in range(36):
        problem = _problem(KINDS[seed % 6], seed, 8, (0.5, 2.0)[seed % 2])
        truth = rt.probabilities(problem, method="exact").marginals
        found = rt.probabilities(problem, method="sampling", draws=800, seed=seed)
        off, error = found.marginals - truth, found.error
        squares.append(np.mean((off[error > 0] / error[error > 0]) ** 2))
    assert 0.5 < np.mean(squares) < 1.3


def _made_up(n=100, sets=12, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, sets, n)
    i, j = np.triu_indices(n, 1)
    scores = np.where(truth[i] == truth[j], 0.6, -0.6) + rng.normal(size=len(i))
    return rt.Problem(scores, rt.EQUIVALENCES)


@pytest.mark.slow
def test_two_seeds_agree_on_a_hundred_elements():
    problem = _made_up()
    first, other = (rt.probabilities(problem, draws=800, seed=s) for s in (1, 2))
    p, q = first.marginals, other.marginals
    open_ = (p > 0.02) & (p < 0.98)
    assert open_.sum() > 50
    z = (p - q)[open_] / np.hypot(first.error, other.error)[open_]
    assert (z**2).mean() < 1.6
    assert all(isinstance(y, rt.Partition) for y in rt.sample(problem, 3))


def test_the_same_seed_gives_the_same():
    problem = _problem("all", 7, 24)
    first, again = (rt.probabilities(problem, draws=800, seed=1) for _ in range(2))
    assert np.array_equal(first.marginals, again.marginals)
    assert first.log2_normalizer == again.log2_normalizer
    assert all(problem.feasible.contains(y) for y in first.sample(20))


def test_scores_that_are_too_large_are_refused():
    scores = np.full(190, 2.0**40)
    with pytest.raises(ProblemError, match="write inf or -inf"):
        rt.probabilities(rt.Problem(scores, rt.EQUIVALENCES), method="sampling")


def test_parts_are_summed_or_sampled_by_size():
    """A path of 30 elements and one of three: with across=False, the latter is exact."""
    i = np.append(np.arange(29), [30, 31])
    problem = rt.Problem.from_pairs(
        i, i + 1, np.full(31, 1.0), n=33, background=-0.5, feasible=rt.EQUIVALENCES
    )
    found = rt.probabilities(problem, across=False, draws=800)
    small = rt.probabilities(rt.Problem([1.0, -0.5, 1.0], rt.EQUIVALENCES))
    assert found.pairs(30, 31) == small.pairs(0, 1)
    assert found.error[-1] == 0 < found.error[0]
    assert found.pairs(0, 30) == 0.0
    assert found.sets([30, 31, 32]) == small.sets([0, 1, 2])
    assert all(y.labels[0] != y.labels[30] for y in found.sample(20))


def test_long_lists_are_sampled_as_matrices_are(monkeypatch):
    problem = _problem("sparse", 3, 16)
    problem = problem.with_feasible(problem.feasible & rt.evidence([(0, 1)], [(2, 3)]))
    truth = rt.probabilities(problem, method="exact")
    monkeypatch.setattr(cluster_parts, "DENSE", 0)
    found = rt.probabilities(problem, method="sampling", seed=2)
    off = np.abs(found.marginals - truth.marginals)
    assert (off <= 4 * found.error + 1e-12).all()
    error = found.diagnostics["error of log2 Z"]
    assert abs(found.log2_normalizer - truth.log2_normalizer) < 4.5 * error


@pytest.mark.parametrize(
    "feasible",
    [
        rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(0, 2)]),
        rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)]) & rt.at_most(2),
    ],
)
def test_what_contradicts_itself_is_refused(feasible):
    with pytest.raises(ProblemError, match="none has a probability"):
        rt.probabilities(rt.Problem(np.zeros(3), feasible), method="sampling")


def test_equal_scores_count_clusterings():
    found = rt.probabilities(rt.Problem(np.zeros(45), rt.EQUIVALENCES), method="sampling")
    assert 2.0**found.log2_normalizer == pytest.approx(115975, rel=1e-3)  # Bell's number of 10


def test_what_is_not_known_is_not_said():
    """Many equally good clusterings, and nobody knows how many evidence leaves."""
    feasible = rt.EQUIVALENCES & rt.evidence(unrelated=[(0, 1)])
    found = rt.probabilities(rt.Problem(np.zeros(45), feasible), method="sampling")
    assert np.isnan(found.log2_normalizer)
    assert "no relation became frequent" in found.diagnostics["log2 Z"]
    assert "nobody knows how many" in found.diagnostics["log2 Z"]


@pytest.mark.slow
def test_tempering_finds_what_plain_chains_do_not():
    """Rows or columns of a square: two clusterings with nothing probable in between."""
    side = 4
    row, column = np.divmod(np.arange(side**2), side)
    i, j = np.triu_indices(side**2, 1)
    scores = np.where((row[i] == row[j]) | (column[i] == column[j]), 4.0, -4.0)
    problem = rt.Problem(scores, rt.EQUIVALENCES)
    found = rt.probabilities(problem, method="tempering", draws=6000)
    assert len(found.diagnostics["exchanges accepted"]) > 3
    assert min(found.diagnostics["exchanges accepted"]) > 0.05
    in_rows, in_columns = found.pairs(0, 1), found.pairs(0, side)
    error = max(found.error.max(), 0.02)
    assert abs(in_rows - in_columns) < 5 * error
    assert in_rows + in_columns == pytest.approx(1.0, abs=0.1)
    plain = rt.probabilities(problem, method="sampling", draws=800)
    assert abs(plain.pairs(0, 1) - plain.pairs(0, side)) > 0.9
