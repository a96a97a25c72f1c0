"""Bundles come back as they were, are checked, and are written whole or not at all."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import naive
import relatum as rt
from relatum.errors import DataError
from relatum.io.bundle import fingerprint, load_bundle, load_estimate, save_estimate
from relatum.testing import random_problems


@pytest.mark.parametrize(
    "name", ["RELATIONS", "MAPS", "EQUIVALENCES", "LINEAR_ORDERS", "WEAK_ORDERS", "PREORDERS"]
)
def test_round_trip_of_every_kind(tmp_path, name):
    for number, problem in enumerate(random_problems(getattr(rt, name), 12, seed=5)):
        estimate = rt.infer(problem, prove=True)
        path = tmp_path / f"{number}.npz"
        save_estimate(path, problem, estimate)
        again = load_estimate(path, problem)
        held, same = load_bundle(path)
        assert (held.feasible, same.relation) == (problem.feasible, estimate.relation)
        assert np.array_equal(held.dense(), problem.dense())
        assert again.relation == estimate.relation
        assert type(again.relation) is type(estimate.relation)
        assert (again.value, again.bound) == (estimate.value, estimate.bound)
        assert again.status is estimate.status
        assert again.message == estimate.message
        assert rt.verify(problem, again)


def test_proofs_with_branches_and_parts_survive(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(16, 16))
    for feasible in (rt.EQUIVALENCES, rt.LINEAR_ORDERS, rt.PARTIAL_ORDERS):
        problem = rt.Problem(scores, feasible & rt.evidence(related=[(0, 1)]))
        estimate = rt.infer(problem, prove=True, time_limit=30)
        save_estimate(tmp_path / "e.npz", problem, estimate)
        again = load_estimate(tmp_path / "e.npz", problem)
        assert rt.verify(problem, again)
        assert again.certificate.counts() == estimate.certificate.counts()


def test_a_bundle_of_another_problem_is_refused(tmp_path):
    first = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    second = rt.Problem([1.0, 2.0, -3.5], rt.EQUIVALENCES)
    third = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES & rt.evidence(related=[(0, 1)]))
    assert len({fingerprint(p) for p in (first, second, third)}) == 3
    save_estimate(tmp_path / "e.npz", first, rt.infer(first))
    for other in (second, third):
        with pytest.raises(DataError, match="another problem"):
            load_estimate(tmp_path / "e.npz", other)


def test_files_that_are_no_bundles(tmp_path):
    with pytest.raises(DataError, match="no file"):
        load_estimate(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", manifest=np.frombuffer(b"{}", np.uint8))
    whole = tmp_path / "whole.npz"
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    save_estimate(whole, problem, rt.infer(problem))
    (tmp_path / "cut.npz").write_bytes(whole.read_bytes()[:-40])
    for name in ("text.npz", "other.npz", "cut.npz"):
        with pytest.raises(DataError, match="not a bundle"):
            load_estimate(tmp_path / name)


def test_tampering_with_the_file_is_caught(tmp_path):
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    save_estimate(tmp_path / "e.npz", problem, rt.infer(problem, prove=True))
    with np.load(tmp_path / "e.npz") as archive:
        arrays = dict(archive)
    manifest = json.loads(arrays["manifest"].tobytes())
    manifest["estimate"]["value"] += 1
    manifest["estimate"]["bound"] += 1
    arrays["manifest"] = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
    np.savez(tmp_path / "forged.npz", **arrays)
    assert not rt.verify(problem, load_estimate(tmp_path / "forged.npz", problem))


def _version_1(path, problem, estimate):
    """Write a bundle as the first version laid it out, for a proof that is one leaf."""
    (cut,) = estimate.certificate.proof.cuts
    manifest = {
        "format": "relatum-estimate",
        "version": 1,
        "problem": fingerprint(problem, 1),
        "estimate": {
            "status": estimate.status.name,
            "value": estimate.value,
            "bound": estimate.bound,
            "solver": "s",
            "message": "m",
            "stats": {},
            "relation": {"kind": "Partition", "of": [{"array": 2}]},
            "certificate": estimate.certificate.bound,
        },
        "proof": [
            {
                "type": "Branch",
                "pair": [0, 1],
                "unrelated": {"node": 1},
                "related": {"node": 2},
            },
            {
                "type": "Leaf",
                "cuts": [{"cuts": cut.family, "of": [{"array": 0}, {"array": 1}]}],
                "infeasible": False,
            },
            {
                "type": "Leaf",
                "cuts": [{"cuts": cut.family, "of": [{"array": 3}, {"array": 4}]}],
                "infeasible": False,
            },
        ],
    }
    rows = (cut.index, cut.multipliers)
    kept = (*rows, estimate.relation.labels, *rows)
    naive.pack_bundle(path, manifest, {f"a{k}": array for k, array in enumerate(kept)})


def test_bundles_of_version_1_are_read(tmp_path):
    problem = rt.Problem([2.0, -3.0, 2.0], rt.EQUIVALENCES)
    proof = rt.proof.Leaf((rt.proof.Cuts("transitive", [[0, 1, 2]], [3.0]),))
    relation = rt.Partition([0, 0, 1])
    estimate = rt.Estimate(rt.Status.OPTIMAL, relation, 2.0, 2.0, rt.proof.Certificate(2.0, proof))
    _version_1(tmp_path / "one.npz", problem, estimate)
    again = load_estimate(tmp_path / "one.npz", problem)
    assert isinstance(again.certificate.proof, rt.proof.Branch)
    assert bool(rt.verify(problem, again)) == bool(rt.verify(problem, estimate))
    with pytest.raises(DataError, match="only a fingerprint"):
        load_bundle(tmp_path / "one.npz")
    with pytest.raises(DataError, match="another problem"):
        load_estimate(tmp_path / "one.npz", rt.Problem([2.0, -3.0, 1.0], rt.EQUIVALENCES))


def test_a_large_problem_is_known_by_its_fingerprint(tmp_path, monkeypatch):
    monkeypatch.setattr("relatum.io.bundle.entries.EMBEDDED", 2)
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    path = tmp_path / "e.npz"
    save_estimate(path, problem, rt.infer(problem, prove=True))
    assert rt.verify(problem, load_estimate(path, problem))
    with pytest.raises(DataError, match="give the problem, too"):
        load_bundle(path)
    with pytest.raises(DataError, match="another problem"):
        load_estimate(path, rt.Problem([1.0, 2.0, -4.0], rt.EQUIVALENCES))


@pytest.fixture(scope="module")
def taken_apart(tmp_path_factory):
    rng = np.random.default_rng(0)
    problem = rt.Problem(rng.normal(size=(8, 8)), rt.PARTIAL_ORDERS)
    path = tmp_path_factory.mktemp("bundle") / "e.npz"
    save_estimate(path, problem, rt.infer(problem, prove=True))
    manifest, arrays = naive.unpack_bundle(path)
    floats = [name for name, array in arrays.items() if array.dtype.kind == "f"]
    whole = [name for name, array in arrays.items() if array.dtype.kind == "i" and array.size]
    assert floats
    assert whole
    return manifest, arrays, whole[0]


FORGED = {
    "two parents": lambda m, a, w: m["proof"].append(dict(m["proof"][-1])),
    "stated nodes": lambda m, a, w: m.update(nodes=m["nodes"] + 1),
    "stated depth": lambda m, a, w: m.update(depth=m["depth"] + 1),
    "no proof": lambda m, a, w: m.update(proof=[]),
    "cut proof": lambda m, a, w: m["proof"].pop(),
    "float numbers": lambda m, a, w: a.update({w: a[w].astype(float)}),
    "not a number": lambda m, a, w: a.update({w: np.full(a[w].shape, np.nan)}),
    "unsigned": lambda m, a, w: a.update({w: np.full(a[w].shape, 2**63, np.uint64)}),
    "missing array": lambda m, a, w: a.pop(w),
    "spare array": lambda m, a, w: a.update(a999=np.zeros(3)),
    "another version": lambda m, a, w: m.update(version=3),
    "version as text": lambda m, a, w: m.update(version="2"),
    "no estimate": lambda m, a, w: m.pop("estimate"),
    "other status": lambda m, a, w: m["estimate"].update(status="CERTAIN"),
    "other scores": lambda m, a, w: m["problem"]["scores"].update(background=1.0, i=[], j=[]),
    "pickles": lambda m, a, w: a.update({w: naive.npy(np.array([{}]))}),
    "value as list": lambda m, a, w: m["estimate"].update(value=[1.0]),
    "deep": lambda m, a, w: m["estimate"].update(stats={"a": [[[[[[[[[[[[[[[]]]]]]]]]]]]]]]}),
}


@pytest.mark.parametrize("how", FORGED)
def test_forged_bundles_are_refused_in_one_line(tmp_path, taken_apart, how):
    manifest, arrays, whole = taken_apart
    manifest, arrays = json.loads(json.dumps(manifest)), dict(arrays)
    assert load_bundle(naive.pack_bundle(tmp_path / "e.npz", manifest, arrays))
    FORGED[how](manifest, arrays, whole)
    path = naive.pack_bundle(tmp_path / "e.npz", manifest, arrays)
    with pytest.raises(DataError, match="is not a bundle") as told:
        load_bundle(path)
    assert "\n" not in str(told.value)
    assert str(path) in str(told.value)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path):
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    path = tmp_path / "e.npz"
    save_estimate(path, problem, rt.infer(problem))
    zeros = naive.npy(np.zeros(1 << 20))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        for k in range(40):  # 320 MB, each as good as nothing
            file.writestr(f"b{k}.npy", zeros)
    assert path.stat().st_size < 500_000
    with pytest.raises(DataError, match="unpacks to 320 MB"):
        load_bundle(path)


def test_zipped_twice_is_refused(tmp_path):
    with pytest.raises(DataError, match="unzip it first"):
        load_estimate(tmp_path / "e.npz.gz")


def test_what_is_no_estimate_is_not_written(tmp_path):
    problem = rt.Problem([1.0], rt.EQUIVALENCES)
    for given in ((problem, None), (None, rt.infer(problem)), (problem, problem)):
        with pytest.raises(DataError, match=r"save_estimate takes a path, a relatum.Problem and"):
            rt.io.save_estimate(tmp_path / "x.npz", *given)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="load_estimate takes"):
        rt.io.load_estimate(tmp_path / "x.npz", problem=3)


@pytest.mark.parametrize("odd", [None, 3, "x"])
def test_what_is_no_problem_or_estimate_is_not_saved(tmp_path, odd):
    problem = rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES)
    for given in ((problem, odd), (odd, rt.infer(problem))):
        with pytest.raises(rt.errors.RelatumError) as caught:
            rt.io.save_estimate(tmp_path / "x.npz", *given)
        assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


NAMES = ["ann", "bob", "cy"]
NAMED = [
    rt.Problem([1.0, 2.0, -3.0], rt.EQUIVALENCES & rt.evidence([("cy", "bob")]), names=NAMES),
    rt.Problem(np.eye(3), rt.LINEAR_ORDERS, names=[30, 10, 2**70]),
    rt.Problem(np.eye(3)[:, :2], rt.MAPS, names=(NAMES, ["red", "blue"])),
    rt.Problem(np.eye(3)[:, :2], rt.MAPS, names=(None, [0.5, "blue"])),
]


@pytest.mark.parametrize("problem", NAMED)
def test_names_come_back(tmp_path, problem):
    path = tmp_path / "e.npz"
    estimate = rt.infer(problem, prove=True)
    save_estimate(path, problem, estimate)
    held, again = load_bundle(path)
    for found in (held.names, again.names):
        listed = [None if x is None else x.tolist() for x in found]
        assert listed == [None if x is None else x.tolist() for x in problem.names]
    assert again.to_pandas().to_dict() == estimate.to_pandas().to_dict()
    assert held.evidence == problem.evidence
    assert rt.verify(held, again)
    assert load_estimate(path, problem).names[1] is problem.names[1]


def test_names_are_no_part_of_what_is_proved_but_must_agree(tmp_path):
    path, problem = tmp_path / "e.npz", NAMED[0]
    unnamed = rt.Problem(problem.log_odds, problem.feasible)
    assert fingerprint(problem) == fingerprint(unnamed)
    save_estimate(path, problem, rt.infer(problem))
    assert load_estimate(path, unnamed).names is None
    turned = rt.Problem(problem.log_odds, problem.feasible, names=NAMES[::-1])
    with pytest.raises(DataError, match="elements have other names"):
        load_estimate(path, turned)
    save_estimate(path, unnamed, rt.infer(unnamed))
    assert load_estimate(path, turned).names[0] is turned.names[0]


def test_names_of_other_types_become_texts(tmp_path):
    problem = rt.Problem([1.0], rt.EQUIVALENCES, names=[("a", 1), np.datetime64("2026-01-01")])
    save_estimate(tmp_path / "e.npz", problem, rt.infer(problem))
    assert load_bundle(tmp_path / "e.npz")[0].ids.tolist() == ["('a', 1)", "2026-01-01"]
    assert load_estimate(tmp_path / "e.npz", problem).names[0] is problem.names[0]


@pytest.mark.parametrize(
    "names",
    [[], ["ann"], [["a", "b"]], [["a", "b", "b"]], [["a", "b", None]], [["a", "b", True]], "abc"],
)
def test_names_that_are_none_are_damage(tmp_path, names):
    path = tmp_path / "e.npz"
    save_estimate(path, NAMED[0], rt.infer(NAMED[0]))
    manifest, arrays = naive.unpack_bundle(path)
    manifest["problem"]["names"] = names
    naive.pack_bundle(path, manifest, arrays)
    with pytest.raises(DataError, match="damaged"):
        load_bundle(path)
