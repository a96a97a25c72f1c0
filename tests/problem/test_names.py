"""Names of elements: what is refused, what a number means, and that names survive."""

import pickle

import numpy as np
import pandas as pd
import pytest

import relatum as rt
from relatum.errors import ProblemError, RelatumError

E = rt.EQUIVALENCES
SCORES = np.array([[0, 3, -2.0], [3, 0, 1], [-2, 1, 0]])
NAMES = ["ann", "bob", "cy"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (NAMES[:2], r"\|A\| = 3 and there are 2 names"),
        (["ann", "bob", "ann"], "elements 0 and 2 are both called 'ann'"),
        (["ann", None, "cy"], "Element 1 has no name"),
        ([1.0, np.nan, 2.0], "Element 1 has no name"),
        ("abc", "one name per element, got 'abc'"),
        (3, "one name per element, got 3"),
        ([["a"], ["b"], ["c"]], "shape"),
        (["a", ["b"], "c"], r"hashable.*got \['b'\]"),
    ],
)
def test_what_are_no_names(names, told):
    with pytest.raises(ProblemError, match=told):
        rt.Problem(SCORES, E, names=names)


@pytest.mark.parametrize(
    "names",
    [NAMES, tuple(NAMES), np.array(NAMES), pd.Index(NAMES), pd.Series(NAMES), iter(NAMES)],
)
def test_names_of_any_kind(names):
    problem = rt.Problem(SCORES, E & rt.evidence(unrelated=[("ann", "bob")]), names=names)
    assert problem.evidence.unrelated.tolist() == [[0, 1]]
    assert problem.ids.tolist() == NAMES
    assert problem.names[0] is problem.names[1]


def test_maps_have_two_lists_of_names():
    names = (["x", "y"], ["red", "green", "blue"])
    problem = rt.Problem(np.ones((2, 3)), rt.MAPS & rt.evidence([("y", "blue")]), names=names)
    assert problem.evidence.related.tolist() == [[1, 2]]
    assert [a.tolist() for a in problem.names] == list(names)
    half = rt.Problem(np.ones((2, 3)), rt.MAPS & rt.evidence([(1, "blue")]), names=(None, names[1]))
    assert half.evidence.related.tolist() == [[1, 2]]
    assert half.names[0] is None
    with pytest.raises(ProblemError, match="two lists where"):
        rt.Problem(np.ones((2, 3)), rt.MAPS, names=names[1])
    with pytest.raises(RelatumError, match="no element is called so"):
        rt.Problem(np.ones((2, 3)), rt.MAPS & rt.evidence([("red", "x")]), names=names)


def test_ids_win_over_numbers():
    """Where a name is a number, numbers are names; where none is, they are places."""
    told = E & rt.evidence([(2, 0)])
    assert rt.Problem(SCORES, told, names=[2, 1, 0]).evidence.related.tolist() == [[0, 2]]
    assert rt.Problem(SCORES, told, names=NAMES).evidence.related.tolist() == [[2, 0]]
    assert rt.Problem(SCORES, told).evidence.related.tolist() == [[2, 0]]
    with pytest.raises(RelatumError, match=r"names 0, but no element is called so.*5, 2, 7"):
        rt.Problem(SCORES, told, names=[5, 2, 7])
    with pytest.raises(RelatumError, match=r"names 7, but \|A\| has the 3 elements 0 ... 2"):
        rt.Problem(SCORES, E & rt.evidence([("ann", 1), (7, "bob")]), names=NAMES)
    mixed = rt.Problem(SCORES, E & rt.evidence([("a", 1), (2**70, 1)]), names=["a", 1, 2**70])
    assert mixed.evidence.related.tolist() == [[0, 1], [2, 1]]


def test_unknown_names_come_with_near_ones():
    with pytest.raises(RelatumError, match=r"'anne', but no .* so; did you mean 'ann'\?"):
        rt.Problem(SCORES, E & rt.evidence([("anne", "bob")]), names=NAMES)
    with pytest.raises(RelatumError, match=r"'zzz', but .*names are such as 'ann', 'bob', 'cy'"):
        rt.Problem(SCORES, E & rt.evidence([("ann", "zzz")]), names=NAMES)


