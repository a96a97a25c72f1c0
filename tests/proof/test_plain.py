"""The plain checker: it agrees with `verify`, imports nothing, and proves nothing false."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.problem import NAMED_SETS
from relatum.proof import (
    FAMILIES,
    Branch,
    Certificate,
    Contract,
    Cuts,
    Decompose,
    Estimate,
    Fix,
    Imply,
    Leaf,
    Merge,
    Prices,
    Status,
    SubsetOrder,
    plain,
)
from relatum.testing import random_problems

FILE = Path(plain.__file__)
LINES = 538  # it may get shorter


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)  # thousands of files are written here


def verdict(path) -> tuple[int, str]:
    return plain.check(str(path))


def saved(path, problem, estimate):
    rt.io.save_estimate(path, problem, estimate)
    return verdict(path)[0]


def nodes_and_rows(estimate) -> set[str]:
    """Names of the nodes, and of the families of rows, that a certificate has."""
    found, todo = set(), [estimate.certificate.proof]
    while todo:
        node = todo.pop()
        found.add(type(node).__name__ + ("!" if getattr(node, "infeasible", False) else ""))
        found |= {cuts.family for cuts in getattr(node, "cuts", ())}
        found |= set(getattr(node, "families", ()))
        below = [part[2] for part in getattr(node, "parts", ())]
        below += [getattr(node, name, None) for name in ("then", "unrelated", "related")]
        todo += [child for child in below if child is not None]
    return found


# --- true bundles -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMED_SETS, "capped"])
def test_small_problems_of_every_set(tmp_path, name):
    structure = NAMED_SETS.get(name, rt.EQUIVALENCES & rt.at_most(2))
    largest = 4 if structure <= rt.SYMMETRIC else 3
    for problem in random_problems(structure, 15, seed=8, largest=largest):
        estimate = rt.infer(problem, prove=True)
        code = saved(tmp_path / "e.npz", problem, estimate)
        assert (code == 0) == bool(rt.verify(problem, estimate)), (problem, problem.log_odds)
        if estimate.relation is not None:
            for wrong in (math.nextafter(estimate.value, math.inf), math.nan):
                assert saved(tmp_path / "e.npz", problem, replace(estimate, value=wrong)) == 1


def larger_problems():
    rng = np.random.default_rng(6)
    for n in (9, 16, 22):
        c = rng.normal(size=(n, n))
        facts = rt.evidence(related=[(0, 1), (1, 2)], unrelated=[(3, 4)])
        yield rt.Problem(c, rt.EQUIVALENCES & facts & rt.one_per_group(np.arange(n) % 5))
        yield rt.Problem(np.rint(3 * c), rt.EQUIVALENCES)
        yield rt.Problem(c + 0.3, rt.EQUIVALENCES & rt.at_most(2 + n % 3))
        yield rt.Problem(c, rt.LINEAR_ORDERS & facts)
        yield rt.Problem(np.rint(c), rt.LINEAR_ORDERS)
        twins = np.rint(c)[np.ix_(np.arange(n) // 2, np.arange(n) // 2)]
        yield rt.Problem(np.where(np.eye(n), 0, twins), rt.LINEAR_ORDERS)
    c = rng.normal(size=(8, 8))
    for names in (rt.PARTIAL_ORDERS, rt.TRANSITIVE & rt.CONNEX, rt.SYMMETRIC & rt.TRANSITIVE):
        yield rt.Problem(c, names)
    yield rt.Problem(c, rt.BIJECTIONS)
    yield rt.Problem(c + 0.5, rt.HAS_IMAGE & rt.at_most(2) & rt.TRANSITIVE)
    pairs = np.argwhere(np.triu(rng.random((30, 30)) < 0.2, 1)).T
    bits = rng.normal(size=pairs.shape[1]).astype(np.float32)
    yield rt.Problem.from_pairs(*pairs, bits, n=30, background=-0.25, feasible=rt.EQUIVALENCES)
    yield rt.Problem(rng.normal(size=45 * 22) - 0.6, rt.EQUIVALENCES)


@pytest.mark.slow
def test_larger_problems_and_every_kind_of_node(tmp_path):
    found = set()
    for problem in larger_problems():
        estimate = rt.infer(problem, prove=True, time_limit=60)
        rt.io.save_estimate(tmp_path / "e.npz", problem, estimate)
        code, reason = verdict(tmp_path / "e.npz")
        report = rt.verify(problem, estimate)
        assert (code == 0) == bool(report), (problem, reason, report.reason)
        found |= nodes_and_rows(estimate)
        lower = replace(estimate.certificate, bound=estimate.value - 0.5)
        forged = replace(estimate, certificate=lower)
        assert saved(tmp_path / "e.npz", problem, forged) == 1  # a false claim
    every = {"Leaf", "Branch", "Fix", "Imply", "Decompose", "Contract", "Prices", "SubsetOrder"}
    assert every | {"Merge", "transitive", "has_image", "at_most"} <= found, every - found


def test_heuristics_and_bounds_without_end(tmp_path):
    rng = np.random.default_rng(3)
    problem = rt.Problem(rng.normal(size=(30, 30)) - 0.3, rt.EQUIVALENCES)
    estimate = rt.infer(problem, solver="greedy_contraction")
    assert estimate.status is Status.FEASIBLE
    assert saved(tmp_path / "e.npz", problem, estimate) == 0
    free = replace(estimate, bound=math.inf, certificate=None)
    assert saved(tmp_path / "e.npz", problem, free) == 0
    assert saved(tmp_path / "e.npz", problem, replace(free, status=Status.OPTIMAL)) == 1
    assert saved(tmp_path / "e.npz", problem, replace(estimate, certificate=None)) == 1


# --- what each statement has to show, by hand ----------------------------------------------------


def bound_only(bound, proof):
    return Estimate(Status.BOUND_ONLY, None, -math.inf, bound, Certificate(bound, proof))


def row(family, *index, multiplier=1.0):
    return Cuts(family, np.array([index]), np.array([multiplier]))


TRIANGLE = rt.Problem([2.0, -3.0, 2.0], rt.EQUIVALENCES)  # at best 2, and 4 without rows
FOUR = rt.Problem(np.eye(4) + 1.0, rt.LINEAR_ORDERS)  # any order has 8 + 6
UNLIKE = rt.Problem(np.arange(16.0).reshape(4, 4), rt.LINEAR_ORDERS)
TOLD = rt.Problem(FOUR.log_odds, rt.LINEAR_ORDERS & rt.evidence([(0, 2)]))
CAPPED = rt.Problem(np.ones(6), rt.EQUIVALENCES & rt.at_most(2))  # 2 pairs of 4
KNOWN = rt.Problem(TRIANGLE.log_odds, rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
APART = rt.Problem([1.0, 1.0, 1.0], rt.EQUIVALENCES & rt.evidence([(0, 1), (1, 2)], [(0, 2)]))
CUT = (row("transitive", 0, 1, 2, multiplier=2.0),)
LEAF, ALL = Leaf(CUT), np.arange(3)
IMPLY = Imply(("transitive",), ALL[None], np.array([[0, 2]]), np.ones(1, bool), Leaf())


@pytest.mark.parametrize(
    ("problem", "proof", "best"),
    [
        (TRIANGLE, LEAF, 2.0),
        (TRIANGLE, Leaf(), 4.0),
        (TRIANGLE, Leaf((row("path", 0, 1, 2, -1, multiplier=2.0),)), 2.0),
        (TRIANGLE, Leaf((row("two_partition", 0, 2, -1, 1, multiplier=1.0),)), 3.0),
        (TRIANGLE, Branch((0, 2), LEAF, LEAF), 2.0),
        (TRIANGLE, Decompose(((ALL, 2.0, LEAF),)), 2.0),
        (TRIANGLE, Decompose(((ALL[:2], 2.0, Leaf()),)), 4.0),
        (TRIANGLE, Fix((), np.array([[0, 2]]), np.array([False]), LEAF), 2.0),
        (TRIANGLE, Prices((), np.array([1.0, 1.0, 1.0])), 3.0),
        (TRIANGLE, Prices((), np.array([0.5, 1.5, 0.5])), 2.0),
        (TRIANGLE, Prices(CUT, np.zeros(3)), 2.0),
        (KNOWN, Contract(np.array([0, 0, 1]), Leaf()), 2.0),
        (CAPPED, Leaf(), 2.0),
        (CAPPED, Leaf((row("capped_set", 2, 0, 1, 2, 3),)), 2.0),
        (CAPPED, Leaf((row("at_most", 0, 2, multiplier=0.5),)), 2.0),
        (CAPPED, Prices((), np.full(4, 0.5)), 2.0),
        (FOUR, Leaf(), 14.0),
        (FOUR, Merge(np.array([0, 0, 0, 0]), Leaf()), 14.0),
        (FOUR, Merge(np.array([1, 0, 1, 0]), SubsetOrder()), 14.0),
        (FOUR, SubsetOrder(), 14.0),
        (APART, Leaf((row("transitive", 0, 1, 2),), infeasible=True), -math.inf),
        (APART, IMPLY, -5.0),
        (APART, Contract(np.array([0, 0, 0]), Leaf()), -math.inf),
        (APART, Prices((), np.zeros(3)), -math.inf),
        (APART, Decompose(((ALL, -math.inf, Leaf(CUT, infeasible=True)),)), -math.inf),
    ],
)  # fmt: skip
def test_what_a_proof_proves_and_nothing_more(tmp_path, problem, proof, best):
    claimed = rt.proof.Certificate(best, proof)
    status = Status.INFEASIBLE if best == -math.inf else Status.BOUND_ONLY
    estimate = Estimate(status, None, -math.inf, best, claimed)
    assert saved(tmp_path / "e.npz", problem, estimate) == 0
    assert rt.verify(problem, estimate)
    if best > -math.inf and problem is not APART:
        lower = bound_only(math.nextafter(best, -math.inf), proof)
        assert saved(tmp_path / "e.npz", problem, lower) == 1
        assert not rt.verify(problem, lower)


@pytest.mark.parametrize(
    ("problem", "proof"),
    [
        (TRIANGLE, Leaf((row("transitive", 0, 1, 2, multiplier=-1.0),))),
        (TRIANGLE, Leaf((row("transitive", 0, 1, 2, multiplier=math.nan),))),
        (TRIANGLE, Leaf((row("transitive", 0, 1, 2, multiplier=math.inf),))),
        (TRIANGLE, Leaf((row("transitive", 0, 1, 3),))),
        (TRIANGLE, Leaf((row("transitive", 0, 1, -2),))),
        (TRIANGLE, Leaf((row("transitive", 0, 1),))),
        (TRIANGLE, Leaf((row("antisymmetric", 0, 1),))),
        (TRIANGLE, Leaf((row("made_up", 0, 1),))),
        (TRIANGLE, Leaf((row("at_most", 0, 2),))),
        (TRIANGLE, Leaf((row("capped_set", 2, 0, 1),))),
        (TRIANGLE, Leaf((row("odd_wheel", 0, 1, 2),))),
        (TRIANGLE, Leaf((row("two_partition", 0, 1),))),
        (TRIANGLE, Leaf((row("two_partition", 0, 1, -1, 1),))),
        (CAPPED, Leaf((row("at_most", 0, 1, multiplier=9.0),))),
        (CAPPED, Leaf((row("odd_wheel", 0, 1, 2, 2),))),
        (CAPPED, Leaf((row("capped_set", 2, 0, 1, 1),))),
        (FOUR, Leaf((row("connex", 1, 1),))),
        (FOUR, Leaf((row("half_dicycle", 0, 1, 2),))),
        (FOUR, Leaf((row("half_dicycle", 0, 1, 1, 0, 1),))),
        (TRIANGLE, Leaf(infeasible=True)),
        (TRIANGLE, Branch((0, 3), Leaf(), Leaf())),
        (TRIANGLE, Branch((-1, 0), Leaf(), Leaf())),
        (TRIANGLE, Decompose(((ALL, 50.0, Leaf()), (ALL[:1], 0.0, Leaf())))),
        (TRIANGLE, Decompose(((ALL, math.nan, Leaf()),))),
        (TRIANGLE, Decompose(((ALL, math.inf, Leaf()),))),
        (TRIANGLE, Decompose(((ALL, -math.inf, Leaf()),))),
        (TRIANGLE, Decompose(((np.array([0, 3]), 9.0, Leaf()),))),
        (TRIANGLE, Decompose(((ALL[:0], -math.inf, Leaf((row("has_image", 0),), True)),))),
        (TRIANGLE, Contract(np.array([0, 0, 1]), Leaf())),
        (TRIANGLE, Contract(np.array([-1, 0, 1]), Leaf())),
        (TRIANGLE, Contract(np.array([0, 1]), Leaf())),
        (TRIANGLE, Merge(np.array([0, 0, 1]), Leaf())),
        (TRIANGLE, SubsetOrder()),
        (TRIANGLE, Prices((), np.array([9.0, 9.0]))),
        (TRIANGLE, Prices((), np.array([9.0, math.nan, 9.0]))),
        (FOUR, Merge(np.array([-1, 0, 1, 2]), Leaf())),
        (FOUR, Prices((), np.full(4, 99.0))),
        (FOUR, Contract(np.array([0, 1, 2, 3]), Leaf())),
        (UNLIKE, Merge(np.array([0, 0, 1, 2]), Leaf())),
        (TOLD, Merge(np.array([0, 0, 1, 2]), Leaf())),
        (TRIANGLE, IMPLY),
        (rt.Problem(np.ones((2, 3)), rt.MAPS), Decompose(((ALL[:2], 50.0, Leaf()),))),
    ],
)  # fmt: skip
def test_statements_that_do_not_hold_are_refused_whatever_is_claimed(tmp_path, problem, proof):
    estimate = bound_only(60.0, proof)
    assert saved(tmp_path / "e.npz", problem, estimate) == 1
    assert not rt.verify(problem, estimate)


def test_fixing_needs_the_other_value_bounded(tmp_path):
    proof = Fix((), np.array([[0, 1]]), np.array([False]), Leaf())
    assert saved(tmp_path / "e.npz", TRIANGLE, bound_only(3.5, proof)) == 1
    proof = Fix((), np.array([[0, 2]]), np.array([False]), LEAF)
    assert saved(tmp_path / "e.npz", TRIANGLE, bound_only(3.5, proof)) == 0


@pytest.mark.slow
def test_rows_that_are_accepted_hold_for_every_relation():
    """Try all relations of three or four elements on rows with random indices."""
    rng = np.random.default_rng(9)
    # squares are added up by themselves: see test_squares
    held: dict[str, int] = dict.fromkeys([family for family in FAMILIES if family != "square"], 0)
    for name, names in naive.NAMED.items():
        for n, cap in ((3, None), (3, 2), (4, 2)):
            if n == 4 and name not in ("EQUIVALENCES", "LINEAR_ORDERS"):
                continue
            members = naive.feasible(names, (n, n), [], [], cap)
            feasible = getattr(rt, name)
            feasible = feasible if cap is None else feasible & rt.at_most(cap)
            known = feasible.complete
            view = plain.View(n, n, set(known.names), known.cap, [0] * n * n)
            for family in held:
                for _ in range(25):
                    index = rng.integers(-1, n, rng.integers(1, 7)).tolist()
                    index = rng.permutation(n).tolist() if rng.random() < 0.2 else index
                    if family == "half_dicycle":
                        index = (index * 6)[: 3 * int(rng.integers(1, 3))] * 2
                    try:
                        terms, right = view.row(family, index)
                        for a, b, _ in terms:
                            view.cell(a, b)
                    except (plain.UnprovedError, LookupError, TypeError, ValueError):
                        continue
                    held[family] += 1
                    for y in members:
                        left = sum(k * int(y[a][b]) for a, b, k in terms)
                        assert left <= right, (name, cap, family, index)
    assert min(held.values()) > 0, held


# --- proofs at random ---------------------------------------------------------------------------


def random_cuts(rng, n):
    width = {"transitive": 3, "symmetric": 2, "antisymmetric": 2, "connex": 2, "at_most": 2}
    families = [*width, "has_image", "has_preimage", "unique_preimage"]
    cuts = []
    for _ in range(rng.integers(0, 3)):
        family = families[rng.integers(len(families))]
        k = int(rng.integers(1, 4))
        index = rng.integers(0, n, (k, width.get(family, 1)))
        cuts.append(Cuts(family, index, rng.integers(0, 3, k) / 2))
    return tuple(cuts)


def random_proof(rng, n, depth):
    kind = rng.integers(0, 9) if depth else 0

    def below(m=n):
        return random_proof(rng, m, depth - 1)

    labels = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    pairs, flags = rng.integers(0, n, (1, 2)), rng.random(1) < 0.5
    if kind <= 1:
        return Leaf(random_cuts(rng, n), infeasible=bool(rng.random() < 0.1))
    if kind == 2:
        return Branch(tuple(pairs[0].tolist()), below(), below())
    if kind == 3:
        return Fix(random_cuts(rng, n), pairs, flags, below())
    if kind == 4:
        rows = rng.integers(0, n, (1, 3))
        return Imply(("transitive",), rows, pairs, flags, below())
    if kind == 5:
        elements = rng.permutation(n)[: rng.integers(1, n + 1)]
        return Decompose(((elements, float(rng.integers(-6, 10)), below(len(elements))),))
    if kind == 6:
        return Prices(random_cuts(rng, n), rng.integers(-1, 5, n) / 2)
    if kind == 7:
        return SubsetOrder()
    return (Contract if rng.random() < 0.5 else Merge)(labels, below(int(labels.max()) + 1))


@pytest.mark.slow
def test_random_proofs_prove_nothing_false_and_whatever_verify_accepts(tmp_path):
    rng = np.random.default_rng(21)
    names = list(naive.NAMED)
    accepted, path = 0, tmp_path / "e.npz"
    for _ in range(600):
        name = names[rng.integers(len(names))]
        related = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 3))]
        unrelated = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(rng.integers(0, 2))]
        cap = int(rng.integers(1, 4)) if rng.random() < 0.3 else None
        feasible = getattr(rt, name) & rt.evidence(related, unrelated)
        feasible = feasible if cap is None else feasible & rt.at_most(cap)
        c = rng.integers(-4, 5, (3, 3)).astype(float)
        members = naive.feasible(naive.NAMED[name], (3, 3), related, unrelated, cap)
        best, problem = naive.best_value(c, members), rt.Problem(c, feasible)
        proof = random_proof(rng, 3, 3)
        for claim in (best - 0.5, best, best + 1.0, best + 40.0):
            if best == -math.inf:
                continue
            estimate = bound_only(claim, proof)
            code = saved(path, problem, estimate)
            assert claim >= best or code == 1, (problem, c, proof)
            assert code == 0 or not rt.verify(problem, estimate), (problem, c, proof, verdict(path))
            accepted += code == 0
    assert accepted > 80


# --- forged files -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taken_apart(tmp_path_factory):
    rng = np.random.default_rng(1)
    known = rt.evidence(related=[(0, 1)], unrelated=[(2, 3)])
    problem = rt.Problem(rng.normal(size=(12, 12)), rt.EQUIVALENCES & known)
    path = tmp_path_factory.mktemp("bundle") / "e.npz"
    rt.io.save_estimate(path, problem, rt.infer(problem, prove=True))
    manifest, arrays = naive.unpack_bundle(path)
    assert verdict(path)[0] == 0
    assert manifest["nodes"] > 2
    return manifest, arrays


def of_kind(manifest, kind):
    return next(node for node in manifest["proof"] if node["type"] == kind)


def scores_of(manifest):
    return f"a{manifest['problem']['scores']['log_odds']['array']}"


def cuts_of(manifest):
    return next(cut for node in manifest["proof"] for cut in node.get("cuts", ()))


def multipliers_of(manifest):
    return f"a{cuts_of(manifest)['multipliers']['array']}"


def without_relation(estimate):
    estimate.update(status="OPTIMAL", spare=estimate["relation"], relation=None)


def with_evidence(problem, related):
    problem.update(spare=problem["related"], related=related)


def with_node(manifest, node):
    manifest["proof"].append(node)
    manifest["nodes"] += 1


def shifted(manifest, by):
    e = manifest["estimate"]
    e.update(value=e["value"] + by, bound=e["bound"] + by, certificate=e["certificate"] + by)


UTF_16 = np.frombuffer("{}".encode("utf-16-le"), np.uint8)
FORGED = {
    "value and bounds": (1, lambda m, a: shifted(m, -1.0)),
    "bound below": (1, lambda m, a: m["estimate"].update(bound=m["estimate"]["value"] - 1)),
    "bound far": (1, lambda m, a: m["estimate"].update(bound=m["estimate"]["value"] + 1)),
    "weaker proof": (1, lambda m, a: m["estimate"].update(certificate=1e9)),
    "no proof of it": (1, lambda m, a: m["estimate"].update(certificate=None)),
    "not a number": (1, lambda m, a: m["estimate"].update(bound=math.nan)),
    "infinite value": (1, lambda m, a: m["estimate"].update(value="inf")),
    "infeasible": (1, lambda m, a: m["estimate"].update(status="INFEASIBLE")),
    "no relation": (1, lambda m, a: without_relation(m["estimate"])),
    "another status": (1, lambda m, a: m["estimate"].update(status="CERTAIN")),
    "other scores": (1, lambda m, a: a.update({scores_of(m): a[scores_of(m)] + 1})),
    "infinite scores": (1, lambda m, a: a.update({scores_of(m): a[scores_of(m)] * np.inf})),
    "scores missing": (1, lambda m, a: a.update({scores_of(m): a[scores_of(m)][1:]})),
    "a property more": (1, lambda m, a: m["problem"]["properties"].append("connex")),
    "other evidence": (1, lambda m, a: with_evidence(m["problem"], [[2, 3]])),
    "a small cap": (1, lambda m, a: m["problem"].update(cap=1)),
    "no cap": (1, lambda m, a: m["problem"].update(cap=0)),
    "one group": (1, lambda m, a: m["problem"].update(groups=[[0] * 12])),
    "rows dropped": (1, lambda m, a: a.update({multipliers_of(m): a[multipliers_of(m)][1:]})),
    "no rows": (1, lambda m, a: a.update({multipliers_of(m): a[multipliers_of(m)] * 0})),
    "negative": (1, lambda m, a: a.update({multipliers_of(m): -a[multipliers_of(m)]})),
    "nan": (1, lambda m, a: a.update({multipliers_of(m): a[multipliers_of(m)] * np.nan})),
    "shared": (1, lambda m, a: of_kind(m, "Decompose")["parts"][0].__setitem__(1, 1)),
    "its own child": (1, lambda m, a: of_kind(m, "Contract").update(then=0)),
    "no such child": (1, lambda m, a: of_kind(m, "Contract").update(then=10**6)),
    "behind the end": (1, lambda m, a: of_kind(m, "Contract").update(then=-1)),
    "an orphan": (1, lambda m, a: with_node(m, {"type": "Leaf", "cuts": [], "infeasible": False})),
    "a loop beside": (1, lambda m, a: with_node(m, {"type": "Contract", "then": m["nodes"]})),
    "cut off": (2, lambda m, a: m["proof"].pop()),
    "stated nodes": (2, lambda m, a: m.update(nodes=m["nodes"] + 1)),
    "no problem": (2, lambda m, a: m["problem"].pop("scores")),
    "version": (2, lambda m, a: m.update(version=1)),
    "array missing": (2, lambda m, a: a.pop("a0")),
    "array twice": (2, lambda m, a: cuts_of(m).update(multipliers=cuts_of(m)["index"])),
    "array too many": (2, lambda m, a: a.update(a999=np.zeros(2))),
    "no array": (2, lambda m, a: a.update(a0=b"hello")),
    "pickle": (2, lambda m, a: a.update(a0=naive.npy(np.array([{}])))),
    "three axes": (2, lambda m, a: a.update(a0=np.zeros((1, 1, 1)))),
    "by columns": (2, lambda m, a: a.update(a0=naive.npy(np.asfortranarray(np.ones((2, 2)))))),
    "deep": (2, lambda m, a: a.update(manifest=np.frombuffer(b"[" * 100_000, np.uint8))),
    "large": (2, lambda m, a: a.update(a999=np.zeros((1 << 24) + 1))),
    "many elements": (2, lambda m, a: m["problem"].update(shape=[10**5, 10**5])),
    "letters of two bytes": (2, lambda m, a: a.update(manifest=UTF_16)),
    "a direction": (1, lambda m, a: m["problem"].update(properties=["transitive"])),
    "no elements": (2, lambda m, a: m["problem"].update(shape=[-1, -144])),
}  # fmt: skip


@pytest.mark.parametrize("how", FORGED)
def test_forged_bundles(tmp_path, taken_apart, how):
    manifest, arrays = json.loads(json.dumps(taken_apart[0])), dict(taken_apart[1])
    code, change = FORGED[how]
    change(manifest, arrays)
    path = naive.pack_bundle(tmp_path / "e.npz", manifest, arrays)
    found, reason = verdict(path)
    assert found == code, reason
    assert "\n" not in reason
    try:
        problem, estimate = rt.io.load_bundle(path)
    except rt.errors.DataError:
        return
    assert not rt.verify(problem, estimate)


def test_a_background_is_a_float_whatever_it_is_written_as(tmp_path):
    """2**53 + 1 is no float: `relatum verify` would take it for another number."""
    problem = rt.Problem.from_pairs([], [], [], n=2, background=2.0**53, feasible=rt.EQUIVALENCES)
    rt.io.save_estimate(tmp_path / "e.npz", problem, rt.infer(problem, prove=True))
    manifest, arrays = naive.unpack_bundle(tmp_path / "e.npz")
    manifest["problem"]["scores"]["background"] = 2**53 + 1
    path = naive.pack_bundle(tmp_path / "f.npz", manifest, arrays)
    assert verdict(path)[0] == 0
    assert rt.verify(*rt.io.load_bundle(path))


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_that_unpacks_as_a_whole_is_not_checked(tmp_path, taken_apart, packing):
    path = naive.pack_bundle(tmp_path / "e.npz", *taken_apart)
    with zipfile.ZipFile(path, "a", packing) as file:
        file.writestr("a999.npy", naive.npy(np.zeros(1)))
    assert verdict(path) == (2, "it is packed oddly")


def test_no_more_is_unpacked_than_is_stated(tmp_path):
    """64 MB of zeros in an entry that says it has 1000 bytes."""
    path = tmp_path / "e.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.npy", bytes(1 << 26))
    raw = path.read_bytes().replace((1 << 26).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    path.write_bytes(raw)
    tracemalloc.start()
    assert verdict(path)[0] == 2
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_other_files(tmp_path, taken_apart):
    path = naive.pack_bundle(tmp_path / "e.npz", *taken_apart)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("a0.npy", naive.npy(np.zeros(1)))
    assert verdict(path) == (2, "two entries have the same name")
    (tmp_path / "text.npz").write_text("hello")
    assert verdict(tmp_path / "text.npz")[0] == 2
    assert verdict(tmp_path / "none.npz")[0] == 2
    assert verdict(tmp_path)[0] == 2


def test_shorter_numbers_and_other_byte_orders(tmp_path, taken_apart):
    manifest, arrays = taken_apart
    for order, code in (("<", 0), (">", 2)):
        types = {"i": f"{order}i2", "f": f"{order}f8", "b": "?", "u": "u1"}
        other = {name: array.astype(types[array.dtype.kind]) for name, array in arrays.items()}
        assert verdict(naive.pack_bundle(tmp_path / "e.npz", manifest, other))[0] == code


def test_deep_proofs_need_no_recursion(tmp_path):
    proof = LEAF
    for _ in range(1500):
        proof = Fix((), np.empty((0, 2), np.int64), np.empty(0, bool), proof)
    for _ in range(1000):
        proof = Branch((0, 2), Leaf(), proof)
    assert saved(tmp_path / "e.npz", TRIANGLE, bound_only(4.0, proof)) == 0
    assert saved(tmp_path / "e.npz", TRIANGLE, bound_only(1.0, proof)) == 1


def test_too_much_work_is_not_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "MOST_WORK", 10)
    assert saved(tmp_path / "e.npz", FOUR, bound_only(14.0, SubsetOrder())) == 2
    rng = np.random.default_rng(0)
    monkeypatch.setattr(plain, "MOST_WORK", 20_000)
    hard = rt.Problem(rng.normal(size=(20, 20)), rt.EQUIVALENCES)
    assert saved(tmp_path / "e.npz", hard, bound_only(50.0, Prices((), np.zeros(20)))) in (1, 2)
    orders = rt.Problem(rng.normal(size=(20, 20)), rt.LINEAR_ORDERS)
    assert saved(tmp_path / "e.npz", orders, bound_only(0.0, SubsetOrder())) == 2


def test_too_much_memory_is_not_checked(tmp_path, monkeypatch):
    """Cases that wait, each after a contraction of nothing, have scores of their own."""
    n, nothing = 12, (np.empty((0, 2), np.int64), np.empty(0, bool))
    problem = rt.Problem(np.full(n * (n - 1) // 2, -1.0), rt.EQUIVALENCES)
    monkeypatch.setattr(plain, "MOST_HELD", 1_000_000)
    for step, code in (
        (lambda proof: Fix((), *nothing, proof), 0),
        (lambda proof: Contract(np.arange(n), proof), 2),
    ):
        proof = Leaf()
        for _ in range(60):
            proof = Branch((0, 1), Leaf(), step(proof))
        assert saved(tmp_path / "e.npz", problem, bound_only(0.0, proof)) == code


def test_scores_beyond_all_floats_are_below_nothing_that_is_claimed(tmp_path):
    """A number of JSON can have a thousand digits: then even "nothing is feasible" is above it."""
    problem = rt.Problem([[-1.0]], rt.REFLEXIVE)
    nothing = Estimate(
        Status.INFEASIBLE, None, -math.inf, -math.inf, Certificate(-math.inf, Leaf())
    )
    rt.io.save_estimate(tmp_path / "e.npz", problem, nothing)
    manifest, arrays = naive.unpack_bundle(tmp_path / "e.npz")
    del arrays[scores_of(manifest)]
    for size in (1, 10**900):
        manifest["problem"]["scores"]["log_odds"] = [-size]
        assert verdict(naive.pack_bundle(tmp_path / "f.npz", manifest, arrays))[0] == 1


def test_many_short_lines_are_work(tmp_path, monkeypatch, taken_apart):
    """Forty kilobytes can be forty million lines of one byte, and these gigabytes of lists."""
    manifest, arrays = taken_apart
    monkeypatch.setattr(plain, "MOST_WORK", 1_000_000)
    lines = {**arrays, "a999": np.zeros((100_000, 1), np.uint8)}
    assert verdict(naive.pack_bundle(tmp_path / "e.npz", manifest, lines)) == (
        2,
        "it has too many rows",
    )


def test_many_groups_are_work(tmp_path, monkeypatch, taken_apart):
    manifest, arrays = json.loads(json.dumps(taken_apart[0])), dict(taken_apart[1])
    manifest["problem"]["groups"] = [list(range(12))] * 1000
    monkeypatch.setattr(plain, "MOST_WORK", 100_000)
    assert verdict(naive.pack_bundle(tmp_path / "e.npz", manifest, arrays))[0] == 2


def test_optimal_is_held_to_the_gap(tmp_path):
    """2**-20 bits above the exact value, and not a unit in the last place more."""
    problem = rt.Problem([0.0, 0.0, 0.0], rt.EQUIVALENCES)
    for gap, code in ((2.0**-20, 0), (math.nextafter(2.0**-20, 1.0), 1)):
        relation = rt.Partition([0, 1, 2])
        estimate = Estimate(Status.OPTIMAL, relation, 0.0, gap, Certificate(gap, Leaf()))
        assert saved(tmp_path / "e.npz", problem, estimate) == code


# --- on its own ---------------------------------------------------------------------------------


def test_it_imports_the_standard_library_only():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").split(".")[0])
    assert imported <= set(sys.stdlib_module_names)


def test_it_can_be_read():
    """One sitting: what takes more lines than this is no plain checker any more."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= 100


def test_it_runs_on_its_own(tmp_path, taken_apart):
    manifest, arrays = taken_apart
    naive.pack_bundle(tmp_path / "good.npz", manifest, arrays)
    forged = json.loads(json.dumps(manifest))
    shifted(forged, -1.0)
    naive.pack_bundle(tmp_path / "forged.npz", forged, arrays)
    for name, code, word in (
        (["good.npz"], 0, "verified: OPTIMAL"),
        (["forged.npz"], 1, "refused: The value is"),
        (["none.npz"], 2, "not checked: "),
        ([], 2, "not checked: usage: relatum-check BUNDLE.npz"),
    ):
        done = subprocess.run(
            [sys.executable, "-I", "-S", FILE, *name], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == code
        assert done.stdout.startswith(word)
        assert done.stdout.count("\n") == 1
        assert done.stderr == ""
