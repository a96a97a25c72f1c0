"""Clusters in a file: the table, the summary, the problem, and its pairs or where they are.

The file is a zip archive, uncompressed, of the kind that `relatum.pair_tables.check.container`
describes: a manifest in JSON, ``clusters.parquet``, ``roots.npy`` (the smallest element of each
element's component), and where they are needed ``evidence.npy``, ``groups.npy``,
``pairs.parquet``, ``scored.npy`` (pairs that ``score_missing`` scored) and ``certificate``. It is
numbers and texts; reading one runs no code of its own.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.errors import CertificateError, DataError
from relatum.io.files import as_path, require_writable
from relatum.pair_tables.check.container import DAMAGE, SAVED, Archive, write_archive
from relatum.pair_tables.columns import RESULT, Columns
from relatum.pair_tables.options import Given, Plan, Settings
from relatum.pair_tables.origin import Access, Origin, bytes_of
from relatum.pair_tables.previous import Changes

ENDING = ".clusters"
VERSION = 1
PAIR = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
KINDS = ("pandas", "polars", "duckdb", "pyarrow")


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds besides the origin."""

    table: Any
    summary: Mapping[str, Any]
    certificate: Path | None


def require_savable(path: str | Path) -> Path:
    """Return the path of a file to save clusters to; refuse one that cannot be, before any work."""
    target = as_path(path)
    if target.suffix != ENDING:
        raise DataError(f"Clusters are saved to a file {ENDING}, got {target.name!r}.")
    require_writable(target)
    return target


def save_clusters(found: Saved, origin: Origin, path: str | Path, pairs: str) -> None:
    """Write clusters to a file; see `relatum.pair_tables.Clusters.save`."""
    target = require_savable(path)
    if pairs not in ("auto", "copy", "reference"):
        raise DataError(f'pairs is "auto", "copy" or "reference", got {pairs!r}.')
    in_files = isinstance(origin.given.pairs, str | Path)
    if pairs == "reference" and not in_files:
        raise DataError(
            f'pairs="reference" needs pairs in files, got {type(origin.given.pairs).__name__}; '
            'pass pairs="copy".'
        )
    copied = pairs == "copy" or not in_files
    with tempfile.TemporaryDirectory(prefix="relatum-") as name:
        folder = Path(name)
        manifest = _manifest(found, origin, target)
        if copied:
            origin.access.copy(origin, folder / "pairs.parquet")
            manifest["pairs"] = None
        _write_parquet(origin.whole, folder / "clusters.parquet")
        if found.certificate is not None:
            shutil.copyfile(found.certificate, folder / "certificate")
        write_archive(target, manifest, _arrays(origin), folder, (SAVED, VERSION))


def _write_parquet(table: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, str(path))


def _manifest(found: Saved, origin: Origin, target: Path) -> dict[str, Any]:
    given, settings = origin.given, origin.settings
    module = type(found.table).__module__.split(".")[0].lstrip("_")
    manifest = {
        "summary": {k: v for k, v in found.summary.items() if k != "gap"},
        "columns": asdict(origin.columns),
        "odd_rows": given.odd_rows,
        "one_per_group": given.one_per_group if isinstance(given.one_per_group, str) else None,
        "settings": {
            name: getattr(settings, name)
            for name in ("background", "max_size", "prove", "time_limit", "search")
        },
        "offset": origin.offset,
        "memory_limit": origin.plan.memory_limit,
        "kind": module if module in KINDS else "pyarrow",
        "details": "component" in _names(found.table),
    }
    if isinstance(given.pairs, str | Path):
        path = Path(given.pairs).absolute()
        try:
            beside: str | None = path.relative_to(target.absolute().parent).as_posix()
        except ValueError:
            beside = None
        manifest["pairs"] = {"path": str(path), "beside": beside, "bytes": bytes_of(path)}
    return manifest


