"""What views share: rows that say enough, classes and parts that are refused, sums by class."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

import relatum as rt
from relatum.errors import CertificateError
from relatum.proof.certificate import FAMILIES, Cuts
from relatum.proof.checker.dense import dense_view
from relatum.proof.checker.numbers import Grid, Limbs
from relatum.proof.checker.sparse import SparseView, view_for
from relatum.proof.checker.view import best_single


def _views(n, state):
    """A dense and a sparse view of one problem, with some pairs fixed."""
    problem = rt.Problem(np.zeros((n, n)), rt.EQUIVALENCES)
    none = np.empty(0, dtype=np.int64)
    grid = Grid.of(problem)
    sparse = SparseView(none, Limbs.zeros(0), 0, n, rt.EQUIVALENCES, grid)
    views = dense_view(problem, grid), sparse
    for pair, value in state.items():
        for view in views:
            view.fix(pair, value)
    return views


@pytest.mark.parametrize("seed", range(40))
def test_a_row_excludes_a_value_iff_no_choice_of_open_pairs_meets_it(seed):
    rng = np.random.default_rng(seed)
    n, pairs = 4, list(itertools.combinations(range(4), 2))
    known = rng.choice(6, size=int(rng.integers(0, 4)), replace=False)
    state = {pairs[k]: bool(rng.integers(2)) for k in known}
    triple = rng.permutation(n)[:3]
    cut = Cuts("transitive", triple[None, :], np.ones(1))
    rows = FAMILIES["transitive"].rows(cut.index, (n, n))
    for pair, value in itertools.product(pairs, (False, True)):
        possible = state.get(pair, value) == value and any(
            sum(
                k * y[tuple(sorted((a, b)))]
                for a, b, k in zip(rows.a, rows.b, rows.coefficient, strict=True)
            )
            <= rows.rhs[0]
            for choice in itertools.product((0, 1), repeat=6)
            for y in [dict(zip(pairs, choice, strict=True)) | state | {pair: value}]
        )
        for view in _views(n, state):
            assert view.row_excludes(cut, pair, value) == (not possible)


def test_fixing_leaves_the_view_as_it_was():
    for view in _views(3, {(0, 1): True}):
        other = view.fixing([(1, 2), (1, 0)], [False, False])
        assert other.empty
        assert not view.empty
        assert (view.state_of(1, 2), other.state_of(2, 1)) == (-1, 0)
        with pytest.raises(CertificateError, match="does not exist"):
            view.fixing([(0, 3)], [True])


@pytest.mark.parametrize("parts", [[[0], []], [[0, 3]], [[-1, 0]], [[0, 1], [1, 2]], [[1, 1]]])
def test_parts_overlap_nowhere_and_lie_in_range(parts):
    for view in _views(3, {}):
        assert view.owners([np.array([2, 0])]).tolist() == [0, -1, 0]
        with pytest.raises(CertificateError, match="decomposition"):
            view.owners([np.array(part, dtype=np.int64) for part in parts])


def test_only_related_elements_contract():
    for view in _views(4, {(0, 1): True, (2, 3): True, (0, 2): False}):
        assert view.contracted([0, 0, 1, 1]).shape == (2, 2)
        for labels in ([0, 0, 1], [0, 0, -1, 0], [0, 0, 0, 0], [0, 0, 2, 2]):
            with pytest.raises(CertificateError, match="contraction"):
                view.contracted(labels)


@pytest.mark.parametrize("y", [-1.0, np.inf, np.nan])
def test_multipliers_that_prove_nothing_are_refused(y):
    cut = Cuts("transitive", np.array([[0, 1, 2]]), np.array([y]))
    for view in _views(3, {}):
        with pytest.raises(CertificateError, match="negative or not finite"):
            view.read([cut], view.grid, lambda rows, terms: None)


@pytest.mark.parametrize("y", [1e10, 1e200, 1.7e308])
def test_multipliers_that_exact_numbers_do_not_hold_are_refused(y):
    cut = Cuts("transitive", np.array([[0, 1, 2], [1, 0, 2]]), np.array([y, y]))
    for view in _views(3, {}):
        with pytest.raises(CertificateError, match="times what all log-odds amount to"):
            view.read([cut], view.grid, lambda rows, terms: None)
        # without log-odds, multipliers of any size say the same: all that counts is their ratio
        *_, side = view.residual_of_rows([cut])
        small = Cuts("transitive", cut.index, np.ones(2))
        exponent = np.frexp(y)[1] - 1
        *_, other = view.residual_of_rows(
            [Cuts("transitive", cut.index, np.full(2, 2.0**exponent))]
        )
        *_, ones = view.residual_of_rows([small])
        assert side >= other == ones > 0


def test_more_rows_than_a_problem_needs_are_refused():
    index = np.tile(np.array([[0, 1, 2]]), (700_000, 1))
    many = Cuts("transitive", index, np.zeros(len(index)))
    wide = Cuts("two_partition", np.full((2, 2000), -1), np.zeros(2))
    for view in _views(3, {}):
        for cut in (many, wide):
            with pytest.raises(CertificateError, match="more than 3 x 3 elements with"):
                view.read([cut], view.grid, lambda rows, terms: None)


def test_rows_are_read_in_pieces_that_add_up(monkeypatch):
    rng = np.random.default_rng(3)
    cuts = []
    for family, index in (
        ("transitive", np.array([rng.permutation(5)[:3] for _ in range(40)])),
        ("at_most", np.column_stack([rng.integers(5, size=30), rng.integers(3, 50, size=30)])),
        ("two_partition", np.array([[0, 1, -1, 2], [3, -1, 1, 4]])),
    ):
        cuts.append(Cuts(family, index, rng.random(len(index))))
    problem = rt.Problem(rng.normal(size=10), rt.EQUIVALENCES & rt.at_most(3))
    for most in (2000, 0):
        monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", most)
        view = view_for(problem, Grid.of(problem))
        assert isinstance(view, SparseView) == (most == 0)
        whole = view.residual(cuts)
        with monkeypatch.context() as patch:
            patch.setattr("relatum.proof.checker.view.TERMS_AT_ONCE", 7)
            pieces = view.residual(cuts)
        assert view.best(whole) == view.best(pieces)
        assert whole[-1] == pieces[-1]


def test_a_few_bytes_of_rows_do_not_take_gigabytes():
    """Rows over all pairs of an element, named by one number each."""
    n = 300
    problem = rt.Problem.from_pairs([0], [1], [1.0], n=n, background=-1.0, feasible=rt.EQUIVALENCES)
    cut = Cuts("has_image", np.zeros((60 * n, 1), dtype=np.int64), np.ones(60 * n) * 1e-3)
    view = view_for(problem, Grid.of(problem))
    tracemalloc.start()
    view.residual([cut])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 250 << 20  # 5.4 million terms at 70 bytes would be more


def test_a_large_sparse_problem_with_few_scores_needs_few_rows(monkeypatch):
    monkeypatch.setattr("relatum.proof.checker.sparse.DENSE_ELEMENTS", 10)
    n = 50_000
    problem = rt.Problem.from_pairs([0], [1], [1.0], n=n, background=-1.0, feasible=rt.EQUIVALENCES)
    view = view_for(problem, Grid.of(problem))
    cut = Cuts("has_image", np.arange(1000)[:, None], np.ones(1000))  # 50 million pairs touched
    with pytest.raises(CertificateError, match="elements with 50001 scores allow"):
        view.residual([cut])


def test_sums_by_class_and_best_states_are_those_of_loops():
    rng = np.random.default_rng(0)
    matrix, labels = rng.integers(-9, 9, (6, 6)), np.array([0, 1, 0, 2, 1, 1])
    expected = np.zeros((3, 3), dtype=np.int64)
    for a, b in itertools.product(range(6), repeat=2):
        expected[labels[a], labels[b]] += matrix[a, b]
    view, _ = _views(6, {})
    assert view.summed(Limbs.of_ints(matrix), labels).tolist() == expected.ravel().tolist()
    r, state = np.array([2, 2, 2, -2, -2, -2]), np.array([1, 0, -1, 1, 0, -1], dtype=np.int8)
    assert best_single(Limbs.of_ints(r), state).tolist() == [2, 0, 2, -2, 0, 0]
