"""Problems: what they accept, what they refuse and how they say so."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import naive
import relatum as rt
from relatum.errors import EvidenceError, FeasibleSetError, ProblemError, RelationError

E = rt.EQUIVALENCES


def same_problem(p, q):
    return (
        p.feasible == q.feasible
        and p.shape == q.shape
        and p.background == q.background
        and np.array_equal(p.dense(), q.dense())
    )


# --- other libraries' tables and graphs ---------------------------------------------------------


def test_every_table_and_graph_gives_the_same_problem():
    left, right, weight = ["a", "c", "a"], ["b", "b", "d"], [1.5, -2.0, np.inf]
    columns = {"unique_id_l": left, "unique_id_r": right, "match_weight": weight}
    number = {name: k for k, name in enumerate("abcd")}
    i, j = [number[x] for x in left], [number[x] for x in right]
    expected = rt.Problem.from_pairs(i, j, weight, n=4, background=-1.0, feasible=E)
    tables = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    for table in tables:
        p = rt.Problem.from_table(table, background=-1.0, feasible=E)
        assert same_problem(p, expected), type(table)
        assert list(p.ids) == list("abcd")
        assert p.evidence.related.tolist() == [[0, 3]]
    matrix = sp.coo_array((weight, (i, j)), shape=(4, 4))
    for fmt in ("coo", "csr", "csc", "lil"):
        p = rt.Problem.from_sparse(matrix.asformat(fmt), background=-1.0, feasible=E)
        assert same_problem(p, expected), fmt
    graph = nx.Graph()
    graph.add_nodes_from("abcd")
    graph.add_weighted_edges_from(zip(left, right, weight, strict=True))
    p = rt.Problem.from_networkx(graph, background=-1.0, feasible=E)
    assert same_problem(p, expected)
    assert list(p.ids) == list("abcd")
    directed = nx.DiGraph()
    directed.add_nodes_from("abcd")
    directed.add_weighted_edges_from(zip(left, right, weight, strict=True))
    assert same_problem(rt.Problem.from_networkx(directed, background=-1.0, feasible=E), expected)
    values = [infer.value for infer in (rt.infer(expected, prove=True), rt.infer(p, prove=True))]
    assert values[0] == values[1]


def test_probabilities_become_log_odds():
    table = pd.DataFrame(
        {"unique_id_l": [1, 1, 2], "unique_id_r": [2, 3, 3], "match_probability": [0.75, 1.0, 0.2]}
    )
    p = rt.Problem.from_table(table, feasible=E)
    assert p.dense()[0, 1] == pytest.approx(np.log2(3))
    assert p.dense()[1, 2] == pytest.approx(np.log2(0.25))
    assert p.evidence.related.tolist() == [[0, 2]]
    renamed = table.rename(
        columns={"unique_id_l": "x", "unique_id_r": "y", "match_probability": "p"}
    )
    q = rt.Problem.from_table(renamed, left="x", right="y", probability="p", feasible=E)
    assert same_problem(p, q)


def test_sparse_entries_that_repeat_are_summed_as_in_scipy():
    matrix = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))
    p = rt.Problem.from_sparse(matrix, background=-1.0, feasible=rt.MAPS)
    assert p.dense().tolist() == [[-1.0, 3.0, -1.0], [-1.0, -1.0, -1.0]]


def test_directed_graphs_score_orders():
    graph = nx.DiGraph()
    graph.add_edge("first", "second", weight=3.0)
    graph.add_edge("second", "first", weight=1.0)
    p = rt.Problem.from_networkx(graph, feasible=rt.LINEAR_ORDERS)
    e = rt.infer(p, prove=True)
    assert [p.ids[k] for k in e.relation.order] == ["first", "second"]


# --- what is refused ----------------------------------------------------------------------------


def pairs(i=(0,), j=(1,), c=(1.0,), feasible=E, **more):
    return rt.Problem.from_pairs(list(i), list(j), np.array(c, float), feasible=feasible, **more)


TABLE = pd.DataFrame({"unique_id_l": ["a"], "unique_id_r": ["b"], "match_weight": [1.0]})
GRAPH = nx.Graph([("a", "b", {"weight": 1.0})])


@pytest.mark.parametrize(
    ("build", "error", "parts"),
    [
        (lambda: rt.Problem([[np.nan, 1]]), ProblemError, ["(0, 0)", "NaN", "0.0", "background"]),
        (lambda: rt.Problem([1, 2, np.nan], E), ProblemError, ["(1, 2)", "NaN"]),
        (lambda: pairs(c=[np.nan]), ProblemError, ["(0, 1)", "NaN"]),
        (lambda: rt.Problem([1.0, 2.0], E), ProblemError, ["n (n - 1) / 2", "got 2"]),
        (lambda: rt.Problem([1.0], rt.MAPS), ProblemError, ["symmetric sets", "MAPS", "matrix"]),
        (lambda: rt.Problem(np.zeros((2, 2, 2))), ProblemError, ["3 axes"]),
        (lambda: rt.Problem(np.zeros((0, 2))), ProblemError, ["non-empty", "(0, 2)"]),
        (lambda: rt.Problem([["a"]]), ProblemError, ["real numbers", "dtype"]),
        (lambda: rt.Problem([[1j]]), ProblemError, ["real numbers", "complex"]),
        (lambda: rt.Problem(sp.eye_array(3)), ProblemError, ["from_sparse", "background"]),
        (lambda: rt.Problem(np.zeros((2, 3)), E), FeasibleSetError, ["|A| = 2", "|B| = 3"]),
        (lambda: rt.Problem([[1]], "MAPS"), ProblemError, ["feasible set", "str"]),
        (lambda: pairs(feasible="E"), ProblemError, ["feasible set", "str"]),
        (lambda: pairs(n=1), ProblemError, ["Pair number 0 is (0, 1)", "n="]),
        (lambda: pairs(n=(2, 1)), ProblemError, ["(0, 1)", "2 and 1"]),
        (lambda: pairs(n=0), ProblemError, ["number of elements, n,", "from 1", "got 0"]),
        (lambda: pairs(i=[-1]), ProblemError, ["'i'", "-1"]),
        (lambda: pairs(i=[0.5]), ProblemError, ["'i'", "integers", "from_table"]),
        (lambda: pairs(i=[0, 1]), ProblemError, ["equally long", "2, 1 and 1"]),
        (lambda: pairs([], [], []), ProblemError, ["n=..."]),
        (
            lambda: pairs([0, 0, 0], [1, 1, 2], [1, 2, 3]),
            ProblemError,
            ["1 pairs", "(0, 1)", 'combine="sum"'],
        ),
        (
            lambda: pairs([0, 0], [1, 1], [1, 2], combine="max"),
            ProblemError,
            ['"sum" or None', "'max'"],
        ),
        (
            lambda: pairs([0, 0], [1, 1], [np.inf, -np.inf], combine="sum"),
            ProblemError,
            ["(0, 1)", "+inf", "-inf"],
        ),
        (lambda: pairs(background=np.inf), ProblemError, ["background", "finite", "inf"]),
        (lambda: pairs(background=np.nan), ProblemError, ["background", "finite", "nan"]),
        (
            lambda: rt.Problem(np.zeros((2, 2)), E & rt.evidence([(0, 2)])),
            EvidenceError,
            ["(0, 2)", "|A| = 2"],
        ),
        (
            lambda: rt.Problem(np.zeros((2, 2)), E & rt.one_per_group([1, 2, 3])),
            FeasibleSetError,
            ["3 group labels", "2 elements"],
        ),
        (
            lambda: rt.Problem.from_networkx(GRAPH, feasible=rt.LINEAR_ORDERS),
            ProblemError,
            ["undirected", "LINEAR_ORDERS", "DiGraph"],
        ),
        (
            lambda: rt.Problem.from_networkx(GRAPH, weight="w", feasible=E),
            ProblemError,
            ["'a', 'b'", "'w'", "weight="],
        ),
        (
            lambda: rt.Problem.from_table(TABLE, log_odds="score", feasible=E),
            ProblemError,
            ["'score'", "unique_id_l, unique_id_r, match_weight", "log_odds="],
        ),
        (
            lambda: rt.Problem.from_table(TABLE, left="id", feasible=E),
            ProblemError,
            ["'id'", "left="],
        ),
        (
            lambda: rt.Problem.from_table(TABLE, log_odds="a", probability="b", feasible=E),
            ProblemError,
            ["either log_odds= or probability="],
        ),
        (
            lambda: rt.Problem.from_table(TABLE.drop(columns="match_weight"), feasible=E),
            ProblemError,
            ["match_probability"],
        ),
        (
            lambda: rt.Problem.from_table(TABLE, probability="match_weight", feasible=E).dense(),
            None,
            [],
        ),
        (
            lambda: rt.Problem.from_table(
                TABLE.assign(match_weight=3.0), probability="match_weight", feasible=E
            ),
            ProblemError,
            ["row 0 has 3.0", "log_odds='match_weight'"],
        ),
        (lambda: rt.Problem.from_table([1, 2], feasible=E), ProblemError, ["got list"]),
    ],
)
def test_bad_input_gives_an_error_that_names_the_thing(build, error, parts):
    if error is None:
        build()
        return
    with pytest.raises(error) as caught:
        build()
    for part in parts:
        assert part in str(caught.value)


def test_changing_the_feasible_set_keeps_the_meaning_of_scores():
    dense = rt.Problem(np.arange(9.0).reshape(3, 3), E)
    assert dense.with_feasible(rt.PREORDERS).feasible == rt.PREORDERS
    condensed = rt.Problem([1.0, 2, 3], E)
    with pytest.raises(ProblemError, match="without direction"):
        condensed.with_feasible(rt.PREORDERS)
    ordered = pairs(feasible=rt.PREORDERS)
    with pytest.raises(ProblemError, match="with direction"):
        ordered.with_feasible(E)
    assert condensed.with_feasible(rt.SYMMETRIC).dense()[0, 1] == 1.0
    with pytest.raises(ProblemError, match=r"\(3, 3\), the relation has \(2, 2\)"):
        dense.value(rt.Partition([0, 1]))


def test_what_is_fixed():
    p = rt.Problem(
        np.zeros((3, 3)),
        E & rt.evidence([(0, 1)], [(1, 2)]) & rt.one_per_group([0, 1, 0]),
    )
    assert p.state.tolist() == [[1, 1, 0], [-1, 1, 0], [0, -1, 1]]
    assert not p.contradicts_itself
    q = p.with_feasible(p.feasible & rt.evidence([(0, 2)]))
    assert q.contradicts_itself
    infinite = rt.Problem([[0.0, np.inf], [0.0, -np.inf]], rt.EQUIVALENCES)
    assert infinite.contradicts_itself
    assert infinite.evidence.unrelated.tolist() == [[1, 1]]


def test_restriction_carries_evidence_caps_and_groups_over():
    feasible = E & rt.evidence([(0, 3)], [(1, 2)]) & rt.at_most(2) & rt.one_per_group([0, 0, 1, 2])
    p = rt.Problem(np.zeros((4, 4)), feasible)
    part = p.restrict(np.array([3, 0, 1]))
    expected = E & rt.evidence([(1, 0)]) & rt.at_most(2) & rt.one_per_group([2, 0, 0])
    assert part.feasible == expected
    ids = rt.Problem.from_table(
        pd.DataFrame({"unique_id_l": ["x"], "unique_id_r": ["y"], "match_weight": [1.0]}),
        feasible=E,
    )
    assert ids.restrict(np.array([1])).ids.tolist() == ["y"]


def test_problems_pickle():
    rng = np.random.default_rng(0)
    for p in (
        rt.Problem(rng.normal(size=(3, 4)), rt.MAPS & rt.evidence(unrelated=[(0, 1)])),
        rt.Problem(rng.normal(size=6), E),
        pairs(n=3, background=-2.0),
    ):
        assert p.state is not None
        q = pickle.loads(pickle.dumps(p))
        assert same_problem(p, q)
        assert rt.infer(q).value == rt.infer(p).value


def test_pair_counts():
    assert rt.Problem(np.zeros((4, 4)), E).n_pairs == 6
    assert rt.Problem(np.zeros((4, 5)), rt.MAPS).n_pairs == 20
    assert (
        len(naive.members(("symmetric", "reflexive"), 3, 3))
        == 2 ** rt.Problem(np.zeros((3, 3)), E).n_pairs
    )


def test_too_large_for_a_matrix(monkeypatch):
    n = 2000
    p = pairs(n=n)
    assert p.dense().shape == (n, n)
    for limit in (8 * n * n - 1, "31MB"):
        monkeypatch.setenv("RELATUM_MEMORY", f"{limit}B" if isinstance(limit, int) else limit)
        with pytest.raises(ProblemError, match=r"2000 x 2000 pairs takes 32 MB .*from_pairs"):
            p.dense()
    monkeypatch.setenv("RELATUM_MEMORY", f"{8 * n * n}B")
    assert p.dense().shape == (n, n)
    monkeypatch.setenv("RELATUM_MEMORY", "1MB")
    for ask in (lambda: p.state, p.folded, lambda: p.contradicts_itself):
        with pytest.raises(ProblemError, match=r"takes .* of memory, and there are 1 MB; "):
            ask()
    with pytest.raises(RelationError, match=r"takes 4 MB .*Partition\.labels"):
        rt.Partition(np.zeros(n, dtype=int)).matrix()


def test_other_log_odds_of_the_same_pairs():
    dense = rt.Problem([[0.0, 1.0], [2.0, 0.0]], rt.LINEAR_ORDERS)
    condensed = rt.Problem([1.0, -2.0, 3.0], E & rt.evidence(unrelated=[(0, 1)]))
    table = pd.DataFrame(
        {"unique_id_l": ["x", "y"], "unique_id_r": ["y", "z"], "match_weight": 1.0}
    )
    sparse = rt.Problem.from_table(table, background=-3.0, feasible=E)
    for problem in (dense, condensed, sparse):
        new = problem.with_log_odds(2 * np.asarray(problem.log_odds) + 1)
        assert np.array_equal(new.log_odds, 2 * np.asarray(problem.log_odds) + 1)
        assert new.feasible == problem.feasible
        assert new.background == problem.background
        assert new.shape == problem.shape
    assert sparse.with_log_odds([5.0, 6.0]).ids.tolist() == ["x", "y", "z"]
    assert condensed.with_log_odds([0.0, np.inf, 0.0]).evidence.related.tolist() == [[0, 2]]
    with pytest.raises(ProblemError, match="shape"):
        sparse.with_log_odds([1.0])
