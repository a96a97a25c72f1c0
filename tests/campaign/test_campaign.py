"""A slice of both campaigns, and whether they would notice what they look for."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

import relatum as rt
from campaign import certificates, mutants, problems, rows, running, tables, trees
from campaign.generation import NAMES, SCORES, random_case
from campaign.state import State, objects_of
from campaign.truth import PROPERTIES, Meaning, false_claims, has, members, relations
from naive.problem import ALL_PROPERTIES
from relatum.pair_tables import TableVerification
from relatum.proof import Certificate, Estimate, Leaf, Status, Verification

NODES = (
    *("Leaf", "infeasible Leaf", "Branch", "Fix", "Imply", "Decompose", "Contract", "Prices"),
    *("Merge", "SubsetOrder"),
)


def told(state):
    return running.report(state, most=5)


# --- slices -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_problems_are_answered_rightly_and_verified():
    state = State(seed=2024)
    running.run("problems", state, 500)
    counts = state.counts["problems"]
    assert not state.failures, told(state)
    assert counts["problems"] == 500
    for kind in (
        *SCORES,
        *NAMES,
        "intersection",
        "evidence",
        "groups",
        "cap",
        "sparse",
        "condensed",
    ):
        assert counts[f"of {kind}"] > 0, kind
    for status in ("OPTIMAL", "FEASIBLE", "INFEASIBLE"):
        assert counts[f"status {status}"] > 10, status


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_mutants_of_tables_prove_nothing_that_is_false():
    pytest.importorskip("duckdb", reason="install relatum[tables]")
    state = State(seed=2024)
    running.run("tables", state, 14)
    counts = state.counts["tables"]
    assert not state.failures, told(state)
    assert counts["true accepted"] == counts["tables"] > 10
    assert counts["proofs"] > 0
    words = ("claims", "lower", "moved", "arrays", "missing", "proofs", "tricked")
    assert all(counts[f"refused, {word}"] > 0 for word in words), counts


def test_a_checker_of_tables_that_believes_everything_is_caught(monkeypatch):
    pytest.importorskip("duckdb", reason="install relatum[tables]")
    monkeypatch.setattr(tables, "MAKERS", (tables._lower, tables._moved))
    monkeypatch.setattr(tables, "tricked", lambda rng, data: data)

    def gullible(table, path, **told):
        said = tables.opened(path.read_bytes()).manifest
        claims = {name: said[name] for name in ("elements", "value", "bound")}
        return TableVerification(True, "", **claims)

    found, rng = [], np.random.default_rng(3)
    for _ in range(4):
        found += tables.run(rng, Counter(), [], count=6, check=gullible)
    wrong = " ".join(wrong for failure in found for wrong in failure["wrong"])
    assert "bound" in wrong


@pytest.mark.slow
def test_mutants_prove_nothing_that_is_false():
    state = State(seed=2025)
    running.run("mutants", state, 180, bundled=0.005)
    counts = state.counts["mutants"]
    assert not state.failures, told(state)
    assert counts["mutants"] == counts["accepted"] + counts["refused"] > 4000
    for kind in (*NODES, *(f"rows {family}" for family in rows.FAMILIES)):
        assert counts[f"refused, of {kind}"] > 0, kind
        assert counts[f"accepted, of {kind}"] > 0, kind
    assert counts["refused, sparse view"] > 100
    assert counts["accepted, sparse view"] > 10


# --- would they notice? -------------------------------------------------------------------------


def credulous(problem, estimate):
    return Verification(True, "Whatever you say.")


def believing_the_proof(problem, estimate):
    """Checks relation and value, and believes the bound."""
    without = Estimate(estimate.status, estimate.relation, estimate.value, math.inf)
    if estimate.status is Status.OPTIMAL or estimate.relation is None:
        return Verification(True, "The bound looks right.")
    return rt.verify(problem, without)


@pytest.mark.parametrize("checker", [credulous, believing_the_proof])
def test_a_checker_that_believes_everything_is_caught(checker):
    counts, found = Counter(), []
    for number in range(6):
        rng = np.random.default_rng([5, number])
        found += mutants.run(rng, counts, [], verify=checker, bundled=0.0)
    false = [w for failure in found for w in failure["wrong"] if "a false claim is accepted" in w]
    assert len(false) > 50
    assert any("is below" in w for w in false)


def test_a_checker_that_refuses_everything_is_caught():
    found = mutants.run(
        np.random.default_rng([5, 0]), Counter(), [], verify=lambda p, e: Verification(False, "No.")
    )
    assert found[0]["wrong"] == ["a true certificate is refused: No."]


def test_a_checker_that_raises_or_does_not_end_is_caught(monkeypatch):
    case, estimate = certificates.planted(np.random.default_rng(1))
    mutant = mutants.Mutant(case, estimate, "")

    def breaking(problem, estimate):
        raise RuntimeError("oh")

    def endless(problem, estimate):
        while True:
            pass

    monkeypatch.setattr(mutants, "SECONDS", 0.1)
    assert "raised RuntimeError" in mutants.judged(mutant, 2000, breaking)[1][0]
    assert "no answer" in mutants.judged(mutant, 2000, endless)[1][0]


def test_an_answer_that_is_wrong_is_caught(monkeypatch):
    honest = rt.infer

    def boasting(problem, **arguments):
        e = honest(problem, **arguments)
        bound = e.bound - 1.0
        return Estimate(e.status, e.relation, e.value, bound, Certificate(bound, Leaf()), e.solver)

    monkeypatch.setattr(rt, "infer", boasting)
    failures = [problems.run(np.random.default_rng([6, k]), Counter()) for k in range(20)]
    said = " ".join(w for f in failures if f for w in f["wrong"])
    assert "is below" in said
    assert "a true certificate is refused" in said


# --- what they rest on --------------------------------------------------------------------------


def test_properties_are_what_their_definitions_say():
    ys = relations(3, 3)
    for name in PROPERTIES:
        expected = [ALL_PROPERTIES[name](y) for y in ys.tolist()]
        assert has(name, ys).tolist() == expected, name


COUNTS = {"EQUIVALENCES": (15, 52), "LINEAR_ORDERS": (24, 120), "WEAK_ORDERS": (75, 541)}


@pytest.mark.parametrize("name", COUNTS)
def test_larger_sets_are_listed_whole(name):
    for n, count in zip((4, 5), COUNTS[name], strict=True):
        ys = members(frozenset(NAMES[name]), (n, n))
        assert len(ys) == count == len({y.tobytes() for y in ys})
        assert all(has(p, ys).all() for p in NAMES[name])


def test_rows_hold_for_every_relation():
    """What certificates are planted with is valid, from formulas of their own."""
    rng = np.random.default_rng(0)
    seen = Counter()
    for family, needed in rows.FAMILIES.items():
        names = frozenset(needed | ({"reflexive"} if "transitive" in needed else set()))
        meaning = Meaning(names, np.zeros((4, 4)), cap=2)
        for _ in range(6):
            made = rows.random_row(rng, family, meaning, 1 if "unique_image" in names else 2)
            _, terms, rhs = made
            for y in meaning.feasible:
                assert sum(k * int(y[pair]) for pair, k in terms.items()) <= rhs
            seen[family] += 1
    assert set(seen) == set(rows.FAMILIES)


def test_false_claims_are_told_from_true_ones():
    meaning = Meaning(frozenset(), np.array([[1.0, -1.0]]))
    best = rt.Relation([[1, 0]])
    assert false_claims(meaning, Estimate(Status.OPTIMAL, best, 1.0, 1.0)) == []
    nothing = rt.Relation([[0, 0]])
    for estimate, words in (
        (Estimate(Status.OPTIMAL, nothing, 0.0, 1.0), "below the best"),
        (Estimate(Status.FEASIBLE, best, 0.5, 1.0), "the value is 1.0"),
        (Estimate(Status.FEASIBLE, best, 1.0, 0.5), "is below 1.0"),
        (Estimate(Status.FEASIBLE, rt.Relation([[1]]), 1.0, 1.0), "not feasible"),
        (Estimate(Status.INFEASIBLE, None, -math.inf, -math.inf), "there are feasible"),
        (Estimate(Status.FEASIBLE, best, 1.0, math.nan), "nan"),
    ):
        assert words in " ".join(false_claims(meaning, estimate))


def test_values_are_exact_however_far_apart_scores_are():
    meaning = Meaning(frozenset(), np.array([[1e300, 1e-300, -1e300, 1.0]]))
    assert meaning.value([[1, 1, 1, 1]]) == 1 + meaning.value([[0, 1, 0, 0]])
    assert meaning.best == meaning.value([[1, 1, 0, 1]])
    assert meaning.best > meaning.value([[1, 0, 0, 1]])


def test_cases_mean_what_their_problems_say():
    """Values of the library and of the campaign agree on random relations, feasible or not."""
    for number in range(60):
        rng = np.random.default_rng([9, number])
        case = random_case(rng)
        every = case.meaning.feasible
        for y in every[rng.permutation(len(every))[:5]]:
            relation = rt.Relation(y)
            assert case.problem.feasible.contains(relation)
            assert case.problem.exact_value(relation) == case.meaning.value(y)


def test_trees_are_changed_without_changing_the_original():
    _, estimate = certificates.planted(np.random.default_rng(3))
    root = estimate.certificate.proof
    kinds = trees.kinds(root)
    for way, node in trees.nodes(root):
        assert trees.kinds(trees.put(root, way, node)) == kinds
        changed = trees.put(root, way, None)
        assert trees.kinds(root) == kinds
        assert not trees.well_formed(changed)
    assert trees.well_formed(trees.copied(root))


def test_a_campaign_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "state.json"
    first = State(3, path)
    running.run("problems", first, 6)
    again = State(99, path)
    running.run("problems", again, 6)
    whole = State(3)
    running.run("problems", whole, 12)
    assert again.done == whole.done == Counter(problems=12)
    assert json.loads(path.read_text())["seed"] == again.seed == 3
    same = [key for key in whole.counts["problems"] if key.startswith("of ")]
    assert [again.counts["problems"][k] for k in same] == [
        whole.counts["problems"][k] for k in same
    ]


def test_failures_are_kept_with_what_shows_them(tmp_path):
    state = State(3, tmp_path / "state.json")
    case, estimate = certificates.planted(np.random.default_rng(3))
    objects = (case.problem, case.meaning, estimate)
    state.note("mutants", 7, {"wrong": ["all"], "words": [], "objects": objects})
    state.save()
    kept = State(0, tmp_path / "state.json").failures[0]
    problem, meaning, same = objects_of(kept)
    assert (kept["campaign"], kept["number"], kept["seed"]) == ("mutants", 7, 3)
    assert rt.verify(problem, same)
    assert meaning.best == case.meaning.best
