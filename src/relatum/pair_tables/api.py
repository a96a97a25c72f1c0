"""Clusters of a table of scored pairs, on the engine that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Literal

from relatum.errors import DataError, MissingDependencyError, RelatumError
from relatum.io import answered_pairs, is_answers
from relatum.io.files import as_path, require_writable
from relatum.live import line, silence
from relatum.pair_tables.check.verdict import TableVerification
from relatum.pair_tables.options import Given, Monitor, Plan, Settings
from relatum.pair_tables.origin import Origin
from relatum.pair_tables.result import (
    Clusters,
    Summary,
    in_kind_of,
    require_output,
    write_frame,
    write_table,
)
from relatum.pair_tables.saving import ENDING, read_clusters
from relatum.problem import UNSCORED, real_number, shown, switch


def cluster_pairs(
    pairs: Any,
    *,
    background: float | Literal["learned"] = UNSCORED,
    offset: float | Literal["learned"] = 0.0,
    evidence: Any = None,
    one_per_group: Any = None,
    max_size: int | None = None,
    score_missing: Callable[[Any, Any], Any] | None = None,
    labels: Any = None,
    previous: Any = None,
    prove: bool = False,
    time_limit: float = 60.0,
    odd_rows: Literal["refuse", "handle"] = "refuse",
    left: str = "unique_id_l",
    right: str = "unique_id_r",
    log_odds: str | None = None,
    probability: str | None = None,
    engine: Literal["auto", "duckdb", "spark"] = "auto",
    memory_limit: str | int = "2GB",
    threads: int | None = None,
    search: int | None = None,
    output: str | Path | None = None,
    certificate: str | Path | None = None,
    details: bool = False,
    confidence: bool = False,
    monitor: Monitor | None = None,
) -> Clusters:
    """Find the most probable clusters of the elements of a table of scored pairs.

    Parameters
    ----------
    pairs : table
        A DuckDB relation, a path or glob of Parquet or CSV files, a pandas, polars or pyarrow
        table, or a Spark DataFrame. Columns are named as Splink names them, see
        `relatum.pair_tables.columns`.
    background : float or "learned"
        Log-odds, in bits and at most 0, of pairs that nobody scored; -0.5 by default, as in
        `Problem.from_table`. "learned" takes them from `labels`.
    offset : float or "learned"
        Bits to add to every score, also to what `score_missing` gives. "learned" takes the
        number with which the clusters of labelled elements are right, see
        `relatum.pair_tables.offsets`; the scores should be of pairs that they were not learned
        from. `Summary.offset` tells it.
    evidence : mapping or table, optional
        ``{"related": [(id, id), ...], "unrelated": [...]}``, a table of pairs of ids with a
        column ``related``, or the path of the answers that ``relatum review`` wrote.
    one_per_group : str, mapping or table, optional
        No cluster holds two elements of one group. A name such as "source_dataset" stands for
        the columns ``source_dataset_l`` and ``source_dataset_r``; otherwise ids to groups.
    max_size : int, optional
        The largest cluster allowed.
    score_missing : callable (ids, ids) -> bits, optional
        Scores every pair inside a component that is not listed; see `PairScorer`. Components
        of more than 2000 elements fall back on the background.
    labels : mapping or table, optional
        True entities of some elements: for the learned background and offset, the share of
        true pairs that were scored, the F1 of the result, and confidences.
    previous : table, path or Clusters, optional
        Clusters of an earlier run, as they are, saved by `Clusters.save`, or their table: ids
        are kept where sets persist, and the search starts from them. Components that have not
        changed are not solved again, unless it is a table without `details`.
    prove : bool
        Prove optimality, spending up to `time_limit` seconds on all components together.
    time_limit : float
        Seconds for the proofs of all components together, kept as in `infer`. The clock begins
        when the pairs have been read and sorted by component, and ends before clusters are
        written. Every component has a share by its pairs, and what one leaves goes to those
        after it; what is not reached in time keeps the clusters and the bound it has without a
        proof. The first Ctrl-C ends proofs, and keeps what is found. On Spark the limit is that of
        a task. Without `prove` it is not used: no clock decides anything.
    odd_rows : {"refuse", "handle"}
        What to do with rows without ids or usable scores, and with contradictory scores.
    left, right, log_odds, probability : str, optional
        Names of columns. Scores in ``match_weight`` that all lie between 0 and 1 are refused
        unless one of the last two names that column.
    engine : {"auto", "duckdb", "spark"}
        "auto" takes Spark for Spark DataFrames and DuckDB for everything else. On Spark there
        are neither `offset`, `confidence`, `details` nor `certificate`; `output` is a
        folder, and `memory_limit` that of its tasks.
    memory_limit : str or int
        For DuckDB and the batches; about 100 bytes per element come on top.
    threads : int, optional
        All processors by default. The result does not depend on it.
    search : int, optional
        Effort for small components that stay open, see `relatum.pair_tables.usual_search`.
    output : path, optional
        Also write the clusters to a .parquet or .csv file, whole or not at all.
    certificate : path, optional
        Write what proves clusters, value and bound to a file, whole or not at all, for
        `Clusters.verify`, `verify_clusters` and ``relatum verify``. Value, bound and gaps are
        then exactly what it proves.
    details : bool
        Also give the column ``component``, a hash by which a later run with ``previous=`` this
        table or file knows components that have not changed.
    confidence : bool
        Add a column ``confidence``: the probability that the element's cluster is exactly right,
        by the scores alone, given that clusters do not reach across components. Exact in
        components of at most 10 elements; in larger ones an approximation that is mostly too
        high, see `relatum.pair_tables.solve.cluster_confidence`. With `labels`, what clusters
        whose elements all have labels teach is applied to all, see
        `relatum.pair_tables.solve.learned_confidence`: label whole entities, and others than
        those that the scores were learned from.
    monitor : callable (stage, done, total), optional

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import pyarrow as pa
    >>> pairs = pa.table({"unique_id_l": ["a", "b", "c"], "unique_id_r": ["b", "c", "d"],
    ...                   "match_weight": [7.0, 6.0, 0.5]})
    >>> found = cluster_pairs(pairs)
    >>> found.table["cluster_id"].to_pylist(), found.summary.gap
    (['a', 'a', 'a', 'd'], 0.0)
    """
    learn = isinstance(background, str) and background == "learned"
    bits = 0.0 if learn else real_number(background, 'The background, in bits or "learned",')
    learn_offset = isinstance(offset, str) and offset == "learned"
    shift = 0.0 if learn_offset else float(real_number(offset, 'The offset, in bits or "learned",'))
    settings = Settings(bits, max_size, prove, time_limit)
    _require_names(left=left, right=right, log_odds=log_odds, probability=probability)
    on_spark = _takes_spark(pairs, engine)
    only_duckdb: dict[str, Any] = {"certificate": certificate}
    only_duckdb |= {"confidence": confidence or None, "details": details or None}
    only_duckdb["offset"] = offset if learn_offset or shift else None
    for name, value in only_duckdb.items():
        if on_spark and value is not None:
            raise DataError(
                f"{name}= is not available on Spark; write the pairs to Parquet files and pass "
                "their path."
            )
    evidence = answered_pairs(evidence) if is_answers(evidence) else evidence
    known = (evidence, one_per_group, score_missing, labels, _earlier(previous))
    given = Given(pairs, (left, right, log_odds, probability), odd_rows, *known)
    if learn and labels is None:
        raise DataError('background="learned" needs labels=: entities of some elements.')
    if output is not None:
        require_output(output, on_spark)
    proof = None if certificate is None else as_path(certificate).absolute()
    if proof is not None:
        require_writable(proof)
        if output is not None and proof == as_path(output).absolute():
            raise DataError(f"{output} cannot be both output= and certificate=; name two files.")
    offsets = shift, learn_offset
    with silence(monitor is not None), line("clustering", True) as own:
        told = own.say if monitor is None and not on_spark else monitor
        plan = Plan(
            settings, learn, search, memory_limit, threads, told, proof, *offsets, confidence
        )
        with _plain_errors():
            found = _engine(on_spark)(given, plan)
    return _finished(found, proof, output, switch(details, "details", DataError))


def load_clusters(path: str | Path) -> Clusters:
    """Read clusters that `Clusters.save` wrote, with what was known when they were made.

    Parameters
    ----------
    path : path
        A file ``.clusters``. It is read without running any code that it may hold.

    Returns
    -------
    Clusters
        As they were, but for `Clusters.contributions`. If the file does not hold the pairs, they
        are looked for where they were, or at the same place beside the file.

    Raises
    ------
    DataError
        If the file is not one of this kind and version, or is damaged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import relatum as rt
    >>> import pyarrow as pa
    >>> pairs = pa.table({"a": [1, 2, 3], "b": [2, 3, 4], "bits": [5.0, -3.0, 4.0]})
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "four.clusters"
    >>> rt.cluster_pairs(pairs, left="a", right="b", log_odds="bits").save(path)
    >>> rt.load_clusters(path).explain(1, 2).related
    True
    """
    _engine(False)  # or say what it needs
    from relatum.pair_tables.on_duckdb.fetching import DuckDBAccess

    with _plain_errors():
        saved, origin = read_clusters(path, DuckDBAccess())
    proof, summary = saved.certificate, Summary.of(saved.summary)
    check = None if proof is None else partial(checked, origin, proof)
    return Clusters(saved.table, summary, proof, check, origin=origin)


def _earlier(previous: Any) -> Any:
    """Return earlier clusters as a table, with hashes of components where these are known."""
    if isinstance(previous, str | Path) and str(previous).endswith(ENDING):
        previous = load_clusters(previous)
    if not isinstance(previous, Clusters):
        return previous
    return previous.table if previous.origin is None else previous.origin.whole


def _finished(found: Clusters, proof: Path | None, output: Any, details: bool) -> Clusters:
    """Return clusters as they are handed out, written and checkable where that is asked for."""
    origin, table = found.origin, found.table
    if origin is None:  # on Spark
        if output is not None:
            write_frame(output, table)
        return found
    if not details:
        table = table.drop_columns(["component"])
    if output is not None:
        write_table(output, table)
    shown_table = in_kind_of(origin.given.pairs, table)
    check = None if proof is None else partial(checked, origin, proof)
    return Clusters(shown_table, found.summary, proof, check, origin=origin)


def checked(origin: Origin, certificate: Path) -> TableVerification:
    """Check clusters by their certificate, and by all that the run knew of the problem."""
    given, settings = origin.opened(), origin.settings
    told: dict[str, Any] = {"background": settings.background, "max_size": settings.max_size}
    told["offset"] = origin.offset
    told |= {"evidence": given.evidence, "one_per_group": given.one_per_group}
    told |= {"odd_rows": given.odd_rows, "names": given.names}
    return _check(Given(given.pairs), certificate, origin.whole, told, origin.plan)


def verify_clusters(
    pairs: Any,
    certificate: str | Path,
    *,
    clusters: Any = None,
    background: float | None = None,
    offset: float | None = None,
    max_size: int | None = None,
    evidence: Any = None,
    one_per_group: Any = None,
    memory_limit: str | int = "2GB",
    threads: int | None = None,
    monitor: Monitor | None = None,
) -> TableVerification:
    """Prove clusters of a table again, without a solver, from the table and a certificate.

    Every element is in one cluster; clusters obey evidence, groups and `max_size`; their value is
    added up exactly; and no allowed clustering has a value above the bound.

    Parameters
    ----------
    pairs : table
        As for `cluster_pairs`, but for Spark DataFrames.
    certificate : path
        What ``cluster_pairs(..., certificate=PATH)`` wrote.
    clusters : table or path, optional
        Clusters that must be those of the certificate: ids and ``cluster_id``, and what else
        `cluster_pairs` returns.
    background, offset, max_size, evidence, one_per_group : optional
        As for `cluster_pairs`. What is given must be what the certificate is about; what is not
        is taken from the certificate, and listed in ``stated`` of the answer.
    memory_limit, threads, monitor
        As for `cluster_pairs`.

    Returns
    -------
    TableVerification
        Usable as a truth value; ``.reason`` says what is wrong.

    Raises
    ------
    DataError
        If the table cannot be read, or the file is not such a certificate.
    """
    if _takes_spark(pairs, "auto"):
        raise DataError(
            "Certificates are not available on Spark; write the pairs to Parquet files and pass "
            "their path."
        )
    evidence = answered_pairs(evidence) if is_answers(evidence) else evidence
    told = {"background": background, "offset": offset, "max_size": max_size}
    told |= {"evidence": evidence, "one_per_group": one_per_group}
    told = {name: value for name, value in told.items() if value is not None}
    plan = Plan(Settings(), memory_limit=memory_limit, threads=threads, monitor=monitor)
    return _check(Given(pairs), as_path(certificate), clusters, told, plan)


def _check(
    given: Given, certificate: Path, clusters: Any, told: Mapping[str, Any], plan: Plan
) -> TableVerification:
    _engine(False)  # or say what it needs
    from relatum.pair_tables.on_duckdb.checking import check

    with silence(plan.monitor is not None), line("checking", True) as own, _plain_errors():
        plan = replace(plan, monitor=own.say) if plan.monitor is None else plan
        return check(given, certificate, clusters, told, plan)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn what DuckDB and the disk say into one sentence, with the way out."""
    try:
        yield
    except RelatumError:
        raise
    except Exception as error:
        told = " ".join(str(error).split())[:200].rstrip(". ")
        if isinstance(error, RuntimeError) and told == "Query interrupted":
            raise KeyboardInterrupt from None
        full = "OutOfMemory" in type(error).__name__ or "Could not write" in told
        if isinstance(error, MemoryError | OSError) or full:
            raise DataError(
                f"There is not enough memory, or room for temporary files in {gettempdir()}: "
                f"{told}; give more memory_limit=, or more room (TMPDIR names the folder)."
            ) from None
        if isinstance(error, UnicodeError) or "UTF8" in told or "UTF-8" in told:
            raise DataError(
                f"An id, or a name of a column, is no text in UTF-8 ({told}); write binary ids as "
                "text, for example in hexadecimal digits."
            ) from None
        if type(error).__module__.split(".")[0] not in ("duckdb", "_duckdb", "pyarrow"):
            raise
        raise DataError(f"The table of pairs cannot be read: {told}.") from None