def _names(table: Any) -> list[str]:
    return [str(n) for n in getattr(table, "column_names", None) or table.columns]


def _arrays(origin: Origin) -> dict[str, Any]:
    arrays: dict[str, Any] = {"roots.npy": origin.roots.astype("<i4")}
    if len(origin.fixed):
        arrays["evidence.npy"] = origin.fixed.astype("<i4")
    if origin.groups is not None:
        arrays["groups.npy"] = origin.groups.astype("<i4")
    if origin.given.score_missing is not None:
        i, j, bits = origin.access.scored(origin)
        rows = np.empty(len(bits), dtype=PAIR)
        rows["i"], rows["j"], rows["w"] = i, j, bits
        arrays["scored.npy"] = rows
    return arrays


@dataclass(frozen=True, eq=False)
class StoredScores:
    """Scores of pairs that a run scored, as a callable for ``score_missing``."""

    origin_ids: Callable[[Index], list[Any]]
    rows: Any  # of dtype PAIR
    n: int
    _scores: dict[tuple[Any, Any], float] = field(default_factory=dict)

    def __call__(self, left: Any, right: Any) -> Floats:
        """Return the bits of pairs of ids."""
        if not self._scores:
            names = self.origin_ids(np.arange(self.n))
            for i, j, bits in self.rows.tolist():
                self._scores[names[i], names[j]] = self._scores[names[j], names[i]] = bits
        return np.array([self._scores.get(pair, np.nan) for pair in zip(left, right, strict=True)])


def read_clusters(path: str | Path, access: Access) -> tuple[Saved, Origin]:
    """Read a file that `save_clusters` wrote; its files are kept as long as the origin is.

    Parameters
    ----------
    path : path
    access : Access
        How pairs are fetched.
    """
    source = as_path(path)
    if not source.is_file():
        raise DataError(f"There is no file {source}.")
    folder = Path(tempfile.mkdtemp(prefix="relatum-"))
    try:
        with closing(Archive(source, (SAVED, VERSION))) as archive:
            saved, origin = _read(archive, folder, access)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, (CertificateError, *DAMAGE)) or isinstance(error, DataError):
            raise
        told = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
        raise DataError(
            f"{source} is damaged ({told}); save the clusters again, or take another copy."
        ) from None
    weakref.finalize(origin, shutil.rmtree, folder, ignore_errors=True)
    return saved, origin


def _read(archive: Archive, folder: Path, access: Access) -> tuple[Saved, Origin]:
    origin, manifest = _read_origin(archive, folder, access), archive.manifest
    table = origin.whole if manifest["details"] else origin.whole.drop_columns(["component"])
    summary = dict(manifest["summary"])
    if summary.get("changes") is not None:
        summary["changes"] = Changes(**summary["changes"])
    proof = folder / "certificate" if "certificate" in archive.names() else None
    return Saved(_in_kind(table, manifest["kind"]), summary, proof), origin


def _read_origin(archive: Archive, folder: Path, access: Access) -> Origin:
    from pyarrow import parquet

    manifest, names = archive.manifest, archive.names()
    for member in names:
        if not member.endswith(".npy"):
            archive.extract(member, folder / Path(member).name)
    whole = parquet.read_table(folder / "clusters.parquet")
    columns = Columns(**manifest["columns"])
    n = whole.num_rows
    roots = archive.array("roots.npy", "<i4", (n,))
    groups = archive.array("groups.npy", "<i4", (n,)) if "groups.npy" in names else None
    fixed = np.empty((0, 3), dtype=np.int64)
    if "evidence.npy" in names:
        fixed = archive.array("evidence.npy", "<i4", (None, 3)).astype(np.int64)
    settings = Settings(**manifest["settings"])
    given, where = _given(manifest, columns, folder, archive.path), manifest["pairs"]
    plan = Plan(settings, memory_limit=manifest["memory_limit"])
    origin = Origin(
        given, plan, columns, settings, whole, roots, fixed, groups, access,
        float(manifest["offset"]), bytes_of(given.pairs) if where is None else where["bytes"],
    )  # fmt: skip
    _require_sound(origin)
    more: dict[str, Any] = {
        "evidence": _evidence(origin),
        "one_per_group": manifest["one_per_group"],
    }
    if groups is not None and manifest["one_per_group"] is None:
        more["one_per_group"] = _group_table(origin)
    if "scored.npy" in names:
        rows = archive.array("scored.npy", PAIR, (None,))
        more["score_missing"] = StoredScores(origin.ids, rows, n)
    return replace(origin, given=replace(given, **more))


