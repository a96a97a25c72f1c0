"""What comes out of a table of pairs: clusters, and a summary of how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from relatum.errors import DataError
from relatum.io.files import NUMBER, STARTS, as_path, guarded, replacing, require_writable
from relatum.pair_tables.check.verdict import TableVerification
from relatum.pair_tables.previous import Changes


@dataclass(frozen=True)
class Summary:
    """Numbers about a clustering of a table of pairs.

    Attributes
    ----------
    rows, elements, clusters : int
        Rows of the table; elements in it; clusters, single elements included.
    value, bound : float
        In bits: no allowed clustering has a value above the bound.
    components, largest_component, largest_cluster : int
        Components of positive pairs, and the most elements of one and of a cluster.
    components_split, pieces : int
        Components that were too large to be searched whole, and into how many pieces.
    pairs_cut, pairs_added : int
        Positive pairs between clusters, and other pairs inside clusters.
    pairs_scored, components_left_unscored : int
        Pairs that `score_missing` scored, and components too large for that.
    components_solved, components_reused : int
        Components that were solved, and those kept from the earlier run.
    background : float
        The bits of pairs that nobody scored.
    odd_rows : mapping
        Rows by kind, see `relatum.pair_tables.columns`.
    block_recall, f1 : float or None
        Share of true pairs listed, and pairwise F1, of labelled elements.
    changes : Changes or None
        Against the earlier clusters.
    seconds : mapping
        By stage.
    offset : float
        The bits that were added to every score; `value` and `bound` are of these scores.
    """

    rows: int = 0
    elements: int = 0
    clusters: int = 0
    value: float = 0.0
    bound: float = 0.0
    components: int = 0
    largest_component: int = 0
    largest_cluster: int = 0
    components_split: int = 0
    pieces: int = 0
    pairs_cut: int = 0
    pairs_added: int = 0
    pairs_scored: int = 0
    components_left_unscored: int = 0
    components_solved: int = 0
    components_reused: int = 0
    background: float = 0.0
    odd_rows: Mapping[str, int] = field(default_factory=dict)
    block_recall: float | None = None
    f1: float | None = None
    changes: Changes | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    offset: float = 0.0

    @property
    def gap(self) -> float:
        """Bound minus value, in bits."""
        return max(0.0, self.bound - self.value)

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> Summary:
        """Return a summary of the numbers that have a place in it."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in numbers.items() if k in known})

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, for JSON."""
        return {**asdict(self), "gap": self.gap}

    def __str__(self) -> str:
        share = self.gap / self.bound if self.bound > 0 else 0.0
        lines = [
            f"{self.elements} elements in {self.clusters} clusters, the largest of "
            f"{self.largest_cluster}; {self.rows} rows",
            f"value {self.value:.6g} bits, bound {self.bound:.6g}, gap {self.gap:.4g} "
            f"({share:.2%}); background {self.background:.4g}"
            + (f", offset {self.offset:+.4g}" if self.offset else ""),
            f"{self.components} components, the largest of {self.largest_component}; "
            f"{self.pairs_cut} pairs cut, {self.pairs_added} added",
        ]
        if self.components_split:
            lines.append(
                f"{self.components_split} components too large to be searched whole: "
                f"{self.pieces} pieces"
            )
        if self.pairs_scored or self.components_left_unscored:
            left = self.components_left_unscored
            lines.append(f"{self.pairs_scored} missing pairs scored, {left} components too large")
        odd = {k: v for k, v in self.odd_rows.items() if v}
        if odd:
            lines.append("odd rows: " + ", ".join(f"{v} {k}" for k, v in odd.items()))
        if self.block_recall is not None:
            lines.append(f"of labelled elements: block recall {self.block_recall:.3f}")
            lines[-1] += "" if self.f1 is None else f", pairwise F1 {self.f1:.3f}"
        if self.components_reused or self.changes is not None:
            lines.append(
                f"{self.components_solved} components solved, {self.components_reused} kept"
            )
        if self.changes is not None:
            lines.append(str(self.changes))
        if self.seconds:
            lines.append(", ".join(f"{k} {v:.1f} s" for k, v in self.seconds.items()))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of the elements of a table of pairs.

    Attributes
    ----------
    table : table of the kind that the pairs came in
        One row per element: its id (and source), ``cluster_id``, ``cluster_size``,
        ``cluster_gap`` (bits, of its component) and ``component``, a hash by which a later
        run with ``previous=`` knows components that have not changed.
    summary : Summary
    certificate : Path or None
        The file that proves clusters, value and bound, if one was asked for.
    check : callable or None
        What `verify` calls.
    """

    table: Any
    summary: Summary
    certificate: Path | None = None
    check: Callable[[], TableVerification] | None = None

    def verify(self) -> TableVerification:
        """Prove clusters, value and bound again, without a solver, from pairs and certificate.

        Returns
        -------
        TableVerification
            Usable as a truth value; ``.reason`` says what is wrong.
        """
        if self.check is None:
            raise DataError(
                "These clusters have no certificate to be checked by; ask for one with "
                "cluster_pairs(..., certificate=PATH)."
            )
        return self.check()

    def __repr__(self) -> str:
        return f"Clusters\n{self.summary}"


def in_kind_of(pairs: Any, table: Any) -> Any:
    """Return an Arrow table as the kind of table that the pairs are, if it is not of that kind."""
    module = type(pairs).__module__.split(".")[0]
    if module == "pandas":
        return table.to_pandas()
    if module == "polars":
        import polars

        return polars.from_arrow(table)
    if type(pairs).__name__ == "DuckDBPyRelation":
        import duckdb

        return duckdb.connect().from_arrow(table)
    return table


def require_output(path: str | Path) -> Path:
    """Return the path of a table to write; refuse one that cannot be, before any work is done."""
    path = as_path(path)
    if path.suffix not in (".parquet", ".csv"):
        raise DataError(f"Clusters are written to a file .parquet or .csv, got {path.name!r}.")
    require_writable(path)
    return path


def write_table(path: str | Path, table: Any) -> None:
    """Write an Arrow table to a .parquet or .csv file, whole or not at all."""
    path = require_output(path)
    with replacing(path) as half:
        if path.suffix == ".csv":
            from pyarrow import csv

            csv.write_csv(_without_formulas(table), str(half))
        else:
            from pyarrow import parquet

            parquet.write_table(table, str(half))


def _without_formulas(table: Any) -> Any:
    """Return a table whose texts spreadsheets take for texts, see `relatum.io.files.formulas`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for k, name in enumerate(table.column_names):
        texts = table.column(k)
        if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
            starts = pc.match_substring_regex(texts, f"^({STARTS})")
            number = pc.match_substring_regex(texts, f"^({NUMBER})$")
            mark = pa.scalar("'", texts.type), texts, pa.scalar("", texts.type)
            marked = pc.binary_join_element_wise(*mark)
            texts = pc.if_else(pc.and_not(starts, number), marked, texts)
        table = table.set_column(k, guarded(name), texts)
    return table