def _require_names(**names: Any) -> None:
    for what, name in names.items():
        if not isinstance(name, str) and (name is not None or what in ("left", "right")):
            raise DataError(f"{what}= is the name of a column, got {shown(name)}.")


def _takes_spark(pairs: Any, engine: str) -> bool:
    """Say whether Spark is to do it, and refuse what does not fit."""
    if not isinstance(engine, str) or engine not in ("auto", "duckdb", "spark"):
        raise DataError(f'engine is "auto", "duckdb" or "spark", got {shown(engine)}.')
    frame = any(c.__module__.startswith("pyspark.sql") for c in type(pairs).__mro__)
    if engine == "spark" and not frame:
        raise DataError(
            f'engine="spark" takes a Spark DataFrame, got {type(pairs).__name__}; make one with '
            "spark.read or spark.createDataFrame."
        )
    if engine == "duckdb" and frame:
        raise DataError(
            'engine="duckdb" does not read Spark DataFrames; write the pairs to Parquet files.'
        )
    return frame


def _engine(on_spark: bool) -> Callable[[Given, Plan], Clusters]:
    """Import an engine, or say which extra installs what it needs."""
    try:
        if on_spark:
            from relatum.pair_tables.on_spark.engine import cluster
        else:
            from relatum.pair_tables.on_duckdb.engine import cluster
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("relatum"):
            raise
        spark = "Clustering a Spark DataFrame needs the packages pyspark and pandas", "spark"
        tables = "Tables of pairs are read by the packages duckdb and pyarrow", "tables"
        what, extra = spark if on_spark else tables
        raise MissingDependencyError(f"{what}; install relatum[{extra}].") from None
    return cluster
