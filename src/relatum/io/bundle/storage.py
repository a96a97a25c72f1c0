"""Bundles are saved whole or not at all, and loaded if they are what they say."""

from __future__ import annotations

import math
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relatum.errors import DataError, RelatumError
from relatum.io.bundle import nodes
from relatum.io.bundle.archive import Archive, DamageError, packed
from relatum.io.bundle.entries import (
    fingerprint,
    names_entry,
    number,
    problem_entry,
    read_number,
    read_problem_entry,
    read_relation_entry,
    relation_entry,
)
from relatum.io.files.reading import as_path, open_to_read
from relatum.io.files.writing import write_atomically
from relatum.problem import Problem, shown
from relatum.proof import Certificate, Estimate, Status

FORMAT, VERSION = "relatum-estimate", 2
# whatever a damaged archive, a foreign manifest or fields that do not fit together raise
_DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RelatumError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_estimate(path: str | Path, problem: Problem, estimate: Estimate) -> None:
    """Write an estimate with its problem and its certificate to a bundle, atomically.

    Parameters
    ----------
    path : str or Path
        Usually with the ending ``.npz``.
    problem : Problem
        What was estimated. With more than two million log-odds, only its fingerprint is kept.
    estimate : Estimate

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.npz"
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> rt.io.save_estimate(path, problem, rt.infer(problem, prove=True))
    >>> path.stat().st_size > 0
    True
    """
    for given, kind in ((problem, Problem), (estimate, Estimate)):
        if not isinstance(given, kind):
            raise DataError(
                "save_estimate takes a path, a relatum.Problem and what relatum.infer says of it, "
                f"got {shown(given)}."
            )
    arrays: list[NDArray[Any]] = []

    def put(array: NDArray[Any]) -> dict[str, int]:
        arrays.append(array)
        return {"array": len(arrays) - 1}

    certificate = estimate.certificate
    proof, depth = ([], 0) if certificate is None else nodes.written(certificate.proof, put)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "problem": problem_entry(problem, put),
        "estimate": {
            "status": estimate.status.name,
            "value": number(estimate.value),
            "bound": number(estimate.bound),
            "solver": estimate.solver,
            "message": estimate.message,
            "stats": {k: v for k, v in estimate.stats.items() if _is_plain(v)},
            "relation": relation_entry(estimate.relation, put),
            "certificate": None if certificate is None else number(certificate.bound),
        },
        "nodes": len(proof),
        "depth": depth,
        "proof": proof,
    }
    write_atomically(path, packed(manifest, arrays))


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | str) or (
        isinstance(value, float) and math.isfinite(value)
    )


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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.npz"
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> rt.io.save_estimate(path, problem, rt.infer(problem, prove=True))
    >>> rt.io.load_estimate(path, problem).value
    6.0
    """
    if problem is not None and not isinstance(problem, Problem):
        raise DataError(f"load_estimate takes a path and a relatum.Problem, got {shown(problem)}.")
    found = _load(path, 0 if problem is None else problem.log_odds.size)
    if problem is not None and found.fingerprint != fingerprint(problem, found.version):
        raise DataError(
            f"{path} was written for another problem: log-odds or feasible set differ. Use the "
            "same file, the same --as and the same evidence."
        )
    if problem is None:
        return found.estimate
    _require_names(path, problem, found.problem)
    return replace(found.estimate, names=problem.names)


def _require_names(path: str | Path, problem: Problem, saved: Problem | None) -> None:
    """Refuse a bundle whose elements are called otherwise, if both have names."""
    if saved is None or saved.names is None or problem.names is None:
        return
    if names_entry(saved) != names_entry(problem):
        raise DataError(
            f"{path} was written for a problem with the same log-odds whose elements have other "
            "names; use the same file and the same names=."
        )


def load_bundle(path: str | Path) -> tuple[Problem, Estimate]:
    """Read a bundle: the problem that it holds, and the estimate.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    DataError
        If the file is not a bundle, or holds only the fingerprint of its problem.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "three.npz"
    >>> problem = rt.Problem([4.0, 3.0, -1.0], rt.EQUIVALENCES)
    >>> rt.io.save_estimate(path, problem, rt.infer(problem, prove=True))
    >>> again, estimate = rt.io.load_bundle(path)
    >>> bool(rt.verify(again, estimate))
    True
    """
    found = _load(path, 0)
    if found.problem is None:
        raise DataError(
            f"{path} holds only a fingerprint of its problem; give the problem, too, as in "
            "'relatum verify FILE BUNDLE' or load_estimate(path, problem)."
        )
    return found.problem, found.estimate


class _Loaded(NamedTuple):
    version: int
    fingerprint: str
    problem: Problem | None
    estimate: Estimate


def _load(path: str | Path, n_scores: int) -> _Loaded:
    """Read a bundle, given how many log-odds its problem has, or 0 if that is not known."""
    if as_path(path).suffix == ".gz":
        raise DataError(f"{path} is gzipped, which a bundle need not be; unzip it first.")
    with open_to_read(path) as file:
        if file.read(2) != b"PK":
            raise DataError(f"{path} is not a bundle: write one with 'relatum solve -o NAME.npz'.")
        try:
            return _read(Archive(file, n_scores))
        except _DAMAGE as error:
            told = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise DataError(
                f"{path} is not a bundle of version {VERSION} written by relatum, or is damaged "
                f"({told}); write it again with 'relatum solve -o NAME.npz'."
            ) from None


def _read(archive: Archive) -> _Loaded:
    manifest = archive.manifest()
    version = manifest["version"]
    if manifest["format"] != FORMAT or version not in (1, VERSION):
        raise DamageError(f"format {manifest['format']!r}, version {version!r}")
    if version == 1:
        manifest |= {
            "problem": {"fingerprint": manifest["problem"]},
            "proof": [nodes.from_version_1(node) for node in manifest["proof"]],
        }

    def take(entry: Any) -> NDArray[Any]:
        if isinstance(entry, list) and version == 1:
            return np.array(entry)
        return archive.take(f"a{entry['array']}")

    problem = read_problem_entry(manifest["problem"], take)
    stated = None if version == 1 else (manifest["nodes"], manifest["depth"])
    estimate = _read_estimate(manifest["estimate"], manifest["proof"], stated, take)
    archive.require_read()
    if problem is not None and problem.names is not None:
        estimate = replace(estimate, names=problem.names)
    return _Loaded(version, str(manifest["problem"]["fingerprint"]), problem, estimate)


def _read_estimate(
    entry: dict[str, Any], proof: Any, stated: tuple[Any, Any] | None, take: nodes.Take
) -> Estimate:
    certificate = None
    if entry["certificate"] is not None:
        bound = read_number(entry["certificate"])
        certificate = Certificate(bound, nodes.read(proof, stated, take))
    elif proof or stated not in (None, (0, 0)):
        raise DamageError("there is a proof, but it is not said of which bound")
    return Estimate(
        Status[entry["status"]],
        read_relation_entry(entry["relation"], take),
        read_number(entry["value"]),
        read_number(entry["bound"]),
        certificate,
        str(entry["solver"]),
        str(entry["message"]),
        dict(entry["stats"]),
    )
