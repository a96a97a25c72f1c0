"""Values: good ones for every argument by its name, and nasty ones for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import scipy.sparse as sp

import relatum as rt
from relatum.io import ListedPairs, Rankings
from relatum.problem import NAMED_SETS

BITS = (0.0, -0.0, 1.0, -1.5, 0.3, 1e-9, -7.25, 1e6, 1e18, -1e300)
ODD_BITS = (math.nan, math.inf, -math.inf, 1e308, -1.7e308, 5e-324, -1e-310, 2.0**1000, 1e-300)
TEXTS = (
    "",
    "x",
    "é\n",
    "=1+1",
    "'",
    "a\0b",
    "None",
    "nan",
    "1e999",
    "-5",
    "yes",
    "\ud800",
    "名" * 50,
)
SIZES = (-1, 0, 1, 2, 3, 2**31, 2**40, 2**63, 2**64 - 1, 2**70, 10**30, -(2**63))


class Rude:
    """An object that answers every question with an exception."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("no array\nof mine")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


def numbers(r: Random, shape: tuple[int, ...], odd: float = 0.0) -> Any:
    """Return an array of log-odds, of which some may be odd."""
    flat = [
        r.choice(ODD_BITS) if r.random() < odd else r.choice((r.choice(BITS[:7]), r.gauss(0, 3)))
        for _ in range(math.prod(shape))
    ]
    return np.array(flat).reshape(shape)


def feasible(r: Random) -> Any:
    """Return a feasible set."""
    found = NAMED_SETS[r.choice(list(NAMED_SETS))]
    for _ in range(r.choice((0, 0, 0, 1, 2))):
        more = r.choice(("name", "at_most", "evidence", "groups"))
        if more == "name":
            found = found & NAMED_SETS[r.choice(list(NAMED_SETS))]
        elif more == "at_most":
            found = found & rt.at_most(r.choice((1, 2, 3, 2**31)))
        elif more == "evidence":
            pairs = [(r.randrange(4), r.randrange(4)) for _ in range(r.randrange(3))]
            found = found & rt.evidence(pairs[:1], pairs[1:])
        else:
            found = found & rt.one_per_group([r.randrange(3) for _ in range(r.choice((3, 4)))])
    return found