def _given(manifest: Mapping[str, Any], columns: Columns, folder: Path, file: Path) -> Given:
    score = (None, columns.score) if columns.is_probability else (columns.score, None)
    names = (columns.left, columns.right, *score)
    where = manifest["pairs"]
    if where is None:
        return Given(str(folder / "pairs.parquet"), names, manifest["odd_rows"])
    _require_local(where)
    path = Path(where["path"])
    beside = None if where["beside"] is None else file.absolute().parent / where["beside"]
    if beside is not None and bytes_of(beside):
        path = beside
    return Given(str(path), names, manifest["odd_rows"])


def _require_local(where: Mapping[str, Any]) -> None:
    """Refuse a place of pairs that `save` would not have written: another host's, or a way up."""
    path, beside = where["path"], where["beside"]
    sound = isinstance(path, str) and "://" not in path and Path(path).is_absolute()
    if beside is not None:
        way = Path(str(beside))
        sound = sound and isinstance(beside, str) and "://" not in beside
        sound = sound and not way.is_absolute() and ".." not in way.parts
    if not sound or type(where["bytes"]) is not int or not where["bytes"] > 0:
        raise CertificateError("Its pairs are not in files of this machine")


def _require_sound(origin: Origin) -> None:
    """Refuse numbers that cannot be those of a table."""
    n, roots, fixed = origin.whole.num_rows, origin.roots, origin.fixed
    ids = [c for c in (origin.columns.source_name, origin.columns.id_name) if c is not None]
    missing = [name for name in (*ids, *RESULT) if name not in origin.whole.column_names]
    if missing:
        raise CertificateError(f"Its table has no column {missing[0]!r}")
    inside = ((roots >= 0) & (roots < n)).all() and np.array_equal(roots[roots], roots)
    if not inside or (fixed[:, :2] < 0).any() or (fixed[:, :2] >= n).any():
        raise CertificateError("Its numbers of elements are not those of its table")


def _evidence(origin: Origin) -> dict[str, list[tuple[Any, Any]]] | None:
    if not len(origin.fixed):
        return None
    a, b = (origin.ids(origin.fixed[:, k]) for k in (0, 1))
    pairs = list(zip(a, b, strict=True))
    known = origin.fixed[:, 2] == 1
    return {
        "related": [p for p, yes in zip(pairs, known, strict=True) if yes],
        "unrelated": [p for p, yes in zip(pairs, known, strict=True) if not yes],
    }


def _group_table(origin: Origin) -> Any:
    import pyarrow as pa

    names = [n for n in (origin.columns.source_name, origin.columns.id_name) if n is not None]
    own = np.flatnonzero(np.asarray(origin.groups) >= 0)
    table = origin.whole.select(names).take(own)
    return table.append_column("group", pa.array(np.asarray(origin.groups)[own]))


def _in_kind(table: Any, kind: str) -> Any:
    """Return an Arrow table as the kind of table that was saved, where that can be imported."""
    from importlib.util import find_spec

    if kind == "pandas" and find_spec("pandas"):
        return table.to_pandas()
    if kind == "polars" and find_spec("polars"):
        import polars

        return polars.from_arrow(table)
    if kind == "duckdb" and find_spec("duckdb"):
        import duckdb

        return duckdb.connect().from_arrow(table)
    return table
