"""What a run leaves behind so that its clusters, value and bound can be proved again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relatum.array_types import Floats, Index
from relatum.pair_tables.check.container import GAP, write_archive
from relatum.pair_tables.check.gaps import PAIRS, Rules, provable_gaps
from relatum.pair_tables.check.proofs import write_proof
from relatum.pair_tables.columns import Columns
from relatum.pair_tables.on_duckdb.known import Known
from relatum.pair_tables.on_duckdb.store import ROW
from relatum.pair_tables.options import Given, Settings
from relatum.pair_tables.result import Summary
from relatum.pair_tables.solve.batching import Components, Pairs, component_of, problem_of
from relatum.pair_tables.solve.component import Solutions
from relatum.pair_tables.solve.proving import packed_certificate


@dataclass(frozen=True, eq=False)
class Keeper:
    """States what can be proved of each part, and keeps the proofs that this needs."""

    folder: Path  # whose files become members of the certificate
    settings: Settings

    def __post_init__(self) -> None:
        for name in ("proofs", "missing"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def gaps(self, batch: Components, found: Solutions, elements: Index) -> Floats:
        """Return the gap of each part that the checker will be able to prove."""
        rules = Rules(self.settings.background, self.settings.cap)
        gaps, method = provable_gaps(batch, found.labels, rules)
        for k in np.flatnonzero(gaps > 0).tolist():
            if k in found.certificates or method[k] == PAIRS:  # too large for anything else
                gaps[k] = self._proved(batch, k, found, elements, float(gaps[k]))
        return gaps

    def _proved(
        self, batch: Components, k: int, found: Solutions, elements: Index, gap: float
    ) -> float:
        """Keep the proof of a part if it proves less than the gap; return what is proved."""
        own = slice(batch.element_ptr[k], batch.element_ptr[k + 1])
        labels = found.labels[own]
        component = component_of(batch, k)
        problem = problem_of(component, self.settings.background, self.settings.max_size)
        certificate = found.certificates.get(k)
        if certificate is None:
            certificate = packed_certificate(problem, labels)
        path = self.folder / "proofs" / f"{elements[own.start]}.npz"
        less = write_proof(path, problem, labels, certificate)
        if less is None or less >= gap:
            path.unlink(missing_ok=True)
            return gap
        return less

    def keep_missing(self, number: int, pairs: Pairs, elements: Index) -> None:
        """Keep the pairs of a bucket that `score_missing` scored."""
        if not len(pairs[2]):
            return
        ends = np.sort(elements[np.column_stack(pairs[:2])], axis=1)
        rows = np.empty(len(ends), dtype=ROW)
        rows["i"], rows["j"], rows["w"] = ends[:, 0], ends[:, 1], pairs[2]
        np.save(self.folder / "missing" / f"{number}.npy", rows, allow_pickle=False)


@dataclass(frozen=True, eq=False)
class Claims:
    """What a certificate says, but for proofs and pairs that were scored on the way."""

    cluster: Index  # (n,): the smallest element of each element's cluster
    part: Index | None  # (n,): the same of its part, where components were split
    roots: Index  # (parts,): the smallest element of each part
    gaps: Floats  # (parts,): in bits
    marks: tuple[str, str]  # fingerprints of pairs and ids


def write_certificate(
    path: Path,
    keeper: Keeper,
    given: Given,
    columns: Columns,
    known: Known,
    claims: Claims,
    summary: Summary,
) -> None:
    """Write the certificate of a table's clusters."""
    settings = keeper.settings
    arrays: dict[str, Any] = {"cluster.npy": claims.cluster.astype("<i4")}
    if claims.part is not None:
        arrays["part.npy"] = claims.part.astype("<i4")
    open_ = np.flatnonzero(claims.gaps > 0)
    gaps = np.empty(len(open_), dtype=GAP)
    gaps["part"], gaps["gap"] = claims.roots[open_], claims.gaps[open_]
    arrays["gaps.npy"] = gaps
    if len(known.fixed):
        arrays["evidence.npy"] = known.fixed.astype("<i4")
    by_name = isinstance(given.one_per_group, str)
    if known.groups is not None and not by_name:
        own = known.groups >= 0
        groups = np.full(len(own), -1, dtype="<i4")  # numbered from 0, whatever their numbers
        groups[own] = np.unique(known.groups[own], return_inverse=True)[1]
        arrays["groups.npy"] = groups
    manifest = {
        "background": float(settings.background),
        "max_size": settings.max_size,
        "one_per_group": given.one_per_group if by_name else None,
        "odd_rows": given.odd_rows,
        "columns": [columns.left, columns.right, columns.score, columns.is_probability],
        "elements": len(claims.cluster),
        "components": summary.components,
        "parts": len(claims.roots),
        "scored": summary.pairs_scored,
        "value": summary.value,
        "bound": summary.bound,
        "pairs": claims.marks[0],
        "ids": claims.marks[1],
        "offset": float(summary.offset),
    }
    write_archive(path, manifest, arrays, keeper.folder)