def problem(r: Random) -> Any:
    """Return a small problem of any layout."""
    for _ in range(20):
        n, chosen = r.choice((1, 2, 3, 4, 4, 5)), feasible(r)
        try:
            layout = r.randrange(3)
            if layout == 0:
                return rt.Problem(numbers(r, (n, n), 0.02), chosen)
            if layout == 1 and n > 1:
                return rt.Problem(numbers(r, (n * (n - 1) // 2,), 0.02), chosen)
            i, j = np.nonzero(np.triu(np.ones((n, n)), 1))
            return rt.Problem.from_pairs(
                i, j, numbers(r, (len(i),)), n=n, background=r.choice((0.0, -1.0)), feasible=chosen
            )
        except rt.errors.RelatumError:
            continue
    return rt.Problem([1.0, -2.0, 3.0], rt.EQUIVALENCES)


def estimate(r: Random) -> Any:
    """Return an estimate of some problem."""
    try:
        return rt.infer(problem(r), time_limit=0.2)
    except rt.errors.RelatumError:
        return rt.infer(rt.Problem([1.0], rt.EQUIVALENCES))


def relation(r: Random) -> Any:
    """Return a relation of any kind."""
    n = r.choice((1, 2, 3, 4))
    labels = [r.randrange(n) for _ in range(n)]
    order = list(range(n))
    r.shuffle(order)
    made: list[Callable[[], Any]] = [
        lambda: rt.Partition(labels),
        lambda: rt.Map(labels, n_labels=n),
        lambda: rt.PartialMap([x - 1 for x in labels], n_labels=n),
        lambda: rt.WeakOrder(labels),
        lambda: rt.LinearOrder(order),
        lambda: rt.Relation(np.array([[r.random() < 0.5 for _ in order] for _ in order])),
    ]
    return r.choice(made)()


def table(r: Random) -> Any:
    """Return a table of scored pairs in one of the kinds that libraries have."""
    m = r.choice((0, 1, 2, 5))
    ids = [r.choice(("a", "b", "=c", "'d", "é", "f")) for _ in range(2 * m)]
    if r.random() < 0.3:
        ids = [r.choice((0, 1, 2, 2**40)) for _ in range(2 * m)]  # type: ignore[misc]
    columns = {
        "unique_id_l": ids[:m],
        "unique_id_r": ids[m:],
        "match_weight": numbers(r, (m,), 0.1).tolist(),
    }
    if r.random() < 0.2:
        columns["match_probability"] = [r.random() for _ in range(m)]
        del columns["match_weight"]
    kind = r.randrange(3)
    if kind == 0:
        return pa.table(columns)
    module = __import__("pandas" if kind == 1 else "polars")
    return module.DataFrame(columns)


def graph(r: Random) -> Any:
    """Return a graph."""
    kind = r.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))
    made = kind()
    for _ in range(r.randrange(5)):
        ends = [r.choice((0, "a", (1, 2), 3)) for _ in range(2)]
        made.add_edge(*ends, weight=r.choice((1.0, -2.0, 1.0, math.nan, "x", None)))
    return made


def ints(r: Random, low: int = 0, high: int = 4) -> Any:
    """Return a vector of small numbers."""
    return np.array([r.randrange(low, high) for _ in range(r.choice((1, 2, 3, 4)))])


def votes(r: Random) -> Any:
    """Return votes on a few elements."""
    n = r.choice((1, 2, 3))
    return rt.Votes.from_rankings([[r.randrange(n) for _ in range(n)] for _ in range(3)])


def rankings(r: Random) -> Any:
    """Return rankings as PrefLib has them."""
    n = r.choice((1, 2, 3))
    return Rankings(np.array([np.arange(n)]), np.ones(1), tuple(map(str, range(n))))


def listed(r: Random) -> Any:
    """Return listed pairs."""
    return ListedPairs(3, np.array([0, 1]), np.array([1, 2]), numbers(r, (2,)))


def reports(r: Random) -> Any:
    """Return what a monitor was told."""
    from relatum.solvers import Progress

    return [Progress(k * 0.1, float(k), 9.0 - k, k, k) for k in range(r.randrange(4))]


def explanation(r: Random) -> Any:
    """Return why two elements are together, or apart."""
    small = rt.Problem([1.0, -2.0, 3.0], rt.EQUIVALENCES)
    return rt.explain(small, rt.infer(small), *r.sample(range(3), 2))


def permutation(r: Random) -> Any:
    """Return an order of three elements, mostly."""
    order = list(range(r.choice((3, 3, 3, 2, 1))))
    r.shuffle(order)
    return order


GOOD: dict[str, Callable[[Random], Any]] = {
    "log_odds": lambda r: numbers(r, r.choice(((3, 3), (3,), (2,), (2, 3), (4, 4), (6,))), 0.05),
    "feasible": feasible,
    "facts": feasible,
    "structure": feasible,
    "problem": problem,
    "problems": lambda r: [problem(r) for _ in range(2)],
    "estimate": estimate,
    "relation": relation,
    "start": relation,
    "i": ints,
    "j": ints,
    "a": lambda r: r.randrange(4),
    "b": lambda r: r.randrange(4),
    "k": lambda r: r.randrange(1, 5),
    "n": lambda r: r.choice((3, 4, 5, (4, 4))),
    "background": lambda r: r.choice((0.0, -1.0, -4.0)),
    "combine": lambda r: r.choice((None, "sum")),
    "matrix": lambda r: numbers(r, r.choice(((3, 3), (2, 2), (1, 1)))) > 0,
    "labels": ints,
    "ranks": ints,
    "order": permutation,
    "true": permutation,
    "estimated": permutation,
    "groups": ints,
    "related": lambda r: [(0, 1)],
    "unrelated": lambda r: [(1, 2)],
    "pairs": table,
    "table": table,
    "graph": graph,
    "votes": votes,
    "rankings": lambda r: rankings(r) if r.random() < 0.5 else [[0, 1, 2], [1, 0, 2]],
    "comparisons": lambda r: [("a", "b"), ("b", "c", "draw")],
    "instances": listed,
    "scores": lambda r: numbers(r, (r.choice((1, 3, 6)),)),
    "metric": lambda r: r.choice(list(rt.metrics.PERMUTATION_METRICS)),
    "time_limit": lambda r: 0.2,
    "seed": lambda r: r.randrange(3),
    "prove": lambda r: r.random() < 0.5,
    "solver": lambda r: "auto",
    "n_jobs": lambda r: 1,
    "count": lambda r: 1,
    "largest": lambda r: 2,
    "left": lambda r: "unique_id_l",
    "right": lambda r: "unique_id_r",
    "engine": lambda r: r.choice(("auto", "duckdb")),
    "threads": lambda r: 1,
    "memory_limit": lambda r: "100MB",
    "max_size": lambda r: r.choice((None, 1, 3)),
    "odd_rows": lambda r: r.choice(("refuse", "handle")),
    "elements": lambda r: r.choice(([0], [1, 0], [0, 1, 2])),
    "weight": lambda r: "weight",
    "sequences": lambda r: [["a", "b"], ["b"]],
    "tokens": lambda r: [0, 1, 0],
    "offsets": lambda r: [0, 2, 3],
    "n_pairs": lambda r: r.randrange(4),
    "v_a": lambda r: numbers(r, (2, 2)),
    "v_b": lambda r: numbers(r, (2, 2)),
    "is_probability": lambda r: r.random() < 0.5,
    "names": lambda r: ["unique_id_l", "unique_id_r", "match_weight"],
    "before": lambda r: np.ones((2, 2)),
    "tied": lambda r: np.zeros((2, 2)),
    "kind": lambda r: r.choice((rt.Partition, rt.Map, rt.LinearOrder, rt.WeakOrder)),
    "request": lambda r: rt.io.Request(Path("missing.csv")),
    "sparse": lambda r: sp.coo_array(numbers(r, (3, 3))),
    "normalize": lambda r: True,
    "ties": lambda r: r.random() < 0.5,
    "method": lambda r: r.choice(("kemeny", "bernoulli")),
    "sigma": lambda r: 2.0,
    "counts": lambda r: None,
    "unit": lambda r: "bits",
    "x_or_classes": lambda r: r.choice((ints(r, -1, 3), numbers(r, (6, 2)), numbers(r, (3, 3, 2)))),
    "measure": lambda r: r.choice((None, rt.LogisticMeasure(max_epochs=5), rt.BernoulliMeasure())),
    "unknown_weight": lambda r: r.choice((0.0, 0.1, 1.0)),
    "n_labels": lambda r: 2,
    "evidence": lambda r: rt.evidence([(0, 1)], [(1, 2)]),
    "x": lambda r: numbers(r, (4, 2)),
    "y": lambda r: r.choice(([0, 1, 0, 1], [0, 1], [1, 1, 0], None)),
    "v": lambda r: numbers(r, (4, 2)),
    "inverse_sigma_squared": lambda r: [1.0, 0.1],
    "sample_weight": lambda r: [1.0, 2.0, 0.0, 1.0],
    "errors": lambda r: {"train": [0.1, 0.2], "test": [0.3, 0.4]},
    "reports": reports,
    "images": lambda r: np.arange(16, dtype=np.uint8).reshape(4, 4),
    "why": explanation,
    "costs": lambda r: numbers(r, (3,)),
    "most": lambda r: r.choice((1, 3)),
    "source": lambda r: r.choice((table(r), table(r), pa.table({"a": [1.0], "b": [0]}))),
    "target": lambda r: r.choice((None, "match_weight", "b")),
    "features": lambda r: r.choice((None, "match_weight", ["a"], np.ones((2, 2)))),
    "ids": lambda r: ["a", "b"],
    "batch_size": lambda r: r.choice((1, 3)),
    "lifting": lambda r: None,
}


def nasty(r: Random) -> Any:
    """Return something that is rarely right."""
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: r.choice(TEXTS),
        lambda: r.choice(SIZES),
        lambda: r.choice(ODD_BITS),
        lambda: r.random() < 0.5,
        lambda: 2.5,
        lambda: 1j,
        list,
        lambda: (),
        dict,
        lambda: {"related": [(0, 1, 2)]},
        lambda: [[1, 2], [3]],
        lambda: [1, "a", None],
        lambda: (2, 2, 2),
        lambda: object(),
        lambda: Rude(),
        lambda: b"bytes",
        lambda: range(3),
        lambda: iter([1, 2]),
        lambda: Decimal("1.5"),
        lambda: Fraction(1, 3),
        lambda: lambda *arguments: None,
        lambda: np.float32(1.5),
        lambda: np.array(3),
        lambda: np.array([]),
        lambda: np.zeros((0, 3)),
        lambda: np.zeros((2, 2, 2)),
        lambda: np.array(["a", "b"]),
        lambda: np.array([object(), 1], dtype=object),
        lambda: np.array([1 + 2j, 3]),
        lambda: np.array([1, 2**63], dtype=np.uint64),
        lambda: np.array(["2001-01-01", "NaT"], dtype="datetime64[D]"),
        lambda: np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
        lambda: np.ma.masked_array(np.ones((3, 3)), mask=np.eye(3)),
        lambda: np.array([np.longdouble("1e4000")]),
        lambda: np.float16([1.0, 2.0, 3.0]),
        lambda: numbers(r, r.choice(((3, 3), (3,), (6,), (1, 3))), 0.4),
        lambda: np.asfortranarray(numbers(r, (3, 3)))[::-1],
        lambda: numbers(r, (3, 3)).view(np.recarray),
        lambda: sp.csr_matrix(np.eye(3)),
        lambda: [math.nan, 1.0, None],
        lambda: Path("/nowhere/at/all"),
        lambda: rt.Problem,
        lambda: feasible(r),
        lambda: relation(r),
        lambda: table(r),
        lambda: [10**400, 1, 2],
        lambda: {1: 2, "a": "b"},
        lambda: {1, 2},
        lambda: np.random.default_rng,
    ]
    return r.choice(kinds)()
