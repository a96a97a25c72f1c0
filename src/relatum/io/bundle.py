"""Estimates and certificates in one file, so that they can be checked later.

A bundle is a ``.npz`` archive. Its entry ``manifest`` holds JSON (as UTF-8 bytes); arrays
are the entries ``a0``, ``a1``, ... that the manifest refers to as ``{"array": k}``. The
manifest has the keys ``format`` (``"relatum-estimate"``), ``version``, ``problem`` (a
fingerprint of log-odds and feasible set), ``estimate`` and ``proof``: the list of the
proof's nodes, children after parents, referred to as ``{"node": k}``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError
from relatum.io.files.reading import open_to_read
from relatum.io.files.writing import write_atomically
from relatum.problem import (
    LinearOrder,
    Map,
    PartialMap,
    Partition,
    Problem,
    Relation,
    SparseScores,
    WeakOrder,
)
from relatum.proof import Certificate, Cuts, Estimate, Status
from relatum.proof import certificate as vocabulary

FORMAT, VERSION = "relatum-estimate", 1
_KINDS: dict[str, type[Relation]] = {
    c.__name__: c for c in (Relation, Map, PartialMap, Partition, LinearOrder, WeakOrder)
}
# whatever a damaged archive, a foreign manifest or fields that do not fit together raise
_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RecursionError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
_NODES: dict[str, Any] = {c.__name__: c for c in vocabulary.Proof.__args__}


def fingerprint(problem: Problem) -> str:
    """Return a hash of the log-odds and the feasible set of a problem."""
    digest = hashlib.sha256()
    scores = problem.scores
    arrays = [scores.log_odds]
    if isinstance(scores, SparseScores):
        arrays += [scores.i, scores.j, np.array([scores.background])]
    arrays += [problem.evidence.related, problem.evidence.unrelated]
    arrays += [group.codes for group in problem.feasible.groups]
    for array in arrays:
        digest.update(str((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(str((sorted(problem.feasible.names), problem.feasible.cap)).encode())
    return digest.hexdigest()


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def value(self, value: Any, nodes: dict[int, int]) -> Any:
        """Turn a field of a proof into JSON."""
        if id(value) in nodes:
            return {"node": nodes[id(value)]}
        if isinstance(value, np.ndarray):
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if isinstance(value, Cuts):
            fields = (value.index, value.multipliers)
            return {"cuts": value.family, "of": [self.value(f, nodes) for f in fields]}
        if isinstance(value, tuple | list):
            return [self.value(v, nodes) for v in value]
        if isinstance(value, np.generic):
            return value.item()
        return value

    def proof(self, root: Any) -> list[dict[str, Any]]:
        order, nodes = [root], {id(root): 0}
        for node in order:  # grows while it is read: parents before children
            for child in vocabulary.children(node):
                nodes[id(child)] = len(order)
                order.append(child)
        out = []
        for node in order:
            fields = {
                f.name: self.value(getattr(node, f.name), nodes) for f in dataclasses.fields(node)
            }
            out.append({"type": type(node).__name__, **fields})
        return out

    def relation(self, relation: Relation | None) -> Any:
        if relation is None:
            return None
        _, arguments = relation.__reduce__()[:2]
        return {"kind": type(relation).__name__, "of": [self.value(a, {}) for a in arguments]}


def save_estimate(path: str | Path, problem: Problem, estimate: Estimate) -> None:
    """Write an estimate with its certificate to a bundle, atomically.

    Parameters
    ----------
    path : str or Path
        Usually with the ending ``.npz``.
    problem : Problem
        What was estimated; only its fingerprint is written.
    estimate : Estimate
    """
    writer = _Writer()
    certificate = estimate.certificate
    stats = {k: v for k, v in estimate.stats.items() if isinstance(v, bool | int | float | str)}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "problem": fingerprint(problem),
        "estimate": {
            "status": estimate.status.name,
            "value": estimate.value,
            "bound": estimate.bound,
            "solver": estimate.solver,
            "message": estimate.message,
            "stats": stats,
            "relation": writer.relation(estimate.relation),
            "certificate": None if certificate is None else certificate.bound,
        },
        "proof": [] if certificate is None else writer.proof(certificate.proof),
    }
    arrays = {f"a{k}": a for k, a in enumerate(writer.arrays)}
    text = np.frombuffer(json.dumps(manifest).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, manifest=text, **arrays)
    write_atomically(path, buffer.getvalue())


class _Reader:
    def __init__(self, archive: Any) -> None:
        self.archive = archive
        self.nodes: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            if "node" in value:
                return self.nodes[value["node"]]
            if "array" in value:
                return self.archive[f"a{value['array']}"]
            index, multipliers = (self.value(v) for v in value["of"])
            return Cuts(value["cuts"], index, multipliers)
        if isinstance(value, list):
            return tuple(self.value(v) for v in value)
        return value

    def proof(self, nodes: list[dict[str, Any]]) -> Any:
        for number in range(len(nodes) - 1, -1, -1):  # children come after parents
            fields = {k: self.value(v) for k, v in nodes[number].items() if k != "type"}
            self.nodes[number] = _NODES[nodes[number]["type"]](**fields)
        return self.nodes[0]

    def relation(self, entry: Any) -> Relation | None:
        if entry is None:
            return None
        return _KINDS[entry["kind"]](*(self.value(a) for a in entry["of"]))


def load_estimate(path: str | Path, problem: Problem | None = None) -> Estimate:
    """Read an estimate from a bundle.

    Parameters
    ----------
    path : str or Path
    problem : Problem, optional
        If given, refuse a bundle that was written for another problem.

    Raises
    ------
    DataError
        If the file is not a bundle, or belongs to another problem.
    """
    with open_to_read(path) as file:  # opened here: numpy leaves a damaged file open
        if file.read(2) != b"PK":
            raise DataError(f"{path} is not a bundle: write one with 'relatum solve -o NAME.npz'.")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as archive:
                manifest = json.loads(archive["manifest"].tobytes())
                if manifest["format"] != FORMAT or manifest["version"] != VERSION:
                    raise KeyError("format")
                estimate = _read(archive, manifest)
        except _DAMAGE as error:
            told = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise DataError(
                f"{path} is not a bundle of version {VERSION} written by relatum, or is damaged "
                f"({told}); write it again with 'relatum solve -o NAME.npz'."
            ) from None
    if problem is not None and manifest["problem"] != fingerprint(problem):
        raise DataError(
            f"{path} was written for another problem: log-odds or feasible set differ. Use the "
            "same file, the same --as and the same evidence."
        )
    return estimate


def _read(archive: Any, manifest: dict[str, Any]) -> Estimate:
    reader, entry = _Reader(archive), manifest["estimate"]
    certificate = None
    if entry["certificate"] is not None:
        certificate = Certificate(float(entry["certificate"]), reader.proof(manifest["proof"]))
    return Estimate(
        Status[entry["status"]],
        reader.relation(entry["relation"]),
        float(entry["value"]),
        float(entry["bound"]),
        certificate,
        entry["solver"],
        entry["message"],
        entry["stats"],
    )