def test_names_survive():
    told = E & rt.evidence([("cy", "ann")])
    problem = rt.Problem(SCORES, told, names=NAMES)
    copy = pickle.loads(pickle.dumps(problem))
    assert copy.ids.tolist() == NAMES
    assert copy.numbers("cy") == 2
    assert problem.restrict([2, 0]).ids.tolist() == ["cy", "ann"]
    assert problem.restrict([2, 0]).evidence.related.tolist() == [[0, 1]]
    assert problem.with_log_odds(2 * SCORES).ids.tolist() == NAMES
    more = problem.with_feasible(problem.feasible & rt.evidence(unrelated=[("ann", "bob")]))
    assert more.evidence.related.tolist() == [[2, 0]]
    assert more.evidence.unrelated.tolist() == [[0, 1]]


def test_numbers_of_integer_names_are_not_looked_up_twice():
    """What a problem has found out stays, whatever is asked of it later."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        n = int(rng.integers(3, 7))
        scores = rng.normal(size=(n, n)).round(2)
        pairs = [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(3)]
        names = rng.permutation(n)
        plain = rt.Problem(scores, E & rt.evidence(pairs[:1], pairs[1:2]))
        called = [(int(names[a]), int(names[b])) for a, b in pairs]
        named = rt.Problem(scores, E & rt.evidence(called[:1], called[1:2]), names=names)
        assert named.evidence == plain.evidence
        first, second = (rt.infer(p, prove=True) for p in (plain, named))
        assert first.value == second.value
        assert bool(rt.verify(named, second))
        if first.relation is None:
            continue
        a, b = pairs[2]
        why = rt.explain(plain, first, a, b)
        same = rt.explain(named, second, *called[2])
        assert (why.together, why.apart, why.related) == (same.together, same.apart, same.related)
        assert same.pair == called[2]


def test_tables_of_pairs_and_of_numbers_bring_their_names():
    square = pd.DataFrame(SCORES, index=NAMES, columns=NAMES)
    assert rt.Problem(square, E).ids.tolist() == NAMES
    assert rt.Problem(pd.DataFrame(SCORES), E).names is None
    twice = pd.DataFrame(SCORES, index=["a", "a", "b"], columns=NAMES)
    assert rt.Problem(twice, E).names is None
    with pytest.raises(ProblemError, match="different orders"):
        rt.Problem(square[NAMES[::-1]], E)
    rows, columns = rt.Problem(square[NAMES[:2]], rt.MAPS).names
    assert (rows.tolist(), columns.tolist()) == (NAMES, NAMES[:2])
    pairs = pd.DataFrame({"a": ["x"], "b": ["y"], "bits": [1.0]})
    columns = {"left": "a", "right": "b", "log_odds": "bits"}
    more = rt.Problem.from_table(pairs, feasible=E, names=["z", "y", "x"], **columns)
    assert more.ids.tolist() == ["z", "y", "x"]
    assert (more.scores.i.tolist(), more.scores.j.tolist()) == ([1], [2])
    with pytest.raises(ProblemError, match="but not 'x', of row 0"):
        rt.Problem.from_table(pairs, feasible=E, names=["z", "y"], **columns)


def test_pairs_with_names():
    problem = rt.Problem.from_pairs([0], [1], [2.0], names=NAMES, feasible=E)
    assert (problem.n, problem.ids.tolist()) == (3, NAMES)
    wide = rt.Problem.from_pairs([0], [1], [2.0], names=(["x"], ["u", "v"]), feasible=rt.MAPS)
    assert wide.shape == (1, 2)
    far = rt.Problem.from_pairs([7], [2**40], [1.0], feasible=E & rt.evidence([(2**40, 7)]))
    assert far.evidence.related.tolist() == [[1, 0]]
    from scipy.sparse import coo_array

    sparse = coo_array(([1.0], ([0], [2])), shape=(3, 3))
    assert rt.Problem.from_sparse(sparse, feasible=E, names=NAMES).ids.tolist() == NAMES


def test_sets_are_in_no_order_and_refused():
    for unordered in ({"a", "b", "c"}, frozenset("abc")):
        with pytest.raises(ProblemError, match="names are a list"):
            rt.Problem([2.0, -1.0, 3.0], rt.EQUIVALENCES, names=unordered)
