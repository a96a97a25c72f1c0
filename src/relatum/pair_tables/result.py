"""What comes out of a table of pairs: clusters, and a summary of how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from relatum.errors import DataError
from relatum.html import card, picture
from relatum.io.files import NUMBER, STARTS, as_path, guarded, replacing, require_writable
from relatum.pair_tables.check.verdict import TableVerification
from relatum.pair_tables.origin import Origin, Part
from relatum.pair_tables.previous import Changes
from relatum.pair_tables.saving import Saved, save_clusters
from relatum.problem import Problem, whole_number
from relatum.proof import Estimate

if TYPE_CHECKING:  # both import all solvers
    from relatum.explanation import Explanation, Fields
    from relatum.pair_tables.doubts import Doubt


DRAWN = 100_000  # elements of the largest table of which notebooks show a picture


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
    confidences_exact : int
        Elements whose confidence, if it was asked for, is a sum over all clusterings of their
        component, and not an approximation.
    clusters_judged : int
        Clusters all of whose elements have labels, from which confidences, if they were asked
        for, are learned; if there are none, confidences are those of the scores alone.
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
    confidences_exact: int = 0
    clusters_judged: int = 0

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
        return self.report()

    def report(self, seconds: bool = False) -> str:
        """Return the summary as lines of text, on request with the seconds of each stage."""
        lines = [
            f"{_count(self.elements, 'element')} in {_count(self.clusters, 'cluster')}, the "
            f"largest of {self.largest_cluster:,}; {_count(self.rows, 'scored pair')}",
            self._certainty(),
            f"{_count(self.components, 'component')} of positive pairs, the largest of "
            f"{self.largest_component:,}; {_count(self.pairs_cut, 'positive pair')} cut, "
            f"{_count(self.pairs_added, 'other pair')} inside clusters",
        ]
        lines += self._remarks()
        if seconds and self.seconds:
            lines.append(", ".join(f"{k} {v:.1f} s" for k, v in self.seconds.items()))
        return "\n".join(lines)

    def _certainty(self) -> str:
        unscored = f"pairs that nobody scored count {self.background:.3g} bits"
        if self.offset:
            unscored += f"; offset {self.offset:+.3g} bits"
        if self.gap < 5e-7:
            return f"value {self.value:,.6g} bits, proven optimal; {unscored}"
        share = f" ({self.gap / self.bound:.2%})" if self.bound > 0 else ""
        return (
            f"value {self.value:,.6g} bits, at most {self.gap:.4g} bits{share} below the optimum; "
            f"{unscored}"
        )

    def _remarks(self) -> list[str]:
        """Return lines on what is not in every summary."""
        lines = []
        if self.components_split:
            lines.append(
                f"{_count(self.components_split, 'component')} too large to be searched whole: "
                f"{_count(self.pieces, 'piece')}"
            )
        if self.pairs_scored or self.components_left_unscored:
            left = _count(self.components_left_unscored, "component")
            lines.append(
                f"{_count(self.pairs_scored, 'missing pair')} scored, {left} too large for that"
            )
        odd = {k: v for k, v in self.odd_rows.items() if v}
        if odd:
            lines.append("odd rows: " + ", ".join(f"{v:,} {k}" for k, v in odd.items()))
        if self.block_recall is not None:
            lines.append(f"of labelled elements: block recall {self.block_recall:.3f}")
            lines[-1] += "" if self.f1 is None else f", pairwise F1 {self.f1:.3f}"
        if self.components_reused or self.changes is not None:
            lines.append(
                f"{_count(self.components_solved, 'component')} solved, "
                f"{self.components_reused:,} kept"
            )
        if self.changes is not None:
            lines.append(str(self.changes))
        return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of the elements of a table of pairs, and what can be asked about them.

    Elements are named by their ids, as the table of pairs names them; where it has sources, by
    (source, id). What is asked about a component is answered from the table of pairs, which is read
    again: it should not change in the meantime.

    Attributes
    ----------
    table : table of the kind that the pairs came in
        One row per element: its id (after its source, if any), under the name that the columns of
        ids share, ``cluster_id``, ``cluster_size`` and ``cluster_gap`` (bits, of its component);
        ``confidence`` if it was asked for; with ``details=True`` also ``component``, a hash of its
        component.
    summary : Summary
    certificate : Path or None
        The file that proves clusters, value and bound, if one was asked for.
    check : callable or None
        What `verify` calls.
    contributions : callable (id, id) -> list of (field, level, bits), or None
        What the fields of two records say, for `explain`.
    origin : Origin or None
        What the clusters were made of, kept for later questions.

    Examples
    --------
    >>> import relatum as rt
    >>> import pyarrow as pa
    >>> pairs = pa.table({"a": [1, 2, 3], "b": [2, 3, 4], "bits": [5.0, -3.0, 4.0]})
    >>> found = rt.cluster_pairs(pairs, left="a", right="b", log_odds="bits")
    >>> found.table["cluster_id"].to_pylist()
    [1, 1, 3, 3]
    >>> found.summary.clusters, found.summary.gap
    (2, 0.0)
    >>> print(found.explain(2, 3))
    2 and 3 are unrelated, as their own log-odds are -3 bits, and no chain of positive
    pairs connects them. Forcing them together would cost 4.5 bits.
    """

    table: Any
    summary: Summary
    certificate: Path | None = None
    check: Callable[[], TableVerification] | None = None
    contributions: Fields | None = None
    origin: Origin | None = None

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

    def problem(self, element: Any) -> Problem:
        """Return the component of an element as a problem, whose ``ids`` name its elements.

        Its equivalence relations are the ways to cluster the component; `relatum.infer` and all
        else that takes problems can be applied to it.
        """
        return self._part(element).problem

    def estimate(self, element: Any) -> Estimate:
        """Return the clusters of the component of an element as an estimate of its `problem`.

        It has the clusters and the gap of the table, and a certificate for `relatum.verify` where
        packing conflicts proves the gap, as it does for most components.
        """
        return self._part(element).estimate

    def explain(self, a: Any, b: Any, *, time_limit: float = 10.0) -> Explanation:
        """Say why two elements are in one cluster, or are not.

        Parameters
        ----------
        a, b : id
        time_limit : float
            Seconds for finding out what the opposite would cost.

        Returns
        -------
        Explanation
            The pair's own bits, what forcing it together or apart would cost, the chain of
            pairs that decides it and a sentence, all by ids; and, where `contributions` are
            known, what the fields of the records say of each pair of the chain.
        """
        from relatum.explanation import explained

        origin = self._origin()
        first, second = origin.number(a), origin.number(b)
        part = origin.part(first, second)
        ends = part.place(first), part.place(second)
        why = explained(part.problem, part.estimate, ends, (time_limit, 0))
        return why.named(part.problem.name_of, self.contributions)

    def plot(self, element: Any, axes: Any = None) -> Any:
        """Draw the component of an element: its scores, and the graph of its strong pairs.

        Parameters
        ----------
        element : id
        axes : two matplotlib axes, optional

        Returns
        -------
        matplotlib figure, see `relatum.plots.component`.
        """
        from relatum.plots import component

        origin = self._origin()
        number = origin.number(element)
        part = origin.part(number)
        name = part.problem.name_of(part.place(number))
        return component(part.problem, part.estimate, axes, name)

    def uncertain(self, k: int = 10) -> list[Doubt]:
        """Return the decisions in most doubt: those that are cheapest to undo.

        Considered are single elements that leave their cluster, clusters that fall apart at their
        weakest link, and clusters that join. Each is told by the pair that speaks most for
        or against it, and by how many bits the value would fall. No search is made, so that the
        opposite may in truth be cheaper: `explain` says.

        Parameters
        ----------
        k : int
            How many.
        """
        from relatum.pair_tables.doubts import doubts_of

        return doubts_of(self._origin(), whole_number(k, "k", error=DataError))

    def save(self, path: str | Path, *, pairs: str = "auto") -> None:
        """Write clusters, and what they were made of, to a file that `load_clusters` reads.

        Parameters
        ----------
        path : path
            Ends in ``.clusters``; written whole or not at all.
        pairs : {"auto", "copy", "reference"}
            Whether the file holds the listed pairs, or the path of the files that they are in.
            "auto" copies them unless they are in files.
        """
        saved = Saved(self.table, self.summary.as_dict(), self.certificate)
        save_clusters(saved, self._origin(), path, pairs)

    def review(self, **options: Any) -> Any:
        """Open a page on which a person looks at clusters, answers questions and corrects them.

        Parameters
        ----------
        **options
            As for `relatum.review.review`: ``records``, ``answers``, ``id``, ``who``, ``port``,
            ``browser`` and ``wait``.

        Returns
        -------
        relatum.review.Review
            After Ctrl-C or, with ``wait=False``, at once.
        """
        # by name: that room stands on this one
        return import_module("relatum.review").review(self, **options)

    def _origin(self) -> Origin:
        if self.origin is None:
            raise DataError(
                "These clusters do not know the table that they were made of; make them with "
                "cluster_pairs on DuckDB: Spark DataFrames are written to Parquet files first."
            )
        return self.origin

    def _part(self, id_: Any) -> Part:
        origin = self._origin()
        return origin.part(origin.number(id_))

    def __repr__(self) -> str:
        return f"Clusters\n{self.summary}"

    def _repr_html_(self) -> str:
        s = self.summary
        title = f"Clusters: {_count(s.elements, 'element')} in {_count(s.clusters, 'cluster')}"
        told = [text[:1].upper() + text[1:] + "." for text in str(s).split("\n")[1:]]
        rows = [("scored pairs", f"{s.rows:,}"), ("largest cluster", f"{s.largest_cluster:,}")]
        image = ""
        if self.origin is not None and s.elements <= DRAWN and s.largest_cluster > 1:
            seen = "The component of the largest cluster: its scores and its strong pairs"
            image = picture(self._largest, seen)
        return card(title, told, rows, image)

    def _largest(self, plots: Any) -> Any:
        """Draw the component of the largest cluster."""
        origin = self._origin()
        number = int(np.argmax(origin.whole["cluster_size"].to_numpy()))
        part = origin.part(number)
        name = part.problem.name_of(part.place(number))
        return plots.component(part.problem, part.estimate, None, name)


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


def require_output(path: str | Path, on_spark: bool = False) -> Path:
    """Return the path of a table to write; refuse one that cannot be, before any work is done."""
    target = as_path(path)
    if target.suffix not in (".parquet", ".csv"):
        raise DataError(f"Clusters are written to a file .parquet or .csv, got {target.name!r}.")
    if not on_spark:  # where files may be on another machine
        require_writable(target)
    return target


def write_frame(path: str | Path, frame: Any) -> None:
    """Write a Spark DataFrame to a folder .parquet or .csv, in the place of an earlier one."""
    kind = require_output(path, True).suffix[1:]
    frame.write.mode("overwrite").format(kind).option("header", True).save(str(path))


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
